// Three-component vectors and 3x4 row-major transforms.
#pragma once
#include "util/compat.h"

namespace THRONG_NAMESPACE {

constexpr float kPi = 3.14159265358979323846f;
constexpr float kInfinity = __builtin_huge_valf();
constexpr float kGreatestFloat = 3.40282347e38f;

struct Vec3 {
    float x, y, z;
};

THRONG_INLINE Vec3 vec3(float x, float y, float z) { return Vec3{x, y, z}; }
THRONG_INLINE Vec3 vec3(float s) { return Vec3{s, s, s}; }
THRONG_INLINE Vec3 load3(const float* p) { return Vec3{p[0], p[1], p[2]}; }
THRONG_INLINE Vec3 vec3(const Words4& w) { return vec3(bits_float(w.x), bits_float(w.y), bits_float(w.z)); }
THRONG_INLINE void store3(float* p, Vec3 v) { p[0] = v.x; p[1] = v.y; p[2] = v.z; }

THRONG_INLINE Vec3 operator+(Vec3 a, Vec3 b) { return vec3(a.x + b.x, a.y + b.y, a.z + b.z); }
THRONG_INLINE Vec3 operator-(Vec3 a, Vec3 b) { return vec3(a.x - b.x, a.y - b.y, a.z - b.z); }
THRONG_INLINE Vec3 operator*(Vec3 a, Vec3 b) { return vec3(a.x * b.x, a.y * b.y, a.z * b.z); }
THRONG_INLINE Vec3 operator*(Vec3 a, float s) { return vec3(a.x * s, a.y * s, a.z * s); }
THRONG_INLINE Vec3 operator*(float s, Vec3 a) { return a * s; }
THRONG_INLINE Vec3 operator-(Vec3 a) { return vec3(-a.x, -a.y, -a.z); }
THRONG_INLINE Vec3& operator+=(Vec3& a, Vec3 b) { return a = a + b; }
THRONG_INLINE Vec3& operator*=(Vec3& a, Vec3 b) { return a = a * b; }

// exp(-x) for x >= 0, with a relative error below 1/3000, but at least 1e-12, because nearly denormal numbers are slow. No branches or tables, so
// that loops over rows are vectorised.
THRONG_INLINE float falloff(float x) {
    const float power = -smaller(x * 1.44269504f, 40.0f);
    const int whole = int(power);
    const float f = power - float(whole);
    const float mantissa = 1.0f + f * (0.69314718f + f * (0.24022651f + f * (0.05550411f + f * (0.00961813f + f * 0.00133336f))));
    return mantissa * bits_float(uint32_t(whole + 127) << 23);
}

THRONG_INLINE float clamp(float x, float lo, float hi) { return min(max(x, lo), hi); }
THRONG_INLINE int clamp_index(int i, int count) { return i < 0 ? 0 : i >= count ? count - 1 : i; }

THRONG_INLINE float dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
THRONG_INLINE Vec3 cross(Vec3 a, Vec3 b) {
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
THRONG_INLINE float length(Vec3 a) { return sqrtf(dot(a, a)); }
THRONG_INLINE Vec3 absolute(Vec3 a) { return vec3(fabsf(a.x), fabsf(a.y), fabsf(a.z)); }
THRONG_INLINE float mean_component(Vec3 a) { return (a.x + a.y + a.z) * (1.0f / 3.0f); }
THRONG_INLINE float max_component(Vec3 a) { return max(a.x, max(a.y, a.z)); }
THRONG_INLINE Vec3 lerp(Vec3 a, Vec3 b, float t) { return a * (1.0f - t) + b * t; }

// Normalises `a`; false if it is zero or denormal. Tiny and huge vectors are scaled first, because their squares would under- or overflow.
THRONG_DEVICE bool normalize(Vec3& a) {
    float squared = dot(a, a);
    if (!(squared > 1e-30f && squared < 1e30f)) {
        float scale = max_component(absolute(a));
        if (!(scale > 1e-37f) || !(scale < 1e37f)) return false;
        a = a * (1.0f / scale);
        squared = dot(a, a);
    }
    a = a * (1.0f / sqrtf(squared));
    return true;
}
// Unit vector along `a`, or `fallback` if that is zero or denormal.
THRONG_DEVICE Vec3 normalize_or(Vec3 a, Vec3 fallback) { return normalize(a) ? a : fallback; }

// Transforms by fused operations in a fixed order, so that all devices compute identical hits.
THRONG_INLINE Vec3 transform_point(const float* m, Vec3 p) {
    return vec3(fused_multiply_add(m[0], p.x, fused_multiply_add(m[1], p.y, fused_multiply_add(m[2], p.z, m[3]))),
                fused_multiply_add(m[4], p.x, fused_multiply_add(m[5], p.y, fused_multiply_add(m[6], p.z, m[7]))),
                fused_multiply_add(m[8], p.x, fused_multiply_add(m[9], p.y, fused_multiply_add(m[10], p.z, m[11]))));
}
THRONG_INLINE Vec3 transform_vector(const float* m, Vec3 v) {
    return vec3(fused_multiply_add(m[0], v.x, fused_multiply_add(m[1], v.y, m[2] * v.z)),
                fused_multiply_add(m[4], v.x, fused_multiply_add(m[5], v.y, m[6] * v.z)),
                fused_multiply_add(m[8], v.x, fused_multiply_add(m[9], v.y, m[10] * v.z)));
}
// Product with the transposed linear part: transforms normals from object to world space when given object_from_world.
THRONG_INLINE Vec3 transform_normal(const float* inverse, Vec3 n) {
    return vec3(inverse[0] * n.x + inverse[4] * n.y + inverse[8] * n.z,
                inverse[1] * n.x + inverse[5] * n.y + inverse[9] * n.z,
                inverse[2] * n.x + inverse[6] * n.y + inverse[10] * n.z);
}
// Whether the transform changes handedness.
THRONG_INLINE bool is_mirrored(const float* m) {
    return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) + m[2] * (m[4] * m[9] - m[5] * m[8]) < 0.0f;
}
// Upper bound of the terms that a transform adds, for rounding errors: |M| |p| + |T| per component.
THRONG_INLINE Vec3 transform_magnitude(const float* m, Vec3 p) {
    Vec3 a = absolute(p);
    return vec3(fabsf(m[0]) * a.x + fabsf(m[1]) * a.y + fabsf(m[2]) * a.z + fabsf(m[3]),
                fabsf(m[4]) * a.x + fabsf(m[5]) * a.y + fabsf(m[6]) * a.z + fabsf(m[7]),
                fabsf(m[8]) * a.x + fabsf(m[9]) * a.y + fabsf(m[10]) * a.z + fabsf(m[11]));
}

// Loads the rows of a transform that is aligned to 16 bytes and is not written while the kernel runs.
THRONG_INLINE void load_matrix(const float* from, float* m) {
    for (int row = 0; row < 3; row++) {
        Words4 r = load_words(from + 4 * row);
        m[4 * row] = bits_float(r.x);
        m[4 * row + 1] = bits_float(r.y);
        m[4 * row + 2] = bits_float(r.z);
        m[4 * row + 3] = bits_float(r.w);
    }
}

// Two unit vectors that complete `n` to a right-handed basis (Duff et al. 2017).
THRONG_DEVICE void basis(Vec3 n, Vec3& s, Vec3& t) {
    float sign = n.z >= 0.0f ? 1.0f : -1.0f;
    float a = -1.0f / (sign + n.z), b = n.x * n.y * a;
    s = vec3(1.0f + sign * n.x * n.x * a, sign * b, -sign * n.x);
    t = vec3(b, sign + n.y * n.y * a, -n.y);
}

}

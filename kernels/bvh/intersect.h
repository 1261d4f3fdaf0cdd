// Common parts of all intersection tests, and the unit sphere test. A hit is never lost between two triangles that share an edge: the triangle test
// is watertight (Woop, Benthin and Wald 2013), and the box tests are conservative.
#pragma once
#include "geom/motion.h"

namespace THRONG_NAMESPACE {

// A ray and its closest hit so far, whose distance is `t_max`.
struct Query {
    Vec3 origin, direction;
    float t_min, t_max;
    float u, v;
    uint32_t prim, instance, record;
    // First instance number of the current space: in an assembly, the number of meshes before it.
    uint32_t base;
    // In scenes with assemblies, the low-order part of `origin`.
    Vec3 low;
    // As in `FrameParams`; 0 in scenes without levels.
    float near;

    THRONG_INLINE FinePoint fine_origin() const { return FinePoint{origin, low}; }

    // Order among hits at equal distance: for coincident surfaces, every tree, width and device must choose one and the same hit.
    THRONG_INLINE bool closer(float t, uint32_t new_instance, uint32_t new_prim) const {
        if (t != t_max) return t < t_max;
        return prim == NO_INDEX || new_instance < instance || (new_instance == instance && new_prim < prim);
    }

    THRONG_INLINE void take(float t, float new_u, float new_v, uint32_t new_prim, uint32_t new_instance, uint32_t new_record) {
        t_max = t; u = new_u; v = new_v;
        prim = new_prim; instance = new_instance; record = new_record;
    }
};

// Transforms a ray's origin into the space of a mesh; `Nested` in scenes with assemblies.
template <bool Nested>
THRONG_INLINE Vec3 enter_mesh(const float* object_from_world, const Query& q) {
    return Nested ? enter_mesh(object_from_world, q.fine_origin()) : transform_point(object_from_world, q.origin);
}

THRONG_INLINE Query make_query(const Params& params, const Ray& ray) {
    return Query{load3(ray.origin), load3(ray.direction), start_of(params, ray), ray.t_max, 0.0f, 0.0f, NO_INDEX, NO_INDEX, NO_INDEX, 0, vec3(0.0f), is_nested(params) ? params.frame.near : 0.0f};
}

// Edge functions in double precision, in which products of floats are exact. Decides the cases of points exactly on an edge.
THRONG_DEVICE void edge_functions_exact(float ax, float ay, float bx, float by, float cx, float cy, float* uvw) {
    uvw[0] = float(double(cx) * by - double(cy) * bx);
    uvw[1] = float(double(ax) * cy - double(ay) * cx);
    uvw[2] = float(double(bx) * ay - double(by) * ax);
}

// Whether a triangle lies behind the ray's origin, decided in double precision. The axes are permuted so that z is the ray's longest axis. `shear` is
// the ray's direction scaled to z = 1, and `sz` is the reciprocal of the direction's z.
THRONG_DEVICE bool is_behind(const Vec3* corners, Vec3 origin, float shear_x, float shear_y, float sz) {
    const double ax = corners[0].x, ay = corners[0].y, az = corners[0].z;
    const double bx = corners[1].x - ax, by = corners[1].y - ay, bz = corners[1].z - az;
    const double cx = corners[2].x - ax, cy = corners[2].y - ay, cz = corners[2].z - az;
    const double nx = by * cz - bz * cy, ny = bz * cx - bx * cz, nz = bx * cy - by * cx;
    const double height = nx * (ax - double(origin.x)) + ny * (ay - double(origin.y)) + nz * (az - double(origin.z));
    const double slope = nx * double(shear_x) + ny * double(shear_y) + nz;
    return height * slope * double(sz) < 0.0;
}

// The box tests' bound on rounding. The triangle test works on vertices that are rounded relative to the ray's origin, so its hits may lie outside
// the exact box by a few units in the last place of |origin| + |box|. Eight half-ulps cover that and the rounding of the slab arithmetic.
constexpr float kBoxSlack = 8.0f * 5.9604645e-8f;

THRONG_INLINE float box_slack(Vec3 origin, float magnitude) { return kBoxSlack * (max_component(absolute(origin)) + magnitude); }

// Upper limit of the reciprocals of direction components in slabs. Smaller components move the ray by less than rounding does, and the limit keeps
// the reciprocal finite. `greatest` is the direction's component of greatest magnitude. The limit is proportional to its reciprocal, which is
// computed without waiting for a division: exact for powers of two and up to an eighth too large in between.
constexpr uint32_t kBitsOfOneTwice = 0x7f000000u;
THRONG_INLINE float most_reciprocal(float greatest) {
    return min(bits_float((kBitsOfOneTwice - float_bits(greatest)) & 0x7fffffffu) * 1e12f, 1e30f);
}

// Intersects the unit sphere at the origin, without the cancellation of the textbook formula (Haines et al. 2019, "Precision Improvements for
// Ray/Sphere Intersection").
THRONG_DEVICE bool sphere_distance(Vec3 origin, Vec3 direction, float t_min, float t_max, float& t) {
    // Squares of very long or short directions would overflow or underflow.
    float scale = 1.0f / max_component(absolute(direction));
    direction = direction * scale;
    float a = dot(direction, direction), b = -dot(origin, direction), c = dot(origin, origin) - 1.0f;
    Vec3 nearest = origin + direction * (b / a);
    float discriminant = 1.0f - dot(nearest, nearest);
    if (!(discriminant >= 0.0f)) return false;
    float root = b + copysignf(sqrtf(a * discriminant), b);
    float t0 = c / root * scale, t1 = root / a * scale;
    float first = min(t0, t1), second = max(t0, t1);
    t = first >= t_min ? first : second;
    return t >= t_min && t <= t_max;
}

}

// Stars: at most one in each cell of a grid on a cube around the world, placed by the hash of the cell's number, so that stars are sharp in pictures
// of any size. Each is a small disc with a soft edge. Computed with single operations for identical results on all devices.
#pragma once
#include "geom/texture.h"

namespace THRONG_NAMESPACE {

// Cells along the side of a face. A star's radius is at most half of the smallest cell (`star_radius` in params.rs).
constexpr uint32_t kStarCells = 128;
// Bends the grid, so that cells have about equal size at the edges and in the middle of a face.
constexpr float kStarBend = 0.3f, kStarSlope = 1.0f + kStarBend;

// Position on the grid, in [-1, 1], of a point of the face, and the inverse.
THRONG_INLINE float bent(float x) { return x * (kStarSlope - kStarBend * fabsf(x)); }
THRONG_INLINE float unbent(float u) {
    const float x = (kStarSlope - sqrtf(max(0.0f, kStarSlope * kStarSlope - 4.0f * kStarBend * fabsf(u)))) * (0.5f / kStarBend);
    return u < 0.0f ? -x : x;
}

// Position of a star along one axis of its face. At the edges of the face, it keeps a distance of half a cell.
THRONG_INLINE float star_place(uint32_t cell, uint32_t random) {
    float inside = (float(random & 0xffffu) + 0.5f) * (1.0f / 65536.0f);
    if (cell == 0) inside = 0.5f + 0.5f * inside;
    if (cell == kStarCells - 1) inside = 0.5f * inside;
    return unbent((float(cell) + inside) * (2.0f / float(kStarCells)) - 1.0f);
}

THRONG_INLINE uint32_t greatest_of(uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t most = a > b ? a : b;
    return most > c ? most : c;
}

// Radiance of the star in a cell in the unit direction `d`. Both are in the axes of the face, whose third axis points to its centre.
THRONG_DEVICE Vec3 star_in(const Params& params, uint32_t face, uint32_t column, uint32_t row, Vec3 d) {
    const uint32_t place = hash((face * kStarCells + row) * kStarCells + column + 1u), kind = hash(place), other = hash(kind);
    const float x = star_place(column, place), y = star_place(row, place >> 16);
    const float inverse = 1.0f / (1.0f + x * x + y * y), scale = sqrtf(inverse);
    const Vec3 chord = d - vec3(x * scale, y * scale, scale);
    const float radius = params.picture.star_radius, within = 1.0f - dot(chord, chord) / (radius * radius);
    if (!(within > 0.0f)) return vec3(0.0f);
    // Cells that are smaller on the sphere have a star with a lower probability.
    const float slopes = (kStarSlope - 2.0f * kStarBend * fabsf(x)) * (kStarSlope - 2.0f * kStarBend * fabsf(y));
    if (float(kind & 0xffffu) * slopes > 65536.0f * kStarSlope * kStarSlope * inverse * scale) return vec3(0.0f);
    // The maximum of three random numbers is distributed like the cube root of one. The number of stars therefore grows by a factor of four per
    // magnitude.
    const uint32_t greatest = greatest_of(kind >> 16, other & 0xffffu, other >> 16);
    const float root = max((float(greatest) + 0.5f) * (1.0f / 65536.0f), 0.0126f);
    const float irradiance = params.scene.environment.faintest_star / (root * root) - params.scene.environment.star_dimming;
    const Vec3 color = lerp(vec3(1.2f, 0.95f, 0.65f), vec3(0.8f, 1.0f, 1.3f), unit_float(hash(other)));
    return color * (max(irradiance, 0.0f) * 3.0f / (kPi * radius * radius) * within * within);
}

// Radiance of stars from the unit direction `d`. Outlined, because most scenes have none.
THRONG_OUTLINE Vec3 star_radiance(const Params& params, Vec3 d) {
    if (!(d.y > 0.0f)) return vec3(0.0f);
    const float* m = params.scene.environment.star_turn;
    const Vec3 p = vec3(m[0] * d.x + m[1] * d.y + m[2] * d.z, m[3] * d.x + m[4] * d.y + m[5] * d.z, m[6] * d.x + m[7] * d.y + m[8] * d.z);
    const Vec3 a = absolute(p);
    const uint32_t axis = a.x >= a.y && a.x >= a.z ? 0u : a.y >= a.z ? 1u : 2u;
    Vec3 q = axis == 0 ? vec3(p.y, p.z, p.x) : axis == 1 ? vec3(p.z, p.x, p.y) : p;
    const uint32_t face = 2u * axis + (q.z < 0.0f ? 1u : 0u);
    q.z = fabsf(q.z);
    const float half = 0.5f * float(kStarCells), u = (bent(q.x / q.z) + 1.0f) * half, v = (bent(q.y / q.z) + 1.0f) * half;
    // Stars of the four nearest cells may overlap this direction.
    const int left = int(floorf(u - 0.5f)), below = int(floorf(v - 0.5f));
    Vec3 radiance = vec3(0.0f);
    THRONG_NO_UNROLL
    for (int i = 0; i < 4; i++) {
        const uint32_t column = uint32_t(left + (i & 1)), row = uint32_t(below + (i >> 1));
        if (column < kStarCells && row < kStarCells) radiance += star_in(params, face, column, row, q);
    }
    // Attenuation by the atmosphere, which is greater near the horizon.
    return radiance * (d.y / (d.y + 0.12f));
}

}

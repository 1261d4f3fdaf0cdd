// Corrections for shading normals that differ from the geometric normal.
#pragma once
#include "util/vec.h"

namespace THRONG_NAMESPACE {

// Returns the normal closest to `normal`, in the plane of `normal` and the geometric normal, that reflects `out` clear of the surface. Without this,
// interpolated and mapped normals appear black at grazing angles. Cycles does this as well.
THRONG_DEVICE Vec3 bend_normal(Vec3 normal, Vec3 geometric, Vec3 out) {
    float height = dot(out, geometric), clearance = min(0.9f * height, 0.01f);
    if (!(height > 0.0f) || 2.0f * dot(normal, out) * dot(normal, geometric) - height >= clearance) return normal;
    Vec3 side = normal - geometric * dot(normal, geometric);
    if (!normalize(side)) return geometric;
    // Solve for the new normal's height z, for which the reflection of `out` has the height `clearance`.
    float x = dot(out, side), a = x * x + height * height, b = 2.0f * (a + height * clearance), c = clearance + height;
    float root = sqrtf(max(b * b - 4.0f * a * c * c, 0.0f)), z2 = clamp(0.25f * (x < 0.0f ? b + root : b - root) / a, 0.0f, 1.0f);
    return normalize_or(side * sqrtf(1.0f - z2) + geometric * sqrtf(z2), geometric);
}

}

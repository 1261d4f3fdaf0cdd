// Surfaces with holes and without backs: filters that decide which of the primitives that a ray crosses it hits. Traversal calls them,
// so that camera, bounce and shadow rays meet the same surfaces.
#pragma once
#include "geom/opacity.h"

namespace THRONG_NAMESPACE {

// Filter for scenes whose surfaces are all closed and two-sided: the ray hits whatever it crosses.
struct Solid {
    THRONG_INLINE bool operator()(const Ray&, uint32_t, uint32_t, float, float, bool) const { return true; }
};

template <class Filter> struct AcceptsAll { static constexpr bool value = false; };
template <> struct AcceptsAll<Solid> { static constexpr bool value = true; };

// Whether light passes a single-sided surface. Light that comes from behind the surface does, and so does the view from there. A ray that
// looks for the closest surface comes from where the light goes to, a shadow ray (`Any`) goes to where the light comes from.
template <bool Any>
THRONG_INLINE bool is_from_behind(bool hits_front) { return hits_front == Any; }

// Filter for scenes with holes or single-sided surfaces. Where a surface is half transparent, half of the rays pass. Which ones is a function of the ray
// and the primitive, so that the order in which primitives are visited does not show.
struct Cutouts {
    const Params& params;

    // `from_behind` is what `is_from_behind` returns. Most scenes with single-sided surfaces have no holes: what is seen from the front
    // counts there without its material being loaded.
    THRONG_INLINE bool operator()(const Ray& ray, uint32_t record, uint32_t prim, float u, float v, bool from_behind) const {
        if (!from_behind && !(params.tables.has_cutouts & CUTOUT_HOLES)) return true;
        return is_there(ray, record, prim, u, v, from_behind);
    }

    THRONG_DEVICE bool is_there(const Ray& ray, uint32_t record, uint32_t prim, float u, float v, bool from_behind) const {
        const float opacity = opacity_at(params, params.trees.instances[record], prim, u, v, from_behind);
        if (opacity >= 1.0f) return true;
        const uint32_t ray_hash = hash_combine(hash_combine(float_bits(ray.direction[0]), float_bits(ray.direction[1])), float_bits(ray.origin[2]));
        return unit_float(hash_combine(ray_hash, hash_combine(params.trees.instances[record].instance, prim))) < opacity;
    }
};

}

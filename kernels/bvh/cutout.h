// Surfaces with holes and without backs: filters that decide which of the primitives that a ray crosses it hits. Traversal calls them,
// so that camera, bounce and shadow rays meet the same surfaces.
#pragma once
#include "geom/opacity.h"

namespace THRONG_NAMESPACE {

// Filter for scenes whose surfaces all have two sides and no holes: the ray hits whatever it crosses.
struct Solid {
    THRONG_INLINE bool operator()(const Ray&, uint32_t, uint32_t, float, float, uint32_t) const { return true; }
};

template <class Filter> struct AcceptsAll { static constexpr bool value = false; };
template <> struct AcceptsAll<Solid> { static constexpr bool value = true; };

// The flag of materials that are not there for a ray that hits the front or the back. A ray that looks for the closest surface comes from
// where the view is from, a shadow ray (`Any`) goes to where the light comes from: light from behind a single-sided surface passes.
template <bool Any>
THRONG_INLINE uint32_t unmet_surfaces(bool hits_front) {
    return hits_front != Any ? 0u : Any ? SURFACE_PASSES_LIGHT : SURFACE_CULLED;
}

// Whether shadow rays need a filter. They do not in scenes whose single-sided meshes are all closed: a ray that goes in comes out again.
THRONG_INLINE bool filters_shadows(const Params& params) { return params.tables.has_cutouts & (CUTOUT_HOLES | CUTOUT_LIGHT); }

// Filter for scenes with holes or single-sided surfaces. Where a surface is half transparent, half of the rays pass. Which ones is a
// function of the ray and the primitive, so that the order in which primitives are visited does not show.
struct Cutouts {
    const Params& params;

    // `unmet` is what `unmet_surfaces` returns. Most scenes with single-sided surfaces have no holes: what is seen from the front
    // counts there without its material being loaded.
    THRONG_INLINE bool operator()(const Ray& ray, uint32_t record, uint32_t prim, float u, float v, uint32_t unmet) const {
        if (!unmet && !(params.tables.has_cutouts & CUTOUT_HOLES)) return true;
        return is_there(ray, record, prim, u, v, unmet);
    }

    THRONG_DEVICE bool is_there(const Ray& ray, uint32_t record, uint32_t prim, float u, float v, uint32_t unmet) const {
        const float opacity = opacity_at(params, params.trees.instances[record], prim, u, v, unmet);
        if (opacity >= 1.0f) return true;
        const uint32_t ray_hash = hash_combine(hash_combine(float_bits(ray.direction[0]), float_bits(ray.direction[1])), float_bits(ray.origin[2]));
        return unit_float(hash_combine(ray_hash, hash_combine(params.trees.instances[record].instance, prim))) < opacity;
    }
};

}

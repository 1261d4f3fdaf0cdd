// Cutouts: filters that decide whether a ray hits a primitive that it crosses, for surfaces with holes or without back faces. Traversal calls them,
// so that camera, bounce and shadow rays hit identical surfaces.
#pragma once
#include "geom/opacity.h"

namespace THRONG_NAMESPACE {

// Filter for scenes without holes and with two-sided surfaces only: the ray hits every primitive that it crosses.
struct Solid {
    THRONG_INLINE bool operator()(const Ray&, uint32_t, uint32_t, float, float, uint32_t) const { return true; }
};

template <class Filter> struct AcceptsAll { static constexpr bool value = false; };
template <> struct AcceptsAll<Solid> { static constexpr bool value = true; };

// The flag of materials that a ray ignores when it hits their front or back. A closest-hit ray comes from the viewer's side. A shadow ray (`Any`)
// goes towards the light: light from behind a single-sided surface passes.
template <bool Any>
THRONG_INLINE uint32_t unmet_surfaces(bool hits_front) {
    return hits_front != Any ? 0u : Any ? SURFACE_PASSES_LIGHT : SURFACE_CULLED;
}

// Whether shadow rays need a filter. They need none if all single-sided meshes are closed, because a ray that enters also leaves.
THRONG_INLINE bool filters_shadows(const Params& params) { return params.tables.has_cutouts & (CUTOUT_HOLES | CUTOUT_LIGHT); }

// Filter for scenes with holes or single-sided surfaces. If a surface is half transparent, half of the rays pass. The choice is a function of the ray
// and the primitive, so that it does not depend on the order in which primitives are visited.
struct Cutouts {
    const Params& params;

    // `unmet` is the result of `unmet_surfaces`. Most scenes with single-sided surfaces have no holes; front hits are then accepted without loading
    // the material.
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

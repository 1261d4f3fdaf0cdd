// Surfaces with holes: filters that decide which of the primitives that a ray crosses it hits. Traversal asks them, so that camera,
// bounce and shadow rays see the same holes.
#pragma once
#include "geom/opacity.h"

namespace THRONG_NAMESPACE {

// Filter for scenes without holes: the ray hits whatever it crosses.
struct Solid {
    THRONG_INLINE bool operator()(const Ray&, uint32_t, uint32_t, float, float) const { return true; }
};

template <class Filter> struct AcceptsAll { static constexpr bool value = false; };
template <> struct AcceptsAll<Solid> { static constexpr bool value = true; };

// Filter for scenes with holes. Where a surface is half transparent, half of the rays pass. Which ones is a function of the ray
// and the primitive, so that the order in which primitives are visited does not show.
struct Cutouts {
    const Params& params;

    THRONG_DEVICE bool operator()(const Ray& ray, uint32_t record, uint32_t prim, float u, float v) const {
        const float opacity = opacity_at(params, params.trees.instances[record], prim, u, v);
        if (opacity >= 1.0f) return true;
        const uint32_t ray_hash = hash_combine(hash_combine(float_bits(ray.direction[0]), float_bits(ray.direction[1])), float_bits(ray.origin[2]));
        return unit_float(hash_combine(ray_hash, hash_combine(params.trees.instances[record].instance, prim))) < opacity;
    }
};

}

// Light that passes straight through panes: thin, smooth walls without refraction. The path tracer's shadow rays pass them and are attenuated.
// Otherwise a light without extent would illuminate nothing behind a window.
#pragma once
#include "bvh/traverse.h"
#include "closure/bsdf.h"
#include "integrator/path.h"

namespace THRONG_NAMESPACE {

// Whether shadow rays of this picture may pass through some surfaces. The other integrators treat panes as opaque.
THRONG_INLINE bool has_panes(const Params& params) { return params.tables.has_panes && params.picture.integrator == INTEGRATOR_PATH; }

// Fraction of light per colour that passes straight through a surface: the mean of the transmission that `sample_bsdf` samples without a pdf.
THRONG_DEVICE Vec3 straight_share(const Bsdf& b) {
    if (!b.smooth || b.bends || !(b.p_interface > 0.0f) || !(b.out.z > 0.0f)) return vec3(0.0f);
    Vec3 passed;
    interface_fresnel(b, b.out.z, passed);
    return b.through * passed * b.below_sheen;
}

// `straight_share` of the surface that a ray in `direction` has hit; zero if it is not a pane.
THRONG_OUTLINE Vec3 share_through(const Params& params, Vec3 direction, const Surface& s) {
    const MaterialRecord material = load_record(&params.tables.materials[s.material]);
    if (material.kind != MATERIAL_LAYERED) return vec3(0.0f);
    const LobesRecord lobes = load_record(&params.tables.lobes[material.lobes]);
    if (!lobes.thin || !(lobes.transmission > 0.0f)) return vec3(0.0f);
    const ShadingInputs inputs = read_shading_inputs(params, s, lobes, base_color(params, s, material));
    return straight_share(make_bsdf(inputs, s, -direction));
}

// Fraction of light per colour along a blocked shadow ray that is blocked at least by panes. Panes are processed from the nearest to the farthest, so
// that the product does not depend on the tree.
THRONG_OUTLINE Vec3 share_through_panes(const Params& params, Ray ray, StackEntry* stack) {
    const Vec3 direction = load3(ray.direction);
    Vec3 share = vec3(1.0f);
    for (;;) {
        const Hit hit = closest_hit(params, ray, stack);
        if (hit.t < 0.0f) return share;
        const Surface s = make_surface(params, ray, hit);
        share = share * share_through(params, direction, s);
        if (!(max_component(share) > 0.0f)) return vec3(0.0f);
        const Vec3 origin = leave(s, direction);
        const float left = ray.t_max - dot(origin - load3(ray.origin), direction);
        if (!(left > 0.0f)) return share;
        ray = ray_of(origin, direction, left, s.time);
    }
}

}

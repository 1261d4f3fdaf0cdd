// Integrators, from hits to radiance. An integrator is a step: given a path and its hit, it adds radiance and determines which shadow rays and which
// next ray to trace. The loop here is for paths that are traced one by one (compressed trees on CPUs). Otherwise devices schedule these steps.
#pragma once
#include "integrator/path_tracer.h"
#include "bvh/traverse.h"

namespace THRONG_NAMESPACE {

// Adds one cosine-weighted sky ray: an unbiased sample of the light from the open sky. If it is blocked, a fraction of the sky's light replaces light
// from further bounces.
THRONG_DEVICE void add_sky_ray(const Params& params, const Path& path, const Surface& s, Vec3 albedo, Step& step) {
    Vec3 d = sample_cosine(s.shading, sample_2d(path.sampler, bounce_dimension(path, 0)));
    if (!(dot(d, s.geometric) > 0.0f)) return;
    Vec3 light = path.throughput * albedo * diffuse_sky_radiance(params, d);
    step.has_first = true;
    step.first = ShadowRay{leave_along(s, s.geometric), d, kInfinity, light};
    step.first_blocked = light * albedo * params.picture.ambient_fill;
}

// Adds shadow rays to the lights. If there are more lights than rays, each ray samples one at random.
THRONG_DEVICE void add_light_rays(const Params& params, const Path& path, const Hit& hit, const Surface& s, Vec3 albedo, Step& step) {
    uint32_t rays = params.tables.light_count < kMaxShadowRays - 1 ? params.tables.light_count : kMaxShadowRays - 1;
    bool sampled = params.tables.light_count > rays;
    THRONG_NO_UNROLL
    for (uint32_t i = 0; i < rays; i++) {
        uint32_t index = i;
        if (sampled) {
            float u = sample_2d(path.sampler, bounce_dimension(path, 2 * i + 1)).x;
            index = uint32_t(u * float(params.tables.light_count));
            if (index >= params.tables.light_count) index = params.tables.light_count - 1;
        }
        IncidentLight l = incident_light(load_light(params, index), s.position, sample_2d(path.sampler, bounce_dimension(path, 2 * i + 2)));
        float cosine = dot(l.direction, s.shading);
        if (!(cosine > 0.0f)) continue;
        const Departure departure = depart(params, hit, s, l.direction);
        if (departure.behind) continue;
        float weight = cosine * (1.0f / kPi) * (sampled ? float(params.tables.light_count) / float(rays) : 1.0f);
        Vec3 light = path.throughput * albedo * l.irradiance * weight;
        // Ends short of the light, because the light may be directly at a surface.
        step.lights[step.light_rays++] = ShadowRay{departure.origin, l.direction, l.distance * 0.9999f, light};
    }
}

// Mean reflectance of a fibre's surface, which has the colour of the light.
constexpr float kFibreReflectance = 0.075f;

// Whitted's integrator with a sky: mirrors are followed, diffuse surfaces end the path. Hair is a matt surface.
THRONG_DEVICE void whitted_step(const Params& params, Path& path, const Hit& hit, Step& step, const Surface* known = nullptr) {
    step.clear();
    Vec3 direction = load3(path.ray.direction);
    if (hit.t < 0.0f) {
        if (is_transparent(params, path)) return;
        path.radiance += path.throughput * background(params, direction, sky_spread(path));
        return;
    }
    Surface s = known ? *known : make_surface(params, path.ray, hit);
    const MaterialRecord material = load_record(&params.tables.materials[s.material]);
    if (is_hidden(path, material)) {
        path.radiance += behind_hole(params, direction, sky_spread(path));
        return;
    }
    Footprint footprint;
    set_footprint(params, path.cone, path.ray, hit, material.flags, s, footprint);
    path.radiance += path.throughput * emission_at(params, s, material);
    Vec3 color = base_color(params, s, material);
    if (material.kind == MATERIAL_HAIR) color = color * (1.0f - kFibreReflectance) + vec3(kFibreReflectance);
    if (material.kind == MATERIAL_MIRROR || material.flags & SURFACE_POLISHED) {
        Vec3 reflected = mirror_direction(direction, s);
        path.throughput *= color;
        // Light after the last bounce is unknown; the environment is the best estimate, and it is continuous.
        if (path.depth >= params.picture.bounces) {
            path.radiance += path.throughput * sky_radiance(params, reflected);
            return;
        }
        path.ray = ray_of(leave(s, reflected), reflected, kInfinity, s.time);
        bend_cone(params, path, hit, s);
        continue_cone(params, path, hit.t, kInfinity);
        path.depth++;
        step.more = true;
        return;
    }
    if (!(max_component(color) > 0.0f)) return;
    add_sky_ray(params, path, s, color, step);
    add_light_rays(params, path, hit, s, color, step);
}

// Colour of the heat map for `x` in [0, 1], from dark blue over green and orange to white.
THRONG_DEVICE Vec3 heat(float x) {
    x = clamp(x, 0.0f, 1.0f) * 4.0f;
    if (x < 1.0f) return lerp(vec3(0.0f, 0.0f, 0.15f), vec3(0.0f, 0.35f, 0.9f), x);
    if (x < 2.0f) return lerp(vec3(0.0f, 0.35f, 0.9f), vec3(0.1f, 0.8f, 0.2f), x - 1.0f);
    if (x < 3.0f) return lerp(vec3(0.1f, 0.8f, 0.2f), vec3(0.95f, 0.6f, 0.05f), x - 2.0f);
    return lerp(vec3(0.95f, 0.6f, 0.05f), vec3(1.0f, 0.95f, 0.9f), x - 3.0f);
}

// A distinct saturated colour per number.
THRONG_DEVICE Vec3 index_color(uint32_t index) {
    uint32_t h = hash(index + 1);
    return vec3(0.15f + 0.85f * float(h & 255u) / 255.0f, 0.15f + 0.85f * float(h >> 8 & 255u) / 255.0f, 0.15f + 0.85f * float(h >> 16 & 255u) / 255.0f);
}

// The integrators as an enum, so that the compiler reports a `switch` that misses one.
enum class Integrator : uint32_t {
    whitted = INTEGRATOR_WHITTED,
    ao = INTEGRATOR_AO,
    normal = INTEGRATOR_NORMAL,
    depth = INTEGRATOR_DEPTH,
    albedo = INTEGRATOR_ALBEDO,
    instance = INTEGRATOR_INSTANCE,
    steps = INTEGRATOR_STEPS,
    path = INTEGRATOR_PATH,
    uv = INTEGRATOR_UV,
    material = INTEGRATOR_MATERIAL,
    wireframe = INTEGRATOR_WIREFRAME,
};
static_assert(INTEGRATOR_COUNT == 11, "an integrator has no name here");

THRONG_INLINE Integrator integrator_of(const Params& params) { return Integrator(params.picture.integrator); }

// Colour of a chequered pattern with ten squares along each axis of a texture.
THRONG_INLINE Vec3 uv_color(Vec2 uv) {
    const bool odd = (int(floorf(uv.x * 10.0f)) + int(floorf(uv.y * 10.0f))) & 1;
    return vec3(uv.x - floorf(uv.x), uv.y - floorf(uv.y), 0.25f) * (odd ? 0.6f : 1.0f);
}

// The colour of the surface at a hit in a debugging view.
THRONG_DEVICE Vec3 surface_view(const Params& params, const Path& path, const Hit& hit, Integrator view) {
    Surface s = make_surface(params, path.ray, hit);
    if (view == Integrator::uv) return uv_color(s.uv[0]);
    if (view == Integrator::material) return index_color(s.material);
    // Edges are drawn over this when the picture is finished.
    if (view == Integrator::wireframe) return vec3(0.6f + 0.4f * fabsf(dot(s.shading, normalize_or(load3(path.ray.direction), s.shading))));
    const MaterialRecord material = load_record(&params.tables.materials[s.material]);
    Footprint footprint;
    set_footprint(params, path.cone, path.ray, hit, material.flags, s, footprint);
    return view == Integrator::normal ? mapped_normal(params, s, material) * 0.5f + vec3(0.5f) : base_color(params, s, material);
}

// Ambient occlusion: whether a ray leaves the surface without hitting anything nearby.
THRONG_DEVICE void occlusion_step(const Params& params, Path& path, const Hit& hit, Step& step) {
    if (hit.t < 0.0f) {
        path.radiance = vec3(is_transparent(params, path) ? 0.0f : 1.0f);
        return;
    }
    Surface s = make_surface(params, path.ray, hit);
    Vec3 d = sample_cosine(s.shading, sample_2d(path.sampler, kDimensionBounce));
    if (!(dot(d, s.geometric) > 0.0f)) return;
    step.lights[step.light_rays++] = ShadowRay{leave(s, d), d, params.frame.ao_distance, vec3(1.0f)};
}

// The integrators whose paths end at the first hit: occlusion, and debugging views. Most are black where nothing is hit, or only the stage of a
// standalone model.
THRONG_DEVICE void view_step(const Params& params, Path& path, const Hit& hit, Step& step) {
    step.clear();
    const Integrator integrator = integrator_of(params);
    if (integrator == Integrator::ao) return occlusion_step(params, path, hit, step);
    if (hit.t < 0.0f || hit.instance == params.scene.stage) {
        if (integrator == Integrator::wireframe && !is_transparent(params, path)) path.radiance = vec3(1.0f);
        return;
    }
    switch (integrator) {
    case Integrator::depth: path.radiance = vec3(clamp(1.0f - hit.t / params.frame.depth_range, 0.0f, 1.0f)); return;
    case Integrator::instance: path.radiance = index_color(hit.instance + (params.trees.shares_numbers ? scene_index(params, hit) : 0)); return;
    case Integrator::normal:
    case Integrator::albedo:
    case Integrator::uv:
    case Integrator::material:
    case Integrator::wireframe: path.radiance = surface_view(params, path, hit, integrator); return;
    // These have separate steps.
    case Integrator::ao:
    case Integrator::whitted:
    case Integrator::steps:
    case Integrator::path: return;
    }
}

#if !THRONG_CUDA
// Calls `walk` with the step of the picture's integrator. The caller may pass a step the surface of its hit.
template <class Walk>
THRONG_INLINE void with_step(const Params& params, Walk&& walk) {
    switch (integrator_of(params)) {
    case Integrator::whitted: walk([&](Path& p, const Hit& hit, Step& step, const Surface* known) { whitted_step(params, p, hit, step, known); }); return;
    case Integrator::path:
        if (params.frame.fog.density > 0.0f) walk([&](Path& p, const Hit& hit, Step& step, const Surface* known) { path_step<true, true>(params, p, hit, step, known); });
        else walk([&](Path& p, const Hit& hit, Step& step, const Surface* known) { path_step<true>(params, p, hit, step, known); });
        return;
    case Integrator::ao:
    case Integrator::normal:
    case Integrator::depth:
    case Integrator::albedo:
    case Integrator::uv:
    case Integrator::material:
    case Integrator::wireframe:
    case Integrator::instance: walk([&](Path& p, const Hit& hit, Step& step, const Surface*) { view_step(params, p, hit, step); }); return;
    // Counts the work of camera rays instead, see `radiance_along`.
    case Integrator::steps: return;
    }
}
#endif

#if THRONG_LOOPS
// Traces a path from its first hit to its end; `advance` is a step of the integrator.
template <class Advance>
THRONG_DEVICE Vec3 walk(const Params& params, Path path, Hit hit, Thread& thread, Advance advance) {
    const Time time = time_of(path.ray);
    for (;;) {
        Step step;
        advance(path, hit, step, nullptr);
        thread.shadow_rays += step.shadow_count();
        step.each_shadow_ray([&](const ShadowRay& shadow, Vec3 blocked) {
            bool is_blocked = any_hit(params, ray_of(shadow.origin, shadow.direction, shadow.t_max, time), thread.stack);
            if (is_blocked && has_panes(params)) blocked = shadow.open * share_through_panes(params, ray_of(shadow.origin, shadow.direction, shadow.t_max, time), thread.stack);
            path.radiance += is_blocked ? blocked : shadow.open;
        });
        if (!step.more) return path.radiance;
        hit = closest_hit(params, path.ray, thread.stack);
        thread.bounce_rays++;
    }
}
#endif

// Radiance along a camera ray. If paths are not traced one by one, this is used for `steps` only, which counts the ray's traversal steps.
THRONG_DEVICE Vec3 radiance_along(const Params& params, const Path& path, Thread& thread) {
    thread.primary_rays++;
#if THRONG_LOOPS
    if (integrator_of(params) != Integrator::steps) {
        const Hit hit = closest_hit(params, path.ray, thread.stack);
        Vec3 radiance;
        with_step(params, [&](auto advance) { radiance = walk(params, path, hit, thread, advance); });
        return radiance;
    }
#endif
    StepCount count;
    const Hit hit = closest_hit_counted(params, path.ray, thread.stack, count);
    if (hit.t < 0.0f && is_transparent(params, path)) return vec3(0.0f);
    return heat(binary_log(1.0f + float(count.steps)) * 0.1f);
}

}

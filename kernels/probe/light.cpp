// What tests ask of the sampling of lights, compiled once for the baseline.
#include "light/lights.h"
#include "bvh/traverse.h"

using namespace THRONG_NAMESPACE;

namespace {

// Nothing moves in these tests.
const Time kNoTime = Time::at(0.0f);

Hit trace(const Params& params, StackEntry* stack, Vec3 origin, Vec3 direction) {
    return closest_hit(params, ray_of(origin, direction, kInfinity, kNoTime), stack);
}

// Irradiance along `direction`, which was found with that density among others.
Vec3 met(const Params& params, StackEntry* stack, Vec3 position, const Scatter& scatter, Vec3 direction) {
    const Hit hit = trace(params, stack, position, direction);
    if (hit.t < 0.0f) return escaped_light(params, position, scatter, direction);
    const Surface s = make_surface(params, ray_of(position, direction, kInfinity, kNoTime), hit);
    const Vec3 emission = emission_at(params, s);
    return max_component(emission) > 0.0f ? emitted_light(params, position, scatter, hit, s, emission) : vec3(0.0f);
}

}

// Picks a light: direction, distance, light and density to `out`, eight floats. 0 if nothing arrives.
extern "C" uint32_t throng_probe_pick_light(const Params* params, const float* position, const float* normal, const float* u, float* out) {
    LightPick pick;
    if (!pick_light(*params, load3(position), load3(normal), kNoTime, u[0], Vec2{u[1], u[2]}, pick)) return 0;
    store3(out, pick.direction);
    out[3] = pick.distance;
    store3(out + 4, pick.light);
    out[7] = pick.density;
    return 1;
}

// Densities with which `pick_light` finds what is seen in a direction: of the sky, of suns, of what shines within the scene.
extern "C" void throng_probe_light_densities(const Params* params, StackEntry* stack, const float* position, const float* normal, const float* direction, float* out) {
    const Vec3 p = load3(position), n = load3(normal), d = load3(direction);
    const LightShares shares = light_shares(*params, p);
    out[0] = out[1] = out[2] = 0.0f;
    const Hit hit = trace(*params, stack, p, d);
    if (hit.t >= 0.0f) {
        const Surface s = make_surface(*params, ray_of(p, d, kInfinity, kNoTime), hit);
        if (params->local_lights.emitter_of) out[2] = local_density(*params, p, n, shares.local, hit, s);
        return;
    }
    if (shares.sky > 0.0f) out[0] = shares.sky * sky_density(*params, n, d);
    for (uint32_t i = 0; i < params->sun_count; i++) {
        const LightRecord sun = load_record(&params->lights[i]);
        if (in_disc(sun, d)) out[1] += shares.suns * sun.probability * disc_density(sun);
    }
}

// Mean irradiance over points of the unit square, by picking lights, by the cosine, or by both.
enum Strategy : uint32_t { PICK_LIGHTS, PICK_DIRECTIONS, PICK_BOTH };

extern "C" void throng_probe_irradiance(const Params* params, StackEntry* stack, const float* position, const float* normal, uint32_t strategy, uint32_t samples, uint32_t seed, double* out) {
    const Vec3 p = load3(position), n = load3(normal);
    out[0] = out[1] = out[2] = 0.0;
    auto add = [&](Vec3 light) { out[0] += double(light.x) / samples, out[1] += double(light.y) / samples, out[2] += double(light.z) / samples; };
    for (uint32_t i = 0; i < samples; i++) {
        const Sampler sampler = make_sampler(0, 0, i, 0, seed);
        LightPick pick;
        if (strategy != PICK_DIRECTIONS && pick_light(*params, p, n, kNoTime, sample_2d(sampler, 0).x, sample_2d(sampler, 1), pick)) {
            const float cosine = max(0.0f, dot(pick.direction, n));
            const bool weighed = strategy == PICK_BOTH && pick.density != kInfinity;
            const float weight = weighed ? power_heuristic(pick.density, cosine * (1.0f / kPi)) : 1.0f;
            if (cosine > 0.0f && !any_hit(*params, ray_of(p, pick.direction, pick.distance, kNoTime), stack)) add(pick.light * (cosine * weight));
        }
        if (strategy == PICK_LIGHTS) continue;
        const Vec3 d = sample_cosine(n, sample_2d(sampler, 2));
        const float density = max(0.0f, dot(d, n)) * (1.0f / kPi);
        if (!(density > 0.0f)) continue;
        // A density that no other can match makes the whole light count.
        const float known = strategy == PICK_BOTH ? density : kInfinity;
        add(met(*params, stack, p, Scatter{n, known}, d) * kPi);
    }
}

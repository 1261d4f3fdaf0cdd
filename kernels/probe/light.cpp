// Entry points for tests of light sampling, compiled once for the baseline.
#include "light/lights.h"
#include "bvh/traverse.h"

using namespace THRONG_NAMESPACE;

namespace {

// Nothing moves in these tests.
const Time kNoTime = Time::at(0.0f);

Hit trace(const Params& params, StackEntry* stack, Vec3 origin, Vec3 direction) {
    return closest_hit(params, ray_of(origin, direction, kInfinity, kNoTime), stack);
}

// Radiance along `direction`, weighted for the pdf in `scatter`, with which the direction was sampled.
Vec3 met(const Params& params, StackEntry* stack, Vec3 position, const Scatter& scatter, Vec3 direction) {
    const Hit hit = trace(params, stack, position, direction);
    if (hit.t < 0.0f) return escaped_light(params, position, scatter, direction, 0.0f);
    const Surface s = make_surface(params, ray_of(position, direction, kInfinity, kNoTime), hit);
    const Vec3 emission = emission_at(params, s);
    return max_component(emission) > 0.0f ? emitted_light(params, position, scatter, hit, s, emission) : vec3(0.0f);
}

}

// Samples a light of any kind; writes direction, distance, light and pdf to `out`, eight floats. Returns 0 if no light arrives.
extern "C" uint32_t throng_probe_sample_light(const Params* params, const float* position, const float* normal, const float* u, float* out) {
    LightSample sampled;
    if (!sample_light(*params, load3(position), load3(normal), kNoTime, false, u[0], Vec2{u[1], u[2]}, sampled)) return 0;
    store3(out, sampled.direction);
    out[3] = sampled.distance;
    store3(out + 4, sampled.light);
    out[7] = sampled.pdf;
    return 1;
}

// The pdfs of `sample_light` for the light in a direction: of the sky, of suns, of emitters inside the scene.
extern "C" void throng_probe_light_pdfs(const Params* params, StackEntry* stack, const float* position, const float* normal, const float* direction, float* out) {
    const Vec3 p = load3(position), n = load3(normal), d = load3(direction);
    const LightShares shares = light_shares(*params, p, false);
    out[0] = out[1] = out[2] = 0.0f;
    const Hit hit = trace(*params, stack, p, d);
    if (hit.t >= 0.0f) {
        const Surface s = make_surface(*params, ray_of(p, d, kInfinity, kNoTime), hit);
        if (params->local_lights.emitter_of) out[2] = local_pdf(*params, p, n, shares.local, hit, s);
        return;
    }
    if (shares.sky > 0.0f) out[0] = shares.sky * sky_pdf(*params, n, d);
    for (uint32_t i = 0; i < params->tables.sun_count; i++) {
        const LightRecord sun = load_record(&params->tables.lights[i]);
        if (in_disc(sun, d)) out[1] += shares.suns * sun.probability * disc_pdf(sun);
    }
}

// Mean irradiance over points of the unit square, by light sampling, by cosine sampling, or by both.
enum Strategy : uint32_t { SAMPLE_LIGHTS, SAMPLE_DIRECTIONS, SAMPLE_BOTH };

extern "C" void throng_probe_irradiance(const Params* params, StackEntry* stack, const float* position, const float* normal, uint32_t strategy, uint32_t samples, uint32_t seed, double* out) {
    const Vec3 p = load3(position), n = load3(normal);
    out[0] = out[1] = out[2] = 0.0;
    auto add = [&](Vec3 light) { out[0] += double(light.x) / samples, out[1] += double(light.y) / samples, out[2] += double(light.z) / samples; };
    for (uint32_t i = 0; i < samples; i++) {
        const Sampler sampler = make_sampler(0, 0, i, 0, seed);
        LightSample sampled;
        if (strategy != SAMPLE_DIRECTIONS && sample_light(*params, p, n, kNoTime, strategy == SAMPLE_BOTH, sample_2d(sampler, 0).x, sample_2d(sampler, 1), sampled)) {
            const float cosine = max(0.0f, dot(sampled.direction, n));
            const bool weighed = strategy == SAMPLE_BOTH && sampled.pdf != kInfinity;
            const float weight = weighed ? power_heuristic(sampled.pdf, cosine * (1.0f / kPi)) : 1.0f;
            if (cosine > 0.0f && !any_hit(*params, ray_of(p, sampled.direction, sampled.distance, kNoTime), stack)) add(sampled.light * (cosine * weight));
        }
        if (strategy == SAMPLE_LIGHTS) continue;
        const Vec3 d = sample_cosine(n, sample_2d(sampler, 2));
        const float pdf = max(0.0f, dot(d, n)) * (1.0f / kPi);
        if (!(pdf > 0.0f)) continue;
        // A pdf that no other strategy can match makes the light count in full.
        const float known = strategy == SAMPLE_BOTH ? pdf : kInfinity;
        add(met(*params, stack, p, Scatter{n, known, 0.0f}, d) * kPi);
    }
}

// Light for paths: one light is sampled per scattering event, and light that a path hits is weighted against it (multiple importance sampling, Veach
// 1997, with the power heuristic). Each source is weighted separately: the sky, each sun, the emitters in the scene.
#pragma once
#include "light/emitters.h"

namespace THRONG_NAMESPACE {

// Weight of a sample with pdf `own` if another strategy would have generated it with pdf `other`.
THRONG_INLINE float power_heuristic(float own, float other) {
    if (own == kInfinity) return 1.0f;
    // The quotient is squared, because squares of large pdfs overflow.
    float quotient = other / own;
    return own > 0.0f ? 1.0f / (1.0f + quotient * quotient) : 0.0f;
}

// Probabilities of sampling each kind of light.
struct LightShares {
    float sky, suns, local;
};

// Part of the probability that is divided evenly among the available kinds, because the light of any of them may be blocked.
constexpr float kEvenShare = 0.25f;

// Probabilities of the kinds by the light that arrives from them at a point from all directions. `goes_on`: the path is also scattered there, which
// finds the light of a uniform sky as well as a light sample would. Samples are then left to other lights, if there are any.
THRONG_DEVICE LightShares light_shares(const Params& params, Vec3 position, bool goes_on) {
    LightShares shares{params.scene.environment.fluence, params.tables.sun_irradiance, 0.0f};
    if (goes_on && params.scene.environment.even && (shares.suns > 0.0f || params.local_lights.count)) shares.sky = 0.0f;
    if (params.local_lights.count) {
        Vec3 to = load3(params.local_lights.center) - position;
        shares.local = clamp(params.local_lights.power / max(max(dot(to, to), params.local_lights.radius_squared), 1e-20f), 1e-30f, 1e30f);
    }
    float total = shares.sky + shares.suns + shares.local;
    float kinds = (shares.sky > 0.0f ? 1.0f : 0.0f) + (shares.suns > 0.0f ? 1.0f : 0.0f) + (shares.local > 0.0f ? 1.0f : 0.0f);
    if (!(total > 0.0f)) return LightShares{0.0f, 0.0f, 0.0f};
    float scale = (1.0f - kEvenShare) / total, even = kEvenShare / kinds;
    if (shares.sky > 0.0f) shares.sky = shares.sky * scale + even;
    if (shares.suns > 0.0f) shares.suns = shares.suns * scale + even;
    if (shares.local > 0.0f) shares.local = shares.local * scale + even;
    return shares;
}

// Samples one of the suns. `share` is the probability of this strategy.
THRONG_DEVICE bool sample_sun(const Params& params, Vec3 position, float choice, float share, Vec2 u, LightSample& sampled) {
    LightRecord sun = load_record(&params.tables.lights[0]);
    THRONG_NO_UNROLL
    for (uint32_t i = 1; i < params.tables.sun_count && !(choice < sun.probability); i++) {
        choice -= sun.probability;
        sun = load_record(&params.tables.lights[i]);
    }
    IncidentLight l = incident_light(sun, position, u);
    float probability = share * sun.probability;
    sampled = LightSample{l.direction, l.distance, l.irradiance * (1.0f / probability), sun.cap > 0.0f ? probability * disc_pdf(sun) : kInfinity};
    return probability > 0.0f;
}

// Samples a direction to the sky for a point with this shading normal. `share` is the probability of this strategy.
THRONG_DEVICE bool sample_sky(const Params& params, Vec3 normal, float choice, float share, Vec2 u, LightSample& sampled) {
    sampled.direction = sample_sky_direction(params, normal, choice, u, sampled.pdf);
    sampled.pdf *= share;
    sampled.distance = kInfinity;
    if (!(sampled.pdf > 0.0f)) return false;
    sampled.light = sky_radiance(params, sampled.direction) * (1.0f / sampled.pdf);
    return true;
}

// Samples a light and a point on it, for a point with this shading normal, which is zero if light is gathered from all directions. `goes_on` as in
// `light_shares`. False if no light arrives.
THRONG_DEVICE bool sample_light(const Params& params, Vec3 position, Vec3 normal, Time time, bool goes_on, float choice, Vec2 u, LightSample& sampled) {
    const LightShares shares = light_shares(params, position, goes_on);
    if (choice < shares.sky) return sample_sky(params, normal, min(choice / shares.sky, kBelowOne), shares.sky, u, sampled);
    choice -= shares.sky;
    if (choice < shares.suns) return sample_sun(params, position, min(choice / shares.suns, kBelowOne), shares.suns, u, sampled);
    if (!(shares.local > 0.0f)) return false;
    return sample_local(params, position, normal, time, min((choice - shares.suns) / shares.local, kBelowOne), shares.local, u, sampled);
}

// Environment light for a path that left `origin` in `direction` and hit nothing, weighted against sampled light. `spread` is as in `background`.
THRONG_DEVICE Vec3 escaped_light(const Params& params, Vec3 origin, const Scatter& scatter, Vec3 direction, float spread) {
    if (scatter.pdf == kInfinity) return background(params, direction, spread);
    const LightShares shares = light_shares(params, origin, true);
    // With a probability of 0, the sky is only found by scattering.
    const float sky = shares.sky > 0.0f ? shares.sky * sky_pdf(params, scatter.normal, direction) : 0.0f;
    Vec3 light = sky_radiance(params, direction) * power_heuristic(scatter.pdf, sky);
    THRONG_NO_UNROLL
    for (uint32_t i = 0; i < params.tables.sun_count; i++) {
        const LightRecord sun = load_record(&params.tables.lights[i]);
        if (!in_disc(sun, direction)) continue;
        float pdf = disc_pdf(sun), weight = power_heuristic(scatter.pdf, shares.suns * sun.probability * pdf);
        light += load3(sun.power) * (pdf * weight);
    }
    return light;
}

// Light for a path that hits a surface with this `emission`, weighted against sampled light.
THRONG_DEVICE Vec3 emitted_light(const Params& params, Vec3 origin, const Scatter& scatter, const Hit& hit, const Surface& s, Vec3 emission) {
    if (scatter.pdf == kInfinity) return emission;
    // Unlit surfaces are visible but illuminate nothing.
    if (!(bits_float(load_word(&params.tables.materials[s.material].emission_weight)) > 0.0f)) return vec3(0.0f);
    if (!params.local_lights.emitter_of) return emission;
    const float share = light_shares(params, origin, true).local;
    return emission * power_heuristic(scatter.pdf, local_pdf(params, origin, scatter.normal, share, hit, s));
}

}

// Light that arrives from outside the geometry: environment, suns, point lights.
#pragma once
#include "texture.h"

namespace THRONG_NAMESPACE {

THRONG_DEVICE Vec3 gradient(const EnvironmentRecord& e, float y) {
    Vec3 horizon = load3(e.horizon);
    return y >= 0.0f ? lerp(horizon, load3(e.zenith), y) : lerp(horizon, load3(e.nadir), -y);
}

// Radiance of the sky from the unit direction `d`, without the discs of suns.
THRONG_DEVICE Vec3 sky_radiance(const Params& params, Vec3 d) {
    const EnvironmentRecord& e = params.environment;
    if (e.kind == ENVIRONMENT_IMAGE) return sample_latlong(params, e.image, e.rotation, d);
    return gradient(e, clamp(d.y, -1.0f, 1.0f));
}

// The same, low-passed: what diffuse light is sampled from, so that small bright spots of an HDR image make no noise.
THRONG_DEVICE Vec3 diffuse_sky_radiance(const Params& params, Vec3 d) {
    const EnvironmentRecord& e = params.environment;
    if (e.kind == ENVIRONMENT_IMAGE) return sample_latlong(params, e.diffuse_image, e.rotation, d);
    return gradient(e, clamp(d.y, -1.0f, 1.0f));
}

// What a camera or mirror ray sees where it meets nothing: the sky and the discs of suns.
THRONG_DEVICE Vec3 background(const Params& params, Vec3 d) {
    Vec3 radiance = sky_radiance(params, d);
    THRONG_NO_UNROLL
    for (uint32_t i = 0; i < params.light_count; i++) {
        const LightRecord light = load_record(&params.lights[i]);
        // A sun without size casts light but has no disc.
        if (light.kind != LIGHT_SUN || !(light.cos_radius < 1.0f)) continue;
        if (!(dot(load3(light.vector), d) > light.cos_radius)) continue;
        radiance += load3(light.power) * (1.0f / (2.0f * kPi * (1.0f - light.cos_radius)));
    }
    return radiance;
}

// Light from one source that would reach a point: direction and distance of the shadow ray, and the irradiance on a
// surface that faces it.
struct LightSample {
    Vec3 direction, irradiance;
    float distance;
};

THRONG_DEVICE LightSample sample_light(const LightRecord& light, Vec3 point, Vec2 u) {
    Vec3 vector = load3(light.vector);
    if (light.kind == LIGHT_SUN) {
        Vec3 d = light.cos_radius < 1.0f ? sample_cone(vector, light.cos_radius, u) : vector;
        return LightSample{d, load3(light.power), kInfinity};
    }
    Vec3 to_light = vector - point;
    float distance = length(to_light);
    if (!(distance > 0.0f)) return LightSample{vec3(0.0f, 1.0f, 0.0f), vec3(0.0f), 0.0f};
    return LightSample{to_light * (1.0f / distance), load3(light.power) * (1.0f / (distance * distance)), distance};
}

}

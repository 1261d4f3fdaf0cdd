// Light that arrives from outside the geometry: environment, suns, point and spot lights. For the Whitted integrator, emissive instances have records
// of the same type.
#pragma once
#include "light/stars.h"

namespace THRONG_NAMESPACE {

THRONG_DEVICE Vec3 gradient(const EnvironmentRecord& e, float y) {
    Vec3 horizon = load3(e.horizon);
    return y >= 0.0f ? lerp(horizon, load3(e.zenith), y) : lerp(horizon, load3(e.nadir), -y);
}

// Radiance of the sky from the unit direction `d`, without the discs of suns; of an image, its mean in a cone `spread` radians wide. Directions that
// are also sampled as light have a spread of 0: light that filtering moves out of a bright part would be counted twice.
THRONG_DEVICE Vec3 sky_radiance(const Params& params, Vec3 d, float spread = 0.0f) {
    const EnvironmentRecord& e = params.scene.environment;
    if (e.kind == ENVIRONMENT_IMAGE) return sample_latlong(params, e.image, e.rotation, d, spread);
    return gradient(e, clamp(d.y, -1.0f, 1.0f));
}

// Low-passed sky radiance, for diffuse light, so that small bright spots of an HDR image cause no noise.
THRONG_DEVICE Vec3 diffuse_sky_radiance(const Params& params, Vec3 d) {
    const EnvironmentRecord& e = params.scene.environment;
    if (e.kind == ENVIRONMENT_IMAGE) return sample_latlong(params, e.diffuse_image, e.rotation, d, 0.0f);
    return gradient(e, clamp(d.y, -1.0f, 1.0f));
}

// Whether a unit direction hits the disc of a sun. A sun without angular size casts light but has no disc.
THRONG_DEVICE bool in_disc(const LightRecord& sun, Vec3 d) {
    Vec3 chord = d - load3(sun.vector);
    return dot(chord, chord) < 2.0f * sun.cap;
}

// One over the solid angle of a sun's disc.
THRONG_INLINE float disc_pdf(const LightRecord& sun) { return 1.0f / (2.0f * kPi * sun.cap); }

// Radiance of a moon in a direction inside its disc, relative to the disc's mean: a constant on the lit side, otherwise 0. Light is sampled as if the
// whole disc were evenly lit.
THRONG_OUTLINE float moon_share(const LightRecord& moon, Vec3 d) {
    const Vec3 chord = d - load3(moon.vector);
    const float along = dot(chord, load3(moon.axis)), across = dot(chord, chord) - along * along;
    // The terminator is half an ellipse.
    const float edge = -moon.phase_cosine * sqrtf(max(0.0f, 2.0f * moon.cap - across));
    return along > edge ? 2.0f / (1.0f + moon.phase_cosine) : 0.0f;
}

// Radiance for a camera or mirror ray that hits nothing: the sky, its stars and the discs of suns. `spread` is the width of its cone in radians.
THRONG_DEVICE Vec3 background(const Params& params, Vec3 d, float spread) {
    Vec3 radiance = sky_radiance(params, d, spread);
    if (params.scene.environment.faintest_star > 0.0f) radiance += star_radiance(params, d);
    THRONG_NO_UNROLL
    for (uint32_t i = 0; i < params.tables.sun_count; i++) {
        const LightRecord sun = load_record(&params.tables.lights[i]);
        if (!in_disc(sun, d)) continue;
        const Vec3 mean = load3(sun.power) * disc_pdf(sun);
        radiance += sun.phase_cosine < 1.0f ? mean * moon_share(sun, d) : mean;
    }
    return radiance;
}

// Radiance for a camera ray behind a holdout surface. Outlined, because most scenes have none.
THRONG_OUTLINE Vec3 behind_hole(const Params& params, Vec3 direction, float spread) {
    return params.picture.transparent ? vec3(0.0f) : background(params, direction, spread);
}

// Unoccluded light from one source at a point: direction and distance of the shadow ray, and the irradiance on a surface that faces the source.
struct IncidentLight {
    Vec3 direction, irradiance;
    float distance;
};

// The fraction of a spot light's intensity in the unit `direction` (KHR_lights_punctual, "Inner and Outer Cone Angles").
THRONG_INLINE float spot_share(const LightRecord& light, Vec3 direction) {
    float share = clamp(dot(load3(light.axis), direction) * light.cone_scale + light.cone_offset, 0.0f, 1.0f);
    return share * share;
}

// The fraction of a light's irradiance that remains at a distance, if it has a range (KHR_lights_punctual, "Range Property").
THRONG_INLINE float range_share(const LightRecord& light, float distance) {
    float part = distance * light.cap;
    part *= part;
    return max(1.0f - part * part, 0.0f);
}

// Offset from the centre of a light with a radius to a point of its disc. The disc is perpendicular to the light's axis; a sphere's disc faces
// `point`.
THRONG_OUTLINE Vec3 across(const LightRecord& light, Vec3 point, Vec2 u) {
    Vec3 axis = load3(light.axis), side, up;
    if (light.kind == LIGHT_SPHERE) axis = normalize_or(point - load3(light.vector), vec3(0.0f, 1.0f, 0.0f));
    basis(axis, side, up);
    float radius = light.radius * sqrtf(u.x), sine, cosine;
    sine_cosine(u.y, sine, cosine);
    return side * (radius * cosine) + up * (radius * sine);
}

// Loads a light, with its position relative to the frame's origin.
THRONG_INLINE LightRecord load_light(const Params& params, uint32_t index) {
    LightRecord light = load_record(&params.tables.lights[index]);
    if (is_nested(params) && light.kind != LIGHT_SUN) store3(light.vector, load3(light.vector) - load3(params.frame.origin));
    return light;
}

THRONG_INLINE IncidentLight incident_light(const LightRecord& light, Vec3 point, Vec2 u) {
    Vec3 vector = load3(light.vector);
    if (light.kind == LIGHT_SUN) {
        Vec3 d = light.cap > 0.0f ? sample_cone(vector, light.cap, u) : vector;
        return IncidentLight{d, load3(light.power), kInfinity};
    }
    if (light.radius > 0.0f) vector += across(light, point, u);
    Vec3 to_light = vector - point;
    float distance = length(to_light);
    if (!(distance > 0.0f)) return IncidentLight{vec3(0.0f, 1.0f, 0.0f), vec3(0.0f), 0.0f};
    Vec3 d = to_light * (1.0f / distance);
    Vec3 intensity = load3(light.power);
    if (light.kind == LIGHT_SPOT) intensity = intensity * spot_share(light, -d);
    if (light.kind == LIGHT_DISC) intensity = intensity * max(0.0f, -dot(load3(light.axis), d));
    Vec3 irradiance = intensity * (1.0f / (distance * distance));
    if (light.cap > 0.0f) irradiance = irradiance * range_share(light, distance);
    // The sphere itself must not block its light.
    if (light.kind == LIGHT_SPHERE) distance = max(0.0f, distance - light.radius);
    return IncidentLight{d, irradiance, distance};
}

}

// Light for paths: one light is sampled per scattering, and light that a path meets is weighed against that (multiple importance
// sampling, Veach 1997, with the power heuristic).
#pragma once
#include "light.h"
#include "path.h"

namespace THRONG_NAMESPACE {

// Weight of a sample of density `own` where another strategy would have found it with density `other`.
THRONG_INLINE float power_heuristic(float own, float other) {
    if (own == kInfinity) return 1.0f;
    float a = own * own, b = other * other;
    return a > 0.0f ? a / (a + b) : 0.0f;
}

// A way to a light.
struct LightPick {
    // Unit vector towards it, and the length of the shadow ray, which stops short of the light.
    Vec3 direction;
    float distance;
    // Radiance that arrives, divided by `density` (for lights without extent, irradiance divided by their probability).
    Vec3 light;
    // With which the direction is picked, per solid angle; infinite for lights without extent, which nothing else finds.
    float density;
};

THRONG_INLINE float sky_share(const Params& params) { return params.light_count ? 0.5f : 1.0f; }

// Picks a light and a point of it, as seen from a point with this shading normal. False: nothing arrives.
THRONG_DEVICE bool pick_light(const Params& params, Vec3 position, Vec3 normal, float choice, Vec2 u, LightPick& pick) {
    float share = sky_share(params);
    if (choice < share) {
        pick.direction = sample_cosine(normal, u);
        pick.distance = kInfinity;
        pick.density = share * max(dot(pick.direction, normal), 0.0f) * (1.0f / kPi);
        if (!(pick.density > 0.0f)) return false;
        pick.light = sky_radiance(params, pick.direction) * (1.0f / pick.density);
        return true;
    }
    uint32_t index = uint32_t((choice - share) / (1.0f - share) * float(params.light_count));
    if (index >= params.light_count) index = params.light_count - 1;
    LightSample l = sample_light(load_record(&params.lights[index]), position, u);
    pick.direction = l.direction;
    pick.distance = l.distance * 0.9999f;
    pick.light = l.irradiance * (float(params.light_count) / (1.0f - share));
    pick.density = kInfinity;
    return true;
}

// Light from beyond the scene that a path meets, which left `origin`.
THRONG_DEVICE Vec3 escaped_light(const Params& params, Vec3 origin, const Scatter& scatter, Vec3 direction) {
    (void)origin;
    if (scatter.density == kInfinity) return background(params, direction);
    float density = sky_share(params) * max(dot(direction, scatter.normal), 0.0f) * (1.0f / kPi);
    return sky_radiance(params, direction) * power_heuristic(scatter.density, density);
}

// Light that a path meets at a surface which shines with `emission`.
THRONG_DEVICE Vec3 emitted_light(const Params& params, Vec3 origin, const Scatter& scatter, const Hit& hit, const Surface& s, Vec3 emission) {
    (void)params, (void)origin, (void)scatter, (void)hit, (void)s;
    return emission;
}

}

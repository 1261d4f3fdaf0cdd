// Directional albedos by brute force, from which the tables of closure/albedo.h are computed.
#pragma once
#include "closure/fresnel.h"
#include "closure/sheen.h"

namespace THRONG_NAMESPACE {

// Fractions of the light from one direction that a rough interface reflects if its facets reflect everything (`mirror`), reflects as a dielectric,
// and transmits, without multiple scattering.
struct InterfaceAlbedo {
    float mirror, reflected, transmitted;
};

// The unit direction with this cosine to the z axis, `turn` turns from the x axis.
inline Vec3 direction_at(float cosine, float turn) {
    float radius = sqrtf(max(0.0f, 1.0f - cosine * cosine)), turn_sine, turn_cosine;
    sine_cosine(turn, turn_sine, turn_cosine);
    return vec3(radius * turn_cosine, radius * turn_sine, cosine);
}

// Computes the means over a grid of n by n visible facets.
inline InterfaceAlbedo interface_albedo(Vec3 out, Roughness a, float eta, uint32_t n) {
    double mirror = 0.0, reflected = 0.0, transmitted = 0.0;
    float hidden = hidden_facets(a, out);
    for (uint32_t i = 0; i < n * n; i++) {
        Vec3 h = sample_visible_facet(a, out, Vec2{(float(i % n) + 0.5f) / float(n), (float(i / n) + 0.5f) / float(n)});
        float cosine = dot(out, h);
        if (!(cosine > 0.0f)) continue;
        float fresnel = dielectric_fresnel(cosine, eta);
        Vec3 in = reflect(out, h);
        if (in.z > 0.0f) {
            float unshadowed = (1.0f + hidden) * masking(hidden, hidden_facets(a, in));
            mirror += double(unshadowed);
            reflected += double(unshadowed * fresnel);
        }
        if (refract(out, h, eta, in) && in.z < 0.0f) transmitted += double((1.0f - fresnel) * (1.0f + hidden) * masking(hidden, hidden_facets(a, in)));
    }
    double scale = 1.0 / (double(n) * double(n));
    return InterfaceAlbedo{float(mirror * scale), float(reflected * scale), float(transmitted * scale)};
}

inline float sheen_albedo(float cosine, float roughness, uint32_t n) {
    double sum = 0.0;
    Vec3 out = direction_at(cosine, 0.0f);
    for (uint32_t i = 0; i < n * n; i++) {
        // Denser near the horizon, where sheen is brightest.
        float u = (float(i % n) + 0.5f) / float(n);
        Vec3 in = direction_at(u * u, (float(i / n) + 0.5f) / float(n));
        sum += double(evaluate_sheen(sheen_alpha(roughness), out, in) * 2.0f * u);
    }
    return float(sum * 2.0 * double(kPi) / (double(n) * double(n)));
}

}

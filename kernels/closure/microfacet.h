// Rough surfaces as microscopic mirrors: the GGX distribution of their normals (Walter et al. 2007), with Smith's height-correlated masking and
// shadowing (Heitz 2014). Directions are local: z is the surface's normal, x its tangent.
#pragma once
#include "util/sampler.h"

namespace THRONG_NAMESPACE {

// Widths of the distribution along and across the tangent.
struct Roughness {
    float along, across;
};

// Width below which surfaces are perfectly smooth: the lobe is narrower than any pixel, and floats lack the precision.
constexpr float kSmooth = 5e-4f;

THRONG_INLINE bool is_smooth(Roughness a) { return a.across < kSmooth && a.along < kSmooth; }

THRONG_INLINE float squared(float x) { return x * x; }

// Density of microfacets with normal `h`, per solid angle and surface area.
THRONG_INLINE float facet_distribution(Roughness a, Vec3 h) {
    float e = squared(h.x / a.along) + squared(h.y / a.across) + squared(h.z);
    return 1.0f / (kPi * a.along * a.across * squared(e));
}

// Smith's Lambda: hidden microfacets per visible one, as seen from `v`. Even in v.z.
THRONG_INLINE float hidden_facets(Roughness a, Vec3 v) {
    float slope = (squared(a.along * v.x) + squared(a.across * v.y)) / max(squared(v.z), 1e-18f);
    return 0.5f * (sqrtf(1.0f + slope) - 1.0f);
}
// `hidden_facets` for an isotropic distribution.
THRONG_INLINE float hidden_facets(float alpha, float cosine) {
    float slope = squared(alpha) * max(1.0f - squared(cosine), 0.0f) / max(squared(cosine), 1e-18f);
    return 0.5f * (sqrtf(1.0f + slope) - 1.0f);
}

// Fraction of the microfacets that are visible from one direction, and from both of two directions.
THRONG_INLINE float masking(float hidden) { return 1.0f / (1.0f + hidden); }
THRONG_INLINE float masking(float hidden_a, float hidden_b) { return 1.0f / (1.0f + hidden_a + hidden_b); }

// Samples the normal of a microfacet visible from `out`, in proportion to its projected area (Dupuy and Benyoub 2023). The pdf is facet_distribution
// * masking(out) * dot(out, h) / out.z.
THRONG_DEVICE Vec3 sample_visible_facet(Roughness a, Vec3 out, Vec2 u) {
    Vec3 o = normalize_or(vec3(a.along * out.x, a.across * out.y, out.z), vec3(0.0f, 0.0f, 1.0f));
    float z = (1.0f - u.x) * (1.0f + o.z) - o.z, radius = sqrtf(clamp(1.0f - z * z, 0.0f, 1.0f)), sine, cosine;
    sine_cosine(u.y, sine, cosine);
    Vec3 h = vec3(o.x + radius * cosine, o.y + radius * sine, o.z + z);
    return normalize_or(vec3(a.along * h.x, a.across * h.y, max(h.z, 0.0f)), vec3(0.0f, 0.0f, 1.0f));
}

THRONG_INLINE Vec3 reflect(Vec3 out, Vec3 h) { return h * (2.0f * dot(out, h)) - out; }

// Computes the refracted direction at a facet that faces `out`. `eta` is the ior behind the facet relative to the ior on the side of `out`. False for
// total reflection.
THRONG_DEVICE bool refract(Vec3 out, Vec3 h, float eta, Vec3& in) {
    float cosine = dot(out, h), inverse = 1.0f / eta, squared_cosine = 1.0f - inverse * inverse * (1.0f - cosine * cosine);
    if (!(squared_cosine > 0.0f)) return false;
    in = h * (inverse * cosine - sqrtf(squared_cosine)) - out * inverse;
    return true;
}

}

// Cloth: KHR_materials_sheen's "Charlie" distribution of fibres with its fitted shadowing (Estevez and Kulla 2017).
// Directions are local.
#pragma once
#include "closure/microfacet.h"

namespace THRONG_NAMESPACE {

// Minimum roughness of sheen. Narrower lobes would only be visible at the silhouette.
constexpr float kMinSheenRoughness = 0.1f;

struct SheenLobe {
    Vec3 color;
    float roughness;
};

THRONG_INLINE float sheen_alpha(float roughness) { return squared(clamp(roughness, kMinSheenRoughness, 1.0f)); }

THRONG_INLINE float sheen_curve(float x, float alpha) {
    float t = squared(1.0f - alpha);
    float a = 21.5473f + (25.3245f - 21.5473f) * t, b = 3.82987f + (3.32435f - 3.82987f) * t, c = 0.19823f + (0.16801f - 0.19823f) * t,
          d = -1.97760f + (-1.27393f + 1.97760f) * t, e = -4.32054f + (-4.85967f + 4.32054f) * t;
    return a / (1.0f + b * power(x, c)) + d * x + e;
}

THRONG_INLINE float hidden_fibres(float cosine, float alpha) {
    cosine = min(cosine, 1.0f);
    float folded = cosine < 0.5f ? sheen_curve(cosine, alpha) : 2.0f * sheen_curve(0.5f, alpha) - sheen_curve(1.0f - cosine, alpha);
    return exponential(folded);
}

// Value of white sheen times the cosine of `in`.
THRONG_DEVICE float evaluate_sheen(float alpha, Vec3 out, Vec3 in) {
    Vec3 h = normalize_or(out + in, vec3(0.0f, 0.0f, 1.0f));
    float sine = sqrtf(clamp(1.0f - h.z * h.z, 0.0f, 1.0f)), inverse = 1.0f / alpha;
    float distribution = (2.0f + inverse) * power(sine, inverse) * (0.5f / kPi);
    return distribution * masking(hidden_fibres(out.z, alpha), hidden_fibres(in.z, alpha)) / (4.0f * out.z);
}

// Pdf of `sample_sheen`: uniform over the hemisphere, because the lobe is wide and extends to the horizon.
constexpr float kSheenPdf = 0.5f / kPi;

THRONG_DEVICE Vec3 sample_sheen(Vec2 u) {
    float radius = sqrtf(max(0.0f, 1.0f - u.x * u.x)), sine, cosine;
    sine_cosine(u.y, sine, cosine);
    return vec3(radius * cosine, radius * sine, u.x);
}

}

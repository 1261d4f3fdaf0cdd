// Reflectance of smooth interfaces.
#pragma once
#include "util/vec.h"

namespace THRONG_NAMESPACE {

// Unpolarised Fresnel reflectance of a dielectric, 1 for total reflection. `eta` is the ior behind the interface relative to the ior in front.
THRONG_INLINE float dielectric_fresnel(float cosine, float eta) {
    // Rounding may make the cosine negative, for which the formula is undefined.
    cosine = max(cosine, 1e-6f);
    float g2 = eta * eta - 1.0f + cosine * cosine;
    if (!(g2 > 0.0f)) return 1.0f;
    float g = sqrtf(g2), a = (g - cosine) / (g + cosine), b = (cosine * (g + cosine) - 1.0f) / (cosine * (g - cosine) + 1.0f);
    return 0.5f * a * a * (1.0f + b * b);
}

// `dielectric_fresnel` at normal incidence.
THRONG_INLINE float normal_fresnel(float eta) {
    float a = (eta - 1.0f) / (eta + 1.0f);
    return a * a;
}

// Schlick's (1 - cosine)^5.
THRONG_INLINE float schlick(float cosine) {
    float x = clamp(1.0f - cosine, 0.0f, 1.0f), x2 = x * x;
    return x2 * x2 * x;
}

}

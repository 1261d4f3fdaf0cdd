// Distributions of the light that a fibre scatters: along it, by inclination (d'Eon et al. 2011, "An Energy-Conserving Hair Reflectance Model"), and
// around it, by azimuth (Chiang et al. 2016). Angles are in radians. Computed with single operations for identical results on all devices, like the
// functions of util/maths.h.
#pragma once
#include "util/sampler.h"

namespace THRONG_NAMESPACE {

// Sine and cosine of the angle between a direction and the plane across the fibre, positive towards the tip. The cosine is not negative.
struct Inclination {
    float sine, cosine;
};

THRONG_INLINE float cosine_of_sine(float sine) { return sqrtf(max(0.0f, 1.0f - sine * sine)); }

THRONG_INLINE Inclination inclination(float sine) {
    sine = clamp(sine, -1.0f, 1.0f);
    return Inclination{sine, cosine_of_sine(sine)};
}

// The inclination plus an angle with this sine and cosine. Beyond the fibre's tangent, directions come down on its other side.
THRONG_INLINE Inclination turned(Inclination x, float sine, float cosine) {
    return Inclination{x.sine * cosine + x.cosine * sine, fabsf(x.cosine * cosine - x.sine * sine)};
}

// Arc sine of `x` in [-1, 1], in radians.
THRONG_INLINE float arc_sine(float x) { return arc_tangent(x / cosine_of_sine(x)); }

// exp(-x) times the modified Bessel function of the first kind of order 0, for x >= 0, to 3e-7 (Abramowitz and Stegun 1964, 9.8.1 and 9.8.2).
THRONG_INLINE float scaled_bessel(float x) {
    if (x < 3.75f) {
        const float t = x * (1.0f / 3.75f), t2 = t * t;
        const float sum = 3.5156229f + t2 * (3.0899424f + t2 * (1.2067492f + t2 * (0.2659732f + t2 * (0.0360768f + t2 * 0.0045813f))));
        return (1.0f + t2 * sum) * decay(-x);
    }
    const float t = 3.75f / x;
    float sum = 0.02635537f + t * (-0.01647633f + t * 0.00392377f);
    sum = -0.00157565f + t * (0.00916281f + t * (-0.02057706f + t * sum));
    return (0.39894228f + t * (0.01328592f + t * (0.00225319f + t * sum))) / sqrtf(x);
}

// Pdf of the inclination `in` of scattered light, per sine of the inclination. The lobe has its maximum at the negative of `out`; `variance` is its
// variance, if that is small.
THRONG_INLINE float along_fibre(Inclination in, Inclination out, float variance) {
    const float inverse = 1.0f / variance, cosines = in.cosine - out.cosine, sines = in.sine + out.sine;
    // One minus the cosine of the angle from the maximum, which stays precise for narrow lobes.
    const float apart = 0.5f * (cosines * cosines + sines * sines);
    return scaled_bessel(in.cosine * out.cosine * inverse) * decay(-apart * inverse) / (2.0f * decay_ratio(2.0f * inverse));
}

// Samples the sine of an inclination with the pdf `along_fibre` (d'Eon et al. 2013, "Importance Sampling for Physically-Based Hair Fiber Models").
THRONG_INLINE float sample_along_fibre(Inclination out, float variance, Vec2 u) {
    // A direction on the sphere: at an angle from the maximum, and turned about it. `apart` is one minus the angle's cosine.
    const float x = 2.0f / variance, below = -u.x * x * decay_ratio(x);
    const float apart = clamp(-variance * below * log_ratio(below), 0.0f, 2.0f);
    float sine, cosine;
    sine_cosine(u.y, sine, cosine);
    return (apart - 1.0f) * out.sine + sqrtf(apart * (2.0f - apart)) * cosine * out.cosine;
}

// Pdf of a logistic distribution of the given scale that is cut off at -pi and pi.
THRONG_INLINE float around_fibre(float angle, float scale) {
    const float inverse = 1.0f / scale, e = decay(-fabsf(angle) * inverse), end = decay(-kPi * inverse);
    return e * inverse * (1.0f + end) / ((1.0f + e) * (1.0f + e) * (1.0f - end));
}

// Samples an angle with the pdf `around_fibre`.
THRONG_INLINE float sample_around_fibre(float scale, float u) {
    const float end = decay(-kPi / scale), side = 2.0f * u - 1.0f, share = fabsf(side) * (1.0f - end) / (1.0f + end);
    const float angle = min(scale * natural_log((1.0f + share) / max(1.0f - share, 3e-8f)), kPi);
    return side < 0.0f ? -angle : angle;
}

// The angle plus whole turns, from -pi to pi.
THRONG_INLINE float wrapped(float angle) { return angle - 2.0f * kPi * floorf((angle + kPi) * (0.5f / kPi)); }

}

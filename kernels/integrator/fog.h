// Fog, which fills the scene (`FogRecord`): constant up to a height, thinner exponentially above it, none above another. What a ray meets
// in it has closed forms. Rays are given by the height at which they begin and the slope of their unit direction.
#pragma once
#include "util/sampler.h"

namespace THRONG_NAMESPACE {

// Where a ray is in which part of the fog, as distances along it: in the constant part from `full_begin` to `full_end`, in the thinning
// part from `thin_begin` to `thin_end`. Ends may be infinite; a part that ends before it begins is not met.
struct FogSpans {
    float full_begin, full_end, thin_begin, thin_end;
    // Change of the logarithm of the density per distance in the thinning part, without its sign.
    float decay_rate;
    bool rises;
};

THRONG_INLINE FogSpans fog_spans(const FogRecord& fog, float y, float slope) {
    FogSpans spans;
    // Level rays rise a little: too little to notice, but it leaves no quotient without a value.
    spans.rises = slope >= 0.0f;
    const float steepness = max(fabsf(slope), 1e-20f), inverse = spans.rises ? 1.0f / steepness : -1.0f / steepness;
    const float at_base = max((fog.base - y) * inverse, 0.0f), at_top = max((fog.top - y) * inverse, 0.0f);
    spans.full_begin = spans.rises ? 0.0f : at_base;
    spans.full_end = spans.rises ? at_base : kInfinity;
    spans.thin_begin = spans.rises ? at_base : at_top;
    spans.thin_end = spans.rises ? at_top : at_base;
    spans.decay_rate = fog.inverse_height * steepness;
    return spans;
}

// Density at a height above the base.
THRONG_INLINE float thin_density(const FogRecord& fog, float y) { return fog.density * decay((fog.base - y) * fog.inverse_height); }

// Optical depth of the thinning part of a ray up to `distance`. It is told from the densest point, which loses no digits.
THRONG_INLINE float thin_depth(const FogRecord& fog, const FogSpans& spans, float y, float slope, float distance) {
    const float end = min(distance, spans.thin_end);
    // In this order, so that it is 0 where both are infinite.
    const float run = max(end - spans.thin_begin, 0.0f), falls = spans.decay_rate * run;
    const float lowest = spans.rises ? max(y, fog.base) : max(y + slope * end, fog.base);
    const float mean = falls > 1e20f ? 1.0f / spans.decay_rate : run * decay_ratio(falls);
    return run > 0.0f ? thin_density(fog, lowest) * mean : 0.0f;
}

// Optical depth up to `distance`, which may be infinite.
THRONG_DEVICE float fog_depth(const FogRecord& fog, float y, float slope, float distance) {
    const FogSpans spans = fog_spans(fog, y, slope);
    const float full = max(min(distance, spans.full_end) - spans.full_begin, 0.0f);
    return fog.density * full + thin_depth(fog, spans, y, slope, distance);
}

// Distance at which a ray has the optical depth `depth`, which is above 0; infinite if it never has.
THRONG_DEVICE float fog_flight(const FogRecord& fog, float y, float slope, float depth) {
    const FogSpans spans = fog_spans(fog, y, slope);
    if (spans.rises) {
        const float before = fog.density * spans.thin_begin;
        if (depth < before) return depth / fog.density;
        const float left = depth - before, start = thin_density(fog, max(y, fog.base)), share = left * spans.decay_rate / start;
        const float flown = spans.thin_begin + left / start * log_ratio(-share);
        return share < 1.0f && flown < spans.thin_end ? flown : kInfinity;
    }
    const float before = thin_depth(fog, spans, y, slope, kInfinity);
    if (!(depth < before)) return spans.full_begin + (depth - before) / fog.density;
    const float start = thin_density(fog, min(y, fog.top)), share = depth * spans.decay_rate / start;
    return min(spans.thin_begin + depth / start * log_ratio(share), spans.full_begin);
}

// Density at a height.
THRONG_INLINE float fog_density(const FogRecord& fog, float y) {
    return y > fog.top ? 0.0f : y > fog.base ? thin_density(fog, y) : fog.density;
}

// The share of light that gets from `origin` along `direction` for `distance`, which may be infinite.
THRONG_DEVICE float fog_transmittance(const FogRecord& fog, Vec3 origin, Vec3 direction, float distance) {
    return decay(-fog_depth(fog, origin.y, direction.y, distance));
}

}

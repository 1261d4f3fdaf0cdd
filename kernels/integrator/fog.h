// Fog that fills the scene (`FogRecord`): constant up to a height, decreasing exponentially above it, and none above a second height. Integrals along
// rays have closed forms. A ray is given by its start height and the slope of its unit direction.
#pragma once
#include "util/sampler.h"

namespace THRONG_NAMESPACE {

// Intervals of a ray in the parts of the fog, as distances: in the constant part from `full_begin` to `full_end`, in the thinning part from
// `thin_begin` to `thin_end`. Ends may be infinite; an interval whose end precedes its begin is empty.
struct FogSpans {
    float full_begin, full_end, thin_begin, thin_end;
    // Absolute change of the logarithm of the density per distance in the thinning part.
    float decay_rate;
    bool rises;
};

THRONG_INLINE FogSpans fog_spans(const FogRecord& fog, float y, float slope) {
    FogSpans spans;
    // Level rays are treated as rising by a negligible amount, so that all quotients are defined.
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

// Density at height `y`, which must be above the base.
THRONG_INLINE float thin_density(const FogRecord& fog, float y) { return fog.density * decay((fog.base - y) * fog.inverse_height); }

// Optical depth of the thinning part of a ray up to `distance`. Computed from the densest point, which loses no precision.
THRONG_INLINE float thin_depth(const FogRecord& fog, const FogSpans& spans, float y, float slope, float distance) {
    const float end = min(distance, spans.thin_end);
    // In this order, so that it is 0 if both are infinite.
    const float run = max(end - spans.thin_begin, 0.0f), falls = spans.decay_rate * run;
    const float lowest = spans.rises ? max(y, fog.base) : max(y + slope * end, fog.base);
    const float mean = falls > 1e20f ? 1.0f / spans.decay_rate : run * decay_ratio(falls);
    return run > 0.0f ? thin_density(fog, lowest) * mean : 0.0f;
}

// Optical depth up to `distance`, which may be infinite.
THRONG_DEVICE float fog_depth(const FogRecord& fog, float y, float slope, float distance) {
    // Without fog, the product of its density and an infinite distance would be undefined.
    if (!(fog.density > 0.0f)) return 0.0f;
    const FogSpans spans = fog_spans(fog, y, slope);
    const float full = max(min(distance, spans.full_end) - spans.full_begin, 0.0f);
    return fog.density * full + thin_depth(fog, spans, y, slope, distance);
}

// Distance at which a ray reaches the optical depth `depth`, which must be above 0; infinite if it never does.
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

// The transmittance from `origin` along `direction` over `distance`, which may be infinite.
THRONG_DEVICE float fog_transmittance(const FogRecord& fog, Vec3 origin, Vec3 direction, float distance) {
    return decay(-fog_depth(fog, origin.y, direction.y, distance));
}

}

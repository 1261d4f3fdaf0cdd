// Outliers: pixels much brighter than their surroundings whose own variance explains it, for example because one sample in a hundred pixels
// hits a light. Averaging would spread them as spots. A pixel keeps the amount that its surroundings make plausible, and distributes the
// rest to them.
#pragma once
#include "util/vec.h"
#include "abi.h"

namespace THRONG_NAMESPACE {

// Half widths of a pixel's surroundings: 7x7 pixels without the central 3x3, which may share samples with the pixel.
constexpr int kSurroundings = 3, kSharing = 1;
// Greatest distance of two pixels that show one lamp smaller than a pixel: its samples may be in two pixels, and count in the pixels around these.
constexpr int kLamp = 2 * kSharing;
// A pixel keeps the mean of its surroundings plus this many of their standard deviations.
constexpr float kKeptDeviations = 2.0f;
// Minimum standard deviation of an outlier, relative to its excess light. It is 1 if a single sample has all the light.
constexpr float kOwnNoise = 0.7f;
// Minimum standard deviation of an outlier, relative to its light. Pixels below it are skipped; they would change by less than a tenth.
constexpr float kLeastNoise = 0.1f * kOwnNoise;
// Minimum sum of likeness for the surroundings to be used.
constexpr float kLeastSurroundings = 4.0f;
// A pixel receives at most one of its own standard deviations from all outliers, or enough to reach this share of the light that one of them
// keeps, if that is more. The rest is dropped; otherwise it would be visible around the outlier.
constexpr float kFilled = 0.3f;

// `value`, or 0 if it is NaN or its square would overflow.
THRONG_INLINE float usable(float value) { return fabsf(value) < 1e18f ? value : 0.0f; }

THRONG_INLINE Vec3 usable3(const float* values) { return vec3(usable(values[0]), usable(values[1]), usable(values[2])); }

// Mean over the colours of a pixel's radiance or variance.
THRONG_INLINE float mean_color(const float* values, uint64_t pixel) {
    const Vec3 v = usable3(values + 3 * pixel);
    return max((v.x + v.y + v.z) * (1.0f / 3.0f), 0.0f);
}

// Likeness of two pixels, from 0 to 1; 1 for equal guides. Guides have little influence, because fog in front of surfaces and glass do not
// follow them.
THRONG_INLINE float likeness(const DenoiseLayers& layers, uint64_t a, uint64_t b) {
    const Vec3 albedo = usable3(layers.albedo + 3 * a) - usable3(layers.albedo + 3 * b), normal = usable3(layers.normal + 3 * a) - usable3(layers.normal + 3 * b);
    const float near = 1.0f / (1.0f + 4.0f * dot(albedo, albedo) + dot(normal, normal));
    return layers.alpha ? near * near * layers.alpha[a] * layers.alpha[b] : near * near;
}

// Calls `work` with the index of each pixel in the surroundings of `pixel`, and whether it is too far away to show the same lamp.
template <class Work>
THRONG_INLINE void each_around(const DenoiseLayers& layers, uint32_t pixel, Work work) {
    const int width = int(layers.width), height = int(layers.height), x = int(pixel % layers.width), y = int(pixel / layers.width);
    for (int dy = -kSurroundings; dy <= kSurroundings; dy++)
        for (int dx = -kSurroundings; dx <= kSurroundings; dx++) {
            const bool shares = dx >= -kSharing && dx <= kSharing && dy >= -kSharing && dy <= kSharing;
            if (shares || x + dx < 0 || y + dy < 0 || x + dx >= width || y + dy >= height) continue;
            const bool is_far = dx < -kLamp || dx > kLamp || dy < -kLamp || dy > kLamp;
            work(uint64_t(y + dy) * layers.width + uint64_t(x + dx), is_far);
        }
}

// Whether the light of a pixel belongs to a lamp nearby: the brightest pixel in reach has its light from many samples, while only a few of them
// count in this pixel. Without this, the edge of each small lamp would be an outlier.
THRONG_INLINE bool is_beside_lamp(const DenoiseLayers& layers, uint32_t pixel, float light, float kept) {
    const int width = int(layers.width), height = int(layers.height), x = int(pixel % layers.width), y = int(pixel / layers.width);
    float brightest = light;
    bool is_lamp = false;
    for (int dy = -kLamp; dy <= kLamp; dy++)
        for (int dx = -kLamp; dx <= kLamp; dx++) {
            if (x + dx < 0 || y + dy < 0 || x + dx >= width || y + dy >= height) continue;
            const uint64_t other = uint64_t(y + dy) * layers.width + uint64_t(x + dx);
            const float there = mean_color(layers.radiance, other);
            if (!(there > brightest)) continue;
            brightest = there;
            is_lamp = !(sqrtf(mean_color(layers.variance, other)) > kOwnNoise * (there - kept));
        }
    return is_lamp;
}

// Writes the share of its light that a pixel keeps, and the share that each surrounding pixel receives per unit of likeness.
THRONG_DEVICE void find_outlier(const DenoiseLayers& layers, uint32_t pixel) {
    float* out = layers.outliers + 2 * uint64_t(pixel);
    out[0] = 1.0f;
    out[1] = 0.0f;
    const float light = mean_color(layers.radiance, pixel), deviation = sqrtf(mean_color(layers.variance, pixel));
    if (!(deviation > kLeastNoise * light)) return;
    // Noisy pixels have little weight: other outliers among them would hide this one.
    float likenesses = 0.0f, far = 0.0f, far_lights = 0.0f, weights = 0.0f, weighted = 0.0f, squares = 0.0f;
    each_around(layers, pixel, [&](uint64_t other, bool is_far) {
        const float like = likeness(layers, pixel, other), there = mean_color(layers.radiance, other);
        const float weight = like / (mean_color(layers.variance, other) + 1e-4f * there * there + 1e-12f);
        likenesses += like;
        if (is_far) {
            far += like;
            far_lights += like * there;
        }
        weights += weight;
        weighted += weight * there;
        squares += weight * there * there;
    });
    if (!(likenesses > kLeastSurroundings)) return;
    // Where light is so rare that most pixels received none, the unweighted mean is the better estimate. It does not contain the pixel's own lamp.
    const float mean = weighted / weights, spread = sqrtf(max(squares / weights - mean * mean, 0.0f));
    const float kept = max(mean + kKeptDeviations * spread, far > 0.0f ? far_lights / far : 0.0f), excess = light - kept;
    if (!(excess > 0.0f) || !(deviation > kOwnNoise * excess) || is_beside_lamp(layers, pixel, light, kept)) return;
    out[0] = kept / light;
    out[1] = excess / (likenesses * light);
}

// Radiance of a pixel without the light that it gives away, and with the light that nearby outliers give to it.
THRONG_DEVICE Vec3 calmed_radiance(const DenoiseLayers& layers, uint32_t pixel) {
    const Vec3 own = usable3(layers.radiance + 3 * uint64_t(pixel)), variance = usable3(layers.variance + 3 * uint64_t(pixel));
    const Vec3 radiance = own * layers.outliers[2 * uint64_t(pixel)];
    // In transparent pictures, shadows on shadow catchers are black and must stay black.
    if (layers.alpha && !(mean_color(layers.radiance, pixel) > 0.0f)) return radiance;
    Vec3 given = vec3(0.0f), filled = vec3(0.0f);
    each_around(layers, pixel, [&](uint64_t other, bool) {
        const float kept = layers.outliers[2 * other], share = layers.outliers[2 * other + 1];
        if (!(share > 0.0f)) return;
        const Vec3 whole = usable3(layers.radiance + 3 * other), enough = whole * (kFilled * kept);
        given += whole * (share * likeness(layers, pixel, other));
        filled = vec3(max(filled.x, enough.x), max(filled.y, enough.y), max(filled.z, enough.z));
    });
    const auto gets = [](float own, float variance, float filled, float given) {
        return min(given, max(sqrtf(max(variance, 0.0f)), filled - own));
    };
    return radiance + vec3(gets(own.x, variance.x, filled.x, given.x), gets(own.y, variance.y, filled.y, given.y), gets(own.z, variance.z, filled.z, given.z));
}

}

// Shared samples, which contribute to all pixels near them. A pixel's samples are uniformly distributed over it. After the plain sums, the film has
// nine sums per pixel: the contributions of its samples to the 3x3 pixels around it, weighted with the Gaussian of `FILTER_GAUSSIAN` at the sample's
// distance from the centre of the receiving pixel. No pixel writes to another pixel's film, so sums have identical bits on all devices. A mean then
// contains the samples of nine pixels. Its variance is 1 / 3.14 of the variance with the pixel's own samples drawn from the filter, but neighbouring
// pixels share samples, and thus noise.
#pragma once
#include "camera/camera.h"

namespace THRONG_NAMESPACE {

// Integrals over a pixel of the squared Gaussian around its own centre, and around the centre of an adjacent pixel.
constexpr float kOwnSquare = 0.4754f, kOtherSquare = 0.0444f;

THRONG_INLINE bool shares_samples(const Params& params) { return params.picture.filter == FILTER_SHARED; }

// The nine sums of all pixels; sums of one kind are contiguous.
THRONG_INLINE float* shares_of(const Params& params) {
    return reinterpret_cast<float*>(params.film.sums) + 4 * uint64_t(params.film.width) * params.film.height;
}

// Address of the contribution of a pixel to the pixel at offset (`right`, `down`), each -1, 0 or 1. In the film, it consists of light and weight.
THRONG_INLINE float* share_at(const Params& params, float* shares, uint64_t pixel, int right, int down) {
    const uint64_t pixels = uint64_t(params.film.width) * params.film.height, kind = uint64_t(4 + 3 * down + right);
    return shares + 4 * (kind * pixels + pixel);
}

// Weights of a sample in the pixels around its own. For each axis: the previous, own and next pixel; the fourth value is unused.
struct ShareWeights {
    float along[8];

    THRONG_INLINE explicit ShareWeights(Vec2 offset) {
        THRONG_VECTOR_LOOP
        for (int i = 0; i < 8; i++) {
            const float d = (i < 4 ? offset.x : offset.y) - float(i % 4 - 1);
            along[i] = falloff(2.0f * d * d);
        }
    }
    THRONG_INLINE float at(int right, int down) const { return along[1 + right] * along[5 + down]; }
};

// Samples that are distributed over a larger area have a proportionally larger weight.
THRONG_INLINE float shared_area(const Params& params, uint32_t x, uint32_t y) {
    return shared_span(x, params.film.picture_width).length * shared_span(y, params.film.picture_height).length;
}

// Adds a sample to its pixel's nine sums, in the order of `share_at`.
THRONG_DEVICE void add_shares(const Params& params, uint32_t x, uint32_t y, Vec2 offset, Vec3 light) {
    const ShareWeights weights(offset);
    const float area = shared_area(params, x, y);
    const Floats4 sample = {area * light.x, area * light.y, area * light.z, area};
    const uint64_t next = 4 * uint64_t(params.film.width) * params.film.height;
    float* sum = share_at(params, shares_of(params), uint64_t(y) * params.film.width + x, -1, -1);
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            store4(sum, load4(sum) + weights.at(i, j) * sample);
            sum += next;
        }
}

// The sum of `shares` over all samples near a pixel. Contributions of each adjacent pixel are rescaled to the receiving pixel's sample count, so that
// pixels with more samples do not shift the filter's centre.
THRONG_DEVICE Floats4 shared_sum(const Params& params, float* shares, uint32_t pixel) {
    const int width = int(params.film.width), height = int(params.film.height);
    const int x = int(pixel % params.film.width), y = int(pixel / params.film.width);
    const float* counts = reinterpret_cast<const float*>(params.film.sums) + 3;
    Floats4 sum{};
    for (int down = -1; down <= 1; down++)
        for (int right = -1; right <= 1; right++) {
            if (x + right < 0 || y + down < 0 || x + right >= width || y + down >= height) continue;
            const uint64_t other = uint64_t(y + down) * uint64_t(width) + uint64_t(x + right);
            if (counts[4 * other] > 0.0f) sum += counts[4 * uint64_t(pixel)] / counts[4 * other] * load4(share_at(params, shares, other, -right, -down));
        }
    return sum;
}

// The mean of all samples near a pixel.
THRONG_DEVICE Vec3 shared_mean(const Params& params, uint32_t pixel) {
    const Floats4 sum = shared_sum(params, shares_of(params), pixel);
    return sum[3] > 0.0f ? vec3(sum[0], sum[1], sum[2]) * (1.0f / sum[3]) : vec3(0.0f);
}

// The variance of that mean, computed from the variances of the pixels' own means, which `own` returns.
template <class Own>
THRONG_INLINE Vec3 shared_variance(const Params& params, uint64_t pixel, Own own) {
    const int width = int(params.film.width), height = int(params.film.height);
    const int x = int(pixel % uint64_t(width)), y = int(pixel / uint64_t(width));
    Vec3 sum = vec3(0.0f);
    for (int down = -1; down <= 1; down++)
        for (int right = -1; right <= 1; right++) {
            const uint64_t row = uint64_t(clamp_index(y + down, height));
            sum += own(row * uint64_t(width) + uint64_t(clamp_index(x + right, width))) * ((right ? kOtherSquare : kOwnSquare) * (down ? kOtherSquare : kOwnSquare));
        }
    return sum;
}

}

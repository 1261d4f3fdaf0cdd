// Joint non-local means (Rousselle, Manzi and Zwicker 2013, "Robust Denoising using Feature and Color Information"): a weighted mean over
// nearby pixels. Weights depend on the difference of the surrounding patches of gathered radiance, less the difference that noise explains,
// and on the difference of the guides. A frame without neighbouring frames keeps more noise, mostly of low frequency; it is filtered a
// second time over pixels that are farther apart.
#pragma once
#include "denoise/gather.h"

namespace THRONG_NAMESPACE {

// Radius of the patches by which pixels are compared: 3x3 pixels.
constexpr int kPatch = 1;
// Distance between the averaged pixels, in the first and in the second pass.
constexpr int kStep = 1, kSpreadStep = 3;
// Variance in the second pass, relative to the first. Values from 0.2 to 0.5 gave similar results.
constexpr float kSpreadVariance = 0.3f;
// Share of the averaged pixels whose means are independent enough to reduce noise in the second pass.
constexpr float kSpreadShare = 9.0f / 49.0f;

THRONG_INLINE float square(float x) { return x * x; }

// Squared difference of two pixels in one colour, less the part that noise explains.
THRONG_INLINE float unexplained(float a, float b, float noise_a, float noise_b) { return square(a - b) - 0.5f * (noise_a + min(noise_a, noise_b)); }

// A sum of such differences, in units of the noise.
THRONG_INLINE float noise_distance(float difference, float noise, float width2) { return difference / (1e-8f + width2 * noise); }

// Radiance divided by albedo, its variance, and guides, for a tile with its margin.
template <int margin>
struct MeansTile {
    TilePlane<margin> planes[12];
};

template <int margin>
THRONG_DEVICE void load_tile(const DenoiseParams& params, const float* planes, int first, int end, int tile_x, int tile_y, MeansTile<margin>& out) {
    const uint64_t plane = uint64_t(params.width) * params.height;
    for (int c = first; c < end; c++)
        for (int y = -margin; y < kTileHeight + margin; y++) {
            const float* row = planes + c * plane + uint64_t(clamp_index(tile_y + y, int(params.height))) * params.width;
            for (int x = -margin; x < kTileWidth + margin; x++) out.planes[c].at(x, y) = row[clamp_index(tile_x + x, int(params.width))];
        }
}

// Stores a denoised pixel, multiplied by albedo, and its error estimate. The estimate assumes that all averaged pixels are equally noisy,
// so that the remaining noise follows from the pixel's own share in the mean. `correlation` accounts for noise that neighbouring pixels
// share, which decreases more slowly. In transparent pictures, the variance of alpha is added.
THRONG_INLINE void store_average(const DenoiseParams& params, int x, int y, const float* sums, float weights, const float* albedo, float alpha = 1.0f, float alpha_variance = 0.0f) {
    const uint64_t plane = uint64_t(params.width) * params.height, at = uint64_t(y) * params.width + uint64_t(x);
    for (int c = 0; c < 3; c++)
        params.radiance[3 * at + uint64_t(c)] = alpha > 0.0f ? sums[c] / weights * (albedo[c] + params.albedo_floor) * alpha : 0.0f;
    const float* own = params.frames[params.reach].records;
    const float variance = variance_of(load4(quarter_at(params, own, 0, x, y)), load4(quarter_at(params, own, 1, x, y))) * (1.0f / 3.0f) + alpha_variance;
    params.errors[at] = sqrtf(variance * params.gathered[12 * plane + at] * (params.correlation / (params.correlation - 1.0f + weights)));
    params.errors[plane + at] = sqrtf(variance);
}

// Stores a pixel's mean as input of the second pass, and the variance that this pass uses.
THRONG_INLINE void store_spread(const DenoiseParams& params, int x, int y, const float* sums, float weights, const float* variance) {
    const uint64_t plane = uint64_t(params.width) * params.height, at = uint64_t(y) * params.width + uint64_t(x);
    for (int c = 0; c < 3; c++) {
        params.spread[c * plane + at] = sums[c] / weights;
        params.spread[(3 + c) * plane + at] = kSpreadVariance * variance[c];
    }
}

// Stores a pixel of the second pass, and reduces its error estimate accordingly.
THRONG_INLINE void store_wide_average(const DenoiseParams& params, int x, int y, const float* sums, float weights, const float* albedo, float alpha = 1.0f) {
    const uint64_t at = uint64_t(y) * params.width + uint64_t(x);
    for (int c = 0; c < 3; c++)
        params.radiance[3 * at + uint64_t(c)] = alpha > 0.0f ? sums[c] / weights * (albedo[c] + params.albedo_floor) * alpha : 0.0f;
    params.errors[at] *= 1.0f / sqrtf(max(kSpreadShare * weights, 1.0f));
}

// Alpha of a tile with its margin, its variance, and its means over nearby pixels; in transparent pictures only.
template <int margin>
struct AlphaMeans {
    TilePlane<margin> alpha;
    TilePlane<margin - 1> variance;
    float sums[kTileHeight][kTileWidth], weights[kTileHeight][kTileWidth];

    // Loads the planes of alpha and of its variance, which is multiplied by `scale`.
    THRONG_DEVICE void load(const DenoiseParams& params, const float* plane, float scale, int tile_x, int tile_y) {
        TilePlane<margin> single;
        for (int y = -margin; y < kTileHeight + margin; y++)
            for (int x = -margin; x < kTileWidth + margin; x++) {
                alpha.at(x, y) = alpha_at(params, plane, tile_x + x, tile_y + y);
                single.at(x, y) = scale * alpha_at(params, variance_of_alpha(params, params.alpha), tile_x + x, tile_y + y);
            }
        mean_filter<1>(single, variance);
        for (int y = 0; y < kTileHeight; y++)
            for (int x = 0; x < kTileWidth; x++) {
                sums[y][x] = alpha.at(x, y);
                weights[y][x] = 1.0f;
            }
    }
    // The lesser alpha of a pixel and its neighbour: where either is uncovered, their colours are not comparable.
    THRONG_INLINE float common(int x, int y, int dx, int dy) const { return min(alpha.at(x, y), alpha.at(x + dx, y + dy)); }
    // Differences of alpha between the patches around pixels and the patches at an offset of (dx, dy).
    THRONG_DEVICE void compare(int dx, int dy, float width2, TilePlane<0>& out) const {
        TilePlane<kPatch> distance;
        for (int y = -kPatch; y < kTileHeight + kPatch; y++)
            for (int x = -kPatch; x < kTileWidth + kPatch; x++) {
                const float noise_a = variance.at(x, y), noise_b = variance.at(x + dx, y + dy);
                distance.at(x, y) = noise_distance(unexplained(alpha.at(x, y), alpha.at(x + dx, y + dy), noise_a, noise_b), noise_a + noise_b, width2);
            }
        mean_filter<kPatch>(distance, out);
    }
    THRONG_INLINE void add(int x, int y, int dx, int dy, float weight) {
        sums[y][x] += weight * alpha.at(x + dx, y + dy);
        weights[y][x] += weight;
    }
    THRONG_INLINE float mean(int x, int y) const { return sums[y][x] / weights[y][x]; }
};

// Alpha data of a tile; empty for opaque pictures.
template <bool transparent, int margin>
struct Covers {};
template <int margin>
struct Covers<true, margin> : AlphaMeans<margin> {};

// Filters one tile with pixels that are `step` apart. In transparent pictures, pixels are weighted by alpha.
template <bool transparent, int step>
THRONG_DEVICE void average_pixels(const DenoiseParams& params, uint32_t tile) {
    constexpr bool is_wide = step != kStep;
    constexpr int margin = step * int(DENOISE_RADIUS) + kPatch + 1;
    const uint64_t plane = uint64_t(params.width) * params.height;
    const int across = int((params.width + kTileWidth - 1) / kTileWidth), tile_x = int(tile) % across * kTileWidth, tile_y = int(tile) / across * kTileHeight;
    MeansTile<margin> in;
    load_tile(params, is_wide ? params.spread : params.gathered, 0, 6, tile_x, tile_y, in);
    load_tile(params, params.gathered, 6, 12, tile_x, tile_y, in);
    Covers<transparent, margin> covers;
    (void)covers;
    if constexpr (transparent) covers.load(params, params.alpha + (is_wide ? 2 * plane : 0), is_wide ? kSpreadVariance : 1.0f, tile_x, tile_y);
    // The variance of a single pixel is itself noisy, so 3x3 means are used.
    TilePlane<margin - 1> means[3];
    for (int c = 0; c < 3 && !is_wide; c++) mean_filter<1>(in.planes[3 + c], means[c]);
    const auto variance = [&](int c, int x, int y) { return is_wide ? in.planes[3 + c].at(x, y) : means[c].at(x, y); };
    float weights[kTileHeight][kTileWidth], sums[3][kTileHeight][kTileWidth];
    for (int y = 0; y < kTileHeight; y++)
        for (int x = 0; x < kTileWidth; x++) {
            weights[y][x] = 1.0f;
            if constexpr (transparent) weights[y][x] = covers.alpha.at(x, y);
            for (int c = 0; c < 3; c++) sums[c][y][x] = weights[y][x] * in.planes[c].at(x, y);
        }
    const float width2 = square(params.strength), albedo_scale = 1.0f / square(params.albedo_width), normal_scale = 1.0f / square(params.normal_width);
    for (int dy = -step * int(DENOISE_RADIUS); dy <= step * int(DENOISE_RADIUS); dy += step)
        for (int dx = -step * int(DENOISE_RADIUS); dx <= step * int(DENOISE_RADIUS); dx += step) {
            if (!dx && !dy) continue;
            TilePlane<kPatch> distance;
            for (int y = -kPatch; y < kTileHeight + kPatch; y++)
                for (int x = -kPatch; x < kTileWidth + kPatch; x++) {
                    float difference = 0.0f, noise = 0.0f;
                    THRONG_UNROLL
                    for (int c = 0; c < 3; c++) {
                        float noise_a = variance(c, x, y), noise_b = variance(c, x + dx, y + dy);
                        // Uses the lesser variance. Otherwise light of a much noisier pixel, which that pixel keeps, would spread as a
                        // pattern of dots.
                        if (is_wide) noise_a = noise_b = min(noise_a, noise_b);
                        difference += unexplained(in.planes[c].at(x, y), in.planes[c].at(x + dx, y + dy), noise_a, noise_b);
                        noise += noise_a + noise_b;
                    }
                    distance.at(x, y) = noise_distance(difference, noise, width2);
                    if constexpr (transparent) distance.at(x, y) *= covers.common(x, y, dx, dy);
                }
            TilePlane<0> patches, alpha_patches;
            (void)alpha_patches;
            mean_filter<kPatch>(distance, patches);
            if constexpr (transparent) covers.compare(dx, dy, width2, alpha_patches);
            for (int y = 0; y < kTileHeight; y++)
                for (int x = 0; x < kTileWidth; x++) {
                    const float differs = max(patches.at(x, y), 0.0f);
                    float apart = differs;
                    THRONG_UNROLL
                    for (int c = 6; c < 12; c++) apart += (c < 9 ? albedo_scale : normal_scale) * square(in.planes[c].at(x, y) - in.planes[c].at(x + dx, y + dy));
                    float weight = falloff(apart);
                    if constexpr (transparent) {
                        const float guides = (apart - differs) * covers.common(x, y, dx, dy);
                        covers.add(x, y, dx, dy, falloff(differs + guides + max(alpha_patches.at(x, y), 0.0f)));
                        weight *= covers.alpha.at(x + dx, y + dy);
                    }
                    weights[y][x] += weight;
                    THRONG_UNROLL
                    for (int c = 0; c < 3; c++) sums[c][y][x] += weight * in.planes[c].at(x + dx, y + dy);
                }
        }
    for (int y = 0; y < kTileHeight && tile_y + y < int(params.height); y++)
        for (int x = 0; x < kTileWidth && tile_x + x < int(params.width); x++) {
            const float own[3] = {sums[0][y][x], sums[1][y][x], sums[2][y][x]};
            const float albedo[3] = {in.planes[6].at(x, y), in.planes[7].at(x, y), in.planes[8].at(x, y)};
            float covered = 1.0f, scale = 1.0f, alpha_variance = 0.0f;
            if constexpr (transparent) {
                covered = covers.mean(x, y);
                params.alpha[(is_wide ? 0 : 2 * plane) + uint64_t(tile_y + y) * params.width + uint64_t(tile_x + x)] = covered;
                const float own_alpha = covers.alpha.at(x, y);
                if (own_alpha > 0.0f) scale = 1.0f / own_alpha;
                // No nearby pixel has a colour.
                if (!(weights[y][x] > 0.0f)) weights[y][x] = 1.0f;
                alpha_variance = alpha_at(params, variance_of_alpha(params, params.frames[params.reach].alpha), tile_x + x, tile_y + y);
            }
            // Rescaled so that the pixel's own weight is 1, as the error estimate requires.
            const float scaled[3] = {scale * own[0], scale * own[1], scale * own[2]};
            const float all = scale * weights[y][x];
            if constexpr (is_wide) {
                store_wide_average(params, tile_x + x, tile_y + y, scaled, all, albedo, covered);
            } else {
                const float noise[3] = {means[0].at(x, y), means[1].at(x, y), means[2].at(x, y)};
                if (params.spread) store_spread(params, tile_x + x, tile_y + y, scaled, all, noise);
                store_average(params, tile_x + x, tile_y + y, scaled, all, albedo, covered, alpha_variance);
            }
        }
}

THRONG_DEVICE void average_tile(const DenoiseParams& params, uint32_t tile) {
    if (params.alpha)
        average_pixels<true, kStep>(params, tile);
    else
        average_pixels<false, kStep>(params, tile);
}

// The second pass: filters a tile of the first pass's result over pixels that are farther apart.
THRONG_DEVICE void spread_tile(const DenoiseParams& params, uint32_t tile) {
    if (params.alpha)
        average_pixels<true, kSpreadStep>(params, tile);
    else
        average_pixels<false, kSpreadStep>(params, tile);
}

}

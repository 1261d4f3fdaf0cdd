// Joint non-local means: the mean over pixels nearby whose surroundings look alike in what was gathered, as far as its noise lets that be
// told, and whose guides do (Rousselle, Manzi and Zwicker 2013, "Robust Denoising using Feature and Color Information").
#pragma once
#include "denoise/tile.h"

namespace THRONG_NAMESPACE {

// Pixels are compared by the 3x3 pixels around them.
constexpr int kPatch = 1;
// Pixels of the last step: up to so many steps away, each so many pixels long.
constexpr int kFarRadius = 2, kFarStep = 2;
// Radiance divided by albedo, and its variance.
constexpr int kMeansPlanes = 6;

THRONG_INLINE float square(float x) { return x * x; }

// Radiance divided by albedo and its variance, which change from step to step, and the guides, of a tile with its margin.
template <int margin>
struct MeansTile {
    TilePlane<margin> planes[kMeansPlanes + kGuides];
};

template <int margin>
THRONG_DEVICE void load_tile(const DenoiseParams& params, const float* light, int tile_x, int tile_y, MeansTile<margin>& out) {
    const uint64_t plane = uint64_t(params.width) * params.height;
    for (int c = 0; c < kMeansPlanes + kGuides; c++)
        for (int y = -margin; y < kTileHeight + margin; y++) {
            const float* from = c < kMeansPlanes ? light : params.gathered;
            const float* row = from + c * plane + uint64_t(clamp_index(tile_y + y, int(params.height))) * params.width;
            for (int x = -margin; x < kTileWidth + margin; x++) out.planes[c].at(x, y) = row[clamp_index(tile_x + x, int(params.width))];
        }
}

// The weighted sums of a tile's pixels: radiance divided by albedo, and its variance by squared weights.
struct Means {
    float weights[kTileHeight][kTileWidth], sums[kMeansPlanes][kTileHeight][kTileWidth];
};

// Averages the pixels of a tile with those up to `radius` times `step` away.
template <int radius, int step, int margin>
THRONG_DEVICE void average_around(const DenoiseParams& params, const MeansTile<margin>& in, Means& out) {
    static_assert(margin == radius * step + kPatch + 1, "patches are in the tile");
    // The variance of single pixels is itself noisy.
    TilePlane<margin - 1> variance[3];
    for (int c = 0; c < 3; c++) mean_filter<1>(in.planes[3 + c], variance[c]);
    for (int y = 0; y < kTileHeight; y++)
        for (int x = 0; x < kTileWidth; x++) {
            out.weights[y][x] = 1.0f;
            for (int c = 0; c < kMeansPlanes; c++) out.sums[c][y][x] = in.planes[c].at(x, y);
        }
    const float width2 = square(params.strength), albedo_scale = 1.0f / square(params.albedo_width), normal_scale = 1.0f / square(params.normal_width);
    for (int dy = -radius * step; dy <= radius * step; dy += step)
        for (int dx = -radius * step; dx <= radius * step; dx += step) {
            if (!dx && !dy) continue;
            TilePlane<kPatch> distance;
            for (int y = -kPatch; y < kTileHeight + kPatch; y++) {
                float* row = &distance.at(-kPatch, y);
                for (int x = 0; x < TilePlane<kPatch>::kRow; x++) row[x] = 0.0f;
                for (int c = 0; c < 3; c++) {
                    const float *a = &in.planes[c].at(-kPatch, y), *b = &in.planes[c].at(dx - kPatch, y + dy);
                    const float *noise_a = &variance[c].at(-kPatch, y), *noise_b = &variance[c].at(dx - kPatch, y + dy);
                    for (int x = 0; x < TilePlane<kPatch>::kRow; x++) {
                        const float noise = noise_a[x] + noise_b[x], explained = 0.5f * (noise_a[x] + min(noise_a[x], noise_b[x]));
                        row[x] += (square(a[x] - b[x]) - explained) / (1e-8f + width2 * noise);
                    }
                }
            }
            TilePlane<0> patches;
            mean_filter<kPatch>(distance, patches);
            for (int y = 0; y < kTileHeight; y++) {
                float guides[kTileWidth];
                for (int x = 0; x < kTileWidth; x++) guides[x] = max(patches.at(x, y) * (1.0f / 3.0f), 0.0f);
                for (int c = 0; c < kGuides; c++) {
                    const float *a = &in.planes[kMeansPlanes + c].at(0, y), *b = &in.planes[kMeansPlanes + c].at(dx, y + dy), scale = c < 3 ? albedo_scale : normal_scale;
                    for (int x = 0; x < kTileWidth; x++) guides[x] += scale * square(a[x] - b[x]);
                }
                for (int x = 0; x < kTileWidth; x++) {
                    const float weight = falloff(guides[x]);
                    out.weights[y][x] += weight;
                    for (int c = 0; c < 3; c++) out.sums[c][y][x] += weight * in.planes[c].at(x + dx, y + dy);
                    for (int c = 3; c < kMeansPlanes; c++) out.sums[c][y][x] += weight * weight * in.planes[c].at(x + dx, y + dy);
                }
            }
        }
}

// Calls `store(pixel, x, y)` for the pixels of a tile that are in the picture.
template <class Store>
THRONG_INLINE void each_pixel(const DenoiseParams& params, int tile_x, int tile_y, Store&& store) {
    for (int y = 0; y < kTileHeight && tile_y + y < int(params.height); y++)
        for (int x = 0; x < kTileWidth && tile_x + x < int(params.width); x++) store(uint64_t(tile_y + y) * params.width + uint64_t(tile_x + x), x, y);
}

// Averages what was gathered for one tile over the pixels nearby.
THRONG_DEVICE void average_tile(const DenoiseParams& params, uint32_t tile) {
    constexpr int margin = int(DENOISE_RADIUS) + kPatch + 1;
    const int across = int((params.width + kTileWidth - 1) / kTileWidth), tile_x = int(tile) % across * kTileWidth, tile_y = int(tile) / across * kTileHeight;
    MeansTile<margin> in;
    Means means;
    load_tile(params, params.gathered, tile_x, tile_y, in);
    average_around<int(DENOISE_RADIUS), 1>(params, in, means);
    const uint64_t plane = uint64_t(params.width) * params.height;
    each_pixel(params, tile_x, tile_y, [&](uint64_t pixel, int x, int y) {
        const float share = 1.0f / means.weights[y][x];
        for (int c = 0; c < 3; c++) params.averaged[c * plane + pixel] = means.sums[c][y][x] * share;
        for (int c = 3; c < kMeansPlanes; c++) params.averaged[c * plane + pixel] = means.sums[c][y][x] * share * share;
    });
}

// Averages the averages over pixels farther away, and multiplies by albedo again.
THRONG_DEVICE void finish_tile(const DenoiseParams& params, uint32_t tile) {
    constexpr int margin = kFarRadius * kFarStep + kPatch + 1;
    const int across = int((params.width + kTileWidth - 1) / kTileWidth), tile_x = int(tile) % across * kTileWidth, tile_y = int(tile) / across * kTileHeight;
    MeansTile<margin> in;
    Means means;
    load_tile(params, params.averaged, tile_x, tile_y, in);
    average_around<kFarRadius, kFarStep>(params, in, means);
    each_pixel(params, tile_x, tile_y, [&](uint64_t pixel, int x, int y) {
        for (int c = 0; c < 3; c++) params.radiance[3 * pixel + c] = means.sums[c][y][x] / means.weights[y][x] * (in.planes[kMeansPlanes + c].at(x, y) + params.albedo_floor);
    });
}

}

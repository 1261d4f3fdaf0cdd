// Gathers over time: the mean of a pixel and of the pixels of neighbouring frames in which its surface was seen, each weighed by how well
// it agrees. What agrees is decided by statistics: differences are compared with what the noise explains.
#pragma once
#include "denoise/tile.h"

namespace THRONG_NAMESPACE {

// Margin of a tile: pixels are followed this far around it, since how much a region differs is a mean over 9x9 pixels.
constexpr int kFollowed = 4;
// Excess of squared differences, relative to their expectation, that costs a weight of 1/e.
constexpr float kAgreement = 1.5f;
// Weight of the squared differences of albedo and normals in that excess.
constexpr float kGuideAgreement = 6.0f;
// How much less regions count that differ by more than noise, relative to it.
constexpr float kRegionAgreement = 4.0f;

// Record of a pixel: its radiance, the variance of that, albedo, normal, and motion to the frame before and to the next, in pixels to the
// right and downwards.
constexpr int kRecord = int(DENOISE_RECORD), kRecordVariance = 3, kRecordGuides = 6, kRecordMotion = 12, kGuides = 6;

// The pixels of a tile, followed into one neighbouring frame.
struct Followed {
    // Difference to the tile's own radiance, sum of its variances over colours, squared difference of guides, and how much more the
    // radiance differs than noise explains.
    TilePlane<kFollowed> difference[3], variance, guides, excess;
    float found[kTileHeight][kTileWidth][12];
};

// Catmull-Rom weights of four pixels for a place between the middle two.
THRONG_INLINE void cubic_weights(float t, float* weights) {
    weights[0] = ((-0.5f * t + 1.0f) * t - 0.5f) * t;
    weights[1] = (1.5f * t - 2.5f) * t * t + 1.0f;
    weights[2] = ((-1.5f * t + 2.0f) * t + 0.5f) * t;
    weights[3] = (0.5f * t - 0.5f) * t * t;
}

THRONG_INLINE const float* record_at(const DenoiseParams& params, const float* frame, int x, int y) {
    const uint64_t row = uint64_t(clamp_index(y, int(params.height))), column = uint64_t(clamp_index(x, int(params.width)));
    return frame + kRecord * (row * params.width + column);
}

// Radiance at a place between pixels, by cubic interpolation, which keeps detail sharp; not negative.
THRONG_DEVICE void radiance_between(const DenoiseParams& params, const float* frame, float x, float y, float* out) {
    const float left = floorf(x), top = floorf(y);
    float across[4], down[4], sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    cubic_weights(x - left, across);
    cubic_weights(y - top, down);
    uint64_t columns[4];
    for (int i = 0; i < 4; i++) columns[i] = kRecord * uint64_t(clamp_index(int(left) + i - 1, int(params.width)));
    for (int j = 0; j < 4; j++) {
        const float* row = record_at(params, frame, 0, int(top) + j - 1);
        for (int i = 0; i < 4; i++) {
            const float* record = row + columns[i];
            const float weight = across[i] * down[j];
            for (int c = 0; c < 4; c++) sum[c] += weight * record[c];
        }
    }
    for (int c = 0; c < 3; c++) out[c] = max(sum[c], 0.0f);
}

// Albedo and normal at a place between pixels, by linear interpolation.
THRONG_DEVICE void guides_between(const DenoiseParams& params, const float* frame, float x, float y, float* out) {
    const float left = floorf(x), top = floorf(y), across = x - left, down = y - top;
    for (int c = 0; c < kGuides; c++) out[c] = 0.0f;
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            const float* record = record_at(params, frame, int(left) + i, int(top) + j) + kRecordGuides;
            const float weight = (i ? across : 1.0f - across) * (j ? down : 1.0f - down);
            for (int c = 0; c < kGuides; c++) out[c] += weight * record[c];
        }
}

// Where a pixel of the tile is in a neighbouring frame.
struct Place {
    float x, y;
    // Whether it is known and in the picture.
    bool seen;
};

// Moves a place from a frame to the one before (`step` of -1) or the next.
THRONG_INLINE void follow(const DenoiseParams& params, const float* frame, int step, Place& place) {
    if (!place.seen) return;
    const float* record = record_at(params, frame, int(floorf(place.x + 0.5f)), int(floorf(place.y + 0.5f)));
    const float* motion = record + kRecordMotion + (step < 0 ? 0 : 2);
    place.x += motion[0];
    place.y += motion[1];
    place.seen = place.x >= -0.5f && place.y >= -0.5f && place.x < float(params.width) - 0.5f && place.y < float(params.height) - 0.5f;
}

// The sums over frames of a tile's pixels: weights, weighted radiance, its variance by squared weights, and weighted guides.
struct Gathered {
    float weights[kTileHeight][kTileWidth], sums[kTileHeight][kTileWidth][12];
};

// Compares a tile with a neighbouring frame in which its pixels are at `places`.
THRONG_DEVICE void compare_frames(const DenoiseParams& params, const float* own, const float* frame, int tile_x, int tile_y,
                                  const Place (*places)[kTileWidth + 2 * kFollowed], Followed& out) {
    for (int y = -kFollowed; y < kTileHeight + kFollowed; y++)
        for (int x = -kFollowed; x < kTileWidth + kFollowed; x++) {
            const float* record = record_at(params, own, tile_x + x, tile_y + y);
            const Place& place = places[y + kFollowed][x + kFollowed];
            const float* noise = record + kRecordVariance;
            float variance = noise[0] + noise[1] + noise[2];
            if (!place.seen) {
                for (auto& plane : out.difference) plane.at(x, y) = 0.0f;
                out.variance.at(x, y) = 2.0f * variance;
                out.guides.at(x, y) = out.excess.at(x, y) = 0.0f;
                continue;
            }
            float found[12];
            const float* other = record_at(params, frame, int(floorf(place.x + 0.5f)), int(floorf(place.y + 0.5f))) + kRecordVariance;
            radiance_between(params, frame, place.x, place.y, found);
            for (int c = 0; c < 3; c++) found[3 + c] = other[c];
            guides_between(params, frame, place.x, place.y, found + 6);
            variance += other[0] + other[1] + other[2];
            float squares = 0.0f, guides = 0.0f;
            for (int c = 0; c < 3; c++) {
                const float d = record[c] - found[c], albedo = record[kRecordGuides + c] - found[6 + c], normal = record[kRecordGuides + 3 + c] - found[9 + c];
                out.difference[c].at(x, y) = d;
                squares += d * d;
                guides += albedo * albedo + 0.25f * normal * normal;
            }
            out.variance.at(x, y) = variance;
            out.guides.at(x, y) = guides;
            out.excess.at(x, y) = squares - variance;
            if (x >= 0 && y >= 0 && x < kTileWidth && y < kTileHeight)
                for (int c = 0; c < 12; c++) out.found[y][x][c] = found[c];
        }
}

// Adds the pixels of a neighbouring frame by their weights. Means over 3x3 pixels show what single pixels hide in noise: their squared
// differences are held against those that noise explains, on average over 5x5 pixels. Regions that differ all over count less from the start.
THRONG_DEVICE void add_frame(const Followed& in, const Place (*places)[kTileWidth + 2 * kFollowed], Gathered& out) {
    TilePlane<3> difference[3], variance, guides, disagreement;
    for (int c = 0; c < 3; c++) mean_filter<1>(in.difference[c], difference[c]);
    mean_filter<1>(in.variance, variance);
    mean_filter<1>(in.guides, guides);
    for (int y = -3; y < kTileHeight + 3; y++)
        for (int x = -3; x < kTileWidth + 3; x++) {
            const float a = difference[0].at(x, y), b = difference[1].at(x, y), c = difference[2].at(x, y);
            disagreement.at(x, y) = (a * a + b * b + c * c) / (variance.at(x, y) * (1.0f / 9.0f) + 1e-8f) + kGuideAgreement * guides.at(x, y);
        }
    TilePlane<1> smoothed;
    mean_filter<2>(disagreement, smoothed);
    TilePlane<0> excess, noise;
    mean_filter<kFollowed>(in.excess, excess);
    mean_filter<kFollowed>(in.variance, noise);
    for (int y = 0; y < kTileHeight; y++) {
        float weights[kTileWidth];
        for (int x = 0; x < kTileWidth; x++) {
            const float region = 1.0f + kRegionAgreement * max(excess.at(x, y), 0.0f) / (0.5f * noise.at(x, y) + 1e-8f);
            weights[x] = falloff(max(smoothed.at(x, y) - 1.0f, 0.0f) * (1.0f / kAgreement)) / region;
        }
        for (int x = 0; x < kTileWidth; x++) {
            if (!places[y + kFollowed][x + kFollowed].seen) continue;
            const float weight = weights[x], *found = in.found[y][x];
            float* sums = out.sums[y][x];
            out.weights[y][x] += weight;
            for (int c = 0; c < 3; c++) sums[c] += weight * found[c];
            for (int c = 3; c < 6; c++) sums[c] += weight * weight * found[c];
            for (int c = 6; c < 12; c++) sums[c] += weight * found[c];
        }
    }
}

// Gathers one tile from all frames of the window, and divides radiance by albedo, so that textures need not be found again in noise.
THRONG_DEVICE void gather_tile(const DenoiseParams& params, uint32_t tile) {
    const int across = int((params.width + kTileWidth - 1) / kTileWidth), tile_x = int(tile) % across * kTileWidth, tile_y = int(tile) / across * kTileHeight;
    const int reach = int(params.reach);
    const float* own = params.frames[reach].records;
    Gathered gathered;
    for (int y = 0; y < kTileHeight; y++)
        for (int x = 0; x < kTileWidth; x++) {
            const float* record = record_at(params, own, tile_x + x, tile_y + y);
            gathered.weights[y][x] = 1.0f;
            for (int c = 0; c < 12; c++) gathered.sums[y][x][c] = record[c];
        }
    Followed followed;
    for (int step = -1; step <= 1; step += 2) {
        Place places[kTileHeight + 2 * kFollowed][kTileWidth + 2 * kFollowed];
        for (int y = -kFollowed; y < kTileHeight + kFollowed; y++)
            for (int x = -kFollowed; x < kTileWidth + kFollowed; x++)
                places[y + kFollowed][x + kFollowed] = Place{float(clamp_index(tile_x + x, int(params.width))), float(clamp_index(tile_y + y, int(params.height))), true};
        for (int away = 1; away <= reach; away++) {
            const float *from = params.frames[reach + step * (away - 1)].records, *to = params.frames[reach + step * away].records;
            if (!to) break;
            for (auto& row : places)
                for (auto& place : row) follow(params, from, step, place);
            compare_frames(params, own, to, tile_x, tile_y, places, followed);
            add_frame(followed, places, gathered);
        }
    }
    const uint64_t plane = uint64_t(params.width) * params.height;
    for (int y = 0; y < kTileHeight && tile_y + y < int(params.height); y++)
        for (int x = 0; x < kTileWidth && tile_x + x < int(params.width); x++) {
            float* out = params.gathered + uint64_t(tile_y + y) * params.width + uint64_t(tile_x + x);
            const float *sums = gathered.sums[y][x], share = 1.0f / gathered.weights[y][x];
            for (int c = 0; c < 3; c++) {
                const float albedo = 1.0f / (sums[6 + c] * share + params.albedo_floor);
                out[c * plane] = sums[c] * share * albedo;
                out[(3 + c) * plane] = sums[3 + c] * share * share * albedo * albedo;
            }
            for (int c = 6; c < 12; c++) out[c * plane] = sums[c] * share;
        }
}

}

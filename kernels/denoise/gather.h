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

constexpr int kGuides = 6, kQuarters = int(DENOISE_RECORD) / 4;

// The pixels of a tile, followed into one neighbouring frame.
struct Followed {
    // As in `Compared`.
    TilePlane<kFollowed> difference[3], variance, guides, excess;
    float found[kTileHeight][kTileWidth][12], samples[kTileHeight][kTileWidth];
};

// Catmull-Rom weights of four pixels for a place between the middle two.
THRONG_INLINE void cubic_weights(float t, float* weights) {
    weights[0] = ((-0.5f * t + 1.0f) * t - 0.5f) * t;
    weights[1] = (1.5f * t - 2.5f) * t * t + 1.0f;
    weights[2] = ((-1.5f * t + 2.0f) * t + 0.5f) * t;
    weights[3] = (0.5f * t - 0.5f) * t * t;
}

// A row of four floats of each pixel's record: see `DenoiseFrame`. Pixels beyond an edge are those at it.
THRONG_INLINE const float* row_at(const DenoiseParams& params, const float* frame, int quarter, int y) {
    return frame + 4 * ((uint64_t(quarter) * params.height + uint64_t(clamp_index(y, int(params.height)))) * params.width);
}

THRONG_INLINE const float* quarter_at(const DenoiseParams& params, const float* frame, int quarter, int x, int y) {
    return row_at(params, frame, quarter, y) + 4 * uint64_t(clamp_index(x, int(params.width)));
}

// Radiance, its variance, albedo and normal of a pixel.
THRONG_INLINE void load_record(const DenoiseParams& params, const float* frame, int x, int y, float* out) {
    for (int quarter = 0; quarter < kQuarters - 1; quarter++) load4(quarter_at(params, frame, quarter, x, y), out + 4 * quarter);
}

// Radiance at a place between pixels, by cubic interpolation, which keeps detail sharp; not negative.
THRONG_DEVICE void radiance_between(const DenoiseParams& params, const float* frame, float x, float y, float* out) {
    const float left = floorf(x), top = floorf(y);
    float across[4], down[4], sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    cubic_weights(x - left, across);
    cubic_weights(y - top, down);
    uint64_t columns[4];
    for (int i = 0; i < 4; i++) columns[i] = 4 * uint64_t(clamp_index(int(left) + i - 1, int(params.width)));
    for (int j = 0; j < 4; j++) {
        const float* row = row_at(params, frame, 0, int(top) + j - 1);
        for (int i = 0; i < 4; i++) {
            float values[4];
            load4(row + columns[i], values);
            const float weight = across[i] * down[j];
            for (int c = 0; c < 4; c++) sum[c] += weight * values[c];
        }
    }
    for (int c = 0; c < 3; c++) out[c] = max(sum[c], 0.0f);
}

// Albedo and normal at a place between pixels, by linear interpolation.
THRONG_DEVICE void guides_between(const DenoiseParams& params, const float* frame, float x, float y, float* out) {
    const float left = floorf(x), top = floorf(y), across = x - left, down = y - top;
    float sum[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    uint64_t columns[2];
    for (int i = 0; i < 2; i++) columns[i] = 4 * uint64_t(clamp_index(int(left) + i, int(params.width)));
    for (int j = 0; j < 2; j++) {
        const float *row = row_at(params, frame, 1, int(top) + j), *next = row_at(params, frame, 2, int(top) + j);
        for (int i = 0; i < 2; i++) {
            float values[8];
            load4(row + columns[i], values);
            load4(next + columns[i], values + 4);
            const float weight = (i ? across : 1.0f - across) * (j ? down : 1.0f - down);
            for (int c = 0; c < 8; c++) sum[c] += weight * values[c];
        }
    }
    for (int c = 0; c < kGuides; c++) out[c] = sum[2 + c];
}

// Where a pixel of the tile is in a neighbouring frame.
struct Place {
    float x, y;
    // Whether it is known and in the picture.
    bool seen;
};

// Weight of a pixel by how many samples it has. Those beyond an edge are those at it.
THRONG_INLINE float samples_weight(const DenoiseParams& params, const DenoiseFrame& frame, int x, int y) {
    if (!frame.weights) return 1.0f;
    const int row = clamp_index(y, int(params.height)) / 8, column = clamp_index(x, int(params.width)) / 8;
    return frame.weights[row * ((int(params.width) + 7) / 8) + column];
}

// Moves a place from a frame to the one before (`step` of -1) or the next.
THRONG_INLINE void follow(const DenoiseParams& params, const float* frame, int step, Place& place) {
    if (!place.seen) return;
    float motion[4];
    load4(quarter_at(params, frame, kQuarters - 1, int(floorf(place.x + 0.5f)), int(floorf(place.y + 0.5f))), motion);
    place.x += step < 0 ? motion[0] : motion[2];
    place.y += step < 0 ? motion[1] : motion[3];
    place.seen = place.x >= -0.5f && place.y >= -0.5f && place.x < float(params.width) - 0.5f && place.y < float(params.height) - 0.5f;
}

// The sums over frames of a tile's pixels: weights, weighted radiance, its variance by squared weights, and weighted guides.
struct Gathered {
    float weights[kTileHeight][kTileWidth], sums[kTileHeight][kTileWidth][12];
};

// A pixel beside what is found at its place in a neighbouring frame: the difference of radiance, the sum of the variances of both, the
// squared difference of guides, and how much more radiance differs than noise explains.
struct Compared {
    float difference[3], variance, guides, excess;
    float found[12];
};

THRONG_INLINE void compare_pixel(const DenoiseParams& params, const float* record, const float* frame, const Place& place, Compared& out) {
    out.variance = record[3] + record[4] + record[5];
    if (!place.seen) {
        for (int c = 0; c < 3; c++) out.difference[c] = 0.0f;
        for (int c = 0; c < 12; c++) out.found[c] = 0.0f;
        out.variance *= 2.0f;
        out.guides = out.excess = 0.0f;
        return;
    }
    const int x = int(floorf(place.x + 0.5f)), y = int(floorf(place.y + 0.5f));
    float nearest[8];
    for (int half = 0; half < 2; half++) load4(quarter_at(params, frame, half, x, y), nearest + 4 * half);
    radiance_between(params, frame, place.x, place.y, out.found);
    for (int c = 0; c < 3; c++) out.found[3 + c] = nearest[3 + c];
    guides_between(params, frame, place.x, place.y, out.found + 6);
    out.variance += nearest[3] + nearest[4] + nearest[5];
    float squares = 0.0f;
    out.guides = 0.0f;
    for (int c = 0; c < 3; c++) {
        const float d = record[c] - out.found[c], albedo = record[6 + c] - out.found[6 + c], normal = record[9 + c] - out.found[9 + c];
        out.difference[c] = d;
        squares += d * d;
        out.guides += albedo * albedo + 0.25f * normal * normal;
    }
    out.excess = squares - out.variance;
}

// How much means over 3x3 pixels disagree, by their differences of radiance and guides: they show what single pixels hide in noise.
// Noise that neighbours have in common stays in such means.
THRONG_INLINE float disagreement_of(const DenoiseParams& params, float a, float b, float c, float variance, float guides) {
    return (a * a + b * b + c * c) / (variance * (params.correlation * (1.0f / 9.0f)) + 1e-8f) + kGuideAgreement * guides;
}

// The weight of what was found, given the mean disagreement over 5x5 pixels. Regions that differ all over, by the mean excess and variance
// over 9x9 pixels, count less from the start.
THRONG_INLINE float agreement_weight(float disagreement, float excess, float noise) {
    const float region = 1.0f + kRegionAgreement * max(excess, 0.0f) / (0.5f * noise + 1e-8f);
    return falloff(max(disagreement - 1.0f, 0.0f) * (1.0f / kAgreement)) / region;
}

// Adds what was found to weighted sums; variances by squared weights.
THRONG_INLINE void add_found(const float* found, float weight, float* sums) {
    for (int c = 0; c < 3; c++) sums[c] += weight * found[c];
    for (int c = 3; c < 6; c++) sums[c] += weight * weight * found[c];
    for (int c = 6; c < 12; c++) sums[c] += weight * found[c];
}

// Stores a pixel's means, with radiance divided by albedo, so that textures need not be found again in noise. Its `own` weight is part of
// `weight`.
THRONG_INLINE void store_gathered(const DenoiseParams& params, int x, int y, const float* sums, float own, float weight) {
    const uint64_t plane = uint64_t(params.width) * params.height;
    float* out = params.gathered + uint64_t(y) * params.width + uint64_t(x);
    const float share = 1.0f / weight;
    for (int c = 0; c < 3; c++) {
        const float albedo = 1.0f / (sums[6 + c] * share + params.albedo_floor);
        out[c * plane] = sums[c] * share * albedo;
        out[(3 + c) * plane] = sums[3 + c] * share * share * albedo * albedo;
    }
    for (int c = 6; c < 12; c++) out[c * plane] = sums[c] * share;
    out[12 * plane] = own * share;
}

// Compares a tile with a neighbouring frame in which its pixels are at `places`.
THRONG_DEVICE void compare_frames(const DenoiseParams& params, const float* own, const DenoiseFrame& frame, int tile_x, int tile_y,
                                  const Place (*places)[kTileWidth + 2 * kFollowed], Followed& out) {
    for (int y = -kFollowed; y < kTileHeight + kFollowed; y++)
        for (int x = -kFollowed; x < kTileWidth + kFollowed; x++) {
            float record[12];
            load_record(params, own, tile_x + x, tile_y + y, record);
            Compared pixel;
            const Place& place = places[y + kFollowed][x + kFollowed];
            compare_pixel(params, record, frame.records, place, pixel);
            for (int c = 0; c < 3; c++) out.difference[c].at(x, y) = pixel.difference[c];
            out.variance.at(x, y) = pixel.variance;
            out.guides.at(x, y) = pixel.guides;
            out.excess.at(x, y) = pixel.excess;
            if (!place.seen || x < 0 || y < 0 || x >= kTileWidth || y >= kTileHeight) continue;
            for (int c = 0; c < 12; c++) out.found[y][x][c] = pixel.found[c];
            out.samples[y][x] = samples_weight(params, frame, int(floorf(place.x + 0.5f)), int(floorf(place.y + 0.5f)));
        }
}

// Adds the pixels of a neighbouring frame by their weights.
THRONG_DEVICE void add_frame(const DenoiseParams& params, const Followed& in, const Place (*places)[kTileWidth + 2 * kFollowed], Gathered& out) {
    TilePlane<3> difference[3], variance, guides, disagreement;
    for (int c = 0; c < 3; c++) mean_filter<1>(in.difference[c], difference[c]);
    mean_filter<1>(in.variance, variance);
    mean_filter<1>(in.guides, guides);
    for (int y = -3; y < kTileHeight + 3; y++)
        for (int x = -3; x < kTileWidth + 3; x++)
            disagreement.at(x, y) =
                disagreement_of(params, difference[0].at(x, y), difference[1].at(x, y), difference[2].at(x, y), variance.at(x, y), guides.at(x, y));
    TilePlane<1> smoothed;
    mean_filter<2>(disagreement, smoothed);
    TilePlane<0> excess, noise;
    mean_filter<kFollowed>(in.excess, excess);
    mean_filter<kFollowed>(in.variance, noise);
    for (int y = 0; y < kTileHeight; y++) {
        float weights[kTileWidth];
        for (int x = 0; x < kTileWidth; x++) weights[x] = agreement_weight(smoothed.at(x, y), excess.at(x, y), noise.at(x, y));
        for (int x = 0; x < kTileWidth; x++) {
            if (!places[y + kFollowed][x + kFollowed].seen) continue;
            const float weight = weights[x] * in.samples[y][x];
            out.weights[y][x] += weight;
            add_found(in.found[y][x], weight, out.sums[y][x]);
        }
    }
}

// Gathers one tile from all frames of the window.
THRONG_DEVICE void gather_tile(const DenoiseParams& params, uint32_t tile) {
    const int across = int((params.width + kTileWidth - 1) / kTileWidth), tile_x = int(tile) % across * kTileWidth, tile_y = int(tile) / across * kTileHeight;
    const int reach = int(params.reach);
    const float* own = params.frames[reach].records;
    Gathered gathered;
    for (int y = 0; y < kTileHeight; y++)
        for (int x = 0; x < kTileWidth; x++) {
            const float weight = samples_weight(params, params.frames[reach], tile_x + x, tile_y + y);
            gathered.weights[y][x] = weight;
            load_record(params, own, tile_x + x, tile_y + y, gathered.sums[y][x]);
            for (int c = 0; c < 12; c++) gathered.sums[y][x][c] *= c >= 3 && c < 6 ? weight * weight : weight;
        }
    Followed followed;
    for (int step = -1; step <= 1; step += 2) {
        Place places[kTileHeight + 2 * kFollowed][kTileWidth + 2 * kFollowed];
        for (int y = -kFollowed; y < kTileHeight + kFollowed; y++)
            for (int x = -kFollowed; x < kTileWidth + kFollowed; x++)
                places[y + kFollowed][x + kFollowed] = Place{float(clamp_index(tile_x + x, int(params.width))), float(clamp_index(tile_y + y, int(params.height))), true};
        for (int away = 1; away <= reach; away++) {
            const float* from = params.frames[reach + step * (away - 1)].records;
            const DenoiseFrame& to = params.frames[reach + step * away];
            if (!to.records) break;
            for (auto& row : places)
                for (auto& place : row) follow(params, from, step, place);
            compare_frames(params, own, to, tile_x, tile_y, places, followed);
            add_frame(params, followed, places, gathered);
        }
    }
    for (int y = 0; y < kTileHeight && tile_y + y < int(params.height); y++)
        for (int x = 0; x < kTileWidth && tile_x + x < int(params.width); x++)
            store_gathered(params, tile_x + x, tile_y + y, gathered.sums[y][x], samples_weight(params, params.frames[reach], tile_x + x, tile_y + y),
                           gathered.weights[y][x]);
}

}

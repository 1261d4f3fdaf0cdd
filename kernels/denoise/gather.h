// Temporal gathering: the mean of a pixel and of its positions in neighbouring frames, where the same surface was visible. Each position is
// weighted by how well it agrees with the pixel; statistical tests compare the difference with the difference that noise explains.
#pragma once
#include "denoise/tile.h"

namespace THRONG_NAMESPACE {

// Margin of a tile, in pixels. Pixels are followed this far around the tile because a region's excess is a mean over 9x9 pixels.
constexpr int kFollowed = 4;
// Excess of the squared difference over its expected value, relative to that value, at which the weight falls to 1/e.
constexpr float kAgreement = 1.5f;
// Weight of the squared differences of albedo and normal in that excess.
constexpr float kGuideAgreement = 6.0f;
// Weight of the squared difference of alpha in that excess. Alpha is the only guide for moving shadows on a shadow catcher.
constexpr float kAlphaAgreement = 30.0f;
// Factor by which a region's excess, relative to its noise, reduces the weight.
constexpr float kRegionAgreement = 1.5f;
// Ratio of a neighbouring frame's variance to the frame's own up to which the neighbour keeps its full weight.
constexpr float kNoisier = 3.0f;
// Greatest distance in pixels between a position and its image after a step to the next frame and back.
constexpr float kReturn = 0.5f;

// Number of quarters in a record. Each has four floats; the last quarter is motion.
constexpr int kQuarters = int(DENOISE_RECORD) / 4;

// Radiance, its variance, albedo and normal of a pixel: three floats each, in this order.
struct Record {
    Floats4 quarters[kQuarters - 1];
    THRONG_INLINE float operator[](int i) const { return quarters[i / 4][i % 4]; }
};

// The pixels of a tile at their positions in one neighbouring frame.
struct Followed {
    // See `Compared`.
    TilePlane<kFollowed> difference[3], variance, guides, excess;
    Record found[kTileHeight][kTileWidth];
    float samples[kTileHeight][kTileWidth];
    // Alpha and its variance, in transparent pictures only.
    float alphas[kTileHeight][kTileWidth], alpha_variances[kTileHeight][kTileWidth];
};

// Catmull-Rom weights of four pixels for a position `t` from 0 to 1 between the middle two.
THRONG_INLINE void cubic_weights(float t, float* weights) {
    weights[0] = ((-0.5f * t + 1.0f) * t - 0.5f) * t;
    weights[1] = (1.5f * t - 2.5f) * t * t + 1.0f;
    weights[2] = ((-1.5f * t + 2.0f) * t + 0.5f) * t;
    weights[3] = (0.5f * t - 0.5f) * t * t;
}

// A row of one quarter of the records; see `DenoiseFrame` for the layout. `y` is clamped to the picture.
THRONG_INLINE const float* row_at(const DenoiseParams& params, const float* frame, int quarter, int y) {
    return frame + 4 * ((uint64_t(quarter) * params.height + uint64_t(clamp_index(y, int(params.height)))) * params.width);
}

THRONG_INLINE const float* quarter_at(const DenoiseParams& params, const float* frame, int quarter, int x, int y) {
    return row_at(params, frame, quarter, y) + 4 * uint64_t(clamp_index(x, int(params.width)));
}

THRONG_INLINE Record load_record(const DenoiseParams& params, const float* frame, int x, int y) {
    Record record;
    for (int quarter = 0; quarter < kQuarters - 1; quarter++) record.quarters[quarter] = load4(quarter_at(params, frame, quarter, x, y));
    return record;
}

// The first quarter of the records (radiance and one variance) at a position between pixels. Cubic interpolation keeps detail sharp.
THRONG_DEVICE Floats4 radiance_between(const DenoiseParams& params, const float* frame, float x, float y) {
    const float left = floorf(x), top = floorf(y);
    float across[4], down[4];
    cubic_weights(x - left, across);
    cubic_weights(y - top, down);
    uint64_t columns[4];
    for (int i = 0; i < 4; i++) columns[i] = 4 * uint64_t(clamp_index(int(left) + i - 1, int(params.width)));
    Floats4 rows[4];
    for (int j = 0; j < 4; j++) {
        const float* row = row_at(params, frame, 0, int(top) + j - 1);
        // Summed in independent pairs, for instruction-level parallelism.
        rows[j] = (across[0] * load4(row + columns[0]) + across[1] * load4(row + columns[1])) +
                  (across[2] * load4(row + columns[2]) + across[3] * load4(row + columns[3]));
    }
    return (down[0] * rows[0] + down[1] * rows[1]) + (down[2] * rows[2] + down[3] * rows[3]);
}

// Alpha at a position between pixels, by cubic interpolation, as for radiance.
THRONG_DEVICE float alpha_between(const DenoiseParams& params, const float* alpha, float x, float y) {
    const float left = floorf(x), top = floorf(y);
    float across[4], down[4], sum = 0.0f;
    cubic_weights(x - left, across);
    cubic_weights(y - top, down);
    for (int j = 0; j < 4; j++) {
        const float* row = alpha + uint64_t(clamp_index(int(top) + j - 1, int(params.height))) * params.width;
        for (int i = 0; i < 4; i++) sum += down[j] * across[i] * row[clamp_index(int(left) + i - 1, int(params.width))];
    }
    return clamp(sum, 0.0f, 1.0f);
}

// Plane of alpha's variance, stored after the plane of alpha.
THRONG_INLINE const float* variance_of_alpha(const DenoiseParams& params, const float* alpha) { return alpha + uint64_t(params.width) * params.height; }

THRONG_INLINE float alpha_at(const DenoiseParams& params, const float* alpha, int x, int y) {
    return alpha[uint64_t(clamp_index(y, int(params.height))) * params.width + uint64_t(clamp_index(x, int(params.width)))];
}

// The second and third quarters at a position between pixels, by linear interpolation.
THRONG_DEVICE void guides_between(const DenoiseParams& params, const float* frame, float x, float y, Floats4& second, Floats4& third) {
    const float left = floorf(x), top = floorf(y), across = x - left, down = y - top;
    uint64_t columns[2];
    for (int i = 0; i < 2; i++) columns[i] = 4 * uint64_t(clamp_index(int(left) + i, int(params.width)));
    Floats4 rows[2][2];
    for (int j = 0; j < 2; j++)
        for (int quarter = 0; quarter < 2; quarter++) {
            const float* row = row_at(params, frame, 1 + quarter, int(top) + j);
            rows[quarter][j] = (1.0f - across) * load4(row + columns[0]) + across * load4(row + columns[1]);
        }
    second = (1.0f - down) * rows[0][0] + down * rows[0][1];
    third = (1.0f - down) * rows[1][0] + down * rows[1][1];
}

// Position of a tile's pixel in a frame, and its motion from there to the next frame in the direction of travel.
struct Place {
    float x, y;
    Vec2 motion;
    // Whether the position is known and inside the picture.
    bool seen;
    // Whether the surface at the position may be the pixel's own. If not, the difference still contributes to the regions of nearby pixels.
    bool same;
};

// Weight of a pixel by its sample count. Coordinates are clamped to the picture.
THRONG_INLINE float samples_weight(const DenoiseParams& params, const DenoiseFrame& frame, int x, int y) {
    if (!frame.weights) return 1.0f;
    const int row = clamp_index(y, int(params.height)) / 8, column = clamp_index(x, int(params.width)) / 8;
    return frame.weights[row * ((int(params.width) + 7) / 8) + column];
}

// Motion of the pixel nearest to a position: to the previous and to the next frame.
THRONG_INLINE Floats4 motion_at(const DenoiseParams& params, const float* frame, float x, float y) {
    return load4(quarter_at(params, frame, kQuarters - 1, int(floorf(x + 0.5f)), int(floorf(y + 0.5f))));
}

THRONG_INLINE Vec2 motion_to(const Floats4& motion, int step) { return step < 0 ? Vec2{motion[0], motion[1]} : Vec2{motion[2], motion[3]}; }

// Position of a pixel in its own frame, from which it is followed to earlier (`step` = -1) or later (`step` = 1) frames.
THRONG_INLINE Place place_of(const DenoiseParams& params, const float* own, int step, int x, int y) {
    const float left = float(clamp_index(x, int(params.width))), top = float(clamp_index(y, int(params.height)));
    return Place{left, top, motion_to(motion_at(params, own, left, top), step), true, true};
}

// Moves a position to the next frame in direction `step`. If the motion stored there does not lead back, another surface covers this one.
THRONG_INLINE void follow(const DenoiseParams& params, const float* frame, int step, Place& place) {
    if (!place.seen) return;
    place.x += place.motion.x;
    place.y += place.motion.y;
    place.seen = place.x >= -0.5f && place.y >= -0.5f && place.x < float(params.width) - 0.5f && place.y < float(params.height) - 0.5f;
    if (!place.seen) return;
    const Floats4 there = motion_at(params, frame, place.x, place.y);
    const Vec2 back = motion_to(there, -step);
    const float x = place.motion.x + back.x, y = place.motion.y + back.y;
    if (params.returns && x * x + y * y > kReturn * kReturn) place.same = false;
    place.motion = motion_to(there, step);
}

// Sums of a tile's pixels over frames: weights, weighted radiance, variances with squared weights, and weighted guides.
struct Gathered {
    // The frame's own variance, averaged over 9x9 pixels and multiplied by the pixel's sample weight.
    TilePlane<0> noise;
    float weights[kTileHeight][kTileWidth];
    Record sums[kTileHeight][kTileWidth];
    float alphas[kTileHeight][kTileWidth], alpha_variances[kTileHeight][kTileWidth];
};

// Comparison of a pixel with its position in a neighbouring frame: the difference of radiance, the sum of both variances, the squared
// difference of the guides, and the excess of the squared difference of radiance over that variance.
struct Compared {
    float difference[3], variance, guides, excess;
    Record found;
};

// Sum of a record's three variances.
THRONG_INLINE float variance_of(Floats4 first, Floats4 second) { return first[3] + second[0] + second[1]; }

THRONG_INLINE void compare_pixel(const DenoiseParams& params, const Record& record, const float* frame, const Place& place, Compared& out) {
    out.variance = variance_of(record.quarters[0], record.quarters[1]);
    if (!place.seen) {
        for (int c = 0; c < 3; c++) out.difference[c] = 0.0f;
        out.found = Record{};
        out.variance *= 2.0f;
        out.guides = out.excess = 0.0f;
        return;
    }
    const int x = int(floorf(place.x + 0.5f)), y = int(floorf(place.y + 0.5f));
    const Floats4 first = load4(quarter_at(params, frame, 0, x, y)), second = load4(quarter_at(params, frame, 1, x, y));
    Floats4* found = out.found.quarters;
    found[0] = radiance_between(params, frame, place.x, place.y);
    guides_between(params, frame, place.x, place.y, found[1], found[2]);
    for (int c = 0; c < 3; c++) found[0][c] = max(found[0][c], 0.0f);
    // Variances are not interpolated: the nearest pixel's are used.
    found[0][3] = first[3];
    found[1][0] = second[0];
    found[1][1] = second[1];
    out.variance += variance_of(first, second);
    Floats4 squares[kQuarters - 1];
    for (int quarter = 0; quarter < kQuarters - 1; quarter++) {
        const Floats4 d = record.quarters[quarter] - found[quarter];
        squares[quarter] = d * d;
        if (!quarter)
            for (int c = 0; c < 3; c++) out.difference[c] = d[c];
    }
    out.guides = squares[1][2] + squares[1][3] + squares[2][0] + 0.25f * (squares[2][1] + squares[2][2] + squares[2][3]);
    out.excess = squares[0][0] + squares[0][1] + squares[0][2] - out.variance;
}

// Disagreement of 3x3 means, from their differences of radiance and guides. Means reveal differences that single pixels hide in noise.
// `correlation` accounts for noise that neighbouring pixels share.
THRONG_INLINE float disagreement_of(const DenoiseParams& params, float a, float b, float c, float variance, float guides) {
    return (a * a + b * b + c * c) / (variance * (params.correlation * (1.0f / 9.0f)) + 1e-8f) + kGuideAgreement * guides;
}

// Weight of a position, from the disagreement averaged over 5x5 pixels. The weight is reduced if the region (9x9 pixels) differs as a
// whole, according to its mean excess and variance. It is also reduced if the other frame is much noisier than the frame's `own` mean
// variance for the same sample count, because noise would then explain any difference. Slightly noisier frames keep their weight; otherwise
// rare, bright samples would lose light.
THRONG_INLINE float agreement_weight(float disagreement, float excess, float noise, float own) {
    const float region = 1.0f + kRegionAgreement * max(excess, 0.0f) / (0.5f * noise + 1e-8f);
    const float noisier = max((noise - own) / (kNoisier * own + 1e-8f), 1.0f);
    return falloff(max(disagreement - 1.0f, 0.0f) * (1.0f / kAgreement)) / (region * noisier);
}

// A record scaled by a weight; its variances are scaled by the squared weight.
THRONG_INLINE Record weighted(const Record& record, float weight) {
    const float squared = weight * weight;
    return Record{{Floats4{weight, weight, weight, squared} * record.quarters[0], Floats4{squared, squared, weight, weight} * record.quarters[1],
                   weight * record.quarters[2]}};
}

THRONG_INLINE void add_weighted(const Record& found, float weight, Record& sums) {
    const Record share = weighted(found, weight);
    for (int quarter = 0; quarter < kQuarters - 1; quarter++) sums.quarters[quarter] += share.quarters[quarter];
}

// Stores a pixel's means. Radiance is divided by albedo, so that texture is not mistaken for noise. `weight` includes the pixel's `own`
// weight. In transparent pictures, values premultiplied by alpha are divided by it.
THRONG_INLINE void store_gathered(const DenoiseParams& params, int x, int y, const Record& sums, float own, float weight, float alpha = 1.0f) {
    const uint64_t plane = uint64_t(params.width) * params.height;
    float* out = params.gathered + uint64_t(y) * params.width + uint64_t(x);
    const float share = 1.0f / weight, over = alpha > 0.0f ? 1.0f / alpha : 0.0f;
    const Record means = weighted(sums, share);
    for (int c = 0; c < 3; c++) {
        const float albedo = over / (means[6 + c] * over + params.albedo_floor);
        out[c * plane] = means[c] * albedo;
        out[(3 + c) * plane] = means[3 + c] * albedo * albedo;
    }
    for (int c = 6; c < 12; c++) out[c * plane] = means[c] * over;
    out[12 * plane] = own * share;
}

// Compares a tile with a neighbouring frame in which its pixels are at `places`.
THRONG_DEVICE void compare_frames(const DenoiseParams& params, const float* own, const DenoiseFrame& frame, int tile_x, int tile_y,
                                  const Place (*places)[kTileWidth + 2 * kFollowed], Followed& out) {
    for (int y = -kFollowed; y < kTileHeight + kFollowed; y++)
        for (int x = -kFollowed; x < kTileWidth + kFollowed; x++) {
            Compared pixel;
            const Place& place = places[y + kFollowed][x + kFollowed];
            compare_pixel(params, load_record(params, own, tile_x + x, tile_y + y), frame.records, place, pixel);
            if (frame.alpha && place.seen) {
                const float there = alpha_between(params, frame.alpha, place.x, place.y);
                const float* here = params.frames[params.reach].alpha;
                const float apart = alpha_at(params, here, tile_x + x, tile_y + y) - there;
                const float noise = alpha_at(params, variance_of_alpha(params, here), tile_x + x, tile_y + y) +
                                    alpha_at(params, variance_of_alpha(params, frame.alpha), int(floorf(place.x + 0.5f)), int(floorf(place.y + 0.5f)));
                pixel.guides += (kAlphaAgreement / kGuideAgreement) * (apart * apart - noise);
            }
            for (int c = 0; c < 3; c++) out.difference[c].at(x, y) = pixel.difference[c];
            out.variance.at(x, y) = pixel.variance;
            out.guides.at(x, y) = pixel.guides;
            out.excess.at(x, y) = pixel.excess;
            if (x < 0 || y < 0 || x >= kTileWidth || y >= kTileHeight) continue;
            out.found[y][x] = pixel.found;
            if (frame.alpha) {
                out.alphas[y][x] = place.seen ? alpha_between(params, frame.alpha, place.x, place.y) : 0.0f;
                const float* variance = variance_of_alpha(params, frame.alpha);
                out.alpha_variances[y][x] = place.seen ? alpha_at(params, variance, int(floorf(place.x + 0.5f)), int(floorf(place.y + 0.5f))) : 0.0f;
            }
            out.samples[y][x] = place.seen ? samples_weight(params, frame, int(floorf(place.x + 0.5f)), int(floorf(place.y + 0.5f))) : 1.0f;
        }
}

// Adds the pixels of a neighbouring frame, weighted by agreement and sample count.
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
        for (int x = 0; x < kTileWidth; x++)
            weights[x] = agreement_weight(smoothed.at(x, y), excess.at(x, y), noise.at(x, y), out.noise.at(x, y) / in.samples[y][x]);
        for (int x = 0; x < kTileWidth; x++) {
            const Place& place = places[y + kFollowed][x + kFollowed];
            if (!place.seen || !place.same) continue;
            const float weight = weights[x] * in.samples[y][x];
            out.weights[y][x] += weight;
            add_weighted(in.found[y][x], weight, out.sums[y][x]);
            if (!params.alpha) continue;
            out.alphas[y][x] += weight * in.alphas[y][x];
            out.alpha_variances[y][x] += weight * weight * in.alpha_variances[y][x];
        }
    }
}

// Both are on the stack: 2 MB in this program, perhaps less in programs that use the library.
static_assert(sizeof(Gathered) + sizeof(Followed) < (1u << 20), "tiles are too large for the stacks of threads");

// Gathers one tile from all frames of the window.
THRONG_DEVICE void gather_tile(const DenoiseParams& params, uint32_t tile) {
    const int across = int((params.width + kTileWidth - 1) / kTileWidth), tile_x = int(tile) % across * kTileWidth, tile_y = int(tile) / across * kTileHeight;
    const int reach = int(params.reach);
    const float* own = params.frames[reach].records;
    Gathered gathered;
    TilePlane<kFollowed> variance;
    for (int y = -kFollowed; y < kTileHeight + kFollowed; y++)
        for (int x = -kFollowed; x < kTileWidth + kFollowed; x++) {
            const Record record = load_record(params, own, tile_x + x, tile_y + y);
            variance.at(x, y) = variance_of(record.quarters[0], record.quarters[1]);
        }
    mean_filter<kFollowed>(variance, gathered.noise);
    for (int y = 0; y < kTileHeight; y++)
        for (int x = 0; x < kTileWidth; x++) {
            const float weight = samples_weight(params, params.frames[reach], tile_x + x, tile_y + y);
            gathered.noise.at(x, y) *= weight;
            gathered.weights[y][x] = weight;
            gathered.sums[y][x] = weighted(load_record(params, own, tile_x + x, tile_y + y), weight);
            if (!params.alpha) continue;
            const float* alpha = params.frames[reach].alpha;
            gathered.alphas[y][x] = weight * alpha_at(params, alpha, tile_x + x, tile_y + y);
            gathered.alpha_variances[y][x] = weight * weight * alpha_at(params, variance_of_alpha(params, alpha), tile_x + x, tile_y + y);
        }
    Followed followed;
    for (int step = -1; step <= 1; step += 2) {
        Place places[kTileHeight + 2 * kFollowed][kTileWidth + 2 * kFollowed];
        for (int y = -kFollowed; y < kTileHeight + kFollowed; y++)
            for (int x = -kFollowed; x < kTileWidth + kFollowed; x++)
                places[y + kFollowed][x + kFollowed] = place_of(params, own, step, tile_x + x, tile_y + y);
        for (int away = 1; away <= reach; away++) {
            const DenoiseFrame& frame = params.frames[reach + step * away];
            if (!frame.records) break;
            for (auto& row : places)
                for (auto& place : row) follow(params, frame.records, step, place);
            compare_frames(params, own, frame, tile_x, tile_y, places, followed);
            add_frame(params, followed, places, gathered);
        }
    }
    for (int y = 0; y < kTileHeight && tile_y + y < int(params.height); y++)
        for (int x = 0; x < kTileWidth && tile_x + x < int(params.width); x++) {
            const float own_weight = samples_weight(params, params.frames[reach], tile_x + x, tile_y + y);
            float alpha = 1.0f;
            if (params.alpha) {
                const float share = 1.0f / gathered.weights[y][x];
                const uint64_t plane = uint64_t(params.width) * params.height, at = uint64_t(tile_y + y) * params.width + uint64_t(tile_x + x);
                alpha = share * gathered.alphas[y][x];
                params.alpha[at] = alpha;
                params.alpha[plane + at] = share * share * gathered.alpha_variances[y][x];
            }
            store_gathered(params, tile_x + x, tile_y + y, gathered.sums[y][x], own_weight, gathered.weights[y][x], alpha);
        }
}

}

// The animation denoiser on GPUs. A block of threads processes a tile, with one thread per pixel. All values result from the same
// operations in the same order as on the CPU (denoise/gather.h, denoise/means.h), so frames are bitwise equal.
#pragma once
#include "denoise/denoise.h"

namespace THRONG_NAMESPACE {

constexpr int kBlockWidth = int(DENOISE_BLOCK_WIDTH), kBlockHeight = int(DENOISE_BLOCK_HEIGHT), kBlockThreads = kBlockWidth * kBlockHeight;

// Values of a tile's pixels and of a margin of `margin` pixels around it, in shared memory.
template <int margin>
struct BlockPlane {
    static constexpr int kRow = kBlockWidth + 2 * margin, kPixels = kRow * (kBlockHeight + 2 * margin);
    float values[kPixels];

    THRONG_INLINE float& at(int x, int y) { return values[(y + margin) * kRow + x + margin]; }
    THRONG_INLINE const float& at(int x, int y) const { return values[(y + margin) * kRow + x + margin]; }
};

// Calls `work` with the coordinates of all pixels of a `BlockPlane<margin>`, distributed over the threads.
template <int margin, class Work> THRONG_INLINE void each_pixel(Work work) {
    using Plane = BlockPlane<margin>;
    for (int i = int(threadIdx.x); i < Plane::kPixels; i += kBlockThreads) work(i % Plane::kRow - margin, i / Plane::kRow - margin);
}

// Mean over a square around a pixel, summed in the order of `mean_filter`.
template <int radius, int margin> THRONG_INLINE float mean_at(const BlockPlane<margin>& plane, int x, int y) {
    constexpr float share = 1.0f / float((2 * radius + 1) * (2 * radius + 1));
    float mean = 0.0f;
    for (int dy = -radius; dy <= radius; dy++) {
        float sum = 0.0f;
        for (int dx = -radius; dx <= radius; dx++) sum += plane.at(x + dx, y + dy);
        mean += sum;
    }
    return mean * share;
}

struct GatherMemory {
    // See `Compared`.
    BlockPlane<kFollowed> difference[3], variance, guides, excess;
    BlockPlane<3> disagreement;
    // Sums over `2 * kFollowed + 1` pixels of a row.
    float excess_rows[kBlockHeight + 2 * kFollowed][kBlockWidth], variance_rows[kBlockHeight + 2 * kFollowed][kBlockWidth];
};

// Coordinates of the margin pixel that a thread follows in addition to its own; false if it has none.
THRONG_INLINE bool margin_pixel(int index, int& x, int& y) {
    constexpr int row = kBlockWidth + 2 * kFollowed, band = row * kFollowed, side = 2 * kFollowed;
    static_assert(2 * band + side * kBlockHeight <= kBlockThreads, "a thread follows one pixel of the margin at most");
    if (index < 2 * band) {
        x = index % row - kFollowed;
        y = index < band ? index / row - kFollowed : (index - band) / row + kBlockHeight;
        return true;
    }
    index -= 2 * band;
    x = index % side < kFollowed ? index % side - kFollowed : index % side - kFollowed + kBlockWidth;
    y = index / side;
    return index < side * kBlockHeight;
}

THRONG_INLINE void store_compared(GatherMemory& memory, int x, int y, const Compared& pixel) {
    for (int c = 0; c < 3; c++) memory.difference[c].at(x, y) = pixel.difference[c];
    memory.variance.at(x, y) = pixel.variance;
    memory.guides.at(x, y) = pixel.guides;
    memory.excess.at(x, y) = pixel.excess;
}

// The frame's own variance, averaged over the 9x9 pixels around a thread's pixel. All threads of the block must call it.
THRONG_INLINE float block_noise(const DenoiseParams& params, const float* own, GatherMemory& memory, int tile_x, int tile_y, int x, int y) {
    each_pixel<kFollowed>([&](int px, int py) {
        const Record record = load_record(params, own, tile_x + px, tile_y + py);
        memory.variance.at(px, py) = variance_of(record.quarters[0], record.quarters[1]);
    });
    __syncthreads();
    const float noise = mean_at<kFollowed>(memory.variance, x, y);
    __syncthreads();
    return noise;
}

// Weight of the position found for a thread's pixel, after all pixels have been compared. `own` is the noise of the pixel's own frame. All
// threads of the block must call it.
THRONG_INLINE float block_weight(const DenoiseParams& params, GatherMemory& memory, int x, int y, float own) {
    __syncthreads();
    for (int i = int(threadIdx.x); i < (kBlockHeight + 2 * kFollowed) * kBlockWidth; i += kBlockThreads) {
        const int column = i % kBlockWidth, row = i / kBlockWidth;
        float excess = 0.0f, variance = 0.0f;
        for (int d = -kFollowed; d <= kFollowed; d++) {
            excess += memory.excess.at(column + d, row - kFollowed);
            variance += memory.variance.at(column + d, row - kFollowed);
        }
        memory.excess_rows[row][column] = excess;
        memory.variance_rows[row][column] = variance;
    }
    each_pixel<3>([&](int px, int py) {
        const float a = mean_at<1>(memory.difference[0], px, py), b = mean_at<1>(memory.difference[1], px, py), c = mean_at<1>(memory.difference[2], px, py);
        memory.disagreement.at(px, py) = disagreement_of(params, a, b, c, mean_at<1>(memory.variance, px, py), mean_at<1>(memory.guides, px, py));
    });
    __syncthreads();
    constexpr float share = 1.0f / float((2 * kFollowed + 1) * (2 * kFollowed + 1));
    float excess = 0.0f, noise = 0.0f;
    for (int d = 0; d <= 2 * kFollowed; d++) {
        excess += memory.excess_rows[y + d][x];
        noise += memory.variance_rows[y + d][x];
    }
    const float weight = agreement_weight(mean_at<2>(memory.disagreement, x, y), excess * share, noise * share, own);
    // The same memory is used for the next frame.
    __syncthreads();
    return weight;
}

THRONG_DEVICE void gather_block(const DenoiseParams& params, GatherMemory& memory) {
    const int across = (int(params.width) + kBlockWidth - 1) / kBlockWidth;
    const int tile_x = int(blockIdx.x) % across * kBlockWidth, tile_y = int(blockIdx.x) / across * kBlockHeight, reach = int(params.reach);
    const int x = int(threadIdx.x) % kBlockWidth, y = int(threadIdx.x) / kBlockWidth;
    int margin_x, margin_y;
    const bool has_margin = margin_pixel(int(threadIdx.x), margin_x, margin_y);
    const float* own = params.frames[reach].records;
    const float noise = block_noise(params, own, memory, tile_x, tile_y, x, y);
    Record sums = load_record(params, own, tile_x + x, tile_y + y);
    float weights = 1.0f;
    for (int step = -1; step <= 1; step += 2) {
        Place place = place_of(params, own, step, tile_x + x, tile_y + y), margin_place = place_of(params, own, step, tile_x + margin_x, tile_y + margin_y);
        for (int away = 1; away <= reach; away++) {
            const float* frame = params.frames[reach + step * away].records;
            if (!frame) break;
            // Loaded again for each frame: keeping it in registers reduces occupancy and is slower.
            Compared pixel;
            if (has_margin) {
                const Record record = load_record(params, own, tile_x + margin_x, tile_y + margin_y);
                follow(params, frame, step, margin_place);
                compare_pixel(params, record, frame, margin_place, pixel);
                store_compared(memory, margin_x, margin_y, pixel);
            }
            const Record record = load_record(params, own, tile_x + x, tile_y + y);
            follow(params, frame, step, place);
            compare_pixel(params, record, frame, place, pixel);
            store_compared(memory, x, y, pixel);
            const float weight = block_weight(params, memory, x, y, noise);
            if (!place.seen || !place.same) continue;
            weights += weight;
            add_weighted(pixel.found, weight, sums);
        }
    }
    if (tile_x + x < int(params.width) && tile_y + y < int(params.height)) store_gathered(params, tile_x + x, tile_y + y, sums, 1.0f, weights);
}

constexpr int kBlockRadius = int(DENOISE_RADIUS), kCompared = kBlockRadius + kPatch;

// The tile of a block, and the pixel of its thread.
struct BlockTile {
    int left, top, x, y;

    THRONG_INLINE BlockTile(const DenoiseParams& params) {
        const int across = (int(params.width) + kBlockWidth - 1) / kBlockWidth;
        left = int(blockIdx.x) % across * kBlockWidth;
        top = int(blockIdx.x) / across * kBlockHeight;
        x = int(threadIdx.x) % kBlockWidth;
        y = int(threadIdx.x) / kBlockWidth;
    }
    // Index of a pixel in the picture, from its coordinates in the tile. Coordinates are clamped to the picture.
    THRONG_INLINE uint64_t at(const DenoiseParams& params, int px, int py) const {
        return uint64_t(clamp_index(top + py, int(params.height))) * params.width + uint64_t(clamp_index(left + px, int(params.width)));
    }
    THRONG_INLINE bool is_in(const DenoiseParams& params) const { return left + x < int(params.width) && top + y < int(params.height); }
};

// Sums of a thread's pixel and of the pixels averaged with it, and the pixel's guides.
struct BlockSums {
    float guides[6], sums[3], weights;
};

// Averages a thread's pixel with pixels that are `step` apart, like `average_pixels`. `radiance` and `noise` return a colour of a pixel
// given by its coordinates in the tile. There are two planes of distances, so that one can be written while the other is being read. All
// threads of the block must call it.
template <int step, class Radiance, class Noise>
THRONG_INLINE BlockSums average_around(const DenoiseParams& params, const BlockTile& tile, BlockPlane<kPatch>* distances, Radiance radiance, Noise noise) {
    const uint64_t plane = uint64_t(params.width) * params.height, own = tile.at(params, tile.x, tile.y);
    BlockSums out;
    out.weights = 1.0f;
    for (int c = 0; c < 6; c++) out.guides[c] = params.gathered[(6 + c) * plane + own];
    for (int c = 0; c < 3; c++) out.sums[c] = radiance(c, tile.x, tile.y);
    const float width2 = square(params.strength), albedo_scale = 1.0f / square(params.albedo_width), normal_scale = 1.0f / square(params.normal_width);
    int turn = 0;
    for (int dy = -step * kBlockRadius; dy <= step * kBlockRadius; dy += step)
        for (int dx = -step * kBlockRadius; dx <= step * kBlockRadius; dx += step) {
            if (!dx && !dy) continue;
            BlockPlane<kPatch>& distance = distances[turn];
            turn ^= 1;
            each_pixel<kPatch>([&](int px, int py) {
                float difference = 0.0f, noises = 0.0f;
                for (int c = 0; c < 3; c++) {
                    float noise_a = noise(c, px, py), noise_b = noise(c, px + dx, py + dy);
                    if (step != kStep) noise_a = noise_b = min(noise_a, noise_b);
                    difference += unexplained(radiance(c, px, py), radiance(c, px + dx, py + dy), noise_a, noise_b);
                    noises += noise_a + noise_b;
                }
                distance.at(px, py) = noise_distance(difference, noises, width2);
            });
            __syncthreads();
            float apart = max(mean_at<kPatch>(distance, tile.x, tile.y), 0.0f);
            const uint64_t other = tile.at(params, tile.x + dx, tile.y + dy);
            for (int c = 0; c < 6; c++) apart += (c < 3 ? albedo_scale : normal_scale) * square(out.guides[c] - params.gathered[(6 + c) * plane + other]);
            const float weight = falloff(apart);
            out.weights += weight;
            for (int c = 0; c < 3; c++) out.sums[c] += weight * radiance(c, tile.x + dx, tile.y + dy);
        }
    return out;
}

struct AverageMemory {
    BlockPlane<kCompared> radiance[3], variance[3];
    BlockPlane<kPatch> distances[2];
};

THRONG_DEVICE void average_block(const DenoiseParams& params, AverageMemory& memory) {
    const BlockTile tile(params);
    const uint64_t plane = uint64_t(params.width) * params.height;
    each_pixel<kCompared>([&](int px, int py) {
        for (int c = 0; c < 3; c++) {
            memory.radiance[c].at(px, py) = params.gathered[c * plane + tile.at(params, px, py)];
            float mean = 0.0f;
            for (int dy = -1; dy <= 1; dy++) {
                float sum = 0.0f;
                for (int dx = -1; dx <= 1; dx++) sum += params.gathered[(3 + c) * plane + tile.at(params, px + dx, py + dy)];
                mean += sum;
            }
            memory.variance[c].at(px, py) = mean * (1.0f / 9.0f);
        }
    });
    __syncthreads();
    const auto radiance = [&](int c, int px, int py) { return memory.radiance[c].at(px, py); };
    const auto noise = [&](int c, int px, int py) { return memory.variance[c].at(px, py); };
    const BlockSums found = average_around<kStep>(params, tile, memory.distances, radiance, noise);
    if (!tile.is_in(params)) return;
    const int x = tile.left + tile.x, y = tile.top + tile.y;
    if (params.spread) {
        const float noises[3] = {noise(0, tile.x, tile.y), noise(1, tile.x, tile.y), noise(2, tile.x, tile.y)};
        store_spread(params, x, y, found.sums, found.weights, noises);
    }
    store_average(params, x, y, found.sums, found.weights, found.guides);
}

// The second pass for one tile. Its pixels are read from global memory, because the larger tile does not fit into shared memory.
THRONG_DEVICE void spread_block(const DenoiseParams& params, BlockPlane<kPatch>* distances) {
    const BlockTile tile(params);
    const uint64_t plane = uint64_t(params.width) * params.height;
    const auto radiance = [&](int c, int px, int py) { return params.spread[c * plane + tile.at(params, px, py)]; };
    const auto noise = [&](int c, int px, int py) { return params.spread[(3 + c) * plane + tile.at(params, px, py)]; };
    const BlockSums found = average_around<kSpreadStep>(params, tile, distances, radiance, noise);
    if (tile.is_in(params)) store_wide_average(params, tile.left + tile.x, tile.top + tile.y, found.sums, found.weights, found.guides);
}

}

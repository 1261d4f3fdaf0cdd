// Tiles of pixels with a margin, in memory local to a thread, and operations on their rows.
#pragma once
#include "util/vec.h"
#include "abi.h"

namespace THRONG_NAMESPACE {

constexpr int kTileWidth = int(DENOISE_TILE_WIDTH), kTileHeight = int(DENOISE_TILE_HEIGHT);

// Values of a tile's pixels and of a margin of `margin` pixels around it. Rows are long enough to be processed as whole vectors.
template <int margin>
struct TilePlane {
    static constexpr int kRow = kTileWidth + 2 * margin, kRows = kTileHeight + 2 * margin;
    float values[kRows][kRow];

    // The value at (x, y), relative to the tile's first pixel.
    THRONG_INLINE float& at(int x, int y) { return values[y + margin][x + margin]; }
    THRONG_INLINE const float& at(int x, int y) const { return values[y + margin][x + margin]; }
};

// Box filter of width 2 * radius + 1. Computed where the whole box lies inside the input plane.
template <int radius, int margin>
THRONG_INLINE void mean_filter(const TilePlane<margin>& in, TilePlane<margin - radius>& out) {
    constexpr int reach = margin - radius, kRow = TilePlane<margin - radius>::kRow;
    constexpr float share = 1.0f / float((2 * radius + 1) * (2 * radius + 1));
    float sums[TilePlane<margin>::kRows][kRow];
    for (int y = -margin; y < kTileHeight + margin; y++)
        for (int x = 0; x < kRow; x++) {
            float sum = 0.0f;
            THRONG_UNROLL
            for (int d = -radius; d <= radius; d++) sum += in.at(x - reach + d, y);
            sums[y + margin][x] = sum;
        }
    for (int y = -reach; y < kTileHeight + reach; y++)
        for (int x = 0; x < kRow; x++) {
            float sum = 0.0f;
            THRONG_UNROLL
            for (int d = -radius; d <= radius; d++) sum += sums[y + d + margin][x];
            out.at(x - reach, y) = sum * share;
        }
}

}

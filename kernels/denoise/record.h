// Records of a frame's pixels, made of its layers.
#pragma once
#include "util/vec.h"
#include "abi.h"

namespace THRONG_NAMESPACE {

// The value, or 0 for one that is no number or so great that its square is none.
THRONG_INLINE float usable(float value) { return fabsf(value) < 1e18f ? value : 0.0f; }

// Makes the record of one pixel. The variance of a single pixel, told from two halves of its samples, is itself noisy, so it is the mean over
// 3x3 pixels.
THRONG_DEVICE void make_record(const DenoiseLayers& layers, uint32_t pixel) {
    const int width = int(layers.width), height = int(layers.height), x = int(pixel) % width, y = int(pixel) / width;
    float variance[3] = {0.0f, 0.0f, 0.0f}, count = 0.0f;
    for (int row = y > 0 ? y - 1 : 0; row <= y + 1 && row < height; row++)
        for (int column = x > 0 ? x - 1 : 0; column <= x + 1 && column < width; column++) {
            const float* found = layers.variance + 3 * (uint64_t(row) * layers.width + uint64_t(column));
            for (int c = 0; c < 3; c++) variance[c] += max(usable(found[c]), 0.0f);
            count += 1.0f;
        }
    const uint64_t at = pixel;
    float record[DENOISE_RECORD];
    for (int c = 0; c < 3; c++) {
        record[c] = usable(layers.radiance[3 * at + c]);
        record[3 + c] = variance[c] / count;
        record[6 + c] = usable(layers.albedo[3 * at + c]);
        record[9 + c] = usable(layers.normal[3 * at + c]);
    }
    // From y upwards, and from where it will be, to y downwards and where that is.
    const float* motion = layers.motion + 4 * at;
    record[12] = usable(motion[0]);
    record[13] = usable(-motion[1]);
    record[14] = usable(-motion[2]);
    record[15] = usable(motion[3]);
    const uint64_t pixels = uint64_t(layers.width) * layers.height;
    for (uint64_t quarter = 0; quarter < DENOISE_RECORD / 4; quarter++) store4(layers.records + 4 * (quarter * pixels + at), record + 4 * quarter);
}

}

// Builds the per-pixel records of a frame from its layers.
#pragma once
#include "denoise/outliers.h"

namespace THRONG_NAMESPACE {

// Greatest standard deviation of a pixel, relative to its light. At the edge of a small lamp, a few samples with a small share in the pixel yield a
// multiple of it, and such noise would explain the lamp's light in all pixels around.
constexpr float kGreatestNoise = 2.0f;

// Builds the record of one pixel. Its variance, estimated from two halves of the samples, is noisy. It is not smoothed here, because
// smoothing would blur the edges of bright areas into dark ones.
THRONG_DEVICE void make_record(const DenoiseLayers& layers, uint32_t pixel) {
    const uint64_t at = pixel, pixels = uint64_t(layers.width) * layers.height;
    float record[DENOISE_RECORD];
    // Background has an albedo of 1. In transparent pictures, only the covered part counts, as it does for radiance.
    const float clear = layers.alpha ? 1.0f - layers.alpha[at] : 0.0f, kept = layers.outliers[2 * at];
    const Vec3 calmed = calmed_radiance(layers, pixel);
    const float radiance[3] = {calmed.x, calmed.y, calmed.z};
    for (int c = 0; c < 3; c++) {
        record[c] = radiance[c];
        const float most = kGreatestNoise * usable(layers.radiance[3 * at + c]);
        record[3 + c] = kept * kept * clamp(usable(layers.variance[3 * at + c]), 0.0f, most * most);
        record[6 + c] = usable(layers.albedo[3 * at + c]);
        if (layers.alpha) record[6 + c] = max(record[6 + c] - clear, 0.0f);
        record[9 + c] = usable(layers.normal[3 * at + c]);
    }
    // Layers store y upwards and the offset from the next frame; records store y downwards and the offset to the next frame.
    const float* motion = layers.motion + 4 * at;
    record[12] = usable(motion[0]);
    record[13] = usable(-motion[1]);
    record[14] = usable(-motion[2]);
    record[15] = usable(motion[3]);
    for (uint64_t quarter = 0; quarter < DENOISE_RECORD / 4; quarter++) {
        const float* values = record + 4 * quarter;
        store4(layers.records + 4 * (quarter * pixels + at), Floats4{values[0], values[1], values[2], values[3]});
    }
}

}

// Images that are made of a finished picture's images, for other libraries that use the GPU: numbers of what covers most of a pixel, optical flow, and
// colours with an alpha. Values are those that the host makes of the same images. An item is a pixel.
#pragma once
#include "util/vec.h"

namespace THRONG_NAMESPACE {

// The number of the name with the greatest coverage, or -1. `matte` has pairs of name and coverage, the greatest first. `table` has pairs of name and
// number, in ascending order of names.
THRONG_INLINE int32_t matte_number(const float* matte, const uint32_t* table, uint32_t entries) {
    if (!(matte[1] > 0.0f)) return -1;
    const uint32_t name = reinterpret_cast<const uint32_t*>(matte)[0];
    uint32_t begin = 0, end = entries;
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2u;
        if (table[2u * uint64_t(middle)] < name) begin = middle + 1u;
        else end = middle;
    }
    return begin < entries && table[2u * uint64_t(begin)] == name ? int32_t(table[2u * uint64_t(begin) + 1u]) : -1;
}

// Optical flow in pixels to the right and down: to the frame before, or to the next one. `motion` points to the frame before and from the next one, in
// pixels to the right and up.
THRONG_INLINE void optical_flow(const float* motion, bool back, float* flow) {
    flow[0] = back ? motion[0] : -motion[2];
    flow[1] = back ? -motion[1] : motion[3];
}

// An alpha as a byte.
THRONG_INLINE uint8_t alpha_byte(float alpha) {
    const float value = floorf(alpha * 255.0f + 0.5f);
    return uint8_t(value > 0.0f ? min(value, 255.0f) : 0.0f);
}

}

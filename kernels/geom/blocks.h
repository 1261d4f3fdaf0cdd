// Texels of compressed blocks of 4x4 (BC1, BC3, BC4, BC5, BC7; Khronos Data Format Specification 1.3, chapters 18 to 20), with eight bits per channel.
#pragma once
#include "abi.h"
#include "util/compat.h"

namespace THRONG_NAMESPACE {

#include "geom/block_tables.inc"

THRONG_INLINE uint32_t pack_texel(uint32_t r, uint32_t g, uint32_t b, uint32_t a) { return r | g << 8 | b << 16 | a << 24; }

// Colour of texel `i`, without alpha, from two words: the end colours (5, 6 and 5 bits), and the choices. `is_clear`: the texel is transparent.
THRONG_INLINE uint32_t block_color(uint32_t ends, uint32_t choices, uint32_t i, bool& is_clear) {
    const uint32_t first = ends & 0xffffu, second = ends >> 16, choice = choices >> 2 * i & 3u;
    const bool has_thirds = first > second;
    is_clear = !has_thirds && choice == 3;
    if (is_clear) return 0;
    // Weights of the ends in thirds, or in halves.
    const uint32_t whole = has_thirds ? 3 : 2, between = has_thirds ? choice - 1 : 1;
    const uint32_t b = choice < 2 ? choice * whole : between, a = whole - b;
    const uint32_t red = a * (first >> 11) + b * (second >> 11), green = a * (first >> 5 & 63u) + b * (second >> 5 & 63u);
    const uint32_t blue = a * (first & 31u) + b * (second & 31u);
    const auto nearest = [&](uint32_t sum, uint32_t most) { return has_thirds ? (510 * sum + 3 * most) / (6 * most) : (510 * sum + 2 * most) / (4 * most); };
    return pack_texel(nearest(red, 31), nearest(green, 63), nearest(blue, 31), 0);
}

// Value of texel `i` of a block of one channel.
THRONG_INLINE uint32_t block_value(uint64_t block, uint32_t i) {
    const uint32_t first = uint32_t(block) & 255u, second = uint32_t(block >> 8) & 255u, choice = uint32_t(block >> (16 + 3 * i)) & 7u;
    if (choice == 0) return first;
    if (choice == 1) return second;
    if (first > second) return ((8 - choice) * first + (choice - 1) * second + 3) / 7;
    if (choice >= 6) return choice == 6 ? 0 : 255;
    return ((6 - choice) * first + (choice - 1) * second + 2) / 5;
}

// The blue of a normal of unit length with this red and green, as `throng_scene::unit_blue`.
THRONG_INLINE uint32_t unit_blue(uint32_t red, uint32_t green) {
    const int x = 2 * int(red) - 255, y = 2 * int(green) - 255, square = 255 * 255 - x * x - y * y;
    return uint32_t((255.0f + sqrtf(float(square > 0 ? square : 0))) * 0.5f + 0.5f);
}

struct Block {
    uint64_t low, high;
};

// `count` bits from bit `at` on; at most 16.
THRONG_INLINE uint32_t block_bits(const Block& block, uint32_t at, uint32_t count) {
    const uint64_t from = at < 64 ? block.low >> at | (block.high << 1) << (63 - at) : block.high >> (at - 64);
    return uint32_t(from) & ((1u << count) - 1u);
}

// Properties of the modes of BC7 blocks, four bits each: subsets, bits of the partition, of the rotation and of the choice of indices, bits of a colour
// channel and of alpha, whether each end or each subset has a shared lowest bit, bits of an index and of a second index.
THRONG_TABLE uint64_t kBlockModes[8] = {
    0x0301040043, 0x0310060062, 0x0200050063, 0x0201070062, 0x3200651201, 0x2200870201, 0x0401770001, 0x0201550062,
};

// Weight of a second end in 64ths: 64 * index / (2^bits - 1), rounded. A division by a number that the compiler does not know would be slow.
THRONG_INLINE uint32_t block_weight(uint32_t index, uint32_t bits) {
    const uint32_t step = bits == 4 ? (64u << 16) / 15 : bits == 3 ? (64u << 16) / 7 : (64u << 16) / 3;
    return (index * step + 32768u) >> 16;
}

// Texel `i` of a BC7 block of this mode, whose properties are those of `kBlockModes`.
THRONG_INLINE uint32_t bc7_texel_of(const Block& block, uint32_t i, uint32_t mode, uint64_t of_mode) {
    const auto property = [&](uint32_t at) { return uint32_t(of_mode >> 4 * at) & 15u; };
    const uint32_t subsets = property(0), index_bits = property(8), second_bits = property(9);
    uint32_t at = mode + 1;
    const auto take = [&](uint32_t bits) {
        at += bits;
        return block_bits(block, at - bits, bits);
    };
    const uint32_t partition = take(property(1)), rotation = take(property(2)), is_swapped = take(property(3));
    uint32_t subset = 0, anchors = 1;
    if (subsets == 2) {
        const uint32_t entry = kTwoSubsets[partition];
        subset = entry >> i & 1u;
        anchors |= 1u << (entry >> 16);
    }
    if (subsets == 3) {
        const uint32_t both = kThreeAnchors[partition];
        subset = kThreeSubsets[partition] >> 2 * i & 3u;
        anchors |= 1u << (both & 15u) | 1u << (both >> 4);
    }
    const uint32_t color_bits = property(4), alpha_bits = property(5), ends = 2 * subsets;
    const uint32_t alphas = at + 3 * ends * color_bits, shared = alphas + ends * alpha_bits;
    const bool each_end = property(6) != 0, each_subset = property(7) != 0;
    const uint32_t indices = shared + (each_end ? ends : each_subset ? subsets : 0);

    // An index that is known to be low lacks its highest bit.
    const uint32_t before = (1u << i) - 1u;
    const uint32_t first = block_bits(block, indices + index_bits * i - count_bits(anchors & before), index_bits - (anchors >> i & 1u));
    uint32_t weight = block_weight(first, index_bits), alpha_weight = weight;
    if (second_bits) {
        const uint32_t place = indices + 16 * index_bits - 1 + second_bits * i - (i > 0 ? 1 : 0);
        alpha_weight = block_weight(block_bits(block, place, second_bits - (i == 0 ? 1 : 0)), second_bits);
    }
    const uint32_t color_weight = is_swapped ? alpha_weight : weight;
    if (is_swapped) alpha_weight = weight;

    const auto end_value = [&](uint32_t place, uint32_t bits, uint32_t end) {
        uint32_t value = block_bits(block, place + (2 * subset + end) * bits, bits);
        if (each_end || each_subset) {
            value = value << 1 | block_bits(block, shared + (each_end ? 2 * subset + end : subset), 1);
            bits++;
        }
        return value << (8 - bits) | value >> (2 * bits - 8);
    };
    const auto mixed = [&](uint32_t place, uint32_t bits, uint32_t share) {
        return ((64 - share) * end_value(place, bits, 0) + share * end_value(place, bits, 1) + 32) >> 6;
    };
    uint32_t channels[4];
    for (uint32_t c = 0; c < 3; c++) channels[c] = mixed(at + c * ends * color_bits, color_bits, color_weight);
    channels[3] = alpha_bits ? mixed(alphas, alpha_bits, alpha_weight) : 255;
    const uint32_t alpha = channels[3];
    if (rotation == 1) return pack_texel(alpha, channels[1], channels[2], channels[0]);
    if (rotation == 2) return pack_texel(channels[0], alpha, channels[2], channels[1]);
    if (rotation == 3) return pack_texel(channels[0], channels[1], alpha, channels[2]);
    return pack_texel(channels[0], channels[1], channels[2], alpha);
}

// Texel `i` of a BC7 block; 0 in a block of a reserved mode.
THRONG_INLINE uint32_t bc7_texel(const Block& block, uint32_t i) {
    const uint32_t first_byte = uint32_t(block.low) & 255u;
    if (first_byte == 0) return 0;
    const uint32_t mode = lowest_bit(first_byte);
    // The mode of mip maps and of most blocks with alpha, with properties that the compiler knows.
    if (mode == 6) return bc7_texel_of(block, i, 6, 0x0401770001);
    return bc7_texel_of(block, i, mode, kBlockModes[mode]);
}

// Texel (x, y) of a texture in a compact `format`, whose width is `width`.
THRONG_OUTLINE uint32_t compact_texel(const uint8_t* texels, uint32_t format, uint32_t width, uint32_t x, uint32_t y) {
    if (format == TEXELS_GREY8) return 0xff000000u | 0x010101u * texels[uint64_t(y) * width + x];
    const uint64_t index = uint64_t(y / 4) * ((width + 3) / 4) + x / 4;
    const uint32_t i = 4 * (y & 3u) + (x & 3u);
    bool is_clear;
    if (format == TEXELS_BC1 || format == TEXELS_BC1_OPAQUE || format == TEXELS_BC4) {
        const uint32_t low = load_word(texels + 8 * index), high = load_word(texels + 8 * index + 4);
        if (format == TEXELS_BC4) return 0xff000000u | 0x010101u * block_value(uint64_t(high) << 32 | low, i);
        const uint32_t color = block_color(low, high, i, is_clear);
        return is_clear && format == TEXELS_BC1 ? color : color | 0xff000000u;
    }
    const Words4 words = load_words(texels + 16 * index);
    const Block block{uint64_t(words.y) << 32 | words.x, uint64_t(words.w) << 32 | words.z};
    if (format == TEXELS_BC3) return block_color(words.z, words.w, i, is_clear) | block_value(block.low, i) << 24;
    if (format == TEXELS_BC5) {
        const uint32_t red = block_value(block.low, i), green = block_value(block.high, i);
        return pack_texel(red, green, unit_blue(red, green), 255);
    }
    return bc7_texel(block, i);
}

}

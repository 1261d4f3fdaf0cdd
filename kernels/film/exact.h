// Exact sums: samples are rounded to fixed-point numbers, whose addition is associative. A sum is therefore independent of the order and grouping of
// its samples, and joining films of different samples gives a bit-identical result.
//
// A tree of float sums over aligned ranges of samples would also work, but it keeps up to twice log2(n) films per picture on the device, and every
// schedule would have to follow the tree. The integers take 40 bytes per pixel instead of 16.
#pragma once
#include "util/vec.h"

namespace THRONG_NAMESPACE {

// A 96-bit integer in two's complement, in units of 2^-40.
struct Exact {
    uint64_t low;
    uint32_t high;
};

constexpr int kExactFraction = 40;
constexpr float kExactUnit = 1.0f / 1099511627776.0f;
// Greatest magnitude of a term; a million of these do not overflow.
constexpr float kExactMost = 34359738368.0f;

THRONG_INLINE Exact negated(Exact a) {
    a.low = ~a.low + 1u;
    a.high = ~a.high + (a.low ? 0u : 1u);
    return a;
}

THRONG_INLINE Exact sum_of(Exact a, Exact b) {
    const uint64_t low = a.low + b.low;
    return Exact{low, a.high + b.high + (low < b.low ? 1u : 0u)};
}

// Rounds to the nearest unit. NaN counts as 0.
THRONG_INLINE Exact exact_of(float x) {
    if (!(fabsf(x) <= kExactMost)) x = x > 0.0f ? kExactMost : x < 0.0f ? -kExactMost : 0.0f;
    const uint32_t bits = float_bits(x);
    const uint64_t mantissa = (bits & 0x007fffffu) | 0x00800000u;
    const int shift = int(bits >> 23 & 255u) - (150 - kExactFraction);
    if (shift < -24) return Exact{0, 0};
    Exact a;
    a.low = shift < 0 ? (mantissa + (1ull << (-shift - 1))) >> -shift : mantissa << shift;
    a.high = shift > 40 ? uint32_t(mantissa >> (64 - shift)) : 0u;
    return bits >> 31 ? negated(a) : a;
}

// The nearest float.
THRONG_INLINE float float_of(Exact a) {
    const bool negative = a.high >> 31;
    if (negative) a = negated(a);
    float size = float(a.low) * kExactUnit;
    // The upper 64 bits of longer numbers are sufficient if the last bit is set for any nonzero remainder.
    if (a.high) size = float(uint64_t(a.high) << 32 | a.low >> 32 | (uint32_t(a.low) ? 1u : 0u)) * (kExactUnit * 4294967296.0f);
    return negative ? -size : size;
}

THRONG_INLINE Exact load_exact(const uint32_t* words) { return Exact{uint64_t(words[1]) << 32 | words[0], words[2]}; }

THRONG_INLINE void store_exact(uint32_t* words, Exact a) {
    words[0] = uint32_t(a.low);
    words[1] = uint32_t(a.low >> 32);
    words[2] = a.high;
}

THRONG_INLINE void join_exact(uint32_t* words, const uint32_t* other) { store_exact(words, sum_of(load_exact(words), load_exact(other))); }

// A 64-bit integer, for values that are known to be small; they are truncated to whole units.
THRONG_INLINE int64_t wide_of(float x, float units, float most) {
    if (!(fabsf(x) <= most)) x = x > 0.0f ? most : x < 0.0f ? -most : 0.0f;
    return int64_t(x * units);
}

THRONG_INLINE int64_t load_wide(const uint32_t* words) { return int64_t(uint64_t(words[1]) << 32 | words[0]); }

THRONG_INLINE void store_wide(uint32_t* words, int64_t a) {
    words[0] = uint32_t(uint64_t(a));
    words[1] = uint32_t(uint64_t(a) >> 32);
}

THRONG_INLINE void join_wide(uint32_t* words, const uint32_t* other) { store_wide(words, int64_t(uint64_t(load_wide(words)) + uint64_t(load_wide(other)))); }

}

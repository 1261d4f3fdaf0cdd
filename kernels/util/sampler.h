// Random numbers as a pure function of (pixel, sample, dimension, seed): Owen-scrambled Sobol points, padded pair by pair (Burley 2020, "Practical
// Hash-based Owen Scrambling"). All pixels share one sequence, ordered along a shuffled Z-order curve. The samples of neighbouring pixels therefore
// complement one another, and the remaining error is blue noise (Ahmed and Wonka 2020, "Screen-Space Blue-Noise Diffusion of Monte Carlo Sampling
// Error via Hierarchical Ordering of Pixels").
#pragma once
#include "util/maths.h"

namespace THRONG_NAMESPACE {

struct Vec2 {
    float x, y;
};

THRONG_INLINE uint32_t hash(uint32_t x) {
    x ^= x >> 16; x *= 0x7feb352du;
    x ^= x >> 15; x *= 0x846ca68bu;
    return x ^ (x >> 16);
}
THRONG_INLINE uint32_t hash_combine(uint32_t a, uint32_t b) { return hash(a ^ (hash(b) + 0x9e3779b9u + (a << 6) + (a >> 2))); }

// Laine and Karras' permutation: each bit is flipped depending on lower bits only. Applied to a number with reversed bits, it is Owen scrambling.
THRONG_INLINE uint32_t laine_karras(uint32_t x, uint32_t seed) {
    x += seed;
    x ^= x * 0x6c50b47cu;
    x ^= x * 0xb82f1e52u;
    x ^= x * 0xc7afe638u;
    x ^= x * 0x8d22f6e6u;
    return x;
}

// Second Sobol dimension with reversed bits (the first dimension with reversed bits is the index itself). Its generator matrix is Pascal's triangle
// modulo 2: bit j is the sum of all bits i of the index whose binary digits include the digits of j (Lucas's theorem), computed by five butterfly
// steps.
THRONG_INLINE uint32_t reversed_sobol_1(uint32_t index) {
    index ^= index >> 1 & 0x55555555u;
    index ^= index >> 2 & 0x33333333u;
    index ^= index >> 4 & 0x0f0f0f0fu;
    index ^= index >> 8 & 0x00ff00ffu;
    return index ^ index >> 16;
}

THRONG_INLINE float unit_float(uint32_t x) { return float(x >> 8) * (1.0f / 16777216.0f); }

// Spreads the bits of a 16-bit number, with a zero after each.
THRONG_INLINE uint32_t spread_bits(uint32_t x) {
    x = (x | x << 8) & 0x00ff00ffu;
    x = (x | x << 4) & 0x0f0f0f0fu;
    x = (x | x << 2) & 0x33333333u;
    return (x | x << 1) & 0x55555555u;
}

struct Sampler {
    // Key of the sequence, and the index in it with reversed bits.
    uint32_t key, reversed_index;
};

// `sample_bits` is the number of bits of the greatest sample number. Pictures with more samples than a sequence has use several sequences, each for a
// square of pixels.
THRONG_INLINE Sampler make_sampler(uint32_t x, uint32_t y, uint32_t sample, uint32_t sample_bits, uint32_t seed) {
    const uint32_t place = spread_bits(x) | spread_bits(y) << 1;
    const uint32_t square = sample_bits ? place >> (32u - sample_bits) : 0u;
    return Sampler{hash_combine(seed, square), reverse_bits(place << sample_bits | sample)};
}

// Returns a point of [0, 1)^2. Different `dimension`s are independent. In each dimension, the samples of a pixel are stratified, and so are the
// samples of a square of pixels. Scrambling the index shuffles squares among squares, pixels inside them, and samples.
THRONG_DEVICE Vec2 sample_2d(const Sampler& s, uint32_t dimension) {
    uint32_t key = hash_combine(s.key, dimension);
    uint32_t index = reverse_bits(laine_karras(s.reversed_index, key));
    uint32_t x = reverse_bits(laine_karras(index, hash(key ^ 0x1d0c5a4bu)));
    uint32_t y = reverse_bits(laine_karras(reversed_sobol_1(index), hash(key ^ 0x5bd1e995u)));
    return Vec2{unit_float(x), unit_float(y)};
}

// Samples a unit direction around `n`, weighted by the cosine.
THRONG_DEVICE Vec3 sample_cosine(Vec3 n, Vec2 u) {
    Vec3 s, t;
    basis(n, s, t);
    float radius = sqrtf(u.x), z = sqrtf(max(0.0f, 1.0f - u.x)), sine, cosine;
    sine_cosine(u.y, sine, cosine);
    return s * (radius * cosine) + t * (radius * sine) + n * z;
}

// Samples a unit direction uniformly in the cone around the unit vector `axis`. `cap` is one minus the cosine of its angular radius, which stays
// precise for narrow cones.
THRONG_DEVICE Vec3 sample_cone(Vec3 axis, float cap, Vec2 u) {
    Vec3 s, t;
    basis(axis, s, t);
    float below = u.x * cap, radius = sqrtf(max(0.0f, below * (2.0f - below))), sine, cosine;
    sine_cosine(u.y, sine, cosine);
    return s * (radius * cosine) + t * (radius * sine) + axis * (1.0f - below);
}

}

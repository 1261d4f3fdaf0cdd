// Random numbers as a pure function of (pixel, sample, dimension, seed): Owen-scrambled Sobol points, padded pair by
// pair (Burley 2020, "Practical Hash-based Owen Scrambling").
#pragma once
#include "vec.h"

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

THRONG_INLINE uint32_t reverse_bits(uint32_t x) {
    x = ((x & 0xaaaaaaaau) >> 1) | ((x & 0x55555555u) << 1);
    x = ((x & 0xccccccccu) >> 2) | ((x & 0x33333333u) << 2);
    x = ((x & 0xf0f0f0f0u) >> 4) | ((x & 0x0f0f0f0fu) << 4);
    x = ((x & 0xff00ff00u) >> 8) | ((x & 0x00ff00ffu) << 8);
    return (x >> 16) | (x << 16);
}

// Laine and Karras' permutation: each bit is flipped depending on lower ones only.
THRONG_INLINE uint32_t laine_karras(uint32_t x, uint32_t seed) {
    x += seed;
    x ^= x * 0x6c50b47cu;
    x ^= x * 0xb82f1e52u;
    x ^= x * 0xc7afe638u;
    x ^= x * 0x8d22f6e6u;
    return x;
}
THRONG_INLINE uint32_t owen_scramble(uint32_t x, uint32_t seed) { return reverse_bits(laine_karras(reverse_bits(x), seed)); }

// Second Sobol dimension (the first is the bit reversal).
THRONG_INLINE uint32_t sobol_1(uint32_t index) {
    uint32_t x = 0, direction = 0x80000000u;
    for (; index; index >>= 1, direction ^= direction >> 1)
        if (index & 1u) x ^= direction;
    return x;
}

THRONG_INLINE float unit_float(uint32_t x) { return float(x >> 8) * (1.0f / 16777216.0f); }

struct Sampler {
    uint32_t pixel, sample;
};

THRONG_INLINE Sampler make_sampler(uint32_t pixel, uint32_t sample, uint32_t seed) {
    return Sampler{hash_combine(seed, pixel), sample};
}

// A point of [0, 1)^2. Different `dimension`s are independent; within one, a pixel's samples are stratified.
THRONG_DEVICE Vec2 sample_2d(const Sampler& s, uint32_t dimension) {
    uint32_t key = hash_combine(s.pixel, dimension);
    uint32_t index = owen_scramble(s.sample, key);
    uint32_t x = owen_scramble(reverse_bits(index), hash(key ^ 0x1d0c5a4bu));
    uint32_t y = owen_scramble(sobol_1(index), hash(key ^ 0x5bd1e995u));
    return Vec2{unit_float(x), unit_float(y)};
}

// Cosine-weighted about `n`.
THRONG_DEVICE Vec3 sample_cosine(Vec3 n, Vec2 u) {
    Vec3 s, t;
    basis(n, s, t);
    float radius = sqrtf(u.x), angle = 2.0f * kPi * u.y;
    float z = sqrtf(max(0.0f, 1.0f - u.x));
    return s * (radius * cosf(angle)) + t * (radius * sinf(angle)) + n * z;
}

// Uniform in the cone about the unit vector `axis`.
THRONG_DEVICE Vec3 sample_cone(Vec3 axis, float cos_radius, Vec2 u) {
    Vec3 s, t;
    basis(axis, s, t);
    float z = 1.0f - u.x * (1.0f - cos_radius), radius = sqrtf(max(0.0f, 1.0f - z * z)), angle = 2.0f * kPi * u.y;
    return s * (radius * cosf(angle)) + t * (radius * sinf(angle)) + axis * z;
}

}

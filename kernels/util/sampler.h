// Random numbers as a pure function of (pixel, sample, dimension, seed): Owen-scrambled Sobol points, padded pair by pair (Burley 2020, "Practical
// Hash-based Owen Scrambling"). All pixels share one sequence, ordered along a shuffled Z-order curve. The samples of neighbouring pixels therefore
// complement one another, and the remaining error is blue noise (Ahmed and Wonka 2020, "Screen-Space Blue-Noise Diffusion of Monte Carlo Sampling
// Error via Hierarchical Ordering of Pixels").
#pragma once
#include "util/vec.h"

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

// Sine and cosine of `turn` in [0, 1] turns, to 1e-7 (polynomials fitted on an eighth of a turn). Computed with single operations for identical
// results on all devices; mathematical libraries differ.
THRONG_INLINE void sine_cosine(float turn, float& sine, float& cosine) {
    // Quarter turns to the nearest axis, and the remainder in [-1/2, 1/2] quarters.
    float quarters = 4.0f * turn, axis = floorf(quarters + 0.5f), x = quarters - axis, x2 = x * x;
    float s = x * (1.57079633f + x2 * (-0.645964096f + x2 * (0.0796925827f + x2 * (-0.00468126625f + x2 * 0.000158206293f))));
    float c = 1.0f + x2 * (-1.23370055f + x2 * (0.253669507f + x2 * (-0.020863468f + x2 * (0.000919161809f + x2 * -0.0000248510966f))));
    uint32_t quadrant = uint32_t(axis);
    sine = quadrant & 1u ? c : s;
    cosine = quadrant & 1u ? s : c;
    if (quadrant & 2u) sine = -sine;
    if ((quadrant + 1u) & 2u) cosine = -cosine;
}

// Natural logarithm of a normal positive number, to 1e-7. Computed with single operations like the sine above.
THRONG_INLINE float natural_log(float x) {
    // The fraction is in [sqrt(1/2), sqrt(2)].
    const uint32_t bits = float_bits(x) - 0x3f3504f3u;
    const int exponent = int(bits) >> 23;
    const float fraction = bits_float((bits & 0x007fffffu) + 0x3f3504f3u);
    const float s = (fraction - 1.0f) / (fraction + 1.0f), s2 = s * s;
    return s * (2.0f + s2 * (0.666666667f + s2 * (0.4f + s2 * (0.285714286f + s2 * 0.222222222f)))) + float(exponent) * 0.693147181f;
}

// log(1 + x) / x for x > -1, to 3e-7; 1 for 0. Computed with single operations like the sine above.
THRONG_INLINE float log_ratio(float x) {
    if (fabsf(x) > 0.4f) return natural_log(1.0f + x) / x;
    const float s = x / (2.0f + x), s2 = s * s;
    return (2.0f + s2 * (0.666666667f + s2 * (0.4f + s2 * (0.285714286f + s2 * 0.222222222f)))) / (2.0f + x);
}

// Exponential function of a non-positive number, to 3e-7; 0 below -87. Computed with single operations like the sine above.
THRONG_INLINE float decay(float x) {
    if (!(x > -87.0f)) return 0.0f;
    // Whole powers of two, and a remainder in [sqrt(1/2), sqrt(2)].
    const float twos = floorf(x * 1.44269504f + 0.5f), r = x - twos * 0.693359375f + twos * 0.000212194440f;
    const float rest = 1.0f + r * (1.0f + r * (0.5f + r * (0.166666667f + r * (0.0416666667f + r * (0.00833333333f + r * (0.00138888889f + r * 0.000198412698f))))));
    return rest * bits_float(uint32_t(int(twos) + 127) << 23);
}

// (1 - exp(-x)) / x for x >= 0, to 3e-7; 1 for 0. Computed with single operations like the sine above.
THRONG_INLINE float decay_ratio(float x) {
    if (x > 0.5f) return (1.0f - decay(-x)) / x;
    return 1.0f - x * (0.5f - x * (0.166666667f - x * (0.0416666667f - x * (0.00833333333f - x * (0.00138888889f - x * 0.000198412698f)))));
}

// Arc tangent of `x` in radians, which may be infinite, to 1e-7 (Abramowitz and Stegun 1964, 4.4.49). Computed with single operations like the sine
// above.
THRONG_INLINE float arc_tangent(float x) {
    const float size = fabsf(x), s = size > 1.0f ? 1.0f / size : size, s2 = s * s;
    float angle = 0.0218612288f - s2 * 0.0040540580f;
    angle = s * (0.9999993329f + s2 * (-0.3332985605f + s2 * (0.1994653599f + s2 * (-0.1390853351f + s2 * (0.0964200441f + s2 * (-0.0559098861f + s2 * angle))))));
    if (size > 1.0f) angle = 1.57079633f - angle;
    return x < 0.0f ? -angle : angle;
}

// Angle in radians from the x axis to a point of the plane, from -pi to pi; 0 for the origin.
THRONG_INLINE float angle_of(float x, float y) {
    if (x == 0.0f && y == 0.0f) return 0.0f;
    // The sign of zero is removed, because the quotient would inherit it.
    const float angle = arc_tangent(y / (x == 0.0f ? 0.0f : x));
    if (!(x < 0.0f)) return angle;
    return y < 0.0f ? angle - 3.14159265f : angle + 3.14159265f;
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

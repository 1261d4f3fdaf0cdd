// Elementary functions. The C library's functions differ in their last bits between systems, and from CUDA's. These have the same bits everywhere:
// they consist of single operations, which IEEE 754 rounds correctly and which the build does not let compilers fuse.
//
// Polynomials of the logarithms, the exponential function and the arc tangent are minimax fits by Remez's algorithm. Their relative errors are 8e-10,
// 3e-9 and 1.7e-8; rounding adds the rest. Errors are in units in the last place (ulp); crates/device/src/maths_tests.rs checks them.
#pragma once
#include "util/vec.h"

namespace THRONG_NAMESPACE {

constexpr float kHalfPi = 1.57079633f, kLog2E = 1.44269504f, kLn2 = 0.693147181f;

// The whole number nearest to `x`, for |x| < 2^22: the sum has no bits after the point. `floorf` is slow on CPUs without SSE4.1.
THRONG_INLINE float nearest_whole(float x) { return (x + 12582912.0f) - 12582912.0f; }

// Sine and cosine of `turn` in [0, 1] turns, to 2 ulp on the first eighth of a turn, and 1.2e-7 elsewhere (polynomials fitted on an eighth of a turn).
THRONG_INLINE void sine_cosine(float turn, float& sine, float& cosine) {
    // Quarter turns to the nearest axis, and the remainder in [-1/2, 1/2] quarters.
    float quarters = 4.0f * turn, axis = nearest_whole(quarters), x = quarters - axis, x2 = x * x;
    float s = x * (1.57079633f + x2 * (-0.645964096f + x2 * (0.0796925827f + x2 * (-0.00468126625f + x2 * 0.000158206293f))));
    float c = 1.0f + x2 * (-1.23370055f + x2 * (0.253669507f + x2 * (-0.020863468f + x2 * (0.000919161809f + x2 * -0.0000248510966f))));
    uint32_t quadrant = uint32_t(axis);
    sine = quadrant & 1u ? c : s;
    cosine = quadrant & 1u ? s : c;
    if (quadrant & 2u) sine = -sine;
    if ((quadrant + 1u) & 2u) cosine = -cosine;
}

// A normal positive number as a power of two times a fraction in [sqrt(1/2), sqrt(2)].
struct Scaled {
    float fraction;
    int exponent;
};
THRONG_INLINE Scaled scaled(float x) {
    const uint32_t bits = float_bits(x) - 0x3f3504f3u;
    return Scaled{bits_float((bits & 0x007fffffu) + 0x3f3504f3u), int(bits) >> 23};
}

// (log((1 + s) / (1 - s)) - 2s) / s for |s| <= 0.172. `s2` is the square of s.
THRONG_INLINE float log_excess(float s2) { return s2 * (0.666667759f + s2 * (0.399775267f + s2 * 0.298722833f)); }

// log(1 + x) for x in [sqrt(1/2) - 1, sqrt(2) - 1]. With s = x / (2 + x), it is 2s = x - s x plus the excess.
THRONG_INLINE float log_near_one(float x) {
    const float s = x / (2.0f + x);
    return x - s * (x - log_excess(s * s));
}

// Natural logarithm of a normal positive number, to 1 ulp.
THRONG_INLINE float natural_log(float x) {
    const Scaled a = scaled(x);
    const float exponent = float(a.exponent);
    // The first part of log(2) has few bits, so its product is exact.
    return exponent * 0.693359375f + (log_near_one(a.fraction - 1.0f) - exponent * 0.000212194440f);
}

// Logarithm to base 2 of a normal positive number, to 2 ulp; exact for powers of two.
THRONG_INLINE float binary_log(float x) {
    const Scaled a = scaled(x);
    return float(a.exponent) + log_near_one(a.fraction - 1.0f) * kLog2E;
}

// log(1 + x) / x for x > -1, to 3e-7; 1 for 0.
THRONG_INLINE float log_ratio(float x) {
    if (fabsf(x) > 0.29f) return natural_log(1.0f + x) / x;
    const float s = x / (2.0f + x);
    return (2.0f + log_excess(s * s)) / (2.0f + x);
}

// exp(x) times 2^`twos` for |x| <= log(2) / 2 and a normal result.
THRONG_INLINE float scaled_exponential(float x, float twos) {
    // In an order with few steps that wait for others.
    const float x2 = x * x, rest = (0.49999994f + x * 0.166665211f) + x2 * ((0.041668389f + x * 0.00836874451f) + x2 * 0.00138145534f);
    return (1.0f + (x + x2 * rest)) * bits_float(uint32_t(int(twos) + 127) << 23);
}

// Exponential function of a number up to 88, to 1 ulp; 0 below -87, and for NaN.
THRONG_INLINE float decay(float x) {
    if (!(x > -87.0f)) return 0.0f;
    // log(2) in two parts, as in `natural_log`.
    const float twos = nearest_whole(x * kLog2E);
    return scaled_exponential(x - twos * 0.693359375f + twos * 0.000212194440f, twos);
}

// Exponential function, as `decay`; infinite above 88.
THRONG_INLINE float exponential(float x) { return x > 88.0f ? kInfinity : decay(x); }

// (1 - exp(-x)) / x for x >= 0, to 3e-7; 1 for 0. Near 0 it is the power series.
THRONG_INLINE float decay_ratio(float x) {
    if (x > 0.5f) return (1.0f - decay(-x)) / x;
    return 1.0f - x * (0.5f - x * (0.166666667f - x * (0.0416666667f - x * (0.00833333333f - x * (0.00138888889f - x * 0.000198412698f)))));
}

// `x` to the power of `y`, for x >= 0 and y > 0, to 1.5 ulp for y up to 33, and 4 ulp for y up to 100. Numbers below the normal ones and NaN count as
// zero. Results below 2^-125.5 are 0, and those above 2^127.5 infinite.
//
// The logarithm has twice the precision of floats, because the product with `y` multiplies its error.
THRONG_DEVICE float power(float x, float y) {
    if (!(x >= 1.17549435e-38f && x < kInfinity)) return x > 1.0f ? x : 0.0f;
    const Scaled a = scaled(x);
    // s = (fraction - 1) / (fraction + 1); the denominator and the quotient have remainders.
    const float numerator = a.fraction - 1.0f, denominator = a.fraction + 1.0f, inverse = 1.0f / denominator;
    const float s = numerator * inverse, left = fused_multiply_add(-s, denominator, numerator) - s * (a.fraction - (denominator - 1.0f));
    // log2(fraction) = log2((1 + s) / (1 - s)), of which 2 / log(2) s is all but a hundredth.
    const float scale = 2.88539004f, scale_left = 3.85192607e-8f, most = s * scale;
    const float rest = fused_multiply_add(s, scale, -most) + s * scale_left + (left * inverse * scale + s * log_excess(s * s) * kLog2E);
    const float exponent = float(a.exponent), high = exponent + most, low = (exponent - high) + most + rest;
    const float product = y * high, product_left = fused_multiply_add(y, high, -product) + y * low, twos = nearest_whole(product + product_left);
    if (!(twos > -126.0f)) return 0.0f;
    if (twos > 127.0f) return kInfinity;
    return scaled_exponential(((product - twos) + product_left) * kLn2, twos);
}

// Arc tangent of `x` in [0, 1], in radians, to 2 ulp.
THRONG_INLINE float arc_tangent_of_unit(float x) {
    const float x2 = x * x;
    float sum = -0.0755219832f + x2 * (0.0432117023f + x2 * (-0.0163678471f + x2 * 0.00292067602f));
    sum = -0.333331525f + x2 * (0.199937731f + x2 * (-0.142110527f + x2 * (0.106659956f + x2 * sum)));
    return x + x * x2 * sum;
}

// Arc tangent of `x`, which may be infinite, in radians, to 2 ulp.
THRONG_INLINE float arc_tangent(float x) {
    const float size = fabsf(x), angle = size > 1.0f ? kHalfPi - arc_tangent_of_unit(1.0f / size) : arc_tangent_of_unit(size);
    return x < 0.0f ? -angle : angle;
}

// Angle in radians from the x axis to a point of the plane, from -pi to pi, to 2 ulp; 0 for the origin. Coordinates are finite; signs of zeros are
// ignored.
THRONG_INLINE float angle_of(float x, float y) {
    const float across = fabsf(x), up = fabsf(y), most = max(across, up);
    if (!(most > 0.0f)) return 0.0f;
    float angle = arc_tangent_of_unit(min(across, up) / most);
    if (up > across) angle = kHalfPi - angle;
    if (x < 0.0f) angle = kPi - angle;
    return y < 0.0f ? -angle : angle;
}

}

// Short float vectors of 4, 8 or 16 lanes, with the operations that the node and triangle tests need. Masks are plain integers, one bit per lane.
#pragma once
#include "util/compat.h"
#if defined(THRONG_AVX2) || defined(THRONG_SSE2)
#include <immintrin.h>
#elif defined(THRONG_NEON)
#include <arm_neon.h>
#endif

namespace THRONG_NAMESPACE {

template <int Lanes> struct Floats;

#if defined(THRONG_SSE2) || defined(THRONG_AVX2)
template <> struct Floats<4> {
    __m128 v;
    static THRONG_INLINE Floats load(const float* p) { return {_mm_load_ps(p)}; }
    static THRONG_INLINE Floats all(float x) { return {_mm_set1_ps(x)}; }
    THRONG_INLINE void store(float* p) const { _mm_storeu_ps(p, v); }
};
THRONG_INLINE Floats<4> operator+(Floats<4> a, Floats<4> b) { return {_mm_add_ps(a.v, b.v)}; }
THRONG_INLINE Floats<4> operator-(Floats<4> a, Floats<4> b) { return {_mm_sub_ps(a.v, b.v)}; }
THRONG_INLINE Floats<4> operator*(Floats<4> a, Floats<4> b) { return {_mm_mul_ps(a.v, b.v)}; }
THRONG_INLINE Floats<4> operator/(Floats<4> a, Floats<4> b) { return {_mm_div_ps(a.v, b.v)}; }
THRONG_INLINE Floats<4> minimum(Floats<4> a, Floats<4> b) { return {_mm_min_ps(a.v, b.v)}; }
THRONG_INLINE Floats<4> maximum(Floats<4> a, Floats<4> b) { return {_mm_max_ps(a.v, b.v)}; }
THRONG_INLINE uint32_t less_equal(Floats<4> a, Floats<4> b) { return uint32_t(_mm_movemask_ps(_mm_cmple_ps(a.v, b.v))); }
THRONG_INLINE uint32_t equal(Floats<4> a, Floats<4> b) { return uint32_t(_mm_movemask_ps(_mm_cmpeq_ps(a.v, b.v))); }
THRONG_INLINE Floats<4> multiply_add(Floats<4> a, Floats<4> b, Floats<4> c) {
#if defined(THRONG_AVX2)
    return {_mm_fmadd_ps(a.v, b.v, c.v)};
#else
    return {_mm_add_ps(_mm_mul_ps(a.v, b.v), c.v)};
#endif
}
#elif defined(THRONG_NEON)
template <> struct Floats<4> {
    float32x4_t v;
    static THRONG_INLINE Floats load(const float* p) { return {vld1q_f32(p)}; }
    static THRONG_INLINE Floats all(float x) { return {vdupq_n_f32(x)}; }
    THRONG_INLINE void store(float* p) const { vst1q_f32(p, v); }
    static THRONG_INLINE uint32_t bits(uint32x4_t lanes) {
        const uint32x4_t each = {1, 2, 4, 8};
        return vaddvq_u32(vandq_u32(lanes, each));
    }
};
THRONG_INLINE Floats<4> operator+(Floats<4> a, Floats<4> b) { return {vaddq_f32(a.v, b.v)}; }
THRONG_INLINE Floats<4> operator-(Floats<4> a, Floats<4> b) { return {vsubq_f32(a.v, b.v)}; }
THRONG_INLINE Floats<4> operator*(Floats<4> a, Floats<4> b) { return {vmulq_f32(a.v, b.v)}; }
THRONG_INLINE Floats<4> operator/(Floats<4> a, Floats<4> b) { return {vdivq_f32(a.v, b.v)}; }
// Returns b if the operands are unordered, as on x86; FMIN and FMAX would return NaN.
THRONG_INLINE Floats<4> minimum(Floats<4> a, Floats<4> b) { return {vbslq_f32(vcltq_f32(a.v, b.v), a.v, b.v)}; }
THRONG_INLINE Floats<4> maximum(Floats<4> a, Floats<4> b) { return {vbslq_f32(vcgtq_f32(a.v, b.v), a.v, b.v)}; }
THRONG_INLINE uint32_t less_equal(Floats<4> a, Floats<4> b) { return Floats<4>::bits(vcleq_f32(a.v, b.v)); }
THRONG_INLINE uint32_t equal(Floats<4> a, Floats<4> b) { return Floats<4>::bits(vceqq_f32(a.v, b.v)); }
THRONG_INLINE Floats<4> multiply_add(Floats<4> a, Floats<4> b, Floats<4> c) { return {vfmaq_f32(c.v, a.v, b.v)}; }
#else
// Any other processor: GCC and Clang compile these vector types to its own instructions.
template <> struct Floats<4> {
    typedef float Vector __attribute__((vector_size(16)));
    typedef int32_t Mask __attribute__((vector_size(16)));
    Vector v;
    static THRONG_INLINE Floats load(const float* p) { return {*(const Vector*)p}; }
    static THRONG_INLINE Floats all(float x) { return {Vector{x, x, x, x}}; }
    THRONG_INLINE void store(float* p) const { for (int i = 0; i < 4; i++) p[i] = v[i]; }
    static THRONG_INLINE uint32_t bits(Mask m) { return (m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8); }
};
THRONG_INLINE Floats<4> operator+(Floats<4> a, Floats<4> b) { return {a.v + b.v}; }
THRONG_INLINE Floats<4> operator-(Floats<4> a, Floats<4> b) { return {a.v - b.v}; }
THRONG_INLINE Floats<4> operator*(Floats<4> a, Floats<4> b) { return {a.v * b.v}; }
THRONG_INLINE Floats<4> operator/(Floats<4> a, Floats<4> b) { return {a.v / b.v}; }
THRONG_INLINE Floats<4> minimum(Floats<4> a, Floats<4> b) { return {a.v < b.v ? a.v : b.v}; }
THRONG_INLINE Floats<4> maximum(Floats<4> a, Floats<4> b) { return {a.v > b.v ? a.v : b.v}; }
THRONG_INLINE uint32_t less_equal(Floats<4> a, Floats<4> b) { return Floats<4>::bits(a.v <= b.v); }
THRONG_INLINE uint32_t equal(Floats<4> a, Floats<4> b) { return Floats<4>::bits(a.v == b.v); }
THRONG_INLINE Floats<4> multiply_add(Floats<4> a, Floats<4> b, Floats<4> c) { return {a.v * b.v + c.v}; }
#endif

#if defined(THRONG_AVX2)
template <> struct Floats<8> {
    __m256 v;
    static THRONG_INLINE Floats load(const float* p) { return {_mm256_load_ps(p)}; }
    static THRONG_INLINE Floats all(float x) { return {_mm256_set1_ps(x)}; }
    THRONG_INLINE void store(float* p) const { _mm256_storeu_ps(p, v); }
    THRONG_INLINE Floats<4> low() const { return {_mm256_castps256_ps128(v)}; }
    THRONG_INLINE Floats<4> high() const { return {_mm256_extractf128_ps(v, 1)}; }
};
THRONG_INLINE Floats<8> operator+(Floats<8> a, Floats<8> b) { return {_mm256_add_ps(a.v, b.v)}; }
THRONG_INLINE Floats<8> operator-(Floats<8> a, Floats<8> b) { return {_mm256_sub_ps(a.v, b.v)}; }
THRONG_INLINE Floats<8> operator*(Floats<8> a, Floats<8> b) { return {_mm256_mul_ps(a.v, b.v)}; }
THRONG_INLINE Floats<8> operator/(Floats<8> a, Floats<8> b) { return {_mm256_div_ps(a.v, b.v)}; }
THRONG_INLINE Floats<8> minimum(Floats<8> a, Floats<8> b) { return {_mm256_min_ps(a.v, b.v)}; }
THRONG_INLINE Floats<8> maximum(Floats<8> a, Floats<8> b) { return {_mm256_max_ps(a.v, b.v)}; }
THRONG_INLINE uint32_t less_equal(Floats<8> a, Floats<8> b) {
    return uint32_t(_mm256_movemask_ps(_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ)));
}
THRONG_INLINE uint32_t equal(Floats<8> a, Floats<8> b) {
    return uint32_t(_mm256_movemask_ps(_mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ)));
}
THRONG_INLINE Floats<8> multiply_add(Floats<8> a, Floats<8> b, Floats<8> c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
#endif

#if defined(THRONG_AVX512)
template <> struct Floats<16> {
    __m512 v;
    static THRONG_INLINE Floats load(const float* p) { return {_mm512_load_ps(p)}; }
    static THRONG_INLINE Floats all(float x) { return {_mm512_set1_ps(x)}; }
    THRONG_INLINE void store(float* p) const { _mm512_storeu_ps(p, v); }
    THRONG_INLINE Floats<8> low() const { return {_mm512_castps512_ps256(v)}; }
    THRONG_INLINE Floats<8> high() const { return {_mm512_extractf32x8_ps(v, 1)}; }
};
// Indices of lanes. (The full masks are for GCC, which otherwise reports an operand as an uninitialised variable.)
struct Lanes16 {
    __m512i v;
    static THRONG_INLINE Lanes16 load(const uint8_t* p) { return {_mm512_maskz_cvtepu8_epi32(0xffff, _mm_load_si128(reinterpret_cast<const __m128i*>(p)))}; }
};
THRONG_INLINE Floats<16> lanes_of(Floats<16> a, Lanes16 which) { return {_mm512_maskz_permutexvar_ps(0xffff, which.v, a.v)}; }
THRONG_INLINE Floats<16> operator+(Floats<16> a, Floats<16> b) { return {_mm512_add_ps(a.v, b.v)}; }
THRONG_INLINE Floats<16> operator-(Floats<16> a, Floats<16> b) { return {_mm512_sub_ps(a.v, b.v)}; }
THRONG_INLINE Floats<16> operator*(Floats<16> a, Floats<16> b) { return {_mm512_mul_ps(a.v, b.v)}; }
THRONG_INLINE Floats<16> operator/(Floats<16> a, Floats<16> b) { return {_mm512_div_ps(a.v, b.v)}; }
THRONG_INLINE Floats<16> minimum(Floats<16> a, Floats<16> b) { return {_mm512_min_ps(a.v, b.v)}; }
THRONG_INLINE Floats<16> maximum(Floats<16> a, Floats<16> b) { return {_mm512_max_ps(a.v, b.v)}; }
THRONG_INLINE uint32_t less_equal(Floats<16> a, Floats<16> b) {
    return uint32_t(_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ));
}
THRONG_INLINE uint32_t equal(Floats<16> a, Floats<16> b) { return uint32_t(_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)); }
THRONG_INLINE Floats<16> multiply_add(Floats<16> a, Floats<16> b, Floats<16> c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
#endif

// Lane masks: any of three numbers is zero; all three are >= 0 or all are <= 0; and the latter for the case that none of them is zero.
template <int Lanes> THRONG_INLINE uint32_t any_zero(Floats<Lanes> a, Floats<Lanes> b, Floats<Lanes> c) {
    const Floats<Lanes> zero = Floats<Lanes>::all(0.0f);
    return equal(a, zero) | equal(b, zero) | equal(c, zero);
}
template <int Lanes> THRONG_INLINE uint32_t same_signs(Floats<Lanes> a, Floats<Lanes> b, Floats<Lanes> c) {
    const Floats<Lanes> zero = Floats<Lanes>::all(0.0f);
    return less_equal(zero, minimum(a, minimum(b, c))) | less_equal(maximum(a, maximum(b, c)), zero);
}
template <int Lanes> THRONG_INLINE uint32_t same_sign_bits(Floats<Lanes> a, Floats<Lanes> b, Floats<Lanes> c) { return same_signs(a, b, c); }
#if defined(THRONG_AVX512)
template <> THRONG_INLINE uint32_t any_zero<16>(Floats<16> a, Floats<16> b, Floats<16> c) {
    constexpr int kLeastMagnitude = 2;
    const __m512 least = _mm512_range_ps(_mm512_range_ps(a.v, b.v, kLeastMagnitude), c.v, kLeastMagnitude);
    return equal(Floats<16>{least}, Floats<16>::all(0.0f));
}
template <> THRONG_INLINE uint32_t same_sign_bits<16>(Floats<16> a, Floats<16> b, Floats<16> c) {
    constexpr int kAllOrNone = 0x81;
    const __m512i same = _mm512_ternarylogic_epi32(_mm512_castps_si512(a.v), _mm512_castps_si512(b.v), _mm512_castps_si512(c.v), kAllOrNone);
    return uint32_t(_mm512_movepi32_mask(same));
}
#endif

// Writes the numbers at the lanes in `mask` contiguously; the rest of the `Lanes` places may be overwritten.
template <int Lanes>
THRONG_INLINE void store_chosen(uint32_t* to, const uint32_t* from, uint32_t mask) {
    for (; mask; mask &= mask - 1) *to++ = from[lowest_bit(mask)];
}
#if defined(THRONG_AVX2)
// Indices of the set lanes in each mask of eight lanes, one byte each.
struct ChosenLanes {
    uint64_t of[256];
    constexpr ChosenLanes() : of() {
        for (uint32_t mask = 0; mask < 256; mask++)
            for (uint32_t lane = 0, count = 0; lane < 8; lane++)
                if (mask >> lane & 1u) of[mask] |= uint64_t(lane) << 8 * count++;
    }
};
constexpr ChosenLanes kChosenLanes;

template <>
THRONG_INLINE void store_chosen<8>(uint32_t* to, const uint32_t* from, uint32_t mask) {
    const __m256i lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(int64_t(kChosenLanes.of[mask])));
    const __m256i numbers = _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(numbers, lanes));
}
#endif
#if defined(THRONG_AVX512)
template <>
THRONG_INLINE void store_chosen<16>(uint32_t* to, const uint32_t* from, uint32_t mask) {
    // Compressed to a register and then stored, because compressing directly to memory is microcoded on some processors.
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(__mmask16(mask), _mm512_load_si512(from)));
}
#endif

// The minimum and the maximum of all lanes.
THRONG_INLINE float least_of(Floats<4> x) {
    float lanes[4];
    x.store(lanes);
    return min(min(lanes[0], lanes[1]), min(lanes[2], lanes[3]));
}
THRONG_INLINE float greatest_of(Floats<4> x) {
    float lanes[4];
    x.store(lanes);
    return max(max(lanes[0], lanes[1]), max(lanes[2], lanes[3]));
}
template <int Lanes> THRONG_INLINE float least_of(Floats<Lanes> x) { return least_of(minimum(x.low(), x.high())); }
template <int Lanes> THRONG_INLINE float greatest_of(Floats<Lanes> x) { return greatest_of(maximum(x.low(), x.high())); }

}

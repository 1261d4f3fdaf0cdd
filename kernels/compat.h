// The only file that asks which compiler is running, and for which instruction set.
//
// Every kernel header puts its code into THRONG_NAMESPACE, a different one per compiled variant: otherwise the linker
// would merge inline functions of the AVX-512 variant into the baseline.
#pragma once
#include <math.h>
#include <stdint.h>

#if !defined(THRONG_VARIANT) || !defined(THRONG_WIDTH)
#error "build.rs defines THRONG_VARIANT and THRONG_WIDTH"
#endif

#define THRONG_JOIN2(a, b) a##b
#define THRONG_JOIN(a, b) THRONG_JOIN2(a, b)
#define THRONG_NAMESPACE THRONG_JOIN(throng_, THRONG_VARIANT)

#define THRONG_DEVICE inline
#define THRONG_INLINE inline __attribute__((always_inline))

#if defined(__AVX512F__) && defined(__AVX512VL__)
#define THRONG_AVX512 1
#define THRONG_AVX2 1
#elif defined(__AVX2__) && defined(__FMA__)
#define THRONG_AVX2 1
#elif defined(__SSE2__)
#define THRONG_SSE2 1
#endif

namespace THRONG_NAMESPACE {

THRONG_INLINE uint32_t lowest_bit(uint32_t mask) { return uint32_t(__builtin_ctz(mask)); }

THRONG_INLINE void prefetch(const void* address) { __builtin_prefetch(address); }

}

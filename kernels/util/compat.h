// The only file that depends on the compiler and on its instruction set.
//
// Every kernel header puts its code into THRONG_NAMESPACE, which differs for each compiled variant. Otherwise the linker would merge inline functions
// of the AVX-512 variant into the baseline.
#pragma once
#include <stdint.h>

#if !defined(THRONG_VARIANT) || !defined(THRONG_WIDTH)
#error "build.rs defines THRONG_VARIANT and THRONG_WIDTH"
#endif

#define THRONG_JOIN2(a, b) a##b
#define THRONG_JOIN(a, b) THRONG_JOIN2(a, b)
#define THRONG_NAMESPACE THRONG_JOIN(throng_, THRONG_VARIANT)

#if defined(__CUDACC__)
#define THRONG_CUDA 1
// Whether paths are traced to their ends one by one. Otherwise they are traced as a wavefront here and in packets on CPUs.
#define THRONG_LOOPS 0
#define THRONG_COMPRESSED 1
// Pictures with motion blur have separate kernels, compiled from the same code, so that kernels without motion need no additional registers.
#if !defined(THRONG_MOTION)
#define THRONG_MOTION 0
#endif
// Scenes with assemblies have separate kernels as well, with or without motion.
#if !defined(THRONG_NESTED)
#define THRONG_NESTED 0
#endif
#if THRONG_NESTED
#define THRONG_MOVES(params) ((params).frame.moves != 0)
#else
#define THRONG_MOVES(params) (THRONG_MOTION != 0)
#endif
#define THRONG_IS_NESTED(params) (THRONG_NESTED != 0)
// Maximum number of blocks per multiprocessor (CUDA C++ Programming Guide, compute capabilities).
#if __CUDA_ARCH__ == 750 || __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870
#define THRONG_MAX_BLOCKS 16
#else
#define THRONG_MAX_BLOCKS 24 // or more
#endif
#define THRONG_DEVICE __device__ inline
#define THRONG_INLINE __device__ __forceinline__
// For long functions with several callers, because instruction caches are small and compilers slow.
#define THRONG_OUTLINE __device__ __noinline__ inline
// A stack of the thread's own, or in memory that a CPU thread provides.
#define THRONG_STACK(type, name, size, memory) type name[size]; (void)memory
// For use before a loop with a long body.
#define THRONG_NO_UNROLL _Pragma("unroll 1")
// A constant array that lanes read at different indices.
#define THRONG_TABLE __device__ const
#else
#ifdef THRONG_COMPRESSED
#define THRONG_LOOPS 1
#else
#define THRONG_LOOPS 0
#endif
#define THRONG_MOTION 1
#define THRONG_MOVES(params) ((params).frame.moves != 0)
#define THRONG_NESTED 1
#define THRONG_IS_NESTED(params) ((params).trees.levels != nullptr)
#define THRONG_DEVICE inline
#define THRONG_INLINE inline __attribute__((always_inline))
// For lambdas, after their parameters.
#define THRONG_INLINED __attribute__((always_inline))
#define THRONG_OUTLINE inline __attribute__((noinline))
#define THRONG_NO_UNROLL
#define THRONG_TABLE static const
#define THRONG_STACK(type, name, size, memory) type* name = reinterpret_cast<type*>(memory)
#endif

#if defined(__AVX512F__) && defined(__AVX512VL__)
#define THRONG_AVX512 1
#define THRONG_AVX2 1
#elif defined(__AVX2__) && defined(__FMA__)
#define THRONG_AVX2 1
#elif defined(__SSE2__)
#define THRONG_SSE2 1
#elif defined(__aarch64__) && defined(__ARM_NEON)
#define THRONG_NEON 1
#endif

namespace THRONG_NAMESPACE {

struct alignas(16) Words4 {
    uint32_t x, y, z, w;
};

#if defined(THRONG_CUDA)

THRONG_INLINE uint32_t lowest_bit(uint32_t mask) { return uint32_t(__ffs(int(mask)) - 1); }
THRONG_INLINE uint32_t highest_bit(uint32_t mask) { return 31u - uint32_t(__clz(int(mask))); }
THRONG_INLINE uint32_t count_bits(uint32_t mask) { return uint32_t(__popc(mask)); }
THRONG_INLINE uint32_t reverse_bits(uint32_t x) { return __brev(x); }
THRONG_INLINE uint32_t float_bits(float x) { return __float_as_uint(x); }
THRONG_INLINE float bits_float(uint32_t x) { return __uint_as_float(x); }
// One step of Newton's iteration turns an approximate reciprocal `y` of `x` into the correctly rounded one, except near the ends of the range of
// floats.
THRONG_INLINE float refined_reciprocal(float x, float y) { return __fmaf_rn(y, __fmaf_rn(-x, y, 1.0f), y); }
// Reciprocal to within one unit in the last place; infinity for zero.
THRONG_INLINE float rough_reciprocal(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
THRONG_INLINE float min(float a, float b) { return fminf(a, b); }
THRONG_INLINE float max(float a, float b) { return fmaxf(a, b); }
THRONG_INLINE float smaller(float a, float b) { return fminf(a, b); }
THRONG_INLINE uint64_t double_bits(double value) { return uint64_t(__double_as_longlong(value)); }
THRONG_INLINE double bits_double(uint64_t bits) { return __longlong_as_double(int64_t(bits)); }
THRONG_INLINE float fused_multiply_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }

// Loads 16 aligned bytes of any memory.
THRONG_INLINE Words4 load_any_words(const void* address) {
    uint4 v = *static_cast<const uint4*>(address);
    return Words4{v.x, v.y, v.z, v.w};
}

#define THRONG_VECTOR_LOOP _Pragma("unroll")
#define THRONG_UNROLL _Pragma("unroll")

// Four floats; operations are element-wise.
struct Floats4 {
    float v[4];
    THRONG_INLINE float& operator[](int i) { return v[i]; }
    THRONG_INLINE float operator[](int i) const { return v[i]; }
};
THRONG_INLINE Floats4 operator+(Floats4 a, Floats4 b) { return {{a.v[0] + b.v[0], a.v[1] + b.v[1], a.v[2] + b.v[2], a.v[3] + b.v[3]}}; }
THRONG_INLINE Floats4 operator-(Floats4 a, Floats4 b) { return {{a.v[0] - b.v[0], a.v[1] - b.v[1], a.v[2] - b.v[2], a.v[3] - b.v[3]}}; }
THRONG_INLINE Floats4 operator*(Floats4 a, Floats4 b) { return {{a.v[0] * b.v[0], a.v[1] * b.v[1], a.v[2] * b.v[2], a.v[3] * b.v[3]}}; }
THRONG_INLINE Floats4 operator*(float s, Floats4 a) { return {{s * a.v[0], s * a.v[1], s * a.v[2], s * a.v[3]}}; }
THRONG_INLINE Floats4& operator+=(Floats4& a, Floats4 b) { return a = a + b; }
// The address must be a multiple of 16 bytes.
THRONG_INLINE Floats4 load4(const float* from) {
    const float4 v = *reinterpret_cast<const float4*>(from);
    return {{v.x, v.y, v.z, v.w}};
}
THRONG_INLINE void store4(float* to, Floats4 v) { *reinterpret_cast<float4*>(to) = make_float4(v.v[0], v.v[1], v.v[2], v.v[3]); }

// Address of shared memory for `load_shared_byte`, kept in a register. Otherwise the compiler would recompute it at every use.
THRONG_INLINE uint32_t shared_address(const void* pointer) {
    uint32_t address = uint32_t(__cvta_generic_to_shared(pointer));
    asm volatile("" : "+r"(address));
    return address;
}
THRONG_INLINE uint32_t load_shared_byte(uint32_t address) {
    uint32_t byte;
    asm("ld.shared.u8 %0, [%1];" : "=r"(byte) : "r"(address));
    return byte;
}

// Number of the lanes in lockstep for which `x` is true.
THRONG_INLINE uint32_t lanes_where(bool x) { return count_bits(__ballot_sync(__activemask(), x)); }

// Sum over a whole warp; all of its lanes must call this.
THRONG_INLINE uint32_t warp_sum(uint32_t x) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, x);
#else
    for (int step = 16; step; step /= 2) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
#endif
}

// Loads 16 aligned bytes of GPU memory that is not written while the kernel runs.
THRONG_INLINE Words4 load_words(const void* address) {
    uint4 v = __ldg(static_cast<const uint4*>(address));
    return Words4{v.x, v.y, v.z, v.w};
}

// Loads 4 aligned bytes of GPU memory that is not written while the kernel runs.
THRONG_INLINE uint32_t load_word(const void* address) { return __ldg(static_cast<const uint32_t*>(address)); }

// Byte `index` of `word`.
template <int index> THRONG_INLINE uint32_t byte_of(uint32_t word) { return __byte_perm(word, 0, 0x4440 + index); }

// 128 in one of the bytes. In constant memory, because the compiler would otherwise load the numbers again for every node.
__constant__ uint32_t kByteSelectors[4] = {128u, 128u << 8, 128u << 16, 128u << 24};

// The float 65536 + byte `index` of `word`: the byte is inserted directly into the mantissa. This uses the dot-product unit, because the unit for
// integers and logic is the busiest one in traversal.
template <int index> THRONG_INLINE float biased_byte(uint32_t word) {
    return __uint_as_float(__dp4a(word, kByteSelectors[index], 0x47800000u));
}

// The maximum of these and 0. Non-negative floats are ordered like integers, and negative ones are below them.
THRONG_INLINE float max_or_zero(float a, float b, float c) {
    return __int_as_float(__vimax3_s32_relu(__float_as_int(a), __float_as_int(b), __float_as_int(c)));
}
// The minimum of these; if some are negative, one of the negative ones.
THRONG_INLINE float min_or_negative(float a, float b, float c, float d) {
    int m = __vimin3_s32(__float_as_int(a), __float_as_int(b), __float_as_int(c));
    return __int_as_float(::min(m, __float_as_int(d)));
}

// Shifts `bits` left and inserts the sign of `x` as the lowest bit.
THRONG_INLINE uint32_t push_sign(uint32_t bits, float x) { return __funnelshift_l(__float_as_uint(x), bits, 1); }

// Bits of the nearest half float; ties round to even.
THRONG_INLINE uint32_t half_bits(float x) {
    uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
}

// The threads of a block that cooperate on a task, and their operations on shared memory.
struct Team {
    uint32_t index = threadIdx.x, size = blockDim.x;
    THRONG_INLINE void wait() const { __syncthreads(); }
};
THRONG_INLINE void add_shared(uint32_t& sum, uint32_t x) { atomicAdd(&sum, x); }
THRONG_INLINE void or_shared(uint32_t& word, uint32_t bits) { atomicOr(&word, bits); }

#else

// Functions that IEEE 754 rounds exactly and compilers expand. The C library's header is not included, so that a call of its other functions, whose
// last bits differ between systems, is an error.
THRONG_INLINE float sqrtf(float x) { return __builtin_sqrtf(x); }
THRONG_INLINE float fabsf(float x) { return __builtin_fabsf(x); }
THRONG_INLINE float floorf(float x) { return __builtin_floorf(x); }
THRONG_INLINE float copysignf(float size, float sign) { return __builtin_copysignf(size, sign); }
THRONG_INLINE float fminf(float a, float b) { return __builtin_fminf(a, b); }
THRONG_INLINE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }

THRONG_INLINE uint32_t lowest_bit(uint32_t mask) { return uint32_t(__builtin_ctz(mask)); }
THRONG_INLINE uint32_t highest_bit(uint32_t mask) { return 31u - uint32_t(__builtin_clz(mask)); }
THRONG_INLINE uint32_t count_bits(uint32_t mask) { return uint32_t(__builtin_popcount(mask)); }
THRONG_INLINE uint32_t reverse_bits(uint32_t x) {
    x = ((x & 0xaaaaaaaau) >> 1) | ((x & 0x55555555u) << 1);
    x = ((x & 0xccccccccu) >> 2) | ((x & 0x33333333u) << 2);
    x = ((x & 0xf0f0f0f0u) >> 4) | ((x & 0x0f0f0f0fu) << 4);
    return __builtin_bswap32(x);
}
THRONG_INLINE uint32_t float_bits(float x) {
    uint32_t bits;
    __builtin_memcpy(&bits, &x, 4);
    return bits;
}
THRONG_INLINE float bits_float(uint32_t bits) {
    float x;
    __builtin_memcpy(&x, &bits, 4);
    return x;
}
// For use before a short loop that should be vectorised instead of unrolled, and before one that must be unrolled for the loop around it to be
// vectorised.
#if defined(__clang__)
#define THRONG_VECTOR_LOOP _Pragma("clang loop unroll(disable)")
#define THRONG_UNROLL _Pragma("unroll")
#else
#define THRONG_VECTOR_LOOP _Pragma("GCC unroll 1")
#define THRONG_UNROLL _Pragma("GCC unroll 16")
#endif

// GCC and Clang compile an operation on all four elements to one instruction.
typedef float Floats4 __attribute__((vector_size(16)));
THRONG_INLINE Floats4 load4(const float* from) {
    Floats4 v;
    __builtin_memcpy(&v, from, 16);
    return v;
}
THRONG_INLINE void store4(float* to, Floats4 v) { __builtin_memcpy(to, &v, 16); }
THRONG_INLINE float refined_reciprocal(float, float y) { return y; }
THRONG_INLINE float rough_reciprocal(float x) { return 1.0f / x; }
THRONG_INLINE float min(float a, float b) { return a < b ? a : b; }
THRONG_INLINE float max(float a, float b) { return a > b ? a : b; }
// The minimum of two non-negative numbers, computed from their bits. Compilers turn a comparison into branches that prevent vectorisation.
THRONG_INLINE float smaller(float a, float b) {
    const uint32_t difference = float_bits(a) - float_bits(b);
    return bits_float(float_bits(b) + (difference & uint32_t(int(difference) >> 31)));
}
THRONG_INLINE uint64_t double_bits(double value) {
    uint64_t bits;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    return bits;
}
THRONG_INLINE double bits_double(uint64_t bits) {
    double value;
    __builtin_memcpy(&value, &bits, sizeof(value));
    return value;
}
#if defined(THRONG_AVX2) || defined(THRONG_NEON)
THRONG_INLINE float fused_multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
// Without an instruction, compilers would call the C library's function, and that of MinGW rounds twice. In double precision the product is exact.
// Its sum with `c` is rounded to odd, so that rounding it to a float gives the correct result (Boldo and Melquiond 2008, "Emulation of FMA and
// correctly rounded sums"). The sum's error is Knuth's.
THRONG_INLINE float fused_multiply_add(float a, float b, float c) {
    const double product = double(a) * double(b), sum = product + double(c), part = sum - product;
    const double error = (product - (sum - part)) + (double(c) - part);
    const uint64_t bits = double_bits(sum);
    const bool is_rounded = error > 0.0 || error < 0.0, is_below = (error > 0.0) == (sum > 0.0);
    return float(is_rounded && !(bits & 1u) ? bits_double(is_below ? bits + 1u : bits - 1u) : sum);
}
#endif
THRONG_INLINE Words4 load_words(const void* address) {
    Words4 v;
    __builtin_memcpy(&v, address, 16);
    return v;
}
THRONG_INLINE Words4 load_any_words(const void* address) { return load_words(address); }
THRONG_INLINE uint32_t load_word(const void* address) {
    uint32_t word;
    __builtin_memcpy(&word, address, 4);
    return word;
}
template <int index> THRONG_INLINE uint32_t byte_of(uint32_t word) { return word >> 8 * index & 255u; }
template <int index> THRONG_INLINE float biased_byte(uint32_t word) { return bits_float(0x47800000u | (word >> (8 * index) & 255u) << 7); }
THRONG_INLINE float max_or_zero(float a, float b, float c) { return fmaxf(fmaxf(a, b), fmaxf(c, 0.0f)); }
THRONG_INLINE float min_or_negative(float a, float b, float c, float d) { return fminf(fminf(a, b), fminf(c, d)); }
THRONG_INLINE uint32_t push_sign(uint32_t bits, float x) { return bits << 1 | float_bits(x) >> 31; }
THRONG_INLINE uint32_t lanes_where(bool x) { return x ? 32 : 0; }
THRONG_INLINE uint32_t half_bits(float x) {
    const uint32_t bits = float_bits(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude >= 0x47800000u) return sign | (magnitude > 0x7f800000u ? 0x7fffu : 0x7c00u);
    if (magnitude < 0x38800000u) {
        // Subnormal half floats are multiples of 2^-24, and so are floats just above 0.5.
        return sign | (float_bits(bits_float(magnitude) + 0.5f) - 0x3f000000u);
    }
    return sign | ((magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13);
}

// A team of one thread, which needs no synchronization.
struct Team {
    uint32_t index = 0, size = 1;
    THRONG_INLINE void wait() const {}
};
THRONG_INLINE void add_shared(uint32_t& sum, uint32_t x) { sum += x; }
THRONG_INLINE void or_shared(uint32_t& word, uint32_t bits) { word |= bits; }

#endif

// Copies a record, 16 bytes at a time by `load`.
template <class T, class Load> THRONG_INLINE T copy_record(const T* record, Load load) {
    static_assert(alignof(T) % 16 == 0, "aligned");
    Words4 words[sizeof(T) / 16];
    for (uint32_t i = 0; i < sizeof(T) / 16; i++) words[i] = load(reinterpret_cast<const Words4*>(record) + i);
    T copy;
    __builtin_memcpy(&copy, words, sizeof(T));
    return copy;
}

// Copies a record that is not written while the kernel runs, in 16-byte loads. Through a reference, each field would be a separate load, and on a GPU
// scattered loads cost as much as all arithmetic between them.
template <class T> THRONG_INLINE T load_record(const T* record) {
    return copy_record(record, [](const Words4* at) { return load_words(at); });
}
// Variant for memory that the kernel itself also writes.
template <class T> THRONG_INLINE T load_any_record(const T* record) {
    return copy_record(record, [](const Words4* at) { return load_any_words(at); });
}

THRONG_INLINE void prefetch(const void* address) {
#if !defined(THRONG_CUDA)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

}

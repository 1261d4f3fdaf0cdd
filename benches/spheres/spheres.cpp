// Nearest spheres along rays, by a list and by an octree, in single and in half precision. g++ compiles this file for the CPU, where a vector has
// sixteen spheres, and nvcc for the GPU, where a thread traces a ray and a vector has one sphere, or two in half precision.

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#ifdef __CUDACC__
#include <cuda_fp16.h>
#define DEVICE __device__ __forceinline__
#else
#define DEVICE static inline __attribute__((always_inline))
#endif

// Levels of an octree, and spheres per block of references; the same in octree.rs.
constexpr int kDepth = 10;
constexpr uint32_t kBlock = 16;
constexpr uint32_t kNone = ~0u;

#ifdef __CUDACC__
struct Single {
    using Real = float;
    using Lanes = float;
};
struct Half {
    using Real = __half;
    using Lanes = __half2;
};
DEVICE float splat(float value, float) { return value; }
DEVICE __half2 splat(__half value, __half2) { return __half2half2(value); }
DEVICE float lane(float lanes, int) { return lanes; }
DEVICE __half lane(__half2 lanes, int i) { return i ? __high2half(lanes) : __low2half(lanes); }
DEVICE uint32_t not_negative(float lanes) { return lanes >= 0.0f; }
DEVICE uint32_t not_negative(__half2 lanes) {
    const uint32_t mask = __hge2_mask(lanes, __half2half2(__half(0.0f)));
    return (mask & 1) | (mask >> 30 & 2);
}
DEVICE float root_of(float x) { return sqrtf(x); }
DEVICE __half root_of(__half x) { return hsqrt(x); }
DEVICE int lowest_bit(uint32_t bits) { return __ffs(bits) - 1; }
DEVICE int highest_bit(uint32_t bits) { return 31 - __clz(bits); }
#else
struct Single {
    using Real = float;
    typedef float Lanes __attribute__((vector_size(16 * sizeof(float))));
};
struct Half {
    using Real = _Float16;
    typedef _Float16 Lanes __attribute__((vector_size(16 * sizeof(_Float16))));
};
template <class Real, class Lanes>
DEVICE Lanes splat(Real value, Lanes) {
    return value - Lanes{};
}
template <class Lanes>
DEVICE auto lane(const Lanes& lanes, int i) {
    return lanes[i];
}
template <class Lanes>
DEVICE uint32_t not_negative(Lanes lanes) {
    uint32_t mask = 0;
    for (int i = 0; i < 16; ++i) mask |= uint32_t(lanes[i] >= 0) << i;
    return mask;
}
DEVICE float root_of(float x) { return __builtin_sqrtf(x); }
DEVICE _Float16 root_of(_Float16 x) { return _Float16(__builtin_sqrtf(float(x))); }
DEVICE int lowest_bit(uint32_t bits) { return __builtin_ctz(bits); }
DEVICE int highest_bit(uint32_t bits) { return 31 - __builtin_clz(bits); }
#endif

// As in crates/abi.
struct Ray {
    float origin[3], t_min, direction[3], t_max;
};

// As `Found` in structures.rs.
struct Hit {
    float t;
    uint32_t sphere;
};

// As in structures.rs; octree.rs explains the fields.
struct Input {
    const float (*spheres)[4];
    const uint32_t* references;
    const uint32_t (*nodes)[8];
    uint32_t sphere_count, reference_count, node_count, large, large_count;
    float low[3], size;
};

// Spheres side by side. Rays miss those whose inverse radius is infinite, because their discriminant is never 0 or more.
template <class N>
struct alignas(4 * sizeof(typename N::Lanes)) Pack {
    typename N::Lanes x, y, z, inverse_radius;
};

template <class N>
struct Scene {
    static constexpr uint32_t kLanes = sizeof(typename N::Lanes) / sizeof(typename N::Real);
    Input input;
    const Pack<N>* packs;
};

template <class N>
struct Line {
    typename N::Real origin[3], direction[3], square, inverse_square;
};

template <class N>
struct Found {
    typename N::Real t;
    uint32_t reference;
};

template <class N>
DEVICE Line<N> line_of(const Ray& ray) {
    using Real = typename N::Real;
    Line<N> line;
    line.square = Real(0.0f);
    for (int axis = 0; axis < 3; ++axis) {
        line.origin[axis] = Real(ray.origin[axis]);
        line.direction[axis] = Real(ray.direction[axis]);
        line.square = line.square + line.direction[axis] * line.direction[axis];
    }
    line.inverse_square = Real(1.0f) / line.square;
    return line;
}

// Tests a pack in the space in which its spheres have radius 1, as throng does (`sphere_distance` in kernels/bvh/intersect.h).
template <class N>
DEVICE void test_pack(const Pack<N>& pack, uint32_t reference, const Line<N>& line, Found<N>& found) {
    using Real = typename N::Real;
    using Lanes = typename N::Lanes;
    const Lanes zero{};
    const Lanes dx = splat(line.direction[0], zero), dy = splat(line.direction[1], zero), dz = splat(line.direction[2], zero);
    const Lanes x = (splat(line.origin[0], zero) - pack.x) * pack.inverse_radius;
    const Lanes y = (splat(line.origin[1], zero) - pack.y) * pack.inverse_radius;
    const Lanes z = (splat(line.origin[2], zero) - pack.z) * pack.inverse_radius;
    const Lanes b = -(x * dx + y * dy + z * dz), nearest = b * splat(line.inverse_square, zero);
    const Lanes nx = x + dx * nearest, ny = y + dy * nearest, nz = z + dz * nearest;
    const Lanes discriminant = splat(Real(1.0f), zero) - (nx * nx + ny * ny + nz * nz);
    for (uint32_t left = not_negative(discriminant); left; left &= left - 1) {
        const int i = lowest_bit(left);
        const Real ox = lane(x, i), oy = lane(y, i), oz = lane(z, i), half_sum = lane(b, i);
        const Real c = ox * ox + oy * oy + oz * oz - Real(1.0f);
        const Real root = root_of(line.square * lane(discriminant, i));
        const Real q = half_sum < Real(0.0f) ? half_sum - root : half_sum + root;
        const Real t0 = c / q, t1 = q * line.inverse_square;
        const Real first = t0 < t1 ? t0 : t1, second = t0 < t1 ? t1 : t0;
        const Real t = (first >= Real(0.0f) ? first : second) / lane(pack.inverse_radius, i);
        if (t >= Real(0.0f) && t < found.t) found = {t, reference + i};
    }
}

template <class N>
DEVICE void test_list(const Scene<N>& scene, uint32_t first, uint32_t count, const Line<N>& line, Found<N>& found) {
    constexpr uint32_t lanes = Scene<N>::kLanes;
    for (uint32_t i = first; i < first + count; i += lanes) test_pack(scene.packs[i / lanes], i, line, found);
}

// Visits cells front to back with a stack of nodes, after Laine and Karras 2010, "Efficient Sparse Voxel Octrees". Coordinates are integers in units
// of the smallest cells, mirrored so that they grow along the ray; `factor` and `offset` turn them into distances.
template <class N>
DEVICE void trace_octree(const Scene<N>& scene, const Line<N>& line, Found<N>& found) {
    using Real = typename N::Real;
    // A lower bound of directions that keeps distances finite, in half precision too.
    const Real least = Real(sizeof(Real) == 2 ? 2e-3f : 1e-9f), cell = Real(scene.input.size / (1 << kDepth));
    test_list(scene, scene.input.large, scene.input.large_count, line, found);
    Real factor[3], offset[3], entry = Real(0.0f), exit = found.t;
    uint32_t mirror = 0, at[3] = {};
    for (int axis = 0; axis < 3; ++axis) {
        const bool backwards = line.direction[axis] < Real(0.0f);
        const Real low = Real(scene.input.low[axis]), high = low + Real(scene.input.size);
        Real speed = backwards ? -line.direction[axis] : line.direction[axis];
        if (speed < least) speed = least;
        mirror |= uint32_t(backwards) << axis;
        factor[axis] = cell / speed;
        offset[axis] = (backwards ? line.origin[axis] - high : low - line.origin[axis]) / speed;
        const Real end = Real(float(1 << kDepth)) * factor[axis] + offset[axis];
        if (offset[axis] > entry) entry = offset[axis];
        if (end < exit) exit = end;
    }
    if (!(entry < exit)) return;
    uint32_t stack[kDepth], node = 0;
    int level = kDepth - 1;
    for (bool enters = true;;) {
        const uint32_t size = 1u << level;
        Real ends[3], end = Real(INFINITY);
        uint32_t child = mirror;
        for (int axis = 0; axis < 3; ++axis) {
            ends[axis] = Real(float(at[axis] + size)) * factor[axis] + offset[axis];
            if (enters && ends[axis] <= entry) {
                at[axis] += size;
                ends[axis] = Real(float(at[axis] + size)) * factor[axis] + offset[axis];
            }
            if (ends[axis] < end) end = ends[axis];
            child ^= (at[axis] >> level & 1) << axis;
        }
        const uint32_t word = scene.input.nodes[node][child];
        enters = word && !(word >> 31);
        if (enters) {
            stack[level--] = node;
            node = word;
            continue;
        }
        if (word) test_list(scene, (word >> 8 & 0x7fffff) * kBlock, word & 0xff, line, found);
        if (found.t <= end) return;
        uint32_t changed = 0;
        for (int axis = 0; axis < 3; ++axis) {
            if (ends[axis] > end) continue;
            changed |= at[axis] ^ (at[axis] + size);
            at[axis] += size;
        }
        entry = end;
        const int top = highest_bit(changed);
        if (top >= kDepth) return;
        if (top == level) continue;
        level = top;
        node = stack[level];
        for (int axis = 0; axis < 3; ++axis) at[axis] &= ~0u << level;
    }
}

template <class N>
DEVICE Hit trace(const Scene<N>& scene, bool octree, const Ray& ray) {
    const Line<N> line = line_of<N>(ray);
    Found<N> found = {typename N::Real(INFINITY), kNone};
    if (octree) {
        trace_octree(scene, line, found);
    } else {
        test_list(scene, 0, scene.input.sphere_count, line, found);
    }
    if (found.reference == kNone) return {-1.0f, kNone};
    return {float(found.t), scene.input.references[found.reference]};
}

// The packs as numbers: x, y, z and inverse radius of each pack, a value per lane.
template <class N>
std::vector<typename N::Real> packed(const Input& input) {
    constexpr uint32_t lanes = Scene<N>::kLanes;
    std::vector<typename N::Real> values(4 * input.reference_count);
    for (uint32_t i = 0; i < input.reference_count; ++i) {
        const uint32_t sphere = input.references[i];
        for (uint32_t k = 0; k < 4; ++k) {
            const float value = sphere == kNone ? (k == 3 ? INFINITY : 0.0f) : input.spheres[sphere][k];
            const float stored = k == 3 && sphere != kNone ? 1.0f / value : value;
            values[(i / lanes * 4 + k) * lanes + i % lanes] = typename N::Real(stored);
        }
    }
    return values;
}

#ifdef __CUDACC__

static void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "spheres: %s\n", cudaGetErrorString(error));
    exit(1);
}

template <class T>
T* uploaded(const T* values, size_t count) {
    void* copy;
    check(cudaMalloc(&copy, count * sizeof(T)));
    check(cudaMemcpy(copy, values, count * sizeof(T), cudaMemcpyHostToDevice));
    return static_cast<T*>(copy);
}

template <class N, bool Octree>
__global__ void __launch_bounds__(128) trace_all(Scene<N> scene, const Ray* rays, Hit* hits, uint32_t count) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) hits[i] = trace(scene, Octree, rays[i]);
}

// Traces all rays. Returns the seconds that the GPU took.
template <class N>
double run(const Input& input, bool octree, const Ray* rays, Hit* hits, uint32_t count) {
    Scene<N> scene{input, nullptr};
    const auto values = packed<N>(input);
    auto* packs = uploaded(values.data(), values.size());
    auto* references = uploaded(input.references, input.reference_count);
    auto* nodes = uploaded(input.nodes, input.node_count);
    scene.packs = reinterpret_cast<const Pack<N>*>(packs);
    scene.input.references = references;
    scene.input.nodes = nodes;
    Ray* gpu_rays = uploaded(rays, count);
    Hit* gpu_hits = uploaded(hits, count);
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    // The first pass warms up.
    for (int pass = 0; pass < 2; ++pass) {
        check(cudaEventRecord(begin));
        (octree ? trace_all<N, true> : trace_all<N, false>)<<<(count + 127) / 128, 128>>>(scene, gpu_rays, gpu_hits, count);
        check(cudaGetLastError());
        check(cudaEventRecord(end));
    }
    check(cudaEventSynchronize(end));
    float milliseconds;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    check(cudaMemcpy(hits, gpu_hits, count * sizeof(Hit), cudaMemcpyDeviceToHost));
    check(cudaEventDestroy(begin));
    check(cudaEventDestroy(end));
    for (void* memory : {(void*)packs, (void*)references, (void*)nodes, (void*)gpu_rays, (void*)gpu_hits}) check(cudaFree(memory));
    return 1e-3 * milliseconds;
}

#else

constexpr uint32_t kBatch = 1024;

// Traces all rays on all threads. Returns the seconds that the CPU took.
template <class N>
double run(const Input& input, bool octree, const Ray* rays, Hit* hits, uint32_t count) {
    const auto values = packed<N>(input);
    std::vector<Pack<N>> packs(input.reference_count / Scene<N>::kLanes);
    memcpy(packs.data(), values.data(), values.size() * sizeof(values[0]));
    const Scene<N> scene{input, packs.data()};
    std::atomic<uint32_t> next{0};
    const auto work = [&] {
        for (uint32_t begin; (begin = next.fetch_add(kBatch)) < count;) {
            const uint32_t end = std::min(begin + kBatch, count);
            for (uint32_t i = begin; i < end; ++i) hits[i] = trace(scene, octree, rays[i]);
        }
    };
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::thread> threads;
    for (uint32_t i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
    work();
    for (auto& thread : threads) thread.join();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

#endif

extern "C" double spheres_trace(const Input* input, bool octree, bool half, const Ray* rays, Hit* hits, uint32_t count) {
    return half ? run<Half>(*input, octree, rays, hits, count) : run<Single>(*input, octree, rays, hits, count);
}

// Shading of a wave on the GPU. Every block shades a section of the queue and appends the next rays and the shadow rays with one atomic operation per
// queue. The order in queues varies from run to run, but the result of each path does not. If materials differ in their shading work, a block sorts
// its section by class, so that the lanes of a warp run equal code.
#pragma once
#include "cuda/wavefront.h"

namespace THRONG_NAMESPACE {

constexpr int kShadeThreads = 128;
// Number of blocks per multiprocessor for which registers are allocated.
constexpr int kShadeBlocks = 6, kPathBlocks = 5, kLayeredBlocks = 3;

// First index of a thread's entries in the queue of shadow rays and in the queue of the next wave.
struct Places {
    uint32_t shadow, next;
};

// Reserves contiguous places for `shadow_count` shadow rays, at most 255, and for the next ray, if there is one. Must be called by all threads of the
// block.
THRONG_INLINE Places reserve(QueueState* shadows, QueueState* next_wave, uint32_t shadow_count, bool more) {
    __shared__ uint32_t warp_sums[kShadeThreads / 32];
    __shared__ Places block;
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32, counts = shadow_count << 16 | (more ? 1u : 0u);
    uint32_t sum = counts;
    for (uint32_t step = 1; step < 32; step *= 2) {
        uint32_t other = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == 31) warp_sums[warp] = sum;
    __syncthreads();
    uint32_t before = 0, total = 0;
    for (uint32_t w = 0; w < kShadeThreads / 32; w++) {
        if (w == warp) before = total;
        total += warp_sums[w];
    }
    // Two threads of different warps, so that neither waits for the other's atomic operation.
    if (threadIdx.x == 0) block.shadow = total >> 16 ? atomicAdd(&shadows->length, total >> 16) : 0;
    if (threadIdx.x == 32) block.next = total & 0xffffu ? atomicAdd(&next_wave->length, total & 0xffffu) : 0;
    // No further barrier is needed: after the next call's first barrier, all threads have read the values written here.
    __syncthreads();
    uint32_t own = before + sum - counts;
    return Places{block.shadow + (own >> 16), block.next + (own & 0xffffu)};
}

// Shades entry `q` and queues the rays of the resulting step. Must be called by all threads of the block; `q` may be past the queue's end.
template <Shading shading>
THRONG_INLINE void shade_entry(const Params& params, const Wavefront& w, uint32_t q, uint32_t length) {
    const uint32_t owner = q < length ? path_of(w, q) : 0;
    Path path;
    Step step;
    step.clear();
    path.ray.t_max = -1.0f;
    if (q < length) shade_ray<shading>(params, w, q, owner, path, step);
    Places place = reserve(w.queues, w.queues + 2 + w.wave, step.shadow_count(), step.more);
    if (path.ray.t_max < 0.0f) return;
    store_path<shading>(w, owner, path, step, place.shadow);
    if (step.more) {
        w.rays[~w.wave & 1][place.next] = path.ray;
        w.owners[~w.wave & 1][place.next] = owner;
    }
}

// Class of an entry's shading work, in three bits.
THRONG_INLINE uint32_t shading_class(const Params& params, const Wavefront& w, uint32_t q) {
    if (w.rays[w.wave & 1][q].t_max < 0.0f) return 0;
    const Hit& hit = w.hits[q];
    if (hit.t < 0.0f) return 1;
    const Words4 ids = load_words(&params.trees.instances[hit.record].slot_base);
    const MeshRecord mesh = load_record(&params.tables.meshes[ids.y]);
    const uint32_t slot = mesh.shape != SHAPE_TRIANGLES ? 0 : load_word(&mesh.corners[hit.prim].slot);
    const MaterialRecord& material = params.tables.materials[params.scene.material_slots[ids.x + slot]];
    const uint32_t kind = load_word(&material.kind);
    if (kind == MATERIAL_HAIR) return 7;
    if (kind != MATERIAL_LAYERED) return kind == MATERIAL_MIRROR ? 2 : 3;
    const LobesRecord& lobes = params.tables.lobes[load_word(&material.lobes)];
    return bits_float(load_word(&lobes.transmission)) > 0.0f ? 6 : bits_float(load_word(&lobes.metallic)) > 0.5f ? 5 : 4;
}

// Maximum number of entries per thread that a block sorts at a time.
constexpr uint32_t kStretchRounds = 8;

// Sorts the entries of a section that starts at `begin` by class, with a counting sort. Must be called by all threads of the block.
THRONG_INLINE const uint16_t* sort_stretch(const Params& params, const Wavefront& w, uint32_t begin, uint32_t rounds, uint32_t length) {
    __shared__ uint16_t order[kStretchRounds * kShadeThreads];
    __shared__ uint32_t places[8];
    if (threadIdx.x < 8) places[threadIdx.x] = 0;
    __syncthreads();
    uint32_t classes = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        const uint32_t q = begin + round * kShadeThreads + threadIdx.x, own = q < length ? shading_class(params, w, q) : 0;
        classes |= own << 4 * round;
        atomicAdd(&places[own], 1u);
    }
    __syncthreads();
    uint32_t before = 0;
    if (threadIdx.x < 8)
        for (uint32_t k = 0; k < threadIdx.x; k++) before += places[k];
    __syncthreads();
    if (threadIdx.x < 8) places[threadIdx.x] = before;
    __syncthreads();
    for (uint32_t round = 0; round < rounds; round++)
        order[atomicAdd(&places[classes >> 4 * round & 7u], 1u)] = uint16_t(round * kShadeThreads + threadIdx.x);
    __syncthreads();
    return order;
}

template <Shading shading>
THRONG_INLINE void shade_wave(const Params& params, const Wavefront& w) {
    constexpr bool sorted = shading >= SHADE_LAYERED_PATH;
    const uint32_t length = w.queues[1 + w.wave].length, all_threads = gridDim.x * kShadeThreads;
    // Short queues are divided evenly among all blocks.
    const bool sorts = sorted && params.tables.sorts_shading;
    const uint32_t rounds = sorts ? min((length + all_threads - 1) / all_threads, kStretchRounds) : 1, stretch = rounds * kShadeThreads;
    for (uint32_t begin = blockIdx.x * stretch; begin < length; begin += gridDim.x * stretch) {
        const uint16_t* order = sorts ? sort_stretch(params, w, begin, rounds, length) : nullptr;
        for (uint32_t round = 0; round < rounds; round++) {
            const uint32_t place = round * kShadeThreads + threadIdx.x;
            shade_entry<shading>(params, w, begin + (sorts ? order[place] : place), length);
        }
    }
}

// Adds a thread's counters to the launch's counters.
THRONG_INLINE void add_to_tally(RayTally* tally, const Thread& thread) {
    if (!tally) return;
    uint32_t primary = warp_sum(uint32_t(thread.primary_rays));
    uint32_t bounce = warp_sum(uint32_t(thread.bounce_rays));
    uint32_t shadow = warp_sum(uint32_t(thread.shadow_rays));
    if (threadIdx.x & 31u) return;
    typedef unsigned long long Wide;
    if (primary) atomicAdd(reinterpret_cast<Wide*>(&tally->primary), Wide(primary));
    if (bounce) atomicAdd(reinterpret_cast<Wide*>(&tally->bounce), Wide(bounce));
    if (shadow) atomicAdd(reinterpret_cast<Wide*>(&tally->shadow), Wide(shadow));
}

}

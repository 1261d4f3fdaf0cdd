// Shading of a wave on the GPU: every block shades a stretch of the queue and appends the next rays and the shadow rays
// with one atomic operation per queue. The order in queues varies from run to run, what becomes of each path does not.
#pragma once
#include "wavefront.h"

namespace THRONG_NAMESPACE {

constexpr int kShadeThreads = 128;
// Blocks per multiprocessor that registers are divided among.
constexpr int kShadeBlocks = 6, kPathBlocks = 5, kLayeredBlocks = 3;

// Where a thread's entries start in the queue of shadow rays and in that of the next wave.
struct Places {
    uint32_t shadow, next;
};

// Places for `shadow_count` shadow rays, at most 255, side by side, and for the next ray, if there is one. All threads of the
// block call this.
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
    // Two threads of different warps, so that neither waits for the other's answer.
    if (threadIdx.x == 0) block.shadow = total >> 16 ? atomicAdd(&shadows->length, total >> 16) : 0;
    if (threadIdx.x == 32) block.next = total & 0xffffu ? atomicAdd(&next_wave->length, total & 0xffffu) : 0;
    // No barrier more: when the next call's first one is passed, all have read what is written after it.
    __syncthreads();
    uint32_t own = before + sum - counts;
    return Places{block.shadow + (own >> 16), block.next + (own & 0xffffu)};
}

template <Shading shading>
THRONG_INLINE void shade_wave(const Params& params, const Wavefront& w) {
    const uint32_t length = w.queues[1 + w.wave].length;
    QueueState *shadows = w.queues, *next_wave = w.queues + 2 + w.wave;
    for (uint32_t begin = blockIdx.x * blockDim.x; begin < length; begin += gridDim.x * blockDim.x) {
        const uint32_t q = begin + threadIdx.x, owner = q < length ? path_of(w, q) : 0;
        Path path;
        Step step;
        step.clear();
        path.ray.t_max = -1.0f;
        if (q < length) shade_ray<shading>(params, w, q, owner, path, step);
        Places place = reserve(shadows, next_wave, step.shadow_count(), step.more);
        if (path.ray.t_max < 0.0f) continue;
        store_path<shading>(w, owner, path, step, place.shadow);
        if (step.more) {
            w.rays[~w.wave & 1][place.next] = path.ray;
            w.owners[~w.wave & 1][place.next] = owner;
        }
    }
}

// Adds a thread's counters to the launch's.
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

// Shading of a wave on the GPU: every block shades a stretch of the queue and appends the next rays and the shadow rays
// with one atomic operation per queue. The order in queues varies from run to run, what becomes of each path does not.
#pragma once
#include "wavefront.h"

namespace THRONG_NAMESPACE {

constexpr int kShadeThreads = 128;
// Blocks per multiprocessor that registers are divided among.
constexpr int kShadeBlocks = 8;

// Places for `count` entries per thread in a queue, those of a thread side by side. All threads of the block call this.
THRONG_INLINE uint32_t reserve(QueueState* queue, uint32_t count) {
    __shared__ uint32_t warp_sums[kShadeThreads / 32], block_first;
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32;
    uint32_t sum = count;
    for (uint32_t step = 1; step < 32; step *= 2) {
        uint32_t other = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == 31) warp_sums[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t total = 0;
        for (uint32_t& entry : warp_sums) {
            uint32_t own = entry;
            entry = total;
            total += own;
        }
        block_first = total ? atomicAdd(&queue->length, total) : 0;
    }
    __syncthreads();
    uint32_t place = block_first + warp_sums[warp] + sum - count;
    __syncthreads();
    return place;
}

THRONG_INLINE void shade_wave(const Params& params, const Wavefront& w) {
    const uint32_t length = w.queues[1 + w.wave].length;
    QueueState *shadows = w.queues, *next_wave = w.queues + 2 + w.wave;
    for (uint32_t begin = blockIdx.x * blockDim.x; begin < length; begin += gridDim.x * blockDim.x) {
        const uint32_t q = begin + threadIdx.x, owner = q < length ? w.owners[w.wave & 1][q] : 0;
        Path path;
        Step step;
        step.more = false;
        step.shadow_count = 0;
        path.ray.t_max = -1.0f;
        if (q < length) shade_ray(params, w, q, owner, path, step);
        uint32_t shadow = reserve(shadows, step.shadow_count);
        uint32_t next = reserve(next_wave, step.more ? 1 : 0);
        if (path.ray.t_max < 0.0f) continue;
        PathState state;
        store3(state.throughput, path.throughput);
        store3(state.radiance, path.radiance);
        state.first_shadow = shadow;
        state.shadow_count = step.shadow_count;
        w.paths[owner] = state;
        for (uint32_t i = 0; i < step.shadow_count; i++) {
            w.shadow_rays[shadow + i] = step.shadow[i].ray;
            store3(w.shadow_lights[shadow + i].open, step.shadow[i].open);
            store3(w.shadow_lights[shadow + i].blocked, step.shadow[i].blocked);
        }
        if (step.more) {
            w.rays[~w.wave & 1][next] = path.ray;
            w.owners[~w.wave & 1][next] = owner;
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

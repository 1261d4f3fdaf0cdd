// Shading of a wave on the GPU: every block shades a stretch of the queue and appends the next rays and the shadow rays
// with one atomic operation per queue. The order in queues varies from run to run, what becomes of each path does not.
#pragma once
#include "wavefront.h"

namespace THRONG_NAMESPACE {

constexpr int kShadeThreads = 128;

// A place in a queue for each thread that wants one. All threads of the block call this.
THRONG_INLINE uint32_t reserve(QueueState* queue, bool wanted) {
    __shared__ uint32_t warp_sums[kShadeThreads / 32], block_first;
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32;
    const uint32_t wants = __ballot_sync(0xffffffffu, wanted);
    if (lane == 0) warp_sums[warp] = count_bits(wants);
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
    uint32_t place = block_first + warp_sums[warp] + count_bits(wants & ((1u << lane) - 1u));
    __syncthreads();
    return place;
}

THRONG_INLINE void append_shadows(const Wavefront& w, const Step& step, PathState& state) {
    uint32_t done = 0;
    for (uint32_t kind = 0; kind < SHADOW_KINDS; kind++) {
        state.shadows[kind] = NO_INDEX;
        if (kind >= w.shadow_kinds) continue;
        bool wanted = done < step.shadow_count && step.shadow[done].kind == kind;
        uint32_t place = kind * w.shadow_stride + reserve(&w.queues[kind], wanted);
        if (!wanted) continue;
        const ShadowRay& shadow = step.shadow[done++];
        w.shadow_rays[place] = shadow.ray;
        store3(w.shadow_lights[place].open, shadow.open);
        store3(w.shadow_lights[place].blocked, shadow.blocked);
        state.shadows[kind] = place;
    }
}

THRONG_INLINE void shade_wave(const Params& params, const Wavefront& w) {
    const uint32_t length = w.queues[SHADOW_KINDS + w.wave].length;
    for (uint32_t begin = blockIdx.x * blockDim.x; begin < length; begin += gridDim.x * blockDim.x) {
        const uint32_t q = begin + threadIdx.x, owner = q < length ? w.owners[w.wave & 1][q] : 0;
        Path path;
        Step step;
        step.more = false;
        step.shadow_count = 0;
        path.ray.t_max = -1.0f;
        if (q < length) shade_ray(params, w, q, owner, path, step);
        PathState state;
        append_shadows(w, step, state);
        uint32_t next = reserve(&w.queues[SHADOW_KINDS + w.wave + 1], step.more);
        if (path.ray.t_max < 0.0f) continue;
        store3(state.throughput, path.throughput);
        store3(state.radiance, path.radiance);
        w.paths[owner] = state;
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

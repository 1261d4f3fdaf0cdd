// Tracing of whole queues by persistent warps. A warp traverses its lanes' rays in lockstep and fetches new rays as soon as a few lanes are idle
// (Aila and Laine 2009, "Understanding the Efficiency of Ray Traversal on GPUs"). The threshold is measured, see docs/gpu.md. When the queue is
// empty, idle lanes take over parts of the other lanes' traversals. Otherwise the longest rays would occupy one lane each, on a mostly idle GPU.
#pragma once
#include "bvh/split.h"
#include "cuda/wavefront.h"

namespace THRONG_NAMESPACE {

// Minimum number of idle lanes at which a warp fetches rays.
constexpr uint32_t kRefill = 4;
// Threads per block, and number of blocks per multiprocessor for which registers are allocated. The host reads the former from the compiled kernels.
// With motion or assemblies, traversal needs more registers: fewer blocks are faster than register spills.
constexpr int kTraceThreads = 64;
constexpr int kTraceBlocks = THRONG_NESTED ? 14 : THRONG_MOTION || THRONG_MAX_BLOCKS < 18 ? 16 : 18;

// Orders of visits for all directions and hits. A table lookup is faster than computing them.
constexpr uint32_t kOrderBytes = 8 * 256;

struct alignas(16) OrderTable {
    uint8_t bytes[kOrderBytes];
};

constexpr OrderTable make_order_table() {
    OrderTable table{};
    for (uint32_t i = 0; i < kOrderBytes; i++) table.bytes[i] = uint8_t(order_slots(i & 255u, i >> 8));
    return table;
}

__device__ constexpr OrderTable kOrderTable = make_order_table();

// The table of orders in the block's shared memory.
struct TableOrder {
    uint32_t address;

    THRONG_INLINE uint32_t operator()(uint32_t bits, uint32_t up) const { return load_shared_byte(address + (up << 8 | bits)); }
};

// Copies the table of orders to shared memory. Must be called by all threads of the block.
THRONG_INLINE TableOrder copy_order_table() {
    __shared__ OrderTable copy;
    constexpr uint32_t kPieces = kOrderBytes / sizeof(uint4);
    for (uint32_t i = threadIdx.x; i < kPieces; i += kTraceThreads)
        reinterpret_cast<uint4*>(&copy)[i] = reinterpret_cast<const uint4*>(&kOrderTable)[i];
    __syncthreads();
    return TableOrder{shared_address(&copy)};
}

// Assigns the next rays' indices to the idle lanes of the warp. Returns whether there may be more rays.
THRONG_INLINE bool fetch(QueueState* queue, uint32_t length, uint32_t idle, uint32_t lane, uint32_t& index) {
    if (length < gridDim.x * kTraceThreads) {
        // Fewer rays than lanes: each warp takes its share once, and its remaining lanes help.
        const uint32_t warps = gridDim.x * (kTraceThreads / 32), warp = blockIdx.x * (kTraceThreads / 32) + threadIdx.x / 32;
        const uint32_t share = (length + warps - 1) / warps;
        index = lane < share ? lane * warps + warp : length;
        return false;
    }
    uint32_t first = 0, leader = lowest_bit(idle);
    if (lane == leader) first = atomicAdd(&queue->fetched, count_bits(idle));
    first = __shfl_sync(kAllLanes, first, int(leader));
    index = first + count_bits(idle & ((1u << lane) - 1u));
    return first + count_bits(idle) < length;
}

// Use of idle lanes in a warp: fetch rays for them, leave them idle when no rays are left, or split the traversals of other lanes.
enum class Phase : uint32_t { kFetching, kDraining, kSplitting };

// Traces the rays of a queue. `hits` is an array of `Hit` for closest hits, or of flags for any hits. `filter` decides which crossed primitives are
// hit.
template <bool Any, class Output, class Filter>
THRONG_INLINE void trace_queue(const Params& params, const Ray* rays, Output* hits, QueueState* queue, const Filter& filter) {
    const uint32_t lane = threadIdx.x & 31u, length = queue->length;
    if (length == 0) return;
    const TableOrder order = copy_order_table();
    Group stack[kWalkStack];
    Walk<Any, Meeting<Output>> walk;
#if THRONG_NESTED
    Entered entered[MOST_NESTED];
    walk.entered = entered;
#endif
    Output own;
    NoCount none;
    uint32_t index = 0;
    clear(own);
    walk.floor = kOver;
    for (Phase phase = Phase::kFetching;;) {
        if (phase == Phase::kSplitting) share_hits(walk, index, own, hits, lane);
        const uint32_t idle = __ballot_sync(kAllLanes, walk.over());
        if (phase != Phase::kFetching) {
            if (idle == kAllLanes) return;
            if (phase == Phase::kDraining && count_bits(idle) >= params.frame.split_lanes) phase = Phase::kSplitting;
            if (phase == Phase::kSplitting && idle) split_walks(walk, index, stack, idle, lane);
        } else if (count_bits(idle) >= kRefill) {
            uint32_t next;
            if (!fetch(queue, length, idle, lane, next)) phase = Phase::kDraining;
            if (walk.over() && next < length) {
                index = next;
                hit_of(hits, index).start();
                const Ray& ray = rays[index];
                walk.begin(params, start_of(params, ray), ray.t_max);
                if (params.frame.tlas_root == EMPTY_CHILD || walk.t_max < 0.0f) walk.floor = kOver;
                // If a ray misses the scene, usually all rays of its warp do: a cheap test for all lanes at once.
                if (idle == kAllLanes && misses_box(load3(ray.origin), load3(ray.direction), ray.t_max, params.frame.bounds_min, params.frame.bounds_max))
                    walk.floor = kOver;
            }
        }
        if (!walk.over()) {
            Meeting<Output> found{hits, &own, index, phase == Phase::kSplitting};
            walk.advance(params, rays[index], stack, order, found, none, filter);
        }
    }
}

}

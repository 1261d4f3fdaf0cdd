// Entry points that build a TLAS: instances are placed and sorted along a curve, merged into a binary tree, and collapsed into a wide one. Launches do
// not depend on results, which stay on the GPU: a launch that finds nothing to do ends at once, and single blocks do what is left after the usual number
// of launches.
#include "tlas/collapse.h"

using namespace THRONG_NAMESPACE;

namespace THRONG_NAMESPACE {

// Threads per block, and of blocks that work alone.
constexpr uint32_t kBuildThreads = 256, kLoneThreads = 1024;
// Bits of a digit, and instances per block of a sorting pass.
constexpr uint32_t kDigitBits = 8, kDigits = 1 << kDigitBits, kSortRounds = 8, kSortTile = kBuildThreads * kSortRounds;

THRONG_INLINE uint32_t thread_index() { return blockIdx.x * blockDim.x + threadIdx.x; }
THRONG_INLINE uint32_t thread_count() { return gridDim.x * blockDim.x; }
THRONG_INLINE uint32_t lanes_below() { return (1u << (threadIdx.x & 31u)) - 1u; }

THRONG_INLINE uint32_t warp_maximum(uint32_t x) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffu, x);
#else
    for (int step = 16; step; step /= 2) x = ::max(x, __shfl_xor_sync(0xffffffffu, x, step));
    return x;
#endif
}

THRONG_INLINE uint32_t digit_of(uint64_t place, uint32_t pass) { return uint32_t(place >> pass * kDigitBits) & (kDigits - 1); }

// The sum of `x` over the threads of the block before this one, and over all of them.
struct Ranks {
    uint32_t before, all;
};
template <uint32_t threads>
THRONG_INLINE Ranks rank_in_block(uint32_t x) {
    __shared__ uint32_t sums[threads / 32];
    const uint32_t lane = threadIdx.x & 31u, warp = threadIdx.x / 32;
    uint32_t sum = x;
    for (uint32_t step = 1; step < 32; step *= 2) {
        const uint32_t other = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += other;
    }
    __syncthreads();
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    Ranks ranks{sum - x, 0};
    for (uint32_t w = 0; w < threads / 32; w++) {
        if (w < warp) ranks.before += sums[w];
        ranks.all += sums[w];
    }
    return ranks;
}

// One round of merging by a single block. Returns the new number of clusters; `made` counts inner nodes.
template <bool plain>
THRONG_DEVICE uint32_t merge_alone(const TlasBuild& b, const uint32_t* from, uint32_t* to, uint32_t count, uint32_t& made) {
    const auto box = [&](uint32_t i) { return b.boxes[from[i]]; };
    for (uint32_t i = threadIdx.x; i < count; i += kLoneThreads) b.nearest[i] = plain ? plain_neighbour(i, count) : best_neighbour(i, count, box);
    __syncthreads();
    uint32_t kept = 0;
    for (uint32_t first = 0; first < count; first += kLoneThreads) {
        const uint32_t i = first + threadIdx.x;
        const Merge merge = i < count ? merge_of(b.nearest, i) : Merge{false, false, NO_INDEX};
        // At most 1024 of each.
        const Ranks ranks = rank_in_block<kLoneThreads>((merge.is_kept ? 1u : 0u) | (merge.leads ? 1u << 16 : 0u));
        if (merge.is_kept) {
            const uint32_t tree = merge.leads ? make_node(b, made + (ranks.before >> 16), from[i], from[merge.neighbour]) : from[i];
            to[kept + (ranks.before & 0xffffu)] = tree;
        }
        kept += ranks.all & 0xffffu;
        made += ranks.all >> 16;
    }
    __syncthreads();
    return kept;
}

// Merges all clusters by a single block.
template <bool plain>
THRONG_DEVICE void merge_rest(const TlasBuild& b, uint32_t round, uint32_t count, uint32_t made) {
    for (; count > 1; round++) count = merge_alone<plain>(b, b.clusters[round & 1], b.clusters[~round & 1], count, made);
    if (threadIdx.x == 0 && count) b.state->root = b.clusters[round & 1][0];
    __syncthreads();
}

// Collapses all levels from `level` on by a single block. Returns false if there are too many.
THRONG_DEVICE bool collapse_rest(const TlasBuild& b, uint32_t level, uint32_t most_levels) {
    volatile uint32_t* open = b.state->open;
    for (level = ::min(level, most_levels); level < most_levels; level++) {
        const uint32_t count = open[level];
        if (!count) return true;
        const OpenNode* nodes = reinterpret_cast<const OpenNode*>(b.places[level & 1]);
        for (uint32_t i = threadIdx.x; i < count; i += kLoneThreads) collapse_node(b, nodes[i], level);
        __syncthreads();
    }
    return !open[level];
}

}

extern "C" __global__ void __launch_bounds__(kBuildThreads) throng_tlas_place(const __grid_constant__ TlasBuild b) {
    uint32_t high[3] = {0, 0, 0}, low[3] = {0, 0, 0}, visible = 0;
    for (uint32_t i = thread_index(); i < b.count; i += thread_count()) {
        const TreeBox box = place_instance(b, i);
        if (is_empty(box)) continue;
        const Vec3 center = middle(box);
        const uint32_t place[3] = {ordered(center.x), ordered(center.y), ordered(center.z)};
        for (int axis = 0; axis < 3; axis++) {
            high[axis] = ::max(high[axis], place[axis]);
            low[axis] = ::max(low[axis], ~place[axis]);
        }
        visible++;
    }
    __syncwarp();
    for (int axis = 0; axis < 3; axis++) {
        high[axis] = warp_maximum(high[axis]);
        low[axis] = warp_maximum(low[axis]);
    }
    visible = warp_sum(visible);
    if (threadIdx.x & 31u || !visible) return;
    for (int axis = 0; axis < 3; axis++) {
        raise(b.state->high[axis], high[axis]);
        raise(b.state->low[axis], low[axis]);
    }
    take(b.state->visible, visible);
}

extern "C" __global__ void __launch_bounds__(kBuildThreads) throng_tlas_find_places(const __grid_constant__ TlasBuild b) {
    const uint32_t i = thread_index();
    if (i >= b.count) return;
    b.places[0][i] = place_on_curve(*b.state, b.boxes[i]);
    b.order[0][i] = i;
}

// A sorting pass: the digits of each tile are counted, then added up over all tiles, then instances move to their new positions.
extern "C" __global__ void __launch_bounds__(kBuildThreads) throng_tlas_count_digits(const __grid_constant__ TlasBuild b, uint32_t pass) {
    __shared__ uint32_t counts[kDigits];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t round = 0; round < kSortRounds; round++) {
        const uint32_t i = blockIdx.x * kSortTile + round * kBuildThreads + threadIdx.x;
        if (i < b.count) atomicAdd(&counts[digit_of(b.places[pass & 1][i], pass)], 1u);
    }
    __syncthreads();
    b.digits[uint64_t(threadIdx.x) * gridDim.x + blockIdx.x] = counts[threadIdx.x];
}

// One block per digit. The sum of all tiles follows the last digit's counts.
extern "C" __global__ void __launch_bounds__(kBuildThreads) throng_tlas_add_digits(const __grid_constant__ TlasBuild b, uint32_t tiles) {
    uint32_t* counts = b.digits + uint64_t(blockIdx.x) * tiles;
    uint32_t sum = 0;
    for (uint32_t first = 0; first < tiles; first += kBuildThreads) {
        const uint32_t tile = first + threadIdx.x;
        const Ranks ranks = rank_in_block<kBuildThreads>(tile < tiles ? counts[tile] : 0);
        if (tile < tiles) counts[tile] = sum + ranks.before;
        sum += ranks.all;
    }
    if (threadIdx.x == 0) b.digits[uint64_t(kDigits) * tiles + blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(kBuildThreads) throng_tlas_sort(const __grid_constant__ TlasBuild b, uint32_t pass) {
    constexpr uint32_t kWarps = kBuildThreads / 32, kOwn = kSortTile / kWarps;
    __shared__ uint32_t starts[kWarps][kDigits];
    const uint32_t tiles = gridDim.x, warp = threadIdx.x / 32, lane = threadIdx.x & 31u;
    for (uint32_t w = 0; w < kWarps; w++) starts[w][threadIdx.x] = 0;
    __syncthreads();
    const uint64_t* from = b.places[pass & 1];
    const uint32_t first = blockIdx.x * kSortTile + warp * kOwn + lane;
    uint64_t places[kSortRounds];
    uint32_t ranks[kSortRounds];
    THRONG_UNROLL for (uint32_t round = 0; round < kSortRounds; round++) {
        const uint32_t i = first + 32 * round;
        const bool exists = i < b.count;
        places[round] = exists ? from[i] : 0;
        const uint32_t digit = exists ? digit_of(places[round], pass) : kDigits;
        const uint32_t equal = __match_any_sync(0xffffffffu, digit), leader = lowest_bit(equal);
        uint32_t before = 0;
        if (lane == leader && exists) {
            before = starts[warp][digit];
            starts[warp][digit] = before + count_bits(equal);
        }
        __syncwarp();
        ranks[round] = __shfl_sync(0xffffffffu, before, int(leader)) + count_bits(equal & lanes_below());
    }
    __syncthreads();
    // Each thread adds up the counts of a digit, after all smaller digits and after the tiles before this one.
    uint32_t next = rank_in_block<kBuildThreads>(b.digits[uint64_t(kDigits) * tiles + threadIdx.x]).before + b.digits[uint64_t(threadIdx.x) * tiles + blockIdx.x];
    for (uint32_t w = 0; w < kWarps; w++) {
        const uint32_t own = starts[w][threadIdx.x];
        starts[w][threadIdx.x] = next;
        next += own;
    }
    __syncthreads();
    THRONG_UNROLL for (uint32_t round = 0; round < kSortRounds; round++) {
        const uint32_t i = first + 32 * round;
        if (i >= b.count) continue;
        const uint32_t to = starts[warp][digit_of(places[round], pass)] + ranks[round];
        b.places[~pass & 1][to] = places[round];
        b.order[~pass & 1][to] = b.order[pass & 1][i];
    }
}

// Sorted instances are in `order[0]` after an even number of passes. Hidden ones are behind all others.
extern "C" __global__ void __launch_bounds__(kBuildThreads) throng_tlas_start_merging(const __grid_constant__ TlasBuild b) {
    const uint32_t i = thread_index();
    if (i == 0) b.state->clusters[0] = b.state->visible;
    if (i < b.state->visible) b.clusters[0][i] = b.order[0][i];
}

// A round of merging: every cluster finds its neighbour, the results of each tile are counted, then added up over all tiles, then nodes are made.
extern "C" __global__ void __launch_bounds__(kBuildThreads) throng_tlas_find_nearest(const __grid_constant__ TlasBuild b, uint32_t round) {
    const uint32_t count = b.state->clusters[round];
    const uint32_t* clusters = b.clusters[round & 1];
    const auto box = [&](uint32_t i) { return b.boxes[clusters[i]]; };
    for (uint32_t i = thread_index(); i < count; i += thread_count()) b.nearest[i] = best_neighbour(i, count, box);
}

extern "C" __global__ void __launch_bounds__(kBuildThreads) throng_tlas_count_merges(const __grid_constant__ TlasBuild b, uint32_t round) {
    const uint32_t count = b.state->clusters[round];
    for (uint32_t tile = blockIdx.x; tile * kBuildThreads < count; tile += gridDim.x) {
        const uint32_t i = tile * kBuildThreads + threadIdx.x;
        const Merge merge = i < count ? merge_of(b.nearest, i) : Merge{false, false, NO_INDEX};
        const uint32_t kept = uint32_t(__syncthreads_count(merge.is_kept)), made = uint32_t(__syncthreads_count(merge.leads));
        if (threadIdx.x) continue;
        b.sums[2 * tile] = kept;
        b.sums[2 * tile + 1] = made;
    }
}

// One block.
extern "C" __global__ void __launch_bounds__(kLoneThreads) throng_tlas_add_merges(const __grid_constant__ TlasBuild b, uint32_t round) {
    const uint32_t tiles = (b.state->clusters[round] + kBuildThreads - 1) / kBuildThreads;
    uint32_t kept = 0, made = b.state->made[round];
    for (uint32_t first = 0; first < tiles; first += kLoneThreads) {
        const uint32_t tile = first + threadIdx.x;
        const Ranks of_kept = rank_in_block<kLoneThreads>(tile < tiles ? b.sums[2 * tile] : 0);
        const Ranks of_made = rank_in_block<kLoneThreads>(tile < tiles ? b.sums[2 * tile + 1] : 0);
        if (tile < tiles) {
            b.sums[2 * tile] = kept + of_kept.before;
            b.sums[2 * tile + 1] = made + of_made.before;
        }
        kept += of_kept.all;
        made += of_made.all;
    }
    if (threadIdx.x) return;
    b.state->clusters[round + 1] = kept;
    b.state->made[round + 1] = made;
}

extern "C" __global__ void __launch_bounds__(kBuildThreads) throng_tlas_merge(const __grid_constant__ TlasBuild b, uint32_t round) {
    const uint32_t count = b.state->clusters[round];
    const uint32_t* from = b.clusters[round & 1];
    uint32_t* to = b.clusters[~round & 1];
    for (uint32_t tile = blockIdx.x; tile * kBuildThreads < count; tile += gridDim.x) {
        const uint32_t i = tile * kBuildThreads + threadIdx.x;
        const Merge merge = i < count ? merge_of(b.nearest, i) : Merge{false, false, NO_INDEX};
        const uint32_t before = rank_in_block<kBuildThreads>((merge.is_kept ? 1u : 0u) | (merge.leads ? 1u << 16 : 0u)).before;
        if (!merge.is_kept) continue;
        const uint32_t tree = merge.leads ? make_node(b, b.sums[2 * tile + 1] + (before >> 16), from[i], from[merge.neighbour]) : from[i];
        to[b.sums[2 * tile] + (before & 0xffffu)] = tree;
    }
}

// One block: merges what is left after `round` rounds, and opens the root.
extern "C" __global__ void __launch_bounds__(kLoneThreads) throng_tlas_merge_rest(const __grid_constant__ TlasBuild b, uint32_t round) {
    merge_rest<false>(b, round, b.state->clusters[round], b.state->made[round]);
    if (threadIdx.x || !b.state->visible) return;
    reinterpret_cast<OpenNode*>(b.places[0])[0] = OpenNode{b.state->root, 0};
    b.state->open[0] = 1;
}

extern "C" __global__ void __launch_bounds__(kBuildThreads) throng_tlas_collapse(const __grid_constant__ TlasBuild b, uint32_t level) {
    if (level >= b.most_levels) return;
    const uint32_t count = b.state->open[level];
    const OpenNode* nodes = reinterpret_cast<const OpenNode*>(b.places[level & 1]);
    for (uint32_t i = thread_index(); i < count; i += thread_count()) collapse_node(b, nodes[i], level);
}

// One block: collapses what is left from `level` on. If the tree has too many levels, it is made again from neighbours, which has fewer.
extern "C" __global__ void __launch_bounds__(kLoneThreads) throng_tlas_collapse_rest(const __grid_constant__ TlasBuild b, uint32_t level) {
    const uint32_t visible = b.state->visible;
    if (!visible && threadIdx.x == 0) b.units[0] = Unit{};
    if (!visible || collapse_rest(b, level, b.most_levels)) return;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < visible; i += kLoneThreads) b.clusters[0][i] = b.order[0][i];
    if (threadIdx.x < TLAS_LEVELS + 1) b.state->open[threadIdx.x] = threadIdx.x == 0 ? 1 : 0;
    if (threadIdx.x == 0) {
        b.state->plain = 1;
        b.state->units = 0;
    }
    __syncthreads();
    merge_rest<true>(b, 0, visible, 0);
    if (threadIdx.x == 0) reinterpret_cast<OpenNode*>(b.places[0])[0] = OpenNode{b.state->root, 0};
    __syncthreads();
    collapse_rest(b, 0, TLAS_LEVELS);
}

extern "C" __global__ void __launch_bounds__(kBuildThreads) throng_tlas_write_instances(const __grid_constant__ TlasBuild b) {
    const uint32_t i = thread_index();
    if (i < b.count) write_instance(b, i);
}

// Run by one thread.
extern "C" __global__ void throng_tlas_join(const __grid_constant__ TlasBuild b) { join_trees(b); }

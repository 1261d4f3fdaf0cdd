// Traversal of one ray by several lanes of a warp. An idle lane takes over a part of a busy lane's traversal, and their hits are merged. The closest
// hit does not depend on the order, so the result does not depend on which lane finds a hit first.
#pragma once
#include "bvh/traverse_compressed.h"

namespace THRONG_NAMESPACE {

constexpr uint32_t kAllLanes = 0xffffffffu;

// A hit stored directly in memory. Hits are rare, and the registers are needed elsewhere.
struct HitInMemory {
    Hit* hit;

    // Writes all fields, because misses are copied as well.
    THRONG_INLINE void start() { *hit = Hit{-1.0f, 0.0f, 0.0f, NO_INDEX, NO_INDEX, 0}; }
    THRONG_INLINE bool closer(float, uint32_t instance, uint32_t prim) const {
        return hit->prim == NO_INDEX || instance < hit->instance || (instance == hit->instance && prim < hit->prim);
    }
    THRONG_INLINE void take(float t, float u, float v, uint32_t prim, uint32_t instance, uint32_t record) {
        *hit = Hit{t, u, v, prim, instance, record};
    }
};

// A flag instead of a hit, for any-hit rays.
struct HitFlag {
    uint32_t* blocked;

    THRONG_INLINE void start() { *blocked = 0; }
    THRONG_INLINE bool closer(float, uint32_t, uint32_t) const { return true; }
    THRONG_INLINE void take(float, float, float, uint32_t, uint32_t, uint32_t) { *blocked = 1; }
};

THRONG_INLINE HitInMemory hit_of(Hit* hits, uint32_t index) { return HitInMemory{hits + index}; }
THRONG_INLINE HitFlag hit_of(uint32_t* blocked, uint32_t index) { return HitFlag{blocked + index}; }

// Destination of a lane's hits: the ray's result or, if other lanes may trace the ray as well, a place of its own.
template <class Output>
struct Meeting {
    Output *hits, *own;
    uint32_t index;
    bool shared;

    THRONG_INLINE auto place() const { return shared ? hit_of(own, 0) : hit_of(hits, index); }
    THRONG_INLINE bool closer(float t, uint32_t instance, uint32_t prim) const { return place().closer(t, instance, prim); }
    THRONG_INLINE void take(float t, float u, float v, uint32_t prim, uint32_t instance, uint32_t record) {
        place().take(t, u, v, prim, instance, record);
    }
};

THRONG_INLINE void clear(Hit& own) { own.prim = NO_INDEX; }
THRONG_INLINE void clear(uint32_t& own) { own = 0; }
THRONG_INLINE bool has_met(const Hit& own) { return own.prim != NO_INDEX; }
THRONG_INLINE bool has_met(uint32_t own) { return own != 0; }

THRONG_INLINE void merge(Hit& best, const Hit& own) {
    const bool equal = best.prim != NO_INDEX && own.t == best.t;
    if (equal ? HitInMemory{&best}.closer(own.t, own.instance, own.prim) : best.prim == NO_INDEX || own.t < best.t) best = own;
}
THRONG_INLINE void merge(uint32_t& best, uint32_t) { best = 1; }

template <class Found>
THRONG_INLINE void shorten(Walk<false, Found>& walk, const Hit& best) {
    walk.t_max = min(walk.t_max, best.t);
}
template <class Found>
THRONG_INLINE void shorten(Walk<true, Found>& walk, uint32_t) {
    walk.end();
}

// Merges the lanes' hits into the results of their rays, and shortens these rays for all lanes that trace them. Must be called by all lanes.
template <bool Any, class Found, class Output>
THRONG_INLINE void share_hits(Walk<Any, Found>& walk, uint32_t index, Output& own, Output* hits, uint32_t lane) {
    const uint32_t finders = __ballot_sync(kAllLanes, has_met(own));
    if (!finders) return;
    const uint32_t found = __match_any_sync(kAllLanes, index) & finders;
    // Different rays are merged in parallel. Lanes of one ray are merged one after another, each with the result of the lanes before it.
    for (uint32_t left = finders; left;) {
        const bool next = has_met(own) && (found & left & ((1u << lane) - 1u)) == 0;
        if (next) {
            merge(hits[index], own);
            clear(own);
        }
        __syncwarp();
        left &= ~__ballot_sync(kAllLanes, next);
    }
    if (found && !walk.over()) shorten(walk, hits[index]);
}

// Index of the `n`th set bit; the lowest has n = 0.
THRONG_INLINE uint32_t nth_bit(uint32_t bits, uint32_t n) {
    for (; n > 0; n--) bits &= bits - 1;
    return lowest_bit(bits);
}

// Removes the lowest group from the stack: it would be visited last, and is usually the largest. Returns where a traversal of this group alone starts
// (see `take_over`).
template <bool Any, class Found>
THRONG_INLINE uint32_t give_group(Walk<Any, Found>& walk, Group* stack, Group& given) {
    // If nothing lies below the current instance, the group belongs to it.
    const uint32_t start = walk.floor == 0 ? 0 : kStale;
    given = stack[0];
    walk.top--;
    for (uint32_t i = 0; i < walk.top; i++) stack[i] = stack[i + 1];
    if (walk.floor != 0 && walk.floor < kOver) walk.floor--;
    return start;
}

#if THRONG_NESTED
// The nesting depth of a group, and the traversal's values there.
struct Level {
    uint32_t depth, base, up;
};

template <bool Any, class Found>
THRONG_INLINE Level lowest_level(const Walk<Any, Found>& walk) {
    uint32_t depth = walk.depth;
    Level level{depth, walk.base, walk.space.axes >> kWorldUpShift & 7u};
    // Only levels that were entered with an empty stack have their groups at its bottom.
    for (uint32_t bottom = walk.bottom; bottom != 0; bottom = walk.entered[depth].outer_bottom()) {
        const Entered& inner = walk.entered[--depth];
        level = Level{depth, inner.outer_base, inner.outside & 7u};
    }
    return level;
}

// Adjusts the stack positions recorded by assemblies after the lowest entry was removed.
template <bool Any, class Found>
THRONG_INLINE void lower(Walk<Any, Found>& walk) {
    if (walk.bottom) walk.bottom--;
    for (uint32_t i = 0; i < walk.depth; i++)
        if (walk.entered[i].outer_bottom()) walk.entered[i].outside -= 1u << 3;
}
#endif

// Each idle lane takes over a group from a busy lane, if there are any, and then traces that lane's ray. Must be called by all lanes.
template <bool Any, class Found>
THRONG_INLINE void split_walks(Walk<Any, Found>& walk, uint32_t& index, Group* stack, uint32_t idle, uint32_t lane) {
    const bool is_idle = walk.over(), has_groups = !is_idle && walk.top > 0;
    const uint32_t donors = __ballot_sync(kAllLanes, has_groups);
    if (!donors) return;
    const uint32_t rank = count_bits((is_idle ? idle : donors) & ((1u << lane) - 1u));
    const bool takes = is_idle && rank < count_bits(donors), gives = has_groups && rank < count_bits(idle);
    uint32_t start = kOver;
    Group given{0, 0};
#if THRONG_NESTED
    Level level{0, 0, 0};
    if (gives) {
        level = lowest_level(walk);
        lower(walk);
    }
#endif
    if (gives) start = give_group(walk, stack, given);
    // All other lanes read their own values.
    const int source = int(takes ? nth_bit(donors, rank) : lane);
    auto pass = [&](auto& value) { value = __shfl_sync(kAllLanes, value, source); };
    auto pass_vector = [&](Vec3& v) { pass(v.x), pass(v.y), pass(v.z); };
    pass(given.base);
    pass(given.mask);
    pass(start);
    pass(index);
    pass(walk.t_min);
    pass(walk.t_max);
    pass(walk.instance);
    pass_vector(walk.space.origin);
    pass_vector(walk.space.inverse);
    pass(walk.space.shear_x);
    pass(walk.space.shear_y);
    pass(walk.space.slack);
    pass(walk.space.axes);
#if THRONG_NESTED
    pass(level.depth);
    pass(level.base);
    pass(level.up);
    for (uint32_t i = 0; __any_sync(kAllLanes, takes && i < level.depth); i++) {
        Entered outer = walk.entered[i];
        pass_vector(outer.origin);
        pass(outer.outside);
        pass_vector(outer.direction);
        pass(outer.outer_base);
        pass_vector(outer.low);
        if (takes && i < level.depth) walk.entered[i] = outer;
    }
    if (takes) {
        walk.depth = level.depth;
        walk.bottom = 0;
        walk.base = level.base;
        walk.space.axes = (walk.space.axes & ~(7u << kWorldUpShift)) | level.up << kWorldUpShift;
    }
#endif
    if (takes) walk.take_over(given, start);
}

}

// Traversal of incoherent rays through a TLAS that exceeds the caches. A few rays are interleaved, one node or instance at a time. The data for a
// ray's next step are prefetched while other rays advance (Kocberber, Falsafi and Grot 2015, "Asynchronous Memory Access Chaining"). Inside an
// instance, a ray is traversed alone: the mesh is in a cache, and interleaved rays would make branches less predictable.
#pragma once
#include "bvh/traverse.h"

namespace THRONG_NAMESPACE {

// Maximum number of rays that are collected for one interleaved traversal.
constexpr uint32_t kMaxInterleaved = 256;

struct InterleavedRay {
    WideSlabs slabs;
    Query q;
    StackEntry *stack, *top;
    uint32_t reference, ray;
};

template <class Filter>
struct Interleaved {
    const Params& params;
    const Ray* rays;
    Hit* hits;
    Thread& thread;
    const Filter& filter;

    THRONG_INLINE void start(InterleavedRay& r, uint32_t ray) const {
        r.q = make_query(params, rays[ray]);
        r.slabs = make_wide_slabs(r.q.origin, r.q.direction, params.frame.tlas_magnitude, r.q.t_min);
        r.top = r.stack;
        r.reference = params.frame.tlas_root;
        r.ray = ray;
    }

    THRONG_INLINE void fetch(const InterleavedRay& r) const { prefetch_child(params.trees.tlas_nodes, params.trees.instances, r.reference); }

    // Pops the next reference of the ray. False if none is left.
    THRONG_INLINE bool pop(InterleavedRay& r) const {
        do {
            if (r.top == r.stack) return false;
            --r.top;
        } while (r.top->t > r.q.t_max);
        r.reference = r.top->reference;
        return true;
    }

    // Visits one node or one instance. False if the ray is done.
    THRONG_INLINE bool step(InterleavedRay& r) const {
        if (r.reference & LEAF) {
            NoCount none;
            return !enter_instance<false>(params, rays[r.ray], r.reference & ~LEAF, r.q, r.top, none, filter) && pop(r);
        }
        Floats<THRONG_WIDTH> entry;
        const WideNode& node = params.trees.tlas_nodes[r.reference];
        const uint32_t mask = intersect_node(node, r.slabs, r.q.t_max, entry);
        if (!mask) return pop(r);
        if ((mask & (mask - 1)) == 0) r.reference = node.children[lowest_bit(mask)];
        else r.reference = push_children<true>(params.trees.tlas_nodes, params.trees.instances, node, mask, entry, r.top);
        return true;
    }

    THRONG_INLINE void run(const uint32_t* some, uint32_t count) const {
        InterleavedRay active_rays[MAX_INTERLEAVED];
        uint32_t next = 0, active = 0;
        for (; active < thread.stacks && next < count; active++) {
            active_rays[active].stack = thread.stack + active * thread.stack_entries;
            start(active_rays[active], some[next++]);
        }
        while (active) {
            for (uint32_t i = 0; i < active; i++) {
                InterleavedRay& r = active_rays[i];
                if (!step(r)) {
                    hits[r.ray] = hit_of(r.q);
                    if (next == count) {
                        // The last active ray moves to the free place.
                        r = active_rays[--active];
                        continue;
                    }
                    start(r, some[next++]);
                }
                fetch(r);
            }
        }
    }
};

// Finds the closest hits of the rays with the indices `some`.
THRONG_OUTLINE void closest_hits_interleaved(const Params& params, const Ray* rays, const uint32_t* some, uint32_t count, Hit* hits, Thread& thread) {
    if (params.frame.tlas_root == EMPTY_CHILD) {
        for (uint32_t i = 0; i < count; i++) hits[some[i]] = hit_of(make_query(params, rays[some[i]]));
    } else if (params.tables.has_cutouts) {
        const Cutouts filter{params};
        Interleaved<Cutouts>{params, rays, hits, thread, filter}.run(some, count);
    } else {
        const Solid filter;
        Interleaved<Solid>{params, rays, hits, thread, filter}.run(some, count);
    }
}

}

// Rays that have little in common, through a TLAS that no cache holds: a few of them take turns, of one node or one instance each,
// and what a ray visits next is fetched while the others have theirs (Kocberber, Falsafi and Grot 2015, "Asynchronous Memory
// Access Chaining"). Within an instance a ray goes on alone: its mesh is in a cache, and branches are predicted worse where the
// paths of several rays are mixed.
#pragma once
#include "bvh/traverse.h"

namespace THRONG_NAMESPACE {

// Most rays that wait to be traced so.
constexpr uint32_t kMostInTurns = 256;

struct RayInTurn {
    WideSlabs slabs;
    Query q;
    StackEntry *stack, *top;
    uint32_t reference, ray;
};

template <class Meets>
struct Turns {
    const Params& params;
    const Ray* rays;
    Hit* hits;
    Thread& thread;
    const Meets& meets;

    THRONG_INLINE void start(RayInTurn& r, uint32_t ray) const {
        r.q = make_query(params, rays[ray]);
        r.slabs = make_wide_slabs(r.q.origin, r.q.direction, params.tlas_magnitude, r.q.t_min);
        r.top = r.stack;
        r.reference = params.tlas_root;
        r.ray = ray;
    }

    THRONG_INLINE void fetch(const RayInTurn& r) const { prefetch_child(params.tlas_nodes, params.instances, r.reference); }

    // False if there is nothing left.
    THRONG_INLINE bool pop(RayInTurn& r) const {
        do {
            if (r.top == r.stack) return false;
            --r.top;
        } while (r.top->t > r.q.t_max);
        r.reference = r.top->reference;
        return true;
    }

    // One node or one instance. False if the ray is done.
    THRONG_INLINE bool step(RayInTurn& r) const {
        if (r.reference & LEAF) {
            NoCount none;
            enter_instance<false>(params, rays[r.ray], r.reference & ~LEAF, r.q, r.top, none, meets);
            return pop(r);
        }
        Floats<THRONG_WIDTH> entry;
        const WideNode& node = params.tlas_nodes[r.reference];
        const uint32_t mask = intersect_node(node, r.slabs, r.q.t_max, entry);
        if (!mask) return pop(r);
        if ((mask & (mask - 1)) == 0) r.reference = node.children[lowest_bit(mask)];
        else r.reference = push_children<true>(params.tlas_nodes, params.instances, node, mask, entry, r.top);
        return true;
    }

    THRONG_INLINE void run(const uint32_t* some, uint32_t count) const {
        RayInTurn turns[MOST_TURNS];
        uint32_t next = 0, active = 0;
        for (; active < thread.stacks && next < count; active++) {
            turns[active].stack = thread.stack + active * thread.stack_entries;
            start(turns[active], some[next++]);
        }
        while (active) {
            for (uint32_t i = 0; i < active; i++) {
                RayInTurn& r = turns[i];
                if (!step(r)) {
                    hits[r.ray] = hit_of(r.q);
                    if (next == count) {
                        // The last one takes the place.
                        r = turns[--active];
                        continue;
                    }
                    start(r, some[next++]);
                }
                fetch(r);
            }
        }
    }
};

// The closest hits of `some` rays, given by their numbers.
THRONG_OUTLINE void closest_hits_in_turns(const Params& params, const Ray* rays, const uint32_t* some, uint32_t count, Hit* hits, Thread& thread) {
    if (params.tlas_root == EMPTY_CHILD) {
        for (uint32_t i = 0; i < count; i++) hits[some[i]] = hit_of(make_query(params, rays[some[i]]));
    } else if (params.has_cutouts) {
        const Cutouts meets{params};
        Turns<Cutouts>{params, rays, hits, thread, meets}.run(some, count);
    } else {
        const Solid meets;
        Turns<Solid>{params, rays, hits, thread, meets}.run(some, count);
    }
}

}

// The ray queries of integrators, for the trees that this compilation traverses.
#pragma once
#include "bvh/cutout.h"
#ifdef THRONG_COMPRESSED
#include "bvh/traverse_compressed.h"
#else
#include "bvh/traverse_wide.h"
#endif

namespace THRONG_NAMESPACE {

// The hit of a query; t = -1 for a miss.
THRONG_INLINE Hit hit_of(const Query& q) { return Hit{q.prim == NO_INDEX ? -1.0f : q.t_max, q.u, q.v, q.prim, q.instance, q.record}; }

// Closest hit in [t_min, t_max].
template <class Count>
THRONG_DEVICE Hit closest_hit_counted(const Params& params, const Ray& ray, StackEntry* stack, Count& count) {
    Query q = make_query(params, ray);
    if (params.tables.has_cutouts) traverse<false>(params, ray, q, stack, count, Cutouts{params});
    else traverse<false>(params, ray, q, stack, count, Solid());
    return hit_of(q);
}

THRONG_OUTLINE Hit closest_hit(const Params& params, const Ray& ray, StackEntry* stack) {
    NoCount none;
    return closest_hit_counted(params, ray, stack, none);
}

// Whether there is a hit in [t_min, t_max].
template <class Count>
THRONG_DEVICE bool any_hit_counted(const Params& params, const Ray& ray, StackEntry* stack, Count& count) {
    Query q = make_query(params, ray);
    if (filters_shadows(params)) return traverse<true>(params, ray, q, stack, count, Cutouts{params});
    return traverse<true>(params, ray, q, stack, count, Solid());
}

THRONG_OUTLINE bool any_hit(const Params& params, const Ray& ray, StackEntry* stack) {
    NoCount none;
    return any_hit_counted(params, ray, stack, none);
}

}

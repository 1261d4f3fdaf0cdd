// Counters of traversal steps. Traversals call one of these functions at every step. The counter itself determines the size of a pack, so that
// `NoCount` costs nothing.
#pragma once
#include "abi.h"

namespace THRONG_NAMESPACE {

struct NoCount {
    THRONG_INLINE void tlas_node() {}
    THRONG_INLINE void blas_node() {}
    THRONG_INLINE void instance() {}
    template <class Pack> THRONG_INLINE void pack(const Pack&) {}
    THRONG_INLINE void leaf(uint32_t) {}
};

// Counts steps of all kinds together, for the heat map.
struct StepCount {
    uint32_t steps = 0;
    THRONG_INLINE void tlas_node() { steps++; }
    THRONG_INLINE void blas_node() { steps++; }
    THRONG_INLINE void instance() { steps++; }
    template <class Pack> THRONG_INLINE void pack(const Pack&) { steps++; }
    THRONG_INLINE void leaf(uint32_t) { steps++; }
};

// Counts each kind of step separately, for reports.
struct WorkCount {
    RayWork work = {};
    THRONG_INLINE void tlas_node() { work.tlas_nodes++; }
    THRONG_INLINE void blas_node() { work.blas_nodes++; }
    THRONG_INLINE void instance() { work.instances++; }
    template <class Pack> THRONG_INLINE void pack(const Pack& pack) {
        work.packs++;
        for (const uint32_t prim : pack.prim) work.triangles += prim != NO_INDEX;
    }
    THRONG_INLINE void pack(const SegmentPack& pack) {
        work.packs++;
        work.triangles++;
        for (const uint32_t prim : pack.prim) work.triangles += prim != pack.prim[0];
    }
    // A leaf of a compressed tree.
    THRONG_INLINE void leaf(uint32_t triangles) {
        work.packs++;
        work.triangles += triangles;
    }
};

}

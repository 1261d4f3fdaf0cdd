// Second step of a TLAS that a GPU builds: instances along a curve through space become a binary tree. In each round, clusters that fit each other
// best are merged (Meister and Bittner 2018, "Parallel Locally-Ordered Clustering for Bounding Volume Hierarchy Construction").
#pragma once
#include "tlas/placing.h"

namespace THRONG_NAMESPACE {

// Number of clusters on either side among which the best neighbour is searched.
constexpr uint32_t kSearchRadius = 2;

// How well two clusters fit. Both get the same value, and no cluster gets it twice, so that the best pair of all is merged in any case.
struct Fit {
    float area;
    uint32_t difference;

    THRONG_INLINE bool operator<(const Fit& other) const { return area < other.area || (area == other.area && difference < other.difference); }
};

// The neighbour of cluster `i` that fits best; without a neighbour, `NO_INDEX`. `box` returns the box of a cluster.
template <class Box>
THRONG_INLINE uint32_t best_neighbour(uint32_t i, uint32_t count, Box box) {
    const TreeBox own = box(i);
    const uint32_t first = i > kSearchRadius ? i - kSearchRadius : 0, last = i + kSearchRadius < count ? i + kSearchRadius : count - 1;
    uint32_t best = NO_INDEX;
    Fit most{kInfinity, NO_INDEX};
    for (uint32_t other = first; other <= last; other++) {
        if (other == i) continue;
        const Fit fit{half_area(joined(own, box(other))), i ^ other};
        if (fit < most) {
            most = fit;
            best = other;
        }
    }
    return best;
}

// The other of two successive clusters.
THRONG_INLINE uint32_t plain_neighbour(uint32_t i, uint32_t count) { return (i ^ 1u) < count ? i ^ 1u : NO_INDEX; }

// What becomes of a cluster in a round.
struct Merge {
    // The cluster stays, or becomes a node with its neighbour.
    bool is_kept, leads;
    uint32_t neighbour;
};

THRONG_INLINE Merge merge_of(const uint32_t* nearest, uint32_t i) {
    const uint32_t neighbour = nearest[i];
    const bool is_pair = neighbour != NO_INDEX && nearest[neighbour] == i, leads = is_pair && i < neighbour;
    return Merge{!is_pair || leads, leads, neighbour};
}

// Makes the inner node `number` from two trees, and returns it.
THRONG_INLINE uint32_t make_node(const TlasBuild& b, uint32_t number, uint32_t left, uint32_t right) {
    const uint32_t node = b.count + number;
    b.children[2 * uint64_t(number)] = left;
    b.children[2 * uint64_t(number) + 1] = right;
    b.boxes[node] = joined(b.boxes[left], b.boxes[right]);
    return node;
}

}

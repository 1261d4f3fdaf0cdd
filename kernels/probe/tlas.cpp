// The GPU's builder of TLASes, with a single thread, for tests on machines without a GPU.
#include "tlas/collapse.h"

using namespace THRONG_NAMESPACE;

// Writes records and boxes, and the instances' places on the curve to `places[0]`.
extern "C" void throng_probe_tlas_place(const TlasBuild* build) {
    const TlasBuild& b = *build;
    for (uint32_t i = 0; i < b.count; i++) {
        const TreeBox box = place_instance(b, i);
        if (is_empty(box)) continue;
        const Vec3 center = middle(box);
        const float coordinates[3] = {center.x, center.y, center.z};
        for (int axis = 0; axis < 3; axis++) {
            raise(b.state->high[axis], ordered(coordinates[axis]));
            raise(b.state->low[axis], ~ordered(coordinates[axis]));
        }
        b.state->visible++;
    }
    for (uint32_t i = 0; i < b.count; i++) b.places[0][i] = place_on_curve(*b.state, b.boxes[i]);
}

static void merge_all(const TlasBuild& b, bool plain) {
    uint32_t count = b.state->visible, made = 0, round = 0;
    for (uint32_t i = 0; i < count; i++) b.clusters[0][i] = b.order[0][i];
    for (; count > 1; round++) {
        const uint32_t* from = b.clusters[round & 1];
        const auto box = [&](uint32_t i) { return b.boxes[from[i]]; };
        for (uint32_t i = 0; i < count; i++) b.nearest[i] = plain ? plain_neighbour(i, count) : best_neighbour(i, count, box);
        uint32_t kept = 0;
        for (uint32_t i = 0; i < count; i++) {
            const Merge merge = merge_of(b.nearest, i);
            if (!merge.is_kept) continue;
            b.clusters[~round & 1][kept++] = merge.leads ? make_node(b, made++, from[i], from[merge.neighbour]) : from[i];
        }
        count = kept;
    }
    if (count) b.state->root = b.clusters[round & 1][0];
}

// Returns the number of levels; one more than `most` if there are more.
static uint32_t collapse_all(const TlasBuild& b, uint32_t most) {
    reinterpret_cast<OpenNode*>(b.places[0])[0] = OpenNode{b.state->root, 0};
    b.state->units = 0;
    for (uint32_t level = 0; level <= TLAS_LEVELS; level++) b.state->open[level] = level == 0;
    uint32_t level = 0;
    for (; level < most && b.state->open[level]; level++) {
        const OpenNode* nodes = reinterpret_cast<const OpenNode*>(b.places[level & 1]);
        for (uint32_t i = 0; i < b.state->open[level]; i++) collapse_node(b, nodes[i], level);
    }
    return b.state->open[level] ? most + 1 : level;
}

// Builds the tree. `order[0]` must hold the instances in the order of their places. Returns the number of levels.
extern "C" uint32_t throng_probe_tlas_build(const TlasBuild* build) {
    const TlasBuild& b = *build;
    uint32_t levels = 0;
    if (b.state->visible) {
        merge_all(b, false);
        levels = collapse_all(b, b.most_levels);
        if (levels > b.most_levels) {
            b.state->plain = 1;
            merge_all(b, true);
            levels = collapse_all(b, TLAS_LEVELS);
        }
    } else {
        b.units[0] = Unit{};
    }
    for (uint32_t i = 0; i < b.count; i++) write_instance(b, i);
    join_trees(b);
    return levels;
}

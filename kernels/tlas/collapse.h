// Last step of a TLAS that a GPU builds: the binary tree becomes compressed nodes with eight children. Slots and grids are chosen as in
// crates/accel/src/compressed.
#pragma once
#include "tlas/merge.h"

namespace THRONG_NAMESPACE {

// As in crates/accel/src/compressed/quantize.rs.
constexpr float kHalfUlp = 0.5f * kEpsilon, kGridAim = 1.0f / 32.0f, kGridCells = 254.75f, kGridSlack = 12.0f * kHalfUlp;
constexpr float kRelativeCell = 1.0f / float(1 << 20);

// The children of a node: roots of binary trees.
struct Children {
    uint32_t count;
    uint32_t node[8];
    TreeBox box[8];
};

// The greatest float below `x`, which is finite.
THRONG_INLINE float next_below(float x) {
    const uint32_t bits = float_bits(x);
    if (x == 0.0f) return bits_float(0x80000001u);
    return bits_float(bits >> 31 ? bits + 1 : bits - 1);
}

// Deals the children out to slots. `sources` gets the child of each slot; numbers from `count` on are no children.
THRONG_DEVICE void deal(const Children& c, uint32_t sources[8]) {
    float offsets[3][8];
    THRONG_UNROLL for (int axis = 0; axis < 3; axis++) {
        float low = kInfinity, high = -kInfinity;
        for (uint32_t i = 0; i < c.count; i++) {
            low = min(low, c.box[i].min[axis]);
            high = max(high, c.box[i].max[axis]);
        }
        THRONG_UNROLL for (uint32_t i = 0; i < 8; i++) offsets[axis][i] = i < c.count ? c.box[i].min[axis] + c.box[i].max[axis] - (low + high) : 0.0f;
    }
    THRONG_UNROLL for (uint32_t i = 0; i < 8; i++) sources[i] = i;
    for (int pass = 0; pass < 2; pass++) {
        // The exchanged slots differ in these bits: x 4, y 2, z 1.
        const uint32_t masks = 0x1243567u;
        THRONG_UNROLL for (int step = 0; step < 7; step++) {
            const uint32_t mask = masks >> 4 * step & 7u;
            THRONG_UNROLL for (uint32_t slot = 0; slot < 8; slot++) {
                const uint32_t other = slot ^ mask;
                if (other < slot) continue;
                float loss = 0.0f;
                THRONG_UNROLL for (int axis = 0; axis < 3; axis++) {
                    const uint32_t bit = 4u >> axis;
                    const float difference = offsets[axis][slot] - offsets[axis][other];
                    if (mask & bit) loss += slot & bit ? -difference : difference;
                }
                if (!(loss > 0.0f)) continue;
                THRONG_UNROLL for (int axis = 0; axis < 3; axis++) {
                    const float own = offsets[axis][slot];
                    offsets[axis][slot] = offsets[axis][other];
                    offsets[axis][other] = own;
                }
                const uint32_t own = sources[slot];
                sources[slot] = sources[other];
                sources[other] = own;
            }
        }
    }
}

// Stores one axis of the grid and of the boxes in a node.
THRONG_DEVICE void quantize_axis(const Children& c, const uint32_t sources[8], int axis, CompressedNode& node, float& cell) {
    float low = kInfinity, high = -kInfinity;
    float lows[8], highs[8];
    for (uint32_t i = 0; i < c.count; i++) {
        // The greatest coordinate of the child along any axis.
        float reach = 0.0f;
        for (int k = 0; k < 3; k++) reach = max(reach, max(fabsf(c.box[i].min[k]), fabsf(c.box[i].max[k])));
        const float slack = reach * (kGridSlack + kHalfUlp);
        lows[i] = c.box[i].min[axis] - slack;
        highs[i] = c.box[i].max[axis] + slack;
        low = min(low, lows[i]);
        high = max(high, highs[i]);
    }
    if (!(low <= high)) low = high = 0.0f;
    float least = max((high - low) * (1.0f / kGridCells), max(fabsf(low), fabsf(high)) * kRelativeCell);
    least = max(least, bits_float((127u - 100u) << 23));
    cell = bits_float((float_bits(least) + 0xffffu) & ~0xffffu);
    const float origin = next_below(low - kGridAim * cell), cells = 1.0f / cell;
    const auto rounded = [&](float x, float shift) {
        const float position = (x - origin) * cells + shift;
        return uint8_t(float_bits(min(max(position, 0.0f), 255.0f) + 8388608.0f));
    };
    node.origin[axis] = origin;
    for (uint32_t slot = 0; slot < 8; slot++) {
        const uint32_t i = sources[slot];
        // Slots without a child have inverted boxes.
        node.planes[axis][slot] = i < c.count ? rounded(lows[i], -0.5f - kGridAim) : 255u;
        node.planes[axis + 3][slot] = i < c.count ? rounded(highs[i], 0.5f + kGridAim) : 0u;
    }
}

// The node of these children, whose units start at `unit_base` in the order of the slots. `is_instance`: for each child.
template <class IsInstance>
THRONG_DEVICE CompressedNode compressed_node(const Children& c, const uint32_t sources[8], uint32_t unit_base, IsInstance is_instance) {
    CompressedNode node{};
    float cells[3];
    for (int axis = 0; axis < 3; axis++) quantize_axis(c, sources, axis, node, cells[axis]);
    node.scale_xy[0] = uint16_t(float_bits(cells[0]) >> 16);
    node.scale_xy[1] = uint16_t(float_bits(cells[1]) >> 16);
    node.scale_z = cells[2];
    node.unit_base = unit_base;
    for (uint32_t slot = 0; slot < 8; slot++) {
        if (sources[slot] >= c.count) continue;
        node.units |= uint8_t(1u << slot);
        if (is_instance(sources[slot])) node.instances |= uint8_t(1u << slot);
    }
    return node;
}

// The children of a binary tree's root in a wide tree: the largest inner nodes are replaced by their children as long as there is room.
THRONG_DEVICE void collect_children(const TlasBuild& b, uint32_t root, Children& c) {
    float areas[8];
    const auto put = [&](uint32_t place, uint32_t node) {
        c.node[place] = node;
        c.box[place] = b.boxes[node];
        // Instances are never opened.
        areas[place] = node < b.count ? -1.0f : half_area(c.box[place]);
    };
    c.count = 1;
    put(0, root);
    while (c.count < 8) {
        uint32_t largest = 0;
        for (uint32_t i = 1; i < c.count; i++) {
            if (areas[i] > areas[largest]) largest = i;
        }
        if (areas[largest] < 0.0f) break;
        const uint64_t inner = c.node[largest] - b.count;
        put(c.count++, b.children[2 * inner + 1]);
        put(largest, b.children[2 * inner]);
    }
}

// Writes the node of a binary tree's root as a unit, and opens its children on the next level. Instances get their place in `nearest`.
THRONG_DEVICE void collapse_node(const TlasBuild& b, OpenNode open, uint32_t level) {
    Children c;
    collect_children(b, open.node, c);
    uint32_t sources[8];
    deal(c, sources);
    const auto is_instance = [&](uint32_t i) { return c.node[i] < b.count; };
    uint32_t unit = b.first_unit + take(b.state->units, c.count), inner = 0;
    reinterpret_cast<CompressedNode&>(b.units[open.unit]) = compressed_node(c, sources, unit, is_instance);
    for (uint32_t i = 0; i < c.count; i++) inner += is_instance(i) ? 0 : 1;
    uint32_t place = inner ? take(b.state->open[level + 1], inner) : 0;
    OpenNode* next = reinterpret_cast<OpenNode*>(b.places[(level + 1) & 1]);
    for (uint32_t slot = 0; slot < 8; slot++) {
        if (sources[slot] >= c.count) continue;
        const uint32_t node = c.node[sources[slot]];
        if (node < b.count) b.nearest[node] = unit;
        else next[place++] = OpenNode{node, unit};
        unit++;
    }
}

// Writes the unit of an instance, if it has a place in the tree.
THRONG_DEVICE void write_instance(const TlasBuild& b, uint32_t i) {
    if (is_empty(b.boxes[i])) return;
    const InstanceRecord& record = b.records[b.first_record + i];
    const MeshTree& mesh = b.meshes[record.mesh];
    InstanceUnit unit;
    for (int k = 0; k < 12; k++) unit.object_from_world[k] = record.object_from_world[k];
    unit.root = mesh.root;
    unit.instance = record.instance;
    unit.record = b.first_record + i;
    unit.segments = record.segments;
    unit.first_key = record.first_key;
    unit.mesh_segments = mesh.mesh_segments;
    unit.mesh_leaves = mesh.mesh_leaves;
    unit.reach = mesh.reach;
    reinterpret_cast<InstanceUnit&>(b.units[b.nearest[i]]) = unit;
}

// Writes the common root, and the roots of its trees after it. The tree that was built is the last one, and is empty if `visible` is 0.
THRONG_DEVICE void join_trees(const TlasBuild& b) {
    if (!b.others) return;
    Children c;
    c.count = TLAS_PARTS;
    const PartRoot nothing{empty_box(), {}};
    PartRoot parts[TLAS_PARTS];
    for (uint32_t i = 0; i < TLAS_PARTS; i++) parts[i] = i < b.other_count ? b.others[i] : nothing;
    PartRoot& own = parts[b.other_count];
    if (b.state->visible) {
        own.bounds = b.boxes[b.state->root];
        for (int k = 0; k < 20; k++) own.unit[k] = b.units[0].words[k];
    }
    TreeBox all = empty_box();
    for (uint32_t i = 0; i < TLAS_PARTS; i++) all = joined(all, parts[i].bounds);
    if (is_empty(all)) all = tree_box(vec3(0.0f), vec3(0.0f));
    const Vec3 corner = load3(all.min);
    for (uint32_t i = 0; i < TLAS_PARTS; i++) c.box[i] = is_empty(parts[i].bounds) ? tree_box(corner, corner) : parts[i].bounds;
    uint32_t sources[8], unit = 1;
    deal(c, sources);
    reinterpret_cast<CompressedNode&>(b.units[0]) = compressed_node(c, sources, 1, [](uint32_t) { return false; });
    for (uint32_t slot = 0; slot < 8; slot++) {
        if (sources[slot] >= c.count) continue;
        for (int k = 0; k < 20; k++) b.units[unit].words[k] = parts[sources[slot]].unit[k];
        unit++;
    }
}

}

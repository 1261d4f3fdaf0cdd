// First steps of a TLAS that a GPU builds: the inverse transform, record and box of each instance, and its place on a curve through space.
//
// Boxes and inverses have the bits of crates/accel's, so that hits do not depend on who builds the tree.
#pragma once
#include "abi.h"
#include "util/vec.h"

namespace THRONG_NAMESPACE {

// Largest coordinate that can be traced, as in crates/base.
constexpr float kLargestCoordinate = 1e18f;
constexpr float kEpsilon = 1.1920929e-7f;

#if defined(THRONG_CUDA)
THRONG_INLINE void raise(uint32_t& number, uint32_t x) { atomicMax(&number, x); }
THRONG_INLINE uint32_t take(uint32_t& number, uint32_t count) { return atomicAdd(&number, count); }
#else
THRONG_INLINE void raise(uint32_t& number, uint32_t x) {
    if (x > number) number = x;
}
THRONG_INLINE uint32_t take(uint32_t& number, uint32_t count) {
    const uint32_t before = number;
    number += count;
    return before;
}
#endif

// An integer with the order of floats, and back.
THRONG_INLINE uint32_t ordered(float x) {
    const uint32_t bits = float_bits(x);
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}
THRONG_INLINE float from_ordered(uint32_t x) { return bits_float(x ^ (x >> 31 ? 0x80000000u : 0xffffffffu)); }

THRONG_INLINE TreeBox tree_box(Vec3 low, Vec3 high) { return TreeBox{{low.x, low.y, low.z}, {high.x, high.y, high.z}}; }
THRONG_INLINE TreeBox empty_box() { return tree_box(vec3(kInfinity), vec3(-kInfinity)); }
THRONG_INLINE bool is_empty(const TreeBox& box) {
    return !(box.min[0] <= box.max[0] && box.min[1] <= box.max[1] && box.min[2] <= box.max[2]);
}
THRONG_INLINE Vec3 lower(Vec3 a, Vec3 b) { return vec3(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z)); }
THRONG_INLINE Vec3 higher(Vec3 a, Vec3 b) { return vec3(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z)); }
THRONG_INLINE TreeBox joined(const TreeBox& a, const TreeBox& b) {
    return tree_box(lower(load3(a.min), load3(b.min)), higher(load3(a.max), load3(b.max)));
}
THRONG_INLINE Vec3 middle(const TreeBox& box) { return load3(box.min) * 0.5f + load3(box.max) * 0.5f; }
THRONG_INLINE float half_area(const TreeBox& box) {
    const Vec3 e = load3(box.max) - load3(box.min);
    return e.x * e.y + e.y * e.z + e.z * e.x;
}

// `world_from_object` as columns.
struct Columns {
    Vec3 x, y, z, translation;
};

THRONG_INLINE Columns load_columns(const float* from) { return Columns{load3(from), load3(from + 3), load3(from + 6), load3(from + 9)}; }
THRONG_INLINE Columns columns_of(const float* rows) {
    return Columns{vec3(rows[0], rows[4], rows[8]), vec3(rows[1], rows[5], rows[9]), vec3(rows[2], rows[6], rows[10]), vec3(rows[3], rows[7], rows[11])};
}
THRONG_INLINE void store_rows(float* rows, const Columns& m) {
    rows[0] = m.x.x; rows[1] = m.y.x; rows[2] = m.z.x; rows[3] = m.translation.x;
    rows[4] = m.x.y; rows[5] = m.y.y; rows[6] = m.z.y; rows[7] = m.translation.y;
    rows[8] = m.x.z; rows[9] = m.y.z; rows[10] = m.z.z; rows[11] = m.translation.z;
}

THRONG_INLINE Vec3 transformed_reach(const Columns& m, Vec3 reach) { return absolute(m.x) * reach.x + absolute(m.y) * reach.y + absolute(m.z) * reach.z; }

// Whether a row of a matrix only scales an axis, to the accuracy that a box needs.
THRONG_INLINE bool is_along_axis(Vec3 row) {
    row = absolute(row);
    return row.x + row.y + row.z <= max_component(row) * (1.0f + 1e-6f);
}

// The cell of a direction in a cube map.
THRONG_DEVICE uint32_t support_cell(Vec3 d) {
    const Vec3 a = absolute(d);
    const uint32_t axis = a.x >= max(a.y, a.z) ? 0 : a.y >= a.z ? 1 : 2;
    const float along[5] = {d.x, d.y, d.z, d.x, d.y};
    const float half = 0.5f * float(SUPPORT_EDGE), scale = half / max(fabsf(along[axis]), 1.17549435e-38f);
    const auto cell = [&](float v) { return uint32_t(min(max(v * scale + half, 0.0f), float(SUPPORT_EDGE - 1))); };
    const uint32_t face = 2 * axis + (along[axis] < 0.0f ? 1 : 0);
    return (face * SUPPORT_EDGE + cell(along[axis + 2])) * SUPPORT_EDGE + cell(along[axis + 1]);
}

// The greatest dot product of a mesh's vertex with a direction.
THRONG_DEVICE float farthest_along(const TlasBuild& b, const MeshTree& mesh, Vec3 d) {
    const uint32_t* cell = b.cells + mesh.support + (mesh.cells == 1 ? 0 : support_cell(d));
    const auto along = [&](uint32_t x, uint32_t y, uint32_t z) { return bits_float(x) * d.x + bits_float(y) * d.y + bits_float(z) * d.z; };
    float farthest = -kInfinity;
    for (uint32_t block = cell[0]; block < cell[1]; block++) {
        const float* from = b.blocks + 12 * uint64_t(block);
        const Words4 x = load_words(from), y = load_words(from + 4), z = load_words(from + 8);
        farthest = max(farthest, max(max(along(x.x, y.x, z.x), along(x.y, y.y, z.y)), max(along(x.z, y.z, z.z), along(x.w, y.w, z.w))));
    }
    return farthest;
}

// The box of a mesh after a transform; empty if it leaves the range of coordinates. `at_key`: at a motion key, whose interpolation rounds more.
THRONG_DEVICE TreeBox placed_box(const TlasBuild& b, const MeshTree& mesh, const Columns& m, bool at_key) {
    const Vec3 low = load3(mesh.min), high = load3(mesh.max), reach = higher(absolute(low), absolute(high));
    const Vec3 terms = transformed_reach(m, reach) + absolute(m.translation);
    if (!(terms.x <= kLargestCoordinate && terms.y <= kLargestCoordinate && terms.z <= kLargestCoordinate)) return empty_box();
    Vec3 slack = 8.0f * kEpsilon * terms, center, extent;
    if (mesh.root == NO_INDEX) {
        slack = 8.0f * kEpsilon * (transformed_reach(m, vec3(1.0f)) + absolute(m.translation));
        center = m.translation;
        extent = vec3(length(vec3(m.x.x, m.y.x, m.z.x)), length(vec3(m.x.y, m.y.y, m.z.y)), length(vec3(m.x.z, m.y.z, m.z.z)));
    } else {
        const Vec3 c = low * 0.5f + high * 0.5f;
        center = m.x * c.x + m.y * c.y + m.z * c.z + m.translation;
        extent = transformed_reach(m, (high - low) * 0.5f);
    }
    TreeBox box = tree_box(center - extent, center + extent);
    const Vec3 rows[3] = {vec3(m.x.x, m.y.x, m.z.x), vec3(m.x.y, m.y.y, m.z.y), vec3(m.x.z, m.y.z, m.z.z)};
    if (mesh.support != NO_INDEX && !(is_along_axis(rows[0]) && is_along_axis(rows[1]) && is_along_axis(rows[2]))) {
        const Vec3 least = vec3(-farthest_along(b, mesh, -rows[0]), -farthest_along(b, mesh, -rows[1]), -farthest_along(b, mesh, -rows[2]));
        const Vec3 most = vec3(farthest_along(b, mesh, rows[0]), farthest_along(b, mesh, rows[1]), farthest_along(b, mesh, rows[2]));
        box = tree_box(higher(least + m.translation, load3(box.min)), lower(most + m.translation, load3(box.max)));
    }
    box = tree_box(load3(box.min) - slack, load3(box.max) + slack);
    if (at_key) {
        slack = 8.0f * kEpsilon * terms * 3.0f;
        box = tree_box(load3(box.min) - slack, load3(box.max) + slack);
    }
    return box;
}

struct Double3 {
    double x, y, z;
};
THRONG_INLINE Double3 widened(Vec3 v) { return Double3{v.x, v.y, v.z}; }
THRONG_INLINE Double3 cross(Double3 a, Double3 b) { return Double3{a.y * b.z - b.y * a.z, a.z * b.x - b.z * a.x, a.x * b.y - b.x * a.y}; }

// The rows of `object_from_world`, computed in double precision. Returns whether they are finite.
THRONG_DEVICE bool invert_exactly(const Columns& m, float* rows) {
    const Double3 x = widened(m.x), y = widened(m.y), z = widened(m.z), t = widened(m.translation);
    const Double3 r[3] = {cross(y, z), cross(z, x), cross(x, y)};
    const double scale = 1.0 / (x.x * r[0].x + x.y * r[0].y + x.z * r[0].z);
    bool is_finite = true;
    for (int i = 0; i < 3; i++) {
        const Double3 row{r[i].x * scale, r[i].y * scale, r[i].z * scale};
        rows[4 * i] = float(row.x);
        rows[4 * i + 1] = float(row.y);
        rows[4 * i + 2] = float(row.z);
        rows[4 * i + 3] = float(-(row.x * t.x + row.y * t.y + row.z * t.z));
        for (int k = 0; k < 4; k++) is_finite &= fabsf(rows[4 * i + k]) < kInfinity;
    }
    return is_finite;
}

// Writes the record and the box of an instance, which is empty if rays cannot hit it. Returns the box.
THRONG_DEVICE TreeBox place_instance(const TlasBuild& b, uint32_t i) {
    InstanceRecord& record = b.records[b.first_record + i];
    const InstanceKind kind = b.kinds ? b.kinds[i] : InstanceKind{record.instance, record.mesh, record.slot_base};
    const KeyRange range = b.ranges ? b.ranges[i] : KeyRange{0, 0};
    const MeshTree& mesh = b.meshes[kind.mesh];
    const Columns m = load_columns(b.transforms + 12 * uint64_t(i));
    TreeBox box = placed_box(b, mesh, m, false);
    bool is_visible = !is_empty(box);
    for (uint32_t key = 0; range.segments && key <= range.segments; key++) {
        const TreeBox other = placed_box(b, mesh, columns_of(b.keys[range.first_key + key].world_from_object), true);
        is_visible &= !is_empty(other);
        box = joined(box, other);
    }
    InstanceRecord made;
    is_visible &= invert_exactly(m, made.object_from_world);
    made.blas = kind.mesh;
    made.mask = is_visible ? 0xffffffffu : 0u;
    made.instance = kind.instance;
    made.flags = mesh.mesh_segments || range.segments ? INSTANCE_MOVES : 0u;
    store_rows(made.world_from_object, m);
    made.slot_base = kind.slot_base;
    made.mesh = kind.mesh;
    made.first_key = range.first_key;
    made.segments = range.segments;
    record = made;
    if (!is_visible || !mesh.solid) box = empty_box();
    b.boxes[i] = box;
    return box;
}

// Number of bits of a coordinate on the curve.
constexpr uint32_t kCurveBits = 16;

// Spreads the lowest 16 bits, so that two zeros follow each.
THRONG_INLINE uint64_t spread(uint32_t x) {
    uint64_t bits = x & 0xffffu;
    bits = (bits | bits << 32) & 0x1f00000000ffffull;
    bits = (bits | bits << 16) & 0x1f0000ff0000ffull;
    bits = (bits | bits << 8) & 0x100f00f00f00f00full;
    bits = (bits | bits << 4) & 0x10c30c30c30c30c3ull;
    return (bits | bits << 2) & 0x1249249249249249ull;
}

// The place of a box on a Morton curve through the cube around all centres. Hidden instances come last.
THRONG_INLINE uint64_t place_on_curve(const TlasState& state, const TreeBox& box) {
    if (is_empty(box)) return (uint64_t(1) << 3 * kCurveBits) - 1;
    const Vec3 low = vec3(from_ordered(~state.low[0]), from_ordered(~state.low[1]), from_ordered(~state.low[2]));
    const Vec3 high = vec3(from_ordered(state.high[0]), from_ordered(state.high[1]), from_ordered(state.high[2]));
    // The last cell is left to hidden instances.
    const float extent = max(max_component(high - low), 1e-30f), cells = float((1 << kCurveBits) - 2) / extent;
    const Vec3 place = (middle(box) - low) * cells;
    return spread(uint32_t(place.x)) << 2 | spread(uint32_t(place.y)) << 1 | spread(uint32_t(place.z));
}

}

// Ray tests against a compressed node and against a single triangle, for processors that run one ray per lane.
#pragma once
#include "bvh/intersect.h"
#include "geom/segment.h"

namespace THRONG_NAMESPACE {

// A ray prepared for the space in which it is traversed.
struct Space {
    Vec3 origin, inverse;
    // Woop's shear: direction components of the two shorter axes, divided by the longest one.
    float shear_x, shear_y;
    // Widening of boxes for rounding at the ray's origin (see `kBoxSlack`).
    float slack;
    // From the lowest bit: the axes along which the ray goes up (4, 2 and 1 for x, y and z) in this space; the same for world space; the ray's
    // longest axis in two bits; the number of the shape if the current mesh is made of curves, otherwise 0. `slot ^ up` is the position of a slot in the order of visits. If far slots are visited first, the bits mark the axes along which
    // the ray goes down.
    uint32_t axes;
};

constexpr uint32_t kWorldUpShift = 3, kLongestShift = 6, kCurvesShift = 8;

THRONG_INLINE uint32_t longest_axis(const Space& s) { return s.axes >> kLongestShift & (THRONG_NESTED ? 3u : ~0u); }

// Cyclic permutation of a vector that puts the given axis last.
THRONG_INLINE Vec3 axis_last(Vec3 v, uint32_t axis) {
    const bool x = axis == 0, y = axis == 1;
    return vec3(x ? v.y : y ? v.z : v.x, x ? v.z : y ? v.x : v.y, x ? v.x : y ? v.y : v.z);
}

// Prepares `s` for node tests only. Returns the bits of the axes along which the ray goes up.
THRONG_INLINE uint32_t prepare_boxes(Space& s, Vec3 origin, Vec3 direction) {
    Vec3 r = vec3(rough_reciprocal(direction.x), rough_reciprocal(direction.y), rough_reciprocal(direction.z));
    // A rare case: components smaller than 1e-12 of the longest move the ray by less than rounding does. The bound keeps their distances finite.
    if (max_component(absolute(r)) > 1e15f) {
        float bound = 1e12f * min(min(fabsf(r.x), fabsf(r.y)), fabsf(r.z));
        r = vec3(copysignf(min(fabsf(r.x), bound), direction.x), copysignf(min(fabsf(r.y), bound), direction.y),
                 copysignf(min(fabsf(r.z), bound), direction.z));
    }
    s.inverse = r;
    s.origin = origin;
    // 1.5 times the slack for exact reciprocals. Boxes are already widened for the rounding of their own coordinates.
    s.slack = 1.5f * kBoxSlack * max_component(absolute(origin));
    return 7u ^ push_sign(push_sign(float_bits(direction.x) >> 31, direction.y), direction.z);
}

// Whether the ray definitely misses the box. The box must be widened for the rounding of its own coordinates, like the boxes of nodes.
THRONG_INLINE bool misses_box(Vec3 origin, Vec3 direction, float t_max, const float* box_min, const float* box_max) {
    Space s;
    prepare_boxes(s, origin, direction);
    Vec3 a = (load3(box_min) - origin) * s.inverse, b = (load3(box_max) - origin) * s.inverse;
    float near = max(0.0f, max(max(min(a.x, b.x) - s.slack * fabsf(s.inverse.x), min(a.y, b.y) - s.slack * fabsf(s.inverse.y)),
                               min(a.z, b.z) - s.slack * fabsf(s.inverse.z)));
    float far = min(t_max, min(min(max(a.x, b.x) + s.slack * fabsf(s.inverse.x), max(a.y, b.y) + s.slack * fabsf(s.inverse.y)),
                               max(a.z, b.z) + s.slack * fabsf(s.inverse.z)));
    return near > far;
}

// Prepares `s` for triangle tests, after `prepare_boxes`. Returns the longest axis.
THRONG_INLINE uint32_t prepare_triangles(Space& s, Vec3 direction) {
    Vec3 a = absolute(direction);
    uint32_t longest = a.x > a.y ? (a.x > a.z ? 0u : 2u) : (a.y > a.z ? 1u : 2u);
    Vec3 d = axis_last(direction, longest);
    float z = refined_reciprocal(d.z, axis_last(s.inverse, longest).z);
    s.inverse = vec3(longest == 0 ? z : s.inverse.x, longest == 1 ? z : s.inverse.y, longest == 2 ? z : s.inverse.z);
    s.shear_x = d.x * z;
    s.shear_y = d.y * z;
    return longest;
}

// Distances to the near and far planes of one axis, in the form (65536 + byte) * scale + offset.
struct AxisSlabs {
    float scale, near_offset, far_offset;
};

THRONG_INLINE AxisSlabs axis_slabs(float grid, uint32_t cell, float origin, float inverse, float slack) {
    AxisSlabs a;
    a.scale = bits_float(cell) * inverse;
    // Subtracting 65536 cells rounds to 2^-8 cells, and so does widening. The boxes' margin covers both.
    float base = fused_multiply_add(-65536.0f, a.scale, (grid - origin) * inverse);
    a.near_offset = fused_multiply_add(-slack, fabsf(inverse), base);
    a.far_offset = fused_multiply_add(slack, fabsf(inverse), base);
    return a;
}

// Words of a node's planes for four slots, sorted into near and far planes.
struct PlaneWords {
    uint32_t near_x, near_y, near_z, far_x, far_y, far_z;
};

// Length of the ray inside a slot's box and before t_max; negative if the ray misses the box.
template <int index>
THRONG_INLINE float overlap(const PlaneWords& w, const AxisSlabs& x, const AxisSlabs& y, const AxisSlabs& z, float t_max) {
    float near_x = fused_multiply_add(biased_byte<index>(w.near_x), x.scale, x.near_offset);
    float near_y = fused_multiply_add(biased_byte<index>(w.near_y), y.scale, y.near_offset);
    float near_z = fused_multiply_add(biased_byte<index>(w.near_z), z.scale, z.near_offset);
    float far_x = fused_multiply_add(biased_byte<index>(w.far_x), x.scale, x.far_offset);
    float far_y = fused_multiply_add(biased_byte<index>(w.far_y), y.scale, y.far_offset);
    float far_z = fused_multiply_add(biased_byte<index>(w.far_z), z.scale, z.far_offset);
    return min_or_negative(far_x, far_y, far_z, t_max) - max_or_zero(near_x, near_y, near_z);
}

// The children of a node. `masks` has four bytes of slot bits, from the lowest: units, instances, leaves and leaves of two triangles. The bits of hit
// units are in the order of visits, the first in the highest bit. The bits of hit leaves are in the order of slots.
struct NodeHits {
    uint32_t unit_base, leaf_base, masks, unit_hits, leaf_hits;
};

// Moves bit `slot` of a byte to bit `slot ^ up`, which orders hits by visit.
THRONG_INLINE constexpr uint32_t order_slots(uint32_t bits, uint32_t up) {
    if (up & 1) bits = (bits & 0x55u) << 1 | (bits >> 1 & 0x55u);
    if (up & 2) bits = (bits & 0x33u) << 2 | (bits >> 2 & 0x33u);
    if (up & 4) bits = (bits & 0x0fu) << 4 | bits >> 4;
    return bits;
}

// `order_slots` as a function object. `TableOrder` in `persistent.h` uses a table instead.
struct ComputedOrder {
    THRONG_INLINE uint32_t operator()(uint32_t bits, uint32_t up) const { return order_slots(bits, up); }
};

// Tests a ray against a node's children. Boxes behind the ray's origin are rejected; boxes before its t_min are accepted.
template <class Order>
THRONG_INLINE NodeHits intersect_node(const Unit* unit, const Space& s, float t_max, const Order& order) {
    Words4 head = load_words(&unit->words[0]), links = load_words(&unit->words[4]);
    Words4 p0 = load_words(&unit->words[8]), p1 = load_words(&unit->words[12]), p2 = load_words(&unit->words[16]);
    AxisSlabs x = axis_slabs(bits_float(head.x), head.w << 16, s.origin.x, s.inverse.x, s.slack);
    AxisSlabs y = axis_slabs(bits_float(head.y), head.w & 0xffff0000u, s.origin.y, s.inverse.y, s.slack);
    AxisSlabs z = axis_slabs(bits_float(head.z), links.w, s.origin.z, s.inverse.z, s.slack);
    bool up_x = !(float_bits(s.inverse.x) >> 31), up_y = !(float_bits(s.inverse.y) >> 31), up_z = !(float_bits(s.inverse.z) >> 31);
    uint32_t misses = 0;
    PlaneWords w{up_x ? p0.y : p1.w, up_y ? p0.w : p2.y, up_z ? p1.y : p2.w, up_x ? p1.w : p0.y, up_y ? p2.y : p0.w, up_z ? p2.w : p1.y};
    misses = push_sign(misses, overlap<3>(w, x, y, z, t_max));
    misses = push_sign(misses, overlap<2>(w, x, y, z, t_max));
    misses = push_sign(misses, overlap<1>(w, x, y, z, t_max));
    misses = push_sign(misses, overlap<0>(w, x, y, z, t_max));
    w = PlaneWords{up_x ? p0.x : p1.z, up_y ? p0.z : p2.x, up_z ? p1.x : p2.z, up_x ? p1.z : p0.x, up_y ? p2.x : p0.z, up_z ? p2.z : p1.x};
    misses = push_sign(misses, overlap<3>(w, x, y, z, t_max));
    misses = push_sign(misses, overlap<2>(w, x, y, z, t_max));
    misses = push_sign(misses, overlap<1>(w, x, y, z, t_max));
    misses = push_sign(misses, overlap<0>(w, x, y, z, t_max));

    NodeHits n;
    n.unit_base = links.x;
    n.leaf_base = links.y;
    n.masks = links.z;
    n.unit_hits = order(~misses & links.z & 255u, s.axes & 7u);
    n.leaf_hits = ~misses & links.z >> 16 & 255u;
    return n;
}

struct TriangleHit {
    float t, u, v;
    uint32_t prim;
    // Whether the ray hits the side from which the corners run counter-clockwise.
    bool front;
};

// The corner of a leaf's first triangle that is A, and of its second triangle that is D, for each value of the last three bits of its word.
constexpr uint32_t kFirstTurns = 0u | 0u << 2 | 0u << 4 | 1u << 6 | 1u << 8 | 2u << 10, kSecondTurns = 0u | 1u << 2 | 2u << 4 | 1u << 6 | 2u << 8 | 2u << 10;

// A leaf of a patch: the first vertex of the patch, at the ray's time, and the word of the leaf. Between two keys, vertices of the later one are
// `stride` rows further; otherwise, `stride` is 0.
struct PatchLeaf {
    const PatchRow* rows;
    uint32_t word, stride;
    float share;

    THRONG_INLINE bool is_pair() const { return byte_of<2>(word) != (word >> 24 & 31u); }

    THRONG_INLINE Vec3 a() const { return vertex(byte_of<0>(word)); }
    THRONG_INLINE Vec3 b() const { return vertex(byte_of<1>(word)); }
    THRONG_INLINE Vec3 c() const { return vertex(byte_of<2>(word)); }
    THRONG_INLINE Vec3 d() const { return vertex(word >> 24 & 31u); }

    THRONG_INLINE Vec3 vertex(uint32_t place) const {
        const PatchRow* row = rows + place;
        const Vec3 position = vec3(load_words(row));
        return stride ? between(position, vec3(load_words(row + stride)), share) : position;
    }

    // Puts values of the vertices A, B, C or D, C, B into the order of the triangle's corners.
    THRONG_INLINE Vec3 by_corners(Vec3 v, bool second) const {
        const uint32_t first = (second ? kSecondTurns : kFirstTurns) >> (word >> 28 & 14u) & 3u;
        const bool zero = first == 0, one = first == 1;
        return vec3(zero ? v.x : one ? v.z : v.y, zero ? v.y : one ? v.x : v.z, zero ? v.z : one ? v.y : v.x);
    }

    // The corners of a triangle, with the given axis last.
    THRONG_INLINE void load_corners(bool second, uint32_t axis, Vec3* corners) const {
        const Vec3 p = second ? d() : a(), q = second ? c() : b(), r = second ? b() : c();
        const Vec3 x = by_corners(vec3(p.x, q.x, r.x), second), y = by_corners(vec3(p.y, q.y, r.y), second), z = by_corners(vec3(p.z, q.z, r.z), second);
        corners[0] = axis_last(vec3(x.x, y.x, z.x), axis);
        corners[1] = axis_last(vec3(x.y, y.y, z.y), axis);
        corners[2] = axis_last(vec3(x.z, y.z, z.z), axis);
    }
};

// Whether a triangle lies behind a ray's origin. Outlined and passed by value: few rays need it, and all others should keep their registers.
THRONG_OUTLINE bool is_behind(PatchLeaf leaf, bool second, uint32_t kz, Vec3 origin, float shear_x, float shear_y, float sz) {
    Vec3 corners[3];
    leaf.load_corners(second, kz, corners);
    return is_behind(corners, axis_last(origin, kz), shear_x, shear_y, sz);
}

// Edge functions of a triangle's corners by `edge_functions_exact`. Outlined like `is_behind`.
THRONG_OUTLINE Vec3 edges_exact(PatchLeaf leaf, bool second, uint32_t kz, Vec3 origin, float shear_x, float shear_y) {
    Vec3 p[3];
    leaf.load_corners(second, kz, p);
    const Vec3 o = axis_last(origin, kz);
    for (Vec3& corner : p) {
        const float z = corner.z - o.z;
        corner = vec3((corner.x - o.x) - shear_x * z, (corner.y - o.y) - shear_y * z, z);
    }
    float e[3];
    edge_functions_exact(p[0].x, p[0].y, p[1].x, p[1].y, p[2].x, p[2].y, e);
    return vec3(e[0], e[1], e[2]);
}

// A vertex relative to a ray, sheared so that the ray is the z axis. `longest` is 1 along the ray's longest axis, and 0 along others: sums with zeros are
// exact, and take units of a GPU that are less busy than those for selections.
THRONG_INLINE Vec3 shear_vertex(Vec3 vertex, const Space& s, uint32_t kz, Vec3 longest) {
    const Vec3 d = vertex - s.origin;
    const float z = kz == 0 ? d.x : kz == 1 ? d.y : d.z;
    const float x = s.shear_x * z, y = s.shear_y * z;
    return vec3(fused_multiply_add(d.x, longest.z, fused_multiply_add(d.y, longest.x, fused_multiply_add(d.z, longest.y, -x))),
                fused_multiply_add(d.x, longest.y, fused_multiply_add(d.y, longest.z, fused_multiply_add(d.z, longest.x, -y))), z);
}

THRONG_INLINE float edge_function(Vec3 a, Vec3 b) { return a.x * b.y - a.y * b.x; }
THRONG_INLINE bool have_one_sign(Vec3 e) { return fminf(e.x, fminf(e.y, e.z)) >= 0.0f || fmaxf(e.x, fmaxf(e.y, e.z)) <= 0.0f; }
// Positive if the edge functions have one sign, and negative if not. If products underflow or edge functions are zero, it may be 0 in either case.
THRONG_INLINE float agreement(Vec3 e) { return fminf(e.x * e.y, fminf(e.y * e.z, e.z * e.x)); }

// A triangle of a leaf that a ray may cross: its edge functions and distances, for A, B, C or D, C, B.
struct LeafCrossing {
    Vec3 edges, depths;
    // That of the edge functions.
    float agreement;
    // Whether the ray may cross the first triangle, and whether it may cross the second one. If both, this is the first one.
    bool first, second;
};

// First part of the watertight triangle test (Woop, Benthin and Wald 2013) for the triangles of a leaf, or for the second one if the first one `is_done`.
// The results of all operations are those of the CPU's test, so that hits are bit-identical: the edge function of the common edge has the same
// magnitude from both sides.
THRONG_INLINE LeafCrossing cross_leaf(const PatchLeaf& leaf, const Space& s, bool is_done) {
    const uint32_t kz = longest_axis(s);
    const Vec3 longest = vec3(kz == 0 ? 1.0f : 0.0f, kz == 1 ? 1.0f : 0.0f, kz == 2 ? 1.0f : 0.0f);
    const Vec3 a = shear_vertex(leaf.a(), s, kz, longest), b = shear_vertex(leaf.b(), s, kz, longest);
    const Vec3 c = shear_vertex(leaf.c(), s, kz, longest), d = shear_vertex(leaf.d(), s, kz, longest);
    const float common = edge_function(c, b);
    const Vec3 first = vec3(common, edge_function(a, c), edge_function(b, a)), second = vec3(-common, edge_function(d, b), edge_function(c, d));
    LeafCrossing crossing;
    const float agree_first = agreement(first), agree_second = agreement(second);
    crossing.first = agree_first >= 0.0f && !is_done;
    crossing.second = agree_second >= 0.0f;
    crossing.agreement = crossing.first ? agree_first : agree_second;
    crossing.edges = crossing.first ? first : second;
    crossing.depths = crossing.first ? vec3(a.z, b.z, c.z) : vec3(d.z, c.z, b.z);
    return crossing;
}

// Second part of the test. For distances below `near`, a second test decides whether the hit is behind the ray's origin. The caller sets the
// triangle's index.
THRONG_INLINE bool finish_crossing(const LeafCrossing& crossing, const PatchLeaf& leaf, const Space& s, float t_min, float t_max, float near, TriangleHit& hit) {
    const uint32_t kz = longest_axis(s);
    const bool second = !crossing.first;
    Vec3 e = leaf.by_corners(crossing.edges, second);
    const Vec3 z = leaf.by_corners(crossing.depths, second);
    if (crossing.agreement == 0.0f) {
        if (e.x == 0.0f || e.y == 0.0f || e.z == 0.0f) e = edges_exact(leaf, second, kz, s.origin, s.shear_x, s.shear_y);
        if (!have_one_sign(e)) return false;
    }
    const float sz = axis_last(s.inverse, kz).z, det = e.x + e.y + e.z;
    if (det == 0.0f) return false;
    hit.t = (e.x * (sz * z.x) + e.y * (sz * z.y) + e.z * (sz * z.z)) / det;
    if (!(hit.t >= t_min && hit.t <= t_max)) return false;
    if (near > 0.0f && hit.t < near && is_behind(leaf, second, kz, s.origin, s.shear_x, s.shear_y, sz)) return false;
    hit.u = e.y / det;
    hit.v = e.z / det;
    hit.front = (det > 0.0f) == (sz > 0.0f);
    return true;
}

#if THRONG_NESTED
THRONG_INLINE bool intersect_segment(const CurveSegment& s, uint32_t prim, Vec3 origin, Vec3 shear, uint32_t axes, float t_min, float t_max, TriangleHit& hit) {
    const SegmentRay ray = make_segment_ray(origin, axes >> kLongestShift & 3u, shear.x, shear.y, shear.z);
    SegmentHit found;
    if (!intersect_segment(axes >> kCurvesShift == SHAPE_RIBBONS, s, ray, t_min, t_max, found)) return false;
    hit = TriangleHit{found.t, found.u, found.v, prim, true};
    return true;
}

// Test the segment of curves that starts at point `prim`, of curves that keep their shape and of others. Outlined, because most scenes have none, and
// all others should keep their registers.
THRONG_OUTLINE bool intersect_still_segment(const CurvePoint* points, uint32_t prim, Vec3 origin, Vec3 shear, uint32_t axes, float t_min, float t_max, TriangleHit& hit) {
    return intersect_segment(segment_at(points, prim, ShapeSpan{0, 0, 0.0f}), prim, origin, shear, axes, t_min, t_max, hit);
}
THRONG_OUTLINE bool intersect_moving_segment(const CurvePoint* points, uint32_t prim, ShapeSpan shape, Vec3 origin, Vec3 shear, uint32_t axes, float t_min, float t_max, TriangleHit& hit) {
    return intersect_segment(segment_at(points, prim, shape), prim, origin, shear, axes, t_min, t_max, hit);
}
#endif

}

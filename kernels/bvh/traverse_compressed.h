// Traversal for GPUs: one loop over all levels, which the lanes of a warp run in lockstep. A round enters an instance, then visits a node and tests a
// leaf, both twice, each for the lanes that have one. The first leaf test is skipped if too few lanes have a leaf.
//
// Ylitie, Karras and Laine 2017, "Efficient Incoherent Ray Traversal on GPUs Through Compressed Wide BVHs". Instances occupy slots of the TLAS's
// nodes like other children, so that they are also entered in front-to-back order.
#pragma once
#include "util/count.h"
#include "bvh/intersect_compressed.h"

namespace THRONG_NAMESPACE {

// Units of a node that are still to be visited. The top byte of `mask` has the units that the ray hits, the lowest byte has the slots with units, and
// the next byte has the slots with instances.
struct Group {
    uint32_t base, mask;
};

// Bit that marks a unit as an instance.
constexpr uint32_t kInstance = 0x80000000u;

// Values of `Walk::floor` outside of instances: in the TLAS; in the TLAS while `space` is not world space; traversal is over.
constexpr uint32_t kOutside = 0xffffffffu, kStale = 0xfffffffeu, kOver = 0xfffffffdu;

// Computes the transform of an instance with keys at the ray's time.
THRONG_INLINE void place_unit(const Params& params, const InstanceUnit& unit, uint32_t segments, Time time, float* object_from_world) {
    float world_from_object[12];
    instance_at(params, load_word(&unit.first_key), segments, time, world_from_object);
    invert(world_from_object, object_from_world);
    if (is_nested(params)) set_translation(object_from_world, translation_of(world_from_object));
}

// An assembly on the current path: the ray in its space, so that each ray is transformed through one level at a time, and the state to restore when
// the traversal leaves it.
struct alignas(16) Entered {
    Vec3 origin;
    // Outer value of `Walk::bottom` and, in the lowest three bits, the axes along which the outer ray goes up.
    uint32_t outside;
    Vec3 direction;
    uint32_t outer_base;
    // The low-order part of `origin`.
    Vec3 low;

    THRONG_INLINE uint32_t outer_bottom() const { return outside >> 3; }
};

constexpr uint32_t kWalkStack = THRONG_NESTED ? NESTED_STACK : COMPRESSED_STACK;

// The state of a ray's traversal. `Found` stores the closest hit; with `Any` the traversal ends at the first hit.
template <bool Any, class Found>
struct Walk {
    Space space;
    float t_min, t_max;
    Group group;
    // Leaves still to test: hits in the lowest byte of `mask`, all leaves of the node in the next byte, those of two triangles in the third one, and
    // in the highest one those whose first triangle is already tested.
    Group leaves;
    // Number of entries on the stack, and their number when the current instance was entered.
    uint32_t top, floor;
    // Unit index of the current instance.
    uint32_t instance;
    // The next unit, with `kInstance` if it is an instance; `NO_INDEX` if it is not yet determined.
    uint32_t unit;
#if THRONG_NESTED
    // The assemblies on the current path: an array of `MOST_NESTED` elements outside of `Walk`, because GPUs would otherwise keep no part of `Walk`
    // in registers. Then the nesting depth, the number of stack entries when the last one was entered, and the number of meshes before it.
    Entered* entered;
    uint32_t depth, bottom, base;
#endif

    THRONG_INLINE void begin(const Params& params, float ray_t_min, float ray_t_max) {
        t_min = ray_t_min;
        t_max = ray_t_max;
        group = Group{params.frame.start_base, params.frame.start_mask};
        leaves = Group{0, 0};
        top = 0;
        floor = kStale;
        unit = NO_INDEX;
        space.axes = 0;
#if THRONG_NESTED
        depth = bottom = base = 0;
#endif
    }

    THRONG_INLINE bool over() const { return floor == kOver; }

    // Continues with a group of another traversal whose ray, space and instance (and assemblies) were copied to this one. `start` is 0 for a group of
    // the instance, and `kStale` for a group outside of it.
    THRONG_INLINE void take_over(Group given, uint32_t start) {
        group = given;
        leaves = Group{0, 0};
        top = 0;
        floor = start;
        unit = NO_INDEX;
        if (floor == kStale) turn_to_world();
    }

    // Runs one round. The traversal is `over` when nothing is left to do. `stack` must have room for the levels of both trees.
    //
    // Every phase is entered and left at a single place, so that the lanes of a warp converge before the next phase. With an early return, each phase
    // would run once per group of lanes.
    template <class Order, class Count, class Filter>
    THRONG_INLINE void advance(const Params& params, const Ray& ray, Group* stack, const Order& order, Found& found, Count& count, const Filter& filter) {
        if (unit == NO_INDEX && !has_leaf()) next_unit(stack);
        if (unit != NO_INDEX && (!is_node() || floor == kStale)) change_space(params, ray, found, count, filter);
        if (is_node()) visit_node(params, order, count);
        // If few lanes have a leaf, they wait until others have found one with their second node.
        if (lanes_where(has_leaf()) >= params.frame.leaf_lanes && has_leaf()) test_leaf(params, ray, found, count, filter);
        // A second node and leaf for lanes that need not change space, so that twice as many lanes take part in the next change.
        if (unit == NO_INDEX && !has_leaf()) next_unit(stack);
        if (is_node() && floor != kStale) visit_node(params, order, count);
        const uint32_t late = lanes_where(has_leaf());
        const bool enough = late >= params.frame.late_leaf_lanes || late == lanes_where(true);
        if (enough && has_leaf()) test_leaf(params, ray, found, count, filter);
    }

    // Restores the world's order of slots.
    THRONG_INLINE void turn_to_world() { space.axes = (space.axes & ~7u) | (space.axes >> kWorldUpShift & 7u); }

    // Whether the next unit is determined and is not an instance.
    THRONG_INLINE bool is_node() const { return int32_t(unit) >= 0; }

    THRONG_INLINE bool has_leaf() const { return leaves.mask & 255u; }

    // Takes the next unit from the group, or from the stack. The traversal is `over` if there is none.
    THRONG_INLINE void next_unit(Group* stack) {
        if (!(group.mask >> 24)) {
            // Leaves the instance. The world-space ray is prepared again only when a node of the TLAS needs it.
            if (top == floor) {
                floor = kStale;
                turn_to_world();
            }
#if THRONG_NESTED
            while (depth && top == bottom) leave_assembly();
#endif
            if (top == 0) floor = kOver;
            else group = stack[--top];
        }
        if (floor != kOver) {
            uint32_t bit = highest_bit(group.mask), slot = (bit ^ space.axes) & 7u;
            unit = group.base + count_bits(group.mask & ((1u << slot) - 1u));
            // The slot's bit in the mask of instances becomes `kInstance`.
            unit |= group.mask << (23 - slot) & kInstance;
            group.mask ^= 1u << bit;
            if (group.mask >> 24) stack[top++] = group;
        }
    }

#if THRONG_NESTED
    THRONG_INLINE void leave_assembly() {
        const Entered& last = entered[--depth];
        bottom = last.outer_bottom();
        base = last.outer_base;
        floor = kStale;
        space.axes = last.outside << kWorldUpShift;
        turn_to_world();
    }
#endif

    // Prepares the ray outside of meshes for a node, or enters an instance; `unit` then becomes the root of its tree. A sphere has no tree and is
    // tested immediately.
    template <class Count, class Filter>
    THRONG_INLINE void change_space(const Params& params, const Ray& ray, Found& found, Count& count, const Filter& filter) {
        const bool enter = !is_node();
        unit &= ~kInstance;
        const float* outside = ray.origin;
#if THRONG_NESTED
        if (depth) outside = &entered[depth - 1].origin.x;
#endif
        const Words4 from = load_any_words(outside), along = load_any_words(outside + 4);
        Vec3 origin = vec3(from), direction = vec3(along);
        bool is_assembly = false;
        uint32_t curves = 0;
        if (enter) {
            count.instance();
            const InstanceUnit& inner = reinterpret_cast<const InstanceUnit&>(params.trees.tlas_units[unit]);
            Words4 ids = load_words(&inner.root);
            float m[12];
            load_matrix(inner.object_from_world, m);
            if (moves(params) && ids.w) place_unit(params, inner, ids.w, time_of(ray), m);
            direction = transform_vector(m, direction);
#if THRONG_NESTED
            const FinePoint point{origin, depth ? entered[depth - 1].low : vec3(0.0f)};
            origin = is_nested(params) ? enter_mesh(m, point) : transform_point(m, origin);
            const float reach = bits_float(load_word(&inner.reach));
            is_assembly = reach > 0.0f;
            curves = reach < 0.0f ? uint32_t(-reach) : 0u;
            if (is_assembly) {
                const FinePoint within = is_far(origin, reach) ? FinePoint{origin, vec3(0.0f)} : enter_assembly(m, point);
                origin = within.high;
                entered[depth++] = Entered{origin, bottom << 3 | (space.axes >> kWorldUpShift & 7u), direction, base, within.low};
                bottom = top;
                base += ids.y;
            }
#else
            origin = transform_point(m, origin);
#endif
            instance = unit;
            unit = ids.x;
            if (ids.x == NO_INDEX) {
                group.mask = 0;
                test_sphere(ray, origin, direction, ids, found, filter);
            }
        }
        if (unit != NO_INDEX) {
            uint32_t up = prepare_boxes(space, origin, direction) ^ (Any ? params.picture.any_order : 0u), world_up = space.axes >> kWorldUpShift & 7u;
            const bool is_mesh = enter && !is_assembly;
            floor = is_mesh ? top : kOutside;
            space.axes = up | (is_mesh ? world_up : up) << kWorldUpShift;
            if (is_mesh) space.axes |= prepare_triangles(space, direction) << kLongestShift | curves << kCurvesShift;
        }
    }

    template <class Filter>
    THRONG_INLINE void test_sphere(const Ray& ray, Vec3 origin, Vec3 direction, const Words4& ids, Found& found, const Filter& filter) {
        float t;
        if (sphere_distance(origin, direction, t_min, t_max, t)) take(ray, t, 0.0f, 0.0f, 0, !Any, ids, found, filter);
    }

    // Accepts a hit that is not farther than `t_max`, if the filter accepts it.
    template <class Filter>
    THRONG_INLINE void take(const Ray& ray, float t, float u, float v, uint32_t prim, bool front, const Words4& ids, Found& found, const Filter& filter) {
        uint32_t number = ids.y;
#if THRONG_NESTED
        number += base;
#endif
        if (t == t_max && !found.closer(t, number, prim)) return;
        if (!filter(ray, ids.z, prim, u, v, unmet_surfaces<Any>(front))) return;
        t_max = t;
        found.take(t, u, v, prim, number, ids.z);
        if (Any) end();
    }

    THRONG_INLINE void end() {
        floor = kOver;
#if THRONG_NESTED
        // The current round must not leave an assembly, because the traversal would continue there.
        depth = 0;
#endif
    }

    template <class Order, class Count>
    THRONG_INLINE void visit_node(const Params& params, const Order& order, Count& count) {
        const bool outside = floor == kOutside;
        if (outside) count.tlas_node();
        else count.blas_node();
        const Unit* units = outside ? params.trees.tlas_units : params.trees.blas_units;
        NodeHits n = intersect_node(units + unit, space, t_max, order);
        unit = NO_INDEX;
        group = Group{n.unit_base, n.unit_hits << 24 | (n.masks & 0xffffu)};
        leaves = Group{n.leaf_base, (n.masks >> 8 & 0xffff00u) | n.leaf_hits};
    }

    THRONG_INLINE const InstanceUnit& current(const Params& params) const {
        return reinterpret_cast<const InstanceUnit&>(params.trees.tlas_units[instance]);
    }

#if THRONG_NESTED
    // Tests the segment of a leaf, at the ray's time. Leaves are numbers of segments, in the same pool as patches.
    THRONG_INLINE bool hits_segment(const Params& params, const Ray& ray, uint32_t index, TriangleHit& hit) const {
        const uint32_t prim = load_word(reinterpret_cast<const uint32_t*>(params.trees.leaves) + index);
        const uint32_t mesh = load_word(&current(params).mesh_leaves);
        const Vec3 shear = vec3(space.shear_x, space.shear_y, axis_last(space.inverse, longest_axis(space)).z);
        const CurvePoint* points = reinterpret_cast<const CurvePoint*>(params.tables.meshes[mesh].vertices);
        if (moves(params)) {
            const ShapeSpan shape = shape_at(params, mesh, time_of(ray));
            if (shape.stride) return intersect_moving_segment(points, prim, shape, space.origin, shear, space.axes, t_min, t_max, hit);
        }
        return intersect_still_segment(points, prim, space.origin, shear, space.axes, t_min, t_max, hit);
    }
#endif

    // The leaf with this number in the current patch, at the ray's time.
    THRONG_INLINE PatchLeaf leaf_at(const Params& params, const Ray& ray, uint32_t number) const {
        const PatchRow* rows = &params.trees.leaves[leaves.base];
        PatchLeaf leaf{rows, load_word(reinterpret_cast<const uint32_t*>(rows) - 1 - number), 0, 0.0f};
        if (moves(params)) {
            // First key, segments and leaves of the mesh.
            const Words4 keys = load_words(&current(params).first_key);
            if (keys.y) {
                const KeySpan span = key_span(keys.y, time_of(ray));
                leaf.rows += uint64_t(span.key) * keys.z;
                leaf.stride = keys.z;
                leaf.share = span.share;
            }
        }
        return leaf;
    }

    template <class Count, class Filter>
    THRONG_INLINE void test_leaf(const Params& params, const Ray& ray, Found& found, Count& count, const Filter& filter) {
        const uint32_t slot = highest_bit(leaves.mask & 255u), before = (1u << slot) - 1u;
        const uint32_t number = count_bits(leaves.mask >> 8 & before);
        leaves.mask ^= 1u << slot;
        TriangleHit hit;
#if THRONG_NESTED
        if (space.axes >> kCurvesShift) {
            count.leaf(1);
            if (hits_segment(params, ray, leaves.base + number, hit)) take(params, ray, hit, found, filter);
        } else
#endif
        {
            const PatchLeaf leaf = leaf_at(params, ray, number);
            count.leaf(leaf.is_pair() ? 2 : 1);
            const LeafCrossing crossing = cross_leaf(leaf, space, leaves.mask >> 24 & 1u << slot);
            if (crossing.first || crossing.second) {
                // A ray that may cross both triangles, which is rare, tests the leaf once more.
                if (crossing.first && crossing.second) leaves.mask |= 0x1000001u << slot;
                if (finish_crossing(crossing, leaf, space, t_min, t_max, is_nested(params) ? params.frame.near : 0.0f, hit)) {
                    const uint32_t second = count_bits(leaves.mask >> 8 & 255u) + count_bits(leaves.mask >> 16 & before);
                    hit.prim = load_word(&leaf.rows[crossing.first ? number : second].prim);
                    take(params, ray, hit, found, filter);
                }
            }
        }
    }

    template <class Filter>
    THRONG_INLINE void take(const Params& params, const Ray& ray, const TriangleHit& hit, Found& found, const Filter& filter) {
        take(ray, hit.t, hit.u, hit.v, hit.prim, hit.front, load_words(&current(params).root), found, filter);
    }
};

// Traverses the scene. `filter` decides which crossed primitives are hit.
template <bool Any, class Count, class Filter>
THRONG_INLINE bool traverse(const Params& params, const Ray& ray, Query& q, StackEntry* memory, Count& count, const Filter& filter) {
    if (params.frame.tlas_root == EMPTY_CHILD) return false;
    THRONG_STACK(Group, stack, kWalkStack, memory);
    Walk<Any, Query> walk;
#if THRONG_NESTED
    Entered entered[MOST_NESTED];
    walk.entered = entered;
#endif
    walk.begin(params, start_of(params, ray), ray.t_max);
    while (!walk.over()) walk.advance(params, ray, stack, ComputedOrder(), q, count, filter);
    return q.prim != NO_INDEX;
}

}

// Packet traversal of the CPU's trees, which shares work among sixteen rays. Camera rays of neighbouring pixels, and shadow rays from their hits to
// one light, mostly visit identical nodes.
//
// A node is tested once for all rays, in interval arithmetic (Wald et al. 2007, "Ray Tracing Deformable Scenes Using Dynamic Bounding Volume
// Hierarchies"). Children that some ray may enter are then tested against each ray that entered the node. When few rays are left, they continue
// singly. All rays do so inside instances whose triangles are smaller than the gaps between rays. Hits do not depend on the order of visits, so
// packets and single rays find identical hits.
#pragma once
#include "bvh/interleaved.h"

namespace THRONG_NAMESPACE {

constexpr uint32_t kPacketRays = 16;
// Up to this many rays are faster singly.
constexpr uint32_t kFewRays = 4;
// Minimum number of rays that are transformed into an instance together.
constexpr uint32_t kSideBySide = 3;
// Minimum number of rays that stay together inside an instance, if their distance is below this many leaf widths. Single shadow rays end sooner.
constexpr uint32_t kTogether = 8;
constexpr float kCloseRays = 4.0f, kCloseShadowRays = 1.0f;

// Slabs of several rays, without `t_min`. Loops over all rays are vectorised.
struct alignas(64) SlabsOfRays {
    float scale[3][kPacketRays], near_offset[3][kPacketRays], far_offset[3][kPacketRays];

    THRONG_INLINE void set(uint32_t ray, const Slabs& s) {
        for (uint32_t k = 0; k < 3; k++) {
            scale[k][ray] = s.scale[k];
            near_offset[k][ray] = s.near_offset[k];
            far_offset[k][ray] = s.far_offset[k];
        }
    }

    THRONG_INLINE WideSlabs of(uint32_t ray, float t_min) const {
        typedef WideSlabs::F F;
        WideSlabs w;
        for (uint32_t k = 0; k < 3; k++) {
            const uint32_t negative = float_bits(scale[k][ray]) >> 31;
            w.scale[k] = F::all(scale[k][ray]);
            w.near_offset[k] = F::all(near_offset[k][ray]);
            w.far_offset[k] = F::all(far_offset[k][ray]);
            w.near_row[k] = k + 3 * negative;
            w.far_row[k] = k + 3 - 3 * negative;
        }
        w.t_min = F::all(t_min);
        return w;
    }
};

// Rays of a packet. If there are fewer rays, the rest are copies of the first one that never enter anything.
struct alignas(64) Packet {
    float origin[3][kPacketRays], direction[3][kPacketRays];
    // `t_max` is below `t_min` for a finished ray.
    float t_min[kPacketRays], t_max[kPacketRays];
    // Slabs for the TLAS.
    SlabsOfRays slabs;
    Query queries[kPacketRays];
    // In scenes with assemblies, the low-order parts of the origins.
    float low[3][kPacketRays];

    THRONG_INLINE void set_origin(uint32_t ray, const FinePoint& p) {
        origin[0][ray] = p.high.x; origin[1][ray] = p.high.y; origin[2][ray] = p.high.z;
        low[0][ray] = p.low.x; low[1][ray] = p.low.y; low[2][ray] = p.low.z;
    }
    THRONG_INLINE FinePoint fine_origin_of(uint32_t ray) const { return FinePoint{origin_of(ray), vec3(low[0][ray], low[1][ray], low[2][ray])}; }
    THRONG_INLINE Vec3 origin_of(uint32_t ray) const { return vec3(origin[0][ray], origin[1][ray], origin[2][ray]); }
    THRONG_INLINE Vec3 direction_of(uint32_t ray) const { return vec3(direction[0][ray], direction[1][ray], direction[2][ray]); }
};

// A packet's rays in an instance's space. All rays are transformed, because selecting only the entering ones would take longer.
struct alignas(64) ObjectPacket {
    SlabsOfRays slabs;
    float origin[3][kPacketRays], direction[3][kPacketRays], shear[3][kPacketRays];
    uint32_t longest[kPacketRays];

    THRONG_INLINE ObjectPacket(const Params& params, const Packet& p, const InstanceRecord& instance, float magnitude) {
        const float* object_from_world = instance.object_from_world;
        if (is_nested(params)) set(p, object_from_world, magnitude, [&](uint32_t i) THRONG_INLINED { return enter_mesh(object_from_world, p.fine_origin_of(i)); });
        else set(p, object_from_world, magnitude, [&](uint32_t i) THRONG_INLINED { return transform_point(object_from_world, p.origin_of(i)); });
    }

    template <class OriginOf>
    THRONG_INLINE void set(const Packet& p, const float* object_from_world, float magnitude, OriginOf&& origin_of) {
        for (uint32_t i = 0; i < kPacketRays; i++) {
            const Vec3 o = origin_of(i), d = transform_vector(object_from_world, p.direction_of(i));
            slabs.set(i, make_slabs(o, d, magnitude));
            direction[0][i] = d.x; direction[1][i] = d.y; direction[2][i] = d.z;
            const Shear s = make_shear(o, d);
            for (uint32_t k = 0; k < 3; k++) origin[k][i] = s.origin[k];
            shear[0][i] = s.x; shear[1][i] = s.y; shear[2][i] = s.z;
            longest[i] = s.kz;
        }
    }

    // Whether the rays `some` are closer than `most` at distance `t`, estimated from the first and the last of them.
    THRONG_INLINE bool are_close(uint32_t some, float t, float most) const {
        const uint32_t first = lowest_bit(some), last = highest_bit(some);
        float apart = 0.0f;
        for (uint32_t k = 0; k < 3; k++)
            apart = max(apart, fabsf(origin[k][last] - origin[k][first] + t * (direction[k][last] - direction[k][first])));
        return apart < most;
    }

    // Whether the directions have equal signs.
    THRONG_INLINE bool have_common_signs() const {
        uint32_t negative_in_all = 7, negative_in_some = 0;
        for (uint32_t i = 0; i < kPacketRays; i++) {
            uint32_t negative = 0;
            for (uint32_t k = 0; k < 3; k++) negative |= float_bits(slabs.scale[k][i]) >> 31 << k;
            negative_in_all &= negative;
            negative_in_some |= negative;
        }
        return negative_in_all == negative_in_some;
    }

    THRONG_INLINE Shear shear_of(uint32_t ray) const {
        Shear s;
        s.set_axes(longest[ray]);
        s.x = shear[0][ray]; s.y = shear[1][ray]; s.z = shear[2][ray];
        for (uint32_t k = 0; k < 3; k++) s.origin[k] = origin[k][ray];
        return s;
    }
};

// Slabs that are valid for all rays of a packet, relative to `center`, the middle of their origins. A plane at distance `d` from it is crossed
// between d * scale + near_offset and d * scale + far_offset, where scale is in the range from least to greatest.
struct PacketSlabs {
    typedef Floats<THRONG_WIDTH> F;
    F center[3], least_scale[3], greatest_scale[3], near_offset[3], far_offset[3], t_min;
    uint32_t near_row[3], far_row[3];
};

struct Range {
    typedef Floats<THRONG_WIDTH> F;
    F least = F::all(kInfinity), greatest = F::all(-kInfinity);
    THRONG_INLINE void add(F x) { add(x, x); }
    THRONG_INLINE void add(F low, F high) {
        least = minimum(low, least);
        greatest = maximum(high, greatest);
    }
};

// Computes all of `slabs` except `t_min` from origins and slabs of rays whose directions have equal signs. False if the rays are too incoherent.
THRONG_INLINE bool common_slabs(const float (*origin)[kPacketRays], const SlabsOfRays& all, float magnitude, PacketSlabs& slabs) {
    typedef Floats<THRONG_WIDTH> F;
    float center[3], reach = 0.0f;
    for (uint32_t k = 0; k < 3; k++) {
        Range origins;
        for (uint32_t i = 0; i < kPacketRays; i += THRONG_WIDTH) origins.add(F::load(origin[k] + i));
        const float least = least_of(origins.least), greatest = greatest_of(origins.greatest);
        center[k] = 0.5f * least + 0.5f * greatest;
        reach = max(reach, max(-least, greatest));
    }
    // Three times the slack of a single ray: its own, plus twelve half-ulps for the rounding of the detour over the centre.
    const float error = 3.0f * box_slack(vec3(reach), magnitude);
    const F zero = F::all(0.0f), greatest_float = F::all(kGreatestFloat);
    for (uint32_t k = 0; k < 3; k++) {
        Range scales, offsets;
        for (uint32_t i = 0; i < kPacketRays; i += THRONG_WIDTH) {
            const F scale = F::load(all.scale[k] + i), middle = (F::all(center[k]) - F::load(origin[k] + i)) * scale;
            const F slack = F::all(error) * maximum(scale, zero - scale);
            // Values beyond the range of floats cannot be compared.
            if (less_equal(maximum(middle, zero - middle) + slack, greatest_float) != (1u << THRONG_WIDTH) - 1) return false;
            scales.add(scale);
            offsets.add(middle - slack, middle + slack);
        }
        const bool negative = float_bits(all.scale[k][0]) >> 31;
        slabs.center[k] = F::all(center[k]);
        slabs.least_scale[k] = F::all(least_of(scales.least));
        slabs.greatest_scale[k] = F::all(greatest_of(scales.greatest));
        slabs.near_offset[k] = F::all(least_of(offsets.least));
        slabs.far_offset[k] = F::all(greatest_of(offsets.greatest));
        slabs.near_row[k] = negative ? k + 3 : k;
        slabs.far_row[k] = negative ? k : k + 3;
    }
    return true;
}

// The signs of the directions of several rays.
struct Signs {
    uint32_t negative_in_all = 7, negative_in_some = 0;

    THRONG_INLINE void add(const float* direction) {
        uint32_t negative = 0;
        for (uint32_t k = 0; k < 3; k++) negative |= float_bits(direction[k]) >> 31 << k;
        negative_in_all &= negative;
        negative_in_some |= negative;
    }
    THRONG_INLINE bool differ() const { return negative_in_all != negative_in_some; }
};

// Fills `packet` and `slabs`. False if the signs of directions differ; these rays are too incoherent.
THRONG_INLINE bool gather_packet(const Params& params, const Ray* rays, uint32_t count, Packet& packet, PacketSlabs& slabs) {
    typedef Floats<THRONG_WIDTH> F;
    Signs signs;
    for (uint32_t i = 0; i < count; i++) signs.add(rays[i].direction);
    if (signs.differ()) return false;

    float start = kInfinity;
    for (uint32_t i = 0; i < kPacketRays; i++) {
        const bool is_ray = i < count;
        const Ray& ray = rays[is_ray ? i : 0];
        const Query q = make_query(params, ray);
        for (uint32_t k = 0; k < 3; k++) {
            packet.origin[k][i] = ray.origin[k];
            if (is_nested(params)) packet.low[k][i] = 0.0f;
            packet.direction[k][i] = ray.direction[k];
        }
        packet.t_min[i] = is_ray ? q.t_min : kInfinity;
        packet.t_max[i] = is_ray ? q.t_max : -kInfinity;
        packet.queries[i] = q;
        start = min(q.t_min, start);
    }
    for (uint32_t i = 0; i < kPacketRays; i++) packet.slabs.set(i, make_slabs(packet.origin_of(i), packet.direction_of(i), params.frame.tlas_magnitude));
    slabs.t_min = F::all(start);
    return common_slabs(packet.origin, packet.slabs, params.frame.tlas_magnitude, slabs);
}

// Returns the mask of children that some ray may enter before `t_max`. `entry` receives a lower bound of the entry distance.
THRONG_INLINE uint32_t intersect_node(const WideNode& node, const PacketSlabs& s, float t_max, Floats<THRONG_WIDTH>& entry) {
    typedef PacketSlabs::F F;
    F enter[3], leave[3];
    for (uint32_t k = 0; k < 3; k++) {
        const F near = F::load(node.planes[s.near_row[k]]) - s.center[k], far = F::load(node.planes[s.far_row[k]]) - s.center[k];
        enter[k] = minimum(near * s.least_scale[k], near * s.greatest_scale[k]) + s.near_offset[k];
        leave[k] = maximum(far * s.least_scale[k], far * s.greatest_scale[k]) + s.far_offset[k];
    }
    // Operands in the order of the single-ray node test, because of empty slots.
    entry = maximum(maximum(enter[0], enter[1]), maximum(s.t_min, enter[2]));
    const F exit = minimum(minimum(leave[0], leave[1]), minimum(F::all(t_max), leave[2]));
    return less_equal(entry, exit);
}

// Mask of the rays that enter a child.
THRONG_INLINE uint32_t rays_into(const Packet& p, const SlabsOfRays& all, const PacketSlabs& s, const WideNode& node, uint32_t slot) {
    typedef Floats<THRONG_WIDTH> F;
    uint32_t rays = 0;
    for (uint32_t i = 0; i < kPacketRays; i += THRONG_WIDTH) {
        F enter[3], leave[3];
        for (uint32_t k = 0; k < 3; k++) {
            const F scale = F::load(all.scale[k] + i);
            enter[k] = multiply_add(F::all(node.planes[s.near_row[k]][slot]), scale, F::load(all.near_offset[k] + i));
            leave[k] = multiply_add(F::all(node.planes[s.far_row[k]][slot]), scale, F::load(all.far_offset[k] + i));
        }
        const F entry = maximum(maximum(enter[0], enter[1]), maximum(F::load(p.t_min + i), enter[2]));
        const F exit = minimum(minimum(leave[0], leave[1]), minimum(F::load(p.t_max + i), leave[2]));
        rays |= less_equal(entry, exit) << i;
    }
    return rays;
}

THRONG_INLINE float farthest(const Packet& p) {
    float t = p.t_max[0];
    for (uint32_t i = 1; i < kPacketRays; i++) t = max(t, p.t_max[i]);
    return t;
}

// The instances of the world or of an assembly, and the tree over them.
struct PacketTree {
    const WideNode* nodes;
    uint32_t root, first_record;
};

// The traversal of a packet's rays.
template <bool Any, class Filter>
struct PacketWalk {
    const Params& params;
    const PacketTree tree;
    const Ray* rays;
    Packet& packet;
    const PacketSlabs& slabs;
    Thread& thread;
    const Filter& filter;
    // Mask of the rays that are not done.
    uint32_t open;
    // The maximum of their `t_max`.
    float t_max;

    // Calls `visit(ray, query)` for each of the rays `some`. If it returns true, the ray is done.
    template <class Visit>
    THRONG_INLINE void each(uint32_t some, Visit&& visit) {
        bool changed = false;
        for (; some; some &= some - 1) {
            const uint32_t i = lowest_bit(some);
            Query& q = packet.queries[i];
            const bool done = visit(i, q);
            const float t = done ? -kInfinity : q.t_max;
            changed |= packet.t_max[i] != t;
            packet.t_max[i] = t;
            if (done) open ^= 1u << i;
        }
        if (changed) t_max = farthest(packet);
    }

    // Traverses an instance with the rays `some`; `t` is a lower bound of their entry distances. The stack is free from `top` on.
    THRONG_INLINE void enter(uint32_t some, uint32_t record, float t, PacketEntry* top) {
        const InstanceRecord& instance = params.trees.instances[record];
        if (instance.mask == 0) return;
        if (is_ended(params)) {
            open = 0;
            return;
        }
        const BlasRecord& blas = params.trees.blas[instance.blas];
        if (instance.flags == INSTANCE_IS_ASSEMBLY && count_bits(some) > kFewRays && enter_assembly_together(some, instance, blas, t, top)) return;
        if (count_bits(some) >= kSideBySide && blas.shape != SHAPE_SPHERE && !is_curves(blas.shape) && !(instance.flags && (moves(params) || instance.flags & INSTANCE_IS_ASSEMBLY))) {
            enter_side_by_side(some, instance, record, blas, t, top);
            return;
        }
        NoCount none;
        each(some, [&](uint32_t i, Query& q) { return enter_instance<Any>(params, rays[i], record, q, thread.stack, none, filter); });
    }

    // Traverses a static assembly with several rays together. False, without any effect, if they are too incoherent there.
    THRONG_OUTLINE bool enter_assembly_together(uint32_t some, const InstanceRecord& instance, const BlasRecord& assembly, float t, PacketEntry* top) {
        if (assembly.root == EMPTY_CHILD) return true;
        Packet inner;
        const float* object_from_world = instance.object_from_world;
        for (uint32_t i = 0; i < kPacketRays; i++) {
            const Vec3 o = enter_mesh(object_from_world, packet.fine_origin_of(i)), d = transform_vector(object_from_world, packet.direction_of(i));
            inner.set_origin(i, FinePoint{o, vec3(0.0f)});
            inner.direction[0][i] = d.x; inner.direction[1][i] = d.y; inner.direction[2][i] = d.z;
        }
        // A separate loop, so that the loop above is vectorised.
        for (uint32_t rest = some; rest; rest &= rest - 1) {
            const uint32_t i = lowest_bit(rest);
            if (!is_far(inner.origin_of(i), assembly.magnitude)) inner.set_origin(i, enter_assembly(object_from_world, packet.fine_origin_of(i)));
        }
        Signs signs;
        const uint32_t first = lowest_bit(some);
        for (uint32_t i = 0; i < kPacketRays; i++) {
            const bool enters = some >> i & 1u;
            const uint32_t ray = enters ? i : first;
            for (uint32_t k = 0; k < 3; k++) {
                inner.origin[k][i] = inner.origin[k][ray];
                inner.low[k][i] = inner.low[k][ray];
                inner.direction[k][i] = inner.direction[k][ray];
            }
            Query& q = inner.queries[i] = packet.queries[ray];
            q.origin = inner.origin_of(i);
            q.low = inner.fine_origin_of(i).low;
            q.direction = inner.direction_of(i);
            q.base += instance.instance;
            const float d[3] = {q.direction.x, q.direction.y, q.direction.z};
            signs.add(d);
            inner.t_min[i] = enters ? packet.t_min[i] : kInfinity;
            inner.t_max[i] = enters ? packet.t_max[i] : -kInfinity;
            inner.slabs.set(i, make_slabs(q.origin, q.direction, assembly.magnitude));
        }
        PacketSlabs common;
        common.t_min = slabs.t_min;
        if (signs.differ() || !common_slabs(inner.origin, inner.slabs, assembly.magnitude, common)) return false;
        PacketWalk walk{params, PacketTree{assembly.nodes, assembly.root, assembly.first_record}, rays, inner, common, thread, filter, some, 0.0f};
        walk.run(t, top);
        for (; some; some &= some - 1) {
            const uint32_t i = lowest_bit(some);
            const Query& found = inner.queries[i];
            Query& q = packet.queries[i];
            if (found.record != q.record || found.prim != q.prim || found.instance != q.instance) q.take(found.t_max, found.u, found.v, found.prim, found.instance, found.record);
            packet.t_max[i] = inner.t_max[i];
            if (!(walk.open >> i & 1u)) open &= ~(1u << i);
        }
        t_max = farthest(packet);
        return true;
    }

    // Traverses a static mesh.
    THRONG_INLINE void enter_side_by_side(uint32_t some, const InstanceRecord& instance, uint32_t record, const BlasRecord& blas, float t, PacketEntry* top) {
        const ObjectPacket within(params, packet, instance, blas.magnitude);
        with_packs(blas, [&](const auto* packs) THRONG_INLINED {
            const auto test_pack = [&](uint32_t i, const Shear& shear, Query& q, uint32_t index) THRONG_INLINED {
                const auto counts = [&](uint32_t prim, float u, float v, bool front) { return filter(rays[i], record, prim, u, v, unmet_surfaces<Any>(front)); };
                const auto& pack = packs[index];
                return Any && AcceptsAll<Filter>::value ? crosses_pack(pack, shear, q) : intersect_pack(pack, shear, q.base + instance.instance, record, q, counts);
            };
            const auto apart = [&](uint32_t these, uint32_t root) {
                each(these, [&](uint32_t i, Query& q) {
                    const Shear shear = within.shear_of(i);
                    return walk_mesh<Any>(blas, packs, root, within.slabs.of(i, q.t_min), q, thread.stack, [] {}, [&](uint32_t index) { return test_pack(i, shear, q, index); });
                });
            };
            PacketSlabs common;
            common.t_min = slabs.t_min;
            const float most = (Any ? kCloseShadowRays : kCloseRays) * blas.leaf_width;
            if (count_bits(some) < kTogether || !within.are_close(some, t, most) || !within.have_common_signs() || !common_slabs(within.origin, within.slabs, blas.magnitude, common)) {
                apart(some, blas.root);
                return false;
            }
            const PacketEntry* const bottom = top;
            *top++ = PacketEntry{t, blas.root, some};
            while (top > bottom) {
                const PacketEntry item = *--top;
                const uint32_t these = item.rays & open;
                if (!these || item.t > t_max) continue;
                if (item.reference & LEAF) each(these, [&](uint32_t i, Query& q) { return test_pack(i, within.shear_of(i), q, item.reference & ~LEAF) && Any; });
                else if (count_bits(these) <= kFewRays) apart(these, item.reference);
                else top = push_children(these, blas.nodes, packs, item.reference, within.slabs, common, top);
            }
            return false;
        });
    }

    THRONG_INLINE void go_alone(uint32_t some, uint32_t reference) {
        NoCount none;
        each(some, [&](uint32_t i, Query& q) {
            const auto leaf = [&](uint32_t index, StackEntry* top) { return enter_instance<Any>(params, rays[i], tree.first_record + index, q, top, none, filter); };
            return walk<Any>(tree.nodes, records(), reference, packet.slabs.of(i, q.t_min), q, thread.stack, [] {}, leaf);
        });
    }

    // Pushes children that some of the rays enter onto the stack, the nearest on top. Slabs are in the nodes' space.
    template <class Leaf>
    THRONG_INLINE PacketEntry* push_children(uint32_t some, const WideNode* nodes, const Leaf* leaves, uint32_t reference, const SlabsOfRays& all, const PacketSlabs& common, PacketEntry* top) {
        const WideNode& node = nodes[reference];
        Floats<THRONG_WIDTH> entry;
        uint32_t mask = intersect_node(node, common, t_max, entry);
        alignas(64) float t[THRONG_WIDTH];
        entry.store(t);
        const PacketEntry* bottom = top;
        for (; mask; mask &= mask - 1) {
            const uint32_t slot = lowest_bit(mask), entering = rays_into(packet, all, common, node, slot) & some;
            if (!entering) continue;
            const PacketEntry item{t[slot], node.children[slot], entering};
            prefetch_child(nodes, leaves, item.reference);
            PacketEntry* place = top++;
            for (; place > bottom && place[-1].t < item.t; place--) *place = place[-1];
            *place = item;
        }
        return top;
    }

    THRONG_INLINE const InstanceRecord* records() const { return params.trees.instances + tree.first_record; }

    // `t` is a lower bound of the rays' entry distances. The stack is free from `bottom` on.
    THRONG_INLINE void run(float t, PacketEntry* const bottom) {
        PacketEntry* top = bottom;
        *top++ = PacketEntry{t, tree.root, open};
        t_max = farthest(packet);
        while (top > bottom && open) {
            const PacketEntry item = *--top;
            const uint32_t some = item.rays & open;
            if (!some || item.t > t_max) continue;
            if (item.reference & LEAF) enter(some, tree.first_record + (item.reference & ~LEAF), item.t, top);
            else if (count_bits(some) <= kFewRays) go_alone(some, item.reference);
            else top = push_children(some, tree.nodes, records(), item.reference, packet.slabs, slabs, top);
        }
    }
};

// Traces up to `kPacketRays` rays, and calls `found(ray, query, done)` for each. For `Any`, `done` means that the ray is blocked. False, without any
// effect, if the rays are too few or too incoherent.
template <bool Any, class Filter, class Found>
THRONG_INLINE bool trace_packet(const Params& params, const Ray* rays, uint32_t count, Thread& thread, const Filter& filter, Found&& found) {
    Packet packet;
    PacketSlabs slabs;
    if (count <= kFewRays || params.frame.tlas_root == EMPTY_CHILD || !gather_packet(params, rays, count, packet, slabs)) return false;
    const PacketTree tree{params.trees.tlas_nodes, params.frame.tlas_root, 0};
    PacketWalk<Any, Filter> walk{params, tree, rays, packet, slabs, thread, filter, (1u << count) - 1, 0.0f};
    walk.run(0.0f, thread.packet_stack);
    for (uint32_t i = 0; i < count; i++) found(i, packet.queries[i], !(walk.open >> i & 1u));
    return true;
}

// Finds the closest hits of up to `kPacketRays` rays. False, without any effect, if they are too incoherent.
THRONG_OUTLINE bool closest_hits_together(const Params& params, const Ray* rays, uint32_t count, Hit* hits, Thread& thread) {
    const auto found = [&](uint32_t i, const Query& q, bool) { hits[i] = hit_of(q); };
    return params.tables.has_cutouts ? trace_packet<false>(params, rays, count, thread, Cutouts{params}, found)
                              : trace_packet<false>(params, rays, count, thread, Solid(), found);
}

// Finds the closest hits of up to `kPacketRays` rays.
THRONG_OUTLINE void closest_hits(const Params& params, const Ray* rays, uint32_t count, Hit* hits, Thread& thread) {
    if (closest_hits_together(params, rays, count, hits, thread)) return;
    if (thread.stacks > 1) {
        uint32_t all[kPacketRays];
        for (uint32_t i = 0; i < count; i++) all[i] = i;
        closest_hits_interleaved(params, rays, all, count, hits, thread);
        return;
    }
    for (uint32_t i = 0; i < count; i++) hits[i] = closest_hit(params, rays[i], thread.stack);
}

// Returns the mask of blocked rays among up to `kPacketRays` rays.
THRONG_OUTLINE uint32_t any_hits(const Params& params, const Ray* rays, uint32_t count, Thread& thread) {
    uint32_t blocked = 0;
    const auto found = [&](uint32_t i, const Query&, bool done) { blocked |= uint32_t(done) << i; };
    const bool together = filters_shadows(params) ? trace_packet<true>(params, rays, count, thread, Cutouts{params}, found)
                                             : trace_packet<true>(params, rays, count, thread, Solid(), found);
    if (together) return blocked;
    for (uint32_t i = 0; i < count; i++) blocked |= uint32_t(any_hit(params, rays[i], thread.stack)) << i;
    return blocked;
}

}

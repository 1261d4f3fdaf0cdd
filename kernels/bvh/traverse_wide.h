// Traversal for CPUs: one algorithm over wide nodes for the TLAS, for each assembly and for each BLAS.
#pragma once
#include "util/count.h"
#include "bvh/intersect_segments.h"

namespace THRONG_NAMESPACE {

constexpr uint32_t kCacheLine = 64;

// Prefetches the cache lines of a reference that is not visited next. It may be popped when no other work is left, and would then stall. Whether it
// is a leaf is unpredictable, so there is no branch on it, and as many lines are fetched as a node has.
template <class Leaf>
THRONG_INLINE void prefetch_child(const WideNode* nodes, const Leaf* leaves, uint32_t reference) {
    const uintptr_t is_leaf = 0 - uintptr_t(reference >> 31), index = reference & ~LEAF;
    const uintptr_t all_nodes = uintptr_t(nodes) + index * sizeof(WideNode), all_leaves = uintptr_t(leaves) + index * sizeof(Leaf);
    const char* address = reinterpret_cast<const char*>((all_nodes & ~is_leaf) | (all_leaves & is_leaf));
    for (uint32_t line = 0; line < sizeof(WideNode); line += kCacheLine) prefetch(address + line);
}

// A stack entry as one integer. Entry distances are not negative, so the order of their bits matches the order of distances.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "an entry's distance is in the upper half of its key");
typedef uint64_t EntryKey;
THRONG_INLINE EntryKey entry_key(uint32_t t_bits, uint32_t reference) { return EntryKey(t_bits) << 32 | reference; }
THRONG_INLINE uint32_t reference_of(EntryKey key) { return uint32_t(key); }
THRONG_INLINE EntryKey load_entry(const StackEntry* from) {
    EntryKey key;
    __builtin_memcpy(&key, from, sizeof(key));
    return key;
}
THRONG_INLINE void store_entry(StackEntry* to, EntryKey key) { __builtin_memcpy(to, &key, sizeof(key)); }

// Swaps two entries if the first one is not the nearer one. No branch, because it would be unpredictable.
THRONG_INLINE void put_in_order(EntryKey& near, EntryKey& far) {
    const EntryKey a = near, b = far;
    near = b < a ? b : a;
    far = b < a ? a : b;
}

// Pushes all but the nearest of at least two entered children onto the stack, and returns the reference of the nearest. With `Sorted`, the nearest of
// the others ends up on top.
template <bool Sorted, class Leaf>
THRONG_INLINE uint32_t push_children(const WideNode* nodes, const Leaf* leaves, const WideNode& node, uint32_t mask, const Floats<THRONG_WIDTH>& entry, StackEntry*& top) {
    alignas(64) float t[THRONG_WIDTH];
    entry.store(t);
    const auto next = [&] {
        const uint32_t i = lowest_bit(mask);
        mask &= mask - 1;
        return entry_key(float_bits(t[i]), node.children[i]);
    };
    const auto push = [&](EntryKey key) {
        if (Sorted) prefetch_child(nodes, leaves, reference_of(key));
        store_entry(top++, key);
    };
    const StackEntry* bottom = top;
    EntryKey a = next(), b = next();
    put_in_order(a, b);
    if (Sorted && mask) {
        EntryKey c = next();
        put_in_order(b, c);
        put_in_order(a, b);
        push(c);
    }
    push(b);
    while (mask) {
        EntryKey d = next();
        put_in_order(a, d);
        push(d);
        if (Sorted) {
            StackEntry* place = top - 1;
            for (; place > bottom && load_entry(place - 1) < d; place--) store_entry(place, load_entry(place - 1));
            store_entry(place, d);
        }
    }
    return reference_of(a);
}

// Visits leaves in order of entry or, for `Any`, approximately so, because sorting would cost more than it saves. `leaf(index, stack)` returns true
// to end the traversal; it may lower q.t_max. `leaves` is the address of the leaves, for prefetching. `visit()` is called at every node, for
// counters. `stack` must have room for (depth of the tree) * (THRONG_WIDTH - 1) + 1 entries.
template <bool Any, class Leaf, class Visit, class OnLeaf>
THRONG_INLINE bool walk(const WideNode* nodes, const Leaf* leaves, uint32_t root, const WideSlabs& slabs, Query& q, StackEntry* stack, Visit&& visit, OnLeaf&& leaf) {
    StackEntry* top = stack;
    uint32_t reference = root;
    for (;;) {
        if (reference & LEAF) {
            if (leaf(reference & ~LEAF, top)) return true;
        } else {
            visit();
            Floats<THRONG_WIDTH> entry;
            const WideNode& node = nodes[reference];
            prefetch(node.children);
            uint32_t mask = intersect_node(node, slabs, q.t_max, entry);
            if (mask) {
                if ((mask & (mask - 1)) == 0) {
                    reference = node.children[lowest_bit(mask)];
                    continue;
                }
                reference = push_children<!Any>(nodes, leaves, node, mask, entry, top);
                if (Any) prefetch_child(nodes, leaves, top[-1].reference);
                continue;
            }
        }
        do {
            if (top == stack) return false;
            --top;
        } while (!Any && top->t > q.t_max);
        reference = top->reference;
    }
}

// Whether `leaf(index)` is true for any of the leaves that the ray enters before `t_max`. Children are visited in descending order of slots, in which
// builders put children first that probably end the traversal soon (`accel::occlusion`). Distances are irrelevant, so entered children are pushed
// without a branch on their number, which would be unpredictable.
template <class Visit, class OnLeaf>
THRONG_INLINE bool walk_any(const WideNode* nodes, uint32_t root, const WideSlabs& slabs, float t_max, StackEntry* stack, Visit&& visit, OnLeaf&& leaf) {
    // An empty leaf at the bottom ends the traversal. The stack has twice as many places as in `walk`, so that all lanes may be written.
    static_assert(sizeof(StackEntry) == 2 * sizeof(uint32_t), "a stack has room for two references per entry");
    uint32_t* top = reinterpret_cast<uint32_t*>(stack);
    *top++ = EMPTY_CHILD;
    uint32_t reference = root;
    for (;;) {
        if (reference & LEAF) {
            if (reference == EMPTY_CHILD) return false;
            if (leaf(reference & ~LEAF)) return true;
            reference = *--top;
        } else {
            visit();
            Floats<THRONG_WIDTH> entry;
            const WideNode& node = nodes[reference];
            const uint32_t mask = intersect_node(node, slabs, t_max, entry);
            store_chosen<THRONG_WIDTH>(top, node.children, mask);
            const uint32_t* last = node.children + highest_bit(mask | 1u);
            reference = *(mask ? last : top - 1);
            // One reference was taken, either from the new ones or from the older ones.
            top += int(count_bits(mask)) - 1;
        }
    }
}

// Calls `enter` with the packs of a mesh, in their actual type.
template <class Enter>
THRONG_INLINE bool with_packs(const BlasRecord& blas, Enter&& enter) {
#if THRONG_WIDTH == 16
    if (blas.shape == SHAPE_SHARED_TRIANGLES) return enter(reinterpret_cast<const SharedPack*>(blas.packs));
#endif
    return enter(blas.packs);
}

// Visits the leaves of a mesh with these `packs` that the ray enters. True if the traversal should end.
template <bool Any, class Pack, class Visit, class OnLeaf>
THRONG_INLINE bool walk_mesh(const BlasRecord& blas, const Pack* packs, uint32_t root, const WideSlabs& slabs, Query& q, StackEntry* stack, Visit&& visit, OnLeaf&& leaf) {
    if (Any) return walk_any(blas.nodes, root, slabs, q.t_max, stack, visit, leaf);
    return walk<false>(blas.nodes, packs, root, slabs, q, stack, visit, [&](uint32_t index, StackEntry*) THRONG_INLINED {
        leaf(index);
        return false;
    });
}

// Traverses an instance of curves. Outlined, because scenes without curves never get here.
template <bool Any, bool Nested, class Count, class Counts, class Shape>
THRONG_OUTLINE bool enter_curves(uint32_t number, uint32_t record, const BlasRecord& blas, const Shape& shape, const float* object_from_world, Query& q, StackEntry* stack, Count& count, const Counts& counts) {
    const ObjectRay here = enter_space<Nested>(object_from_world, q, blas.magnitude);
    const SegmentSearch search = make_segment_search(here, make_shear(here.origin, here.direction), blas.magnitude);
    const SegmentPack* packs = reinterpret_cast<const SegmentPack*>(blas.packs);
    const ShapeSpan span = shape;
    const auto visit = [&] { count.blas_node(); };
    return walk_mesh<Any>(blas, packs, blas.root, here.slabs, q, stack, visit, [&](uint32_t index) THRONG_INLINED {
        count.pack(packs[index]);
        return intersect_segments<Any>(packs[index], blas.points, span, blas.shape == SHAPE_RIBBONS, search, number, record, q, counts);
    });
}

// Traverses the content of one instance. True if the traversal should end (`Any` and something was hit). `pack_at(packs, index)` returns the pack of
// leaf `index` at the ray's time, and `pack_at.shape()` the shape of the mesh. `Nested` in scenes with assemblies.
template <bool Any, bool Nested, class Count, class Filter, class PackAt>
THRONG_INLINE bool enter_object(const InstanceRecord& instance, uint32_t record, const BlasRecord& blas, const float* object_from_world, const Ray& ray, Query& q, StackEntry* stack, Count& count, const Filter& filter, const PackAt& pack_at) {
    const auto counts = [&](uint32_t prim, float u, float v, bool front) { return filter(ray, record, prim, u, v, unmet_surfaces<Any>(front)); };
    const uint32_t number = Nested ? q.base + instance.instance : instance.instance;
    if (Nested && is_curves(blas.shape)) return enter_curves<Any, Nested>(number, record, blas, pack_at.shape(), object_from_world, q, stack, count, counts);
    if (blas.shape == SHAPE_SPHERE) return intersect_sphere(enter_mesh<Nested>(object_from_world, q), transform_vector(object_from_world, q.direction), number, record, q, [&](uint32_t prim, float u, float v) { return filter(ray, record, prim, u, v, 0u); }) && Any;
    const ObjectRay here = enter_space<Nested>(object_from_world, q, blas.magnitude);
    const Shear shear = make_shear(here.origin, here.direction);
    const auto visit = [&] { count.blas_node(); };
    return with_packs(blas, [&](const auto* packs) THRONG_INLINED {
        return walk_mesh<Any>(blas, packs, blas.root, here.slabs, q, stack, visit, [&](uint32_t index) THRONG_INLINED {
            const auto& pack = pack_at(packs, index);
            count.pack(pack);
            return Any && AcceptsAll<Filter>::value ? crosses_pack(pack, shear, q) : intersect_pack(pack, shear, number, record, q, counts);
        });
    });
}

// Stands for the only shape of a mesh that does not deform, so that code for its points needs no other.
struct OnlyShape {
    THRONG_INLINE operator ShapeSpan() const { return ShapeSpan{0, 0, 0.0f}; }
};

// Returns the pack in a leaf of a static mesh.
struct PackItself {
    template <class Pack> THRONG_INLINE const Pack& operator()(const Pack* packs, uint32_t index) const { return packs[index]; }
    THRONG_INLINE OnlyShape shape() const { return OnlyShape(); }
};

// Interpolates a pack between two keys.
template <class Pack>
THRONG_INLINE Pack pack_between(const Pack& a, const Pack& b, float share) {
    constexpr uint32_t kFloats = sizeof(a.vertices) / sizeof(float);
    float from[kFloats], to[kFloats];
    __builtin_memcpy(from, a.vertices, sizeof(from));
    __builtin_memcpy(to, b.vertices, sizeof(to));
    for (uint32_t i = 0; i < kFloats; i++) from[i] = between(from[i], to[i], share);
    Pack pack = a;
    __builtin_memcpy(pack.vertices, from, sizeof(from));
    return pack;
}

// Returns the pack in a leaf of a deforming mesh.
struct MovingPack {
    MeshKeys keys;
    KeySpan span;
    template <class Pack> THRONG_INLINE Pack operator()(const Pack* packs, uint32_t index) const {
        const Pack* here = packs + uint64_t(span.key) * keys.leaves;
        return pack_between(here[index], here[keys.leaves + index], span.share);
    }
    THRONG_INLINE ShapeSpan shape() const { return ShapeSpan{span.key * keys.vertices, keys.vertices, span.share}; }
};

// Traverses an instance that moves while the shutter is open, at the ray's time.
template <bool Any, bool Nested, class Count, class Filter>
THRONG_OUTLINE bool enter_moving(const Params& params, const Ray& ray, uint32_t record, Query& q, StackEntry* stack, Count& count, const Filter& filter) {
    const InstanceRecord& instance = params.trees.instances[record];
    const BlasRecord& blas = params.trees.blas[instance.blas];
    const Time time = time_of(ray);
    float world_from_object[12], object_from_world[12];
    load_placement(params, instance, time, world_from_object, object_from_world);
    const MeshKeys* keys = params.keys.meshes ? params.keys.meshes + instance.mesh : nullptr;
    if (!keys || !keys->segments)
        return enter_object<Any, Nested>(instance, record, blas, object_from_world, ray, q, stack, count, filter, PackItself());
    const MovingPack pack_at{*keys, key_span(keys->segments, time)};
    return enter_object<Any, Nested>(instance, record, blas, object_from_world, ray, q, stack, count, filter, pack_at);
}

// Traverses an instance of a mesh.
template <bool Any, bool Nested, class Count, class Filter>
THRONG_INLINE bool enter_mesh(const Params& params, const Ray& ray, uint32_t record, Query& q, StackEntry* stack, Count& count, const Filter& filter) {
    const InstanceRecord& instance = params.trees.instances[record];
    if (moves(params) && instance.flags) return enter_moving<Any, Nested>(params, ray, record, q, stack, count, filter);
    return enter_object<Any, Nested>(instance, record, params.trees.blas[instance.blas], instance.object_from_world, ray, q, stack, count, filter, PackItself());
}

template <bool Any, class Count, class Filter>
bool enter_nested(const Params& params, const Ray& ray, uint32_t record, Query& q, StackEntry* stack, Count& count, const Filter& filter);

// The mode in which traversal enters instances (DETOUR_*). Another thread may change it during a launch.
THRONG_INLINE uint32_t detour(const Params& params) { return __atomic_load_n(&params.trees.detour, __ATOMIC_RELAXED); }

// Whether the launch must end, so that its results are no longer needed.
THRONG_INLINE bool is_ended(const Params& params) { return detour(params) == DETOUR_ENDS; }

// Traverses an instance unless it is hidden.
template <bool Any, class Count, class Filter>
THRONG_INLINE bool enter_instance(const Params& params, const Ray& ray, uint32_t record, Query& q, StackEntry* stack, Count& count, const Filter& filter) {
    const InstanceRecord& instance = params.trees.instances[record];
    if (instance.mask == 0) return false;
    count.instance();
    return detour(params) ? enter_nested<Any>(params, ray, record, q, stack, count, filter) : enter_mesh<Any, false>(params, ray, record, q, stack, count, filter);
}

// Traverses an instance in a scene with assemblies. Outlined, so that other scenes have no cost. A traversal ends here if the launch must end,
// because a single ray may enter millions of instances. Instances in an assembly's space are placed like instances in world space.
template <bool Any, class Count, class Filter>
THRONG_OUTLINE bool enter_nested(const Params& params, const Ray& ray, uint32_t record, Query& q, StackEntry* stack, Count& count, const Filter& filter) {
    if (is_ended(params)) return true;
    const InstanceRecord& instance = params.trees.instances[record];
    if (!(instance.flags & INSTANCE_IS_ASSEMBLY)) return enter_mesh<Any, true>(params, ray, record, q, stack, count, filter);
    const BlasRecord& assembly = params.trees.blas[instance.blas];
    if (assembly.root == EMPTY_CHILD) return false;
    const float* object_from_world = instance.object_from_world;
    float moved[2][12];
    if (moves(params) && instance.segments) {
        load_placement(params, instance, time_of(ray), moved[0], moved[1]);
        object_from_world = moved[1];
    }
    const Query outside = q;
    const FinePoint origin = enter_assembly(object_from_world, q.fine_origin(), assembly.magnitude);
    q.origin = origin.high;
    q.low = origin.low;
    q.direction = transform_vector(object_from_world, q.direction);
    q.base += instance.instance;
    const WideSlabs slabs = make_wide_slabs(q.origin, q.direction, assembly.magnitude, q.t_min);
    const InstanceRecord* records = params.trees.instances + assembly.first_record;
    const bool done = walk<Any>(assembly.nodes, records, assembly.root, slabs, q, stack, [&] { count.tlas_node(); }, [&](uint32_t index, StackEntry* top) {
        return enter_instance<Any>(params, ray, assembly.first_record + index, q, top, count, filter);
    });
    q.origin = outside.origin;
    q.low = outside.low;
    q.direction = outside.direction;
    q.base = outside.base;
    return done;
}

// Traverses the scene. `filter` decides which crossed primitives are hit.
template <bool Any, class Count, class Filter>
THRONG_INLINE bool traverse(const Params& params, const Ray& ray, Query& q, StackEntry* stack, Count& count, const Filter& filter) {
    if (params.frame.tlas_root == EMPTY_CHILD) return false;
    const WideSlabs slabs = make_wide_slabs(q.origin, q.direction, params.frame.tlas_magnitude, q.t_min);
    return walk<Any>(params.trees.tlas_nodes, params.trees.instances, params.frame.tlas_root, slabs, q, stack, [&] { count.tlas_node(); }, [&](uint32_t record, StackEntry* top) {
        return enter_instance<Any>(params, ray, record, q, top, count, filter);
    });
}

}

// Positions at the time of a ray, for motion blur. Between keys, which are evenly spaced, matrices and vertices are interpolated linearly. Every
// point moves along a straight line, so bounds that contain it at both keys contain it in between.
#pragma once
#include "abi.h"
#include "util/fine.h"

namespace THRONG_NAMESPACE {

// Fraction of the shutter interval. Takes no memory in kernels without motion.
template <bool moves> struct TimeOf;
template <> struct TimeOf<true> {
    float share;
    THRONG_INLINE static TimeOf at(float share) { return TimeOf{share}; }
    THRONG_INLINE float value() const { return share; }
};
template <> struct TimeOf<false> {
    THRONG_INLINE static TimeOf at(float) { return TimeOf{}; }
    THRONG_INLINE float value() const { return 0.0f; }
};
typedef TimeOf<THRONG_MOTION != 0> Time;

// Whether rays have a time. Rays of queries outside of a render have none, regardless of the frame.
THRONG_INLINE bool moves(const Params& params) { (void)params; return THRONG_MOVES(params); }

// Whether the scene has assemblies.
THRONG_INLINE bool is_nested(const Params& params) { (void)params; return THRONG_IS_NESTED(params); }

// Whether a shape is one of the two kinds of curves, which only exist in scenes with levels.
THRONG_INLINE bool is_curves(uint32_t shape) { return shape >= SHAPE_CURVES; }

// Time of a ray of a render; 0 if nothing moves.
THRONG_INLINE Time time_of(const Ray& ray) { return Time::at(ray.t_min); }

// Start distance of a ray: 0 for rays that store a time in place of `t_min`. Never -0, whose bits would break the order.
THRONG_INLINE float start_of(const Params& params, const Ray& ray) { return moves(params) ? 0.0f : ray.t_min + 0.0f; }

// The key at or before a time, and the fraction of the way to the next key.
struct KeySpan {
    uint32_t key;
    float share;
};

THRONG_INLINE KeySpan key_span(uint32_t segments, Time time) {
    const float at = time.value() * float(segments);
    uint32_t key = uint32_t(at);
    if (key >= segments) key = segments - 1;
    return KeySpan{key, at - float(key)};
}

// Linear interpolation; exact if both values are equal.
THRONG_INLINE float between(float a, float b, float share) { return a + (b - a) * share; }
THRONG_INLINE Vec3 between(Vec3 a, Vec3 b, float share) { return a + (b - a) * share; }

// Interpolates world_from_object of an instance with keys.
THRONG_INLINE void instance_at(const Params& params, uint32_t first_key, uint32_t segments, Time time, float* world_from_object) {
    const KeySpan span = key_span(segments, time);
    const InstanceKey* keys = params.keys.instances + (uint64_t(first_key) + span.key);
    float next[12];
    load_matrix(keys[0].world_from_object, world_from_object);
    load_matrix(keys[1].world_from_object, next);
    for (int i = 0; i < 12; i++) world_from_object[i] = between(world_from_object[i], next[i], span.share);
}

// Inverts an affine transform, with single operations for identical bits on all devices; not finite if there is no inverse. Columns are scaled first,
// so that lengths of any magnitude keep their precision.
THRONG_INLINE void invert(const float* m, float* inverse) {
    Vec3 x = vec3(m[0], m[4], m[8]), y = vec3(m[1], m[5], m[9]), z = vec3(m[2], m[6], m[10]);
    const Vec3 translation = vec3(m[3], m[7], m[11]);
    const float sx = 1.0f / max_component(absolute(x)), sy = 1.0f / max_component(absolute(y)), sz = 1.0f / max_component(absolute(z));
    x = x * sx;
    y = y * sy;
    z = z * sz;
    const Vec3 yz = cross(y, z);
    const float determinant = 1.0f / dot(x, yz);
    const Vec3 rows[3] = {yz * (determinant * sx), cross(z, x) * (determinant * sy), cross(x, y) * (determinant * sz)};
    for (int row = 0; row < 3; row++) {
        store3(inverse + 4 * row, rows[row]);
        inverse[4 * row + 3] = -dot(rows[row], translation);
    }
}

THRONG_INLINE Vec3 translation_of(const float* m) { return vec3(m[3], m[7], m[11]); }

THRONG_INLINE void set_translation(float* m, Vec3 translation) {
    m[3] = translation.x;
    m[7] = translation.y;
    m[11] = translation.z;
}

// Loads both transforms of an instance at a time.
THRONG_INLINE void load_placement(const Params& params, const InstanceRecord& instance, Time time, float* world_from_object, float* object_from_world) {
    if (moves(params) && instance.segments) {
        instance_at(params, instance.first_key, instance.segments, time, world_from_object);
        invert(world_from_object, object_from_world);
        if (is_nested(params)) set_translation(object_from_world, translation_of(world_from_object));
        return;
    }
    load_matrix(instance.world_from_object, world_from_object);
    load_matrix(instance.object_from_world, object_from_world);
}

// Transforms a point into a mesh's space in a scene with assemblies. There, the last column of `object_from_world` stores the instance's position,
// because the rounding error of the inverse's own translation grows with the distance from the origin.
THRONG_INLINE Vec3 enter_mesh(const float* object_from_world, const FinePoint& point) {
    return transform_vector(object_from_world, offset_from(point, translation_of(object_from_world)));
}

// Transforms a point into an assembly's space in the same way.
THRONG_INLINE FinePoint enter_assembly(const float* object_from_world, const FinePoint& point) {
    return transform_offset(object_from_world, point, translation_of(object_from_world));
}

// Variant for a ray's origin, whose low-order part only matters near the assembly. `reach` is the assembly's greatest coordinate.
THRONG_INLINE FinePoint enter_assembly(const float* object_from_world, const FinePoint& point, float reach) {
    const Vec3 p = enter_mesh(object_from_world, point);
    if (is_far(p, reach)) return FinePoint{p, vec3(0.0f)};
    return enter_assembly(object_from_world, point);
}

// The vertices of a mesh at a time. The vertices of a key start at `first`, and those of the next key `stride` vertices later. The stride is 0 for a
// static mesh.
struct ShapeSpan {
    uint32_t first, stride;
    float share;
};

THRONG_INLINE ShapeSpan shape_at(const Params& params, uint32_t mesh, Time time) {
    if (!moves(params) || !params.keys.meshes) return ShapeSpan{0, 0, 0.0f};
    const MeshKeys keys = load_record(&params.keys.meshes[mesh]);
    if (!keys.segments) return ShapeSpan{0, 0, 0.0f};
    const KeySpan span = key_span(keys.segments, time);
    return ShapeSpan{span.key * keys.vertices, keys.vertices, span.share};
}

// Loads a vertex of a mesh that may deform.
THRONG_INLINE VertexRecord vertex_at(const MeshRecord& mesh, uint32_t index, const ShapeSpan& shape) {
    VertexRecord vertex = load_record(&mesh.vertices[shape.first + index]);
    if (!shape.stride) return vertex;
    const VertexRecord next = load_record(&mesh.vertices[shape.first + shape.stride + index]);
    for (int i = 0; i < 3; i++) {
        vertex.position[i] = between(vertex.position[i], next.position[i], shape.share);
        vertex.normal[i] = between(vertex.normal[i], next.normal[i], shape.share);
    }
    return vertex;
}

}

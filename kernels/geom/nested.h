// Instances of instances. A hit has the number that its instance would have if all assemblies were copied to where they are placed. Each
// level has the numbers at which its instances begin, so that a number leads from the outermost instance in.
#pragma once
#include "geom/motion.h"

namespace THRONG_NAMESPACE {

// Whether the scene has assemblies.
THRONG_INLINE bool is_nested(const Params& params) { (void)params; return THRONG_IS_NESTED(params); }

// Calls `visit(index, instance)` for each instance on the way to the mesh of a number, from the outermost one in, with its index in the scene.
template <class Visit>
THRONG_INLINE void follow_number(const Params& params, uint32_t number, Visit&& visit) {
    uint32_t level = 0;
    for (;;) {
        const NestLevel at = load_record(&params.trees.levels[level]);
        const uint32_t* numbers = params.trees.numbers + at.first;
        uint32_t index = 0;
        if (at.even) index = number / at.even < at.count ? number / at.even : at.count - 1u;
        else
            for (uint32_t end = at.count; end - index > 1;) {
                const uint32_t middle = index + (end - index) / 2;
                if (load_word(&numbers[middle]) <= number) index = middle;
                else end = middle;
            }
        number -= load_word(&numbers[index]);
        const InstanceRecord& instance = params.trees.instances[load_word(&params.trees.records_of[at.first + index])];
        visit(at.first + index, instance);
        if (!(instance.flags & INSTANCE_IS_ASSEMBLY)) return;
        level = instance.slot_base;
    }
}

// Index in the scene of the instance that a hit is on.
THRONG_DEVICE uint32_t scene_index(const Params& params, const Hit& hit) {
    if (!is_nested(params)) return hit.instance;
    uint32_t last = 0;
    follow_number(params, hit.instance, [&](uint32_t index, const InstanceRecord&) { last = index; });
    return last;
}

// a = a * b, of affine transforms.
THRONG_INLINE void append_transform(float* a, const float* b) {
    for (int row = 0; row < 3; row++) {
        float* r = a + 4 * row;
        const Vec3 x = vec3(r[0], r[1], r[2]);
        const float t = r[3];
        for (int column = 0; column < 4; column++) r[column] = x.x * b[column] + x.y * b[4 + column] + x.z * b[8 + column];
        r[3] += t;
    }
}

THRONG_INLINE void load_identity(float* m) {
    for (int i = 0; i < 12; i++) m[i] = i % 5 == 0 ? 1.0f : 0.0f;
}

// Loads both transforms of an instance of an assembly, to and from the world.
THRONG_OUTLINE void load_nested_placement(const Params& params, uint32_t number, Time time, float* world_from_object, float* object_from_world) {
    load_identity(world_from_object);
    load_identity(object_from_world);
    follow_number(params, number, [&](uint32_t, const InstanceRecord& instance) {
        float out[12], in[12];
        load_placement(params, instance, time, out, in);
        append_transform(world_from_object, out);
        append_transform(in, object_from_world);
        for (int i = 0; i < 12; i++) object_from_world[i] = in[i];
    });
}

// Loads both transforms of the instance with this record and number.
THRONG_INLINE void load_placement(const Params& params, const InstanceRecord& instance, uint32_t number, Time time, float* world_from_object, float* object_from_world) {
    if (is_nested(params)) load_nested_placement(params, number, time, world_from_object, object_from_world);
    else load_placement(params, instance, time, world_from_object, object_from_world);
}

// Loads world_from_object of a number's instance out of transforms of all instances of the scene.
THRONG_DEVICE void load_other_placement(const Params& params, const float* transforms, uint32_t number, float* world_from_object) {
    if (!is_nested(params)) {
        load_matrix(transforms + 12 * uint64_t(number), world_from_object);
        return;
    }
    load_identity(world_from_object);
    follow_number(params, number, [&](uint32_t index, const InstanceRecord&) {
        float own[12];
        load_matrix(transforms + 12 * uint64_t(index), own);
        append_transform(world_from_object, own);
    });
}

// Greatest component of `m` times a vector of magnitudes.
THRONG_INLINE float most_of(const float* m, Vec3 v) {
    float most = 0.0f;
    for (int row = 0; row < 3; row++) most = max(most, fabsf(m[4 * row]) * v.x + fabsf(m[4 * row + 1]) * v.y + fabsf(m[4 * row + 2]) * v.z);
    return most;
}

// Sum over the levels of what rounding moves a ray by on its way in, in the world and in units of the last place, at a position in the world.
THRONG_OUTLINE float nested_rounding(const Params& params, uint32_t number, Time time, Vec3 position) {
    float world_from_here[12], error = 0.0f;
    load_identity(world_from_here);
    follow_number(params, number, [&](uint32_t, const InstanceRecord& instance) {
        float out[12], in[12];
        load_placement(params, instance, time, out, in);
        append_transform(world_from_here, out);
        error += most_of(world_from_here, transform_magnitude(in, position));
        position = transform_point(in, position);
    });
    return error;
}

}

// Instances of instances. A hit stores the number that its instance would have after expanding all assemblies into copies. Each level stores the
// first number of each of its instances, so that a number determines the path from the outermost instance to the level of the hit's record.
#pragma once
#include "geom/motion.h"

namespace THRONG_NAMESPACE {

// Calls `visit(index, instance)` for each instance on the path to a record's mesh, from the outermost to the innermost, with its index in the scene.
template <class Visit>
THRONG_INLINE void follow_number(const Params& params, uint32_t number, uint32_t record, Visit&& visit) {
    const uint32_t last = load_word(&params.trees.indices[record]);
    uint32_t level = 0;
    for (;;) {
        const NestLevel at = load_record(&params.trees.levels[level]);
        if (last - at.first < at.count) return visit(last, params.trees.instances[record]);
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
        level = instance.slot_base;
    }
}

// Index of the hit instance in the scene.
THRONG_DEVICE uint32_t scene_index(const Params& params, const Hit& hit) {
    return is_nested(params) ? load_word(&params.trees.indices[hit.record]) : hit.instance;
}

// a = a * b, for the linear parts of transforms.
THRONG_INLINE void append_linear(float* a, const float* b) {
    for (int row = 0; row < 3; row++) {
        float* r = a + 4 * row;
        const Vec3 x = vec3(r[0], r[1], r[2]);
        for (int column = 0; column < 3; column++) r[column] = x.x * b[column] + x.y * b[4 + column] + x.z * b[8 + column];
    }
}

THRONG_INLINE void load_identity(float* m) {
    for (int i = 0; i < 12; i++) m[i] = i % 5 == 0 ? 1.0f : 0.0f;
}

// Loads both transforms of an instance in an assembly, to and from world space. The world's origin is transformed like a ray origin, with full
// precision. Both transforms are then as precise as the instance's distance from the origin allows.
THRONG_OUTLINE void load_nested_placement(const Params& params, uint32_t number, uint32_t record, Time time, float* world_from_object, float* object_from_world) {
    load_identity(world_from_object);
    load_identity(object_from_world);
    FinePoint origin{vec3(0.0f), vec3(0.0f)};
    follow_number(params, number, record, [&](uint32_t, const InstanceRecord& instance) {
        float out[12], in[12];
        load_placement(params, instance, time, out, in);
        origin = enter_assembly(in, origin);
        append_linear(world_from_object, out);
        append_linear(in, object_from_world);
        for (int i = 0; i < 12; i++) object_from_world[i] = in[i];
    });
    set_translation(object_from_world, origin.high);
    set_translation(world_from_object, -transform_vector(world_from_object, origin.high));
}

THRONG_INLINE uint32_t record_of(const Params& params, const InstanceRecord& instance) { return uint32_t(&instance - params.trees.instances); }

// Loads both transforms of the instance with this record and number.
THRONG_INLINE void load_placement(const Params& params, const InstanceRecord& instance, uint32_t number, Time time, float* world_from_object, float* object_from_world) {
    if (is_nested(params)) load_nested_placement(params, number, record_of(params, instance), time, world_from_object, object_from_world);
    else load_placement(params, instance, time, world_from_object, object_from_world);
}

// Loads the transform of an instance of the scene in another frame.
THRONG_INLINE void load_other_matrix(const OtherFrame& other, uint32_t index, const InstanceRecord& record, float* own) {
    const uint32_t place = other.places ? load_word(&other.places[index]) : index;
    load_matrix(place == NO_INDEX ? record.world_from_object : other.transforms + 12 * uint64_t(place), own);
}

// Loads world_from_object of the hit instance in another frame.
THRONG_DEVICE void load_other_placement(const Params& params, const OtherFrame& other, const Hit& hit, float* world_from_object) {
    if (!is_nested(params)) {
        load_other_matrix(other, hit.instance, params.trees.instances[hit.record], world_from_object);
        return;
    }
    load_identity(world_from_object);
    FinePoint origin{vec3(0.0f), vec3(0.0f)};
    follow_number(params, hit.instance, hit.record, [&](uint32_t index, const InstanceRecord& record) {
        float own[12];
        load_other_matrix(other, index, record, own);
        origin = sum_of(origin, transform_offset(world_from_object, FinePoint{translation_of(own), vec3(0.0f)}, vec3(0.0f)));
        append_linear(world_from_object, own);
    });
    set_translation(world_from_object, origin.high);
}

}

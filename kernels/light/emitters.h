// Samples points on the emitters inside the scene: triangles by area, spheres by solid angle. Surfaces emit on both sides, unless their material is
// one-sided.
#pragma once
#include "light/light_tree.h"
#include "geom/opacity.h"
#include "integrator/path.h"

namespace THRONG_NAMESPACE {

// A direction to a light, and the light that arrives from there.
struct LightSample {
    // Unit vector towards the light, and the length of the shadow ray, which ends short of the light.
    Vec3 direction;
    float distance;
    // Radiance that arrives, divided by `pdf` (for lights without extent: irradiance divided by their probability).
    Vec3 light;
    // Pdf of the direction per solid angle; infinite for lights without extent, which no other strategy can hit.
    float pdf;
};

// Fraction of the distance at which shadow rays to lights without extent end, because the light may be directly at a surface.
constexpr float kShortOfLight = 0.9999f;

// Length of a shadow ray along `direction` to the point `s`, shortened so that rounding cannot make it hit the light's own surface.
THRONG_INLINE float short_of(const Surface& s, Vec3 direction, float distance) {
    Vec3 bound = absolute(s.geometric) * s.error;
    float cosine = fabsf(dot(s.geometric, direction));
    return max(distance - (bound.x + bound.y + bound.z) / cosine, 0.0f);
}

THRONG_INLINE Vec3 emission_at(const Params& params, const Surface& s) {
    return emission_at(params, s, load_record(&params.tables.materials[s.material]));
}

THRONG_INLINE float determinant(const float* m) {
    return dot(vec3(m[0], m[4], m[8]), cross(vec3(m[1], m[5], m[9]), vec3(m[2], m[6], m[10])));
}

// Twice the world-space area of a triangle of a moving instance.
THRONG_DEVICE float area_at(const Params& params, const InstanceRecord& instance, uint32_t number, const MeshRecord& mesh, const CornerRecord& corners, Time time) {
    float world_from_object[12], object_from_world[12];
    if (is_nested(params)) load_placement(params, instance, number, time, world_from_object, object_from_world);
    else if (instance.segments) instance_at(params, instance.first_key, instance.segments, time, world_from_object);
    else load_matrix(instance.world_from_object, world_from_object);
    const ShapeSpan shape = shape_at(params, instance.mesh, time);
    const Vec3 a = load3(vertex_at(mesh, corners.vertices[0], shape).position);
    const Vec3 e1 = load3(vertex_at(mesh, corners.vertices[1], shape).position) - a;
    const Vec3 e2 = load3(vertex_at(mesh, corners.vertices[2], shape).position) - a;
    return length(cross(transform_vector(world_from_object, e1), transform_vector(world_from_object, e2)));
}

// Pdf of a triangle's points per world-space area, given that its emitter is sampled. The table's pdf is in object space, in which deforming meshes
// have the shape of their first key.
THRONG_DEVICE float triangle_pdf(const Params& params, const InstanceRecord& instance, uint32_t number, const MeshRecord& mesh, const EmitterTable& table, uint32_t prim, uint32_t material, Time time) {
    const CornerRecord corners = load_record(&mesh.corners[prim]);
    Vec3 a = vec3(load_words(mesh.vertices[corners.vertices[0]].position));
    Vec3 e1 = vec3(load_words(mesh.vertices[corners.vertices[1]].position)) - a;
    Vec3 e2 = vec3(load_words(mesh.vertices[corners.vertices[2]].position)) - a;
    float m[12];
    if (is_nested(params)) {
        float object_from_world[12];
        load_placement(params, instance, number, time, m, object_from_world);
    } else load_matrix(instance.world_from_object, m);
    float own = length(cross(e1, e2)), world = length(cross(transform_vector(m, e1), transform_vector(m, e2)));
    // Removed before inlining; otherwise kernels without motion would need more registers.
    if constexpr (THRONG_MOTION != 0)
        if (moves(params) && instance.flags) world = area_at(params, instance, number, mesh, corners, time);
    float weight = bits_float(load_word(&params.tables.materials[material].emission_weight)) / table.weight;
    return world > 0.0f ? own / world * weight : 0.0f;
}

// The unit sphere at the origin as seen from `p`. Directions to it are uniform in the cone that it fills or, from inside, in all directions.
struct SphereCone {
    // One minus the cosine of the cone's angular radius; 2 for all directions.
    float cap;
    bool outside;
};

THRONG_INLINE SphereCone sphere_cone(Vec3 p) {
    float squared = dot(p, p);
    if (!(squared > 1.0f)) return SphereCone{2.0f, false};
    float sine_squared = 1.0f / squared;
    return SphereCone{sine_squared / (1.0f + sqrtf(max(0.0f, 1.0f - sine_squared))), true};
}

// Pdf of a direction to a sphere per world-space solid angle. Directions are sampled in object space, in which the sphere is round. A unit vector
// there has the length `stretch` in world space.
THRONG_INLINE float sphere_pdf(const SphereCone& cone, const float* world_from_object, float stretch) {
    return stretch * stretch * stretch / (fabsf(determinant(world_from_object)) * 2.0f * kPi * cone.cap);
}

// Samples a point of a sphere. Here and in `sample_triangles`, `sampled.light` is radiance that is not yet divided by the pdf.
THRONG_DEVICE bool sample_sphere(const Params& params, Vec3 position, Time time, uint32_t record, uint32_t number, Vec2 u, LightSample& sampled) {
    const InstanceRecord& instance = params.trees.instances[record];
    float world_from_object[12], object_from_world[12];
    load_placement(params, instance, number, time, world_from_object, object_from_world);
    Vec3 p = transform_point(object_from_world, position);
    SphereCone cone = sphere_cone(p);
    Vec3 d = sample_cone(normalize_or(-p, vec3(0.0f, 1.0f, 0.0f)), cone.cap, u);
    // Rays hit the near side from outside, and the far side from inside.
    float along = -dot(p, d);
    Vec3 nearest = p + d * along;
    float half_chord = sqrtf(max(0.0f, 1.0f - dot(nearest, nearest)));
    float t = cone.outside ? along - half_chord : along + half_chord;
    Vec3 world = transform_vector(world_from_object, d);
    float stretch = length(world);
    if (!(t > 0.0f) || !(stretch > 0.0f)) return false;
    sampled.direction = world * (1.0f / stretch);
    sampled.distance = t * stretch;
    sampled.pdf = sphere_pdf(cone, world_from_object, stretch);
    const Hit hit{sampled.distance, 0.0f, 0.0f, 0, number, record};
    const Surface s = make_surface(params, ray_of(position, sampled.direction, kInfinity, time), hit);
    sampled.light = emission_at(params, s);
    sampled.distance = short_of(s, sampled.direction, sampled.distance);
    return true;
}

// Samples a point of an instance's triangles.
THRONG_DEVICE bool sample_triangles(const Params& params, Vec3 position, Time time, uint32_t record, uint32_t number, const EmitterTable& table, float choice, Vec2 u, LightSample& sampled) {
    float at = choice * float(table.count);
    uint32_t index = uint32_t(at);
    if (index >= table.count) index = table.count - 1;
    const EmitterTriangle entry = load_record(&params.local_lights.triangles[table.first + index]);
    const uint32_t prim = at - float(index) < entry.threshold ? entry.prim : entry.alias;
    // Maps the halves of the unit square to the triangle, with little distortion (Heitz 2019).
    const float low = 0.5f * min(u.x, u.y);
    const Hit hit{1.0f, u.x < u.y ? low : u.x - low, u.x < u.y ? u.y - low : low, prim, number, record};
    Surface s = make_surface(params, ray_of(position, vec3(0.0f, 1.0f, 0.0f), kInfinity, time), hit);
    Vec3 to = s.position - position;
    float squared = dot(to, to);
    if (!(squared > 0.0f)) return false;
    sampled.distance = sqrtf(squared);
    sampled.direction = to * (1.0f / sampled.distance);
    const float along = dot(s.geometric, sampled.direction), cosine = fabsf(along);
    // The surface was made for an arbitrary ray; its other side may face `position`.
    s.front = s.front != (along > 0.0f);
    const InstanceRecord& instance = params.trees.instances[record];
    const MeshRecord mesh = load_record(&params.tables.meshes[instance.mesh]);
    sampled.pdf = triangle_pdf(params, instance, number, mesh, table, prim, s.material, time) * squared / cosine;
    sampled.distance = short_of(s, sampled.direction, sampled.distance);
    sampled.light = emission_at(params, s);
    // If the surface has holes, rays hit it with this probability.
    if (params.tables.has_cutouts) sampled.light = sampled.light * opacity_at(params, instance, prim, hit.u, hit.v);
    return sampled.pdf > 0.0f && sampled.pdf < kInfinity;
}

THRONG_INLINE uint32_t random_bits(Vec2 u) { return float_bits(u.x) ^ float_bits(u.y) * 0x9e3779b9u; }

// The number of a sampled instance; 0 in scenes without assemblies, where it is not needed.
THRONG_INLINE uint32_t number_of(const Params& params, const SampledEmitter& sampled) {
    return is_nested(params) ? sampled.base + params.trees.instances[sampled.emitter.record].instance : 0;
}

// Samples a point of an emitter with extent; `probability` is the emitter's probability.
THRONG_INLINE bool sample_surface(const Params& params, Vec3 position, Time time, const EmitterRecord& emitter, uint32_t number, float choice, float probability, Vec2 u, LightSample& sampled) {
    const EmitterTable table = load_record(&params.local_lights.tables[emitter.table]);
    choice = refill(choice, probability, random_bits(u));
    const bool seen = table.count ? sample_triangles(params, position, time, emitter.record, number, table, choice, u, sampled)
                                  : sample_sphere(params, position, time, emitter.record, number, u, sampled);
    if (!seen) return false;
    sampled.pdf *= probability;
    sampled.light = sampled.light * (1.0f / sampled.pdf);
    return true;
}

// Samples a point of an emitter inside the scene. `share` is the probability of this strategy.
THRONG_OUTLINE bool sample_local(const Params& params, Vec3 position, Vec3 normal, Time time, float choice, float share, Vec2 u, LightSample& sampled) {
    const Receiver at = receiver(position, normal);
    float probability = share;
    SampledEmitter chosen;
    if (!sample_emitter(params, at, time, random_bits(u), choice, probability, chosen)) return false;
    const EmitterRecord& emitter = chosen.emitter;
    if (emitter.table == NO_INDEX) {
        IncidentLight l = incident_light(load_light(params, emitter.record), position, u);
        sampled = LightSample{l.direction, l.distance * kShortOfLight, l.irradiance * (1.0f / probability), kInfinity};
        return max_component(l.irradiance) > 0.0f;
    }
    return sample_surface(params, position, time, emitter, number_of(params, chosen), choice, probability, u, sampled);
}

// Pdf per solid angle of `sample_local` from `position`, for the point `s` of an instance's surface.
THRONG_OUTLINE float local_pdf(const Params& params, Vec3 position, Vec3 normal, float share, const Hit& hit, const Surface& s) {
    const uint32_t index = load_word(&params.local_lights.emitter_of[hit.record]);
    if (index == NO_INDEX) return 0.0f;
    const EmitterTable table = load_record(&params.local_lights.tables[load_word(&params.local_lights.emitters[index].table)]);
    const InstanceRecord& instance = params.trees.instances[hit.record];
    Vec3 to = s.position - position;
    float squared = dot(to, to);
    if (!(squared > 0.0f)) return 0.0f;
    Vec3 direction = to * (1.0f / sqrtf(squared));
    float pdf;
    if (table.count) {
        const MeshRecord mesh = load_record(&params.tables.meshes[instance.mesh]);
        pdf = triangle_pdf(params, instance, hit.instance, mesh, table, hit.prim, s.material, s.time) * squared / fabsf(dot(s.geometric, direction));
    } else {
        float world_from_object[12], object_from_world[12];
        load_placement(params, instance, hit.instance, s.time, world_from_object, object_from_world);
        float stretch = 1.0f / length(transform_vector(object_from_world, direction));
        pdf = sphere_pdf(sphere_cone(transform_point(object_from_world, position)), world_from_object, stretch);
    }
    return share * emitter_probability(params, receiver(position, normal), s.time, hit.record, hit.instance) * pdf;
}

}

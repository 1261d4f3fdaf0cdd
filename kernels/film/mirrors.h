// Flat mirrors on the path of a camera ray, including near-mirrors like water. Reflected images move with the reflected objects, not with the mirror.
#pragma once
#include "film/film.h"

namespace THRONG_NAMESPACE {

// Maximum number of mirrors per path whose images are followed.
constexpr uint32_t kMirrors = 4;
// Maximum roughness of surfaces whose reflected images have enough detail to be followed.
constexpr float kFollowedRoughness = 0.2f;
// Weight of non-emissive objects in rough mirrors, in which many objects contribute at once.
constexpr float kDullWeight = 0.01f;
// Number of samples per pixel, starting with the first, that are followed from rough mirrors. Each needs a ray, and further samples add little.
constexpr uint32_t kRoughSamples = 32;

// The moments between which motion is computed: the frame's own time, the previous frame and the next frame.
enum class Moment : uint32_t { now, before, after };
constexpr uint32_t kMoments = 3;

struct Plane {
    Vec3 point, normal;
};

// The flat mirrors on a camera ray's path, in order, each with its plane at all moments.
struct Mirrors {
    Plane planes[kMirrors][kMoments];
    uint32_t count;
    // Whether one of the mirrors is rough.
    bool is_rough;
};

// Cache of the last mirror, because neighbouring rays usually hit the same one.
struct KnownMirror {
    // NO_INDEX if there is none.
    uint32_t instance, record, prim;
    Plane planes[kMoments];
};

// Position in another frame of the point at `hit`, whose position at the ray's time is `position`.
THRONG_DEVICE Vec3 other_position(const Params& params, const OtherFrame& other, const Hit& hit, Time time, Vec3 position) {
    if (!other.transforms) return position;
    const InstanceRecord& instance = params.trees.instances[hit.record];
    const uint32_t shown = other.shown ? other.shown[scene_index(params, hit)] : instance.mesh;
    const MeshRecord mesh = load_record(&other.meshes[shown]);
    Vec3 local;
    if (mesh.shape == SHAPE_SPHERE) {
        local = sphere_point(params, instance, hit.instance, time, position).position;
    } else if (is_nested(params) && is_curves(mesh.shape)) {
        const MeshRecord current = load_record(&params.tables.meshes[instance.mesh]);
        float now[12], object_from_world[12];
        load_placement(params, instance, hit.instance, time, now, object_from_world);
        local = transform_point(object_from_world, position);
        if (current.vertices != mesh.vertices)
            local = carry_along(segment_of(current, hit, shape_at(params, instance.mesh, time)), segment_of(mesh, hit, ShapeSpan{0, 0, 0.0f}), hit.u, local);
    } else {
        const CornerRecord corners = load_record(&mesh.corners[hit.prim]);
        const Vec3 a = load3(mesh.vertices[corners.vertices[0]].position);
        local = a + (load3(mesh.vertices[corners.vertices[1]].position) - a) * hit.u + (load3(mesh.vertices[corners.vertices[2]].position) - a) * hit.v;
    }
    float world_from_object[12];
    load_other_placement(params, other, hit, world_from_object);
    return transform_point(world_from_object, local);
}

// The plane of the hit triangle at another moment.
THRONG_DEVICE Plane plane_at(const Params& params, const OtherFrame& other, Hit hit, const Surface& s) {
    Vec3 corners[3];
    for (int k = 0; k < 3; k++) {
        hit.u = k == 1 ? 1.0f : 0.0f;
        hit.v = k == 2 ? 1.0f : 0.0f;
        corners[k] = other_position(params, other, hit, s.time, s.position);
    }
    return Plane{corners[0], normalize_or(cross(corners[1] - corners[0], corners[2] - corners[0]), s.geometric)};
}

// Reflects a point (or a direction, with a `weight` of 0) in the mirrors at a moment.
THRONG_DEVICE Vec3 image_of(const Mirrors& mirrors, Moment moment, Vec3 seen, float weight) {
    for (uint32_t i = mirrors.count; i-- > 0;) {
        const Plane& plane = mirrors.planes[i][uint32_t(moment)];
        seen = seen - plane.normal * (2.0f * (dot(seen, plane.normal) - weight * dot(plane.point, plane.normal)));
    }
    return seen;
}

// Whether a triangle has a constant shading normal.
THRONG_DEVICE bool is_flat(const Params& params, const Hit& hit) {
    const InstanceRecord& instance = params.trees.instances[hit.record];
    const MeshRecord mesh = load_record(&params.tables.meshes[load_words(&instance.slot_base).y]);
    if (mesh.shape != SHAPE_TRIANGLES) return false;
    if (!(mesh.flags & MESH_SMOOTH)) return true;
    const CornerRecord corners = load_record(&mesh.corners[hit.prim]);
    const Vec3 a = load3(mesh.vertices[corners.vertices[0]].normal), b = load3(mesh.vertices[corners.vertices[1]].normal) - a,
               c = load3(mesh.vertices[corners.vertices[2]].normal) - a;
    const float most = 1e-8f * dot(a, a);
    return dot(b, b) <= most && dot(c, c) <= most;
}

// Whether a surface mostly shows reflections, and the width of its lobe.
THRONG_DEVICE bool is_reflector(const Params& params, const Ray& ray, const Surface& s, float& alpha) {
    const MaterialRecord material = load_record(&params.tables.materials[s.material]);
    alpha = 0.0f;
    if (material.kind == MATERIAL_MIRROR) return true;
    if (params.picture.integrator != INTEGRATOR_PATH) return material.flags & SURFACE_POLISHED;
    if (material.kind != MATERIAL_LAYERED) return false;
    const LobesRecord lobes = load_record(&params.tables.lobes[material.lobes]);
    const Vec3 maps = sample_map(params, lobes.metallic_roughness_map, s.uv, s.footprint).color;
    const float roughness = lobes.roughness * maps.y, metallic = lobes.metallic * maps.z;
    if (roughness > kFollowedRoughness || lobes.transmission > 0.0f) return false;
    alpha = squared(roughness);
    const float own = luminance(base_color(params, s, material));
    const float fresnel = lobes.specular * dielectric_fresnel(fabsf(dot(load3(ray.direction), s.shading)), lobes.ior);
    return metallic * own + (1.0f - metallic) * fresnel > (1.0f - metallic) * (1.0f - fresnel) * own;
}

// The direction in which a surface reflects a ray. For rough surfaces, `u` selects a facet.
THRONG_DEVICE Vec3 reflected_direction(Vec3 direction, const Surface& s, float alpha, Vec2 u) {
    const Vec3 mirrored = mirror_direction(direction, s);
    if (is_smooth(Roughness{alpha, alpha})) return mirrored;
    const Vec3 normal = dot(direction, s.shading) < 0.0f ? s.shading : -s.shading;
    Vec3 side, up;
    basis(normal, side, up);
    const Vec3 out = vec3(-dot(direction, side), -dot(direction, up), -dot(direction, normal));
    const Vec3 in = reflect(out, sample_visible_facet(Roughness{alpha, alpha}, out, u));
    return in.z > 0.0f ? side * in.x + up * in.y + normal * in.z : mirrored;
}

// Whether the surface that `ray` hits is a flat mirror. If so, adds it to `mirrors`, and replaces `ray` by the reflected ray.
THRONG_DEVICE bool meets_mirror(const Params& params, const Sampler& sampler, KnownMirror& known, Ray& ray, const Hit& hit, const Surface& s, Mirrors& mirrors) {
    if (mirrors.count == kMirrors) return false;
    // Most surfaces are curved, which shows without reading their material and triangle.
    if (fabsf(dot(s.shading, s.geometric)) < 0.99999f) return false;
    float alpha;
    if (!is_reflector(params, ray, s, alpha) || !is_flat(params, hit)) return false;
    const FrameAovs& aovs = *params.film.aovs;
    const OtherFrame* moments[kMoments] = {&aovs.now, &aovs.before, &aovs.after};
    const bool is_known = known.instance == hit.instance && known.record == hit.record && known.prim == hit.prim;
    for (uint32_t k = 0; k < kMoments; k++) {
        const OtherFrame& other = *moments[k];
        if (other.transforms && !is_known) known.planes[k] = plane_at(params, other, hit, s);
        // Without motion, use a point of the ray's own, so that samples do not depend on one another.
        mirrors.planes[mirrors.count][k] = other.transforms ? known.planes[k] : Plane{s.position, s.geometric};
    }
    const uint32_t dimension = kDimensionBounce + mirrors.count * kDimensionsPerBounce + kBounceDirection;
    mirrors.count++;
    mirrors.is_rough |= !is_smooth(Roughness{alpha, alpha});
    known.instance = hit.instance;
    known.record = hit.record;
    known.prim = hit.prim;
    const Vec3 reflected = reflected_direction(load3(ray.direction), s, alpha, sample_2d(sampler, dimension));
    ray = ray_of(leave(s, reflected), reflected, kInfinity, s.time);
    return true;
}

// A camera ray that is followed through flat mirrors.
struct MirrorRay {
    Ray ray;
    // The hit of the ray, unless it still has to be traced.
    Hit hit;
    Vec3 position;
    Mirrors mirrors;
    Sampler sampler;
    // Sample number.
    uint32_t sample;
    // Weight relative to the pixel's other samples.
    float weight;
    bool waits;

    // Begins with the first hit of a path and its surface, if there is one.
    THRONG_INLINE void begin(const Params& params, KnownMirror& known, const Path& path, uint32_t number, const Hit& first_hit, const Surface& s) {
        ray = path.ray;
        sampler = path.sampler;
        sample = number;
        mirrors.count = 0;
        mirrors.is_rough = false;
        meet(params, known, first_hit, s);
    }

    THRONG_INLINE void go_on(const Params& params, KnownMirror& known, const Hit& next) { meet(params, known, next, surface_at(params, ray, next)); }

    THRONG_INLINE void meet(const Params& params, KnownMirror& known, const Hit& next, const Surface& s) {
        hit = next;
        position = s.position;
        waits = hit.t >= 0.0f && meets_mirror(params, sampler, known, ray, hit, s, mirrors);
        weight = 1.0f;
        if (!mirrors.is_rough) return;
        if (sample >= kRoughSamples) {
            waits = false;
            weight = 0.0f;
        } else if (!waits && !shines(params, s)) weight = kDullWeight;
    }

    // Whether the hit surface is emissive.
    THRONG_INLINE bool shines(const Params& params, const Surface& s) const {
        return hit.t >= 0.0f && max_component(emission_at(params, s, load_record(&params.tables.materials[s.material]))) > 0.0f;
    }

    // Traces the ray to its end. Outlined, because it traces rays.
    THRONG_OUTLINE void finish(const Params& params, KnownMirror& known, StackEntry* stack) {
        while (waits) go_on(params, known, closest_hit(params, ray, stack));
    }
};

}

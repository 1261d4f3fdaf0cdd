// What a hit looks like to shading: position, normals, texture coordinates and material, all in world space.
#pragma once
#include "texture.h"

namespace THRONG_NAMESPACE {

struct Surface {
    Vec3 position;
    // Unit normals on the side that the ray came from.
    Vec3 geometric, shading;
    // Bound on the distance between `position` and the true surface, along any direction.
    float error;
    Vec2 uv;
    uint32_t material;
};

// Corner attributes of a triangle, blended.
struct Corners {
    uint32_t a, b, c;
    float wa, wb, wc;
};

THRONG_INLINE Vec3 blend3(const float* data, const Corners& k) {
    return load3(data + 3 * uint64_t(k.a)) * k.wa + load3(data + 3 * uint64_t(k.b)) * k.wb + load3(data + 3 * uint64_t(k.c)) * k.wc;
}

// A point and its normals in object space.
struct ObjectPoint {
    Vec3 position, geometric, shading;
    // Greatest coordinates of the primitive: its intersection test is no more precise than a few ulps of these.
    Vec3 reach;
    Vec2 uv;
    uint32_t slot;
};

THRONG_DEVICE ObjectPoint triangle_point(const MeshRecord& mesh, const Hit& hit) {
    const uint32_t* t = mesh.triangles + 3 * uint64_t(hit.prim);
    Corners k{t[0], t[1], t[2], 1.0f - hit.u - hit.v, hit.u, hit.v};
    Vec3 p0 = load3(mesh.positions + 3 * uint64_t(k.a));
    Vec3 e1 = load3(mesh.positions + 3 * uint64_t(k.b)) - p0, e2 = load3(mesh.positions + 3 * uint64_t(k.c)) - p0;
    ObjectPoint o;
    o.position = p0 + e1 * hit.u + e2 * hit.v;
    o.reach = absolute(p0) + absolute(e1) + absolute(e2);
    // Scaled, so that the product of tiny edges does not vanish.
    float scale = 1.0f / max(max_component(absolute(e1)), max(max_component(absolute(e2)), 1e-37f));
    o.geometric = cross(e1 * scale, e2 * scale);
    o.shading = mesh.normals ? blend3(mesh.normals, k) : o.geometric;
    o.uv = Vec2{0.0f, 0.0f};
    if (mesh.uvs) {
        const float *a = mesh.uvs + 2 * uint64_t(k.a), *b = mesh.uvs + 2 * uint64_t(k.b), *c = mesh.uvs + 2 * uint64_t(k.c);
        o.uv = Vec2{a[0] * k.wa + b[0] * k.wb + c[0] * k.wc, a[1] * k.wa + b[1] * k.wb + c[1] * k.wc};
    }
    o.slot = mesh.slots ? mesh.slots[hit.prim] : 0;
    return o;
}

THRONG_DEVICE ObjectPoint sphere_point(Vec3 hit_in_object) {
    ObjectPoint o;
    o.position = normalize_or(hit_in_object, vec3(0.0f, 1.0f, 0.0f));
    o.geometric = o.shading = o.position;
    o.reach = vec3(1.0f);
    o.uv = Vec2{0.5f - atan2f(o.position.z, o.position.x) * (0.5f / kPi), 1.0f - acosf(clamp(o.position.y, -1.0f, 1.0f)) * (1.0f / kPi)};
    o.slot = 0;
    return o;
}

THRONG_DEVICE Surface make_surface(const Params& params, const Ray& ray, const Hit& hit) {
    const InstanceRecord& instance = params.instances[hit.record];
    const MeshRecord& mesh = params.meshes[instance.mesh];
    Vec3 origin = load3(ray.origin), direction = load3(ray.direction);
    ObjectPoint o = mesh.shape == SHAPE_SPHERE
        ? sphere_point(transform_point(instance.object_from_world, origin + direction * hit.t))
        : triangle_point(mesh, hit);

    Surface s;
    s.position = transform_point(instance.world_from_object, o.position);
    // The next ray is taken back to object space, where it must start on the proper side of this surface. Rounding
    // happens in the intersection test (relative to the primitive's reach), on the way out (terms |M| |p| + |T|), in
    // the float position itself, and on the way back in; the latter is |M| eps (|M^-1| |position| + |T'|) in world
    // units. A few operations each: 16 half-ulps of the sum is a safe bound.
    Vec3 out = transform_magnitude(instance.world_from_object, o.reach);
    Vec3 back = transform_magnitude(instance.object_from_world, s.position);
    Vec3 back_in_world = vec3(fabsf(instance.world_from_object[0]) * back.x + fabsf(instance.world_from_object[1]) * back.y + fabsf(instance.world_from_object[2]) * back.z,
                              fabsf(instance.world_from_object[4]) * back.x + fabsf(instance.world_from_object[5]) * back.y + fabsf(instance.world_from_object[6]) * back.z,
                              fabsf(instance.world_from_object[8]) * back.x + fabsf(instance.world_from_object[9]) * back.y + fabsf(instance.world_from_object[10]) * back.z);
    s.error = 16.0f * 5.9604645e-8f * (max_component(out) + max_component(back_in_world));

    s.geometric = transform_normal(instance.object_from_world, o.geometric);
    if (!normalize(s.geometric)) s.geometric = normalize_or(-direction, vec3(0.0f, 1.0f, 0.0f));
    s.shading = normalize_or(transform_normal(instance.object_from_world, o.shading), s.geometric);
    if (dot(s.geometric, direction) > 0.0f) {
        s.geometric = -s.geometric;
        s.shading = -s.shading;
    }
    s.uv = o.uv;
    s.material = params.material_slots[instance.slot_base + o.slot];
    return s;
}

// A ray that leaves the surface on the side of `direction`, starting beyond the error bound.
THRONG_DEVICE Ray leave(const Surface& s, Vec3 direction, float t_max) {
    Vec3 n = dot(direction, s.geometric) >= 0.0f ? s.geometric : -s.geometric;
    // The bound holds per axis; projected on the normal it is at most the sum of the normal's components times it.
    Vec3 a = absolute(n);
    Vec3 origin = s.position + n * (s.error * (a.x + a.y + a.z));
    Ray ray;
    store3(ray.origin, origin);
    ray.t_min = 0.0f;
    store3(ray.direction, direction);
    ray.t_max = t_max;
    return ray;
}

}

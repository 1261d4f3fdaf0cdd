// Flat mirrors on the way of a camera ray. Their images are as sharp as what they show, and move with it and not with the mirror.
#pragma once
#include "film/film.h"

namespace THRONG_NAMESPACE {

// Most mirrors of a path whose images are followed.
constexpr uint32_t kMirrors = 4;

// The flat mirrors that a camera ray has met, in order: where, and the normals there.
struct Mirrors {
    Hit hits[kMirrors];
    Vec3 points[kMirrors], normals[kMirrors];
    uint32_t count;
};

// Whether a triangle has one shading normal all over.
THRONG_DEVICE bool is_flat(const Params& params, const Hit& hit) {
    const InstanceRecord& instance = params.trees.instances[hit.record];
    const MeshRecord mesh = load_record(&params.tables.meshes[load_words(&instance.slot_base).y]);
    if (mesh.shape == SHAPE_SPHERE) return false;
    if (!(mesh.flags & MESH_SMOOTH)) return true;
    const CornerRecord corners = load_record(&mesh.corners[hit.prim]);
    const Vec3 a = load3(mesh.vertices[corners.vertices[0]].normal), b = load3(mesh.vertices[corners.vertices[1]].normal) - a,
               c = load3(mesh.vertices[corners.vertices[2]].normal) - a;
    const float most = 1e-8f * dot(a, a);
    return dot(b, b) <= most && dot(c, c) <= most;
}

// Follows a camera ray from its first hit to what it sees in flat mirrors, where `ray` and `hit` end. Outlined, as it traces rays.
THRONG_OUTLINE void follow_mirrors(const Params& params, Ray& ray, Hit& hit, Mirrors& mirrors, StackEntry* stack) {
    mirrors.count = 0;
    while (hit.t >= 0.0f && mirrors.count < kMirrors) {
        const Surface s = make_surface(params, ray, hit);
        const MaterialRecord material = load_record(&params.tables.materials[s.material]);
        if (material.kind != MATERIAL_MIRROR && !(material.flags & SURFACE_POLISHED)) return;
        if (!is_flat(params, hit)) return;
        mirrors.hits[mirrors.count] = hit;
        mirrors.points[mirrors.count] = s.position;
        mirrors.normals[mirrors.count++] = s.geometric;
        const Vec3 reflected = mirror_direction(load3(ray.direction), s);
        ray = ray_of(leave(s, reflected), reflected, kInfinity, s.time);
        hit = closest_hit(params, ray, stack);
    }
}

}

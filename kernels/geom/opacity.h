// Opacity of a surface at a hit, computed from few data, so that traversal can evaluate it before it accepts the hit. Textures are not filtered:
// whether a sample meets a hole has the same variance either way, and masks keep their coverage at any distance.
#pragma once
#include "geom/curve.h"

namespace THRONG_NAMESPACE {

// Opacity from 0, invisible, to 1: alpha if the material blends, 0 or 1 if it has a mask. `u` and `v` are the barycentric weights of the triangle's
// second and third vertex, or the texture coordinates of a sphere (see `sphere_attributes`). Materials with any of the flags `unmet` are invisible.
THRONG_DEVICE float opacity_at(const Params& params, const InstanceRecord& instance, uint32_t prim, float u, float v, uint32_t unmet = 0) {
    const Words4 ids = load_words(&instance.slot_base);
    const MeshRecord mesh = load_record(&params.tables.meshes[ids.y]);
    const bool sphere = mesh.shape == SHAPE_SPHERE, curves = is_nested(params) && is_curves(mesh.shape);
    CornerRecord corners{{0, 0, 0}, 0};
    if (!sphere && !curves) corners = load_record(&mesh.corners[prim]);
    const MaterialRecord material = load_record(&params.tables.materials[params.scene.material_slots[ids.x + corners.slot]]);
    if (material.flags & unmet) return 0.0f;
    if (!(material.flags & (SURFACE_MASK | SURFACE_BLEND))) return 1.0f;
    float alpha = material.opacity;
    if (curves) {
        const Attributes at = curve_attributes(mesh, Hit{0.0f, u, v, prim, 0, 0}, vec3(0.0f));
        alpha *= at.alpha * sample_map(params, material.color_map, at.uv).alpha;
    } else if (!sphere && (mesh.flags & MESH_COLORS || material.color_map != NO_INDEX)) {
        const Weights w{1.0f - u - v, u, v};
        const VertexRecord a = load_record(&mesh.vertices[corners.vertices[0]]), b = load_record(&mesh.vertices[corners.vertices[1]]),
                           c = load_record(&mesh.vertices[corners.vertices[2]]);
        Attributes at;
        at.uv[0] = Vec2{a.u * w.a + b.u * w.b + c.u * w.c, a.v * w.a + b.v * w.b + c.v * w.c};
        add_attributes(mesh, corners.vertices, w, at);
        alpha *= at.alpha * sample_map(params, material.color_map, at.uv).alpha;
    } else if (sphere) {
        const Vec2 uv[2] = {{u, v}, {u, v}};
        alpha *= sample_map(params, material.color_map, uv).alpha;
    }
    if (material.flags & SURFACE_MASK) return alpha >= material.alpha_cutoff ? 1.0f : 0.0f;
    return clamp(alpha, 0.0f, 1.0f);
}

}

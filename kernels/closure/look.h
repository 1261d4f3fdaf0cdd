// What a layered material is like at a point of a surface, its textures read.
#pragma once
#include "geom/surface.h"

namespace THRONG_NAMESPACE {

// Names and meanings are those of `scene::Material` and `scene::Layers`.
struct Look {
    // Unit shading normal after the normal map, and that of the clearcoat, on the side that the ray came from.
    Vec3 normal, clearcoat_normal;
    // Unit direction along which an anisotropic surface is brushed.
    Vec3 tangent;
    Vec3 color;
    float metallic, roughness;
    float ior, dispersion;
    float specular;
    Vec3 specular_color;
    float transmission;
    bool thin;
    float diffuse_transmission;
    Vec3 diffuse_transmission_color;
    float clearcoat, clearcoat_roughness;
    Vec3 sheen_color;
    float sheen_roughness;
    // Thickness in nanometres.
    float iridescence, iridescence_ior, iridescence_thickness;
    float anisotropy;
    // Leaves out what microfacets scatter more than once.
    bool single_scatter;
    // What lies below a surface is dimmed by what the surface reflects towards the viewer alone.
    bool viewer_layering;
};

// Unit vectors at a point of the surface's front: `tangent` and `bitangent` along growing texture coordinates where the mesh
// has tangents, else any.
struct Frame {
    Vec3 tangent, bitangent, normal;
    bool along_texture;
};

THRONG_DEVICE Frame make_frame(const Surface& s) {
    Frame f;
    f.normal = s.front ? s.shading : -s.shading;
    f.tangent = s.tangent - f.normal * dot(f.normal, s.tangent);
    f.along_texture = s.handedness != 0.0f && normalize(f.tangent);
    if (f.along_texture) f.bitangent = cross(f.normal, f.tangent) * s.handedness;
    else basis(f.normal, f.tangent, f.bitangent);
    return f;
}

// The normal that map `index` has instead of the frame's, on the side that the ray came from.
THRONG_DEVICE Vec3 read_normal(const Params& params, const Surface& s, const Frame& f, uint32_t index, float scale) {
    if (index == NO_INDEX || !f.along_texture) return s.shading;
    Vec3 n = sample_map(params, index, s.uv).color * 2.0f - vec3(1.0f);
    Vec3 mapped = f.tangent * (n.x * scale) + f.bitangent * (n.y * scale) + f.normal * n.z;
    return normalize_or(s.front ? mapped : -mapped, s.shading);
}

// Direction and strength of an anisotropic surface's brushing (KHR_materials_anisotropy).
THRONG_DEVICE void read_anisotropy(const Params& params, const Surface& s, const Frame& f, const LayersRecord& l, Look& look) {
    look.tangent = f.tangent;
    look.anisotropy = l.anisotropy;
    if (!(l.anisotropy > 0.0f)) return;
    float x = 1.0f, y = 0.0f;
    if (l.anisotropy_map != NO_INDEX) {
        Vec3 map = sample_map(params, l.anisotropy_map, s.uv).color;
        look.anisotropy *= map.z;
        x = map.x * 2.0f - 1.0f;
        y = map.y * 2.0f - 1.0f;
    }
    float c = cosf(l.anisotropy_rotation), sine = sinf(l.anisotropy_rotation);
    look.tangent = normalize_or(f.tangent * (x * c - y * sine) + f.bitangent * (x * sine + y * c), f.tangent);
}

// What lies on top of the base.
THRONG_DEVICE void read_coats(const Params& params, const Surface& s, const Frame& f, const LayersRecord& l, Look& look) {
    look.clearcoat = l.clearcoat;
    look.clearcoat_roughness = l.clearcoat_roughness;
    look.clearcoat_normal = s.shading;
    if (l.clearcoat > 0.0f) {
        look.clearcoat *= sample_map(params, l.clearcoat_map, s.uv).color.x;
        look.clearcoat_roughness *= sample_map(params, l.clearcoat_roughness_map, s.uv).color.y;
        look.clearcoat_normal = read_normal(params, s, f, l.clearcoat_normal_map, l.clearcoat_normal_scale);
    }
    look.sheen_color = load3(l.sheen_color);
    look.sheen_roughness = l.sheen_roughness;
    if (max_component(look.sheen_color) > 0.0f) {
        look.sheen_color *= sample_map(params, l.sheen_color_map, s.uv).color;
        look.sheen_roughness *= sample_map(params, l.sheen_roughness_map, s.uv).alpha;
    }
    look.iridescence = l.iridescence;
    look.iridescence_ior = l.iridescence_ior;
    look.iridescence_thickness = l.iridescence_thickness[1];
    if (l.iridescence > 0.0f) {
        look.iridescence *= sample_map(params, l.iridescence_map, s.uv).color.x;
        float share = sample_map(params, l.iridescence_thickness_map, s.uv).color.y;
        look.iridescence_thickness = l.iridescence_thickness[0] * (1.0f - share) + l.iridescence_thickness[1] * share;
    }
}

// What passes through the surface.
THRONG_DEVICE void read_transmission(const Params& params, const Surface& s, const LayersRecord& l, Look& look) {
    look.ior = l.ior;
    look.dispersion = l.dispersion;
    look.thin = l.thin != 0;
    look.transmission = l.transmission;
    if (l.transmission > 0.0f) look.transmission *= sample_map(params, l.transmission_map, s.uv).color.x;
    look.diffuse_transmission = l.diffuse_transmission;
    look.diffuse_transmission_color = load3(l.diffuse_transmission_color);
    if (l.diffuse_transmission > 0.0f) {
        look.diffuse_transmission *= sample_map(params, l.diffuse_transmission_map, s.uv).alpha;
        look.diffuse_transmission_color *= sample_map(params, l.diffuse_transmission_color_map, s.uv).color;
    }
}

// `color` is the base colour, its map read.
THRONG_DEVICE Look look_at(const Params& params, const Surface& s, const LayersRecord& l, Vec3 color) {
    const Frame frame = make_frame(s);
    Look look;
    look.color = color;
    look.normal = read_normal(params, s, frame, l.normal_map, l.normal_scale);
    Vec3 metallic_roughness = sample_map(params, l.metallic_roughness_map, s.uv).color;
    look.metallic = l.metallic * metallic_roughness.z;
    look.roughness = l.roughness * metallic_roughness.y;
    look.specular = l.specular * sample_map(params, l.specular_map, s.uv).alpha;
    look.specular_color = load3(l.specular_color) * sample_map(params, l.specular_color_map, s.uv).color;
    read_transmission(params, s, l, look);
    read_coats(params, s, frame, l, look);
    read_anisotropy(params, s, frame, l, look);
    look.single_scatter = params.single_scatter != 0;
    look.viewer_layering = params.viewer_layering != 0;
    return look;
}

// The shading normal, with the normal map that a layered material may have.
THRONG_DEVICE Vec3 mapped_normal(const Params& params, const Surface& s, const MaterialRecord& material) {
    if (material.kind != MATERIAL_LAYERED) return s.shading;
    const LayersRecord layers = load_record(&params.layers[material.layers]);
    return read_normal(params, s, make_frame(s), layers.normal_map, layers.normal_scale);
}

}

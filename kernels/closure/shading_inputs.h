// Properties of a layered material at a surface point, after texture lookups.
#pragma once
#include "geom/surface.h"

namespace THRONG_NAMESPACE {

// Names and meanings match `scene::Material` and `scene::Lobes`.
struct ShadingInputs {
    // Unit shading normal after normal mapping, and the clearcoat's, on the side from which the ray came.
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
    // Omits light that microfacets scatter more than once.
    bool single_scatter;
    // Layers below a surface are dimmed only by its reflectance towards the viewer.
    bool viewer_layering;
};

// Orthonormal vectors at a point of the surface's front. `tangent` and `bitangent` follow increasing texture coordinates if the mesh has tangents;
// otherwise they are arbitrary.
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

// The normal of map `index` in place of the frame's normal, on the side from which the ray came. Filtered normals add the variance of their slopes to
// `variance`.
THRONG_DEVICE Vec3 read_normal(const Params& params, const Surface& s, const Frame& f, uint32_t index, float scale, float& variance) {
    if (index == NO_INDEX || !f.along_texture) return s.shading;
    const Texel texel = sample_map(params, index, s.uv, s.footprint);
    if (has_deviations(params, index)) variance += squared(texel.alpha * scale);
    Vec3 n = texel.color * 2.0f - vec3(1.0f);
    Vec3 mapped = f.tangent * (n.x * scale) + f.bitangent * (n.y * scale) + f.normal * n.z;
    return normalize_or(s.front ? mapped : -mapped, s.shading);
}

// Perceptual roughness of facets whose normals vary (Olano and Baker 2010): twice the variance of slopes per axis is added to the square of GGX's alpha.
THRONG_INLINE float rougher(float roughness, float variance) {
    return variance > 0.0f ? min(sqrtf(sqrtf(squared(squared(roughness)) + variance)), 1.0f) : roughness;
}

// Direction and strength of anisotropy (KHR_materials_anisotropy).
THRONG_DEVICE void read_anisotropy(const Params& params, const Surface& s, const Frame& f, const LobesRecord& l, ShadingInputs& inputs) {
    inputs.tangent = f.tangent;
    inputs.anisotropy = l.anisotropy;
    if (!(l.anisotropy > 0.0f)) return;
    float x = 1.0f, y = 0.0f;
    if (l.anisotropy_map != NO_INDEX) {
        Vec3 map = sample_map(params, l.anisotropy_map, s.uv, s.footprint).color;
        inputs.anisotropy *= map.z;
        x = map.x * 2.0f - 1.0f;
        y = map.y * 2.0f - 1.0f;
    }
    const float turns = l.anisotropy_rotation * (0.5f / kPi);
    float sine, c;
    sine_cosine(turns - floorf(turns), sine, c);
    inputs.tangent = normalize_or(f.tangent * (x * c - y * sine) + f.bitangent * (x * sine + y * c), f.tangent);
}

// Reads the layers above the base.
THRONG_DEVICE void read_coats(const Params& params, const Surface& s, const Frame& f, const LobesRecord& l, ShadingInputs& inputs) {
    inputs.clearcoat = l.clearcoat;
    inputs.clearcoat_roughness = l.clearcoat_roughness;
    inputs.clearcoat_normal = s.shading;
    if (l.clearcoat > 0.0f) {
        inputs.clearcoat *= sample_map(params, l.clearcoat_map, s.uv, s.footprint).color.x;
        inputs.clearcoat_roughness *= sample_map(params, l.clearcoat_roughness_map, s.uv, s.footprint).color.y;
        float variance = 0.0f;
        inputs.clearcoat_normal = read_normal(params, s, f, l.clearcoat_normal_map, l.clearcoat_normal_scale, variance);
        inputs.clearcoat_roughness = rougher(inputs.clearcoat_roughness, variance);
    }
    inputs.sheen_color = load3(l.sheen_color);
    inputs.sheen_roughness = l.sheen_roughness;
    if (max_component(inputs.sheen_color) > 0.0f) {
        inputs.sheen_color *= sample_map(params, l.sheen_color_map, s.uv, s.footprint).color;
        inputs.sheen_roughness *= sample_map(params, l.sheen_roughness_map, s.uv, s.footprint).alpha;
    }
    inputs.iridescence = l.iridescence;
    inputs.iridescence_ior = l.iridescence_ior;
    inputs.iridescence_thickness = l.iridescence_thickness[1];
    if (l.iridescence > 0.0f) {
        inputs.iridescence *= sample_map(params, l.iridescence_map, s.uv, s.footprint).color.x;
        float share = sample_map(params, l.iridescence_thickness_map, s.uv, s.footprint).color.y;
        inputs.iridescence_thickness = l.iridescence_thickness[0] * (1.0f - share) + l.iridescence_thickness[1] * share;
    }
}

// Reads the transmission through the surface.
THRONG_DEVICE void read_transmission(const Params& params, const Surface& s, const LobesRecord& l, ShadingInputs& inputs) {
    inputs.ior = l.ior;
    inputs.dispersion = l.dispersion;
    inputs.thin = l.thin != 0;
    inputs.transmission = l.transmission;
    if (l.transmission > 0.0f) inputs.transmission *= sample_map(params, l.transmission_map, s.uv, s.footprint).color.x;
    inputs.diffuse_transmission = l.diffuse_transmission;
    inputs.diffuse_transmission_color = load3(l.diffuse_transmission_color);
    if (l.diffuse_transmission > 0.0f) {
        inputs.diffuse_transmission *= sample_map(params, l.diffuse_transmission_map, s.uv, s.footprint).alpha;
        inputs.diffuse_transmission_color *= sample_map(params, l.diffuse_transmission_color_map, s.uv, s.footprint).color;
    }
}

// `color` is the base colour after its texture lookup.
THRONG_DEVICE ShadingInputs read_shading_inputs(const Params& params, const Surface& s, const LobesRecord& l, Vec3 color) {
    const Frame frame = make_frame(s);
    ShadingInputs inputs;
    inputs.color = color;
    float variance = 0.0f;
    inputs.normal = read_normal(params, s, frame, l.normal_map, l.normal_scale, variance);
    Vec3 metallic_roughness = sample_map(params, l.metallic_roughness_map, s.uv, s.footprint).color;
    inputs.metallic = l.metallic * metallic_roughness.z;
    inputs.roughness = rougher(l.roughness * metallic_roughness.y, variance);
    inputs.specular = l.specular * sample_map(params, l.specular_map, s.uv, s.footprint).alpha;
    inputs.specular_color = load3(l.specular_color) * sample_map(params, l.specular_color_map, s.uv, s.footprint).color;
    read_transmission(params, s, l, inputs);
    read_coats(params, s, frame, l, inputs);
    read_anisotropy(params, s, frame, l, inputs);
    inputs.single_scatter = params.picture.single_scatter != 0;
    inputs.viewer_layering = params.picture.viewer_layering != 0;
    return inputs;
}

// The shading normal, including the normal map of a layered material.
THRONG_DEVICE Vec3 mapped_normal(const Params& params, const Surface& s, const MaterialRecord& material) {
    if (material.kind != MATERIAL_LAYERED) return s.shading;
    const LobesRecord lobes = load_record(&params.tables.lobes[material.lobes]);
    float variance = 0.0f;
    return read_normal(params, s, make_frame(s), lobes.normal_map, lobes.normal_scale, variance);
}

}

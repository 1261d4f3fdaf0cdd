// What a layered material is like at a point of a surface, its textures read.
#pragma once
#include "surface.h"

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
};

// `color` is the base colour, its map read.
THRONG_DEVICE Look look_at(const Params& params, const Surface& s, const LayersRecord& l, Vec3 color) {
    Look look;
    look.normal = look.clearcoat_normal = s.shading;
    Vec3 bitangent;
    basis(s.shading, look.tangent, bitangent);
    look.color = color;
    Vec3 metallic_roughness = sample_map(params, l.metallic_roughness_map, s.uv);
    look.metallic = l.metallic * metallic_roughness.z;
    look.roughness = l.roughness * metallic_roughness.y;
    look.ior = l.ior;
    look.dispersion = l.dispersion;
    look.specular = l.specular;
    look.specular_color = load3(l.specular_color);
    look.transmission = l.transmission;
    look.thin = l.thin != 0;
    look.diffuse_transmission = l.diffuse_transmission;
    look.diffuse_transmission_color = load3(l.diffuse_transmission_color);
    look.clearcoat = l.clearcoat;
    look.clearcoat_roughness = l.clearcoat_roughness;
    look.sheen_color = load3(l.sheen_color);
    look.sheen_roughness = l.sheen_roughness;
    look.iridescence = l.iridescence;
    look.iridescence_ior = l.iridescence_ior;
    look.iridescence_thickness = l.iridescence_thickness[1];
    look.anisotropy = l.anisotropy;
    return look;
}

}

// Computes a material's BSDF towards one direction from its inputs.
#pragma once
#include "closure/bsdf_state.h"
#include "closure/shading_normal.h"

namespace THRONG_NAMESPACE {

// The ior limited to the range of the tables. A surface of higher ior has the correct reflectance, but refracts with this ior.
THRONG_INLINE float bounded_ior(float ior) { return ior > 0.0f ? clamp(ior, 1.0f, kMaxTableIor) : kMaxTableIor; }

// Light that microfacets scatter more than once, relative to the light that they lose in the first scattering, for Schlick's Fresnel term from `f0`
// to `f90` (Kulla and Conty 2017).
THRONG_INLINE float returned(float f0, float f90, float mirror_mean) {
    float mean = f0 + (f90 - f0) * (1.0f / 21.0f);
    return mean * mean * mirror_mean / (1.0f - mean * (1.0f - mirror_mean));
}
THRONG_INLINE Vec3 returned(Vec3 f0, float f90, float mirror_mean) {
    return vec3(returned(f0.x, f90, mirror_mean), returned(f0.y, f90, mirror_mean), returned(f0.z, f90, mirror_mean));
}

THRONG_DEVICE void set_frame(Bsdf& b, const ShadingInputs& inputs, const Surface& s, Vec3 out) {
    b.geometric = s.geometric;
    b.normal = bend_normal(inputs.normal, s.geometric, out);
    Vec3 tangent = inputs.tangent - b.normal * dot(inputs.tangent, b.normal), bitangent;
    if (normalize(tangent)) b.tangent = tangent;
    else basis(b.normal, b.tangent, bitangent);
    b.mapped = to_local(b, inputs.normal);
    b.unmapped = to_local(b, s.shading);
    float turn2 = squared(dot(b.mapped, b.unmapped));
    b.map_alpha2 = clamp(0.125f * (1.0f - turn2) / max(turn2, 1e-6f), 0.0f, 1.0f);
    b.out = to_local(b, out);
    b.out.z = max(b.out.z, 1e-4f);
    b.out = normalize_or(b.out, vec3(0.0f, 0.0f, 1.0f));
}

// Sets the coat and the sheen, and the fractions of light that they transmit.
THRONG_DEVICE void set_upper_layers(Bsdf& b, const ShadingInputs& inputs, Vec3 out) {
    b.coat = b.inside ? 0.0f : inputs.clearcoat;
    b.sheen.color = b.inside ? vec3(0.0f) : inputs.sheen_color;
    b.below_coat = b.below_sheen = 1.0f;
    b.p_coat = b.p_sheen = 0.0f;
    if (b.coat > 0.0f) {
        b.coat_normal = bend_normal(inputs.clearcoat_normal, b.geometric, out);
        b.coat_alpha = squared(inputs.clearcoat_roughness);
        float cosine = clamp(dot(out, b.coat_normal), 1e-4f, 1.0f);
        float albedo = b.coat_alpha < kSmooth ? dielectric_fresnel(cosine, 1.5f) : reflected_albedo(cosine, inputs.clearcoat_roughness, ior_place(1.5f));
        b.p_coat = b.coat * albedo;
        b.below_coat = b.below_sheen = 1.0f - b.coat * albedo;
    }
    if (max_component(b.sheen.color) > 0.0f) {
        b.sheen.roughness = clamp(inputs.sheen_roughness, kMinSheenRoughness, 1.0f);
        float albedo = min(sheen_table(b.out.z, b.sheen.roughness), 1.0f);
        b.p_sheen = b.below_coat * luminance(b.sheen.color) * albedo;
        b.below_sheen = b.below_coat * (1.0f - min(max_component(b.sheen.color), 1.0f) * albedo);
    }
}

// Reflectance at normal incidence for this ior, limited to the range of the tables.
THRONG_INLINE float table_reflectance(const Bsdf& b) {
    return normal_fresnel(clamp(b.inside ? 1.0f / b.eta : b.eta, kMinTableIor, kMaxTableIor));
}

// Sets the reflectance of the interface. The dielectric's Fresnel term rises from f0 to f90 like the term of its ior.
THRONG_DEVICE void set_interface(Bsdf& b, const ShadingInputs& inputs, float ior) {
    float dielectric = 1.0f - inputs.metallic, exact_f0 = normal_fresnel(b.eta);
    // Without a step in ior, nothing is reflected.
    float f90 = b.inside ? 1.0f : inputs.specular * clamp((ior - 1.0f) * 16.0f, 0.0f, 1.0f);
    Vec3 f0 = vec3(exact_f0);
    if (!b.inside) {
        float reflectance = inputs.ior > 0.0f ? normal_fresnel(max(inputs.ior, 1.0f)) : 1.0f;
        Vec3 tinted = inputs.specular_color * reflectance;
        f0 = vec3(min(tinted.x, 1.0f), min(tinted.y, 1.0f), min(tinted.z, 1.0f)) * inputs.specular;
        f90 = max(f90, max_component(f0));
    }
    Vec3 metal = inputs.color * inputs.metallic;
    b.f0 = f0 * dielectric + metal;
    b.dielectric_rise = (vec3(f90) - f0) * dielectric;
    b.metal_rise = vec3(inputs.metallic) - metal;
    b.covered_f0 = max_component(f0);
    b.covered_rise = f90 - b.covered_f0;
    b.thin_film = ThinFilm{inputs.iridescence, inputs.iridescence_ior, inputs.iridescence_thickness};
    b.thin_film_hides_all = inputs.viewer_layering;
    b.through = inputs.color * (dielectric * inputs.transmission);

    // The dielectric's albedo in terms of the tables, and multiply scattered light.
    float mirror = mirror_mean(b), back = b.bends ? 0.0f : 1.0f;
    if (b.thin_film.weight > 0.0f) {
        Vec3 passed;
        float grazing = schlick(b.out.z), scale = 1.0f / max(1.0f - grazing, 1e-3f);
        interface_fresnel(b, b.out.z, passed);
        const auto normal = [&](float passed) { return clamp((1.0f - passed - grazing) * scale, 0.0f, f90); };
        f0 = vec3(normal(passed.x), normal(passed.y), normal(passed.z));
    }
    float table_f0 = table_reflectance(b);
    float returned_cover = back * returned(max_component(f0), f90, mirror);
    b.cover_reflected = (f90 - max_component(f0)) / (1.0f - table_f0);
    b.cover_mirror = max_component(f0) - b.cover_reflected * table_f0 - returned_cover;
    b.cover_constant = returned_cover;
    Vec3 by_color = returned(f0, f90, mirror) * back;
    b.multiple = by_color * dielectric + returned(inputs.color, 1.0f, mirror) * inputs.metallic;
    b.multiple_same = 0.0f;
    bool of_thin_film = b.thin_film.weight > 0.0f && !b.thin_film_hides_all;
    b.multiple_beyond = max(1.0f - (of_thin_film ? mean_component(by_color) : returned_cover), 0.0f);
}

// Light that passes a facet with the thin film minus light that passes without it, per colour.
THRONG_DEVICE Vec3 passed_on_top(const Bsdf& b, float cosine) {
    Vec3 passed;
    interface_fresnel(b, cosine, passed);
    return passed - vec3(passed_without_thin_film(b, fresnel_shape(b, cosine)));
}

// Number of facets that represent all visible ones.
constexpr uint32_t kFacets = 16;

// Calls `visit` with stratified samples of the visible facets, and the fraction of their reflected light that escapes.
template <class Visit> THRONG_INLINE void each_facet(const Bsdf& b, Visit visit) {
    const float hidden = hidden_facets(b.roughness, b.out);
    THRONG_NO_UNROLL
    for (uint32_t i = 0; i < kFacets; i++) {
        const Vec2 u{(float(i) + 0.5f) / float(kFacets), unit_float(reverse_bits(i))};
        const Vec3 h = sample_visible_facet(b.roughness, b.out, u), in = reflect(b.out, h);
        visit(h, in.z > 0.0f ? masking(hidden, hidden_facets(b.roughness, in)) / masking(hidden) : 0.0f);
    }
}

// Fraction of the light that a thin film transmits, per colour, if microfacets scatter once. Tables give the value without it. The difference due to
// interference is averaged over facets from their whole distribution.
THRONG_DEVICE Vec3 passed_by_thin_film(const Bsdf& b, float mirror) {
    Vec3 sum = vec3(0.0f);
    if (b.smooth) {
        interface_fresnel(b, b.out.z, sum);
        return sum;
    }
    float weights = 0.0f, table_f0 = table_reflectance(b), reflected = b.covered_rise / (1.0f - table_f0), uncoated = 1.0f - mirror * (b.covered_f0 - reflected * table_f0);
    uncoated -= reflected * reflected_albedo(fabsf(b.out.z), b.table_roughness, b.ior_place);
    each_facet(b, [&](Vec3 h, float weight) {
        sum += passed_on_top(b, dot(b.out, h)) * weight;
        weights += weight;
    });
    return vec3(uncoated) + sum * (weights > 0.0f ? mirror / weights : 0.0f);
}

// Additional light that facets lose because of a thin film if they reflect and refract light once. It changes the ratio of reflected to refracted
// light, and facets block reflected light more often.
THRONG_DEVICE float lost_by_thin_film(const Bsdf& b) {
    float sum = 0.0f;
    const float hidden = hidden_facets(b.roughness, b.out);
    each_facet(b, [&](Vec3 h, float reflected) {
        Vec3 in;
        const bool bent = refract(b.out, h, b.eta, in) && in.z < 0.0f;
        const float through = bent ? masking(hidden, hidden_facets(b.roughness, in)) / masking(hidden) : 0.0f;
        sum += mean_component(passed_on_top(b, dot(b.out, h))) * (reflected - through);
    });
    return sum * (1.0f / float(kFacets));
}

// Roughness below which most of the multiply scattered light comes from near the horizon.
constexpr float kGrazingRoughness = 0.4f;
// Share of multiply scattered light in a wide lobe below which samples by the cosine suffice: near the horizon, its factor is at most about 1,400.
constexpr float kLeastGrazing = 0.002f;

// Share of a wide lobe's samples near the horizon, if `multiple` of its light `all` is scattered more than once. If the normal is bent, other light has
// another horizon.
THRONG_INLINE float grazing_share(const Bsdf& b, float multiple, float all) {
    const bool is_even = !is_bent(b) && (b.table_roughness >= kGrazingRoughness || multiple < kLeastGrazing * all);
    return is_even || !(all > 0.0f) ? 0.0f : min(multiple / all, 1.0f);
}

// Sets the factors of the wide lobes and the probabilities of all lobes.
THRONG_DEVICE void set_wide_lobes(Bsdf& b, const ShadingInputs& inputs) {
    float share = (1.0f - inputs.metallic) * (1.0f - inputs.transmission);
    b.diffuse = inputs.color * (share * (1.0f - inputs.diffuse_transmission));
    b.diffuse_through = inputs.diffuse_transmission_color * (share * inputs.diffuse_transmission);
    float mirror = mirror_albedo(b, b.out), mirror_rest = 1.0f - mirror_mean(b);
    Vec3 passed_by_color;
    float reflected = luminance(interface_fresnel(b, b.out.z, passed_by_color)) * mirror, passed = luminance(passed_by_color);
    float below = 1.0f - passed;
    Vec3 tint = vec3(1.0f);
    if (share > 0.0f || inputs.transmission > 0.0f) {
        if (b.inside) {
            b.cover_mirror = b.cover_reflected = 0.0f;
            b.cover_constant = 0.0f;
            below = passed;
        } else {
            float mean = b.cover_constant + b.cover_mirror * mirror_mean(b) + b.cover_reflected * reflected_mean(b.table_roughness, b.ior_place);
            below = uncovered(b, b.out);
            if (inputs.metallic == 0.0f) reflected = (1.0f - below) * luminance(b.f0) / max(max_component(b.f0), 1e-6f);
            passed = below;
            if (inputs.viewer_layering) {
                // Light that is lost between facets does not reach the layers below.
                if (inputs.single_scatter) below = passed = clamp(1.0f - (1.0f - below - b.cover_constant * (1.0f - mirror)) / mirror, 0.0f, 1.0f);
                b.cover_constant = b.cover_mirror = b.cover_reflected = 0.0f;
            } else {
                if (b.thin_film.weight > 0.0f && share > 0.0f && below > 0.0f) {
                    Vec3 own = inputs.single_scatter ? vec3(0.0f) : b.multiple - returned(inputs.color, 1.0f, mirror_mean(b)) * inputs.metallic;
                    tint = (passed_by_thin_film(b, mirror) - own * ((1.0f - mirror) / (1.0f - inputs.metallic))) * (1.0f / below);
                }
                below = mean < 0.9999f ? below / (1.0f - mean) : 0.0f;
            }
        }
    }
    tint = vec3(max(tint.x, 0.0f), max(tint.y, 0.0f), max(tint.z, 0.0f)) * (below * (1.0f / kPi));
    b.diffuse = b.diffuse * tint;
    b.diffuse_through = b.diffuse_through * tint;

    float multiple = mirror_rest > 1e-4f && !b.smooth ? (1.0f - mirror) / mirror_rest * (1.0f / kPi) : 0.0f;
    float beyond = b.multiple_beyond * (1.0f - mirror), same = 0.0f;
    b.multiple = b.multiple * multiple;
    b.multiple_beyond *= multiple;
    if (b.bends) {
        beyond = same = b.multiple_beyond = 0.0f;
        float near_mean = glass_loss_mean(b.inside, b.table_roughness, b.ior_place), far_mean = glass_loss_mean(!b.inside, b.table_roughness, b.ior_place);
        float scaled = b.eta * b.eta * far_mean, sum = scaled + near_mean;
        if (!b.smooth && near_mean > 1e-4f && far_mean > 1e-4f) {
            // For reciprocity, lost light goes to each side in proportion to its squared ior times its mean loss.
            float lost = glass_loss(b.inside, b.out.z, b.table_roughness, b.ior_place);
            if (b.thin_film.weight > 0.0f && !b.thin_film_hides_all) lost = max(lost + lost_by_thin_film(b), 0.0f);
            same = near_mean / sum;
            beyond = scaled / sum;
            b.multiple_same = same * lost / near_mean * (1.0f / kPi);
            b.multiple_beyond = beyond * lost / far_mean * (1.0f / kPi) / (b.eta * b.eta);
            same *= lost;
            beyond *= lost;
        }
    }
    if (inputs.single_scatter) {
        b.multiple = vec3(0.0f);
        b.multiple_same = b.multiple_beyond = same = beyond = 0.0f;
    }
    float wide = luminance(inputs.color) * share * (1.0f - inputs.diffuse_transmission) * passed + luminance(b.multiple) * mirror_rest * kPi + luminance(b.through) * same;
    float wide_through = luminance(inputs.diffuse_transmission_color) * share * inputs.diffuse_transmission * passed + luminance(b.through) * beyond;
    b.grazing = grazing_share(b, luminance(b.multiple) * mirror_rest * kPi + luminance(b.through) * same, wide);
    b.grazing_beyond = grazing_share(b, luminance(b.through) * beyond, wide_through);
    b.grazing_width2 = 4.0f * squared(squared(b.table_roughness));
    b.grazing_range = max(b.grazing, b.grazing_beyond) > 0.0f ? natural_log(1.0f + 1.0f / b.grazing_width2) : 0.0f;
    float narrow = reflected + luminance(b.through) * max(passed - same - beyond, 0.0f);
    b.p_interface = b.below_sheen * narrow;
    b.p_wide = b.below_sheen * wide;
    b.p_beyond = b.below_sheen * wide_through;
    float sum = b.p_coat + b.p_sheen + b.p_interface + b.p_wide + b.p_beyond;
    float scale = sum > 0.0f ? 1.0f / sum : 0.0f;
    b.p_coat *= scale;
    b.p_sheen *= scale;
    b.p_interface *= scale;
    b.p_wide *= scale;
    b.p_beyond *= scale;
}

THRONG_DEVICE Bsdf make_bsdf(const ShadingInputs& inputs, const Surface& s, Vec3 out) {
    Bsdf b;
    set_frame(b, inputs, s, out);
    float ior = bounded_ior(inputs.ior);
    b.bends = !inputs.thin && inputs.transmission > 0.0f && inputs.metallic < 1.0f;
    b.inside = b.bends && !s.front;
    b.eta = b.inside ? 1.0f / ior : ior;
    // KHR_materials_dispersion: the iors of red and blue differ by (ior - 1) * 0.025 * dispersion.
    b.spread = b.bends ? (ior - 1.0f) * 0.025f * inputs.dispersion / ior : 0.0f;
    b.ior_place = ior_place(ior);
    float alpha = squared(inputs.roughness);
    b.roughness = Roughness{alpha + (1.0f - alpha) * squared(inputs.anisotropy), alpha};
    // If light passes without refraction, facets have no effect.
    if (b.bends && ior < 1.001f) b.roughness = Roughness{0.0f, 0.0f};
    b.smooth = is_smooth(b.roughness);
    if (!b.smooth) b.roughness = Roughness{max(b.roughness.along, kSmooth), max(b.roughness.across, kSmooth)};
    b.anisotropy = b.smooth ? 0.0f : inputs.anisotropy;
    b.brushed_roughness = inputs.roughness;
    // The mean of the squares closely matches the reflection of an anisotropic surface.
    b.table_roughness = b.smooth ? 0.0f : sqrtf(sqrtf(0.5f * (squared(b.roughness.along) + squared(b.roughness.across))));
    set_interface(b, inputs, ior);
    set_upper_layers(b, inputs, out);
    set_wide_lobes(b, inputs);
    return b;
}

}

// The BSDF of surfaces: the layered model of glTF 2.0 and its KHR_materials extensions.
#pragma once
#include "closure/bsdf_make.h"

namespace THRONG_NAMESPACE {

struct BsdfSample {
    // Unit vector towards the incoming light.
    Vec3 in;
    // Value times cosine, divided by the pdf of the direction (the limit of this for perfect mirrors and windows).
    Vec3 weight;
    // Pdf of `in` per solid angle; infinite for perfect mirrors and windows.
    float pdf;
    // Whether `in` and `out` are on different sides of the surface; and whether `in` is behind the triangle, but in front of the smooth normal. It is
    // then on the side of `out` if the smooth surface is in front of the triangle (`depart`), and on the other side otherwise.
    bool transmitted, between;
};

// Sums over lobes of values times the cosine of `in`, and of pdfs.
struct Scattered {
    Vec3 value;
    float pdf;
};

// Probability of reflection if a facet reflects `fresnel` and transmits `passed`.
THRONG_INLINE float reflection_share(const Bsdf& b, Vec3 fresnel, Vec3 passed) {
    float reflected = luminance(fresnel), through = luminance(b.through * passed);
    return through > 0.0f ? reflected / (reflected + through) : 1.0f;
}

THRONG_DEVICE void add_coat(const Bsdf& b, Vec3 in, Scattered& sum) {
    Vec3 out = to_world(b, b.out), h = normalize_or(out + in, b.coat_normal);
    float out_z = max(dot(out, b.coat_normal), 1e-4f), in_z = dot(in, b.coat_normal), h_z = dot(h, b.coat_normal);
    if (!(in_z > 0.0f) || !(h_z > 0.0f)) return;
    Roughness a{b.coat_alpha, b.coat_alpha};
    // Only heights matter, but the sine must be accurate.
    float common = facet_distribution(a, vec3(length(cross(h, b.coat_normal)), 0.0f, h_z)) / (4.0f * out_z);
    float hidden = hidden_facets(b.coat_alpha, out_z), hidden_in = hidden_facets(b.coat_alpha, in_z);
    sum.value += vec3(b.coat * dielectric_fresnel(dot(out, h), 1.5f) * common * masking(hidden, hidden_in));
    sum.pdf += b.p_coat * common * masking(hidden);
}

THRONG_DEVICE void add_sheen(const Bsdf& b, Vec3 in, Scattered& sum) {
    float excess = max(1.0f, max(sheen_table(b.out.z, b.sheen.roughness), sheen_table(in.z, b.sheen.roughness)));
    sum.value += b.sheen.color * (b.below_coat * evaluate_sheen(sheen_alpha(b.sheen.roughness), b.out, in) / excess);
    sum.pdf += b.p_sheen * kSheenPdf;
}

// Adds reflection by a rough interface or, with `in` mirrored to the side of `out`, transmission by a thin one.
THRONG_DEVICE void add_mirrored(const Bsdf& b, Vec3 in, bool reflected, Scattered& sum) {
    Vec3 h = normalize_or(b.out + in, vec3(0.0f, 0.0f, 1.0f));
    float hidden = hidden_facets(b.roughness, b.out);
    Vec3 passed, fresnel = interface_fresnel(b, dot(b.out, h), passed);
    float share = reflection_share(b, fresnel, passed), common = facet_distribution(b.roughness, h) / (4.0f * b.out.z);
    Vec3 color = reflected ? fresnel : b.through * passed;
    sum.value += color * (b.below_sheen * common * masking(hidden, hidden_facets(b.roughness, in)));
    sum.pdf += b.p_interface * (reflected ? share : 1.0f - share) * common * masking(hidden);
}

// Adds transmission by a rough refracting interface (Walter et al. 2007).
THRONG_DEVICE void add_refracted(const Bsdf& b, Vec3 in, Scattered& sum) {
    float hidden = hidden_facets(b.roughness, b.out), hidden_in = hidden_facets(b.roughness, in);
    uint32_t bands = color_bands(b);
    THRONG_NO_UNROLL
    for (uint32_t band = 0; band < bands; band++) {
        float eta = band_eta(b, band);
        Vec3 h = b.out + in * eta, passed;
        if (h.z < 0.0f) h = -h;
        if (!normalize(h)) continue;
        float out_h = dot(b.out, h), in_h = dot(in, h);
        if (!(out_h > 0.0f) || !(in_h < 0.0f)) continue;
        Vec3 fresnel = interface_fresnel(b, out_h, passed);
        float share = reflection_share(b, fresnel, passed);
        float common = facet_distribution(b.roughness, h) * out_h * -in_h / (b.out.z * squared(out_h + eta * in_h));
        sum.value += b.through * band_color(b, band) * passed * (b.below_sheen * common * masking(hidden, hidden_in));
        sum.pdf += b.p_interface * (1.0f - share) * squared(eta) * common * masking(hidden) / float(bands);
    }
}

// Cosine of `in` and the normal for diffuse light, which is the mapped normal before bending. If a map tilts it away from the surface, light fades
// towards the surface's horizon instead of ending there, as if the facets that the map represents shadowed each other. Cycles does this as well
// (Conty Estevez, Lecocq and Stein 2019, "A Microfacet-Based Shadowing Function to Solve the Bump Terminator Problem").
THRONG_DEVICE float diffuse_cosine(const Bsdf& b, Vec3 in, bool beyond) {
    const Vec3 to = beyond ? -in : in;
    float cosine = dot(b.mapped, to), height = dot(b.unmapped, to);
    // Light behind these normals may still be in front of the bent one.
    if (!(cosine > 0.0f) || !(height > 0.0f)) return 0.0f;
    float tangent2 = max(1.0f / max(squared(height), 1e-12f) - 1.0f, 0.0f);
    return cosine * 2.0f / (1.0f + sqrtf(1.0f + b.map_alpha2 * tangent2));
}

// Samples a local direction of light that facets of low roughness scatter more than once. The squared cosine is distributed like
// 1 / (width2 + squared cosine), because facets block light mostly near the horizon. In proportion to the cosine alone, samples near the horizon would
// have weights up to a thousand. With width2 = 4 alpha^2, no weight is above 3. `range` is log(1 + 1 / width2).
THRONG_DEVICE Vec3 sample_grazing(float width2, float range, Vec2 u) {
    const float z2 = clamp((1.0f + width2) * decay((u.x - 1.0f) * range) - width2, 0.0f, 1.0f);
    float sine, cosine;
    sine_cosine(u.y, sine, cosine);
    const float radius = sqrtf(1.0f - z2);
    return vec3(radius * cosine, radius * sine, sqrtf(z2));
}

// Pdf of `sample_grazing` relative to the cosine divided by pi.
THRONG_INLINE float grazing_density(float width2, float range, float cosine) { return 1.0f / ((squared(cosine) + width2) * range); }

// Pdf of a direction of the wide lobes on one side, times pi.
THRONG_INLINE float wide_density(const Bsdf& b, Vec3 in, bool beyond) {
    const float cosine = fabsf(in.z), share = beyond ? b.grazing_beyond : b.grazing;
    // Diffuse light depends on the cosine of the normal before bending.
    const float even = is_bent(b) ? max(dot(b.mapped, beyond ? -in : in), 0.0f) : cosine;
    return share > 0.0f ? even * (1.0f - share) + cosine * share * grazing_density(b.grazing_width2, b.grazing_range, cosine) : even;
}

// Adds diffuse light and multiply scattered light, on either side.
THRONG_DEVICE void add_wide(const Bsdf& b, Vec3 in, bool beyond, Scattered& sum) {
    float cosine = fabsf(in.z);
    Vec3 value = beyond ? b.diffuse_through : b.diffuse;
    if (max_component(value) > 0.0f) value = value * (uncovered(b, in) * diffuse_cosine(b, in, beyond) / max(cosine, 1e-6f));
    if (!b.smooth) {
        Vec3 multiple = beyond ? vec3(0.0f) : b.multiple;
        if (!b.bends && beyond) multiple = b.through * b.multiple_beyond;
        if (max_component(multiple) > 0.0f) value += multiple * (1.0f - mirror_albedo(b, in));
        float crossed = beyond ? b.multiple_beyond : b.multiple_same;
        if (b.bends && crossed > 0.0f) value += b.through * (crossed * glass_loss(beyond != b.inside, cosine, b.table_roughness, b.ior_place));
    }
    sum.value += value * (b.below_sheen * cosine);
    sum.pdf += (beyond ? b.p_beyond : b.p_wide) * wide_density(b, in, beyond) * (1.0f / kPi);
}

// Value of the BSDF times the cosine of `in` and the shading normal, and the pdf of `in` in `sample_bsdf`. `beyond` is true if `in` is behind the
// triangle. Perfect mirrors and windows contribute nothing here.
THRONG_OUTLINE Vec3 evaluate_bsdf(const Bsdf& b, Vec3 in, bool beyond, float& pdf) {
    Vec3 local = to_local(b, in);
    Scattered sum{vec3(0.0f), 0.0f};
    pdf = 0.0f;
    // Light on one side of the geometry and on the other side of the shading normal is neither reflected nor transmitted.
    if (beyond ? !(local.z < 0.0f) : !(local.z > 0.0f)) return sum.value;
    // Neither is light in front of the bent normal but behind the interpolated one.
    if (is_bent(b) && !beyond && !(dot(b.unmapped, local) > 0.0f)) return sum.value;
    if (!beyond && b.coat > 0.0f && !(b.coat_alpha < kSmooth)) add_coat(b, in, sum);
    if (!beyond && b.p_sheen > 0.0f) add_sheen(b, local, sum);
    if (!b.smooth) {
        if (beyond && b.bends) add_refracted(b, local, sum);
        else if (!beyond || max_component(b.through) > 0.0f) add_mirrored(b, vec3(local.x, local.y, fabsf(local.z)), !beyond, sum);
    }
    add_wide(b, local, beyond, sum);
    pdf = sum.pdf;
    return sum.value;
}

// Samples a direction that the coat reflects. False for a smooth coat, which reflects in one direction only.
THRONG_DEVICE bool sample_coat(const Bsdf& b, Vec2 u, Vec3& in) {
    Vec3 out = to_world(b, b.out), tangent, bitangent, h = b.coat_normal;
    bool smooth = b.coat_alpha < kSmooth;
    if (!smooth) {
        basis(b.coat_normal, tangent, bitangent);
        Vec3 local = vec3(dot(out, tangent), dot(out, bitangent), max(dot(out, b.coat_normal), 1e-4f));
        local = sample_visible_facet(Roughness{b.coat_alpha, b.coat_alpha}, local, u);
        h = tangent * local.x + bitangent * local.y + b.coat_normal * local.z;
    }
    in = reflect(out, h);
    return !smooth;
}

// Samples a local direction at the interface. `choice` selects reflection or transmission, and a colour. `smooth_weight` is the weight for smooth
// interfaces, not yet divided by the probability of the interface.
THRONG_DEVICE bool sample_interface(const Bsdf& b, float choice, Vec2 u, Vec3& in, Vec3& smooth_weight) {
    Vec3 h = b.smooth ? vec3(0.0f, 0.0f, 1.0f) : sample_visible_facet(b.roughness, b.out, u);
    float cosine = dot(b.out, h);
    if (!(cosine > 0.0f)) return false;
    Vec3 passed, fresnel = interface_fresnel(b, cosine, passed);
    float share = reflection_share(b, fresnel, passed);
    if (choice < share) {
        in = reflect(b.out, h);
        smooth_weight = fresnel * (1.0f / share);
        return in.z > 0.0f;
    }
    smooth_weight = b.through * passed * (1.0f / (1.0f - share));
    if (!b.bends) {
        in = reflect(b.out, h);
        in.z = -in.z;
        return in.z < 0.0f;
    }
    uint32_t bands = color_bands(b), band = uint32_t((choice - share) / (1.0f - share) * float(bands));
    if (band >= bands) band = bands - 1;
    float eta = band_eta(b, band);
    // Radiance is greater where the ior is higher.
    smooth_weight *= band_color(b, band) * (float(bands) / squared(eta));
    return refract(b.out, h, eta, in) && in.z < 0.0f;
}

// Samples a world-space direction of the wide lobes on one side; `choice` in [0, 1) selects the distribution.
THRONG_DEVICE Vec3 sample_wide(const Bsdf& b, float choice, Vec2 u, bool beyond) {
    if (choice < (beyond ? b.grazing_beyond : b.grazing)) {
        const Vec3 in = sample_grazing(b.grazing_width2, b.grazing_range, u);
        return to_world(b, vec3(in.x, in.y, beyond ? -in.z : in.z));
    }
    const Vec3 axis = is_bent(b) ? to_world(b, b.mapped) : b.normal;
    return sample_cosine(beyond ? -axis : axis, u);
}

// Completes the sample of a perfect mirror or window. False if it carries no light or is on the wrong side of the geometry.
THRONG_INLINE bool take_smooth(const Bsdf& b, Vec3 weight, BsdfSample& sample) {
    sample.weight = weight;
    sample.pdf = kInfinity;
    return max_component(weight) > 0.0f && (dot(sample.in, b.geometric) < 0.0f) == sample.transmitted;
}

// Samples a direction of incoming light; false if nothing is scattered. `choice` selects the layer, `u` the direction.
THRONG_DEVICE bool sample_bsdf(const Bsdf& b, float choice, Vec2 u, BsdfSample& sample) {
    sample.transmitted = sample.between = false;
    if (choice < b.p_coat) {
        if (!sample_coat(b, u, sample.in)) {
            float fresnel = dielectric_fresnel(dot(to_world(b, b.out), b.coat_normal), 1.5f);
            return take_smooth(b, vec3(b.coat * fresnel / b.p_coat), sample);
        }
    } else if ((choice -= b.p_coat) < b.p_sheen) {
        sample.in = to_world(b, sample_sheen(u));
    } else if ((choice -= b.p_sheen) < b.p_interface) {
        Vec3 in, smooth_weight;
        if (!sample_interface(b, choice / b.p_interface, u, in, smooth_weight)) return false;
        sample.in = to_world(b, in);
        sample.transmitted = in.z < 0.0f;
        if (b.smooth) return take_smooth(b, smooth_weight * (b.below_sheen / b.p_interface), sample);
    } else {
        choice -= b.p_interface;
        sample.transmitted = !(choice < b.p_wide);
        sample.in = sample_wide(b, sample.transmitted ? (choice - b.p_wide) / b.p_beyond : choice / b.p_wide, u, sample.transmitted);
    }
    if (!normalize(sample.in)) return false;
    // A direction that a reflecting lobe sends through the surface must not count as another lobe's light.
    const bool behind = dot(sample.in, b.geometric) < 0.0f;
    sample.between = behind && dot(to_local(b, sample.in), b.unmapped) > 0.0f;
    if (behind != sample.transmitted && !sample.between) return false;
    Vec3 value = evaluate_bsdf(b, sample.in, sample.transmitted, sample.pdf);
    if (!(sample.pdf > 0.0f) || !(max_component(value) > 0.0f)) return false;
    sample.weight = value * (1.0f / sample.pdf);
    return true;
}

}

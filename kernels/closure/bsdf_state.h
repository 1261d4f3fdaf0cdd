// A layered material's BSDF for one viewing direction, with everything precomputed that does not depend on the light's direction.
//
// From top to bottom: a clear coat; sheen; the rough or smooth interface, which reflects and transmits light; and wide lobes, which are Lambert's law
// times a factor per direction: diffuse reflection and transmission, and light that microfacets scatter more than once (Kulla and Conty 2017). A
// layer dims the layers below it by its albedo towards `out`.
#pragma once
#include "closure/albedo.h"
#include "closure/shading_inputs.h"
#include "closure/sheen.h"
#include "closure/thin_film.h"

namespace THRONG_NAMESPACE {

// The BSDF prepared for light that leaves towards `out`. Colours include the weights of metal, transmission and so on.
struct Bsdf {
    // Whether most of the light may come from few directions.
    static constexpr bool kSharp = true;
    // Whether light from all around is scattered to all sides, so that the surface has no back.
    static constexpr bool kRound = false;
    // Whether directions between the triangle and the smooth surface are sampled.
    static constexpr bool kSamplesBetween = true;
    // Unit vectors in world space, on the side of `out`.
    Vec3 geometric, normal, tangent, coat_normal;
    // Unit vectors in the frame of the shading normal. `mapped` is the shading normal before bending, `unmapped` the one before normal mapping.
    Vec3 out, mapped, unmapped;
    // Squared roughness of facets that tilt a normal as much as the map does.
    float map_alpha2;
    // Weight and GGX width of the coat. A weight of 0 means no coat.
    float coat, coat_alpha;
    SheenLobe sheen;
    // Fractions of the light that pass the coat, and that pass both the coat and the sheen.
    float below_coat, below_sheen;

    Roughness roughness;
    bool smooth;
    // Whether transmitted light is refracted; otherwise the wall is thin.
    bool bends;
    // Whether `out` is behind a refracting interface, where total reflection is possible.
    bool inside;
    // Ior behind the interface relative to the ior in front of it; half the spread of iors over the visible colours, relative to the ior; position of
    // the ior in the tables.
    float eta, spread, ior_place;
    // Reflectance at normal incidence, and the increase towards grazing angles for a dielectric and for a metal.
    Vec3 f0, dielectric_rise, metal_rise;
    // Maximum f0 of the dielectric over all colours, and its increase towards grazing angles.
    float covered_f0, covered_rise;
    ThinFilm thin_film;
    bool thin_film_hides_all;
    // Weight of transmitted light, per colour, without reflection.
    Vec3 through;

    // Roughness for the albedo tables, and inputs of the table for anisotropic mirrors.
    float table_roughness, brushed_roughness, anisotropy;
    // Weights of two tables, and a constant; their sum is the dielectric's albedo.
    float cover_mirror, cover_reflected, cover_constant;
    // Values of the wide lobes, without the factors that depend on the light's direction.
    Vec3 diffuse, diffuse_through, multiple;
    float multiple_same, multiple_beyond;

    // Probabilities of the lobes. Of the wide lobes, `p_wide` is for reflection and `p_beyond` for transmission.
    float p_coat, p_sheen, p_interface, p_wide, p_beyond;
    // Shares of the samples of the wide lobes, in reflection and in transmission, that are placed near the horizon, the squared cosine below which
    // most of them are, and the range of its logarithm (`sample_grazing`).
    float grazing, grazing_beyond, grazing_width2, grazing_range;
};

// Whether the shading normal was bent.
THRONG_INLINE bool is_bent(const Bsdf& b) { return b.mapped.z < 0.9999f; }

// Number of colour bands into which refracted light is split.
THRONG_INLINE uint32_t color_bands(const Bsdf& b) { return b.spread > 0.0f ? 3 : 1; }
// Relative ior for red, green or blue light; blue is refracted most.
THRONG_INLINE float band_eta(const Bsdf& b, uint32_t band) {
    if (!(b.spread > 0.0f)) return b.eta;
    float relative = 1.0f + b.spread * (float(band) - 1.0f);
    return b.inside ? b.eta / relative : b.eta * relative;
}
THRONG_INLINE Vec3 band_color(const Bsdf& b, uint32_t band) {
    if (!(b.spread > 0.0f)) return vec3(1.0f);
    return vec3(band == 0 ? 1.0f : 0.0f, band == 1 ? 1.0f : 0.0f, band == 2 ? 1.0f : 0.0f);
}

THRONG_INLINE Vec3 to_local(const Bsdf& b, Vec3 v) {
    return vec3(dot(v, b.tangent), dot(v, cross(b.normal, b.tangent)), dot(v, b.normal));
}
THRONG_INLINE Vec3 to_world(const Bsdf& b, Vec3 v) {
    return b.tangent * v.x + cross(b.normal, b.tangent) * v.y + b.normal * v.z;
}

THRONG_INLINE float luminance(Vec3 c) { return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z; }

// Fresnel term rescaled from [reflectance at normal incidence, 1] to [0, 1].
THRONG_INLINE float fresnel_shape(const Bsdf& b, float cosine) {
    float f0 = normal_fresnel(b.eta);
    return max((dielectric_fresnel(cosine, b.eta) - f0) / (1.0f - f0), 0.0f);
}
// Fraction of light that passes the interface without its thin film; `shape` is the result of `fresnel_shape`.
THRONG_INLINE float passed_without_thin_film(const Bsdf& b, float shape) {
    return clamp(1.0f - b.covered_f0 - b.covered_rise * shape, 0.0f, 1.0f);
}

// Reflectance of the interface; `passed` receives the fraction that a dielectric transmits.
THRONG_DEVICE Vec3 interface_fresnel(const Bsdf& b, float cosine, Vec3& passed) {
    float shape = fresnel_shape(b, cosine);
    Vec3 fresnel = b.f0 + b.dielectric_rise * shape + b.metal_rise * schlick(cosine);
    passed = vec3(passed_without_thin_film(b, shape));
    if (b.thin_film.weight > 0.0f) {
        Vec3 reflected = thin_film_fresnel(b.thin_film, cosine, b.f0);
        fresnel = lerp(fresnel, reflected, b.thin_film.weight);
        // As specified by the extension, all colours lose the maximum reflectance over colours, so that no hue appears below the thin film that
        // it lacks itself.
        if (b.thin_film_hides_all) reflected = vec3(max_component(reflected));
        passed = lerp(passed, vec3(1.0f) - reflected, b.thin_film.weight);
    }
    return fresnel;
}

// Albedo that the interface would have for a local direction if it reflected all light, and its mean.
THRONG_DEVICE float mirror_albedo(const Bsdf& b, Vec3 v) {
    float albedo = mirror_albedo(fabsf(v.z), b.table_roughness);
    return b.anisotropy > 0.0f ? min(albedo + brushed_change(v, b.brushed_roughness, b.anisotropy), 1.0f) : albedo;
}
THRONG_INLINE float mirror_mean(const Bsdf& b) {
    float mean = mirror_mean(b.table_roughness);
    return b.anisotropy > 0.0f ? min(mean + brushed_change_mean(b.brushed_roughness, b.anisotropy), 1.0f) : mean;
}

// Fraction of the light in a local direction that the dielectric interface transmits to the layers below.
THRONG_DEVICE float uncovered(const Bsdf& b, Vec3 v) {
    float covered = b.cover_constant;
    if (b.cover_mirror != 0.0f) covered += b.cover_mirror * mirror_albedo(b, v);
    if (b.cover_reflected != 0.0f) covered += b.cover_reflected * reflected_albedo(fabsf(v.z), b.table_roughness, b.ior_place);
    return clamp(1.0f - covered, 0.0f, 1.0f);
}

}

// The BSDF of hair and fur (Chiang, Bitterli, Tappan and Burley 2016, "A Practical and Controllable Hair and Fur Model for Production Path Tracing"):
// a round dielectric fibre, whose scales tilt its surface, with an absorbing inside. Light that arrives from all around is scattered to all sides,
// so there is neither front nor back.
//
// Its lobes are light that is reflected (R), that passes through the fibre (TT), that is reflected once inside (TRT), and all further light. Each is
// a distribution along the fibre times one around it. The model is for curves: on a mesh, light that passes meets the surface's other side as well.
#pragma once
#include "closure/bsdf.h"
#include "closure/fibre.h"

namespace THRONG_NAMESPACE {

constexpr uint32_t kHairLobes = 4;
// Minimum of both kinds of roughness, a lobe of about half a degree.
constexpr float kMinHairRoughness = 0.02f;

// The BSDF prepared for light that leaves towards `out`.
struct HairBsdf {
    static constexpr bool kSharp = true;
    static constexpr bool kRound = true;
    static constexpr bool kSamplesBetween = false;
    // Orthonormal world-space vectors: the fibre's direction from root to tip; the direction across it that is nearest to `out`, from which azimuths
    // are measured; and their cross product, towards which azimuths increase.
    Vec3 along, toward, across;
    // For each lobe, `out` turned by the tilt of the scales.
    Inclination out[kHairLobes];
    // Azimuths of the maxima of all lobes but the last, which is uniform.
    float azimuth[kHairLobes - 1];
    // Variances along the fibre, and the logistic distribution's scale around it.
    float variance[kHairLobes], scale;
    // Fractions of the light, and probabilities.
    Vec3 share[kHairLobes];
    float p[kHairLobes];
};

// Variance of R along the fibre for a roughness from 0 to 1. TT has a quarter of it, and further lobes have four times as much.
THRONG_INLINE float hair_variance(float roughness) {
    const float r = clamp(roughness, kMinHairRoughness, 1.0f), r2 = r * r, r4 = r2 * r2, r16 = r4 * r4 * (r4 * r4);
    return squared(0.726f * r + 0.812f * r2 + 3.7f * (r16 * r4));
}

// Absorption coefficients per radius of a fibre. Light that many such fibres scatter has about the given colour.
THRONG_DEVICE Vec3 hair_absorption(Vec3 color, float azimuthal_roughness) {
    const float r = azimuthal_roughness, steepness = 5.969f + r * (-0.215f + r * (2.532f + r * (-10.73f + r * (5.574f + r * 0.245f))));
    const auto absorption = [&](float c) { return squared(natural_log(clamp(c, 1e-37f, 1.0f)) / steepness); };
    return vec3(absorption(color.x), absorption(color.y), absorption(color.z));
}

// Sets the frame. Returns the sine of the surface's azimuth: the offset of a ray towards the viewer from the fibre's axis, from -1 to 1.
THRONG_DEVICE float set_hair_frame(HairBsdf& b, const Surface& s, Vec3 out) {
    Vec3 other;
    b.along = s.tangent;
    if (!normalize(b.along)) basis(s.shading, b.along, other);
    b.toward = out - b.along * dot(out, b.along);
    // A viewer who looks along the fibre may see it from any side.
    if (!normalize(b.toward)) basis(b.along, b.toward, other);
    b.across = cross(b.along, b.toward);
    return clamp(dot(s.shading, b.across), -1.0f, 1.0f);
}

// Sets the inclinations: the scales turn R by twice their tilt towards the root, TT by once and TRT by four times the tilt towards the tip.
THRONG_DEVICE void set_hair_tilt(HairBsdf& b, Inclination out, float tilt) {
    const float turns = tilt * (0.5f / kPi);
    float sine, cosine;
    sine_cosine(turns - floorf(turns), sine, cosine);
    const float sine2 = 2.0f * sine * cosine, cosine2 = cosine * cosine - sine * sine;
    b.out[0] = turned(out, sine2, cosine2);
    b.out[1] = turned(out, -sine, cosine);
    b.out[2] = turned(out, -2.0f * sine2 * cosine2, cosine2 * cosine2 - sine2 * sine2);
    b.out[3] = out;
}

// Sets the lobes' shares of the light. `passed` is the transmittance of the fibre, `fresnel` the reflectance of its surface.
THRONG_DEVICE void set_hair_shares(HairBsdf& b, float fresnel, Vec3 passed) {
    const Vec3 again = passed * fresnel;
    b.share[0] = vec3(fresnel);
    b.share[1] = passed * squared(1.0f - fresnel);
    b.share[2] = b.share[1] * again;
    b.share[3] = b.share[2] * vec3(again.x / max(1.0f - again.x, 1e-6f), again.y / max(1.0f - again.y, 1e-6f), again.z / max(1.0f - again.z, 1e-6f));
    float sum = 0.0f;
    for (uint32_t i = 0; i < kHairLobes; i++) sum += b.p[i] = mean_component(b.share[i]);
    const float scale = sum > 0.0f ? 1.0f / sum : 0.0f;
    for (uint32_t i = 0; i < kHairLobes; i++) b.p[i] *= scale;
}

// `color` is the base colour after its texture lookup, `out` the unit vector towards the viewer.
THRONG_DEVICE HairBsdf make_hair(const LobesRecord& l, Vec3 color, const Surface& s, Vec3 out) {
    HairBsdf b;
    const float offset = set_hair_frame(b, s, out), ior = max(l.ior, 1.0f);
    const Inclination seen = inclination(dot(out, b.along));
    set_hair_tilt(b, seen, l.cuticle_tilt);

    const float around = clamp(l.azimuthal_roughness, kMinHairRoughness, 1.0f), around2 = around * around, around4 = around2 * around2, around16 = squared(around4 * around4);
    b.scale = 0.626657069f * (0.265f * around + 1.194f * around2 + 5.372f * (around16 * around4 * around2));
    const float variance = hair_variance(l.roughness);
    b.variance[0] = hair_variance(l.roughness * (1.0f - l.clearcoat));
    b.variance[1] = 0.25f * variance;
    b.variance[2] = b.variance[3] = 4.0f * variance;

    // Refraction in the plane across the fibre is that of a modified ior (Marschner et al. 2003).
    const float within = clamp(offset * seen.cosine / sqrtf(max(ior * ior - seen.sine * seen.sine, 1e-12f)), -1.0f, 1.0f);
    const float outer = arc_sine(offset), inner = arc_sine(within);
    for (uint32_t i = 0; i < kHairLobes - 1; i++) b.azimuth[i] = 2.0f * outer + float(i) * (kPi - 2.0f * inner);

    const float path = 2.0f * cosine_of_sine(within) / max(cosine_of_sine(seen.sine / ior), 1e-4f);
    const Vec3 absorption = hair_absorption(color, clamp(l.azimuthal_roughness, 0.0f, 1.0f)), passed = vec3(decay(-absorption.x * path), decay(-absorption.y * path), decay(-absorption.z * path));
    set_hair_shares(b, dielectric_fresnel(seen.cosine * cosine_of_sine(offset), ior), passed);
    return b;
}

// Value of the BSDF times the cosine of `in` and the fibre's surface, and the pdf of `in` in `sample_bsdf`.
THRONG_DEVICE Vec3 evaluate_bsdf(const HairBsdf& b, Vec3 in, bool, float& pdf) {
    const Inclination to = inclination(dot(in, b.along));
    const float azimuth = angle_of(dot(in, b.toward), dot(in, b.across));
    Vec3 value = vec3(0.0f);
    pdf = 0.0f;
    THRONG_NO_UNROLL
    for (uint32_t i = 0; i < kHairLobes; i++) {
        const float around = i < kHairLobes - 1 ? around_fibre(wrapped(azimuth - b.azimuth[i]), b.scale) : 0.5f / kPi;
        const float both = along_fibre(to, b.out[i], b.variance[i]) * around;
        value += b.share[i] * both;
        pdf += b.p[i] * both;
    }
    return value;
}

// Samples a direction of incoming light; false if nothing is scattered. `choice` selects the lobe and the azimuth, `u` the inclination.
THRONG_DEVICE bool sample_bsdf(const HairBsdf& b, float choice, Vec2 u, BsdfSample& sample) {
    uint32_t lobe = 0;
    while (lobe < kHairLobes - 1 && !(choice < b.p[lobe])) choice -= b.p[lobe++];
    if (!(b.p[lobe] > 0.0f)) return false;
    choice = clamp(choice / b.p[lobe], 0.0f, 0.99999994f);
    const Inclination in = inclination(sample_along_fibre(b.out[lobe], b.variance[lobe], u));
    const float turns = lobe < kHairLobes - 1 ? (b.azimuth[lobe] + sample_around_fibre(b.scale, choice)) * (0.5f / kPi) : choice;
    float sine, cosine;
    sine_cosine(turns - floorf(turns), sine, cosine);
    sample.in = b.along * in.sine + (b.toward * cosine + b.across * sine) * in.cosine;
    sample.transmitted = sample.between = false;
    if (!normalize(sample.in)) return false;
    const Vec3 value = evaluate_bsdf(b, sample.in, false, sample.pdf);
    if (!(sample.pdf > 0.0f) || !(max_component(value) > 0.0f)) return false;
    sample.weight = value * (1.0f / sample.pdf);
    return true;
}

}

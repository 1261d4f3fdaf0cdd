// How surfaces scatter light: the layered model of glTF 2.0 and its KHR_materials extensions.
#pragma once
#include "look.h"

namespace THRONG_NAMESPACE {

// A surface's scattering, prepared for light that leaves towards the unit vector `out`.
struct Bsdf {
    Look look;
    Vec3 geometric, out;
    // Whether `out` is on the outside, the front of the surface.
    bool front;
};

struct BsdfSample {
    // Unit vector that light comes from.
    Vec3 in;
    // Value times cosine, divided by the density of the direction (its limit for perfect mirrors and windows).
    Vec3 weight;
    // Per solid angle; infinite for perfect mirrors and windows.
    float density;
    // Whether `in` is on the other side of the surface than `out`.
    bool transmitted;
};

THRONG_DEVICE Bsdf make_bsdf(const Look& look, const Surface& s, Vec3 out) {
    return Bsdf{look, s.geometric, out, s.front};
}

// Value of the BSDF times the cosine of `in` and the shading normal, and the density with which `sample_bsdf` finds `in`.
// Perfect mirrors and windows count for nothing here.
THRONG_DEVICE Vec3 evaluate_bsdf(const Bsdf& b, Vec3 in, float& density) {
    float cosine = dot(in, b.look.normal);
    density = 0.0f;
    if (!(cosine > 0.0f) || !(dot(in, b.geometric) > 0.0f)) return vec3(0.0f);
    density = cosine * (1.0f / kPi);
    return b.look.color * density;
}

// A direction that light comes from; false where nothing is scattered. `choice` picks the layer, `u` the direction.
THRONG_DEVICE bool sample_bsdf(const Bsdf& b, float choice, Vec2 u, BsdfSample& sample) {
    (void)choice;
    sample.in = sample_cosine(b.look.normal, u);
    sample.transmitted = false;
    Vec3 value = evaluate_bsdf(b, sample.in, sample.density);
    if (!(sample.density > 0.0f)) return false;
    sample.weight = value * (1.0f / sample.density);
    return true;
}

}

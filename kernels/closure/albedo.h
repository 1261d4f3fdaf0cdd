// Tables of directional albedos of rough surfaces, for single scattering at microfacets. They compensate for light lost between facets and divide
// light among lobes. They were computed by brute force (probe/albedo.h). The test `the_tables_hold_what_brute_force_finds` in tests/scattering
// explains how to recompute them.
#pragma once
#include "closure/fresnel.h"
#include "closure/microfacet.h"

namespace THRONG_NAMESPACE {

// Table steps are uniform in sqrt(cosine), in roughness = sqrt(alpha), and in log2(ior - 1). Entries are 16-bit fractions.
constexpr uint32_t kMirrorSide = 32, kReflectedSteps = 32, kReflectedCosines = 24, kLossSteps = 20, kLossCosines = 16, kIorSteps = 11;
constexpr uint32_t kBrushedKinds = 11, kBrushedSteps = 16, kBrushedAzimuths = 5, kBrushedCosines = 24;
constexpr uint32_t kSheenSteps = 16, kSheenCosines = 32;
constexpr float kMinTableIor = 1.0625f, kMaxTableIor = 3.0f;
constexpr float kFraction = 1.0f / 65535.0f;
// Sheen may exceed 1 at grazing angles.
constexpr float kSheenScale = 2.0f;

#include "closure/albedo_tables.inc"

// A position between two entries.
struct Between {
    uint32_t index;
    float part;
};

// Position of `x`, in [0, 1], among `count` entries.
THRONG_INLINE Between between(float x, uint32_t count) {
    float place = clamp(x, 0.0f, 1.0f) * float(count - 1);
    uint32_t index = uint32_t(place);
    if (index > count - 2) index = count - 2;
    return Between{index, place - float(index)};
}

THRONG_INLINE float table_1d(const uint16_t* table, Between x) {
    float a = float(table[x.index]), b = float(table[x.index + 1]);
    return (a + (b - a) * x.part) * kFraction;
}
THRONG_INLINE float table_2d(const uint16_t* table, uint32_t width, Between y, Between x) {
    const uint16_t* row = table + y.index * width;
    float a = table_1d(row, x), b = table_1d(row + width, x);
    return a + (b - a) * y.part;
}
// Interpolates in a table with `width` by `height` entries per slice.
THRONG_DEVICE float table_3d(const uint16_t* table, uint32_t width, uint32_t height, Between z, Between y, Between x) {
    const uint16_t* slice = table + z.index * width * height;
    float a = table_2d(slice, width, y, x), b = table_2d(slice + width * height, width, y, x);
    return a + (b - a) * z.part;
}

// Position of an ior in the tables, in [0, 1].
THRONG_INLINE float ior_place(float ior) {
    return (binary_log(clamp(ior, kMinTableIor, kMaxTableIor) - 1.0f) + 4.0f) * 0.2f;
}

// Albedo of a surface whose facets reflect all light. All means are cosine-weighted over the hemisphere.
THRONG_DEVICE float mirror_albedo(float cosine, float roughness) {
    return table_2d(kMirrorAlbedo, kMirrorSide, between(roughness, kMirrorSide), between(sqrtf(cosine), kMirrorSide));
}
THRONG_DEVICE float mirror_mean(float roughness) { return table_1d(kMirrorMean, between(roughness, kMirrorSide)); }

// Albedo of an anisotropic surface (strength as in KHR_materials_anisotropy, tangent along x) minus the albedo of an isotropic surface of equal mean
// square roughness.
THRONG_DEVICE float brushed_change(Vec3 v, float roughness, float anisotropy) {
    float across = squared(v.x) + squared(v.y), azimuth = across > 1e-12f ? squared(v.x) / across : 0.5f;
    Between kind = between(anisotropy, kBrushedKinds), y = between(roughness, kBrushedSteps), z = between(azimuth, kBrushedAzimuths),
            x = between(sqrtf(fabsf(v.z)), kBrushedCosines);
    float sum = 0.0f;
    THRONG_NO_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        float weight = (i & 1 ? kind.part : 1.0f - kind.part) * (i & 2 ? y.part : 1.0f - y.part);
        uint32_t block = (kind.index + (i & 1)) * kBrushedSteps + y.index + (i >> 1);
        sum += weight * table_2d(kBrushedChange + block * kBrushedAzimuths * kBrushedCosines, kBrushedCosines, z, x);
    }
    return sum - 0.5f;
}
THRONG_DEVICE float brushed_change_mean(float roughness, float anisotropy) {
    return table_2d(kBrushedChangeMean, kBrushedSteps, between(anisotropy, kBrushedKinds), between(roughness, kBrushedSteps)) - 0.5f;
}

// Albedo of a dielectric seen from outside.
THRONG_DEVICE float reflected_albedo(float cosine, float roughness, float ior_place) {
    return table_3d(kReflectedAlbedo, kReflectedCosines, kReflectedSteps, between(ior_place, kIorSteps),
                    between(roughness, kReflectedSteps), between(sqrtf(cosine), kReflectedCosines));
}
THRONG_DEVICE float reflected_mean(float roughness, float ior_place) {
    return table_2d(kReflectedMean, kReflectedSteps, between(ior_place, kIorSteps), between(roughness, kReflectedSteps));
}

// Fraction of light that glass neither reflects nor transmits at the first scattering, seen from outside or from `inside`.
THRONG_DEVICE float glass_loss(bool inside, float cosine, float roughness, float ior_place) {
    return table_3d(inside ? kBackLoss : kFrontLoss, kLossCosines, kLossSteps, between(ior_place, kIorSteps), between(roughness, kLossSteps),
                    between(sqrtf(cosine), kLossCosines));
}
THRONG_DEVICE float glass_loss_mean(bool inside, float roughness, float ior_place) {
    return table_2d(inside ? kBackLossMean : kFrontLossMean, kLossSteps, between(ior_place, kIorSteps), between(roughness, kLossSteps));
}

// Albedo of white sheen.
THRONG_DEVICE float sheen_table(float cosine, float roughness) {
    float place = (roughness - 0.1f) * (1.0f / 0.9f);
    return kSheenScale * table_2d(kSheenAlbedo, kSheenCosines, between(place, kSheenSteps), between(sqrtf(cosine), kSheenCosines));
}

}

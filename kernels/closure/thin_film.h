// Thin films whose interference colours reflections (Belcour and Barla 2017), as specified by KHR_materials_iridescence.
#pragma once
#include "closure/fresnel.h"
#include "util/sampler.h"

namespace THRONG_NAMESPACE {

// Thickness in nanometres.
struct ThinFilm {
    float weight, ior, thickness;
};

// Cosine of an angle given in turns.
THRONG_INLINE float cosine_of_turns(float turns) {
    float sine, cosine;
    sine_cosine(turns - floorf(turns), sine, cosine);
    return cosine;
}

// One Gaussian of the eye's sensitivity in Fourier space, for a path difference in metres and a phase shift in turns.
THRONG_INLINE float sensitivity(float path, float shift, float value, float position, float variance) {
    float phase = 2.0f * kPi * path;
    return value * sqrtf(2.0f * kPi * variance) * cosine_of_turns(position * path + shift) * decay(-phase * phase * variance) * (1.0f / 1.0685e-7f);
}

// Linear sRGB of the interference at a path difference in nanometres; phase shifts are in turns.
THRONG_DEVICE Vec3 interference(float path, Vec3 shift) {
    path *= 1e-9f;
    float x = sensitivity(path, shift.x, 5.4856e-13f, 1.6810e6f, 4.3278e9f) + sensitivity(path, shift.x, 9.7470e-14f, 2.2399e6f, 4.5282e9f);
    float y = sensitivity(path, shift.y, 4.4201e-13f, 1.7953e6f, 9.3046e9f);
    float z = sensitivity(path, shift.z, 5.2481e-13f, 2.2084e6f, 6.6121e9f);
    return vec3(3.2404542f * x - 1.5371385f * y - 0.4985314f * z, -0.9692660f * x + 1.8760108f * y + 0.0415560f * z,
                0.0556434f * x - 0.2040259f * y + 1.0572252f * z);
}

// Reflectance of the thin film's lower side. `shift` receives the phase shift of the reflected light, in turns.
THRONG_INLINE float lower_fresnel(float base_f0, float thin_film_ior, float cosine, float& shift) {
    float root = sqrtf(clamp(base_f0, 0.0f, 0.9999f)), base_ior = (1.0f + root) / (1.0f - root);
    shift = base_ior < thin_film_ior ? 0.5f : 0.0f;
    float f0 = normal_fresnel(base_ior / thin_film_ior);
    return f0 + (1.0f - f0) * schlick(cosine);
}

// Reflectance of a thin film of full weight over a surface with reflectance `base_f0` at normal incidence without it.
THRONG_DEVICE Vec3 thin_film_fresnel(const ThinFilm& thin_film, float cosine, Vec3 base_f0) {
    // As the thin film's thickness goes to 0, its ior fades to the ior of air.
    float rise = clamp(thin_film.thickness * (1.0f / 0.03f), 0.0f, 1.0f);
    float ior = 1.0f + (thin_film.ior - 1.0f) * rise * rise * (3.0f - 2.0f * rise);
    float refracted = 1.0f - (1.0f - cosine * cosine) / (ior * ior);
    if (!(refracted >= 0.0f)) return vec3(1.0f);
    float cosine_within = sqrtf(refracted), f0 = normal_fresnel(ior);
    float upper = f0 + (1.0f - f0) * schlick(cosine), passed = 1.0f - upper;
    Vec3 shift, lower;
    lower.x = lower_fresnel(base_f0.x, ior, cosine_within, shift.x);
    lower.y = lower_fresnel(base_f0.y, ior, cosine_within, shift.y);
    lower.z = lower_fresnel(base_f0.z, ior, cosine_within, shift.z);
    // Light that the thin film's upper side reflects from inside is shifted by half a turn.
    shift += vec3(ior < 1.0f ? 0.0f : 0.5f);
    Vec3 both = lower * upper;
    both = vec3(clamp(both.x, 1e-5f, 0.9999f), clamp(both.y, 1e-5f, 0.9999f), clamp(both.z, 1e-5f, 0.9999f));
    Vec3 series = lower * (passed * passed) * vec3(1.0f / (1.0f - both.x), 1.0f / (1.0f - both.y), 1.0f / (1.0f - both.z));
    Vec3 result = series + vec3(upper), amplitude = series - vec3(passed), root = vec3(sqrtf(both.x), sqrtf(both.y), sqrtf(both.z));
    float path = 2.0f * ior * thin_film.thickness * cosine_within;
    THRONG_NO_UNROLL
    for (int order = 1; order <= 2; order++) {
        amplitude *= root;
        result += amplitude * interference(float(order) * path, shift * float(order)) * 2.0f;
    }
    return vec3(clamp(result.x, 0.0f, 1.0f), clamp(result.y, 0.0f, 1.0f), clamp(result.z, 0.0f, 1.0f));
}

}

// The film: sums of radiance in linear float, and their way to display values.
#pragma once
#include "integrate.h"

namespace THRONG_NAMESPACE {

// Keeps a sample's hue but not more than `limit` of any component; what is no number at all counts as black.
THRONG_DEVICE Vec3 clamp_sample(Vec3 radiance, float limit) {
    if (!(radiance.x + radiance.y + radiance.z >= 0.0f)) return vec3(0.0f);
    float brightest = max_component(radiance);
    if (brightest <= limit) return radiance;
    if (brightest == kInfinity) return vec3(limit);
    return radiance * (1.0f / brightest) * limit;
}

// Adds up the samples of a pixel, and those with odd numbers besides if noise is measured.
struct FilmSum {
    float *all, *half;
    Vec3 total, odd;

    THRONG_INLINE FilmSum(const Params& params, uint32_t pixel) {
        all = params.film + 4 * uint64_t(pixel);
        half = params.film_half ? params.film_half + 4 * uint64_t(pixel) : nullptr;
        total = load3(all);
        odd = half ? load3(half) : vec3(0.0f);
    }
    THRONG_INLINE void add(const Params& params, uint32_t sample, Vec3 radiance) {
        Vec3 light = clamp_sample(radiance, params.radiance_clamp);
        total += light;
        if (sample & 1u) odd += light;
    }
    THRONG_INLINE void store(const Params& params) {
        store3(all, total);
        all[3] = float(params.sample_end);
        if (half) store3(half, odd);
    }
};

// Adds samples [sample_begin, sample_end) of one pixel to the film.
THRONG_DEVICE void render_pixel(const Params& params, uint32_t item, Thread& thread) {
    uint32_t x, y;
    if (!item_pixel(params, item, x, y)) return;
    FilmSum sum(params, y * params.width + x);
    for (uint32_t sample = params.sample_begin; sample < params.sample_end; sample++)
        sum.add(params, sample, integrate(params, camera_path(params, x, y, sample), thread));
    sum.store(params);
}

// How noisy a pixel is: the difference between the mean of all samples and that of half of them, relative to what the eye
// sees of it (Dammertz et al. 2010).
THRONG_DEVICE float pixel_error(const Params& params, uint32_t pixel) {
    const float *all = params.film + 4 * uint64_t(pixel), *half = params.film_half + 4 * uint64_t(pixel);
    const float samples = max(all[3], 1.0f), odd = max(floorf(0.5f * samples), 1.0f);
    Vec3 mean = load3(all) * (params.exposure / samples), other = load3(half) * (params.exposure / odd);
    // What is brighter than white looks like white.
    Vec3 shown = vec3(min(mean.x, 1.0f), min(mean.y, 1.0f), min(mean.z, 1.0f));
    Vec3 d = absolute(shown - vec3(min(other.x, 1.0f), min(other.y, 1.0f), min(other.z, 1.0f)));
    return (d.x + d.y + d.z) / sqrtf(max(shown.x + shown.y + shown.z, 1e-3f));
}

// Root of the mean square of a tile's errors.
THRONG_DEVICE void measure_tile(const Params& params, uint32_t tile, Thread&) {
    float sum = 0.0f, count = 0.0f;
    for (uint32_t item = 64 * tile; item < 64 * tile + 64; item++) {
        uint32_t x, y;
        if (!item_pixel(params, item, x, y)) continue;
        const float error = pixel_error(params, y * params.width + x);
        sum += error * error;
        count += 1.0f;
    }
    params.tile_errors[tile] = count > 0.0f ? sqrtf(sum / count) : 0.0f;
}

// Stephen Hill's fit of the ACES reference rendering and output transforms for sRGB displays.
THRONG_DEVICE Vec3 aces(Vec3 c) {
    Vec3 v = vec3(0.59719f * c.x + 0.35458f * c.y + 0.04823f * c.z,
                  0.07600f * c.x + 0.90834f * c.y + 0.01566f * c.z,
                  0.02840f * c.x + 0.13383f * c.y + 0.83777f * c.z);
    const float in[3] = {v.x, v.y, v.z};
    float out[3];
    for (int k = 0; k < 3; k++)
        out[k] = (in[k] * (in[k] + 0.0245786f) - 0.000090537f) / (in[k] * (0.983729f * in[k] + 0.4329510f) + 0.238081f);
    return vec3(1.60475f * out[0] - 0.53108f * out[1] - 0.07367f * out[2],
                -0.10208f * out[0] + 1.10813f * out[1] - 0.00605f * out[2],
                -0.00327f * out[0] - 0.07276f * out[1] + 1.07602f * out[2]);
}

THRONG_DEVICE float srgb_curve(float x) {
    return x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1.0f / 2.4f) - 0.055f;
}

THRONG_INLINE float quantize(float x, float steps) { return clamp(x, 0.0f, 1.0f) * steps + 0.5f; }

// Film to RGB of one pixel.
THRONG_DEVICE void resolve_pixel(const Params& params, uint32_t pixel, Thread&) {
    const float* sum = params.film + 4 * uint64_t(pixel);
    Vec3 c = load3(sum) * (1.0f / max(sum[3], 1.0f));
    if (params.pixel_type == PIXELS_F32) {
        store3(reinterpret_cast<float*>(params.pixels) + 3 * uint64_t(pixel), c);
        return;
    }
    if (params.tone_map != TONE_DISPLAY) {
        c = c * params.exposure;
        if (params.tone_map == TONE_ACES) c = aces(c);
        c = vec3(srgb_curve(clamp(c.x, 0.0f, 1.0f)), srgb_curve(clamp(c.y, 0.0f, 1.0f)), srgb_curve(clamp(c.z, 0.0f, 1.0f)));
    }
    const float channels[3] = {c.x, c.y, c.z};
    for (int k = 0; k < 3; k++) {
        const uint64_t at = 3 * uint64_t(pixel) + k;
        if (params.pixel_type == PIXELS_U16) reinterpret_cast<uint16_t*>(params.pixels)[at] = uint16_t(quantize(channels[k], 65535.0f));
        else params.pixels[at] = uint8_t(quantize(channels[k], 255.0f));
    }
}

// The bare queries: one ray of a batch each.
THRONG_DEVICE void trace_closest(const Params& params, uint32_t item, Thread& thread) {
    params.hits[item] = closest_hit(params, params.rays[item], thread.stack);
}

THRONG_DEVICE void trace_any(const Params& params, uint32_t item, Thread& thread) {
    params.hits[item] = Hit{any_hit(params, params.rays[item], thread.stack) ? 1.0f : -1.0f, 0.0f, 0.0f, NO_INDEX, NO_INDEX, NO_INDEX};
}

}

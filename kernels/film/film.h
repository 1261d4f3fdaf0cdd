// The film: sums of radiance in linear float, and their conversion to display values.
#pragma once
#include "integrator/integrate.h"
#include "film/exact.h"
#include "film/share.h"
#include "film/tone.h"

namespace THRONG_NAMESPACE {

// Scales a sample so that no component exceeds `limit`, which preserves its hue. A negative or NaN sample counts as black.
THRONG_DEVICE Vec3 clamp_sample(Vec3 radiance, float limit) {
    if (!(radiance.x + radiance.y + radiance.z >= 0.0f)) return vec3(0.0f);
    float brightest = max_component(radiance);
    if (brightest <= limit) return radiance;
    if (brightest == kInfinity) return vec3(limit);
    return radiance * (1.0f / brightest) * limit;
}

// A sample with its filter weight.
struct WeightedSample {
    Vec3 light;
    float weight;
};

THRONG_DEVICE WeightedSample weighted_sample(const Params& params, Vec2 offset, Vec3 radiance) {
    const Vec3 light = clamp_sample(radiance, params.picture.radiance_clamp);
    return is_negative(params, offset) ? WeightedSample{-light, -1.0f} : WeightedSample{light, 1.0f};
}

// Sums of a pixel's samples and weights and, if noise is measured, of the odd-numbered samples.
struct FilmSum {
    float *all, *half;
    Vec3 total, odd;
    float weights, odd_weights;

    THRONG_INLINE FilmSum(const Params& params, uint32_t pixel) {
        all = reinterpret_cast<float*>(params.film.sums) + 4 * uint64_t(pixel);
        half = params.film.half_sums ? reinterpret_cast<float*>(params.film.half_sums) + 4 * uint64_t(pixel) : nullptr;
        total = load3(all);
        odd = half ? load3(half) : vec3(0.0f);
        weights = all[3];
        odd_weights = half ? half[3] : 0.0f;
    }
    THRONG_INLINE void add(const Params& params, uint32_t x, uint32_t y, uint32_t sample, Vec2 offset, Vec3 radiance) {
        const WeightedSample s = weighted_sample(params, offset, radiance);
        if (shares_samples(params)) add_shares(params, x, y, offset, s.light);
        total += s.light;
        weights += s.weight;
        if (!(sample & 1u)) return;
        odd += s.light;
        odd_weights += s.weight;
    }
    THRONG_INLINE void store() {
        store3(all, total);
        all[3] = weights;
        if (!half) return;
        store3(half, odd);
        half[3] = odd_weights;
    }
};

// `FilmSum` with exact sums: three numbers of three words each, and the sum of weights as an integer.
struct ExactFilmSum {
    uint32_t *all, *half;
    Exact total[3], odd[3];
    int weights, odd_weights;

    THRONG_INLINE ExactFilmSum(const Params& params, uint32_t pixel) {
        all = params.film.sums + EXACT_SUM_WORDS * uint64_t(pixel);
        half = params.film.half_sums ? params.film.half_sums + EXACT_SUM_WORDS * uint64_t(pixel) : nullptr;
        for (int k = 0; k < 3; k++) {
            total[k] = load_exact(all + 3 * k);
            odd[k] = half ? load_exact(half + 3 * k) : Exact{0, 0};
        }
        weights = int(all[9]);
        odd_weights = half ? int(half[9]) : 0;
    }
    THRONG_INLINE void add(const Params& params, uint32_t, uint32_t, uint32_t sample, Vec2 offset, Vec3 radiance) {
        const WeightedSample s = weighted_sample(params, offset, radiance);
        const Exact light[3] = {exact_of(s.light.x), exact_of(s.light.y), exact_of(s.light.z)};
        for (int k = 0; k < 3; k++) total[k] = sum_of(total[k], light[k]);
        weights += int(s.weight);
        if (!half || !(sample & 1u)) return;
        for (int k = 0; k < 3; k++) odd[k] = sum_of(odd[k], light[k]);
        odd_weights += int(s.weight);
    }
    THRONG_INLINE void store() {
        for (int k = 0; k < 3; k++) store_exact(all + 3 * k, total[k]);
        all[9] = uint32_t(weights);
        if (!half) return;
        for (int k = 0; k < 3; k++) store_exact(half + 3 * k, odd[k]);
        half[9] = uint32_t(odd_weights);
    }
};

// Adds one sample of a pixel to the film; `offset` is the offset of its camera ray.
THRONG_INLINE void add_to_film(const Params& params, uint32_t x, uint32_t y, uint32_t sample, Vec2 offset, Vec3 radiance) {
    const uint32_t pixel = film_pixel(params, x, y);
    if (params.film.exact) {
        ExactFilmSum sum(params, pixel);
        sum.add(params, x, y, sample, offset, radiance);
        sum.store();
    } else {
        FilmSum sum(params, pixel);
        sum.add(params, x, y, sample, offset, radiance);
        sum.store();
    }
}

// Adds samples [sample_begin, sample_end) of one pixel to the film.
THRONG_DEVICE void render_pixel(const Params& params, uint32_t item, Thread& thread) {
    uint32_t x, y;
    if (!item_pixel(params, item, x, y)) return;
    for (uint32_t sample = params.film.sample_begin; sample < params.film.sample_end; sample++) {
        const Path path = camera_path(params, x, y, sample);
        add_to_film(params, x, y, sample, path.offset, radiance_along(params, path, thread));
    }
}

// The sums of a pixel as floats.
struct PixelSum {
    Vec3 light;
    float weights;
};

THRONG_INLINE PixelSum pixel_sum(const Params& params, const uint32_t* sums, uint64_t pixel) {
    if (!params.film.exact) {
        const float* sum = reinterpret_cast<const float*>(sums) + 4 * pixel;
        return PixelSum{load3(sum), sum[3]};
    }
    const uint32_t* words = sums + EXACT_SUM_WORDS * pixel;
    return PixelSum{vec3(float_of(load_exact(words)), float_of(load_exact(words + 3)), float_of(load_exact(words + 6))), float(int(words[9]))};
}

// Adds the exact sums of a pixel of another film.
THRONG_DEVICE void join_sums(const Params& params, uint32_t pixel, Thread&) {
    const uint64_t first = EXACT_SUM_WORDS * uint64_t(pixel);
    for (uint32_t k = 0; k < 9; k += 3) join_exact(params.film.sums + first + k, params.film.other_sums + first + k);
    params.film.sums[first + 9] += params.film.other_sums[first + 9];
}

// Maps exposed radiance to a perceptual scale for noise measures. Without a tone curve, everything brighter than white looks white. With a tone
// curve, differences are less visible the brighter they are.
THRONG_INLINE float seen_light(const Params& params, float x) {
    if (x < 1.0f) return x;
    return params.display.tone_map == TONE_NONE ? 1.0f : 2.0f - 1.0f / x;
}

THRONG_INLINE Vec3 seen_light(const Params& params, Vec3 c) {
    return vec3(seen_light(params, c.x), seen_light(params, c.y), seen_light(params, c.z));
}

// Noise of a pixel: the difference between the mean of all samples and the mean of half of them, relative to the square root of the perceived value
// (Dammertz et al. 2010).
THRONG_DEVICE float pixel_error(const Params& params, uint32_t pixel) {
    const PixelSum all = pixel_sum(params, params.film.sums, pixel), half = pixel_sum(params, params.film.half_sums, pixel);
    const float samples = max(all.weights, 1.0f), odd = max(half.weights, 1.0f);
    const Vec3 mean = seen_light(params, all.light * (params.display.exposure / samples));
    const Vec3 d = absolute(mean - seen_light(params, half.light * (params.display.exposure / odd)));
    return (d.x + d.y + d.z) / sqrtf(max(mean.x + mean.y + mean.z, 1e-3f));
}

// Writes the root mean square of a tile's pixel errors, weighted by their squares, so that smooth pixels do not hide the noise of their neighbours.
// For normally distributed errors, a third of the weighted mean square equals the plain one.
THRONG_DEVICE void measure_tile(const Params& params, uint32_t tile, Thread&) {
    float squares = 0.0f, fourth_powers = 0.0f;
    for (uint32_t item = 64 * tile; item < 64 * tile + 64; item++) {
        uint32_t x, y;
        if (!item_pixel(params, item, x, y)) continue;
        const float error = pixel_error(params, film_pixel(params, x, y));
        squares += error * error;
        fourth_powers += error * error * error * error;
    }
    params.film.tile_errors[tile] = squares > 0.0f ? sqrtf(fourth_powers / (3.0f * squares)) : 0.0f;
}

// Converts one pixel of the film to RGB. For transparent pixels, display colours have straight alpha, because the tone curve must apply to the
// unweighted colour. Floats have premultiplied alpha.
THRONG_DEVICE void resolve_pixel(const Params& params, uint32_t pixel, Thread&) {
    const PixelSum sum = pixel_sum(params, params.film.sums, pixel);
    Vec3 c = shares_samples(params) ? shared_mean(params, pixel) : sum.light * (1.0f / max(sum.weights, 1.0f));
    const uint64_t first = 3 * uint64_t(pixel);
    if (params.film.shadow) {
        const Vec3 lit = c - load3(params.film.shadow + first);
        c = vec3(max(lit.x, 0.0f), max(lit.y, 0.0f), max(lit.z, 0.0f));
    }
    if (params.film.wireframe) c = c * (1.0f - params.film.wireframe[pixel]);
    if (params.display.pixel_type == PIXELS_F32) {
        store3(reinterpret_cast<float*>(params.film.pixels) + first, c);
        return;
    }
    if (params.film.alpha) {
        const float alpha = params.film.alpha[pixel];
        c = alpha > 0.0f ? c * (1.0f / alpha) : vec3(0.0f);
    }
    c = display_color(params, c);
    const float channels[3] = {c.x, c.y, c.z};
    for (uint32_t k = 0; k < 3; k++) {
        if (params.display.pixel_type == PIXELS_U16) reinterpret_cast<uint16_t*>(params.film.pixels)[first + k] = uint16_t(quantize(channels[k], 65535.0f, 0.5f));
        else params.film.pixels[first + k] = uint8_t(quantize(channels[k], 255.0f, rounding(params, pixel, k)));
    }
}

// Ray queries outside of a render; each item is one ray of a batch.
THRONG_DEVICE void trace_closest(const Params& params, uint32_t item, Thread& thread) {
    params.query.hits[item] = closest_hit(params, params.query.rays[item], thread.stack);
}

// The result of an any-hit query, which only indicates whether there is a hit.
THRONG_INLINE Hit blocked_hit(bool blocked) { return Hit{blocked ? 1.0f : -1.0f, 0.0f, 0.0f, NO_INDEX, NO_INDEX, NO_INDEX}; }

THRONG_DEVICE void trace_any(const Params& params, uint32_t item, Thread& thread) {
    params.query.hits[item] = blocked_hit(any_hit(params, params.query.rays[item], thread.stack));
}

// Count the work of these queries for each ray on its own; the hits are not stored.
THRONG_DEVICE void count_closest(const Params& params, uint32_t item, Thread& thread) {
    WorkCount count;
    closest_hit_counted(params, params.query.rays[item], thread.stack, count);
    params.query.work[item] = count.work;
}

THRONG_DEVICE void count_any(const Params& params, uint32_t item, Thread& thread) {
    WorkCount count;
    any_hit_counted(params, params.query.rays[item], thread.stack, count);
    params.query.work[item] = count.work;
}

}

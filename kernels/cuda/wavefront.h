// The steps of the wavefront schedule, one path or pixel at a time: paths start, are shaded between traces, and end in the film. Rays and the order
// of summation are identical to the loop in integrate.h. Queueing and tracing of rays are implemented by the device.
#pragma once
#include "film/aovs.h"

namespace THRONG_NAMESPACE {

// Pixel and sample of path `p`; the samples of a pixel are contiguous. False for items past the edge.
struct PathPlace {
    uint32_t x, y, sample;
};

THRONG_INLINE bool path_place(const Params& params, const Wavefront& w, uint32_t p, PathPlace& place) {
    uint32_t samples = params.film.sample_end - params.film.sample_begin;
    place.sample = params.film.sample_begin + p % samples;
    return item_pixel(params, w.first_item + p / samples, place.x, place.y);
}

// Puts the camera ray of path `p` into the first queue, whose entries are the paths in order. Paths past the edge get a ray with a negative t_max.
THRONG_DEVICE void start_path(const Params& params, const Wavefront& w, uint32_t p) {
    PathPlace place;
    bool inside = path_place(params, w, p, place);
    // Rows past the edge have no view.
    if (!inside) place.y = params.film.top;
    Path path = camera_path(params, place.x, place.y, place.sample);
    if (!inside) path.ray.t_max = -1.0f;
    w.rays[0][p] = path.ray;
}

// Gathers all AOVs of a chunk's item except its variance, from the hits of the first wave, which has all of the item's samples.
THRONG_DEVICE void gather_wave(const Params& params, const Wavefront& w, uint32_t index, Thread& thread) {
    uint32_t x, y;
    if (!item_pixel(params, w.first_item + index, x, y)) return;
    const FrameAovs& out = *params.film.aovs;
    const uint32_t samples = params.film.sample_end - params.film.sample_begin;
    AovSums<false> sums;
    for (uint32_t i = 0; i < samples; i++) {
        const uint32_t sample = params.film.sample_begin + i;
        const Path path = camera_path(params, x, y, sample);
        const Hit hit = w.hits[index * samples + i];
        sums.add(params, out, path, sample, hit, aov_weight(params, path), thread);
    }
    store_aovs(params, sums, x, y);
}

// Index of the path of entry `q` in the current wave.
THRONG_INLINE uint32_t path_of(const Wavefront& w, uint32_t q) { return w.wave ? w.owners[w.wave & 1][q] : q; }

// The kind of shading of a wave.
enum Shading { SHADE_VIEW, SHADE_WHITTED, SHADE_PATH, SHADE_LAYERED_PATH, SHADE_FOG_PATH };

// Whether paths are scattered, with a shadow ray in each wave.
THRONG_INLINE bool scatters(Shading shading) { return shading >= SHADE_PATH; }

template <Shading shading>
THRONG_INLINE void advance(const Params& params, Path& path, const Hit& hit, Step& step) {
    if (shading == SHADE_VIEW) view_step(params, path, hit, step);
    if (shading == SHADE_WHITTED) whitted_step(params, path, hit, step);
    if (shading == SHADE_PATH) path_step<false>(params, path, hit, step);
    if (shading == SHADE_LAYERED_PATH) path_step<true, false, false>(params, path, hit, step);
    if (shading == SHADE_FOG_PATH) path_step<true, true>(params, path, hit, step);
}

// Shades entry `q` of the current wave. `step` must be cleared before; the caller queues its rays and `path.ray`.
template <Shading shading>
THRONG_DEVICE void shade_ray(const Params& params, const Wavefront& w, uint32_t q, uint32_t owner, Path& path, Step& step) {
    const Ray ray = load_any_record(&w.rays[w.wave & 1][q]);
    path.ray = ray;
    if (ray.t_max < 0.0f) return;
    PathPlace place;
    path_place(params, w, owner, place);
    path = fresh_path(params, place.x, place.y, place.sample);
    path.ray = ray;
    if (!w.wave) open_cone(params, path);
    else {
        const PathState state = load_any_record(&w.paths[owner]);
        path.cone = state.cone_and_shadows & kConeMask;
        path.throughput = load3(state.throughput);
        path.radiance = load3(state.radiance);
        if (scatters(shading)) {
            const ScatterState scatter = load_any_record(&w.scatters[owner]);
            path.scatter = Scatter{load3(scatter.normal), scatter.pdf, scatter.passed};
            path.medium = scatter.medium;
            path.depth = scatter.depth;
        }
    }
    // If volumes may scatter paths, waves differ from bounces.
    if (!w.wave || shading < SHADE_LAYERED_PATH) path.depth = w.wave;
    advance<shading>(params, path, w.hits[q], step);
}

// Stores the state of a path for the next wave, and queues its shadow rays, starting at index `shadow`.
template <Shading shading>
THRONG_INLINE void store_path(const Wavefront& w, uint32_t owner, const Path& path, const Step& step, uint32_t shadow) {
    PathState state;
    store3(state.throughput, path.throughput);
    store3(state.radiance, path.radiance);
    state.first_shadow = shadow;
    state.cone_and_shadows = (path.cone & kConeMask) | step.shadow_count();
    uint32_t previous = NO_INDEX;
    if (scatters(shading)) {
        if (w.wave) previous = w.paths[owner].first_shadow;
        state.first_shadow = step.shadow_count() ? shadow + step.shadow_count() - 1 : previous;
        if (step.more) {
            ScatterState scatter;
            store3(scatter.normal, path.scatter.normal);
            scatter.pdf = path.scatter.pdf;
            scatter.passed = path.scatter.passed;
            // The stored values are kept, so that shading need not keep them in registers.
            if (shading >= SHADE_LAYERED_PATH && w.wave && step.straight > 0.0f) {
                scatter = w.scatters[owner];
                scatter.passed += step.straight;
            }
            scatter.medium = path.medium;
            scatter.depth = path.depth;
            w.scatters[owner] = scatter;
        }
    }
    w.paths[owner] = state;
    const Time time = time_of(path.ray);
    step.each_shadow_ray([&](const ShadowRay& ray, Vec3 blocked) {
        if (scatters(shading)) w.shadow_previous[shadow] = previous;
        previous = shadow;
        w.shadow_rays[shadow] = ray_of(ray.origin, ray.direction, ray.t_max, time);
        store3(w.shadow_lights[shadow].open, ray.open);
        store3(w.shadow_lights[shadow].blocked, blocked);
        shadow++;
    });
}

THRONG_INLINE Vec3 shadow_light(const Wavefront& w, uint32_t i) {
    return load3(w.shadow_blocked[i] ? w.shadow_lights[i].blocked : w.shadow_lights[i].open);
}

// Computes the light that reaches traced shadow ray `i` through panes.
THRONG_DEVICE void light_through_panes(const Params& params, const Wavefront& w, uint32_t i, Thread& thread) {
    if (!w.shadow_blocked[i]) return;
    const Vec3 share = share_through_panes(params, load_any_record(&w.shadow_rays[i]), thread.stack);
    store3(w.shadow_lights[i].blocked, load3(w.shadow_lights[i].open) * share);
}

// Radiance of a path after its shadow rays were traced.
THRONG_INLINE Vec3 path_radiance(const Params& params, const Wavefront& w, const PathState& state) {
    Vec3 radiance = load3(state.radiance);
    if (integrator_of(params) == Integrator::path) {
        for (uint32_t i = state.first_shadow; i != NO_INDEX; i = w.shadow_previous[i]) radiance += shadow_light(w, i);
        return radiance;
    }
    for (uint32_t i = state.first_shadow; i < state.first_shadow + (state.cone_and_shadows & ~kConeMask); i++) radiance += shadow_light(w, i);
    return radiance;
}

// Adds the light of traced shadow rays to path `p`, and starts a new chain of shadow rays for it. Paths past the edge have no state.
THRONG_DEVICE void gather_shadows(const Params& params, const Wavefront& w, uint32_t p) {
    PathPlace place;
    if (!path_place(params, w, p, place)) return;
    PathState state = load_any_record(&w.paths[p]);
    store3(state.radiance, path_radiance(params, w, state));
    state.first_shadow = NO_INDEX;
    w.paths[p] = state;
}

// Adds the finished samples of item `index`, which is pixel (x, y), to the film.
template <class Sum>
THRONG_INLINE void finish_samples(const Params& params, const Wavefront& w, uint32_t index, uint32_t x, uint32_t y) {
    const uint32_t samples = params.film.sample_end - params.film.sample_begin;
    Sum sum(params, film_pixel(params, x, y));
    // Offsets are recomputed if they are needed, because path states do not store them.
    const bool counts = params.picture.filter_signed || shares_samples(params);
    for (uint32_t i = 0; i < samples; i++) {
        const uint32_t sample = params.film.sample_begin + i;
        const Vec2 offset = counts ? sample_offset(params, x, y, pixel_sampler(params, x, y, sample)) : Vec2{0.0f, 0.0f};
        sum.add(params, x, y, sample, offset, path_radiance(params, w, load_any_record(&w.paths[uint64_t(index) * samples + i])));
    }
    sum.store();
}

THRONG_DEVICE void finish_item(const Params& params, const Wavefront& w, uint32_t index) {
    uint32_t x, y;
    if (!item_pixel(params, w.first_item + index, x, y)) return;
    if (params.film.exact) finish_samples<ExactFilmSum>(params, w, index, x, y);
    else finish_samples<FilmSum>(params, w, index, x, y);
}

}

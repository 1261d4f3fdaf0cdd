// The order in which a CPU processes items: one by one, or in packets if rays of neighbouring items are coherent.
#pragma once
#include "film/aovs.h"
#ifndef THRONG_COMPRESSED
#include "bvh/packet.h"
#endif

namespace THRONG_NAMESPACE {

template <void (*kernel)(const Params&, uint32_t, Thread&)>
struct Batch {
    static void run(const Params& params, uint32_t begin, uint32_t end, Thread& thread) {
        for (uint32_t item = begin; item < end; item++) kernel(params, item, thread);
    }
};

#ifndef THRONG_COMPRESSED

// Calls `visit(first, count)` for the items in packet-sized portions, until the launch must end.
template <class Visit>
THRONG_INLINE void each_packet(const Params& params, uint32_t begin, uint32_t end, Visit&& visit) {
    for (uint32_t first = begin; first < end && !is_ended(params); first += kPacketRays) visit(first, end - first < kPacketRays ? end - first : kPacketRays);
}

template <>
struct Batch<trace_closest> {
    static void run(const Params& params, uint32_t begin, uint32_t end, Thread& thread) {
        if (thread.stacks == 1) {
            each_packet(params, begin, end, [&](uint32_t first, uint32_t count) { closest_hits(params, params.query.rays + first, count, params.query.hits + first, thread); });
            return;
        }
        uint32_t apart[kMaxInterleaved], waiting = 0;
        const auto trace_waiting = [&] {
            closest_hits_interleaved(params, params.query.rays, apart, waiting, params.query.hits, thread);
            waiting = 0;
        };
        each_packet(params, begin, end, [&](uint32_t first, uint32_t count) {
            if (closest_hits_together(params, params.query.rays + first, count, params.query.hits + first, thread)) return;
            if (waiting + count > kMaxInterleaved) trace_waiting();
            for (uint32_t i = 0; i < count; i++) apart[waiting++] = first + i;
        });
        trace_waiting();
    }
};

template <>
struct Batch<trace_any> {
    static void run(const Params& params, uint32_t begin, uint32_t end, Thread& thread) {
        each_packet(params, begin, end, [&](uint32_t first, uint32_t count) {
            const uint32_t blocked = any_hits(params, params.query.rays + first, count, thread);
            for (uint32_t i = 0; i < count; i++) params.query.hits[first + i] = blocked_hit(blocked >> i & 1u);
        });
    }
};

THRONG_INLINE bool is_same(const Ray& a, const Ray& b) {
    bool same = a.t_min == b.t_min && a.t_max == b.t_max;
    for (int k = 0; k < 3; k++) same &= a.origin[k] == b.origin[k] && a.direction[k] == b.direction[k];
    return same;
}

// Sixteen consecutive items are a square of 4x4 pixels, whose camera rays form a packet. AOVs are gathered from the hits of these rays.
template <bool with_aovs>
struct RenderBatch {
    static void run(const Params& params, uint32_t begin, uint32_t end, Thread& thread) {
        if (integrator_of(params) == Integrator::steps) {
            for (uint32_t item = begin; item < end; item++) {
                if constexpr (with_aovs) render_with_aovs(params, item, thread);
                else render_pixel(params, item, thread);
            }
            return;
        }
        each_packet(params, begin, end, [&](uint32_t first, uint32_t count) { render_square(params, first, count, thread); });
    }

    static void render_square(const Params& params, uint32_t first, uint32_t items, Thread& thread) {
        uint32_t x[kPacketRays], y[kPacketRays], count = 0;
        for (uint32_t item = first; item < first + items; item++)
            if (item_pixel(params, item, x[count], y[count])) count++;
        AovSums<false> sums[with_aovs ? kPacketRays : 1];
        for (uint32_t sample = params.film.sample_begin; sample < params.film.sample_end && !is_ended(params); sample++) {
            Path paths[kPacketRays];
            Ray rays[kPacketRays];
            Hit hits[kPacketRays];
            for (uint32_t i = 0; i < count; i++) {
                paths[i] = camera_path(params, x[i], y[i], sample);
                rays[i] = paths[i].ray;
            }
            closest_hits(params, rays, count, hits, thread);
            if constexpr (with_aovs) {
                const FrameAovs& out = *params.film.aovs;
                MirrorRay seen[kPacketRays];
                Surface surfaces[kPacketRays];
                float weights[kPacketRays];
                for (uint32_t i = 0; i < count; i++) {
                    weights[i] = aov_weight(params, paths[i]);
                    surfaces[i] = surface_at(params, rays[i], hits[i]);
                    sums[i].add_met(params, out, paths[i], sample, hits[i], surfaces[i], weights[i], thread);
                    if (out.motion) seen[i].begin(params, sums[i].mirror, paths[i], sample, hits[i], surfaces[i]);
                }
                // Rays that paths trace anyway are not traced twice.
                const auto follow = [&](uint32_t i, const Hit& hit) -> const Surface* {
                    if (!out.motion || !seen[i].waits || !is_same(seen[i].ray, paths[i].ray)) return nullptr;
                    surfaces[i] = surface_at(params, seen[i].ray, hit);
                    seen[i].meet(params, sums[i].mirror, hit, surfaces[i]);
                    return &surfaces[i];
                };
                with_step(params, [&](auto advance) { walk_square(params, paths, hits, surfaces, count, thread, advance, follow); });
                for (uint32_t i = 0; i < count && out.motion; i++) {
                    seen[i].finish(params, sums[i].mirror, thread.stack);
                    sums[i].add_motion(params, out, seen[i], weights[i]);
                }
            } else {
                with_step(params, [&](auto advance) { walk_square(params, paths, hits, nullptr, count, thread, advance, [](uint32_t, const Hit&) { return nullptr; }); });
            }
            for (uint32_t i = 0; i < count; i++) add_to_film(params, x[i], y[i], sample, paths[i].offset, paths[i].radiance);
        }
        if constexpr (with_aovs)
            for (uint32_t i = 0; i < count; i++) {
                store_aovs(params, sums[i], x[i], y[i]);
                store_variance(params, film_pixel(params, x[i], y[i]));
            }
    }

    // Traces paths to their ends, all of them bounce by bounce. Shadow rays to one light, and rays reflected by one mirror, are coherent; others can
    // be interleaved. Calls `follow(path, hit)` for each hit after the first; it may return the already computed surface, as may `first_surfaces` for
    // the first hits.
    template <class Advance, class Follow>
    static void walk_square(const Params& params, Path* paths, const Hit* first_hits, const Surface* first_surfaces, uint32_t count, Thread& thread, Advance advance, Follow follow) {
        thread.primary_rays += count;
        uint32_t open[kPacketRays];
        Hit hits[kPacketRays];
        const Surface* known[kPacketRays];
        for (uint32_t i = 0; i < count; i++) {
            open[i] = i;
            hits[i] = first_hits[i];
            known[i] = first_surfaces ? first_surfaces + i : nullptr;
        }
        while (count) {
            Step steps[kPacketRays];
            for (uint32_t i = 0; i < count; i++) advance(paths[open[i]], hits[i], steps[i], known[i]);
            // First rays first, then the rays to one light after another.
            for (uint32_t kind = 0; kind < kMaxShadowRays; kind++) trace_shadow_rays(params, paths, open, steps, count, kind, thread);
            uint32_t left = 0;
            Ray rays[kPacketRays];
            for (uint32_t i = 0; i < count; i++) {
                if (!steps[i].more) continue;
                rays[left] = paths[open[i]].ray;
                open[left++] = open[i];
            }
            closest_hits(params, rays, left, hits, thread);
            for (uint32_t i = 0; i < left; i++) known[i] = follow(open[i], hits[i]);
            thread.bounce_rays += left;
            count = left;
        }
    }

    // Traces one kind of the steps' shadow rays and adds their light to the paths.
    static void trace_shadow_rays(const Params& params, Path* paths, const uint32_t* open, const Step* steps, uint32_t count, uint32_t kind, Thread& thread) {
        Ray rays[kPacketRays];
        uint32_t from[kPacketRays], asked = 0;
        for (uint32_t i = 0; i < count; i++) {
            const Step& step = steps[i];
            if (kind == 0 ? !step.has_first : kind > step.light_rays) continue;
            const ShadowRay& shadow = kind == 0 ? step.first : step.lights[kind - 1];
            rays[asked] = ray_of(shadow.origin, shadow.direction, shadow.t_max, time_of(paths[open[i]].ray));
            from[asked++] = i;
        }
        const uint32_t blocked = asked ? any_hits(params, rays, asked, thread) : 0;
        thread.shadow_rays += asked;
        for (uint32_t i = 0; i < asked; i++) {
            const Step& step = steps[from[i]];
            const bool is_blocked = blocked >> i & 1u;
            const Vec3 open_light = kind == 0 ? step.first.open : step.lights[kind - 1].open;
            Vec3 blocked_light = kind == 0 ? step.first_blocked : vec3(0.0f);
            if (is_blocked && has_panes(params)) blocked_light = open_light * share_through_panes(params, rays[i], thread.stack);
            paths[open[from[i]]].radiance += is_blocked ? blocked_light : open_light;
        }
    }
};

template <>
struct Batch<render_pixel> : RenderBatch<false> {};
template <>
struct Batch<render_with_aovs> : RenderBatch<true> {};

// Camera rays of squares of 4x4 pixels form packets here as well.
template <bool exact>
struct AovBatch {
    static void run(const Params& params, uint32_t begin, uint32_t end, Thread& thread) {
        each_packet(params, begin, end, [&](uint32_t first, uint32_t count) { gather_square(params, first, count, thread); });
    }

    static void gather_square(const Params& params, uint32_t first, uint32_t items, Thread& thread) {
        const FrameAovs& out = *params.film.aovs;
        uint32_t x[kPacketRays], y[kPacketRays], ends[kPacketRays], count = 0, last = 0;
        uint64_t pixels[kPacketRays];
        for (uint32_t item = first; item < first + items; item++) {
            if (!item_pixel(params, item, x[count], y[count])) continue;
            pixels[count] = film_pixel(params, x[count], y[count]);
            ends[count] = aov_sample_end(params, pixels[count]);
            if (ends[count] > last) last = ends[count];
            count++;
        }
        if (has_met_aovs(out)) gather_met(params, x, y, ends, last, count, thread);
        for (uint32_t i = 0; i < count; i++) store_variance(params, pixels[i]);
    }

    // Gathers AOVs from the camera rays of pixels, each up to its own number of samples.
    static void gather_met(const Params& params, const uint32_t* x, const uint32_t* y, const uint32_t* ends, uint32_t last, uint32_t count, Thread& thread) {
        const FrameAovs& out = *params.film.aovs;
        AovSums<exact> sums[kPacketRays];
        for (uint32_t sample = params.film.sample_begin; sample < last && !is_ended(params); sample++) {
            Ray rays[kPacketRays];
            Hit hits[kPacketRays];
            float weights[kPacketRays];
            Path paths[kPacketRays];
            uint32_t of[kPacketRays], asked = 0;
            for (uint32_t i = 0; i < count; i++) {
                if (sample >= ends[i]) continue;
                paths[asked] = camera_path(params, x[i], y[i], sample);
                rays[asked] = paths[asked].ray;
                weights[asked] = aov_weight(params, paths[asked]);
                of[asked++] = i;
            }
            closest_hits(params, rays, asked, hits, thread);
            for (uint32_t k = 0; k < asked; k++) sums[of[k]].add(params, out, paths[k], sample, hits[k], weights[k], thread);
        }
        for (uint32_t i = 0; i < count; i++) store_aovs(params, sums[i], x[i], y[i]);
    }
};

template <>
struct Batch<gather_aovs> : AovBatch<false> {};
template <>
struct Batch<gather_exact_aovs> : AovBatch<true> {};

#endif

}

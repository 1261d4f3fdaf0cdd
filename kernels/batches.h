// How a CPU works through items: one after the other or, where rays of neighbouring items have much in common, in packets.
#pragma once
#include "layers.h"
#ifndef THRONG_COMPRESSED
#include "packet.h"
#endif

namespace THRONG_NAMESPACE {

template <void (*kernel)(const Params&, uint32_t, Thread&)>
struct Batch {
    static void run(const Params& params, uint32_t begin, uint32_t end, Thread& thread) {
        for (uint32_t item = begin; item < end; item++) kernel(params, item, thread);
    }
};

#ifndef THRONG_COMPRESSED

// Calls `visit(first, count)` for the items in portions of a packet.
template <class Visit>
THRONG_INLINE void each_packet(uint32_t begin, uint32_t end, Visit&& visit) {
    for (uint32_t first = begin; first < end; first += kPacketRays) visit(first, end - first < kPacketRays ? end - first : kPacketRays);
}

template <>
struct Batch<trace_closest> {
    static void run(const Params& params, uint32_t begin, uint32_t end, Thread& thread) {
        each_packet(begin, end, [&](uint32_t first, uint32_t count) { closest_hits(params, params.rays + first, count, params.hits + first, thread); });
    }
};

template <>
struct Batch<trace_any> {
    static void run(const Params& params, uint32_t begin, uint32_t end, Thread& thread) {
        each_packet(begin, end, [&](uint32_t first, uint32_t count) {
            const uint32_t blocked = any_hits(params, params.rays + first, count, thread);
            for (uint32_t i = 0; i < count; i++) params.hits[first + i] = blocked_hit(blocked >> i & 1u);
        });
    }
};

// Sixteen items in a row are a square of 4x4 pixels, whose camera rays go as a packet.
template <>
struct Batch<render_pixel> {
    static void run(const Params& params, uint32_t begin, uint32_t end, Thread& thread) {
        if (params.integrator == INTEGRATOR_STEPS) {
            for (uint32_t item = begin; item < end; item++) render_pixel(params, item, thread);
            return;
        }
        each_packet(begin, end, [&](uint32_t first, uint32_t count) { render_square(params, first, count, thread); });
    }

    static void render_square(const Params& params, uint32_t first, uint32_t items, Thread& thread) {
        uint32_t x[kPacketRays], y[kPacketRays], count = 0;
        for (uint32_t item = first; item < first + items; item++)
            if (item_pixel(params, item, x[count], y[count])) count++;
        for (uint32_t sample = params.sample_begin; sample < params.sample_end; sample++) {
            Path paths[kPacketRays];
            Ray rays[kPacketRays];
            Hit hits[kPacketRays];
            for (uint32_t i = 0; i < count; i++) {
                paths[i] = camera_path(params, x[i], y[i], sample);
                rays[i] = paths[i].ray;
            }
            closest_hits(params, rays, count, hits, thread);
            for (uint32_t i = 0; i < count; i++) {
                FilmSum sum(params, y[i] * params.width + x[i]);
                sum.add(params, x[i], y[i], sample, integrate(params, paths[i], hits[i], thread));
                sum.store();
            }
        }
    }
};

#endif

}

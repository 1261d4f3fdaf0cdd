// Primary rays: pixels in 8x8 tiles, with positions inside the pixel sampled from the reconstruction filter.
#pragma once
#include "camera/distortion.h"
#include "camera/lens.h"
#include "camera/views.h"
#include "geom/motion.h"

namespace THRONG_NAMESPACE {

// Sampler dimensions of a path, each a pair of numbers: one for the pixel filter, then a block per bounce.
constexpr uint32_t kDimensionFilter = 0;

// Packs every second bit of a six-bit number, starting at the lowest.
THRONG_INLINE uint32_t even_bits(uint32_t x) { return (x & 1u) | (x >> 1 & 2u) | (x >> 2 & 4u); }

// Computes the pixel of a work item. Items are ordered by 8x8 tiles, and in each tile along a Z-order curve, so that neighbours in a batch have
// similar paths. Returns false for items past the right and lower edges of the film.
THRONG_INLINE bool item_pixel(const Params& params, uint32_t item, uint32_t& x, uint32_t& y) {
    uint32_t tiles_x = (params.film.width + 7) / 8, tile = params.film.tiles ? params.film.tiles[item / 64] : item / 64, inner = item % 64;
    const uint32_t film_x = tile % tiles_x * 8 + even_bits(inner), film_y = tile / tiles_x * 8 + even_bits(inner >> 1);
    x = params.film.left + film_x;
    y = params.film.top + film_y;
    return film_x < params.film.width && film_y < params.film.height;
}

// Index in the film of a pixel of the picture; the film may cover only a region.
THRONG_INLINE uint32_t film_pixel(const Params& params, uint32_t x, uint32_t y) { return (y - params.film.top) * params.film.width + (x - params.film.left); }

// Inverse error function in single precision (Giles 2010).
THRONG_DEVICE float inverse_erf(float x) {
    float w = -natural_log((1.0f - x) * (1.0f + x));
    if (w < 5.0f) {
        w -= 2.5f;
        float p = 2.81022636e-08f;
        p = 3.43273939e-07f + p * w;
        p = -3.5233877e-06f + p * w;
        p = -4.39150654e-06f + p * w;
        p = 0.00021858087f + p * w;
        p = -0.00125372503f + p * w;
        p = -0.00417768164f + p * w;
        p = 0.246640727f + p * w;
        return (1.50140941f + p * w) * x;
    }
    w = sqrtf(w) - 3.0f;
    float p = -0.000200214257f;
    p = 0.000100950558f + p * w;
    p = 0.00134934322f + p * w;
    p = -0.00367342844f + p * w;
    p = 0.00573950773f + p * w;
    p = -0.0076224613f + p * w;
    p = 0.00943887047f + p * w;
    p = 1.00167406f + p * w;
    return (2.83297682f + p * w) * x;
}

// Distance from the pixel's centre along one axis, distributed like the filter (or its magnitude, where it is negative). Sampling the filter instead
// of weighting with it keeps every pixel independent of its neighbours. Unless scaled, the Gaussian has a sigma of 0.5 and is cut at 1.5 pixels (3
// sigma).
THRONG_DEVICE float filter_offset(const Params& params, float u) {
    if (params.picture.filter == FILTER_GAUSSIAN) return params.picture.filter_scale * (0.70710678f * inverse_erf(0.9973f * (2.0f * u - 1.0f)));
    if (params.picture.filter == FILTER_BOX) return params.picture.filter_scale * (2.0f * u - 1.0f);
    if (params.picture.filter == FILTER_TENT) {
        const float side = 1.0f - sqrtf(max(0.0f, 1.0f - fabsf(2.0f * u - 1.0f)));
        return params.picture.filter_scale * (u < 0.5f ? -side : side);
    }
    const float place = u * float(FILTER_STEPS);
    const uint32_t step = uint32_t(place);
    const float* table = params.scene.filter_tables + params.picture.filter_table;
    const float a = table[step], b = table[step + 1];
    return params.picture.filter_scale * (a + (b - a) * (place - float(step)));
}

// Interval along one axis, relative to the pixel's centre, in which shared samples are uniformly distributed (film/share.h). It is the pixel at
// `place` of `count` and, at the picture's edges, extends as far as the Gaussian of the edge pixel.
struct SharedSpan {
    float begin, length;
};

THRONG_INLINE SharedSpan shared_span(uint32_t place, uint32_t count) {
    const float begin = place == 0 ? -1.5f : -0.5f, end = place + 1 == count ? 1.5f : 0.5f;
    return SharedSpan{begin, end - begin};
}

// Offset of a sample from the centre of its pixel (x, y).
THRONG_DEVICE Vec2 sample_offset(const Params& params, uint32_t x, uint32_t y, const Sampler& sampler) {
    const Vec2 u = sample_2d(sampler, kDimensionFilter);
    if (params.picture.filter != FILTER_SHARED) return Vec2{filter_offset(params, u.x), filter_offset(params, u.y)};
    const SharedSpan across = shared_span(x, params.film.picture_width), down = shared_span(y, params.film.picture_height);
    return Vec2{across.begin + across.length * u.x, down.begin + down.length * u.y};
}

// Whether a sample has a negative weight. The filter is a product of both axes, so the weight is negative in the lobe of exactly one axis.
THRONG_INLINE bool is_negative(const Params& params, Vec2 offset) {
    // Mitchell's cubic, which ends at 2 pixels, changes its sign at 8/7.
    const float lobe = params.picture.filter_scale * (4.0f / 7.0f);
    return params.picture.filter_signed && (fabsf(offset.x) > lobe) != (fabsf(offset.y) > lobe);
}

// Direction at a longitude and latitude, both from -1 to 1 across the picture; 0 is forward. Coordinates past a pole continue on the other side.
THRONG_DEVICE Vec3 panorama_direction(const CameraRecord& camera, float x, float y) {
    float turn = 0.5f * x, lift = 0.25f * y, sine, cosine, height, level;
    sine_cosine(turn - floorf(turn), sine, cosine);
    sine_cosine(lift - floorf(lift), height, level);
    return (load3(camera.forward) * cosine + load3(camera.right) * sine) * level + load3(camera.up) * height;
}

// The camera of a view at a time in the shutter interval. Cameras that move have no batches.
THRONG_DEVICE CameraRecord camera_at(const Params& params, uint32_t view, Time time) {
    if (!params.keys.camera_segments) return with_camera(params, view, [](const CameraRecord& camera) { return camera; });
    const KeySpan span = key_span(params.keys.camera_segments, time);
    CameraRecord camera = params.keys.cameras[span.key];
    const CameraRecord& next = params.keys.cameras[span.key + 1];
    for (int i = 0; i < 3; i++) {
        camera.origin[i] = between(camera.origin[i], next.origin[i], span.share);
        camera.forward[i] = between(camera.forward[i], next.forward[i], span.share);
        camera.right[i] = between(camera.right[i], next.right[i], span.share);
        camera.up[i] = between(camera.up[i], next.up[i], span.share);
        camera.lens_right[i] = between(camera.lens_right[i], next.lens_right[i], span.share);
        camera.lens_up[i] = between(camera.lens_up[i], next.lens_up[i], span.share);
    }
    for (int i = 0; i < 2; i++) camera.shift[i] = between(camera.shift[i], next.shift[i], span.share);
    // A pinhole is a lens of zero width without a focus distance.
    if (!(camera.focus > 0.0f)) {
        camera.focus = next.focus;
        camera.blades = next.blades;
        camera.blade_turn = next.blade_turn;
    } else if (next.focus > 0.0f) camera.focus = between(camera.focus, next.focus, span.share);
    if (camera.kind == CAMERA_ORTHOGRAPHIC) store3(camera.forward, normalize_or(load3(camera.forward), vec3(0.0f, 0.0f, -1.0f)));
    return camera;
}

// Whether a camera may see what is behind it. Its depths are distances from the eye.
THRONG_INLINE bool sees_around(const CameraRecord& camera) { return camera.kind == CAMERA_EQUIRECTANGULAR || camera.kind == CAMERA_FISHEYE; }

// Height of a pixel at the centre of a picture: of a camera with parallel rays in scene units, of others in scene units at a distance of 1.
THRONG_INLINE float central_pixel_size(const Params& params, const CameraRecord& camera) {
    const float rows = float(params.film.picture_height);
    if (camera.kind == CAMERA_EQUIRECTANGULAR) return kPi / rows;
    return 2.0f * (camera.kind == CAMERA_FISHEYE || camera.kind == CAMERA_RATIONAL ? camera.scale[1] : length(load3(camera.up))) / rows;
}

THRONG_DEVICE Ray camera_ray(const Params& params, const CameraRecord& camera, float x, float y) {
    float sx = 2.0f * x / float(params.film.picture_width) - 1.0f, sy = 1.0f - 2.0f * y / float(params.film.picture_height);
    bool parallel = camera.kind == CAMERA_ORTHOGRAPHIC;
    // From the eye to a point of the picture; for parallel rays, from the centre of the picture to the point.
    Vec3 from = parallel ? load3(camera.origin) : load3(camera.forward);
    Vec3 d = from + load3(camera.right) * (sx + camera.shift[0]) + load3(camera.up) * (sy + camera.shift[1]);
    if (camera.kind == CAMERA_EQUIRECTANGULAR) d = panorama_direction(camera, sx, sy);
    if (camera.kind >= CAMERA_RATIONAL) d = distorted_direction(camera, (sx + camera.shift[0]) * camera.scale[0], (sy + camera.shift[1]) * camera.scale[1]);
    Ray ray;
    store3(ray.origin, parallel ? d : load3(camera.origin));
    ray.t_min = 0.0f;
    store3(ray.direction, parallel ? load3(camera.forward) : normalize_or(d, load3(camera.forward)));
    ray.t_max = kInfinity;
    return ray;
}

// The camera ray through a random point of the lens, if there is one.
THRONG_INLINE Ray lens_ray(const Params& params, const CameraRecord& camera, const Sampler& sampler, float x, float y) {
    Ray ray = camera_ray(params, camera, x, y);
    if (camera.focus > 0.0f) through_lens(camera, sample_2d(sampler, DIMENSION_LENS), ray);
    return ray;
}

}

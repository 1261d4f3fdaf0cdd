// A path through the scene and a step of it, which integrators and schedules share.
#pragma once
#include "geom/footprint.h"

namespace THRONG_NAMESPACE {

// The last scattering event of a path, for multiple importance sampling between light that the path hits and light that was sampled at the event.
struct Scatter {
    // Shading normal; zero if light was gathered from all directions.
    Vec3 normal;
    // Pdf of the sampled direction, per solid angle; infinite for deterministic directions: at cameras and perfect mirrors.
    float pdf;
    // Distance from the event to the current ray's origin, straight through panes.
    float passed;
};

struct Path {
    Ray ray;
    Vec3 throughput, radiance;
    uint32_t depth;
    Sampler sampler;
    // Offset of the camera ray from the centre of its pixel.
    Vec2 offset;
    Scatter scatter;
    // `RayCone` around the ray, packed, for footprints on textures; 0 for none.
    uint32_t cone;
    // Material of the volume that the path is in, or NO_INDEX.
    uint32_t medium;
    // View of the path's pixel.
    uint32_t view;
};

// Maximum number of shadow rays per step: one to the sky or from the fog, and one each to up to three lights.
constexpr uint32_t kMaxShadowRays = 4;

// A shadow ray, and the light that the path gains if it is not blocked.
struct ShadowRay {
    Vec3 origin, direction;
    float t_max;
    Vec3 open;
};

// The rays to trace after a hit. The first shadow ray, if there is one, is Whitted's sky ray, which adds light even if blocked, or the path tracer's
// ray from the fog. Small, because the lights' rays are stored in memory on a GPU.
struct Step {
    bool more, has_first;
    // Length of the path's ray if it continues straight through a pane, as if not scattered there; otherwise 0.
    float straight;
    ShadowRay first;
    Vec3 first_blocked;
    uint32_t light_rays;
    ShadowRay lights[kMaxShadowRays - 1];

    THRONG_INLINE void clear() {
        more = has_first = false;
        straight = 0.0f;
        light_rays = 0;
    }
    THRONG_INLINE uint32_t shadow_count() const { return light_rays + (has_first ? 1u : 0u); }
    // Calls `visit` with each shadow ray and the light that it adds if it is blocked.
    template <class Visit>
    THRONG_INLINE void each_shadow_ray(Visit visit) const {
        if (has_first) visit(first, first_blocked);
        for (uint32_t i = 0; i < light_rays; i++) visit(lights[i], vec3(0.0f));
    }
};

THRONG_INLINE Ray ray_of(Vec3 origin, Vec3 direction, float t_max, Time time) {
    Ray ray;
    store3(ray.origin, origin);
    ray.t_min = time.value();
    store3(ray.direction, direction);
    ray.t_max = t_max;
    return ray;
}

// Sampler dimensions after the pixel filter: a block per bounce.
constexpr uint32_t kDimensionBounce = 1, kDimensionsPerBounce = 1 + 2 * kMaxShadowRays;

THRONG_INLINE uint32_t bounce_dimension(const Path& path, uint32_t offset) {
    return kDimensionBounce + path.depth * kDimensionsPerBounce + offset;
}

// Random numbers of a sample of pixel (x, y) of the film. They are a function of the pixel's place in its own picture.
THRONG_INLINE Sampler pixel_sampler(const Params& params, uint32_t x, uint32_t y, uint32_t sample) {
    const ViewRow row = view_row(params, y);
    return make_sampler(x, row.y, sample, params.picture.sample_bits, view_seed(params, row.view));
}

// The state of a path through pixel (x, y) of the film before its first hit, without its ray and the ray's offset.
THRONG_INLINE Path fresh_path(const Params& params, uint32_t x, uint32_t y, uint32_t sample) {
    Path path;
    path.sampler = pixel_sampler(params, x, y, sample);
    path.offset = Vec2{0.0f, 0.0f};
    path.throughput = vec3(1.0f);
    path.radiance = vec3(0.0f);
    path.depth = 0;
    path.scatter = Scatter{vec3(0.0f), kInfinity, 0.0f};
    path.cone = 0;
    path.medium = NO_INDEX;
    path.view = view_row(params, y).view;
    return path;
}

// Whether this camera path leaves the scene in a picture with a transparent background, so that it adds no light.
THRONG_INLINE bool is_transparent(const Params& params, const Path& path) { return params.picture.transparent && path.depth == 0; }

// Whether this camera path ends at a surface of the material, because the background is visible there.
THRONG_INLINE bool is_hidden(const Path& path, const MaterialRecord& material) {
    return path.depth == 0 && material.flags & (SURFACE_HOLDOUT | SURFACE_SHADOW_CATCHER);
}

// Width of what a sample represents, relative to its pixel. It falls with the sample's number, so that a sample does not depend on how many follow.
// By the fourth root, because for a tiled floor with 5, 16 and 64 samples this had less error (FLIP) than the square root and the cube root.
THRONG_INLINE float sample_width(const Params& params, const Sampler& sampler) {
    const uint32_t sample = reverse_bits(sampler.reversed_index) & ((1u << params.picture.sample_bits) - 1u);
    return kConeScale / sqrtf(sqrtf(float(sample + 1u)));
}

// Width in radians of the part of the sky that a camera ray's cone covers; 0 for other rays. In curved mirrors, the mean of an image over cones was further
// from the truth than points (dragon_of_dragons with 4 samples).
THRONG_INLINE float sky_spread(const Path& path) { return path.depth == 0 ? unpack_cone(path.cone).spread : 0.0f; }

// Sets the cone of a path's camera ray.
THRONG_INLINE void open_cone(const Params& params, Path& path) {
    if (!filters_textures(params)) return;
    const Vec3 direction = load3(path.ray.direction);
    const RayCone pixel = with_camera(params, path.view, [&](const CameraRecord& camera) { return pixel_cone(params, camera, direction); });
    const float width = sample_width(params, path.sampler);
    path.cone = pack_cone(RayCone{pixel.width * width, pixel.spread * width});
}

// Writes the footprint of the surface at a hit, of which a material with these flags is made. The surface refers to it.
THRONG_INLINE void set_footprint(const Params& params, uint32_t packed, const Ray& ray, const Hit& hit, uint32_t flags, Surface& s, Footprint& footprint) {
    footprint = no_footprint();
    s.footprint = &footprint;
    if (!(flags & SURFACE_MAPPED) || !packed) return;
    const RayCone cone = unpack_cone(packed);
    footprint = footprint_at(params, hit, s.time, load3(ray.direction), s.position, s.geometric, cone.width + cone.spread * hit.t);
}

// Continues the cone of a path that leaves a hit at this distance in a direction that was sampled with this pdf per solid angle. An infinite pdf leaves
// the cone as it is.
THRONG_INLINE void continue_cone(const Params& params, Path& path, float distance, float pdf) {
    if (!path.cone) return;
    RayCone cone = unpack_cone(path.cone);
    cone.width += cone.spread * distance;
    if (pdf < kInfinity) cone.spread = max(cone.spread, kBounceSpread * sample_width(params, path.sampler) / sqrtf(pdf));
    path.cone = pdf < kInfinity && cone.spread > kWidest ? 0 : pack_cone(cone);
}

// Widens the cone of a camera ray that a curved surface mirrors. Only at the first hit: further mirrors show too little of it, and this takes time.
THRONG_INLINE void bend_cone(const Params& params, Path& path, const Hit& hit, const Surface& s) {
    if (!path.cone || path.depth > 0) return;
    RayCone cone = unpack_cone(path.cone);
    const float turn = (s.front ? 2.0f : -2.0f) * curvature_at(params, hit, s.time) * (cone.width + cone.spread * hit.t);
    cone.spread = min(fabsf(cone.spread + turn), 1.0f);
    path.cone = pack_cone(cone);
}

// Starts a path through pixel (x, y) of the film.
THRONG_DEVICE Path camera_path(const Params& params, uint32_t x, uint32_t y, uint32_t sample) {
    Path path = fresh_path(params, x, y, sample);
    path.offset = sample_offset(params, x, y, path.sampler);
    const float image_x = float(x) + 0.5f + path.offset.x, image_y = float(view_row(params, y).y) + 0.5f + path.offset.y;
    if (moves(params)) {
        const Time time = Time::at(sample_2d(path.sampler, DIMENSION_TIME).x);
        path.ray = lens_ray(params, camera_at(params, path.view, time), path.sampler, image_x, image_y);
        path.ray.t_min = time.value();
    } else {
        path.ray = with_camera(params, path.view, [&](const CameraRecord& camera) { return lens_ray(params, camera, path.sampler, image_x, image_y); });
    }
    open_cone(params, path);
    return path;
}

THRONG_DEVICE Vec3 mirror_direction(Vec3 d, const Surface& s) {
    Vec3 r = d - s.shading * (2.0f * dot(d, s.shading));
    // A bent shading normal may reflect into the surface; reflecting the ray back over the tangent plane is continuous.
    float below = dot(r, s.geometric);
    if (below < 0.0f) r = r - s.geometric * (2.0f * below);
    return normalize_or(r, s.geometric);
}

}

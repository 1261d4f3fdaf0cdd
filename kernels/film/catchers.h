// Shadow catchers, which show only the light that other surfaces block, and coverage, which pixels share like samples.
#pragma once
#include "film/film.h"

namespace THRONG_NAMESPACE {

// Number of lights sampled per camera ray hit on a shadow catcher. More than one, because the film converges quickly if it shows nothing else.
constexpr uint32_t kCatcherLights = 8;

// Luminance of the light that arrives at a shadow catcher without occlusion, and the part of it that is blocked.
struct CaughtLight {
    float open, blocked;
};

// Factor of the shadow on shadow catchers in a pixel of the film, which falls from 1 to 0 within `margin` pixels of the picture's edges.
THRONG_DEVICE float shade_fade(const Params& params, float margin, uint64_t pixel) {
    if (!(margin > 0.0f)) return 1.0f;
    const FilmParams& film = params.film;
    const uint32_t row = view_row(params, uint32_t(pixel / film.width)).y;
    const float x = float(film.left + uint32_t(pixel % film.width)) + 0.5f, y = float(film.top + row) + 0.5f;
    const float across = min(x, float(film.picture_width) - x), down = min(y, float(film.picture_height) - y);
    const float t = clamp(min(across, down) / margin, 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

// Samples one light at a camera ray hit, with the random numbers of a bounce. Outlined, because most scenes have no shadow catchers.
THRONG_OUTLINE CaughtLight light_at_catcher(const Params& params, const Path& path, const Hit& hit, const Surface& s, StackEntry* stack) {
    const CaughtLight none{0.0f, 0.0f};
    const float choice = sample_2d(path.sampler, bounce_dimension(path, kBounceLight)).x;
    LightSample sampled;
    if (!sample_light(params, s.position, s.shading, s.time, false, choice, sample_2d(path.sampler, bounce_dimension(path, kBouncePoint)), sampled)) return none;
    const float light = luminance(sampled.light) * dot(sampled.direction, s.shading);
    const Departure departure = depart(params, hit, s, sampled.direction);
    if (!(light > 0.0f) || departure.behind) return none;
    const ShadowRay shadow = shadow_ray(s, sampled, departure.origin, vec3(0.0f));
    const bool is_blocked = any_hit(params, ray_of(shadow.origin, shadow.direction, shadow.t_max, s.time), stack);
    return CaughtLight{light, is_blocked ? light : 0.0f};
}

// Coverage contributed to a pixel and its neighbours: the samples' coverage, or the environment behind shadow catchers.
struct SharedCover {
    // Unset until the first contribution.
    Floats4 values[9];
    bool is_set = false;

    // Adds a sample's coverage to all pixels to which the sample contributes.
    THRONG_DEVICE void add(Vec2 offset, Floats4 value) {
        for (int i = 0; i < 9 && !is_set; i++) values[i] = Floats4{};
        is_set = true;
        const ShareWeights share(offset);
        for (int i = 0; i < 9; i++) values[i] += share.at(i % 3 - 1, i / 3 - 1) * value;
    }

    // Writes the coverage contributions to the pixel and its neighbours.
    THRONG_DEVICE void store(const Params& params, float* out, uint32_t x, uint32_t y) const {
        const float area = shared_area(params, x, y);
        const uint64_t pixel = film_pixel(params, x, y);
        for (int i = 0; i < 9; i++) store4(share_at(params, out, pixel, i % 3 - 1, i / 3 - 1), is_set ? area * values[i] : Floats4{});
    }
};

// Computes the coverage layers of a pixel after the contributions of all its neighbours were gathered.
THRONG_DEVICE void gather_cover(const Params& params, uint32_t pixel, Thread&) {
    const FrameAovs& out = *params.film.aovs;
    const Floats4 cover = shared_sum(params, out.cover, pixel);
    const float weights = shared_sum(params, shares_of(params), pixel)[3], scale = weights > 0.0f ? 1.0f / weights : 0.0f;
    if (out.alpha) out.alpha[pixel] = clamp((cover[0] + cover[1] * out.alpha[pixel]) * scale, 0.0f, 1.0f);
    if (out.shadow) store3(out.shadow + 3 * uint64_t(pixel), vec3(cover[0], cover[1], cover[2]) * (out.shadow[3 * uint64_t(pixel)] * scale));
}

}

// Conversion of radiance to display values: white balance, exposure, tone curves, and rounding with or without dither.
#pragma once
#include "camera/views.h"
#include "util/maths.h"

namespace THRONG_NAMESPACE {

THRONG_INLINE Vec3 rows(Vec3 a, Vec3 b, Vec3 c, Vec3 v) { return vec3(dot(a, v), dot(b, v), dot(c, v)); }

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

// Khronos PBR Neutral: colours below 0.8 are unchanged, except for Fresnel reflection at normal incidence; above, they are compressed and desaturated
// (https://github.com/KhronosGroup/ToneMapping).
THRONG_DEVICE Vec3 pbr_neutral(Vec3 c) {
    const float start = 0.8f - 0.04f;
    const float least = min(c.x, min(c.y, c.z));
    c = c - vec3(least < 0.08f ? least - 6.25f * least * least : 0.04f);
    const float peak = max_component(c);
    if (peak < start) return c;
    const float room = 1.0f - start, compressed = 1.0f - room * room / (peak + room - start);
    const float colorful = 1.0f / (0.15f * (peak - compressed) + 1.0f);
    return lerp(vec3(compressed), c * (compressed / peak), colorful);
}

// Hue in sixths of a turn: 0 for red, below 6; 0 for greys.
THRONG_DEVICE float hue_of(Vec3 c) {
    const float most = max_component(c), range = most - min(c.x, min(c.y, c.z));
    if (!(range > 0.0f)) return 0.0f;
    if (most == c.x) {
        const float hue = (c.y - c.z) / range;
        return hue < 0.0f ? hue + 6.0f : hue;
    }
    return most == c.y ? 2.0f + (c.z - c.x) / range : 4.0f + (c.x - c.y) / range;
}

// The colour with another hue and equal maximum and minimum components.
THRONG_DEVICE Vec3 with_hue(Vec3 c, float hue) {
    const float most = max_component(c), range = most - min(c.x, min(c.y, c.z));
    auto channel = [&](float n) {
        const float turned = n + hue, k = turned - 6.0f * floorf(turned * (1.0f / 6.0f));
        return most - range * clamp(min(k, 4.0f - k), 0.0f, 1.0f);
    };
    return vec3(channel(5.0f), channel(3.0f), channel(1.0f));
}

// AgX's curve over [0, 1] of the log range: hyperbolas of power 1.5 on either side of middle grey, where the slope is 2.4.
THRONG_DEVICE float agx_curve(float x) {
    const float pivot = 0.60606061f, grey = 0.48943709f, toe = 0.56567561f, shoulder = 0.71519829f;
    const float scale = x < pivot ? toe : shoulder, t = 2.4f * fabsf(x - pivot) / scale;
    const float bent = scale * t / power(1.0f + t * sqrtf(t), 1.0f / 1.5f);
    return max(x < pivot ? grey - bent : grey + bent, 0.0f);
}

// Raises a colour's negative components to zero without making it brighter.
THRONG_DEVICE Vec3 agx_lift(Vec3 c) {
    const Vec3 luminance = vec3(0.2103533f, 0.6497848f, 0.1398746f);
    // Brightness of a colour and, increasingly for darker colours, of its opposite.
    auto brightness = [&](Vec3 v) {
        const float own = dot(v, luminance), most = max_component(v);
        const Vec3 opposite = vec3(most) - v;
        const float both = max_component(opposite) - dot(opposite, luminance) + own;
        const float share = min(power(max(own, 0.0f), 0.08f), 1.0f);
        return both + (own - both) * share;
    };
    const float least = min(c.x, min(c.y, c.z));
    if (!(least < 0.0f)) return c;
    const Vec3 lifted = c - vec3(least);
    const float before = brightness(c), after = brightness(lifted);
    return after > before ? lifted * (before / after) : lifted;
}

// AgX in Blender's version, computed with the formulas from which its tables are generated (by Troy Sobotka and Eary Chow). The primaries are moved
// inwards and rotated, and each channel goes through a curve over 16.5 stops. Then the hue is moved 60% of the way back to its original value, and
// the primaries are moved out again.
THRONG_DEVICE Vec3 agx(Vec3 c) {
    c = rows(vec3(0.54481859f, 0.37378866f, 0.08140453f), vec3(0.14041698f, 0.75412816f, 0.10545892f), vec3(0.08881282f, 0.17888153f, 0.73242594f), c);
    const float hue = hue_of(c), in[3] = {c.x, c.y, c.z};
    float out[3];
    for (int k = 0; k < 3; k++) {
        const float stops = binary_log(max(in[k] * (1.0f / 0.18f), 1e-12f));
        out[k] = power(agx_curve(clamp((stops + 10.0f) * (1.0f / 16.5f), 0.0f, 1.0f)), 2.4f);
    }
    c = vec3(out[0], out[1], out[2]);
    float turn = hue_of(c) - hue;
    if (turn > 3.0f) turn -= 6.0f;
    if (turn < -3.0f) turn += 6.0f;
    c = with_hue(c, hue + 0.4f * turn);
    return agx_lift(rows(vec3(1.96487385f, -0.85599912f, -0.10888500f), vec3(-0.29931507f, 1.32641842f, -0.02708335f),
                         vec3(-0.16432885f, -0.23816741f, 1.40232840f), c));
}

THRONG_DEVICE float srgb_curve(float x) {
    return x <= 0.0031308f ? 12.92f * x : 1.055f * power(x, 1.0f / 2.4f) - 0.055f;
}

// Converts radiance to encoded display values in [0, 1].
THRONG_DEVICE Vec3 display_color(const Params& params, Vec3 c) {
    if (params.display.tone_map == TONE_DISPLAY) return c;
    if (params.display.has_white) c = rows(load3(params.display.white), load3(params.display.white + 3), load3(params.display.white + 6), c);
    c = c * params.display.exposure;
    // Filters with negative lobes and white balance can produce negative components.
    c = vec3(max(c.x, 0.0f), max(c.y, 0.0f), max(c.z, 0.0f));
    if (params.display.tone_map == TONE_ACES) c = aces(c);
    if (params.display.tone_map == TONE_AGX) c = agx(c);
    if (params.display.tone_map == TONE_PBR_NEUTRAL) c = pbr_neutral(c);
    return vec3(srgb_curve(clamp(c.x, 0.0f, 1.0f)), srgb_curve(clamp(c.y, 0.0f, 1.0f)), srgb_curve(clamp(c.z, 0.0f, 1.0f)));
}

// Offset in [0, 1) that is added to a channel before truncation to a whole step; one half rounds to nearest. Dither spreads it around one half by a
// pattern in which neighbours differ as much as possible (Roberts 2018, "The Unreasonable Effectiveness of Quasirandom Sequences"). The pattern is
// constant over frames, so that it does not flicker.
THRONG_INLINE float rounding(const Params& params, uint32_t pixel, uint32_t channel) {
    if (params.display.tone_map == TONE_DISPLAY || !(params.display.dither > 0.0f)) return 0.5f;
    const uint32_t x = params.film.left + pixel % params.film.width, y = params.film.top + view_row(params, pixel / params.film.width).y;
    const uint32_t place = x * 0xc13fa9a9u + y * 0x91e10da5u + channel * 0x55555555u;
    // Folded to a triangle wave, which hides the wrap-around of the pattern.
    const uint32_t folded = place & 0x80000000u ? ~place : place;
    // Spread over slightly less than a step, so that exact values do not change despite arithmetic errors.
    return 0.5f + 0.999f * params.display.dither * (float(folded >> 7) * (1.0f / 16777216.0f) - 0.5f);
}

// Scales [0, 1] to [0, `steps`] and adds `rounding`; conversion to an integer truncates the result.
THRONG_INLINE float quantize(float x, float steps, float rounding) { return clamp(clamp(x, 0.0f, 1.0f) * steps + rounding, 0.0f, steps); }

}

// Bilinear texture lookups in linear colour.
#pragma once
#include "abi.h"
#include "sampler.h"

namespace THRONG_NAMESPACE {

// Texel index along one axis of `size` texels. Floor-based, so negative coordinates continue the pattern.
THRONG_INLINE uint32_t wrap_texel(int64_t i, uint32_t size, uint32_t wrap) {
    int64_t n = int64_t(size);
    if (wrap == WRAP_CLAMP) return uint32_t(i < 0 ? 0 : i >= n ? n - 1 : i);
    int64_t period = wrap == WRAP_MIRROR ? 2 * n : n;
    int64_t k = i < 0 ? i + period : i < period ? i : i - period;
    // Farther away: division of 64 bits, which GPUs do in a hundred steps.
    if (k < 0 || k >= period) {
        k = i % period;
        if (k < 0) k += period;
    }
    return uint32_t(k < n ? k : period - 1 - k);
}

THRONG_INLINE Vec3 fetch_texel(const Params& params, const TextureRecord& texture, uint32_t x, uint32_t y) {
    uint64_t index = (uint64_t(y) * texture.width + x) * 4;
    if (texture.format == TEXELS_FLOAT) return load3(reinterpret_cast<const float*>(texture.texels) + index);
    const uint8_t* texel = texture.texels + index;
    return vec3(params.srgb_table[texel[0]], params.srgb_table[texel[1]], params.srgb_table[texel[2]]);
}

// `x` and `y` in texels, with texel centres at half-integers.
THRONG_OUTLINE Vec3 bilinear(const Params& params, const TextureRecord& texture, float x, float y, uint32_t wrap_x, uint32_t wrap_y) {
    float fx = floorf(x - 0.5f), fy = floorf(y - 0.5f);
    float wx = x - 0.5f - fx, wy = y - 0.5f - fy;
    int64_t ix = int64_t(fx), iy = int64_t(fy);
    uint32_t x0 = wrap_texel(ix, texture.width, wrap_x), x1 = wrap_texel(ix + 1, texture.width, wrap_x);
    uint32_t y0 = wrap_texel(iy, texture.height, wrap_y), y1 = wrap_texel(iy + 1, texture.height, wrap_y);
    Vec3 top = lerp(fetch_texel(params, texture, x0, y0), fetch_texel(params, texture, x1, y0), wx);
    Vec3 bottom = lerp(fetch_texel(params, texture, x0, y1), fetch_texel(params, texture, x1, y1), wx);
    return lerp(top, bottom, wy);
}

// Colour at (u, v), v upwards from the bottom row; white where there is no texture.
THRONG_DEVICE Vec3 sample_texture(const Params& params, uint32_t index, Vec2 uv) {
    if (index == NO_INDEX) return vec3(1.0f);
    const TextureRecord& texture = params.textures[index];
    // Beyond this many repeats a float holds no fraction worth filtering; it also keeps the integers in range.
    float u = clamp(uv.x, -1e6f, 1e6f), v = clamp(uv.y, -1e6f, 1e6f);
    return bilinear(params, texture, u * float(texture.width), (1.0f - v) * float(texture.height), texture.wrap, texture.wrap);
}

// Latitude-longitude lookup of a unit direction.
THRONG_DEVICE Vec3 sample_latlong(const Params& params, uint32_t index, float rotation, Vec3 d) {
    const TextureRecord& texture = params.textures[index];
    float u = 0.5f + atan2f(d.z, d.x) * (0.5f / kPi) + rotation;
    float v = acosf(clamp(d.y, -1.0f, 1.0f)) * (1.0f / kPi);
    return bilinear(params, texture, (u - floorf(u)) * float(texture.width), v * float(texture.height), WRAP_REPEAT, WRAP_CLAMP);
}

}

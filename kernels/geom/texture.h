// Texture lookups: bilinear, in linear colour.
#pragma once
#include "abi.h"
#include "util/sampler.h"

namespace THRONG_NAMESPACE {

// Texel index along one axis of `size` texels. Floor-based, so that negative coordinates continue the pattern.
THRONG_INLINE uint32_t wrap_texel(int64_t i, uint32_t size, uint32_t wrap) {
    int64_t n = int64_t(size);
    if (wrap == WRAP_CLAMP) return uint32_t(i < 0 ? 0 : i >= n ? n - 1 : i);
    int64_t period = wrap == WRAP_MIRROR ? 2 * n : n;
    int64_t k = i < 0 ? i + period : i < period ? i : i - period;
    // Only for distant coordinates, because a 64-bit division takes a GPU a hundred steps.
    if (k < 0 || k >= period) {
        k = i % period;
        if (k < 0) k += period;
    }
    return uint32_t(k < n ? k : period - 1 - k);
}

// Value of a texture at a point. Alpha is stored linearly, regardless of the encoding of the colours.
struct Texel {
    Vec3 color;
    float alpha;
};

THRONG_INLINE Texel lerp(Texel a, Texel b, float t) { return Texel{lerp(a.color, b.color, t), a.alpha * (1.0f - t) + b.alpha * t}; }

THRONG_INLINE Vec3 srgb_color(const float* srgb_table, uint32_t texel) {
    const uint32_t bytes[3] = {texel & 255u, texel >> 8 & 255u, texel >> 16 & 255u};
    return vec3(bits_float(load_word(srgb_table + bytes[0])), bits_float(load_word(srgb_table + bytes[1])), bits_float(load_word(srgb_table + bytes[2])));
}

// Fetches four texels with independent loads.
THRONG_INLINE void fetch_texels(const float* srgb_table, const TextureRecord& texture, const uint64_t* indices, Texel* texels) {
    if (texture.format == TEXELS_FLOAT) {
        for (int i = 0; i < 4; i++) {
            Words4 words = load_words(texture.texels + 16 * indices[i]);
            texels[i] = Texel{vec3(words), bits_float(words.w)};
        }
        return;
    }
    constexpr float kByte = 1.0f / 255.0f;
    uint32_t bytes[4];
    for (int i = 0; i < 4; i++) bytes[i] = load_word(texture.texels + 4 * indices[i]);
    for (int i = 0; i < 4; i++) {
        texels[i].alpha = float(bytes[i] >> 24) * kByte;
        texels[i].color = texture.format == TEXELS_SRGB8
            ? srgb_color(srgb_table, bytes[i])
            : vec3(float(bytes[i] & 255u), float(bytes[i] >> 8 & 255u), float(bytes[i] >> 16 & 255u)) * kByte;
    }
}

// Looks up a texture at `x` and `y` in texels, with texel centres at half-integers.
THRONG_OUTLINE Texel bilinear(const float* srgb_table, const TextureRecord texture, float x, float y, uint32_t wrap_x, uint32_t wrap_y) {
    float half = texture.nearest ? 0.0f : 0.5f;
    float fx = floorf(x - half), fy = floorf(y - half);
    float wx = texture.nearest ? 0.0f : x - half - fx, wy = texture.nearest ? 0.0f : y - half - fy;
    int64_t ix = int64_t(fx), iy = int64_t(fy);
    uint32_t x0 = wrap_texel(ix, texture.width, wrap_x), x1 = wrap_texel(ix + 1, texture.width, wrap_x);
    uint64_t row0 = uint64_t(wrap_texel(iy, texture.height, wrap_y)) * texture.width;
    uint64_t row1 = uint64_t(wrap_texel(iy + 1, texture.height, wrap_y)) * texture.width;
    const uint64_t indices[4] = {row0 + x0, row0 + x1, row1 + x0, row1 + x1};
    Texel c[4];
    fetch_texels(srgb_table, texture, indices, c);
    return lerp(lerp(c[0], c[1], wx), lerp(c[2], c[3], wx), wy);
}

// Value of texture `index` at (u, v); v = 0 is the bottom of the image.
THRONG_DEVICE Texel sample_texture(const Params& params, uint32_t index, Vec2 uv) {
    const TextureRecord texture = load_record(&params.scene.textures[index]);
    // Beyond this many repeats, a float has no fractional bits worth filtering. The bound also prevents integer overflow.
    float u = clamp(uv.x, -1e6f, 1e6f), v = clamp(uv.y, -1e6f, 1e6f);
    return bilinear(params.scene.srgb_table, texture, u * float(texture.width), (1.0f - v) * float(texture.height), texture.wrap[0], texture.wrap[1]);
}

THRONG_OUTLINE Texel read_map(const Params& params, uint32_t index, Vec2 uv0, Vec2 uv1) {
    const MapRecord map = load_record(&params.tables.maps[index]);
    Vec2 at = map.uv_set ? uv1 : uv0;
    const float* m = map.transform;
    return sample_texture(params, map.texture, Vec2{m[0] * at.x + m[1] * at.y + m[2], m[3] * at.x + m[4] * at.y + m[5]});
}

// Value of map `index` of a material at a point with two sets of texture coordinates; white without a map.
THRONG_INLINE Texel sample_map(const Params& params, uint32_t index, const Vec2* uv) {
    if (index == NO_INDEX) return Texel{vec3(1.0f), 1.0f};
    return read_map(params, index, uv[0], uv[1]);
}

// Latitude-longitude lookup of a unit direction.
THRONG_OUTLINE Vec3 sample_latlong(const Params& params, uint32_t index, float rotation, Vec3 d) {
    const TextureRecord texture = load_record(&params.scene.textures[index]);
    float u = 0.5f + atan2f(d.z, d.x) * (0.5f / kPi) + rotation;
    float v = acosf(clamp(d.y, -1.0f, 1.0f)) * (1.0f / kPi);
    return bilinear(params.scene.srgb_table, texture, (u - floorf(u)) * float(texture.width), v * float(texture.height), WRAP_REPEAT, WRAP_CLAMP).color;
}

}

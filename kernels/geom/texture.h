// Texture lookups in linear colour: bilinear, and averaged over the footprints of rays.
#pragma once
#include "geom/blocks.h"
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

constexpr float kByte = 1.0f / 255.0f;

THRONG_INLINE Texel texel_of(const float* srgb_table, const TextureRecord& texture, uint32_t bytes) {
    const Vec3 color = texture.flags & TEXTURE_SRGB
        ? srgb_color(srgb_table, bytes)
        : vec3(float(bytes & 255u), float(bytes >> 8 & 255u), float(bytes >> 16 & 255u)) * kByte;
    return Texel{color, float(bytes >> 24) * kByte};
}

// Fetches the texels in two columns and two rows with independent loads. They are not compact.
THRONG_INLINE void fetch_texels(const float* srgb_table, const TextureRecord& texture, const uint32_t* columns, const uint32_t* rows, Texel* texels) {
    const auto index = [&](int i) { return uint64_t(rows[i / 2]) * texture.width + columns[i % 2]; };
    if (texture.format == TEXELS_FLOAT) {
        for (int i = 0; i < 4; i++) {
            Words4 words = load_words(texture.texels + 16 * index(i));
            texels[i] = Texel{vec3(words), bits_float(words.w)};
        }
        return;
    }
    uint32_t bytes[4];
    for (int i = 0; i < 4; i++) bytes[i] = load_word(texture.texels + 4 * index(i));
    for (int i = 0; i < 4; i++) texels[i] = texel_of(srgb_table, texture, bytes[i]);
}

// As `fetch_texels`, for compact texels.
THRONG_INLINE void fetch_compact(const float* srgb_table, const TextureRecord& texture, const uint32_t* columns, const uint32_t* rows, Texel* texels) {
    uint32_t bytes[4];
    for (int i = 0; i < 4; i++) bytes[i] = compact_texel(texture.texels, texture.format, texture.width, columns[i % 2], rows[i / 2]);
    for (int i = 0; i < 4; i++) texels[i] = texel_of(srgb_table, texture, bytes[i]);
}

// Looks up a texture at `x` and `y` in texels, with texel centres at half-integers.
template <class Fetch>
THRONG_INLINE Texel bilinear_by(const TextureRecord& texture, float x, float y, uint32_t wrap_x, uint32_t wrap_y, Fetch fetch) {
    const bool is_sharp = texture.flags & TEXTURE_NEAREST;
    float half = is_sharp ? 0.0f : 0.5f;
    float fx = floorf(x - half), fy = floorf(y - half);
    float wx = is_sharp ? 0.0f : x - half - fx, wy = is_sharp ? 0.0f : y - half - fy;
    int64_t ix = int64_t(fx), iy = int64_t(fy);
    const uint32_t columns[2] = {wrap_texel(ix, texture.width, wrap_x), wrap_texel(ix + 1, texture.width, wrap_x)};
    const uint32_t rows[2] = {wrap_texel(iy, texture.height, wrap_y), wrap_texel(iy + 1, texture.height, wrap_y)};
    Texel c[4];
    fetch(columns, rows, c);
    return lerp(lerp(c[0], c[1], wx), lerp(c[2], c[3], wx), wy);
}

// Separate from `bilinear`, whose registers would otherwise be saved around the decoding of each texel.
THRONG_OUTLINE Texel bilinear_compact(const float* srgb_table, const TextureRecord texture, float x, float y, uint32_t wrap_x, uint32_t wrap_y) {
    return bilinear_by(texture, x, y, wrap_x, wrap_y,
                       [&](const uint32_t* columns, const uint32_t* rows, Texel* texels) { fetch_compact(srgb_table, texture, columns, rows, texels); });
}

THRONG_OUTLINE Texel bilinear(const float* srgb_table, const TextureRecord texture, float x, float y, uint32_t wrap_x, uint32_t wrap_y) {
    if (texture.format > TEXELS_FLOAT) return bilinear_compact(srgb_table, texture, x, y, wrap_x, wrap_y);
    return bilinear_by(texture, x, y, wrap_x, wrap_y,
                       [&](const uint32_t* columns, const uint32_t* rows, Texel* texels) { fetch_texels(srgb_table, texture, columns, rows, texels); });
}

// Value of a texture at (u, v); v = 0 is the bottom of the image.
THRONG_DEVICE Texel sample_texture(const Params& params, const TextureRecord& texture, Vec2 uv) {
    // Beyond this many repeats, a float has no fractional bits worth filtering. The bound also prevents integer overflow.
    float u = clamp(uv.x, -1e6f, 1e6f), v = clamp(uv.y, -1e6f, 1e6f);
    return bilinear(params.scene.srgb_table, texture, u * float(texture.width), (1.0f - v) * float(texture.height), texture.wrap[0], texture.wrap[1]);
}

// Parallelograms that a ray's cone covers on a surface, one for each set of texture coordinates: two sides as vectors of texture coordinates, packed
// into the upper halves of floats. Zero sides are points.
struct Footprint {
    uint32_t sides[2][2];
};

THRONG_INLINE Footprint no_footprint() { return Footprint{{{0, 0}, {0, 0}}}; }

THRONG_INLINE uint32_t pack_side(Vec2 side) { return (float_bits(side.x) & 0xffff0000u) | float_bits(side.y) >> 16; }
THRONG_INLINE Vec2 unpack_side(uint32_t side) { return Vec2{bits_float(side & 0xffff0000u), bits_float(side << 16)}; }

// Logarithm to base 2 of a number of at least 1, exact for powers of two and linear in between.
THRONG_INLINE float level_of(float texels) { return float((float_bits(texels) >> 23) - 127u) + (bits_float((float_bits(texels) & 0x007fffffu) | 0x3f800000u) - 1.0f); }

THRONG_INLINE uint64_t level_bytes(const TextureRecord& level) {
    if (level.format == TEXELS_BC7) return 16 * uint64_t((level.width + 3) / 4) * ((level.height + 3) / 4);
    const uint64_t texel = level.format == TEXELS_FLOAT ? 16 : level.format == TEXELS_GREY8 ? 1 : 4;
    return texel * level.width * level.height;
}

// A level of a texture's mip maps, whose sizes are halved and rounded down.
THRONG_INLINE TextureRecord level_at(const TextureRecord& texture, uint32_t level) {
    TextureRecord at = texture;
    if (level == 0) return at;
    at.texels = texture.mips;
    at.format = texture.mip_format;
    // Magnified texels may be sharp, averages are not.
    at.flags &= ~TEXTURE_NEAREST;
    for (uint32_t k = 1;; k++) {
        at.width = at.width > 1 ? at.width / 2 : 1;
        at.height = at.height > 1 ? at.height / 2 : 1;
        if (k == level) return at;
        at.texels += level_bytes(at);
    }
}

// Maximum number of lookups along the longer side of a footprint. Longer footprints are widened.
constexpr float kMaxTaps = 8.0f;

// Mean of `taps` lookups in a level, spread evenly over `side` around (u, v). `side` is in texture coordinates.
THRONG_INLINE Texel mean_along(const Params& params, const TextureRecord& texture, uint32_t level, Vec2 uv, Vec2 side, uint32_t taps) {
    const TextureRecord at = level_at(texture, level);
    const float share = 1.0f / float(taps);
    Texel sum{vec3(0.0f), 0.0f};
    THRONG_NO_UNROLL
    for (uint32_t tap = 0; tap < taps; tap++) {
        const float along = (float(tap) + 0.5f) * share - 0.5f;
        Texel texel = sample_texture(params, at, Vec2{uv.x + side.x * along, uv.y + side.y * along});
        // The variance of the normals of single texels is zero.
        if (texture.flags & TEXTURE_NORMALS && level == 0) texel.alpha = 0.0f;
        sum.color += texel.color * share;
        sum.alpha += texel.alpha * share;
    }
    return sum;
}

// Mean of a texture over a parallelogram around (u, v) with the sides `a` and `b`: several lookups along the longer side, each in the two mip maps
// whose texels are about as large as the parallelogram is wide (trilinear filter). Magnified texels are read as by `sample_texture`.
THRONG_OUTLINE Texel filter_texture(const Params& params, const TextureRecord texture, Vec2 uv, Vec2 a, Vec2 b) {
    const float width = float(texture.width), height = float(texture.height);
    const Vec2 at{a.x * width, a.y * height}, bt{b.x * width, b.y * height};
    const float a2 = at.x * at.x + at.y * at.y, b2 = bt.x * bt.x + bt.y * bt.y;
    const Vec2 side = a2 > b2 ? a : b;
    const float length = sqrtf(max(a2, b2));
    if (!(length > 1.0f)) return mean_along(params, texture, 0, uv, side, 1);
    // Infinite footprints have the texture's mean.
    const float across = length < 1e9f ? fabsf(at.x * bt.y - at.y * bt.x) / length : length;
    const float texels = max(max(across, length * (1.0f / kMaxTaps)), 1.0f);
    const float level = min(level_of(min(texels, 1e9f)), float(texture.levels - 1));
    const uint32_t taps = uint32_t(clamp(length / texels + 0.5f, 1.0f, kMaxTaps)), lower = uint32_t(level);
    const float share = level - float(lower);
    const Texel fine = mean_along(params, texture, lower, uv, side, taps);
    return share > 0.0f ? lerp(fine, mean_along(params, texture, lower + 1, uv, side, taps), share) : fine;
}

// Whether textures are averaged over footprints.
THRONG_INLINE bool filters_textures(const Params& params) { return params.tables.has_mips && params.picture.filter_textures; }

// Texture coordinates of a map at a point with these coordinates.
THRONG_INLINE Vec2 mapped_uv(const MapRecord& map, Vec2 uv0, Vec2 uv1) {
    const Vec2 at = map.uv_set ? uv1 : uv0;
    const float* m = map.transform;
    return Vec2{m[0] * at.x + m[1] * at.y + m[2], m[3] * at.x + m[4] * at.y + m[5]};
}

// Value of a map at a point. Separate from `filter_map`, because tracing kernels, which read alpha, should keep their registers.
THRONG_OUTLINE Texel read_map(const Params& params, uint32_t index, Vec2 uv0, Vec2 uv1) {
    const MapRecord map = load_record(&params.tables.maps[index]);
    return sample_texture(params, load_record(&params.scene.textures[map.texture]), mapped_uv(map, uv0, uv1));
}

THRONG_OUTLINE Texel filter_map(const Params& params, uint32_t index, Vec2 uv0, Vec2 uv1, const Footprint* covered) {
    const Footprint footprint = covered ? *covered : no_footprint();
    const MapRecord map = load_record(&params.tables.maps[index]);
    const Vec2 uv = mapped_uv(map, uv0, uv1);
    const float* m = map.transform;
    const TextureRecord texture = load_record(&params.scene.textures[map.texture]);
    const Vec2 a = unpack_side(footprint.sides[map.uv_set][0]), b = unpack_side(footprint.sides[map.uv_set][1]);
    return filter_texture(params, texture, uv, Vec2{m[0] * a.x + m[1] * a.y, m[3] * a.x + m[4] * a.y}, Vec2{m[0] * b.x + m[1] * b.y, m[3] * b.x + m[4] * b.y});
}

// Value of map `index` of a material at a point with two sets of texture coordinates; white without a map.
THRONG_INLINE Texel sample_map(const Params& params, uint32_t index, const Vec2* uv) {
    if (index == NO_INDEX) return Texel{vec3(1.0f), 1.0f};
    return read_map(params, index, uv[0], uv[1]);
}

// Mean of map `index` of a material over a footprint, or its value at a point with two sets of texture coordinates; white without a map. The alpha of a normal map
// is the standard deviation of slopes (`records::mips`).
THRONG_INLINE Texel sample_map(const Params& params, uint32_t index, const Vec2* uv, const Footprint* footprint) {
    if (index == NO_INDEX) return Texel{vec3(1.0f), 1.0f};
    return filter_map(params, index, uv[0], uv[1], footprint);
}

// Whether the alpha of map `index` is the deviation of normals. It is not if the texture also has other uses.
THRONG_INLINE bool has_deviations(const Params& params, uint32_t index) { return params.scene.textures[params.tables.maps[index].texture].flags & TEXTURE_NORMALS; }

// Latitude-longitude lookup of a unit direction, averaged over a cone of directions `spread` radians wide.
THRONG_OUTLINE Vec3 sample_latlong(const Params& params, uint32_t index, float rotation, Vec3 d, float spread) {
    const TextureRecord texture = load_record(&params.scene.textures[index]);
    float u = 0.5f + angle_of(d.x, d.z) * (0.5f / kPi) + rotation;
    // The angle from the pole in two coordinates, which is precise near the pole.
    const float level = sqrtf(d.x * d.x + d.z * d.z), v = angle_of(d.y, level) * (1.0f / kPi);
    if (spread > 0.0f) {
        const Vec2 along{min(spread * (0.5f / kPi) / max(level, 1e-3f), 1.0f), 0.0f}, up{0.0f, spread * (1.0f / kPi)};
        return filter_texture(params, texture, Vec2{u - floorf(u), 1.0f - v}, along, up).color;
    }
    return bilinear(params.scene.srgb_table, texture, (u - floorf(u)) * float(texture.width), v * float(texture.height), WRAP_REPEAT, WRAP_CLAMP).color;
}

}

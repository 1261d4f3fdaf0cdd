// Samples directions to the environment in proportion to its light. An image has a table of cells, whose pdf is proportional to their mean radiance.
// Gradients are sampled by the cosine.
#pragma once
#include "light/light.h"

namespace THRONG_NAMESPACE {

// Converts a half-precision float that is not negative.
THRONG_INLINE float half_float(uint32_t bits) { return bits_float(bits << 13) * bits_float(0x77800000u); }

// The greatest float below 1.
constexpr float kBelowOne = 0.99999994f;

// Samples one of `count` cells. `x` selects the entry and the position in the cell, and `choice` selects one of the entry's two cells. Rescales
// `choice` so that it is uniform again.
THRONG_DEVICE uint32_t sample_cell(const SkyCell* cells, uint32_t count, float x, float& choice, float& inside) {
    float at = x * float(count);
    uint32_t index = uint32_t(at);
    if (index >= count) index = count - 1;
    inside = at - float(index);
    uint32_t alias = load_word(&cells[index].alias);
    float threshold = half_float(alias >> 16);
    if (choice < threshold) {
        choice = min(choice / threshold, kBelowOne);
        return index;
    }
    choice = min((choice - threshold) / (1.0f - threshold), kBelowOne);
    return alias & 0xffffu;
}

// Cosine of the polar angle at the start of row `row` of `rows`.
THRONG_INLINE float row_cosine(uint32_t row, uint32_t rows) {
    float sine, cosine;
    sine_cosine(0.5f * float(row) / float(rows), sine, cosine);
    return cosine;
}

// Samples a direction by an image's table of cells, uniformly in the cell.
THRONG_OUTLINE Vec3 sample_image_direction(const Params& params, float choice, Vec2 u, float& pdf) {
    const EnvironmentRecord& e = params.scene.environment;
    Vec2 inside;
    uint32_t row = sample_cell(params.scene.sky_rows, e.rows, u.y, choice, inside.y);
    const SkyCell* cells = params.scene.sky_cells + uint64_t(row) * e.columns;
    uint32_t column = sample_cell(cells, e.columns, u.x, choice, inside.x);
    pdf = bits_float(load_word(&cells[column].pdf));
    float top = row_cosine(row, e.rows), bottom = row_cosine(row + 1, e.rows);
    float y = top + (bottom - top) * inside.y, radius = sqrtf(max(0.0f, 1.0f - y * y)), sine, cosine;
    float turn = (float(column) + inside.x) / float(e.columns) - 0.5f - e.rotation;
    sine_cosine(turn - floorf(turn), sine, cosine);
    return vec3(radius * cosine, y, radius * sine);
}

// Pdf of `sample_image_direction` for a unit direction.
THRONG_OUTLINE float image_pdf(const Params& params, Vec3 d) {
    const EnvironmentRecord& e = params.scene.environment;
    float u = 0.5f + angle_of(d.x, d.z) * (0.5f / kPi) + e.rotation;
    float v = angle_of(d.y, sqrtf(d.x * d.x + d.z * d.z)) * (1.0f / kPi);
    uint32_t column = uint32_t((u - floorf(u)) * float(e.columns)), row = uint32_t(v * float(e.rows));
    if (column >= e.columns) column = e.columns - 1;
    if (row >= e.rows) row = e.rows - 1;
    return bits_float(load_word(&params.scene.sky_cells[uint64_t(row) * e.columns + column].pdf));
}

// Samples a direction to the sky from a surface with this shading normal, which is zero if light is gathered from all directions.
THRONG_DEVICE Vec3 sample_sky_direction(const Params& params, Vec3 normal, float choice, Vec2 u, float& pdf) {
    if (params.scene.environment.kind == ENVIRONMENT_IMAGE) return sample_image_direction(params, choice, u, pdf);
    if (!(dot(normal, normal) > 0.0f)) {
        pdf = 0.25f / kPi;
        return sample_cone(vec3(0.0f, 1.0f, 0.0f), 2.0f, u);
    }
    Vec3 d = sample_cosine(normal, u);
    pdf = max(dot(d, normal), 0.0f) * (1.0f / kPi);
    return d;
}

// Pdf of `sample_sky_direction` for a unit direction.
THRONG_DEVICE float sky_pdf(const Params& params, Vec3 normal, Vec3 d) {
    if (params.scene.environment.kind == ENVIRONMENT_IMAGE) return image_pdf(params, d);
    if (!(dot(normal, normal) > 0.0f)) return 0.25f / kPi;
    return max(dot(d, normal), 0.0f) * (1.0f / kPi);
}

}

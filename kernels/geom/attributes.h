// Interpolated vertex attributes other than positions and normals: texture coordinates, colours and tangents.
#pragma once
#include "geom/texture.h"

namespace THRONG_NAMESPACE {

struct Attributes {
    // Both sets of texture coordinates.
    Vec2 uv[2];
    // Vertex colour and alpha; both multiply the material's values.
    Vec3 color;
    float alpha;
    // Tangent in object space, along increasing u of the texture coordinates for which it was computed; not of unit length.
    Vec3 tangent;
    // The bitangent, along increasing v, is `cross(normal, tangent)` times this: 1, -1, or 0 without a tangent.
    float handedness;
};

// Barycentric weights of a triangle's corners.
struct Weights {
    float a, b, c;
};

THRONG_INLINE float weighted(const Weights& w, uint32_t a, uint32_t b, uint32_t c) {
    return bits_float(a) * w.a + bits_float(b) * w.b + bits_float(c) * w.c;
}
THRONG_INLINE Vec3 weighted(const Weights& w, Vec3 a, Vec3 b, Vec3 c) { return a * w.a + b * w.b + c * w.c; }

// Reads the optional attributes at a point in the triangle with these corners; `at.uv[0]` must be set.
THRONG_DEVICE void add_attributes(const MeshRecord& mesh, const uint32_t* corners, const Weights& w, Attributes& at) {
    at.uv[1] = at.uv[0];
    at.color = at.tangent = vec3(1.0f);
    at.alpha = 1.0f;
    at.handedness = 0.0f;
    if (mesh.flags & MESH_UV1) {
        const Words4 a = load_words(mesh.attributes[corners[0]].uv1), b = load_words(mesh.attributes[corners[1]].uv1), c = load_words(mesh.attributes[corners[2]].uv1);
        at.uv[1] = Vec2{weighted(w, a.x, b.x, c.x), weighted(w, a.y, b.y, c.y)};
    }
    if (mesh.flags & MESH_COLORS) {
        const Words4 a = load_words(mesh.attributes[corners[0]].color), b = load_words(mesh.attributes[corners[1]].color),
                     c = load_words(mesh.attributes[corners[2]].color);
        at.color = weighted(w, vec3(a), vec3(b), vec3(c));
        at.alpha = weighted(w, a.w, b.w, c.w);
    }
    if (mesh.flags & MESH_TANGENTS) {
        const Words4 a = load_words(mesh.attributes[corners[0]].tangent), b = load_words(mesh.attributes[corners[1]].tangent),
                     c = load_words(mesh.attributes[corners[2]].tangent);
        at.tangent = weighted(w, vec3(a), vec3(b), vec3(c));
        // All corners agree, because vertices are split where texture coordinates are mirrored.
        at.handedness = bits_float(a.w);
    }
}

// Attributes of a point of the unit sphere: u runs around the axis, v from the south pole to the north pole.
THRONG_DEVICE Attributes sphere_attributes(Vec3 p) {
    Attributes at;
    at.uv[0] = at.uv[1] = Vec2{0.5f - angle_of(p.x, p.z) * (0.5f / kPi), 1.0f - angle_of(p.y, sqrtf(p.x * p.x + p.z * p.z)) * (1.0f / kPi)};
    at.color = vec3(1.0f);
    at.alpha = at.handedness = 1.0f;
    at.tangent = vec3(p.z, 0.0f, -p.x);
    return at;
}

}

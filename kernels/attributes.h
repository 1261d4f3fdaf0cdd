// What vertices have beside positions and normals, between them: texture coordinates, colours and tangents.
#pragma once
#include "texture.h"

namespace THRONG_NAMESPACE {

struct Attributes {
    // Both sets of texture coordinates.
    Vec2 uv[2];
    // Multiplies the material's colour and alpha.
    Vec3 color;
    float alpha;
    // In object space, along growing u of the coordinates that it was made for; not of unit length.
    Vec3 tangent;
    // The bitangent, along growing v, is `cross(normal, tangent)` times this: 1, -1, or 0 where there is no tangent.
    float handedness;
};

// Barycentric weights of a triangle's corners.
struct Weights {
    float a, b, c;
};

THRONG_INLINE Vec2 weighted(const Weights& w, const float* a, const float* b, const float* c) {
    return Vec2{a[0] * w.a + b[0] * w.b + c[0] * w.c, a[1] * w.a + b[1] * w.b + c[1] * w.c};
}
THRONG_INLINE Vec3 weighted3(const Weights& w, const float* a, const float* b, const float* c) {
    return load3(a) * w.a + load3(b) * w.b + load3(c) * w.c;
}

// What only some meshes have, of a point in the triangle with these corners; `at.uv[0]` is known.
THRONG_DEVICE void add_extras(const MeshRecord& mesh, const uint32_t* vertices, const Weights& w, Attributes& at) {
    at.uv[1] = at.uv[0];
    at.color = at.tangent = vec3(1.0f);
    at.alpha = 1.0f;
    at.handedness = 0.0f;
    if (!mesh.extras) return;
    const VertexExtra a = load_record(&mesh.extras[vertices[0]]), b = load_record(&mesh.extras[vertices[1]]),
                      c = load_record(&mesh.extras[vertices[2]]);
    at.uv[1] = weighted(w, a.uv1, b.uv1, c.uv1);
    at.color = weighted3(w, a.color, b.color, c.color);
    at.alpha = a.color[3] * w.a + b.color[3] * w.b + c.color[3] * w.c;
    at.tangent = weighted3(w, a.tangent, b.tangent, c.tangent);
    // Corners agree, for vertices are split where texture coordinates are mirrored.
    at.handedness = a.tangent[3];
}

// Of a point of the unit sphere: u runs around the axis, v from the south pole to the north.
THRONG_DEVICE Attributes sphere_attributes(Vec3 p) {
    Attributes at;
    at.uv[0] = at.uv[1] = Vec2{0.5f - atan2f(p.z, p.x) * (0.5f / kPi), 1.0f - acosf(clamp(p.y, -1.0f, 1.0f)) * (1.0f / kPi)};
    at.color = vec3(1.0f);
    at.alpha = at.handedness = 1.0f;
    at.tangent = vec3(p.z, 0.0f, -p.x);
    return at;
}

}

// Points on curves: positions, normals and attributes. Only in kernels for scenes with levels.
#pragma once
#include "geom/attributes.h"
#include "geom/nested.h"
#include "geom/segment.h"

namespace THRONG_NAMESPACE {

// A point of a curve in object space.
struct CurveSite {
    // The point on the axis, the vector along the segment, the unit normal, and the vector from the axis to the point.
    Vec3 center, along, normal, around;
    float radius;
    // Greatest absolute coordinates of the segment.
    Vec3 reach;
};

// The segment of a mesh that was hit, in a shape.
THRONG_DEVICE CurveSegment segment_of(const MeshRecord& mesh, const Hit& hit, const ShapeSpan& shape) {
    return segment_at(reinterpret_cast<const CurvePoint*>(mesh.vertices), hit.prim, shape);
}

// The point of a curve at a hit. A ribbon has the normals of a round curve.
THRONG_DEVICE CurveSite curve_site(const MeshRecord& mesh, const Hit& hit, const ShapeSpan& shape, const float* object_from_world, Vec3 origin, Vec3 direction) {
    const CurveSegment s = segment_of(mesh, hit, shape);
    CurveSite site;
    site.along = s.end - s.start;
    site.center = s.start + site.along * hit.u;
    site.radius = s.start_radius + (s.end_radius - s.start_radius) * hit.u;
    site.reach = absolute(s.start) + absolute(site.along) + vec3(max(s.start_radius, s.end_radius));
    if (hit.v == kOnCap) {
        const Vec3 out = transform_point(object_from_world, origin + direction * hit.t) - site.center;
        site.normal = normalize_or(out, vec3(0.0f, 1.0f, 0.0f));
        site.around = site.normal * site.radius;
        return site;
    }
    const Vec3 along = transform_vector(object_from_world, direction), axis = normalize_or(site.along, vec3(0.0f, 1.0f, 0.0f));
    const Vec3 side = normalize_or(cross(axis, along), vec3(0.0f)), facing = cross(axis, side);
    // `facing` is perpendicular to the axis and points to the ray's origin.
    const Vec3 out = side * hit.v + facing * sqrtf(max(1.0f - hit.v * hit.v, 0.0f));
    if (mesh.shape == SHAPE_RIBBONS) {
        site.normal = normalize_or(out, axis);
        site.around = side * (hit.v * site.radius);
        return site;
    }
    const float sine = clamp((s.start_radius - s.end_radius) / max(length(site.along), 1e-37f), -1.0f, 1.0f);
    site.normal = normalize_or(out * sqrtf(1.0f - sine * sine) + axis * sine, axis);
    site.around = site.normal * site.radius;
    return site;
}

// Where a point on a segment of curves is after the segment has moved. `u` is the share of the way along the segment. The point keeps its offset from
// the axis, turned by the smallest rotation that turns the one axis into the other.
THRONG_DEVICE Vec3 carry_along(const CurveSegment& from, const CurveSegment& to, float u, Vec3 point) {
    const Vec3 along = from.end - from.start, other_along = to.end - to.start;
    const Vec3 around = point - (from.start + along * u), up = vec3(0.0f, 1.0f, 0.0f);
    const Vec3 a = normalize_or(along, up), b = normalize_or(other_along, up), turn = cross(a, b), turned = cross(turn, around);
    const Vec3 other_around = around + turned + cross(turn, turned) * (1.0f / max(1.0f + dot(a, b), 1e-3f));
    return to.start + other_along * u + other_around;
}

// Texture coordinates and colours of a point of a curve; u along the segment without texture coordinates.
THRONG_DEVICE Attributes curve_attributes(const MeshRecord& mesh, const Hit& hit, Vec3 along) {
    Attributes at;
    at.uv[0] = at.uv[1] = Vec2{hit.u, 0.0f};
    at.color = vec3(1.0f);
    at.alpha = at.handedness = 1.0f;
    at.tangent = along;
    if (mesh.flags & MESH_UV1) {
        const Words4 a = load_words(mesh.attributes[hit.prim].uv1), b = load_words(mesh.attributes[hit.prim + 1].uv1);
        at.uv[0] = at.uv[1] = Vec2{between(bits_float(a.x), bits_float(b.x), hit.u), between(bits_float(a.y), bits_float(b.y), hit.u)};
    }
    if (mesh.flags & MESH_COLORS) {
        const Words4 a = load_words(mesh.attributes[hit.prim].color), b = load_words(mesh.attributes[hit.prim + 1].color);
        at.color = between(vec3(a), vec3(b), hit.u);
        at.alpha = between(bits_float(a.w), bits_float(b.w), hit.u);
    }
    return at;
}

// Point at which a ray that starts at `position` leaves a fibre: `around` is the vector from the axis to `position`, `radius` the fibre's, and `axis`
// a unit vector. Light that a material transmits has passed the whole fibre. A ribbon is treated as a round fibre, because it would face the next
// ray and be hit again.
THRONG_DEVICE Vec3 leave_fiber(Vec3 position, Vec3 around, float radius, Vec3 axis, Vec3 direction, float error) {
    const Vec3 across = direction - axis * dot(direction, axis), offset = around - axis * dot(around, axis);
    const float a = dot(across, across), b = dot(offset, across), c = min(dot(offset, offset) - radius * radius, 0.0f);
    const float t = min((sqrtf(b * b - a * c) - b) / max(a, 1e-6f), 16.0f * radius);
    const Vec3 out = normalize_or(offset + across * t, direction), size = absolute(out);
    return position + direction * t + out * (error * (size.x + size.y + size.z));
}

}

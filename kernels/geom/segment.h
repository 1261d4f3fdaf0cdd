// Tests of rays against segments of curves: round cones, which are the convex hull of the spheres around both ends, and ribbons that face the ray.
// Rays hit segments from outside only, because materials describe the whole fibre.
//
// A segment may be a thousand times as long as wide. All quantities are therefore computed relative to the point of the ray that is closest to the
// segment's axis, and components across the axis are separated before they are squared.
#pragma once
#include "geom/motion.h"

namespace THRONG_NAMESPACE {

struct CurveSegment {
    Vec3 start, end;
    float start_radius, end_radius;
};

// The segment that starts at point `first` of curves in a shape.
THRONG_INLINE CurveSegment segment_at(const CurvePoint* points, uint32_t first, const ShapeSpan& shape) {
    points += shape.first;
    points += first;
    const Words4 from = load_words(&points[0]), to = load_words(&points[1]);
    CurveSegment s{vec3(from), vec3(to), bits_float(from.w), bits_float(to.w)};
    if (!shape.stride) return s;
    points += shape.stride;
    const Words4 next_from = load_words(&points[0]), next_to = load_words(&points[1]);
    s.start = between(s.start, vec3(next_from), shape.share);
    s.end = between(s.end, vec3(next_to), shape.share);
    s.start_radius = between(s.start_radius, bits_float(next_from.w), shape.share);
    s.end_radius = between(s.end_radius, bits_float(next_to.w), shape.share);
    return s;
}

// A ray in object space with a direction of unit length. `scale` converts distances to the parameter of the original ray.
struct SegmentRay {
    Vec3 origin, unit;
    float scale;
};

// Prepares a ray from the shear of the triangle test, which all traversals compute with the same bits: the ray's longest axis, the other components
// of the direction divided by the one along this axis, and its reciprocal.
THRONG_INLINE SegmentRay make_segment_ray(Vec3 origin, uint32_t longest, float shear_x, float shear_y, float reciprocal) {
    const float inverse = 1.0f / sqrtf(shear_x * shear_x + shear_y * shear_y + 1.0f), z = copysignf(inverse, reciprocal);
    const float x = shear_x * z, y = shear_y * z;
    const Vec3 unit = longest == 0 ? vec3(z, x, y) : longest == 1 ? vec3(y, z, x) : vec3(x, y, z);
    return SegmentRay{origin, unit, fabsf(reciprocal) * inverse};
}

// `t` is the ray's parameter, `u` the share of the way from the segment's start to its end. `v` is the position across the segment, from -1 to 1
// along `cross(axis, direction)`, or `kOnCap` on a sphere.
struct SegmentHit {
    float t, u, v;
};

constexpr float kOnCap = 2.0f;

// The lateral surface of a round cone, between the circles along which it touches the spheres.
struct Cone {
    Vec3 axis;
    // Sine of the angle between the surface and the axis; its tangent; the radius of the cone around the axis at the first sphere's centre.
    float sine, slope, radius;
    // Positions of the two circles along the axis.
    float from, to;
};

// Returns the distance at which the ray enters the cone, and stores `u` and `v`; infinity if it misses.
THRONG_INLINE float enter_cone(const Cone& cone, const SegmentRay& ray, float ahead, Vec3 from_start, float& u, float& v) {
    const float rise = dot(ray.unit, cone.axis);
    const Vec3 across = ray.unit - cone.axis * rise;
    const float across2 = dot(across, across);
    if (!(across2 > 1e-10f)) return kInfinity;
    float z = dot(from_start, cone.axis);
    Vec3 w = from_start - cone.axis * z;
    const float shift = -dot(w, across) / across2;
    w = w + across * shift;
    z = z + rise * shift;
    // The surface is where |w + t * across| = radius - slope * (z + t * rise).
    const float radius = cone.radius - cone.slope * z, widens = cone.slope * rise;
    const float a = across2 - widens * widens, b = widens * radius, c = dot(w, w) - radius * radius, discriminant = b * b - a * c;
    if (!(discriminant >= 0.0f)) return kInfinity;
    const float root = sqrtf(discriminant), t = b >= 0.0f ? (-b - root) / a : c / (root - b);
    const float height = z + rise * t;
    if (!(height >= cone.from && height <= cone.to)) return kInfinity;
    u = clamp((height - cone.from) / (cone.to - cone.from), 0.0f, 1.0f);
    const float around = cone.radius - cone.slope * height;
    v = clamp(dot(w, cross(cone.axis, across)) / (sqrtf(across2) * around), -1.0f, 1.0f);
    return ahead + shift + t;
}

// Returns the distance at which the ray enters a sphere, and stores the position of that point along `axis` from its centre; infinity if it misses.
THRONG_INLINE float enter_sphere(Vec3 center, float radius, const SegmentRay& ray, Vec3 axis, float& height) {
    const Vec3 from = ray.origin - center;
    const float nearest = -dot(from, ray.unit);
    const Vec3 w = from + ray.unit * nearest;
    const float discriminant = radius * radius - dot(w, w);
    if (!(discriminant >= 0.0f)) return kInfinity;
    const float half = sqrtf(discriminant);
    height = dot(w - ray.unit * half, axis);
    return nearest - half;
}

// Finds the point in [t_min, t_max] at which the ray enters a round segment.
THRONG_DEVICE bool intersect_round(const CurveSegment& s, const SegmentRay& ray, float t_min, float t_max, SegmentHit& hit) {
    const Vec3 along = s.end - s.start;
    const float length = sqrtf(dot(along, along)), narrows = s.start_radius - s.end_radius;
    Cone cone{vec3(0.0f), 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    float distance = kInfinity;
    // Otherwise, one sphere contains the other.
    const bool has_cone = length > fabsf(narrows);
    if (has_cone) {
        cone.axis = along * (1.0f / length);
        cone.sine = narrows / length;
        const float cosine = sqrtf(1.0f - cone.sine * cone.sine);
        cone.slope = cone.sine / cosine;
        cone.radius = s.start_radius / cosine;
        cone.from = s.start_radius * cone.sine;
        cone.to = length + s.end_radius * cone.sine;
        const float ahead = dot((s.start + s.end) * 0.5f - ray.origin, ray.unit);
        distance = enter_cone(cone, ray, ahead, (ray.origin - s.start) + ray.unit * ahead, hit.u, hit.v);
    }
    for (int end = 0; end < 2; end++) {
        const float radius = end ? s.end_radius : s.start_radius;
        float height = 0.0f;
        const float other = enter_sphere(end ? s.end : s.start, radius, ray, cone.axis, height);
        // The rest of the sphere is inside the cone, or inside the other sphere.
        const bool shows = has_cone ? (end ? height >= radius * cone.sine : height <= radius * cone.sine) : (end != 0) == (narrows < 0.0f);
        if (shows && other < distance) {
            distance = other;
            hit.u = float(end);
            hit.v = kOnCap;
        }
    }
    hit.t = distance * ray.scale;
    return distance < kInfinity && hit.t >= t_min && hit.t <= t_max;
}

// Finds the point in [t_min, t_max] at which the ray crosses a ribbon that faces it.
THRONG_DEVICE bool intersect_ribbon(const CurveSegment& s, const SegmentRay& ray, float t_min, float t_max, SegmentHit& hit) {
    const Vec3 start = s.start - ray.origin, end = s.end - ray.origin;
    const float start_depth = dot(start, ray.unit), end_depth = dot(end, ray.unit);
    const Vec3 from = start - ray.unit * start_depth, along = (end - ray.unit * end_depth) - from;
    const float length2 = dot(along, along);
    hit.u = length2 > 0.0f ? clamp(-dot(from, along) / length2, 0.0f, 1.0f) : 0.0f;
    const Vec3 to_axis = from + along * hit.u;
    const float radius = s.start_radius + (s.end_radius - s.start_radius) * hit.u;
    if (!(dot(to_axis, to_axis) <= radius * radius) || !(radius > 0.0f)) return false;
    hit.v = length2 > 0.0f ? clamp(-dot(to_axis, cross(along, ray.unit)) / (sqrtf(length2) * radius), -1.0f, 1.0f) : 0.0f;
    hit.t = (start_depth + (end_depth - start_depth) * hit.u) * ray.scale;
    return hit.t >= t_min && hit.t <= t_max;
}

THRONG_INLINE bool intersect_segment(bool ribbon, const CurveSegment& s, const SegmentRay& ray, float t_min, float t_max, SegmentHit& hit) {
    return ribbon ? intersect_ribbon(s, ray, t_min, t_max, hit) : intersect_round(s, ray, t_min, t_max, hit);
}

}

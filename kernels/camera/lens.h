// Thin lenses: the point at which a ray passes the aperture, and its refraction towards the focus.
#pragma once
#include "abi.h"
#include "util/sampler.h"

namespace THRONG_NAMESPACE {

// Samples the unit disc uniformly (Shirley and Chiu 1997, "A Low Distortion Map Between Disk and Square").
THRONG_INLINE Vec2 sample_disc(Vec2 u) {
    const float a = 2.0f * u.x - 1.0f, b = 2.0f * u.y - 1.0f;
    if (a == 0.0f && b == 0.0f) return Vec2{0.0f, 0.0f};
    const bool flat = fabsf(a) > fabsf(b);
    const float radius = flat ? a : b;
    float turn = flat ? 0.125f * (b / a) : 0.25f - 0.125f * (a / b), sine, cosine;
    if (turn < 0.0f) turn += 1.0f;
    sine_cosine(turn, sine, cosine);
    return Vec2{radius * cosine, radius * sine};
}

// Samples a regular polygon with corners on the unit circle uniformly. For `turn` = 0, the middle of a side is on the right.
THRONG_INLINE Vec2 sample_polygon(uint32_t corners, float turn, Vec2 u) {
    const float count = float(corners), place = u.x * count, side = min(floorf(place), count - 1.0f);
    // Uniform in the triangle of the centre and one side.
    const float root = sqrtf(place - side), near = 1.0f - root, far = u.y * root;
    float sine, cosine;
    sine_cosine(0.5f / count, sine, cosine);
    const float x = (near + far) * cosine, y = (near - far) * sine;
    turn += side / count;
    sine_cosine(turn - floorf(turn), sine, cosine);
    return Vec2{x * cosine - y * sine, x * sine + y * cosine};
}

// Moves a pinhole ray to a point of the lens and redirects it to the pinhole ray's point in focus, which lies in a plane or, for panoramas and fisheyes,
// on a sphere. Their lens always faces the direction of the ray.
THRONG_DEVICE void through_lens(const CameraRecord& camera, Vec2 u, Ray& ray) {
    const Vec2 p = camera.blades ? sample_polygon(camera.blades, camera.blade_turn, u) : sample_disc(u);
    const Vec3 direction = load3(ray.direction);
    Vec3 right = load3(camera.lens_right), up = load3(camera.lens_up);
    float t = camera.focus;
    if (camera.kind == CAMERA_EQUIRECTANGULAR || camera.kind == CAMERA_FISHEYE) {
        const Vec3 east = normalize_or(cross(direction, up), right);
        right = east * sqrtf(dot(right, right));
        up = cross(east, direction) * sqrtf(dot(up, up));
    } else {
        t /= dot(direction, load3(camera.forward));
    }
    const Vec3 offset = right * p.x + up * p.y;
    store3(ray.origin, load3(ray.origin) + offset);
    store3(ray.direction, normalize_or(direction * t - offset, direction));
}

}

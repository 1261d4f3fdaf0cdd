// Lenses with distortion, as OpenCV models them: the rational model with eight coefficients (calib3d, "Detailed Description") and the fisheye model of
// Kannala and Brandt (2006). Points are at distance 1 from the eye, x to the right, y up; the models have y down.
#pragma once
#include "abi.h"
#include "util/maths.h"

namespace THRONG_NAMESPACE {

// Steps in which the image of a point moves out from the axis, with two iterations of Newton's method each, and some more in the last. Every
// iteration thus starts close to its solution, on the branch of the model that begins at the axis.
constexpr int kDistortionSteps = 8;

THRONG_INLINE int newton_iterations(int step) { return step == kDistortionSteps ? 6 : 2; }

// The image of a point by the rational model, and its derivatives d(x)/dx, d(x)/dy = d(y)/dx and d(y)/dy.
struct RationalImage {
    float x, y, dxx, dxy, dyy;
};

THRONG_DEVICE RationalImage rational_image(const float* k, float x, float y) {
    const float p1 = k[6], p2 = k[7], r2 = x * x + y * y;
    const float above = 1.0f + r2 * (k[0] + r2 * (k[1] + r2 * k[2])), below = 1.0f + r2 * (k[3] + r2 * (k[4] + r2 * k[5]));
    const float above_slope = k[0] + r2 * (2.0f * k[1] + r2 * 3.0f * k[2]), below_slope = k[3] + r2 * (2.0f * k[4] + r2 * 3.0f * k[5]);
    const float radial = above / below, slope = (above_slope - radial * below_slope) / below;
    RationalImage out;
    out.x = x * radial + 2.0f * p1 * x * y + p2 * (r2 + 2.0f * x * x);
    out.y = y * radial + p1 * (r2 + 2.0f * y * y) + 2.0f * p2 * x * y;
    out.dxx = radial + 2.0f * x * x * slope + 2.0f * p1 * y + 6.0f * p2 * x;
    out.dxy = 2.0f * x * y * slope + 2.0f * p1 * x + 2.0f * p2 * y;
    out.dyy = radial + 2.0f * y * y * slope + 6.0f * p1 * y + 2.0f * p2 * x;
    return out;
}

// The point whose image is (x, y).
THRONG_DEVICE Vec2 without_rational(const float* k, float x, float y) {
    Vec2 point{0.0f, 0.0f};
    for (int step = 1; step <= kDistortionSteps; step++) {
        const float share = float(step) / float(kDistortionSteps);
        for (int i = 0; i < newton_iterations(step); i++) {
            const RationalImage image = rational_image(k, point.x, point.y);
            const float determinant = image.dxx * image.dyy - image.dxy * image.dxy;
            if (!(determinant > 1e-6f)) return point;
            const float dx = x * share - image.x, dy = y * share - image.y;
            point.x += (image.dyy * dx - image.dxy * dy) / determinant;
            point.y += (image.dxx * dy - image.dxy * dx) / determinant;
        }
    }
    return point;
}

// The radius at which a fisheye images an angle to the axis, and its derivative.
THRONG_INLINE Vec2 fisheye_radius(const float* k, float angle) {
    const float t2 = angle * angle;
    const float radius = angle * (1.0f + t2 * (k[0] + t2 * (k[1] + t2 * (k[2] + t2 * k[3]))));
    const float slope = 1.0f + t2 * (3.0f * k[0] + t2 * (5.0f * k[1] + t2 * (7.0f * k[2] + t2 * 9.0f * k[3])));
    return Vec2{radius, slope};
}

// The angle that a fisheye images at a radius.
THRONG_DEVICE float fisheye_angle(const float* k, float radius) {
    float angle = 0.0f;
    for (int step = 1; step <= kDistortionSteps; step++) {
        for (int i = 0; i < newton_iterations(step); i++) {
            const Vec2 here = fisheye_radius(k, angle);
            if (!(here.y > 1e-6f)) return angle;
            angle += (radius * (float(step) / float(kDistortionSteps)) - here.x) / here.y;
        }
    }
    return angle;
}

// The direction that a lens images at (x, y), in world space; not a unit vector.
THRONG_DEVICE Vec3 distorted_direction(const CameraRecord& camera, float x, float y) {
    const Vec3 forward = load3(camera.forward), right = load3(camera.right), up = load3(camera.up);
    if (camera.kind == CAMERA_RATIONAL) {
        const Vec2 point = without_rational(camera.distortion, x, -y);
        return forward + right * point.x - up * point.y;
    }
    const float radius = sqrtf(x * x + y * y), turn = 0.5f / kPi * fisheye_angle(camera.distortion, radius);
    float sine, cosine;
    sine_cosine(turn - floorf(turn), sine, cosine);
    return forward * cosine + (right * x + up * y) * (radius > 0.0f ? sine / radius : 1.0f);
}

// The image of a point `aside` to the right, `above` and `ahead` of the eye. False if a lens that is no fisheye has it behind itself.
THRONG_DEVICE bool distorted_point(const CameraRecord& camera, float aside, float above, float ahead, Vec2& out) {
    if (camera.kind == CAMERA_RATIONAL) {
        if (!(ahead > 0.0f)) return false;
        const RationalImage image = rational_image(camera.distortion, aside / ahead, -above / ahead);
        out = Vec2{image.x, -image.y};
        return true;
    }
    const float across = sqrtf(aside * aside + above * above), radius = fisheye_radius(camera.distortion, angle_of(ahead, across)).x;
    if (!(across > 0.0f) && !(ahead > 0.0f)) return false;
    const float scale = across > 0.0f ? radius / across : 1.0f / ahead;
    out = Vec2{aside * scale, above * scale};
    return true;
}

}

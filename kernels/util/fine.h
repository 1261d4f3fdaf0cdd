// Points with twice the precision of floats, for rays in assemblies, in which objects in close view may be far from the origin of each level.
#pragma once
#include "util/vec.h"

namespace THRONG_NAMESPACE {

// `high` is the point as a float vector, and `low` is the remainder. Stored separately, because most code only needs `high`.
struct FinePoint {
    Vec3 high, low;
};

THRONG_INLINE double fine_difference(float high, float low, float from) { return (double(high) - double(from)) + double(low); }

// Splits a double into the nearest float and the remainder. Operates on bits, because GCC 12 replaces a converted float by its original double when
// it vectorises.
THRONG_INLINE void split(double value, float& high, float& low) {
    const double nearest = bits_double((double_bits(value) + 0x10000000u) & ~uint64_t(0x1fffffffu));
    high = float(nearest);
    low = float(value - nearest);
}

THRONG_INLINE FinePoint sum_of(const FinePoint& a, const FinePoint& b) {
    FinePoint sum;
    split(fine_difference(a.high.x, a.low.x, -b.high.x) + double(b.low.x), sum.high.x, sum.low.x);
    split(fine_difference(a.high.y, a.low.y, -b.high.y) + double(b.low.y), sum.high.y, sum.low.y);
    split(fine_difference(a.high.z, a.low.z, -b.high.z) + double(b.low.z), sum.high.z, sum.low.z);
    return sum;
}

// The point relative to another point; the precision increases as the points get closer.
THRONG_INLINE Vec3 offset_from(const FinePoint& p, Vec3 origin) { return (p.high - origin) + p.low; }

// Whether a point is about as far from anything with coordinates up to `reach` as from the origin. The low part then adds no useful precision.
THRONG_INLINE bool is_far(Vec3 p, float reach) { return max_component(absolute(p)) > 2.0f * reach; }

// Product of the linear part of a transform with a point relative to `origin`, in full precision.
THRONG_INLINE FinePoint transform_offset(const float* m, const FinePoint& p, Vec3 origin) {
    const double x = fine_difference(p.high.x, p.low.x, origin.x), y = fine_difference(p.high.y, p.low.y, origin.y), z = fine_difference(p.high.z, p.low.z, origin.z);
    FinePoint out;
    split(double(m[0]) * x + double(m[1]) * y + double(m[2]) * z, out.high.x, out.low.x);
    split(double(m[4]) * x + double(m[5]) * y + double(m[6]) * z, out.high.y, out.low.y);
    split(double(m[8]) * x + double(m[9]) * y + double(m[10]) * z, out.high.z, out.low.z);
    return out;
}

}

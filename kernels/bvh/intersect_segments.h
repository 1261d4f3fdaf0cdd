// Tests of one ray against a leaf of curves on CPUs. All segments of a leaf are compared with the ray's line at once; the few that it passes closely
// are then tested as on GPUs.
#pragma once
#include "bvh/intersect_wide.h"
#include "geom/segment.h"

namespace THRONG_NAMESPACE {

// A ray, and two unit vectors perpendicular to it and to each other.
struct SegmentSearch {
    SegmentRay ray;
    Vec3 x, y;
    // Error bound of distances to the ray's line.
    float slack;
};

THRONG_INLINE SegmentSearch make_segment_search(const ObjectRay& ray, const Shear& shear, float magnitude) {
    SegmentSearch s;
    s.ray = make_segment_ray(ray.origin, shear.kz, shear.x, shear.y, shear.z);
    basis(s.ray.unit, s.x, s.y);
    s.slack = 2.0f * box_slack(ray.origin, magnitude);
    return s;
}

// Ends of segments, one segment per lane.
template <int Lanes>
struct SegmentLanes {
    Floats<Lanes> from[3], to[3], from_radius, to_radius;
};

// Collects the segments that start at these points.
template <int Lanes>
THRONG_INLINE SegmentLanes<Lanes> segments_at(const CurvePoint* points, const uint32_t* numbers) {
    alignas(64) float of[8][Lanes];
    for (int lane = 0; lane < Lanes; lane++) {
        const CurvePoint* ends = points + numbers[lane];
        for (int end = 0; end < 2; end++) {
            for (int axis = 0; axis < 3; axis++) of[4 * end + axis][lane] = ends[end].position[axis];
            of[4 * end + 3][lane] = ends[end].radius;
        }
    }
    const auto row = [&](int i) { return Floats<Lanes>::load(of[i]); };
    return {{row(0), row(1), row(2)}, {row(4), row(5), row(6)}, row(3), row(7)};
}

#if defined(THRONG_AVX2)
// Both ends of a segment are adjacent and fill a vector, so that this is a transposition of eight vectors.
template <>
THRONG_INLINE SegmentLanes<8> segments_at<8>(const CurvePoint* points, const uint32_t* numbers) {
    static_assert(sizeof(CurvePoint) == 16, "a point has four floats");
    // Row i has the first ends of segments i and i + 4, and row 4 + i their second ends.
    __m256 rows[8];
    for (int i = 0; i < 4; i++) {
        const float *low = points[numbers[i]].position, *high = points[numbers[i + 4]].position;
        for (int end = 0; end < 2; end++)
            rows[4 * end + i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low + 4 * end)), _mm_loadu_ps(high + 4 * end), 1);
    }
    __m256 of[8];
    for (int end = 0; end < 8; end += 4) {
        const __m256 a = _mm256_unpacklo_ps(rows[end], rows[end + 1]), b = _mm256_unpacklo_ps(rows[end + 2], rows[end + 3]);
        const __m256 c = _mm256_unpackhi_ps(rows[end], rows[end + 1]), d = _mm256_unpackhi_ps(rows[end + 2], rows[end + 3]);
        of[end] = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(1, 0, 1, 0));
        of[end + 1] = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 2, 3, 2));
        of[end + 2] = _mm256_shuffle_ps(c, d, _MM_SHUFFLE(1, 0, 1, 0));
        of[end + 3] = _mm256_shuffle_ps(c, d, _MM_SHUFFLE(3, 2, 3, 2));
    }
    return {{{of[0]}, {of[1]}, {of[2]}}, {{of[4]}, {of[5]}, {of[6]}}, {of[3]}, {of[7]}};
}
#endif

// Collects these segments in a shape.
template <int Lanes>
THRONG_INLINE SegmentLanes<Lanes> segments_at(const CurvePoint* points, const uint32_t* numbers, const ShapeSpan& shape) {
    SegmentLanes<Lanes> s = segments_at<Lanes>(points + shape.first, numbers);
    if (!shape.stride) return s;
    const SegmentLanes<Lanes> next = segments_at<Lanes>(points + shape.first + shape.stride, numbers);
    const Floats<Lanes> share = Floats<Lanes>::all(shape.share);
    const auto move = [&](Floats<Lanes>& from, const Floats<Lanes>& to) THRONG_INLINED { from = multiply_add(to - from, share, from); };
    for (int axis = 0; axis < 3; axis++) {
        move(s.from[axis], next.from[axis]);
        move(s.to[axis], next.to[axis]);
    }
    move(s.from_radius, next.from_radius);
    move(s.to_radius, next.to_radius);
    return s;
}

// Returns the mask of the segments of a pack, starting at lane `first`, whose capsules the ray may cross between t_min and t_max. No segment that is
// hit is missing.
template <int Lanes>
THRONG_INLINE uint32_t find_segments(const SegmentPack& pack, int first, const CurvePoint* points, const ShapeSpan& shape, const SegmentSearch& s, float t_min, float t_max) {
    typedef Floats<Lanes> F;
    uint32_t used = first == 0;
    for (int lane = 0; lane < Lanes; lane++) used |= uint32_t(pack.prim[first + lane] != pack.prim[0]) << lane;
    const SegmentLanes<Lanes> segments = segments_at<Lanes>(points, pack.prim + first, shape);
    const F ox = F::all(s.ray.origin.x), oy = F::all(s.ray.origin.y), oz = F::all(s.ray.origin.z);
    const F from[3] = {segments.from[0] - ox, segments.from[1] - oy, segments.from[2] - oz};
    const F to[3] = {segments.to[0] - ox, segments.to[1] - oy, segments.to[2] - oz};
    const auto along = [](const F(&a)[3], Vec3 b) THRONG_INLINED { return multiply_add(a[0], F::all(b.x), multiply_add(a[1], F::all(b.y), a[2] * F::all(b.z))); };
    const F zero = F::all(0.0f), radius = multiply_add(maximum(segments.from_radius, segments.to_radius), F::all(1.001f), F::all(s.slack));
    const F from_x = along(from, s.x), from_y = along(from, s.y), along_x = along(to, s.x) - from_x, along_y = along(to, s.y) - from_y;
    const F length2 = maximum(along_x * along_x + along_y * along_y, F::all(1e-37f));
    const F share = minimum(maximum((zero - (from_x * along_x + from_y * along_y)) / length2, zero), F::all(1.0f));
    const F x = multiply_add(along_x, share, from_x), y = multiply_add(along_y, share, from_y);
    const uint32_t crossed = used & less_equal(x * x + y * y, radius * radius);
    if (!crossed) return 0;
    const F from_z = along(from, s.ray.unit), to_z = along(to, s.ray.unit), scale = F::all(s.ray.scale);
    return crossed & less_equal((minimum(from_z, to_z) - radius) * scale, F::all(t_max)) & less_equal(F::all(t_min), (maximum(from_z, to_z) + radius) * scale);
}

// Stores the pack's closest hit that `counts(prim, u, v, front)` accepts in `q`; with `Any`, the first one found. Returns whether there was a hit.
template <bool Any, class Counts>
THRONG_INLINE bool intersect_segments(const SegmentPack& pack, const CurvePoint* points, const ShapeSpan& shape, bool ribbons, const SegmentSearch& s, uint32_t instance, uint32_t record, Query& q, const Counts& counts) {
    bool any = false;
    for (int first = 0; first < int(PACK_SIZE); first += kPackLanes) {
        for (uint32_t rest = find_segments<kPackLanes>(pack, first, points, shape, s, q.t_min, q.t_max); rest; rest &= rest - 1) {
            const uint32_t prim = pack.prim[first + lowest_bit(rest)];
            SegmentHit hit;
            if (!intersect_segment(ribbons, segment_at(points, prim, shape), s.ray, q.t_min, q.t_max, hit)) continue;
            if (!q.closer(hit.t, instance, prim) || !counts(prim, hit.u, hit.v, true)) continue;
            q.take(hit.t, hit.u, hit.v, prim, instance, record);
            any = true;
            if (Any) return true;
        }
    }
    return any;
}

}

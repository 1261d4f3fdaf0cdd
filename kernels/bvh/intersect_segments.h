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

THRONG_INLINE CurveSegment segment_at(const CurvePoint* points, uint32_t first) {
    const CurvePoint &from = points[first], &to = points[first + 1];
    return CurveSegment{load3(from.position), load3(to.position), from.radius, to.radius};
}

// Ends of segments in the plane across the ray, relative to it, and the greater of both radii.
template <int Lanes>
struct Crossed {
    Floats<Lanes> from_x, from_y, to_x, to_y, radius;
};

// Mask of segments, of which some may be missed, whose capsules the ray's line crosses.
template <int Lanes>
THRONG_INLINE uint32_t passes(const Crossed<Lanes>& c) {
    typedef Floats<Lanes> F;
    const F zero = F::all(0.0f), along_x = c.to_x - c.from_x, along_y = c.to_y - c.from_y;
    const F length2 = maximum(along_x * along_x + along_y * along_y, F::all(1e-37f));
    const F share = minimum(maximum((zero - (c.from_x * along_x + c.from_y * along_y)) / length2, zero), F::all(1.0f));
    const F x = c.from_x + along_x * share, y = c.from_y + along_y * share;
    return less_equal(x * x + y * y, c.radius * c.radius);
}

// Returns the mask of the segments of a pack, starting at lane `first`, that the ray may hit.
template <int Lanes>
THRONG_INLINE uint32_t find_segments(const SegmentPack& pack, int first, const CurvePoint* points, const SegmentSearch& s) {
    alignas(64) float from_x[Lanes], from_y[Lanes], to_x[Lanes], to_y[Lanes], radius[Lanes];
    uint32_t used = 0;
    for (int lane = 0; lane < Lanes; lane++) {
        const uint32_t own = pack.prim[first + lane];
        if (own != NO_INDEX) used |= 1u << lane;
        const CurveSegment segment = segment_at(points, own == NO_INDEX ? pack.prim[0] : own);
        const Vec3 from = segment.start - s.ray.origin, to = segment.end - s.ray.origin;
        from_x[lane] = dot(from, s.x);
        from_y[lane] = dot(from, s.y);
        to_x[lane] = dot(to, s.x);
        to_y[lane] = dot(to, s.y);
        radius[lane] = max(segment.start_radius, segment.end_radius) * 1.001f + s.slack;
    }
    typedef Floats<Lanes> F;
    return used & passes(Crossed<Lanes>{F::load(from_x), F::load(from_y), F::load(to_x), F::load(to_y), F::load(radius)});
}

// Stores the pack's closest hit that `counts(prim, u, v, front)` accepts in `q`; with `Any`, the first one found. Returns whether there was a hit.
template <bool Any, class Counts>
THRONG_INLINE bool intersect_segments(const SegmentPack& pack, const CurvePoint* points, bool ribbons, const SegmentSearch& s, uint32_t instance, uint32_t record, Query& q, const Counts& counts) {
    bool any = false;
    for (int first = 0; first < int(PACK_SIZE); first += kPackLanes) {
        for (uint32_t rest = find_segments<kPackLanes>(pack, first, points, s); rest; rest &= rest - 1) {
            const uint32_t prim = pack.prim[first + lowest_bit(rest)];
            SegmentHit hit;
            if (!intersect_segment(ribbons, segment_at(points, prim), s.ray, q.t_min, q.t_max, hit)) continue;
            if (!q.closer(hit.t, instance, prim) || !counts(prim, hit.u, hit.v, true)) continue;
            q.take(hit.t, hit.u, hit.v, prim, instance, record);
            any = true;
            if (Any) return true;
        }
    }
    return any;
}

}

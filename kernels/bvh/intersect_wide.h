// SIMD tests for the CPU's trees: one ray against all boxes of a node, and against a pack of triangles.
#pragma once
#include "bvh/intersect.h"
#include "util/simd.h"

namespace THRONG_NAMESPACE {

// A ray prepared for the node test: it crosses plane p at p * scale + offset, widened by the rounding error.
struct Slabs {
    float scale[3], near_offset[3], far_offset[3];
    uint32_t near_row[3], far_row[3];
};

THRONG_INLINE Slabs make_slabs(Vec3 origin, Vec3 direction, float magnitude) {
    const float o[3] = {origin.x, origin.y, origin.z}, d[3] = {direction.x, direction.y, direction.z};
    float most = most_reciprocal(max_component(absolute(direction))), error = box_slack(origin, magnitude);
    Slabs s;
    for (uint32_t k = 0; k < 3; k++) {
        float size = min(1.0f / fabsf(d[k]), most), inverse = copysignf(size, d[k]), widen = error * size;
        s.scale[k] = inverse;
        s.near_offset[k] = -o[k] * inverse - widen;
        s.far_offset[k] = -o[k] * inverse + widen;
        s.near_row[k] = inverse < 0.0f ? k + 3 : k;
        s.far_row[k] = inverse < 0.0f ? k : k + 3;
    }
    return s;
}

// The slabs as vectors, kept in registers while a level is traversed.
struct WideSlabs {
    typedef Floats<THRONG_WIDTH> F;
    F scale[3], near_offset[3], far_offset[3], t_min;
    uint32_t near_row[3], far_row[3];
};

THRONG_INLINE WideSlabs widen(const Slabs& s, float t_min) {
    typedef WideSlabs::F F;
    WideSlabs w;
    for (int k = 0; k < 3; k++) {
        w.scale[k] = F::all(s.scale[k]);
        w.near_offset[k] = F::all(s.near_offset[k]);
        w.far_offset[k] = F::all(s.far_offset[k]);
        w.near_row[k] = s.near_row[k];
        w.far_row[k] = s.far_row[k];
    }
    w.t_min = F::all(t_min);
    return w;
}

// A ray in the space of an instance.
struct ObjectRay {
    Vec3 origin, direction;
    WideSlabs slabs;
};

#if defined(THRONG_AVX2)

// The maximum of the first three lanes, in each of them.
THRONG_INLINE __m128 greatest_of_three(__m128 a) {
    return _mm_max_ps(_mm_max_ps(a, _mm_shuffle_ps(a, a, _MM_SHUFFLE(3, 0, 2, 1))), _mm_shuffle_ps(a, a, _MM_SHUFFLE(3, 1, 0, 2)));
}

THRONG_INLINE __m128 most_reciprocal(__m128 greatest) {
    const __m128i near = _mm_sub_epi32(_mm_set1_epi32(int(kBitsOfOneTwice)), _mm_castps_si128(greatest));
    const __m128 size = _mm_andnot_ps(_mm_set1_ps(-0.0f), _mm_castsi128_ps(near));
    return _mm_min_ps(_mm_mul_ps(size, _mm_set1_ps(1e12f)), _mm_set1_ps(1e30f));
}

// Bit-identical to `make_slabs`, with one axis per lane. Compilers vectorise the loop of `make_slabs` only in part.
THRONG_INLINE WideSlabs make_wide_slabs(__m128 origin, __m128 direction, float magnitude, float t_min) {
    const __m128 sign = _mm_set1_ps(-0.0f), length = _mm_andnot_ps(sign, direction);
    const __m128 reach = greatest_of_three(_mm_andnot_ps(sign, origin));
    const __m128 error = _mm_mul_ps(_mm_set1_ps(kBoxSlack), _mm_add_ps(reach, _mm_set1_ps(magnitude)));
    const __m128 size = _mm_min_ps(_mm_div_ps(_mm_set1_ps(1.0f), length), most_reciprocal(greatest_of_three(length)));
    const __m128 inverse = _mm_or_ps(size, _mm_and_ps(sign, direction));
    const __m128 widen = _mm_mul_ps(error, size), middle = _mm_mul_ps(_mm_xor_ps(origin, sign), inverse);

    alignas(16) float scale[4], near_offset[4], far_offset[4];
    _mm_store_ps(scale, inverse);
    _mm_store_ps(near_offset, _mm_sub_ps(middle, widen));
    _mm_store_ps(far_offset, _mm_add_ps(middle, widen));
    // Derived from the direction, so that the nodes' planes can be loaded during the division.
    const uint32_t negative = uint32_t(_mm_movemask_ps(direction));
    typedef WideSlabs::F F;
    WideSlabs w;
    for (uint32_t k = 0; k < 3; k++) {
        w.scale[k] = F::all(scale[k]);
        w.near_offset[k] = F::all(near_offset[k]);
        w.far_offset[k] = F::all(far_offset[k]);
        w.near_row[k] = k + 3 * (negative >> k & 1u);
        w.far_row[k] = k + 3 - 3 * (negative >> k & 1u);
    }
    w.t_min = F::all(t_min);
    return w;
}

THRONG_INLINE WideSlabs make_wide_slabs(Vec3 origin, Vec3 direction, float magnitude, float t_min) {
    return make_wide_slabs(_mm_setr_ps(origin.x, origin.y, origin.z, 0.0f), _mm_setr_ps(direction.x, direction.y, direction.z, 0.0f), magnitude, t_min);
}

template <bool Nested>
THRONG_INLINE ObjectRay enter_space(const float* object_from_world, const Query& q, float magnitude) {
    __m128 x = _mm_loadu_ps(object_from_world), y = _mm_loadu_ps(object_from_world + 4), z = _mm_loadu_ps(object_from_world + 8), w = _mm_setzero_ps();
    _MM_TRANSPOSE4_PS(x, y, z, w);
    const Vec3 from = Nested ? offset_from(q.fine_origin(), translation_of(object_from_world)) : q.origin;
    const __m128 along_z = _mm_set1_ps(from.z), last = Nested ? _mm_mul_ps(z, along_z) : _mm_fmadd_ps(z, along_z, w);
    const __m128 origin = _mm_fmadd_ps(x, _mm_set1_ps(from.x), _mm_fmadd_ps(y, _mm_set1_ps(from.y), last));
    const __m128 direction = _mm_fmadd_ps(x, _mm_set1_ps(q.direction.x), _mm_fmadd_ps(y, _mm_set1_ps(q.direction.y), _mm_mul_ps(z, _mm_set1_ps(q.direction.z))));
    alignas(16) float o[4], d[4];
    _mm_store_ps(o, origin);
    _mm_store_ps(d, direction);
    return ObjectRay{vec3(o[0], o[1], o[2]), vec3(d[0], d[1], d[2]), make_wide_slabs(origin, direction, magnitude, q.t_min)};
}

#else

THRONG_INLINE WideSlabs make_wide_slabs(Vec3 origin, Vec3 direction, float magnitude, float t_min) { return widen(make_slabs(origin, direction, magnitude), t_min); }

template <bool Nested>
THRONG_INLINE ObjectRay enter_space(const float* object_from_world, const Query& q, float magnitude) {
    ObjectRay r;
    r.origin = enter_mesh<Nested>(object_from_world, q);
    r.direction = transform_vector(object_from_world, q.direction);
    r.slabs = make_wide_slabs(r.origin, r.direction, magnitude, q.t_min);
    return r;
}

#endif

// Returns the mask of children that the ray enters before `t_max`, and stores their entry distances in `entry`.
THRONG_INLINE uint32_t intersect_node(const WideNode& node, const WideSlabs& s, float t_max, Floats<THRONG_WIDTH>& entry) {
    typedef WideSlabs::F F;
    F near_x = multiply_add(F::load(node.planes[s.near_row[0]]), s.scale[0], s.near_offset[0]);
    F near_y = multiply_add(F::load(node.planes[s.near_row[1]]), s.scale[1], s.near_offset[1]);
    F near_z = multiply_add(F::load(node.planes[s.near_row[2]]), s.scale[2], s.near_offset[2]);
    F far_x = multiply_add(F::load(node.planes[s.far_row[0]]), s.scale[0], s.far_offset[0]);
    F far_y = multiply_add(F::load(node.planes[s.far_row[1]]), s.scale[1], s.far_offset[1]);
    F far_z = multiply_add(F::load(node.planes[s.far_row[2]]), s.scale[2], s.far_offset[2]);
    // The order of operands matters: if an operand is NaN, minimum and maximum return the second one. An empty slot, whose z planes are crossed at
    // infinity or nowhere, is therefore never entered, even after an overflow elsewhere.
    entry = maximum(maximum(near_x, near_y), maximum(s.t_min, near_z));
    F exit = minimum(minimum(far_x, far_y), minimum(F::all(t_max), far_z));
    return less_equal(entry, exit);
}

// Woop's shear: the ray becomes the +z axis. Axes are permuted so that z is the direction's longest axis.
struct Shear {
    uint32_t kx, ky, kz;
    float x, y, z;
    float origin[3];

    THRONG_INLINE void set_axes(uint32_t longest) {
        kz = longest;
        kx = kz == 2 ? 0 : kz + 1;
        ky = kx == 2 ? 0 : kx + 1;
    }
};

THRONG_INLINE Shear make_shear(Vec3 origin, Vec3 direction) {
    const Vec3 d = direction, a = absolute(direction);
    Shear s;
    s.set_axes(a.x > a.y ? (a.x > a.z ? 0 : 2) : (a.y > a.z ? 1 : 2));
    // Selections instead of indices, so that a loop over rays can be vectorised.
    s.z = 1.0f / (s.kz == 0 ? d.x : s.kz == 1 ? d.y : d.z);
    s.x = (s.kz == 0 ? d.y : s.kz == 1 ? d.z : d.x) * s.z;
    s.y = (s.kz == 0 ? d.z : s.kz == 1 ? d.x : d.y) * s.z;
    s.origin[0] = origin.x; s.origin[1] = origin.y; s.origin[2] = origin.z;
    return s;
}

// Intersections of a ray with triangles, one per lane: t, the triangle's determinant, and u and v times the determinant.
template <int Lanes>
struct Crossing {
    Floats<Lanes> t, u, v, det;
};

// Corners of triangles in the sheared space in which the ray is the z axis.
template <int Lanes>
struct Corners {
    Floats<Lanes> x[3], y[3];
};

// Returns the mask of triangles that the ray hits in [t_min, t_max], and stores the intersections in `crossing`. `depth(corner)` returns the corners'
// z; it is only called if the ray's line crosses some triangle.
template <int Lanes, class Depth>
THRONG_INLINE uint32_t cross_triangles(const Corners<Lanes>& c, const Shear& s, float t_min, float t_max, Crossing<Lanes>& crossing, Depth&& depth) {
    typedef Floats<Lanes> F;
    F e0 = c.x[2] * c.y[1] - c.y[2] * c.x[1], e1 = c.x[0] * c.y[2] - c.y[0] * c.x[2], e2 = c.x[1] * c.y[0] - c.y[1] * c.x[0];
    const uint32_t on_edge = any_zero(e0, e1, e2);
    uint32_t inside;
    if (__builtin_expect(on_edge != 0, 0)) {
        alignas(64) float x[3][Lanes], y[3][Lanes], e[3][Lanes];
        for (int corner = 0; corner < 3; corner++) {
            c.x[corner].store(x[corner]);
            c.y[corner].store(y[corner]);
        }
        e0.store(e[0]); e1.store(e[1]); e2.store(e[2]);
        for (uint32_t rest = on_edge; rest; rest &= rest - 1) {
            uint32_t i = lowest_bit(rest);
            float exact[3];
            edge_functions_exact(x[0][i], y[0][i], x[1][i], y[1][i], x[2][i], y[2][i], exact);
            for (int k = 0; k < 3; k++) e[k][i] = exact[k];
        }
        e0 = F::load(e[0]); e1 = F::load(e[1]); e2 = F::load(e[2]);
        inside = same_signs(e0, e1, e2);
    } else {
        inside = same_sign_bits(e0, e1, e2);
    }
    if (!inside) return 0;
    const F det = e0 + e1 + e2, sz = F::all(s.z);
    inside &= ~equal(det, F::all(0.0f));
    const F distance = (e0 * (sz * depth(0)) + e1 * (sz * depth(1)) + e2 * (sz * depth(2))) / det;
    inside &= less_equal(F::all(t_min), distance) & less_equal(distance, F::all(t_max));
    crossing = {distance, e1, e2, det};
    return inside;
}

constexpr int kPackLanes = THRONG_WIDTH < int(PACK_SIZE) ? THRONG_WIDTH : int(PACK_SIZE);

// A corner of a triangle in a pack, with axes permuted so that z is the ray's longest.
THRONG_INLINE Vec3 corner_of(const TrianglePack& pack, int corner, uint32_t lane, const Shear& s) {
    const auto& of = pack.vertices[corner];
    return vec3(of[s.kx][lane], of[s.ky][lane], of[s.kz][lane]);
}
THRONG_INLINE Vec3 corner_of(const SharedPack& pack, int corner, uint32_t lane, const Shear& s) {
    const uint32_t at = pack.corners[corner][lane];
    return vec3(pack.vertices[s.kx][at], pack.vertices[s.ky][at], pack.vertices[s.kz][at]);
}

// Whether the triangle in a lane of a pack lies behind the ray's origin. Outlined, because few rays need it.
template <class Pack>
THRONG_OUTLINE bool is_behind(const Pack& pack, uint32_t lane, const Shear& s) {
    Vec3 corners[3];
    for (int i = 0; i < 3; i++) corners[i] = corner_of(pack, i, lane, s);
    return is_behind(corners, vec3(s.origin[s.kx], s.origin[s.ky], s.origin[s.kz]), s.x, s.y, s.z);
}

// `cross_triangles` for the triangles of a pack, starting at lane `first`.
THRONG_INLINE uint32_t cross_pack(const TrianglePack& pack, int first, const Shear& s, float t_min, float t_max, Crossing<kPackLanes>& crossing) {
    typedef Floats<kPackLanes> F;
    const F ox = F::all(s.origin[s.kx]), oy = F::all(s.origin[s.ky]), oz = F::all(s.origin[s.kz]), sx = F::all(s.x), sy = F::all(s.y);
    Corners<kPackLanes> corners;
    F z[3];
    for (int corner = 0; corner < 3; corner++) {
        z[corner] = F::load(&pack.vertices[corner][s.kz][first]) - oz;
        corners.x[corner] = (F::load(&pack.vertices[corner][s.kx][first]) - ox) - sx * z[corner];
        corners.y[corner] = (F::load(&pack.vertices[corner][s.ky][first]) - oy) - sy * z[corner];
    }
    return cross_triangles(corners, s, t_min, t_max, crossing, [&](int corner) THRONG_INLINED { return z[corner]; });
}

// Calls `some(first, mask, crossing)` for groups of lanes in which the ray hits triangles, until it returns true. Unused lanes repeat another
// triangle.
template <class Some>
THRONG_INLINE bool each_crossing(const TrianglePack& pack, const Shear& shear, const Query& q, Some&& some) {
    Crossing<kPackLanes> crossing;
    for (int first = 0; first < int(PACK_SIZE); first += kPackLanes) {
        const uint32_t hits = cross_pack(pack, first, shear, q.t_min, q.t_max, crossing);
        if (hits && some(first, hits, crossing)) return true;
    }
    return false;
}

#if THRONG_WIDTH == 16
// Variant for shared packs: each vertex is translated and sheared once, and then copied to all triangles that use it.
template <class Some>
THRONG_INLINE bool each_crossing(const SharedPack& pack, const Shear& s, const Query& q, Some&& some) {
    typedef Floats<16> F;
    const F z = F::load(pack.vertices[s.kz]) - F::all(s.origin[s.kz]);
    const F x = (F::load(pack.vertices[s.kx]) - F::all(s.origin[s.kx])) - F::all(s.x) * z;
    const F y = (F::load(pack.vertices[s.ky]) - F::all(s.origin[s.ky])) - F::all(s.y) * z;
    Corners<16> corners;
    Lanes16 vertex[3];
    for (int corner = 0; corner < 3; corner++) {
        vertex[corner] = Lanes16::load(pack.corners[corner]);
        corners.x[corner] = lanes_of(x, vertex[corner]);
        corners.y[corner] = lanes_of(y, vertex[corner]);
    }
    Crossing<16> crossing;
    const uint32_t hits = cross_triangles(corners, s, q.t_min, q.t_max, crossing, [&](int corner) THRONG_INLINED { return lanes_of(z, vertex[corner]); });
    return hits && some(0, hits, crossing);
}
#endif

// Whether the ray hits any triangle of the pack.
template <class Pack>
THRONG_INLINE bool crosses_pack(const Pack& pack, const Shear& shear, const Query& q) {
    return each_crossing(pack, shear, q, [&](int first, uint32_t hits, const auto& crossing) THRONG_INLINED {
        if (!(q.near > 0.0f)) return true;
        typedef decltype(crossing.t) Distance;
        uint32_t close = hits & ~less_equal(Distance::all(q.near), crossing.t);
        if (close != hits) return true;
        for (; close; close &= close - 1)
            if (!is_behind(pack, first + lowest_bit(close), shear)) return true;
        return false;
    });
}

// Stores the pack's closest hit that `counts(prim, u, v, front)` accepts in `q`. `front` is true if the ray hits the side from which the corners run
// counter-clockwise. Returns whether there was a hit.
template <class Pack, class Counts>
THRONG_INLINE bool intersect_pack(const Pack& pack, const Shear& shear, uint32_t instance, uint32_t record, Query& q, const Counts& counts) {
    bool any = false;
    each_crossing(pack, shear, q, [&](int first, uint32_t hits, const auto& crossing) THRONG_INLINED {
        alignas(64) float t[THRONG_WIDTH], u[THRONG_WIDTH], v[THRONG_WIDTH], det[THRONG_WIDTH];
        crossing.t.store(t);
        (crossing.u / crossing.det).store(u);
        (crossing.v / crossing.det).store(v);
        crossing.det.store(det);
        for (; hits; hits &= hits - 1) {
            const uint32_t i = lowest_bit(hits), prim = pack.prim[first + i];
            if (prim == NO_INDEX || !q.closer(t[i], instance, prim)) continue;
            if (t[i] < q.near && is_behind(pack, first + i, shear)) continue;
            if (!counts(prim, u[i], v[i], (det[i] > 0.0f) == (shear.z > 0.0f))) continue;
            q.take(t[i], u[i], v[i], prim, instance, record);
            any = true;
        }
        return false;
    });
    return any;
}

template <class Counts>
THRONG_INLINE bool intersect_sphere(Vec3 origin, Vec3 direction, uint32_t instance, uint32_t record, Query& q, const Counts& counts) {
    float t;
    if (!sphere_distance(origin, direction, q.t_min, q.t_max, t) || !q.closer(t, instance, 0) || !counts(0, 0.0f, 0.0f)) return false;
    q.take(t, 0.0f, 0.0f, 0, instance, record);
    return true;
}

}

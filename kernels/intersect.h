// Rays against boxes, triangles and the unit sphere. A hit is never lost between two triangles that share an edge:
// the triangle test is watertight (Woop, Benthin and Wald 2013), and the box test errs towards entering.
#pragma once
#include "abi.h"
#include "simd.h"
#include "vec.h"

namespace THRONG_NAMESPACE {

// The ray in the space it is traversed in, and the closest hit so far (`t_max` is its distance).
struct Query {
    Vec3 origin, direction;
    float t_min, t_max;
    float u, v;
    uint32_t prim, instance, record;
};

// A ray prepared for the node test: the crossing of plane p is p * scale + offset, widened by the rounding error.
//
// The triangle test works on vertices that are rounded relative to the ray's origin, so its hits may lie outside the
// exact box by a few units in the last place of |origin| + |box|. `near_offset` and `far_offset` absorb that and the
// rounding of the slab arithmetic itself (fewer than 8 half-ulps in sum).
struct Slabs {
    float scale[3], near_offset[3], far_offset[3];
    uint32_t near_row[3], far_row[3];
};

THRONG_INLINE Slabs make_slabs(Vec3 origin, Vec3 direction, float magnitude) {
    const float o[3] = {origin.x, origin.y, origin.z}, d[3] = {direction.x, direction.y, direction.z};
    // A component this small moves the ray by less than rounding does; it keeps the reciprocal finite.
    float tiny = max(max_component(absolute(direction)) * 1e-12f, 1e-30f);
    float error = 8.0f * 5.9604645e-8f * (max_component(absolute(origin)) + magnitude);
    Slabs s;
    for (uint32_t k = 0; k < 3; k++) {
        float dk = fabsf(d[k]) < tiny ? copysignf(tiny, d[k]) : d[k];
        float inverse = 1.0f / dk, widen = error * fabsf(inverse);
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

// Mask of the children that the ray enters before `t_max`; their entry distances go to `entry`.
THRONG_INLINE uint32_t intersect_node(const WideNode& node, const WideSlabs& s, float t_max, Floats<THRONG_WIDTH>& entry) {
    typedef WideSlabs::F F;
    F near_x = multiply_add(F::load(node.planes[s.near_row[0]]), s.scale[0], s.near_offset[0]);
    F near_y = multiply_add(F::load(node.planes[s.near_row[1]]), s.scale[1], s.near_offset[1]);
    F near_z = multiply_add(F::load(node.planes[s.near_row[2]]), s.scale[2], s.near_offset[2]);
    F far_x = multiply_add(F::load(node.planes[s.far_row[0]]), s.scale[0], s.far_offset[0]);
    F far_y = multiply_add(F::load(node.planes[s.far_row[1]]), s.scale[1], s.far_offset[1]);
    F far_z = multiply_add(F::load(node.planes[s.far_row[2]]), s.scale[2], s.far_offset[2]);
    // The order of operands matters: of an operand that is no number, minimum and maximum return the second one. So an
    // empty slot, whose z planes are crossed at infinity or nowhere, is never entered, whatever overflows elsewhere.
    entry = maximum(maximum(near_x, near_y), maximum(s.t_min, near_z));
    F exit = minimum(minimum(far_x, far_y), minimum(F::all(t_max), far_z));
    return less_equal(entry, exit);
}

// Woop's shear: the ray becomes the +z axis. Axes are permuted so that z is where the direction is longest.
struct Shear {
    uint32_t kx, ky, kz;
    float x, y, z;
    float origin[3];
};

THRONG_INLINE Shear make_shear(Vec3 origin, Vec3 direction) {
    const float d[3] = {direction.x, direction.y, direction.z};
    Vec3 a = absolute(direction);
    Shear s;
    s.kz = a.x > a.y ? (a.x > a.z ? 0 : 2) : (a.y > a.z ? 1 : 2);
    s.kx = s.kz == 2 ? 0 : s.kz + 1;
    s.ky = s.kx == 2 ? 0 : s.kx + 1;
    s.z = 1.0f / d[s.kz];
    s.x = d[s.kx] * s.z;
    s.y = d[s.ky] * s.z;
    s.origin[0] = origin.x; s.origin[1] = origin.y; s.origin[2] = origin.z;
    return s;
}

// One lane again in double precision, where products of floats are exact: decides what lies exactly on an edge.
THRONG_DEVICE void edge_functions_exact(float ax, float ay, float bx, float by, float cx, float cy, float* uvw) {
    uvw[0] = float(double(cx) * by - double(cy) * bx);
    uvw[1] = float(double(ax) * cy - double(ay) * cx);
    uvw[2] = float(double(bx) * ay - double(by) * ax);
}

// Order among hits at equal distance: where surfaces coincide, every tree, width and device must pick the same one.
THRONG_INLINE bool closer(const Query& q, float t, uint32_t instance, uint32_t prim) {
    if (t != q.t_max) return t < q.t_max;
    return q.prim == NO_INDEX || instance < q.instance || (instance == q.instance && prim < q.prim);
}

// Lanes of the pack that the ray hits within [t_min, t_max]; t, u and v of these lanes.
template <int Lanes>
THRONG_INLINE uint32_t intersect_lanes(const TrianglePack& pack, int first, const Shear& s, float t_min, float t_max, float* t, float* u, float* v) {
    typedef Floats<Lanes> F;
    F ox = F::all(s.origin[s.kx]), oy = F::all(s.origin[s.ky]), oz = F::all(s.origin[s.kz]);
    F sx = F::all(s.x), sy = F::all(s.y), sz = F::all(s.z);
    F az = F::load(&pack.vertices[0][s.kz][first]) - oz;
    F bz = F::load(&pack.vertices[1][s.kz][first]) - oz;
    F cz = F::load(&pack.vertices[2][s.kz][first]) - oz;
    F ax = (F::load(&pack.vertices[0][s.kx][first]) - ox) - sx * az, ay = (F::load(&pack.vertices[0][s.ky][first]) - oy) - sy * az;
    F bx = (F::load(&pack.vertices[1][s.kx][first]) - ox) - sx * bz, by = (F::load(&pack.vertices[1][s.ky][first]) - oy) - sy * bz;
    F cx = (F::load(&pack.vertices[2][s.kx][first]) - ox) - sx * cz, cy = (F::load(&pack.vertices[2][s.ky][first]) - oy) - sy * cz;
    F e0 = cx * by - cy * bx, e1 = ax * cy - ay * cx, e2 = bx * ay - by * ax;

    F zero = F::all(0.0f);
    uint32_t on_edge = equal(e0, zero) | equal(e1, zero) | equal(e2, zero);
    if (__builtin_expect(on_edge != 0, 0)) {
        alignas(64) float x[3][Lanes], y[3][Lanes], e[3][Lanes];
        ax.store(x[0]); bx.store(x[1]); cx.store(x[2]);
        ay.store(y[0]); by.store(y[1]); cy.store(y[2]);
        e0.store(e[0]); e1.store(e[1]); e2.store(e[2]);
        for (uint32_t rest = on_edge; rest; rest &= rest - 1) {
            uint32_t i = lowest_bit(rest);
            float exact[3];
            edge_functions_exact(x[0][i], y[0][i], x[1][i], y[1][i], x[2][i], y[2][i], exact);
            for (int k = 0; k < 3; k++) e[k][i] = exact[k];
        }
        e0 = F::load(e[0]); e1 = F::load(e[1]); e2 = F::load(e[2]);
    }

    F lowest = minimum(e0, minimum(e1, e2)), highest = maximum(e0, maximum(e1, e2));
    uint32_t inside = less_equal(zero, lowest) | less_equal(highest, zero);
    if (!inside) return 0;
    F det = e0 + e1 + e2;
    inside &= ~equal(det, zero);
    F distance = (e0 * (sz * az) + e1 * (sz * bz) + e2 * (sz * cz)) / det;
    inside &= less_equal(F::all(t_min), distance) & less_equal(distance, F::all(t_max));
    if (!inside) return 0;
    distance.store(t);
    (e1 / det).store(u);
    (e2 / det).store(v);
    return inside;
}

// Takes over the pack's closest hit. True if there was one.
THRONG_INLINE bool intersect_pack(const TrianglePack& pack, const Shear& shear, uint32_t instance, uint32_t record, Query& q) {
    constexpr int kLanes = THRONG_WIDTH < int(PACK_SIZE) ? THRONG_WIDTH : int(PACK_SIZE);
    alignas(64) float t[kLanes], u[kLanes], v[kLanes];
    bool any = false;
    for (int first = 0; first < int(PACK_SIZE); first += kLanes) {
        uint32_t hits = intersect_lanes<kLanes>(pack, first, shear, q.t_min, q.t_max, t, u, v);
        for (; hits; hits &= hits - 1) {
            uint32_t i = lowest_bit(hits), prim = pack.prim[first + i];
            if (prim == NO_INDEX || !closer(q, t[i], instance, prim)) continue;
            q.t_max = t[i]; q.u = u[i]; q.v = v[i];
            q.prim = prim; q.instance = instance; q.record = record;
            any = true;
        }
    }
    return any;
}

// The unit sphere about the origin, without the cancellation of the textbook formula (Haines et al. 2019, "Precision
// Improvements for Ray/Sphere Intersection").
THRONG_DEVICE bool intersect_sphere(Vec3 origin, Vec3 direction, uint32_t instance, uint32_t record, Query& q) {
    // Squares of very long or short directions would leave the range of floats.
    float scale = 1.0f / max_component(absolute(direction));
    direction = direction * scale;
    float a = dot(direction, direction), b = -dot(origin, direction), c = dot(origin, origin) - 1.0f;
    Vec3 nearest = origin + direction * (b / a);
    float discriminant = 1.0f - dot(nearest, nearest);
    if (!(discriminant >= 0.0f)) return false;
    float root = b + copysignf(sqrtf(a * discriminant), b);
    float t0 = c / root * scale, t1 = root / a * scale;
    float first = min(t0, t1), second = max(t0, t1);
    float t = first >= q.t_min ? first : second;
    if (!(t >= q.t_min && t <= q.t_max) || !closer(q, t, instance, 0)) return false;
    q.t_max = t; q.u = 0.0f; q.v = 0.0f;
    q.prim = 0; q.instance = instance; q.record = record;
    return true;
}

}

// A hit prepared for shading: position, normals, texture coordinates and material, all in world space.
#pragma once
#include "geom/curve.h"

namespace THRONG_NAMESPACE {

struct Surface {
    Vec3 position;
    // Unit normals on the side from which the ray came.
    Vec3 geometric, shading;
    // Upper bound of the distance between `position` and the true surface, per axis.
    float error;
    // Both sets of texture coordinates.
    Vec2 uv[2];
    // What the ray covers on textures, or null for a point. A pointer, so that kernels keep no registers for it.
    const Footprint* footprint;
    // Vertex colour; multiplies the material's colour.
    Vec3 color;
    // Tangent along increasing u, neither of unit length nor exactly in the surface. `handedness` is the sign of the front's bitangent, 1 or -1 as in
    // `Attributes`, or 0 without a tangent.
    Vec3 tangent;
    float handedness;
    uint32_t material;
    // Whether the ray came from the front: the side of vertex normals, of counter-clockwise corners, or the outside of spheres.
    bool front;
    // Time of the ray.
    Time time;
#if THRONG_NESTED
    // On a curve, the vector from its axis to `position`, and its radius; otherwise 0. The axis is along `tangent`.
    Vec3 around;
    float radius;
#endif
};

// A point and its normals in object space.
struct ObjectPoint {
    Vec3 position, geometric, shading;
    // Greatest absolute coordinates of the primitive. The precision of its intersection test is a few ulps of these.
    Vec3 reach;
    Attributes attributes;
    uint32_t slot;
#if THRONG_NESTED
    // As in `Surface`, in object space.
    Vec3 around;
    float radius;
#endif
};

// `add_attributes` for a deforming mesh, including its deforming tangents.
THRONG_DEVICE void add_moving_attributes(MeshRecord mesh, const uint32_t* corners, const Weights& w, const ShapeSpan& shape, Attributes& at) {
    const bool turns = mesh.flags & MESH_TANGENTS;
    if (turns) mesh.attributes += shape.first;
    add_attributes(mesh, corners, w, at);
    if (!turns) return;
    Attributes next = at;
    mesh.attributes += shape.stride;
    add_attributes(mesh, corners, w, next);
    at.tangent = between(at.tangent, next.tangent, shape.share);
}

THRONG_DEVICE ObjectPoint triangle_point(const MeshRecord& mesh, const Hit& hit, const ShapeSpan& shape) {
    const CornerRecord corners = load_record(&mesh.corners[hit.prim]);
    const VertexRecord a = vertex_at(mesh, corners.vertices[0], shape), b = vertex_at(mesh, corners.vertices[1], shape),
                       c = vertex_at(mesh, corners.vertices[2], shape);
    const Weights w{1.0f - hit.u - hit.v, hit.u, hit.v};
    Vec3 p0 = load3(a.position), e1 = load3(b.position) - p0, e2 = load3(c.position) - p0;
    ObjectPoint o;
    o.position = p0 + e1 * hit.u + e2 * hit.v;
    o.reach = absolute(p0) + absolute(e1) + absolute(e2);
    // Scaled, so that the product of tiny edges does not underflow.
    float scale = 1.0f / max(max_component(absolute(e1)), max(max_component(absolute(e2)), 1e-37f));
    o.geometric = cross(e1 * scale, e2 * scale);
    o.shading = o.geometric;
    if (mesh.flags & MESH_SMOOTH) {
        o.shading = weighted(w, load3(a.normal), load3(b.normal), load3(c.normal));
        // If winding and normals disagree, the normals are used: a mirror image that is baked into a file has the wrong winding.
        if (dot(o.shading, o.geometric) < 0.0f) o.geometric = -o.geometric;
    }
    o.attributes.uv[0] = Vec2{a.u * w.a + b.u * w.b + c.u * w.c, a.v * w.a + b.v * w.b + c.v * w.c};
    if (shape.stride) add_moving_attributes(mesh, corners.vertices, w, shape, o.attributes);
    else add_attributes(mesh, corners.vertices, w, o.attributes);
    o.slot = corners.slot;
    return o;
}

THRONG_DEVICE ObjectPoint sphere_point(const Params& params, const InstanceRecord& instance, uint32_t number, Time time, Vec3 hit_in_world) {
    float object_from_world[12];
    if (is_nested(params) || (moves(params) && instance.segments)) {
        float world_from_object[12];
        load_placement(params, instance, number, time, world_from_object, object_from_world);
    } else load_matrix(instance.object_from_world, object_from_world);
    ObjectPoint o;
    o.position = normalize_or(transform_point(object_from_world, hit_in_world), vec3(0.0f, 1.0f, 0.0f));
    o.geometric = o.shading = o.position;
    o.reach = vec3(1.0f);
    o.attributes = sphere_attributes(o.position);
    o.slot = 0;
    return o;
}

#if THRONG_NESTED
THRONG_OUTLINE ObjectPoint curve_point(const Params& params, const InstanceRecord& instance, const MeshRecord& mesh, const Hit& hit, Time time, Vec3 origin, Vec3 direction) {
    float world_from_object[12], object_from_world[12];
    load_placement(params, instance, hit.instance, time, world_from_object, object_from_world);
    const ShapeSpan shape = shape_at(params, instance.mesh, time);
    const CurveSite site = curve_site(mesh, hit, shape, object_from_world, origin, direction);
    ObjectPoint o;
    o.position = site.center + site.around;
    o.geometric = o.shading = site.normal;
    o.reach = site.reach;
    o.attributes = curve_attributes(mesh, hit, site.along);
    o.slot = 0;
    o.around = site.around;
    o.radius = site.radius;
    return o;
}
#endif

// The point of a hit in object space.
THRONG_INLINE ObjectPoint point_of_hit(const Params& params, const InstanceRecord& instance, const MeshRecord& mesh, uint32_t mesh_index, const Hit& hit, Time time, Vec3 origin, Vec3 direction) {
#if THRONG_NESTED
    if (is_curves(mesh.shape)) return curve_point(params, instance, mesh, hit, time, origin, direction);
#endif
    ObjectPoint o = mesh.shape == SHAPE_SPHERE ? sphere_point(params, instance, hit.instance, time, origin + direction * hit.t)
                                               : triangle_point(mesh, hit, shape_at(params, mesh_index, time));
#if THRONG_NESTED
    o.around = vec3(0.0f);
    o.radius = 0.0f;
#endif
    return o;
}

// Whether a position with this error must be recomputed: on a primitive much larger than others, and if the error would be visible.
THRONG_INLINE bool is_coarse(const Params& params, float error, float distance) {
    return is_nested(params) && params.frame.near > 0.0f && error > max(distance * (1.0f / 8192.0f), params.frame.near * 0.125f);
}

// A position and the upper bound of its error.
struct Precise {
    Vec3 position;
    float error;
};

// Recomputes a hit on a large triangle as the intersection of the ray with the triangle's plane, in double precision. The error bound only includes
// rounding across the surface, so that rays can leave a large flat ground closely. For the position itself it includes all axes, because a ground at
// a height of 0 would otherwise have no bound. Outlined and computed from the hit alone, because few hits need it.
THRONG_OUTLINE Precise place_precisely(const Params& params, const Ray& ray, const Hit& hit, Vec3 position, float error) {
    const InstanceRecord& instance = params.trees.instances[hit.record];
    const uint32_t mesh_index = load_words(&instance.slot_base).y;
    const MeshRecord mesh = load_record(&params.tables.meshes[mesh_index]);
    if (mesh.shape != SHAPE_TRIANGLES) return Precise{position, error};
    const Time time = time_of(ray);
    const ShapeSpan shape = shape_at(params, mesh_index, time);
    const CornerRecord corners = load_record(&mesh.corners[hit.prim]);
    float world_from_object[12], object_from_world[12];
    load_placement(params, instance, hit.instance, time, world_from_object, object_from_world);
    // In world space: the first corner relative to the ray's origin, then the other two relative to the first.
    double p[3][3];
    Vec3 reach = vec3(0.0f);
    for (int corner = 0; corner < 3; corner++) {
        const Vec3 v = load3(vertex_at(mesh, corners.vertices[corner], shape).position);
        reach += absolute(v);
        for (int axis = 0; axis < 3; axis++) {
            const float* row = world_from_object + 4 * axis;
            const double at = double(row[0]) * double(v.x) + double(row[1]) * double(v.y) + double(row[2]) * double(v.z) + double(row[3]);
            p[corner][axis] = at - double(ray.origin[axis]) - (corner ? p[0][axis] : 0.0);
        }
    }
    const double nx = p[1][1] * p[2][2] - p[1][2] * p[2][1], ny = p[1][2] * p[2][0] - p[1][0] * p[2][2], nz = p[1][0] * p[2][1] - p[1][1] * p[2][0];
    const double slope = nx * double(ray.direction[0]) + ny * double(ray.direction[1]) + nz * double(ray.direction[2]);
    const double t = (nx * p[0][0] + ny * p[0][1] + nz * p[0][2]) / slope;
    if (!(t > 0.0 && t < 1e30)) return Precise{position, error};
    position = vec3(float(double(ray.origin[0]) + double(ray.direction[0]) * t), float(double(ray.origin[1]) + double(ray.direction[1]) * t),
                    float(double(ray.origin[2]) + double(ray.direction[2]) * t));
    // The triangle is large, so this does not underflow.
    Vec3 normal = vec3(float(nx), float(ny), float(nz));
    if (!normalize(normal)) return Precise{position, error};
    // The normal in object space, scaled to object-space distances.
    const Vec3 inside = absolute(vec3(dot(normal, vec3(world_from_object[0], world_from_object[4], world_from_object[8])),
                                      dot(normal, vec3(world_from_object[1], world_from_object[5], world_from_object[9])),
                                      dot(normal, vec3(world_from_object[2], world_from_object[6], world_from_object[10]))));
    const Vec3 back = transform_magnitude(object_from_world, position), place = absolute(transform_point(object_from_world, position));
    const float across = dot(inside, reach + back) + dot(absolute(normal), transform_magnitude(world_from_object, place));
    error = 2.0f * 16.0f * 5.9604645e-8f * (across + max_component(absolute(position)));
    return Precise{position, moves(params) ? 4.0f * error : error};
}

THRONG_DEVICE Surface make_surface(const Params& params, const Ray& ray, const Hit& hit) {
    const InstanceRecord& instance = params.trees.instances[hit.record];
    const Words4 ids = load_words(&instance.slot_base);
    const MeshRecord mesh = load_record(&params.tables.meshes[ids.y]);
    Vec3 origin = load3(ray.origin), direction = load3(ray.direction);
    const Time time = time_of(ray);
    const ObjectPoint o = point_of_hit(params, instance, mesh, ids.y, hit, time, origin, direction);

    // Loaded only here, because a GPU would otherwise keep them in registers.
    float world_from_object[12], object_from_world[12];
    load_placement(params, instance, hit.instance, time, world_from_object, object_from_world);
    Surface s;
    s.time = time;
    s.position = transform_point(world_from_object, o.position);
    // The next ray is transformed back to object space, where it must start on the proper side of this surface. Rounding happens in four places: in
    // the intersection test (relative to the primitive's reach), in the transform to world space (terms |M| |p| + |T|), in the float position itself,
    // and in the transform back. The last error is |M| eps (|M^-1| |position| + |T'|) in world units. With a few operations each, 16 half-ulps of the
    // sum is a safe bound.
    Vec3 out = transform_magnitude(world_from_object, o.reach);
    Vec3 back = transform_magnitude(object_from_world, s.position);
    Vec3 back_in_world = vec3(fabsf(world_from_object[0]) * back.x + fabsf(world_from_object[1]) * back.y + fabsf(world_from_object[2]) * back.z,
                              fabsf(world_from_object[4]) * back.x + fabsf(world_from_object[5]) * back.y + fabsf(world_from_object[6]) * back.z,
                              fabsf(world_from_object[8]) * back.x + fabsf(world_from_object[9]) * back.y + fabsf(world_from_object[10]) * back.z);
    s.error = 16.0f * 5.9604645e-8f * (max_component(out) + max_component(back_in_world));
    // Products of transforms are less precise than a single transform.
    if (is_nested(params)) s.error *= 2.0f;
    // An inverse computed per hit has a dozen more roundings, and so do vertices between keys.
    if (moves(params) && (instance.flags || is_nested(params))) s.error *= 4.0f;
    if (is_coarse(params, s.error, hit.t)) {
        const Precise precise = place_precisely(params, ray, hit, s.position, s.error);
        s.position = precise.position;
        s.error = precise.error;
    }

    s.geometric = transform_normal(object_from_world, o.geometric);
    if (!normalize(s.geometric)) s.geometric = normalize_or(-direction, vec3(0.0f, 1.0f, 0.0f));
    s.shading = normalize_or(transform_normal(object_from_world, o.shading), s.geometric);
    s.front = !(dot(s.geometric, direction) > 0.0f);
    if (!s.front) {
        s.geometric = -s.geometric;
        s.shading = -s.shading;
    }
    s.uv[0] = o.attributes.uv[0];
    s.uv[1] = o.attributes.uv[1];
    s.footprint = nullptr;
    s.color = o.attributes.color;
    s.tangent = transform_vector(world_from_object, o.attributes.tangent);
    s.handedness = is_mirrored(world_from_object) ? -o.attributes.handedness : o.attributes.handedness;
    s.material = params.scene.material_slots[ids.x + o.slot];
#if THRONG_NESTED
    s.around = transform_vector(world_from_object, o.around);
    // Scaled like the surface's normal, because the axis of a long segment may be stretched differently.
    s.radius = o.radius > 0.0f ? o.radius * length(transform_vector(world_from_object, o.geometric)) : 0.0f;
#endif
    return s;
}

// The surface of a hit; empty for a miss.
THRONG_DEVICE Surface surface_at(const Params& params, const Ray& ray, const Hit& hit) {
    if (hit.t < 0.0f) return Surface{};
    return make_surface(params, ray, hit);
}

// The material's own colour at a point: base colour, albedo or tint.
THRONG_DEVICE Vec3 base_color(const Params& params, const Surface& s, const MaterialRecord& material) {
    return load3(material.color) * sample_map(params, material.color_map, s.uv, s.footprint).color * s.color;
}

// Radiance that the material emits at a point towards the ray's origin. An unlit material emits its base colour.
THRONG_DEVICE Vec3 emission_at(const Params& params, const Surface& s, const MaterialRecord& material) {
    Vec3 emission = load3(material.emission);
    if (!(max_component(emission) > 0.0f)) return emission;
    if (material.flags & SURFACE_ONE_SIDED && !s.front) return vec3(0.0f);
    emission *= sample_map(params, material.emission_map, s.uv, s.footprint).color;
    return material.flags & SURFACE_UNLIT ? emission * s.color : emission;
}

// Origin of a ray that leaves the surface on the side of the normal `n`, beyond the error bound.
THRONG_INLINE Vec3 leave_along(const Surface& s, Vec3 n) {
    // The bound holds per axis. Projected onto the normal, it is at most the bound times the sum of the normal's absolute components.
    Vec3 a = absolute(n);
    return s.position + n * (s.error * (a.x + a.y + a.z));
}

// Origin of a ray that leaves the surface on the side of `direction`; on a curve, beyond the curve.
THRONG_DEVICE Vec3 leave(const Surface& s, Vec3 direction) {
#if THRONG_NESTED
    if (s.radius > 0.0f) return leave_fiber(s.position, s.around, s.radius, normalize_or(s.tangent, s.shading), direction, s.error);
#endif
    return leave_along(s, dot(direction, s.geometric) >= 0.0f ? s.geometric : -s.geometric);
}

// Offset from a hit to the smooth surface represented by the vertex normals, if that is on the ray's side: the average of the hit's projections onto
// the corners' tangent planes, but not behind the triangle (Hanika 2021, "Hacking the Shadow Terminator"). Outlined and passed by value: few shadow
// rays need it, and all others should keep their registers.
THRONG_OUTLINE Vec3 lift_of(const Params& params, Hit hit, Time time, bool front) {
    const InstanceRecord& instance = params.trees.instances[hit.record];
    const Words4 ids = load_words(&instance.slot_base);
    const MeshRecord mesh = load_record(&params.tables.meshes[ids.y]);
    if (mesh.shape != SHAPE_TRIANGLES || !(mesh.flags & MESH_SMOOTH)) return vec3(0.0f);
    const ShapeSpan shape = shape_at(params, ids.y, time);
    const CornerRecord corners = load_record(&mesh.corners[hit.prim]);
    const float weights[3] = {1.0f - hit.u - hit.v, hit.u, hit.v};
    Vec3 positions[3], normals[3], position = vec3(0.0f), lift = vec3(0.0f);
    for (int k = 0; k < 3; k++) {
        const VertexRecord vertex = vertex_at(mesh, corners.vertices[k], shape);
        positions[k] = load3(vertex.position);
        normals[k] = front ? load3(vertex.normal) : -load3(vertex.normal);
        position += positions[k] * weights[k];
    }
    for (int k = 0; k < 3; k++) lift += normals[k] * (weights[k] * max(dot(positions[k] - position, normals[k]), 0.0f));
    float world_from_object[12], object_from_world[12];
    load_placement(params, instance, hit.instance, time, world_from_object, object_from_world);
    return transform_vector(world_from_object, lift);
}

// Start of a shadow ray to a sampled light.
struct Departure {
    Vec3 origin;
    // Whether the light is on the other side of the surface; and whether it is on this side, but behind the triangle.
    bool behind, between;
};

// Cosine of the triangle's normal below which shadow rays start on the smooth surface. Neighbouring triangles block no light from higher up, and
// shadows at creases stay in place (as in Cycles).
constexpr float kLiftedBelow = 0.1f;

// For meshes with smooth vertex normals, these decide on which side a light is. With the triangles' normals, the light would end in stair steps along
// their edges.
THRONG_DEVICE Departure depart(const Params& params, const Hit& hit, const Surface& s, Vec3 direction) {
    const float along = dot(direction, s.geometric);
    const bool is_flat = s.shading.x == s.geometric.x && s.shading.y == s.geometric.y && s.shading.z == s.geometric.z;
    if (along < kLiftedBelow && !is_flat && dot(direction, s.shading) > 0.0f) {
        const Vec3 lift = lift_of(params, hit, s.time, s.front);
        const float share = clamp(1.0f - along * (1.0f / kLiftedBelow), 0.0f, 1.0f);
        if (dot(lift, s.geometric) > 0.0f) return Departure{leave_along(s, s.geometric) + lift * share, false, !(along > 0.0f)};
    }
    return Departure{leave(s, direction), along < 0.0f, false};
}

// `depart` for a direction between the triangle and the smooth surface. Outlined and passed by value: few paths have one, and all others should keep
// their registers.
THRONG_OUTLINE Departure depart_between(const Params& params, Hit hit, Surface s, Vec3 direction) { return depart(params, hit, s, direction); }

}

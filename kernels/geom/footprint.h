// Cones around rays, and their footprints on textured surfaces (Akenine-Möller et al. 2021, "Improved Shader and Texture Level of Detail Using Ray
// Cones"). A cone has the width that the sample represents, not the pixel's: with every sample, a pixel's cones become narrower, and its mean
// approaches that of unfiltered textures.
#pragma once
#include "camera/camera.h"
#include "geom/surface.h"

namespace THRONG_NAMESPACE {

// A cone around a ray: its diameter at the ray's origin, and the growth of the diameter per unit of distance.
struct RayCone {
    float width, spread;
};

// Both numbers of a cone in a few bits. Paths carry them in this form on all devices; bits outside of the mask are free for other uses.
constexpr uint32_t kConeMask = 0xfffffff8u;
THRONG_INLINE uint32_t pack_cone(const RayCone& cone) { return pack_side(Vec2{cone.width, cone.spread}) & kConeMask; }
THRONG_INLINE RayCone unpack_cone(uint32_t bits) {
    const Vec2 sides = unpack_side(bits);
    return RayCone{sides.x, sides.y};
}

// Diameter of the cone of a pixel's first sample, relative to the pixel.
constexpr float kConeScale = 0.8f;
// Spread of a cone after a bounce, relative to that of the solid angle for which the bounce's direction was sampled.
constexpr float kBounceSpread = 0.5f;

// The cone of a pixel around a camera ray in this direction.
THRONG_INLINE RayCone pixel_cone(const Params& params, const CameraRecord& camera, Vec3 direction) {
    const float central = central_pixel_size(params, camera);
    if (camera.kind == CAMERA_ORTHOGRAPHIC) return RayCone{central, 0.0f};
    if (camera.kind == CAMERA_EQUIRECTANGULAR || camera.kind == CAMERA_FISHEYE) return RayCone{0.0f, central};
    // Off the axis, pixels appear smaller: by the cosine around the axis, and by its square away from it.
    const float cosine = clamp(dot(direction, normalize_or(load3(camera.forward), direction)), 0.01f, 1.0f);
    return RayCone{0.0f, central * cosine * sqrtf(cosine)};
}

// Spread in radians from which cones are dropped after a bounce. Textures met by wider cones add little noise to that of the bounce, and computing
// their footprints took 10 to 20 % of the time of scenes with diffuse light.
constexpr float kWidest = 0.1f;
// Coordinate of the unit vector along the diagonal of a cube.
constexpr float kCubeDiagonal = 0.57735027f;
// Cosine below which footprints do not get longer.
constexpr float kGrazing = 1.0f / 1024.0f;

// The footprint on a mesh with texture coordinates of two vectors in object space that are tangential to the hit triangle.
THRONG_DEVICE Footprint triangle_footprint(const MeshRecord& mesh, const Hit& hit, const ShapeSpan& shape, Vec3 first, Vec3 second) {
    const CornerRecord corners = load_record(&mesh.corners[hit.prim]);
    const VertexRecord a = vertex_at(mesh, corners.vertices[0], shape), b = vertex_at(mesh, corners.vertices[1], shape),
                       c = vertex_at(mesh, corners.vertices[2], shape);
    Vec3 e1 = load3(b.position) - load3(a.position), e2 = load3(c.position) - load3(a.position);
    // Scaled, so that the product of tiny edges does not underflow.
    const float scale = 1.0f / max(max_component(absolute(e1)), max(max_component(absolute(e2)), 1e-37f));
    e1 = e1 * scale;
    e2 = e2 * scale;
    const Vec3 normal = cross(e1, e2);
    const float area2 = dot(normal, normal);
    if (!(area2 > 0.0f)) return no_footprint();
    // Rows that turn a vector into the changes of the second and third barycentric weight.
    const Vec3 to_u = cross(e2, normal) * (scale / area2), to_v = cross(normal, e1) * (scale / area2);
    Vec2 first_uv{b.u - a.u, b.v - a.v}, second_uv{c.u - a.u, c.v - a.v};
    Footprint footprint;
    const auto side = [&](Vec3 along) {
        const float u = dot(along, to_u), v = dot(along, to_v);
        return pack_side(Vec2{first_uv.x * u + second_uv.x * v, first_uv.y * u + second_uv.y * v});
    };
    for (uint32_t set = 0; set < 2; set++) {
        if (set == 1 && mesh.flags & MESH_UV1) {
            const Words4 p = load_words(mesh.attributes[corners.vertices[0]].uv1), q = load_words(mesh.attributes[corners.vertices[1]].uv1),
                         r = load_words(mesh.attributes[corners.vertices[2]].uv1);
            first_uv = Vec2{bits_float(q.x) - bits_float(p.x), bits_float(q.y) - bits_float(p.y)};
            second_uv = Vec2{bits_float(r.x) - bits_float(p.x), bits_float(r.y) - bits_float(p.y)};
        }
        footprint.sides[set][0] = side(first);
        footprint.sides[set][1] = side(second);
    }
    return footprint;
}

// The footprint of two vectors in object space that are tangential to the unit sphere at `at`, for the coordinates of `sphere_attributes`.
THRONG_DEVICE Footprint sphere_footprint(Vec3 at, Vec3 first, Vec3 second) {
    const float circle = max(sqrtf(at.x * at.x + at.z * at.z), 1e-3f);
    const Vec3 east = vec3(at.z, 0.0f, -at.x) * (1.0f / circle), north = cross(at, east);
    const auto side = [&](Vec3 along) { return pack_side(Vec2{dot(along, east) * (0.5f / kPi) / circle, dot(along, north) * (1.0f / kPi)}); };
    const uint32_t sides[2] = {side(first), side(second)};
    return Footprint{{{sides[0], sides[1]}, {sides[0], sides[1]}}};
}

// The footprint of a cone that has the diameter `width` at a hit with this geometric normal. Points on curves, whose textures run along them. Outlined
// and passed by value: rays of scenes without textures should keep their registers.
THRONG_OUTLINE Footprint footprint_at(const Params& params, Hit hit, Time time, Vec3 direction, Vec3 position, Vec3 normal, float width) {
    const InstanceRecord& instance = params.trees.instances[hit.record];
    const Words4 ids = load_words(&instance.slot_base);
    const MeshRecord mesh = load_record(&params.tables.meshes[ids.y]);
    if (is_nested(params) && is_curves(mesh.shape)) return no_footprint();
    // Along the ray the ellipse is longer by the cosine's reciprocal.
    const float cosine = fabsf(dot(direction, normal));
    Vec3 along = direction - normal * dot(direction, normal), across;
    if (normalize(along)) across = cross(normal, along);
    else basis(normal, along, across);
    along = along * (width / max(cosine, kGrazing));
    across = across * width;
    float world_from_object[12], object_from_world[12];
    load_placement(params, instance, hit.instance, time, world_from_object, object_from_world);
    const Vec3 first = transform_vector(object_from_world, along), second = transform_vector(object_from_world, across);
    if (mesh.shape == SHAPE_SPHERE) return sphere_footprint(normalize_or(transform_point(object_from_world, position), vec3(0.0f, 1.0f, 0.0f)), first, second);
    return triangle_footprint(mesh, hit, shape_at(params, ids.y, time), first, second);
}

// Mean curvature of a surface at a hit on its front, in 1 / scene units: positive if it bulges, 0 if it is flat. Outlined like `footprint_at`.
THRONG_OUTLINE float curvature_at(const Params& params, Hit hit, Time time) {
    const InstanceRecord& instance = params.trees.instances[hit.record];
    const Words4 ids = load_words(&instance.slot_base);
    const MeshRecord mesh = load_record(&params.tables.meshes[ids.y]);
    const bool sphere = mesh.shape == SHAPE_SPHERE;
    if (!sphere && !(mesh.flags & MESH_SMOOTH)) return 0.0f;
    float world_from_object[12], object_from_world[12];
    load_placement(params, instance, hit.instance, time, world_from_object, object_from_world);
    const float size = length(transform_vector(world_from_object, vec3(kCubeDiagonal)));
    if (sphere) return 1.0f / max(size, 1e-30f);
    const ShapeSpan shape = shape_at(params, ids.y, time);
    const CornerRecord corners = load_record(&mesh.corners[hit.prim]);
    Vec3 positions[3], normals[3];
    for (int k = 0; k < 3; k++) {
        const VertexRecord vertex = vertex_at(mesh, corners.vertices[k], shape);
        positions[k] = load3(vertex.position);
        normals[k] = normalize_or(load3(vertex.normal), vec3(0.0f));
    }
    // By how much the normal turns along an edge.
    float turns = 0.0f;
    for (int k = 0; k < 3; k++) {
        const Vec3 edge = positions[(k + 1) % 3] - positions[k], turn = normals[(k + 1) % 3] - normals[k];
        turns += dot(edge, turn) / max(dot(edge, edge), 1e-30f);
    }
    return turns * (1.0f / 3.0f) / max(size, 1e-30f);
}

}

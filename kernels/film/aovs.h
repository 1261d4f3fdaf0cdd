// AOVs: data of a pixel in addition to its colour. They come from the first hits of the film's camera rays, and all samples of a pixel are
// accumulated at once.
#pragma once
#include "film/catchers.h"
#include "film/mirrors.h"
#include "film/names.h"

namespace THRONG_NAMESPACE {

// Projects a point into the picture of a camera, in pixels relative to its centre, y up; a direction has a `weight` of 0. False for points behind a
// camera (unless it is equirectangular or a fisheye), and for the eye itself.
THRONG_DEVICE bool raster_point(const Params& params, const CameraRecord& camera, Vec3 point, float weight, Vec2& out) {
    const Vec3 to = point - load3(camera.origin) * weight, right = load3(camera.right), up = load3(camera.up);
    const float width = float(params.film.picture_width), height = float(params.film.picture_height), ahead = dot(to, load3(camera.forward));
    if (camera.kind == CAMERA_EQUIRECTANGULAR) {
        const float aside = dot(to, right), above = dot(to, up), level = sqrtf(ahead * ahead + aside * aside);
        out.x = width * (0.5f / kPi) * angle_of(ahead, aside);
        out.y = height * (1.0f / kPi) * angle_of(level, above);
        return level > 0.0f || above != 0.0f;
    }
    if (camera.kind == CAMERA_SKEWED) {
        const Vec3 forward = load3(camera.forward), facing = cross(right, up);
        const float side = dot(forward, facing) < 0.0f ? -1.0f : 1.0f, far = dot(to, facing) * side;
        if (!(far > 0.0f)) return false;
        out.x = 0.5f * width * (dot(to, cross(up, forward)) * side / far - camera.shift[0]);
        out.y = 0.5f * height * (dot(to, cross(forward, right)) * side / far - camera.shift[1]);
        return true;
    }
    if (camera.kind >= CAMERA_RATIONAL) {
        Vec2 imaged;
        if (!distorted_point(camera, dot(to, right), dot(to, up), ahead, imaged)) return false;
        out.x = 0.5f * width * (imaged.x / camera.scale[0] - camera.shift[0]);
        out.y = 0.5f * height * (imaged.y / camera.scale[1] - camera.shift[1]);
        return true;
    }
    const float depth = camera.kind == CAMERA_ORTHOGRAPHIC ? weight : ahead;
    if (!(depth > 0.0f)) return false;
    out.x = 0.5f * width * dot(to, right) / (dot(right, right) * depth) - 0.5f * width * camera.shift[0];
    out.y = 0.5f * height * dot(to, up) / (dot(up, up) * depth) - 0.5f * height * camera.shift[1];
    return true;
}

// The offset from one position in the picture to another. In an equirectangular picture it is the shorter way, which may cross the seam.
THRONG_INLINE Vec2 raster_way(const Params& params, Vec2 from, Vec2 to) {
    Vec2 way{to.x - from.x, to.y - from.y};
    if (params.picture.camera.kind != CAMERA_EQUIRECTANGULAR) return way;
    const float around = float(params.film.picture_width);
    way.x -= around * floorf(way.x / around + 0.5f);
    return way;
}

// Projects the image of a hit into the picture at a moment; `position` is the hit's position at that moment. False if it is behind the camera.
THRONG_DEVICE bool raster_seen(const Params& params, const CameraRecord& camera, const MirrorRay& seen, Moment moment, Vec3 position, Vec2& out) {
    const float weight = seen.hit.t >= 0.0f ? 1.0f : 0.0f;
    return raster_point(params, camera, image_of(seen.mirrors, moment, position, weight), weight, out);
}

// Motion vectors of a hit in pixels, to the previous frame and to the next; 0 if it is behind a camera. Batches have none, because every view has
// neighbours of its own.
THRONG_DEVICE void motion_of(const Params& params, const FrameAovs& out, const MirrorRay& seen, Vec2& back, Vec2& on) {
    const Hit& hit = seen.hit;
    const Time time = time_of(seen.ray);
    const bool met = hit.t >= 0.0f;
    const Vec3 direction = load3(seen.ray.direction);
    const Vec3 now = !met ? direction : moves(params) || is_nested(params) ? other_position(params, out.now, hit, time, seen.position) : seen.position;
    Vec2 here, there;
    back = on = Vec2{0.0f, 0.0f};
    if (!raster_seen(params, params.picture.camera, seen, Moment::now, now, here)) return;
    const auto motion_to = [&](const OtherFrame& other, Moment moment, Vec2& motion) {
        const Vec3 then = !met ? direction : other_position(params, other, hit, time, seen.position);
        if (raster_seen(params, other.camera, seen, moment, then, there)) motion = raster_way(params, here, there);
    };
    motion_to(out.before, Moment::before, back);
    motion_to(out.after, Moment::after, on);
}

// Albedo of a surface; for an unlit surface, its colour.
THRONG_DEVICE Vec3 aov_albedo(const Params& params, const Surface& s, const MaterialRecord& material) {
    const Vec3 c = material.flags & SURFACE_UNLIT ? emission_at(params, s, material) : base_color(params, s, material);
    return vec3(clamp(c.x, 0.0f, 1.0f), clamp(c.y, 0.0f, 1.0f), clamp(c.z, 0.0f, 1.0f));
}

// Distance of a point along the camera's axis; for an equirectangular camera or a fisheye, the distance from the eye.
THRONG_DEVICE float depth_from(const CameraRecord& camera, Vec3 position) {
    const Vec3 to = position - load3(camera.origin);
    return sees_around(camera) ? length(to) : dot(to, load3(camera.forward));
}

// That distance for the camera of a view at a time.
THRONG_DEVICE float depth_of(const Params& params, uint32_t view, Time time, Vec3 position) {
    if (moves(params)) return depth_from(camera_at(params, view, time), position);
    return with_camera(params, view, [&](const CameraRecord& camera) { return depth_from(camera, position); });
}

// Width of a pixel in scene units at a point in view of a camera.
THRONG_INLINE float pixel_size(const Params& params, const CameraRecord& camera, Vec3 point) {
    const float central = central_pixel_size(params, camera);
    return camera.kind == CAMERA_ORTHOGRAPHIC ? central : central * depth_from(camera, point);
}

// Whether a hit is covered by a line along an edge of its triangle. Lines in small triangles are thinner, so that these do not turn black. Outlined,
// because most pictures show no edges.
THRONG_OUTLINE bool is_on_edge(const Params& params, uint32_t view, const Ray& ray, const Hit& hit) {
    const InstanceRecord& instance = params.trees.instances[hit.record];
    const Words4 ids = load_words(&instance.slot_base);
    const MeshRecord mesh = load_record(&params.tables.meshes[ids.y]);
    if (mesh.shape != SHAPE_TRIANGLES || hit.instance == params.scene.stage) return false;
    const Time time = time_of(ray);
    const ShapeSpan shape = shape_at(params, ids.y, time);
    const CornerRecord corners = load_record(&mesh.corners[hit.prim]);
    float world_from_object[12], object_from_world[12];
    load_placement(params, instance, hit.instance, time, world_from_object, object_from_world);
    const Vec3 direction = normalize_or(load3(ray.direction), vec3(0.0f, 0.0f, 1.0f)), point = load3(ray.origin) + load3(ray.direction) * hit.t;
    // Corners relative to the hit, projected along the ray.
    Vec3 seen[3];
    for (int k = 0; k < 3; k++) {
        const Vec3 to = transform_point(world_from_object, load3(vertex_at(mesh, corners.vertices[k], shape).position)) - point;
        seen[k] = to - direction * dot(to, direction);
    }
    float nearest = kInfinity, around = 0.0f;
    for (int k = 0; k < 3; k++) {
        const Vec3 from = seen[k], along = seen[(k + 1) % 3] - from;
        const float size = length(along);
        around += size;
        if (size > 0.0f) nearest = min(nearest, length(cross(along, from)) / size);
    }
    const float inner_radius = around > 0.0f ? length(cross(seen[1] - seen[0], seen[2] - seen[0])) / around : 0.0f;
    const float half_width = 0.5f * params.picture.edge_width * pixel_size(params, camera_at(params, view, time), point);
    return nearest < min(half_width, 0.3f * inner_radius);
}

// A sum of values up to a power of two, and a sum of unbounded light. Both are either floats or exact.
template <bool exact, uint32_t most_bits>
struct BoundedTotal {
    float total = 0.0f;
    THRONG_INLINE void add(float x) { total += x; }
    THRONG_INLINE float value() const { return total; }
    THRONG_INLINE void save(uint32_t*) const {}
    THRONG_INLINE void join(const uint32_t*) {}
};

template <uint32_t most_bits>
struct BoundedTotal<true, most_bits> {
    // 62 bits hold a million of the greatest values.
    static constexpr float kMost = float(1u << most_bits), kUnits = float(1ull << (42u - most_bits));
    int64_t total = 0;
    THRONG_INLINE void add(float x) { total += wide_of(x, kUnits, kMost); }
    THRONG_INLINE float value() const { return float(total) * (1.0f / kUnits); }
    THRONG_INLINE void save(uint32_t* words) const { store_wide(words, total); }
    THRONG_INLINE void join(const uint32_t* words) { total = int64_t(uint64_t(total) + uint64_t(load_wide(words))); }
};

template <bool exact>
struct LightTotal {
    float total = 0.0f;
    THRONG_INLINE void add(float x) { total += x; }
    THRONG_INLINE float value() const { return total; }
    THRONG_INLINE void save(uint32_t*) const {}
    THRONG_INLINE void join(const uint32_t*) {}
};

template <>
struct LightTotal<true> {
    Exact total{0, 0};
    THRONG_INLINE void add(float x) { total = sum_of(total, exact_of(x)); }
    THRONG_INLINE float value() const { return float_of(total); }
    THRONG_INLINE void save(uint32_t* words) const { store_exact(words, total); }
    THRONG_INLINE void join(const uint32_t* words) { total = sum_of(total, load_exact(words)); }
};

// A total order of vectors.
THRONG_INLINE bool is_before(Vec3 a, Vec3 b) {
    const uint32_t u[3] = {float_bits(a.x), float_bits(a.y), float_bits(a.z)}, v[3] = {float_bits(b.x), float_bits(b.y), float_bits(b.z)};
    return u[0] != v[0] ? u[0] < v[0] : u[1] != v[1] ? u[1] < v[1] : u[2] < v[2];
}

// Sums over the samples of a pixel. Sample counts are exact as floats.
template <bool exact>
struct AovSums {
    BoundedTotal<exact, 2> albedo[3], normal[3];
    // In pixels, with separate weights.
    BoundedTotal<exact, 22> motion[4];
    BoundedTotal<exact, 2> motion_weight;
    Vec3 nearest;
    float depth, weights;
    // Number of samples that show a surface, a shadow catcher, and an edge.
    float covered, caught, edges;
    // Unoccluded light at shadow catchers, the blocked part of it, and the environment behind them.
    LightTotal<exact> open, blocked, behind[3];
    // The first two sums over odd-numbered samples, if sums are not exact.
    float odd_open, odd_blocked;
    SharedCover cover;
    Matte<exact> instances, materials;
    KnownMirror mirror;

    THRONG_DEVICE AovSums() {
        nearest = vec3(0.0f);
        depth = kInfinity;
        weights = covered = caught = edges = odd_open = odd_blocked = 0.0f;
        instances.count = materials.count = 0;
        mirror.instance = NO_INDEX;
    }

    template <class Total>
    THRONG_INLINE static void add3(Total* totals, Vec3 v) {
        totals[0].add(v.x);
        totals[1].add(v.y);
        totals[2].add(v.z);
    }

    template <class Total>
    THRONG_INLINE static Vec3 value3(const Total* totals) {
        return vec3(totals[0].value(), totals[1].value(), totals[2].value());
    }

    // Keeps the point if it is the nearest so far. Of equally near points, keeps the first sample's or, if sums are exact, the first one in the total
    // order.
    THRONG_INLINE void add_point(float along, Vec3 position) {
        if (!(along < depth) && !(exact && along == depth && is_before(position, nearest))) return;
        depth = along;
        nearest = position;
    }

    // Adds all AOVs of the sample with this number.
    THRONG_DEVICE void add(const Params& params, const FrameAovs& out, const Path& path, uint32_t sample, const Hit& hit, float weight, Thread& thread) {
        Surface s = surface_at(params, path.ray, hit);
        add_met(params, out, path, sample, hit, s, weight, thread);
        if (!out.motion) return;
        MirrorRay seen;
        seen.begin(params, mirror, path, sample, hit, s);
        seen.finish(params, mirror, thread.stack);
        add_motion(params, out, seen, weight);
    }

    // Adds the AOVs that do not depend on reflections in mirrors. `s` is the surface of the hit.
    THRONG_DEVICE void add_met(const Params& params, const FrameAovs& out, const Path& path, uint32_t sample, const Hit& hit, Surface& s, float weight, Thread& thread) {
        const Ray& ray = path.ray;
        weights += weight;
        if (hit.t < 0.0f) {
            add3(albedo, vec3(weight));
        } else {
            const MaterialRecord material = load_record(&params.tables.materials[s.material]);
            Footprint footprint;
            set_footprint(params, path.cone, ray, hit, material.flags, s, footprint);
            const Vec3 position = s.position;
            // Shadow catchers are invisible except for their shadows.
            const bool is_seen = !(material.flags & SURFACE_SHADOW_CATCHER);
            if (out.albedo) add3(albedo, is_seen ? aov_albedo(params, s, material) * weight : vec3(weight));
            if (out.normal && is_seen) add3(normal, mapped_normal(params, s, material) * weight);
            add_point(depth_of(params, path.view, time_of(ray), position), is_nested(params) ? position + load3(params.frame.origin) : position);
            if (out.instance) instances.add(instance_id(params, out.instance_names, hit), weight);
            if (out.material) materials.add(out.material_names ? out.material_names[s.material] : s.material, weight);
            if (out.wireframe && is_on_edge(params, path.view, ray, hit)) edges += weight;
            if (out.alpha || out.shadow) add_alpha(params, out, path, sample, hit, s, material.flags, weight, thread);
            s.footprint = nullptr;
        }
    }

    // Adds the coverage of a sample that hits a surface. The fraction of light that shadow catchers lack is a quotient of two sums over all samples,
    // because a single sample contains only one light.
    THRONG_INLINE void add_alpha(const Params& params, const FrameAovs& out, const Path& path, uint32_t sample, const Hit& hit, const Surface& s, uint32_t flags, float weight, Thread& thread) {
        if (flags & SURFACE_HOLDOUT) return;
        if (!(flags & SURFACE_SHADOW_CATCHER)) {
            covered += weight;
            if (out.cover && out.alpha) cover.add(path.offset, Floats4{1.0f, 0.0f, 0.0f, 0.0f});
            return;
        }
        caught += weight;
        Path bounce = path;
        for (bounce.depth = 0; bounce.depth < kCatcherLights; bounce.depth++) {
            const CaughtLight light = light_at_catcher(params, bounce, hit, s, thread.stack);
            open.add(light.open * weight);
            blocked.add(light.blocked * weight);
            if (exact || !(sample & 1u)) continue;
            odd_open += light.open * weight;
            odd_blocked += light.blocked * weight;
        }
        const Vec3 hole = behind_hole(params, load3(path.ray.direction), sky_spread(path));
        add3(behind, hole * weight);
        if (out.cover) cover.add(path.offset, out.alpha ? Floats4{0.0f, 1.0f, 0.0f, 0.0f} : Floats4{hole.x, hole.y, hole.z, 0.0f});
    }

    // Standard deviation of the fraction of blocked light, estimated from both halves of the samples.
    THRONG_INLINE float shade_deviation() const {
        const float even_open = open.value() - odd_open, even_blocked = blocked.value() - odd_blocked;
        if (exact || !(odd_open > 0.0f) || !(even_open > 0.0f)) return 0.0f;
        return 0.5f * fabsf(clamp(odd_blocked / odd_open, 0.0f, 1.0f) - clamp(even_blocked / even_open, 0.0f, 1.0f));
    }

    // Adds motion vectors in Cycles' convention: to the point's previous position, and from its next position. The absolute weight is used, because
    // negative weights would distort the mean.
    THRONG_DEVICE void add_motion(const Params& params, const FrameAovs& out, const MirrorRay& seen, float weight) {
        if (seen.weight == 0.0f) return;
        Vec2 back, on;
        motion_of(params, out, seen, back, on);
        weight = fabsf(weight) * seen.weight;
        motion_weight.add(weight);
        motion[0].add(back.x * weight);
        motion[1].add(back.y * weight);
        motion[2].add(-(on.x * weight));
        motion[3].add(-(on.y * weight));
    }

    THRONG_DEVICE void store(const Params& params, const FrameAovs& out, uint64_t pixel) {
        const float scale = 1.0f / max(weights, 1.0f);
        if (out.albedo) {
            const Vec3 c = value3(albedo) * scale;
            store3(out.albedo + 3 * pixel, vec3(clamp(c.x, 0.0f, 1.0f), clamp(c.y, 0.0f, 1.0f), clamp(c.z, 0.0f, 1.0f)));
        }
        if (out.normal) store3(out.normal + 3 * pixel, value3(normal) * scale);
        if (out.depth) out.depth[pixel] = depth;
        if (out.position) store3(out.position + 3 * pixel, nearest);
        if (out.motion) {
            const float total = motion_weight.value(), share = total > 0.0f ? 1.0f / total : 0.0f;
            for (int k = 0; k < 4; k++) out.motion[4 * pixel + k] = motion[k].value() * share;
        }
        if (out.instance) instances.store(out.instance + 2 * kMatteRanks * pixel, scale);
        if (out.material) materials.store(out.material + 2 * kMatteRanks * pixel, scale);
        const float light = open.value(), fade = shade_fade(params, out.shade_margin, pixel);
        const float shade = light > 0.0f ? clamp(blocked.value() / light, 0.0f, 1.0f) * fade : 0.0f;
        // Shared coverage is not yet available here (`gather_cover`).
        if (out.alpha) out.alpha[pixel] = out.cover ? shade : clamp((covered + caught * shade) * scale, 0.0f, 1.0f);
        if (out.wireframe) out.wireframe[pixel] = clamp(edges * scale, 0.0f, 1.0f);
        if (out.shadow) store3(out.shadow + 3 * pixel, out.cover ? vec3(shade) : value3(behind) * (shade * scale));
        if (!out.shade_noise) return;
        const float deviation = scale * fade * shade_deviation();
        const Vec3 taken = value3(behind) * deviation;
        store4(out.shade_noise + 4 * pixel, Floats4{taken.x, taken.y, taken.z, caught * deviation});
    }

    // Calls `with` with each exact sum and its words, in the order of the AOVs. Counts, the nearest point and names have separate functions.
    template <class Words, class Total, class Count, class Point, class Names>
    THRONG_INLINE void each(const FrameAovs& out, Words* words, Total with, Count with_count, Point with_point, Names with_names) {
        if (out.albedo)
            for (int k = 0; k < 3; k++, words += 2) with(albedo[k], words);
        if (out.normal)
            for (int k = 0; k < 3; k++, words += 2) with(normal[k], words);
        if (out.depth || out.position) {
            with_point(words);
            words += 4;
        }
        if (out.motion) {
            for (int k = 0; k < 4; k++, words += 2) with(motion[k], words);
            with(motion_weight, words);
            words += 2;
        }
        if (out.instance) {
            with_names(instances, words);
            words += 1 + 2 * kMatteNames;
        }
        if (out.material) {
            with_names(materials, words);
            words += 1 + 2 * kMatteNames;
        }
        if (out.alpha || out.shadow) {
            with_count(covered, words);
            with_count(caught, words + 1);
            with(open, words + 2);
            with(blocked, words + 5);
            for (int k = 0; k < 3; k++) with(behind[k], words + 8 + 3 * k);
            words += 17;
        }
        if (out.wireframe) with_count(edges, words);
    }

    // Writes the sums to the words of a pixel.
    THRONG_DEVICE void save(const FrameAovs& out, uint32_t* words) {
        each(
            out, words, [](const auto& total, uint32_t* at) { total.save(at); }, [](float count, uint32_t* at) { *at = uint32_t(int(count)); },
            [&](uint32_t* at) {
                at[0] = float_bits(depth);
                at[1] = float_bits(nearest.x);
                at[2] = float_bits(nearest.y);
                at[3] = float_bits(nearest.z);
            },
            [](const auto& matte, uint32_t* at) { matte.save(at); });
    }

    // Adds the sums in the words of a pixel, without the weights.
    THRONG_DEVICE void join(const FrameAovs& out, const uint32_t* words) {
        each(
            out, words, [](auto& total, const uint32_t* at) { total.join(at); }, [](float& count, const uint32_t* at) { count += float(int(*at)); },
            [&](const uint32_t* at) { add_point(bits_float(at[0]), vec3(bits_float(at[1]), bits_float(at[2]), bits_float(at[3]))); },
            [](auto& matte, const uint32_t* at) { matte.join(at); });
    }
};

// Variance of the mean of a pixel's own samples, estimated from the means of both halves, each of which has twice the variance.
THRONG_DEVICE Vec3 own_variance(const Params& params, uint64_t pixel) {
    const PixelSum all = pixel_sum(params, params.film.sums, pixel), half = pixel_sum(params, params.film.half_sums, pixel);
    const float odd = half.weights, even = all.weights - odd;
    if (!(odd > 0.0f) || !(even > 0.0f)) return vec3(0.0f);
    const Vec3 d = (half.light * (1.0f / odd) - (all.light - half.light) * (1.0f / even)) * 0.5f;
    return d * d;
}

// Variance of a pixel's mean.
THRONG_DEVICE Vec3 pixel_variance(const Params& params, uint64_t pixel) {
    if (!shares_samples(params)) return own_variance(params, pixel);
    return shared_variance(params, pixel, [&](uint64_t other) { return own_variance(params, other); });
}

// Writes the variance of a pixel if requested. The noise of its shadows on shadow catchers must be gathered before.
THRONG_INLINE void store_variance(const Params& params, uint64_t pixel) {
    const FrameAovs& out = *params.film.aovs;
    const Floats4 shade = out.shade_noise ? load4(out.shade_noise + 4 * pixel) : Floats4{};
    if (out.alpha_variance) out.alpha_variance[pixel] = shade[3] * shade[3];
    if (!out.variance) return;
    Vec3 variance = pixel_variance(params, pixel);
    if (out.shadow) variance += vec3(shade[0] * shade[0], shade[1] * shade[1], shade[2] * shade[2]);
    store3(out.variance + 3 * pixel, variance);
}

// Whether any AOV needs camera ray hits.
THRONG_INLINE bool has_met_aovs(const FrameAovs& out) {
    return out.albedo || out.normal || out.depth || out.position || out.motion || out.instance || out.material || out.alpha || out.shadow || out.wireframe;
}

// End of a pixel's sample numbers for AOVs. They are the film's samples and start at `sample_begin`. If the filter has negative weights, the film
// does not store the sample count, and the end is `sample_end`.
THRONG_INLINE uint32_t aov_sample_end(const Params& params, uint64_t pixel) {
    if (params.picture.filter_signed) return params.film.sample_end;
    return params.film.sample_begin + uint32_t(pixel_sum(params, params.film.sums, pixel).weights);
}

THRONG_INLINE float aov_weight(const Params& params, const Path& path) { return is_negative(params, path.offset) ? -1.0f : 1.0f; }

// Writes the AOVs of a pixel and, if requested, their exact sums.
template <bool exact>
THRONG_DEVICE void store_aovs(const Params& params, AovSums<exact>& sums, uint32_t x, uint32_t y) {
    const FrameAovs& out = *params.film.aovs;
    const uint64_t pixel = film_pixel(params, x, y);
    // Storing a matte reorders its names, so the sums are saved first.
    if (exact && out.sums) sums.save(out, out.sums + out.sum_words * pixel);
    if (out.cover) sums.cover.store(params, out.cover, x, y);
    sums.store(params, out, pixel);
}

// Gathers all AOVs of one pixel.
template <bool exact>
THRONG_DEVICE void gather_pixel(const Params& params, uint32_t item, Thread& thread) {
    uint32_t x, y;
    if (!item_pixel(params, item, x, y)) return;
    const FrameAovs& out = *params.film.aovs;
    const uint64_t pixel = film_pixel(params, x, y);
    if (has_met_aovs(out)) {
        const uint32_t end = aov_sample_end(params, pixel);
        AovSums<exact> sums;
        for (uint32_t sample = params.film.sample_begin; sample < end; sample++) {
            const Path path = camera_path(params, x, y, sample);
            const Hit hit = closest_hit(params, path.ray, thread.stack);
            sums.add(params, out, path, sample, hit, aov_weight(params, path), thread);
        }
        store_aovs(params, sums, x, y);
    }
    store_variance(params, pixel);
}

// Writes the variance of one pixel, whose other AOVs must be gathered before.
THRONG_DEVICE void gather_variance(const Params& params, uint32_t item, Thread&) {
    uint32_t x, y;
    if (!item_pixel(params, item, x, y)) return;
    store_variance(params, film_pixel(params, x, y));
}

THRONG_DEVICE void gather_aovs(const Params& params, uint32_t item, Thread& thread) { gather_pixel<false>(params, item, thread); }

// Renders one pixel with all of its samples into an empty film, and gathers its AOVs.
THRONG_DEVICE void render_with_aovs(const Params& params, uint32_t item, Thread& thread) {
    render_pixel(params, item, thread);
    gather_aovs(params, item, thread);
}

// Gathers exact sums.
THRONG_DEVICE void gather_exact_aovs(const Params& params, uint32_t item, Thread& thread) { gather_pixel<true>(params, item, thread); }

// Adds the exact AOV sums of a pixel of another film.
THRONG_DEVICE void join_aovs(const Params& params, uint32_t pixel, Thread&) {
    const FrameAovs& out = *params.film.aovs;
    const uint64_t first = out.sum_words * uint64_t(pixel);
    AovSums<true> sums;
    sums.join(out, out.sums + first);
    sums.join(out, out.other_sums + first);
    sums.save(out, out.sums + first);
}

// Computes the AOVs of a pixel from exact sums.
THRONG_DEVICE void finish_aovs(const Params& params, uint32_t pixel, Thread&) {
    const FrameAovs& out = *params.film.aovs;
    store_variance(params, pixel);
    if (!has_met_aovs(out)) return;
    AovSums<true> sums;
    sums.join(out, out.sums + out.sum_words * uint64_t(pixel));
    sums.weights = pixel_sum(params, params.film.sums, pixel).weights;
    sums.store(params, out, pixel);
}

}

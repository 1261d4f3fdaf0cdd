// The path tracer's step: light that the path hits, light that is sampled, and the direction in which the path continues (Kajiya 1986, with
// next-event estimation and multiple importance sampling).
#pragma once
#include "closure/hair.h"
#include "integrator/fog.h"
#include "integrator/panes.h"
#include "light/lights.h"

namespace THRONG_NAMESPACE {

// Sampler dimensions of a bounce: for the light and Russian roulette, the point on the light, the lobe, and the direction.
constexpr uint32_t kBounceLight = 0, kBouncePoint = 1, kBounceLobe = 2, kBounceDirection = 3;
// Sampler dimensions of the fog before the bounce: for the flight, the light, and the point on the light.
constexpr uint32_t kBounceFlight = 4, kFogLight = 5, kFogPoint = 6;
// Lambert's law with the interface of the layered BSDF, at a fraction of its cost.
struct Lambert {
    static constexpr bool kSharp = false;
    static constexpr bool kRound = false;
    static constexpr bool kSamplesBetween = false;
    Vec3 color, normal, geometric;
};

THRONG_DEVICE Vec3 evaluate_bsdf(const Lambert& b, Vec3 in, bool beyond, float& pdf) {
    float cosine = dot(in, b.normal);
    pdf = 0.0f;
    if (!(cosine > 0.0f) || beyond) return vec3(0.0f);
    pdf = cosine * (1.0f / kPi);
    return b.color * pdf;
}

THRONG_DEVICE bool sample_bsdf(const Lambert& b, float, Vec2 u, BsdfSample& sample) {
    sample.in = sample_cosine(b.normal, u);
    sample.pdf = dot(sample.in, b.normal) * (1.0f / kPi);
    sample.weight = b.color;
    sample.transmitted = sample.between = false;
    return sample.pdf > 0.0f && dot(sample.in, b.geometric) > 0.0f;
}

// Continues the path from `origin`, next to its hit, in the direction of `sample`.
THRONG_DEVICE void follow(const Params& params, Path& path, const Hit& hit, const Surface& s, Vec3 origin, Vec3 normal, const BsdfSample& sample, Step& step) {
    path.throughput *= sample.weight;
    path.scatter = Scatter{normal, sample.pdf, 0.0f};
    path.ray = ray_of(origin, sample.in, kInfinity, s.time);
    // Refraction in bodies widens cones by an unknown factor.
    if (sample.transmitted) path.cone = 0;
    else if (sample.pdf == kInfinity) bend_cone(params, path, hit, s);
    continue_cone(params, path, hit.t, sample.pdf);
    path.depth++;
    step.more = max_component(path.throughput) > 0.0f;
}

// Continues the path straight through a pane. Light beyond is weighted as if the path came directly from its last scattering event, because light
// that was sampled there also came through the pane.
THRONG_INLINE void pass(const Params& params, Path& path, const Surface& s, Vec3 direction, Vec3 share, Step& step) {
    const Vec3 origin = leave(s, direction);
    step.straight = length(origin - load3(path.ray.origin));
    path.throughput *= share;
    path.scatter.passed += step.straight;
    continue_cone(params, path, step.straight, kInfinity);
    path.ray = ray_of(origin, direction, kInfinity, s.time);
    path.depth++;
    step.more = max_component(path.throughput) > 0.0f;
}

// Whether a sample passes straight through a pane.
THRONG_INLINE bool is_straight(const Lambert&, const BsdfSample&) { return false; }
THRONG_INLINE bool is_straight(const HairBsdf&, const BsdfSample&) { return false; }
THRONG_INLINE bool is_straight(const Bsdf& b, const BsdfSample& sample) { return sample.transmitted && sample.pdf == kInfinity && !b.bends; }

// Russian roulette: ends paths of low throughput at random. Surviving paths are scaled up, so that the mean is unchanged. `squeezed` is the factor by
// which radiance is greater at the path's current position: inside glass a path has a lower throughput, but regains it on leaving. The first bounce
// always survives, because it contributes most of a pixel's indirect light and of its noise.
THRONG_DEVICE void play_roulette(Path& path, float u, float squeezed, Step& step) {
    if (!step.more || path.depth < 2) return;
    // The square root: paths with a throughput of a quarter survive with probability one half. The noise that this avoids is worth the time.
    float survival = sqrtf(max_component(path.throughput) * squeezed);
    if (!(survival < 1.0f)) return;
    if (u >= survival) {
        step.more = false;
        return;
    }
    path.throughput = path.throughput * (1.0f / survival);
}

// Clamps light after `bounces` bounces, unless that is 0.
THRONG_INLINE Vec3 clamp_indirect(const Params& params, uint32_t bounces, Vec3 light) {
    float brightest = max_component(light);
    return bounces > 0 && brightest > params.picture.indirect_clamp ? light * (params.picture.indirect_clamp / brightest) : light;
}

// Adds light that a path hits. Light that the camera sees directly or after one scattering event is direct.
THRONG_INLINE void gain(const Params& params, Path& path, Vec3 light) {
    path.radiance += clamp_indirect(params, path.depth > 1 ? path.depth - 1 : 0, path.throughput * light);
}

// The shadow ray to a sampled light. It is aimed from its start point, off the surface. Otherwise a light right above the surface, seen at a grazing
// angle, would block itself.
THRONG_INLINE ShadowRay shadow_ray(const Surface& s, const LightSample& sampled, Vec3 origin, Vec3 open) {
    if (sampled.distance == kInfinity) return ShadowRay{origin, sampled.direction, kInfinity, open};
    Vec3 to = s.position + sampled.direction * sampled.distance - origin;
    float distance = length(to);
    return ShadowRay{origin, distance > 0.0f ? to * (1.0f / distance) : sampled.direction, distance, open};
}

// Adds the shadow ray to one light, and determines the path's next ray. `normal` is zero if light is gathered from all directions. `behind` is the
// medium behind the surface, like `Path::medium`. Returns a random number for Russian roulette. After the last bounce, paths continue to lights only
// if reflections may be sharp, because a sampled light may then contribute thousands of times its average.
template <bool fog, class B>
THRONG_DEVICE float scatter(const Params& params, Path& path, const Hit& hit, const Surface& s, Vec3 normal, const B& bsdf, uint32_t behind, Step& step) {
    const bool goes_on = B::kSharp || path.depth < params.picture.bounces;
    Vec2 choice = sample_2d(path.sampler, bounce_dimension(path, kBounceLight));
    LightSample sampled;
    if (sample_light(params, s.position, normal, s.time, goes_on, choice.x, sample_2d(path.sampler, bounce_dimension(path, kBouncePoint)), sampled)) {
        const Departure departure = B::kRound ? Departure{leave(s, sampled.direction), false, false} : depart(params, hit, s, sampled.direction);
        float pdf;
        Vec3 value = evaluate_bsdf(bsdf, sampled.direction, departure.behind, pdf);
        Vec3 light = path.throughput * value * sampled.light;
        if (goes_on && (B::kSamplesBetween || !departure.between)) light = light * (sampled.pdf == kInfinity ? 1.0f : power_heuristic(sampled.pdf, pdf));
        if (fog && (departure.behind ? behind : path.medium) == NO_INDEX)
            light = light * fog_transmittance(params.frame.fog, s.position, sampled.direction, sampled.distance);
        if (max_component(light) > 0.0f) {
            step.lights[step.light_rays++] = shadow_ray(s, sampled, departure.origin, clamp_indirect(params, path.depth, light));
        }
    }
    BsdfSample sample;
    float lobe = sample_2d(path.sampler, bounce_dimension(path, kBounceLobe)).x;
    if (!sample_bsdf(bsdf, lobe, sample_2d(path.sampler, bounce_dimension(path, kBounceDirection)), sample)) return choice.y;
    if (!goes_on) return choice.y;
    if (params.tables.has_panes && is_straight(bsdf, sample)) {
        pass(params, path, s, sample.in, sample.weight, step);
        return choice.y;
    }
    Vec3 origin;
    if (B::kSamplesBetween && sample.between) {
        const Departure departure = depart_between(params, hit, s, sample.in);
        if (departure.between == sample.transmitted) return choice.y;
        origin = departure.origin;
    } else origin = leave(s, sample.in);
    follow(params, path, hit, s, origin, normal, sample, step);
    if (sample.transmitted) path.medium = behind;
    return choice.y;
}

// Scatters a path at a fibre. Outlined, because most paths hit none.
template <bool fog>
THRONG_OUTLINE void scatter_at_fibre(const Params& params, Path& path, const Surface& s, uint32_t lobes, Vec3 color, Step& step) {
    const HairBsdf bsdf = make_hair(load_record(&params.tables.lobes[lobes]), color, s, -load3(path.ray.direction));
    const float u = scatter<fog>(params, path, Hit{}, s, vec3(0.0f), bsdf, path.medium, step);
    play_roulette(path, u, 1.0f, step);
}

// Sampler dimensions of events in media, whose number is unlimited. The dimension of an event is derived from its start point.
constexpr uint32_t kDimensionMedium = 0x40000000u;
// Fraction of paths that continue after an event in a medium, so that every random walk ends.
constexpr float kMediumSurvival = 0.99f;

// Cosine of a scattering angle with the mean `g` (Henyey and Greenstein 1941).
THRONG_INLINE float sample_phase(float g, float u) {
    if (fabsf(g) < 1e-3f) return 1.0f - 2.0f * u;
    const float square = (1.0f - g * g) / (1.0f - g + 2.0f * g * u);
    return clamp((1.0f + g * g - square * square) / (2.0f * g), -1.0f, 1.0f);
}

// Pdf of `sample_phase` per solid angle; `cosine` is the cosine of the angle to the previous direction.
THRONG_INLINE float phase_pdf(float g, float cosine) {
    if (fabsf(g) < 1e-3f) return 0.25f / kPi;
    const float squared = max(1.0f + g * g - 2.0f * g * cosine, (1.0f - fabsf(g)) * (1.0f - fabsf(g)));
    return (0.25f / kPi) * (1.0f - g * g) / (squared * sqrtf(squared));
}

// The direction at an angle with this cosine to `direction`, rotated about it by `turn`.
THRONG_INLINE Vec3 turned_away(Vec3 direction, float cosine, float turn) {
    Vec3 side, up;
    basis(direction, side, up);
    const float radius = sqrtf(max(0.0f, 1.0f - cosine * cosine));
    float turn_sine, turn_cosine;
    sine_cosine(turn, turn_sine, turn_cosine);
    return side * (radius * turn_cosine) + up * (radius * turn_sine) + direction * cosine;
}

// Moves a path through its scattering medium: to the surface at `distance`, or to an earlier scattering event, for which it returns true. The flight
// length is sampled for one colour, and weighted over all colours (balance heuristic). No light is sampled at the event, because it would have to
// come through the surface; light that the path hits counts in full. Outlined, because most scenes have no scattering media.
THRONG_OUTLINE bool scatter_in_medium(const Params& params, Path& path, const LobesRecord& lobes, float distance, Step& step) {
    const Vec3 extinction = load3(lobes.extinction), origin = load3(path.ray.origin), direction = load3(path.ray.direction);
    const uint32_t place = hash_combine(hash_combine(float_bits(origin.x), float_bits(origin.y)), hash_combine(float_bits(origin.z), float_bits(direction.x)));
    const uint32_t dimension = kDimensionMedium | (place & 0x3ffffffcu);
    const Vec2 flight = sample_2d(path.sampler, dimension), turn = sample_2d(path.sampler, dimension + 1u);
    const float total = path.throughput.x + path.throughput.y + path.throughput.z;
    const Vec3 share = path.throughput * (1.0f / total);
    const float along = flight.x < share.x ? extinction.x : flight.x < share.x + share.y ? extinction.y : extinction.z;
    const float reached = along > 0.0f ? -natural_log(1.0f - flight.y) / along : kInfinity;
    const bool is_scattered = reached < distance;
    if (!is_scattered && distance == kInfinity) {
        path.throughput = vec3(0.0f);
        return false;
    }
    const float length = is_scattered ? reached : distance;
    const Vec3 left = vec3(decay(-extinction.x * length), decay(-extinction.y * length), decay(-extinction.z * length));
    const Vec3 chance = is_scattered ? extinction * left : left;
    const float pdf = dot(share, chance);
    path.throughput *= pdf > 0.0f ? chance * (1.0f / pdf) : vec3(0.0f);
    if (!is_scattered) return false;
    path.throughput *= load3(lobes.scatter_albedo);
    const Vec3 on = turned_away(direction, sample_phase(lobes.scatter_anisotropy, turn.x), turn.y);
    path.scatter = Scatter{vec3(0.0f), kInfinity, 0.0f};
    continue_cone(params, path, length, 0.25f / kPi);
    path.ray = ray_of(origin + direction * length, on, kInfinity, time_of(path.ray));
    const float survival = min(kMediumSurvival, sqrtf(max_component(path.throughput) * lobes.ior * lobes.ior));
    step.more = sample_2d(path.sampler, dimension + 2u).x < survival;
    path.throughput = path.throughput * (1.0f / max(survival, 1e-30f));
    return true;
}

// Maximum number of shadow rays from the fog per scattering event: on segments seen by cameras and perfect mirrors, and on others.
constexpr float kSeenFogRays = 10.0f, kFogRays = 1.0f;

// A part of a path in the fog, up to a surface or infinite.
struct FogSegment : Segment {
    // Fraction of light that is lost along the segment, which is the probability of a scattering event.
    float lost;
    // Number of shadow rays per scattering event; a segment has at most one. Sampled light is weighted accordingly against light that the path hits
    // (multi-sample model, Veach 1997).
    float rays;
};

// A point at which the fog is lit, as a distance along a segment, and the weight of light that is scattered there.
struct FogPoint {
    float at, weight;
};

// Moves half of all points, which are sampled by light loss, to positions sampled by their angle from a light at `position` (equiangular sampling,
// Kulla and Fajardo 2012). Weights all points for both strategies (balance heuristic).
THRONG_DEVICE FogPoint move_to_lamp(const FogRecord& fog, const FogSegment& segment, FogPoint point, Vec3 position, Vec2 u) {
    const Vec3 to = position - segment.origin;
    const float middle = dot(to, segment.direction);
    // If the segment passes through the light, the angle is degenerate.
    const float apart = max(length(to - segment.direction * middle), max(1e-4f * fabsf(middle), 1e-10f));
    const float begin = arc_tangent(-middle / apart), angle = arc_tangent((segment.length - middle) / apart) - begin;
    if (!(angle > 1e-5f)) return point;
    if (u.x < 0.5f) {
        const float turned = begin + angle * u.y;
        float sine, cosine;
        sine_cosine(fabsf(turned) * (0.5f / kPi), sine, cosine);
        const float along = apart * sine / max(cosine, 1e-7f);
        point.at = clamp(middle + (turned < 0.0f ? -along : along), 0.0f, segment.length);
    }
    const float off = point.at - middle, by_angle = apart / (angle * (apart * apart + off * off));
    const float passed = fog_transmittance(fog, segment.origin, segment.direction, point.at);
    const float by_loss = fog_density(fog, segment.origin.y + segment.direction.y * point.at) * passed / segment.lost;
    point.weight *= by_loss > 0.0f ? 2.0f * by_loss / (by_loss + by_angle) : 0.0f;
    return point;
}

// Samples a light inside the scene for a point of the fog, by the light that arrives along the whole segment. Points are moved for lights without
// extent. `weighed` is the probability of local lights that is used for weighting hit light, and `share` is the probability with which they are
// sampled.
THRONG_DEVICE bool sample_local_in_fog(const Params& params, Time time, const FogSegment& segment, float choice, float weighed, float share, Vec2 u, FogPoint& point, LightSample& sampled) {
    float probability = share;
    SampledEmitter chosen;
    if (!sample_emitter(params, static_cast<const Segment&>(segment), time, random_bits(u), choice, probability, chosen)) return false;
    const EmitterRecord& emitter = chosen.emitter;
    const Vec3 position = segment.origin + segment.direction * point.at;
    if (emitter.table != NO_INDEX) {
        const uint32_t number = number_of(params, chosen);
        const float other = weighed * emitter_probability(params, receiver(position, vec3(0.0f)), time, emitter.record, number);
        point.weight *= other / probability;
        return other > 0.0f && sample_surface(params, position, time, emitter, number, choice, other, u, sampled);
    }
    const LightRecord lamp = load_light(params, emitter.record);
    point = move_to_lamp(params.frame.fog, segment, point, load3(lamp.vector), u);
    const IncidentLight l = incident_light(lamp, segment.origin + segment.direction * point.at, u);
    sampled = LightSample{l.direction, l.distance * kShortOfLight, l.irradiance * (1.0f / probability), kInfinity};
    return true;
}

// The probabilities of light kinds for light that the fog scatters along a segment. Suns count by the fraction of their light that is scattered in
// its direction.
THRONG_DEVICE LightShares scattered_shares(const Params& params, const FogSegment& segment, LightShares shares) {
    if (!(shares.suns > 0.0f)) return shares;
    float scattered = 0.0f;
    THRONG_NO_UNROLL
    for (uint32_t i = 0; i < params.tables.sun_count; i++) {
        const LightRecord sun = load_record(&params.tables.lights[i]);
        scattered += sun.probability * phase_pdf(params.frame.fog.anisotropy, dot(segment.direction, load3(sun.vector)));
    }
    const float suns = shares.suns * clamp(4.0f * kPi * scattered, 0.25f, 16.0f), scale = 1.0f / (shares.sky + suns + shares.local);
    return LightShares{shares.sky * scale, suns * scale, shares.local * scale};
}

// Samples a direction to the sky for a point of the fog: by the sky's light or, with a probability that grows with the fog's anisotropy, by the phase
// function (one-sample model, Veach 1997). Otherwise a bright part of the sky in the scattering direction would be sampled rarely and contribute
// much. The pdf is still the sky's own, which is used for weighting light that paths hit.
THRONG_DEVICE bool sample_sky_in_fog(const Params& params, const FogSegment& segment, float choice, float share, Vec2 u, LightSample& sampled) {
    const float g = params.frame.fog.anisotropy, by_phase = 0.5f * fabsf(g), by_sky = 1.0f - by_phase;
    if (choice < by_sky) {
        if (!sample_sky(params, vec3(0.0f), min(choice / by_sky, kBelowOne), share, u, sampled)) return false;
    } else {
        const Vec3 direction = turned_away(segment.direction, sample_phase(g, u.x), u.y);
        sampled = LightSample{direction, kInfinity, vec3(0.0f), share * sky_pdf(params, vec3(0.0f), direction)};
    }
    const float phase = phase_pdf(g, dot(segment.direction, sampled.direction));
    sampled.light = sky_radiance(params, sampled.direction) * (1.0f / (by_sky * sampled.pdf + by_phase * share * phase));
    return true;
}

// Samples a light for a point of the fog. Its kind is sampled by the light that arrives at the segment's point nearest to the local lights. Its pdf
// is computed from the light that arrives at the point, because only this is available when a light is hit.
THRONG_DEVICE bool sample_light_in_fog(const Params& params, const Path& path, const FogSegment& segment, bool goes_on, FogPoint& point, LightSample& sampled) {
    const Vec3 position = segment.origin + segment.direction * point.at;
    const Vec3 nearest = segment.origin + segment.direction * nearest_on(segment, load3(params.local_lights.center));
    const LightShares weighed = light_shares(params, position, goes_on), shares = scattered_shares(params, segment, light_shares(params, nearest, goes_on));
    const Vec2 u = sample_2d(path.sampler, bounce_dimension(path, kFogPoint));
    float choice = sample_2d(path.sampler, bounce_dimension(path, kFogLight)).x;
    if (choice < shares.sky) {
        point.weight *= weighed.sky / shares.sky;
        return sample_sky_in_fog(params, segment, min(choice / shares.sky, kBelowOne), weighed.sky, u, sampled);
    }
    choice -= shares.sky;
    if (choice < shares.suns) {
        point.weight *= weighed.suns / shares.suns;
        return sample_sun(params, position, min(choice / shares.suns, kBelowOne), weighed.suns, u, sampled);
    }
    if (!(shares.local > 0.0f)) return false;
    choice = min((choice - shares.suns) / shares.local, kBelowOne);
    return sample_local_in_fog(params, time_of(path.ray), segment, choice, weighed.local, shares.local, u, point, sampled);
}

// Adds the shadow ray to a light that is sampled for a point of the fog.
THRONG_DEVICE void light_fog(const Params& params, const Path& path, const FogSegment& segment, FogPoint point, bool goes_on, Step& step) {
    const FogRecord& fog = params.frame.fog;
    LightSample sampled;
    if (!(point.at < kInfinity) || !sample_light_in_fog(params, path, segment, goes_on, point, sampled)) return;
    const Vec3 position = segment.origin + segment.direction * point.at;
    const float pdf = phase_pdf(fog.anisotropy, dot(segment.direction, sampled.direction));
    const float passed = fog_transmittance(fog, position, sampled.direction, sampled.distance);
    const float weight = goes_on ? power_heuristic(sampled.pdf, pdf / segment.rays) : 1.0f;
    const Vec3 light = path.throughput * load3(fog.albedo) * sampled.light * (pdf * passed * weight * point.weight);
    if (!(max_component(light) > 0.0f)) return;
    step.has_first = true;
    // Light that is scattered in the fog is indirect, like light scattered by a surface before the visible one.
    step.first = ShadowRay{position, sampled.direction, sampled.distance, clamp_indirect(params, path.depth + 1, light)};
    step.first_blocked = vec3(0.0f);
}

// Continues the path from the point at which the fog scatters it.
THRONG_DEVICE void follow_in_fog(const Params& params, Path& path, const FogSegment& segment, float at, Step& step) {
    const FogRecord& fog = params.frame.fog;
    const Vec2 turn = sample_2d(path.sampler, bounce_dimension(path, kBounceDirection));
    const float cosine = sample_phase(fog.anisotropy, turn.x), u = sample_2d(path.sampler, bounce_dimension(path, kBounceLight)).y;
    path.throughput *= load3(fog.albedo);
    path.scatter = Scatter{vec3(0.0f), phase_pdf(fog.anisotropy, cosine) / segment.rays, 0.0f};
    continue_cone(params, path, at, path.scatter.pdf);
    path.ray = ray_of(segment.origin + segment.direction * at, turned_away(segment.direction, cosine, turn.y), kInfinity, time_of(path.ray));
    path.depth++;
    step.more = max_component(path.throughput) > 0.0f;
    play_roulette(path, u, 1.0f, step);
}

// Scatters a path in the fog before it reaches `distance`, and returns true; otherwise lets it pass, with the probability of the transmittance. The
// fog is lit in both cases. For paths from cameras and perfect mirrors, the transmittance to the sky is exact.
THRONG_DEVICE bool scatter_in_fog(const Params& params, Path& path, float distance, Step& step) {
    const FogRecord& fog = params.frame.fog;
    const Vec3 origin = load3(path.ray.origin), direction = load3(path.ray.direction);
    const float depth = min(fog_depth(fog, origin.y, direction.y, distance), 100.0f);
    if (!(depth > 0.0f)) return false;
    const bool is_seen = path.scatter.pdf == kInfinity, goes_on = path.depth < params.picture.bounces;
    const float lost = depth * decay_ratio(depth);
    const FogSegment segment{{origin, direction, distance}, lost, min(is_seen ? kSeenFogRays : kFogRays, 1.0f / lost)};
    const Vec2 flight = sample_2d(path.sampler, bounce_dimension(path, kBounceFlight));
    const float flown = fog_flight(fog, origin.y, direction.y, -natural_log(1.0f - flight.x));
    const bool is_scattered = flown < distance, ends = is_seen && distance == kInfinity;
    if (ends && !is_transparent(params, path)) gain(params, path, background(params, direction, sky_spread(path)) * decay(-depth));
    if (path.depth <= params.picture.bounces) {
        const float share = flight.y * lost, at = fog_flight(fog, origin.y, direction.y, share * log_ratio(-share));
        const bool is_lit = sample_2d(path.sampler, bounce_dimension(path, kFogLight)).y < lost * segment.rays;
        if (is_lit) light_fog(params, path, segment, FogPoint{min(at, distance), 1.0f / segment.rays}, goes_on, step);
        if (is_scattered && goes_on) follow_in_fog(params, path, segment, flown, step);
    }
    return is_scattered || ends;
}

// The step of a path. `layered` is true if there are materials other than diffuse surfaces and mirrors; without them the step is much smaller. `fog`
// and `hair` are true if there may be fog and hair.
template <bool layered, bool fog = false, bool hair = layered>
THRONG_DEVICE void path_step(const Params& params, Path& path, const Hit& hit, Step& step, const Surface* known = nullptr) {
    step.clear();
    const Vec3 origin = load3(path.ray.origin), direction = load3(path.ray.direction);
    if (layered && path.medium != NO_INDEX) {
        const LobesRecord& lobes = params.tables.lobes[params.tables.materials[path.medium].lobes];
        if (max_component(load3(lobes.scatter_albedo)) > 0.0f) {
            if (scatter_in_medium(params, path, lobes, hit.t < 0.0f ? kInfinity : hit.t, step)) return;
        } else if (hit.t >= 0.0f) {
            Vec3 depth = load3(lobes.extinction) * -hit.t;
            path.throughput *= vec3(decay(depth.x), decay(depth.y), decay(depth.z));
        }
    }
    if (fog && path.medium == NO_INDEX && scatter_in_fog(params, path, hit.t < 0.0f ? kInfinity : hit.t, step)) return;
    // Position of the path's last scattering event.
    const Vec3 scattered = layered ? origin - direction * path.scatter.passed : origin;
    if (hit.t < 0.0f) {
        if (is_transparent(params, path)) return;
        gain(params, path, escaped_light(params, scattered, path.scatter, direction, sky_spread(path)));
        return;
    }
    Surface s = known ? *known : make_surface(params, path.ray, hit);
    const MaterialRecord material = load_record(&params.tables.materials[s.material]);
    if (is_hidden(path, material)) {
        path.radiance += behind_hole(params, direction, sky_spread(path));
        return;
    }
    Footprint footprint;
    set_footprint(params, path.cone, path.ray, hit, material.flags, s, footprint);
    const Vec3 emission = emission_at(params, s, material);
    if (max_component(emission) > 0.0f) gain(params, path, emitted_light(params, scattered, path.scatter, hit, s, emission));
    // A path one bounce past the limit only collects light that is visible in reflections, also through panes.
    if (path.depth > params.picture.bounces) {
        if (layered && params.tables.has_panes && path.depth <= params.picture.bounces + PANES_BEYOND_BOUNCES) pass(params, path, s, direction, share_through(params, direction, s), step);
        return;
    }
    const Vec3 color = base_color(params, s, material);
    if (material.kind == MATERIAL_MIRROR) {
        Vec2 choice = sample_2d(path.sampler, bounce_dimension(path, kBounceLight));
        const Vec3 mirrored = mirror_direction(direction, s);
        follow(params, path, hit, s, leave(s, mirrored), s.shading, BsdfSample{mirrored, color, kInfinity, false, false}, step);
        play_roulette(path, choice.y, 1.0f, step);
        return;
    }
    if (!layered || material.kind == MATERIAL_DIFFUSE) {
        if (!(max_component(color) > 0.0f)) return;
        const float u = scatter<fog>(params, path, hit, s, s.shading, Lambert{color, s.shading, s.geometric}, path.medium, step);
        play_roulette(path, u, 1.0f, step);
        return;
    }
    if (hair && material.kind == MATERIAL_HAIR) {
        // A copy, so that the surface stays in registers for other materials.
        const Surface fibre = s;
        scatter_at_fibre<fog>(params, path, fibre, material.lobes, color, step);
        return;
    }
    const LobesRecord lobes = load_record(&params.tables.lobes[material.lobes]);
    const ShadingInputs inputs = read_shading_inputs(params, s, lobes, color);
    const Bsdf bsdf = make_bsdf(inputs, s, -direction);
    // These surfaces receive light from behind as well.
    const bool all_around = inputs.transmission > 0.0f || inputs.diffuse_transmission > 0.0f;
    const uint32_t behind = inputs.thin ? path.medium : s.front ? s.material : NO_INDEX;
    const float u = scatter<fog>(params, path, hit, s, all_around ? vec3(0.0f) : bsdf.normal, bsdf, behind, step);
    if (!step.more) return;
    play_roulette(path, u, path.medium == NO_INDEX ? 1.0f : inputs.ior * inputs.ior, step);
}

}

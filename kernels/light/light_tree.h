// Sampling of the tree over the emitters inside the scene (Conty Estevez and Kulla 2018, "Importance Sampling of Many Lights with Adaptive Tree
// Splitting"): at each node, a child is sampled in proportion to an estimate of its light.
#pragma once
#include "geom/nested.h"
#include "light/environment.h"

namespace THRONG_NAMESPACE {

// A point at which light is gathered.
struct Receiver {
    Vec3 position;
    // Unit normal, or zero if light is gathered from all directions, and its absolute components.
    Vec3 normal, absolute_normal;
    bool all_around;
};

THRONG_INLINE Receiver receiver(Vec3 position, Vec3 normal) {
    return Receiver{position, normal, absolute(normal), !(dot(normal, normal) > 0.0f)};
}

// Estimate of the light that arrives from a node, as if all its power were at its centre, but at least at the distance of its radius. Zero only if
// the whole node is below the horizon.
THRONG_INLINE float importance(const LightNode& node, const Receiver& r) {
    Vec3 to = load3(node.center) - r.position, extent = load3(node.extent);
    float inverse = 1.0f / max(max(dot(to, to), dot(extent, extent)), 1e-20f);
    float facing = 1.0f;
    if (!r.all_around) facing = max(dot(r.normal, to) + dot(r.absolute_normal, extent), 0.0f) * sqrtf(inverse);
    return min(node.power * inverse, 1e30f) * facing;
}

// A line segment, possibly infinite, along which light is gathered from all directions.
struct Segment {
    Vec3 origin, direction;
    float length;
};

THRONG_INLINE float nearest_on(const Segment& segment, Vec3 point) { return clamp(dot(point - segment.origin, segment.direction), 0.0f, segment.length); }

// Estimate of the light that arrives along the segment, up to a constant factor.
THRONG_INLINE float importance(const LightNode& node, const Segment& segment) {
    const Vec3 center = load3(node.center), extent = load3(node.extent);
    const Vec3 away = segment.origin + segment.direction * nearest_on(segment, center) - center;
    return min(node.power / sqrtf(max(max(dot(away, away), dot(extent, extent)), 1e-20f)), 1e30f);
}

// The receiver or segment in the space of an assembly.
THRONG_INLINE Receiver moved_into(const Receiver& r, const float* world_from_object, const float* object_from_world) {
    const Vec3 position = enter_mesh(object_from_world, FinePoint{r.position, vec3(0.0f)});
    return receiver(position, r.all_around ? r.normal : normalize_or(transform_normal(world_from_object, r.normal), r.normal));
}

THRONG_INLINE Segment moved_into(const Segment& s, const float*, const float* object_from_world) {
    const Vec3 direction = transform_vector(object_from_world, s.direction);
    const float stretch = length(direction);
    return Segment{enter_mesh(object_from_world, FinePoint{s.origin, vec3(0.0f)}), direction * (1.0f / stretch), s.length * stretch};
}

// The children of a node pair, and the probability of the first one; false if both are below the horizon.
struct NodePair {
    uint32_t children[2];
    float first;
};

template <class R>
THRONG_INLINE bool load_pair(const Params& params, uint32_t pair, const R& r, NodePair& out) {
    const LightNode* nodes = params.local_lights.nodes + 2 * uint64_t(pair);
    const LightNode a = load_record(nodes), b = load_record(nodes + 1);
    float first = importance(a, r), second = importance(b, r), sum = first + second;
    out.children[0] = a.child;
    out.children[1] = b.child;
    out.first = first / sum;
    return sum > 0.0f;
}

// Samples an emitter below a node for a receiver or a segment; NO_INDEX if none is visible. Multiplies `probability` by the emitter's probability,
// and rescales `choice` so that it is uniform again.
template <class R>
THRONG_DEVICE uint32_t sample_below(const Params& params, uint32_t node, const R& r, float& choice, float& probability) {
    while (!(node & LEAF)) {
        NodePair pair;
        if (!load_pair(params, node, r, pair)) return NO_INDEX;
        bool second = !(choice < pair.first);
        float own = second ? 1.0f - pair.first : pair.first;
        choice = min((second ? choice - pair.first : choice) / own, kBelowOne);
        probability *= own;
        node = pair.children[second ? 1 : 0];
    }
    return node & ~LEAF;
}

// Refills the low bits of a random number in [0, 1) after choices with this total probability, which have used most of them up.
THRONG_DEVICE float refill(float choice, float probability, uint32_t key) {
    float x = choice + min(5.9604645e-8f / probability, 1.0f) * unit_float(hash(key));
    return min(x < 1.0f ? x : x - 1.0f, kBelowOne);
}

// An emitter, and the first number of its level.
struct SampledEmitter {
    EmitterRecord emitter;
    uint32_t base;
};

// Samples an emitter in the world or in an assembly; false if none is visible. An assembly inside an assembly is an emitter of the surrounding tree.
// `key` is a source of random bits.
template <class R>
THRONG_DEVICE bool sample_emitter(const Params& params, R r, Time time, uint32_t key, float& choice, float& probability, SampledEmitter& sampled) {
    sampled.base = 0;
    for (uint32_t node = params.local_lights.root;;) {
        const uint32_t index = sample_below(params, node, r, choice, probability);
        if (index == NO_INDEX) return false;
        sampled.emitter = load_record(&params.local_lights.emitters[index]);
        if (!is_nested(params) || sampled.emitter.table != EMITTER_IS_ASSEMBLY) return true;
        const InstanceRecord& instance = params.trees.instances[sampled.emitter.record];
        float out[12], in[12];
        load_placement(params, instance, time, out, in);
        r = moved_into(r, out, in);
        node = sampled.emitter.root;
        choice = refill(choice, probability, key ^ node);
        sampled.base += instance.instance;
    }
}

// Probability of sampling the emitter at the end of `trail` below a node.
template <class R>
THRONG_DEVICE float probability_below(const Params& params, uint32_t node, const R& r, uint32_t trail) {
    float probability = 1.0f;
    for (; !(node & LEAF); trail >>= 1) {
        NodePair pair;
        if (!load_pair(params, node, r, pair)) return 0.0f;
        probability *= trail & 1u ? 1.0f - pair.first : pair.first;
        node = pair.children[trail & 1u];
    }
    return probability;
}

// Probability that `sample_emitter` samples the instance with this record and number; 0 if it is not emissive.
THRONG_DEVICE float emitter_probability(const Params& params, Receiver r, Time time, uint32_t record, uint32_t number) {
    const uint32_t* emitter_of = params.local_lights.emitter_of;
    uint32_t node = params.local_lights.root;
    if (!is_nested(params)) {
        const uint32_t index = load_word(&emitter_of[record]);
        return index == NO_INDEX ? 0.0f : probability_below(params, node, r, load_word(&params.local_lights.emitters[index].trail));
    }
    float probability = 1.0f;
    follow_number(params, number, record, [&](uint32_t, const InstanceRecord& instance) {
        const uint32_t index = load_word(&emitter_of[record_of(params, instance)]);
        if (index == NO_INDEX || !(probability > 0.0f)) {
            probability = 0.0f;
            return;
        }
        const EmitterRecord emitter = load_record(&params.local_lights.emitters[index]);
        probability *= probability_below(params, node, r, emitter.trail);
        if (emitter.table != EMITTER_IS_ASSEMBLY) return;
        float out[12], in[12];
        load_placement(params, instance, time, out, in);
        r = moved_into(r, out, in);
        node = emitter.root;
    });
    return probability;
}

}

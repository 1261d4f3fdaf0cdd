// The walk down the tree over the emitters within the scene (Conty Estevez and Kulla 2018, "Importance Sampling of Many Lights with
// Adaptive Tree Splitting"): at each node, a child is sampled by how much of its light may arrive.
#pragma once
#include "light/environment.h"

namespace THRONG_NAMESPACE {

// A point where light is gathered.
struct Receiver {
    Vec3 position;
    // Unit normal, or zero where light is gathered from all around, and its absolute components.
    Vec3 normal, absolute_normal;
    bool all_around;
};

THRONG_INLINE Receiver receiver(Vec3 position, Vec3 normal) {
    return Receiver{position, normal, absolute(normal), !(dot(normal, normal) > 0.0f)};
}

// Estimate of the light that arrives from a node, as if all its power were at its centre, but no nearer than its radius. Zero only if
// the whole node is below the horizon.
THRONG_INLINE float importance(const LightNode& node, const Receiver& r) {
    Vec3 to = load3(node.center) - r.position, extent = load3(node.extent);
    float inverse = 1.0f / max(max(dot(to, to), dot(extent, extent)), 1e-20f);
    float facing = 1.0f;
    if (!r.all_around) facing = max(dot(r.normal, to) + dot(r.absolute_normal, extent), 0.0f) * sqrtf(inverse);
    return min(node.power * inverse, 1e30f) * facing;
}

// A straight line along which light is gathered from all around, of a length that may be infinite.
struct Segment {
    Vec3 origin, direction;
    float length;
};

THRONG_INLINE float nearest_on(const Segment& segment, Vec3 point) { return clamp(dot(point - segment.origin, segment.direction), 0.0f, segment.length); }

// Estimate of the light that arrives along the segment, up to a factor that is the same for all nodes.
THRONG_INLINE float importance(const LightNode& node, const Segment& segment) {
    const Vec3 center = load3(node.center), extent = load3(node.extent);
    const Vec3 away = segment.origin + segment.direction * nearest_on(segment, center) - center;
    return min(node.power / sqrtf(max(max(dot(away, away), dot(extent, extent)), 1e-20f)), 1e30f);
}

// The children of a node pair, and the probability of the first of them; false if both are below the horizon.
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

// Samples an emitter for a receiver or a segment; NO_INDEX if none can be seen. Multiplies `probability` by that of the emitter, and rescales `choice` so that it
// is a random number again.
template <class R>
THRONG_DEVICE uint32_t sample_emitter(const Params& params, const R& r, float& choice, float& probability) {
    uint32_t node = params.local_lights.root;
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

// Probability with which `sample_emitter` samples the emitter that `trail` leads to.
THRONG_DEVICE float emitter_probability(const Params& params, const Receiver& r, uint32_t trail) {
    float probability = 1.0f;
    uint32_t node = params.local_lights.root;
    for (; !(node & LEAF); trail >>= 1) {
        NodePair pair;
        if (!load_pair(params, node, r, pair)) return 0.0f;
        probability *= trail & 1u ? 1.0f - pair.first : pair.first;
        node = pair.children[trail & 1u];
    }
    return probability;
}

}

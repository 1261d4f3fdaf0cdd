// Entry points for tests of surface scattering on its own.
#include "closure/hair.h"
#include "probe/albedo.h"

using namespace THRONG_NAMESPACE;

// A surface of one material without textures, in the layout of crates/device/src/probe.rs.
struct ProbeSurface {
    LobesRecord lobes;
    float normal[3], clearcoat_normal[3], tangent[3], geometric[3], shading[3];
    float color[3];
    uint32_t front, lifted, hair;
};

struct ProbeSample {
    float in[3], weight[3], pdf;
    uint32_t transmitted;
};

static Surface surface_of(const ProbeSurface& p) {
    Surface s = {};
    s.geometric = load3(p.geometric);
    s.shading = load3(p.shading);
    s.tangent = load3(p.tangent);
    s.front = p.front != 0;
    return s;
}

static Bsdf bsdf_of(const ProbeSurface& p, const float* out) {
    static const Params params = {};
    const Surface s = surface_of(p);
    ShadingInputs inputs = read_shading_inputs(params, s, p.lobes, load3(p.color));
    inputs.normal = load3(p.normal);
    inputs.clearcoat_normal = load3(p.clearcoat_normal);
    inputs.tangent = load3(p.tangent);
    return make_bsdf(inputs, s, load3(out));
}

// Calls `visit` with the BSDF of the surface.
template <class Visit> static void with_bsdf(const ProbeSurface& p, const float* out, Visit visit) {
    if (p.hair) visit(make_hair(p.lobes, load3(p.color), surface_of(p), load3(out)));
    else visit(bsdf_of(p, out));
}

template <class B> static void evaluate(const B& bsdf, const ProbeSurface& p, const float* in, uint32_t count, float* results) {
    for (uint32_t i = 0; i < count; i++) {
        const Vec3 to = load3(in + 3 * i);
        const bool between = p.lifted && dot(to, load3(p.shading)) > 0.0f, beyond = dot(to, load3(p.geometric)) < 0.0f && !between;
        store3(results + 4 * i, evaluate_bsdf(bsdf, to, beyond, results[4 * i + 3]));
    }
}

template <class B> static void sample(const B& bsdf, bool lifted, const float* random, uint32_t count, ProbeSample* samples) {
    for (uint32_t i = 0; i < count; i++) {
        BsdfSample sample;
        const float* r = random + 3 * i;
        if (sample_bsdf(bsdf, r[0], Vec2{r[1], r[2]}, sample) && !(sample.between && lifted == sample.transmitted)) {
            store3(samples[i].in, sample.in);
            store3(samples[i].weight, sample.weight);
            samples[i].pdf = sample.pdf;
            samples[i].transmitted = sample.transmitted;
        } else {
            samples[i] = ProbeSample{};
        }
    }
}

// Evaluates the BSDF for `count` directions of light: the value times cosine (RGB) and the pdf of each.
extern "C" void throng_probe_evaluate(const ProbeSurface* surface, const float* out, const float* in, uint32_t count, float* results) {
    with_bsdf(*surface, out, [&](const auto& bsdf) { evaluate(bsdf, *surface, in, count, results); });
}

// Samples the BSDF with `count` triples of random numbers (choice, u); a failed sample has the pdf 0.
extern "C" void throng_probe_sample(const ProbeSurface* surface, const float* out, const float* random, uint32_t count, ProbeSample* samples) {
    with_bsdf(*surface, out, [&](const auto& bsdf) { sample(bsdf, surface->lifted != 0, random, count, samples); });
}

// Fractions of light that a rough interface reflects if its facets reflect everything, reflects as a dielectric, and transmits.
extern "C" void throng_probe_interface(float cosine, float azimuth, float along, float across, float eta, uint32_t grid, float* albedos) {
    InterfaceAlbedo a = interface_albedo(direction_at(cosine, azimuth * (0.5f / kPi)), Roughness{along, across}, eta, grid);
    store3(albedos, vec3(a.mirror, a.reflected, a.transmitted));
}

extern "C" float throng_probe_sheen(float cosine, float roughness, uint32_t grid) { return sheen_albedo(cosine, roughness, grid); }

// Computes the bent normal for `normal`.
extern "C" void throng_probe_bend(const float* normal, const float* geometric, const float* out, float* bent) {
    store3(bent, bend_normal(load3(normal), load3(geometric), load3(out)));
}

extern "C" float throng_probe_fresnel(float cosine, float eta) { return dielectric_fresnel(cosine, eta); }

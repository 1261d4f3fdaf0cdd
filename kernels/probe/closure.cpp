// The scattering of surfaces by itself, for tests.
#include "closure/bsdf.h"
#include "probe/albedo.h"

using namespace THRONG_NAMESPACE;

// A look, a surface and a direction, as src/probe.rs lays them out.
struct ProbeSurface {
    float normal[3], clearcoat_normal[3], tangent[3], geometric[3], shading[3];
    float color[3], specular_color[3], diffuse_transmission_color[3], sheen_color[3];
    float metallic, roughness, ior, dispersion, specular, transmission, diffuse_transmission, clearcoat, clearcoat_roughness, sheen_roughness;
    float iridescence, iridescence_ior, iridescence_thickness, anisotropy;
    uint32_t thin, front;
};

struct ProbeSample {
    float in[3], weight[3], pdf;
    uint32_t transmitted;
};

static Bsdf bsdf_of(const ProbeSurface& p, const float* out) {
    ShadingInputs inputs;
    inputs.normal = load3(p.normal);
    inputs.clearcoat_normal = load3(p.clearcoat_normal);
    inputs.tangent = load3(p.tangent);
    inputs.color = load3(p.color);
    inputs.metallic = p.metallic;
    inputs.roughness = p.roughness;
    inputs.ior = p.ior;
    inputs.dispersion = p.dispersion;
    inputs.specular = p.specular;
    inputs.specular_color = load3(p.specular_color);
    inputs.transmission = p.transmission;
    inputs.thin = p.thin != 0;
    inputs.diffuse_transmission = p.diffuse_transmission;
    inputs.diffuse_transmission_color = load3(p.diffuse_transmission_color);
    inputs.clearcoat = p.clearcoat;
    inputs.clearcoat_roughness = p.clearcoat_roughness;
    inputs.sheen_color = load3(p.sheen_color);
    inputs.sheen_roughness = p.sheen_roughness;
    inputs.iridescence = p.iridescence;
    inputs.iridescence_ior = p.iridescence_ior;
    inputs.iridescence_thickness = p.iridescence_thickness;
    inputs.anisotropy = p.anisotropy;
    inputs.single_scatter = false;
    inputs.viewer_layering = false;
    Surface s = {};
    s.geometric = load3(p.geometric);
    s.shading = load3(p.shading);
    s.front = p.front != 0;
    return make_bsdf(inputs, s, load3(out));
}

// `count` directions of light, and for each the value times cosine (RGB) and the pdf.
extern "C" void throng_probe_evaluate(const ProbeSurface* surface, const float* out, const float* in, uint32_t count, float* results) {
    Bsdf bsdf = bsdf_of(*surface, out);
    for (uint32_t i = 0; i < count; i++) store3(results + 4 * i, evaluate_bsdf(bsdf, load3(in + 3 * i), results[4 * i + 3]));
}

// `count` triples of random numbers (choice, u); a sample that finds nothing has the pdf 0.
extern "C" void throng_probe_sample(const ProbeSurface* surface, const float* out, const float* random, uint32_t count, ProbeSample* samples) {
    Bsdf bsdf = bsdf_of(*surface, out);
    for (uint32_t i = 0; i < count; i++) {
        BsdfSample sample;
        const float* r = random + 3 * i;
        if (sample_bsdf(bsdf, r[0], Vec2{r[1], r[2]}, sample)) {
            store3(samples[i].in, sample.in);
            store3(samples[i].weight, sample.weight);
            samples[i].pdf = sample.pdf;
            samples[i].transmitted = sample.transmitted;
        } else {
            samples[i] = ProbeSample{};
        }
    }
}

// Shares that a rough interface reflects of all light, reflects as a dielectric, and lets through.
extern "C" void throng_probe_interface(float cosine, float azimuth, float along, float across, float eta, uint32_t grid, float* albedos) {
    InterfaceAlbedo a = interface_albedo(direction_at(cosine, azimuth), Roughness{along, across}, eta, grid);
    store3(albedos, vec3(a.mirror, a.reflected, a.transmitted));
}

extern "C" float throng_probe_sheen(float cosine, float roughness, uint32_t grid) { return sheen_albedo(cosine, roughness, grid); }

// Normal that `normal` is bent to.
extern "C" void throng_probe_bend(const float* normal, const float* geometric, const float* out, float* bent) {
    store3(bent, bend_normal(load3(normal), load3(geometric), load3(out)));
}

extern "C" float throng_probe_fresnel(float cosine, float eta) { return dielectric_fresnel(cosine, eta); }

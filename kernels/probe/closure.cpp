// The scattering of surfaces by itself, for tests.
#include "closure/bsdf.h"
#include "probe/albedo.h"

using namespace THRONG_NAMESPACE;

// A look, a surface and a direction, as src/probe.rs lays them out.
struct ProbeLook {
    float normal[3], clearcoat_normal[3], tangent[3], geometric[3], shading[3];
    float color[3], specular_color[3], diffuse_transmission_color[3], sheen_color[3];
    float metallic, roughness, ior, dispersion, specular, transmission, diffuse_transmission, clearcoat, clearcoat_roughness, sheen_roughness;
    float iridescence, iridescence_ior, iridescence_thickness, anisotropy;
    uint32_t thin, front;
};

struct ProbeSample {
    float in[3], weight[3], density;
    uint32_t transmitted;
};

static Bsdf bsdf_of(const ProbeLook& p, const float* out) {
    Look look;
    look.normal = load3(p.normal);
    look.clearcoat_normal = load3(p.clearcoat_normal);
    look.tangent = load3(p.tangent);
    look.color = load3(p.color);
    look.metallic = p.metallic;
    look.roughness = p.roughness;
    look.ior = p.ior;
    look.dispersion = p.dispersion;
    look.specular = p.specular;
    look.specular_color = load3(p.specular_color);
    look.transmission = p.transmission;
    look.thin = p.thin != 0;
    look.diffuse_transmission = p.diffuse_transmission;
    look.diffuse_transmission_color = load3(p.diffuse_transmission_color);
    look.clearcoat = p.clearcoat;
    look.clearcoat_roughness = p.clearcoat_roughness;
    look.sheen_color = load3(p.sheen_color);
    look.sheen_roughness = p.sheen_roughness;
    look.iridescence = p.iridescence;
    look.iridescence_ior = p.iridescence_ior;
    look.iridescence_thickness = p.iridescence_thickness;
    look.anisotropy = p.anisotropy;
    look.single_scatter = false;
    look.viewer_layering = false;
    Surface s = {};
    s.geometric = load3(p.geometric);
    s.shading = load3(p.shading);
    s.front = p.front != 0;
    return make_bsdf(look, s, load3(out));
}

// `count` directions of light, and for each the value times cosine (RGB) and the density.
extern "C" void throng_probe_evaluate(const ProbeLook* look, const float* out, const float* in, uint32_t count, float* results) {
    Bsdf bsdf = bsdf_of(*look, out);
    for (uint32_t i = 0; i < count; i++) store3(results + 4 * i, evaluate_bsdf(bsdf, load3(in + 3 * i), results[4 * i + 3]));
}

// `count` triples of random numbers (choice, u); a sample that finds nothing has the density 0.
extern "C" void throng_probe_sample(const ProbeLook* look, const float* out, const float* random, uint32_t count, ProbeSample* samples) {
    Bsdf bsdf = bsdf_of(*look, out);
    for (uint32_t i = 0; i < count; i++) {
        BsdfSample sample;
        const float* r = random + 3 * i;
        if (sample_bsdf(bsdf, r[0], Vec2{r[1], r[2]}, sample)) {
            store3(samples[i].in, sample.in);
            store3(samples[i].weight, sample.weight);
            samples[i].density = sample.density;
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

// Entry points for tests of the closed forms of fog, and of the phase function.
#include "integrator/path_tracer.h"

using namespace THRONG_NAMESPACE;

extern "C" float throng_probe_fog_depth(const FogRecord* fog, float y, float slope, float distance) {
    return fog_depth(*fog, y, slope, distance);
}

extern "C" float throng_probe_fog_flight(const FogRecord* fog, float y, float slope, float depth) { return fog_flight(*fog, y, slope, depth); }

extern "C" float throng_probe_phase_pdf(float g, float cosine) { return phase_pdf(g, cosine); }

extern "C" float throng_probe_sample_phase(float g, float u) { return sample_phase(g, u); }

// exp(-x), (1 - exp(-x)) / x and log(1 + x) / x.
extern "C" void throng_probe_exponentials(float x, float* out) {
    out[0] = decay(-x);
    out[1] = decay_ratio(x);
    out[2] = log_ratio(x);
}

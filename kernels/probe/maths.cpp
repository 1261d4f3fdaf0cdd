// Entry points for tests of the elementary functions.
#include "util/maths.h"

using namespace THRONG_NAMESPACE;

// Sine and cosine of `x` turns, the natural and the binary logarithm, and the exponential function.
extern "C" void throng_probe_functions(float x, float* out) {
    sine_cosine(x, out[0], out[1]);
    out[2] = natural_log(x);
    out[3] = binary_log(x);
    out[4] = exponential(x);
}

extern "C" float throng_probe_power(float x, float y) { return power(x, y); }
extern "C" float throng_probe_arc_tangent(float x) { return arc_tangent(x); }
extern "C" float throng_probe_angle_of(float x, float y) { return angle_of(x, y); }
extern "C" float throng_probe_fused_multiply_add(float a, float b, float c) { return fused_multiply_add(a, b, c); }

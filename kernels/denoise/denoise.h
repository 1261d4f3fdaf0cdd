// Entry points of the animation denoiser. Each item is one pixel of a recorded frame or one tile.
#pragma once
#include "denoise/means.h"
#include "denoise/record.h"

namespace THRONG_NAMESPACE {

THRONG_DEVICE void denoise_outliers(const Params& params, uint32_t pixel, Thread&) { find_outlier(params.denoise->layers, pixel); }
THRONG_DEVICE void denoise_record(const Params& params, uint32_t pixel, Thread&) { make_record(params.denoise->layers, pixel); }
THRONG_DEVICE void denoise_gather(const Params& params, uint32_t tile, Thread&) { gather_tile(*params.denoise, tile); }
THRONG_DEVICE void denoise_average(const Params& params, uint32_t tile, Thread&) { average_tile(*params.denoise, tile); }
THRONG_DEVICE void denoise_spread(const Params& params, uint32_t tile, Thread&) { spread_tile(*params.denoise, tile); }

}

// Entry points for CUDA: the kernels of kernels.def, and the kernels of the wavefront schedule.
#include "film/aovs.h"
#include "cuda/persistent.h"
#include "cuda/append.h"
#include "cuda/denoise.h"
#include "exr/exr.h"
#include "film/kept.h"

using namespace THRONG_NAMESPACE;

#define KERNEL(name)                                                                                                   \
    extern "C" __global__ void throng_##name(const __grid_constant__ Params params, uint32_t begin, uint32_t end, RayTally* tally) { \
        Thread thread{};                                                                                               \
        uint32_t item = begin + blockIdx.x * blockDim.x + threadIdx.x;                                                 \
        if (item < end) THRONG_NAMESPACE::name(params, item, thread);                                                  \
        add_to_tally(tally, thread);                                                                                   \
    }
#define CPU_KERNEL(name)
#include "kernels.def"
#undef CPU_KERNEL
#undef KERNEL

extern "C" __global__ void __launch_bounds__(kTraceThreads, kTraceBlocks)
throng_trace_closest_queue(const __grid_constant__ Params params, const Ray* rays, Hit* hits, QueueState* queue) {
    trace_queue<false>(params, rays, hits, queue, Solid());
}

extern "C" __global__ void __launch_bounds__(kTraceThreads, kTraceBlocks)
throng_trace_any_queue(const __grid_constant__ Params params, const Ray* rays, uint32_t* blocked, QueueState* queue) {
    trace_queue<true>(params, rays, blocked, queue, Solid());
}

extern "C" __global__ void __launch_bounds__(kTraceThreads)
throng_trace_closest_queue_cutouts(const __grid_constant__ Params params, const Ray* rays, Hit* hits, QueueState* queue) {
    trace_queue<false>(params, rays, hits, queue, Cutouts{params});
}

extern "C" __global__ void __launch_bounds__(kTraceThreads)
throng_trace_any_queue_cutouts(const __grid_constant__ Params params, const Ray* rays, uint32_t* blocked, QueueState* queue) {
    trace_queue<true>(params, rays, blocked, queue, Cutouts{params});
}

extern "C" __global__ void throng_start_paths(const __grid_constant__ Params params, const __grid_constant__ Wavefront w) {
    uint32_t p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < w.path_count) start_path(params, w, p);
    if (p == 0) w.queues[1].length = w.path_count;
}

extern "C" __global__ void throng_gather_wave(const __grid_constant__ Params params, const __grid_constant__ Wavefront w, uint32_t items) {
    Thread thread{};
    const uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < items) gather_wave(params, w, index, thread);
}

extern "C" __global__ void __launch_bounds__(kShadeThreads, kShadeBlocks)
throng_shade_view(const __grid_constant__ Params params, const __grid_constant__ Wavefront w) {
    shade_wave<SHADE_VIEW>(params, w);
}

extern "C" __global__ void __launch_bounds__(kShadeThreads, kShadeBlocks)
throng_shade_wave(const __grid_constant__ Params params, const __grid_constant__ Wavefront w) {
    shade_wave<SHADE_WHITTED>(params, w);
}

extern "C" __global__ void __launch_bounds__(kShadeThreads, kPathBlocks)
throng_shade_path(const __grid_constant__ Params params, const __grid_constant__ Wavefront w) {
    shade_wave<SHADE_PATH>(params, w);
}

extern "C" __global__ void __launch_bounds__(kShadeThreads, kLayeredBlocks)
throng_shade_layered_path(const __grid_constant__ Params params, const __grid_constant__ Wavefront w) {
    shade_wave<SHADE_LAYERED_PATH>(params, w);
}

extern "C" __global__ void __launch_bounds__(kShadeThreads, kLayeredBlocks)
throng_shade_fog_path(const __grid_constant__ Params params, const __grid_constant__ Wavefront w) {
    shade_wave<SHADE_FOG_PATH>(params, w);
}

// One thread per possible shadow ray. Runs after their trace and before their tally, which empties the queue.
extern "C" __global__ void throng_light_through_panes(const __grid_constant__ Params params, const __grid_constant__ Wavefront w) {
    Thread thread{};
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < w.queues[0].length) light_through_panes(params, w, i, thread);
}

extern "C" __global__ void throng_gather_shadows(const __grid_constant__ Params params, const __grid_constant__ Wavefront w) {
    uint32_t p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < w.path_count) gather_shadows(params, w, p);
}

extern "C" __global__ void throng_finish_items(const __grid_constant__ Params params, const __grid_constant__ Wavefront w, uint32_t items) {
    uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < items) finish_item(params, w, index);
}

// Run by one thread: adds the traced shadow rays to the frame's tally, and empties their queue.
extern "C" __global__ void throng_tally_shadows(const __grid_constant__ Wavefront w) {
    w.tally->shadow += w.queues[0].length;
    w.queues[0] = QueueState{0, 0};
}

// Run by one thread: adds the camera and bounce rays of a chunk of paths to the frame's tally.
extern "C" __global__ void throng_tally_queues(const __grid_constant__ Wavefront w, uint32_t waves, uint32_t primary) {
    w.tally->primary += primary;
    for (uint32_t wave = 1; wave < waves; wave++) w.tally->bounce += w.queues[1 + wave].length;
}

// Compress the blocks of a file: one thread block per piece, and a single thread block for all offsets.
extern "C" __global__ void __launch_bounds__(kPieceThreads) throng_deflate_exr(const __grid_constant__ ExrParams p) {
    __shared__ DeflateMemory memory;
    deflate_exr_piece(p, blockIdx.x, memory, Team());
}

extern "C" __global__ void throng_place_exr(const __grid_constant__ ExrParams p) { place_exr_blocks(p, Team()); }

extern "C" __global__ void __launch_bounds__(kPieceThreads) throng_copy_exr(const __grid_constant__ ExrParams p) {
    copy_exr_piece(p, blockIdx.x, Team());
}

// The animation denoiser, compiled once, in the variant without motion, as is all that follows up to the `#endif`: one thread per pixel of a recorded frame, and one block per tile.
#if !THRONG_MOTION
extern "C" __global__ void throng_denoise_outliers(const __grid_constant__ DenoiseParams params) {
    const uint32_t pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel < params.layers.width * params.layers.height) find_outlier(params.layers, pixel);
}

extern "C" __global__ void throng_denoise_record(const __grid_constant__ DenoiseParams params) {
    const uint32_t pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel < params.layers.width * params.layers.height) make_record(params.layers, pixel);
}

extern "C" __global__ void __launch_bounds__(kBlockThreads, 2) throng_denoise_gather(const __grid_constant__ DenoiseParams params) {
    __shared__ GatherMemory memory;
    gather_block(params, memory);
}

extern "C" __global__ void __launch_bounds__(kBlockThreads) throng_denoise_average(const __grid_constant__ DenoiseParams params) {
    __shared__ AverageMemory memory;
    average_block(params, memory);
}

extern "C" __global__ void __launch_bounds__(kBlockThreads) throng_denoise_spread(const __grid_constant__ DenoiseParams params) {
    __shared__ BlockPlane<kPatch> distances[2];
    spread_block(params, distances);
}

// Images made of those of a finished picture: one thread per pixel.
extern "C" __global__ void throng_matte_numbers(const float* matte, uint32_t channels, const uint32_t* table, uint32_t entries, int32_t* numbers, uint32_t pixels) {
    const uint32_t pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel < pixels) numbers[pixel] = matte_number(&matte[uint64_t(channels) * pixel], table, entries);
}

extern "C" __global__ void throng_optical_flow(const float* motion, uint32_t back, float* flow, uint32_t pixels) {
    const uint32_t pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel < pixels) optical_flow(&motion[4u * uint64_t(pixel)], back != 0u, &flow[2u * uint64_t(pixel)]);
}

extern "C" __global__ void throng_join_alpha(const float* colors, const float* alpha, float* joined, uint32_t pixels) {
    const uint32_t pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= pixels) return;
    for (uint32_t c = 0; c < 3u; c++) joined[4u * uint64_t(pixel) + c] = colors[3u * uint64_t(pixel) + c];
    joined[4u * uint64_t(pixel) + 3u] = alpha[pixel];
}

extern "C" __global__ void throng_join_alpha_bytes(const uint8_t* colors, const float* alpha, uint8_t* joined, uint32_t pixels) {
    const uint32_t pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= pixels) return;
    for (uint32_t c = 0; c < 3u; c++) joined[4u * uint64_t(pixel) + c] = colors[3u * uint64_t(pixel) + c];
    joined[4u * uint64_t(pixel) + 3u] = alpha_byte(alpha[pixel]);
}
#endif

namespace THRONG_NAMESPACE {
__device__ const uint32_t kLayout[] = {
#include "abi_layout.inc"
};
}

// Sizes, alignments and offsets of the shared structs as this compiler laid them out.
extern "C" __global__ void throng_layout(uint32_t* out, uint32_t capacity) {
    uint32_t count = sizeof(kLayout) / sizeof(uint32_t);
    for (uint32_t i = threadIdx.x; i < count && i < capacity; i += blockDim.x) out[i] = kLayout[i];
}

// The GPU's encoder of OpenEXR blocks, for tests on machines without a GPU.
#include "exr/exr.h"

using namespace THRONG_NAMESPACE;

extern "C" uint32_t throng_probe_half(float x) { return half_bits(x); }

// Deflates all pieces and computes the blocks' offsets. `memory` must have the size that is returned for null.
extern "C" uint64_t throng_probe_exr_place(const ExrParams* params, void* memory) {
    if (!memory) return sizeof(DeflateMemory);
    for (uint32_t i = 0; i < params->block_count * params->pieces_per_block; i++)
        deflate_exr_piece(*params, i, *static_cast<DeflateMemory*>(memory), Team());
    place_exr_blocks(*params, Team());
    return sizeof(DeflateMemory);
}

extern "C" void throng_probe_exr_copy(const ExrParams* params) {
    for (uint32_t i = 0; i < params->block_count * params->pieces_per_block; i++) copy_exr_piece(*params, i, Team());
}

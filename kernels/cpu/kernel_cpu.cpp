// Expands kernels.def for the CPU: each entry point processes a range of items on the calling thread.
#include "cpu/batches.h"
#include "denoise/denoise.h"

#define THRONG_ENTRY(name) THRONG_JOIN(THRONG_JOIN(throng_, THRONG_VARIANT), THRONG_JOIN(_, name))

#define KERNEL(name)                                                                                                   \
    extern "C" void THRONG_ENTRY(name)(const THRONG_NAMESPACE::Params* params, uint32_t begin, uint32_t end,            \
                                       THRONG_NAMESPACE::Thread* thread) {                                             \
        THRONG_NAMESPACE::Batch<THRONG_NAMESPACE::name>::run(*params, begin, end, *thread);                             \
    }
#define CPU_KERNEL KERNEL
#include "kernels.def"
#undef CPU_KERNEL
#undef KERNEL

namespace THRONG_NAMESPACE {
static const uint32_t kLayout[] = {
#include "abi_layout.inc"
};
}

// Sizes, alignments and offsets of the shared structs as this compiler laid them out.
extern "C" const uint32_t* THRONG_ENTRY(layout)(uint32_t* count) {
    *count = sizeof(THRONG_NAMESPACE::kLayout) / sizeof(uint32_t);
    return THRONG_NAMESPACE::kLayout;
}

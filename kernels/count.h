// Statistics of a query.
#pragma once
#include "compat.h"

namespace THRONG_NAMESPACE {

// For the heat map; the empty variant costs nothing.
struct NoCount {
    THRONG_INLINE void node() {}
    THRONG_INLINE void leaf() {}
};
struct StepCount {
    uint32_t steps = 0;
    THRONG_INLINE void node() { steps++; }
    THRONG_INLINE void leaf() { steps++; }
};

}

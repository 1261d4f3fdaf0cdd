// Pictures of a batch, which are on one film, one below the other. Rows of the film count through all pictures. A film that is not of a batch has one
// picture, the view 0.
#pragma once
#include "util/vec.h"
#include "abi.h"

namespace THRONG_NAMESPACE {

// The view that a row of the film belongs to, and the row in the view's picture.
struct ViewRow {
    uint32_t view, y;
};

THRONG_INLINE ViewRow view_row(const Params& params, uint32_t y) {
    if (!params.picture.views) return ViewRow{0, y};
    const uint32_t view = y / params.film.picture_height;
    return ViewRow{view, y - view * params.film.picture_height};
}

THRONG_INLINE uint32_t view_seed(const Params& params, uint32_t view) { return params.picture.views ? params.picture.views[view].seed : params.picture.seed; }

// Calls `use` with the camera of a view. There are two calls, so that a GPU reads the camera of a single picture from constant memory.
template <class Use>
THRONG_INLINE auto with_camera(const Params& params, uint32_t view, Use use) {
    if (params.picture.views) return use(params.picture.views[view].camera);
    return use(params.picture.camera);
}

}

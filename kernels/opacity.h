// How opaque surfaces are, cheap enough to ask at every candidate of a traversal.
#pragma once
#include "texture.h"

namespace THRONG_NAMESPACE {

// Opacity of an instance's primitive at a point, from 0 to 1; of masks, 0 or 1.
THRONG_DEVICE float opacity_at(const Params& params, const InstanceRecord& instance, uint32_t prim, float u, float v) {
    const MeshRecord mesh = load_record(&params.meshes[instance.mesh]);
    const uint32_t slot = mesh.shape == SHAPE_SPHERE ? 0 : mesh.corners[prim].slot;
    const MaterialRecord material = load_record(&params.materials[params.material_slots[instance.slot_base + slot]]);
    (void)u, (void)v;
    if (material.flags & LOOK_MASK) return material.opacity >= material.alpha_cutoff ? 1.0f : 0.0f;
    return material.flags & LOOK_BLEND ? material.opacity : 1.0f;
}

}

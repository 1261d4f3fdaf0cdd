//! What kernels that gather layers are told: where each layer goes, and the scene in the frames before and after, and at the frame's own time.

use super::{Frame, OtherPose, params::camera_record};
use crate::{
    abi::{FrameLayers, OtherFrame},
    layers::Layer,
    math::rows_from_affine,
};
use rayon::prelude::*;
use std::ptr::{null, null_mut};

/// For a picture that is `aspect` times as wide as high: all but addresses, which are null.
pub fn record(frame: &Frame, aspect: f32) -> FrameLayers {
    let other = |index: usize| {
        let pose = frame.others.as_ref().map(|others| &others[index]);
        OtherFrame {
            camera: camera_record(pose.map_or(&frame.camera, |pose| &pose.camera), aspect),
            reserved: [0; 4],
            transforms: null(),
            shown: null(),
            meshes: null(),
        }
    };
    FrameLayers {
        albedo: null_mut(),
        normal: null_mut(),
        depth: null_mut(),
        position: null_mut(),
        motion: null_mut(),
        variance: null_mut(),
        instance: null_mut(),
        material: null_mut(),
        instance_names: null(),
        material_names: null(),
        before: other(0),
        after: other(1),
        now: other(2),
    }
}

/// The place in `record` that says where `layer` goes.
pub fn target(record: &mut FrameLayers, layer: Layer) -> &mut *mut f32 {
    match layer {
        Layer::Albedo => &mut record.albedo,
        Layer::Normal => &mut record.normal,
        Layer::Depth => &mut record.depth,
        Layer::Position => &mut record.position,
        Layer::Motion => &mut record.motion,
        Layer::Variance => &mut record.variance,
        Layer::Instance => &mut record.instance,
        Layer::Material => &mut record.material,
    }
}

/// World_from_object of all instances in rows.
pub fn transforms(pose: &OtherPose) -> Vec<[f32; 12]> {
    pose.transforms.par_iter().map(rows_from_affine).collect()
}

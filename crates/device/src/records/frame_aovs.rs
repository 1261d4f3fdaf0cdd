//! The record for kernels that gather AOVs: the address of each AOV, and the scene in the previous frame, in the next frame and at the frame's own
//! time.

use super::params::camera_record;
use crate::{Frame, FrameSettings, OtherPose};
use rayon::prelude::*;
use std::ptr::{null, null_mut};
use throng_abi::{FrameAovs, OtherFrame};
use throng_base::math::rows_from_affine;
use throng_picture::aov::Aov;

/// The record for a picture. All addresses are null.
pub fn record(frame: &Frame, settings: &FrameSettings) -> FrameAovs {
    let aspect = settings.aspect();
    let other = |index: usize| {
        let pose = frame.others.as_ref().map(|others| &others[index]);
        OtherFrame {
            camera: camera_record(pose.map_or(&frame.camera, |pose| &pose.camera), aspect),
            reserved: [0; 2],
            transforms: null(),
            places: null(),
            shown: null(),
            meshes: null(),
        }
    };
    FrameAovs {
        albedo: null_mut(),
        normal: null_mut(),
        depth: null_mut(),
        position: null_mut(),
        motion: null_mut(),
        variance: null_mut(),
        instance: null_mut(),
        material: null_mut(),
        alpha: null_mut(),
        shadow: null_mut(),
        wireframe: null_mut(),
        alpha_variance: null_mut(),
        shade_noise: null_mut(),
        cover: null_mut(),
        sums: null_mut(),
        other_sums: null(),
        instance_names: null(),
        material_names: null(),
        before: other(0),
        after: other(1),
        now: other(2),
        sum_words: 0,
        shade_margin: settings.shade_margin(),
        reserved: 0,
    }
}

/// Sets the address to which `aov` is written. AOVs that devices do not gather are ignored.
pub fn aim(record: &mut FrameAovs, aov: Aov, values: *mut f32) {
    let target = match aov {
        Aov::Albedo => &mut record.albedo,
        Aov::Normal => &mut record.normal,
        Aov::Depth => &mut record.depth,
        Aov::Position => &mut record.position,
        Aov::Motion => &mut record.motion,
        Aov::Variance => &mut record.variance,
        Aov::Instance => &mut record.instance,
        Aov::Material => &mut record.material,
        Aov::Alpha => &mut record.alpha,
        Aov::Shadow => &mut record.shadow,
        Aov::Wireframe => &mut record.wireframe,
        Aov::AlphaVariance => &mut record.alpha_variance,
        Aov::Error => return,
    };
    *target = values;
}

/// The transforms of a pose, row-major.
pub fn transforms(pose: &OtherPose) -> Vec<[f32; 12]> {
    pose.transforms.par_iter().map(rows_from_affine).collect()
}

/// Writes the transforms of a pose to the start of `to`, row-major.
#[cfg(throng_cuda)]
pub fn fill_transforms(pose: &OtherPose, to: &mut [u8]) {
    const ROWS: usize = size_of::<[f32; 12]>();
    let to = to[..ROWS * pose.transforms.len()].par_chunks_exact_mut(ROWS);
    to.zip(&pose.transforms).with_min_len(1024).for_each(|(to, transform)| {
        to.copy_from_slice(bytemuck::bytes_of(&rows_from_affine(transform)));
    });
}

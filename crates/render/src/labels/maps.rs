//! Maps of a frame: from the AOVs of its labels to the values of files.

use super::objects::Objects;
use glam::Vec3;
use rayon::prelude::*;
use throng_device::FrameSettings;
use throng_output::{
    EncodeError, MapFormat, MapKind, NpyArray, encode_depth_exr, encode_flo, encode_gray_png, encode_kitti, encode_npy,
};
use throng_picture::{
    aov::{Aov, AovImage, MATTE_RANKS},
    pixels::Floats,
};
use throng_scene::Distortion;
use throng_scene::{NONE, Projection, anim::CameraPose};

/// Millimetres in a scene unit, for depths in PNG files.
const MILLIMETRES: f32 = 1000.0;

/// The traced labels of a frame, row by row from the top; empty if they were not asked for.
#[derive(Clone, Debug, Default)]
pub struct Labelled {
    /// Depths as [`Aov::Depth`] has them; infinite where nothing is hit.
    pub depth: Floats,
    /// Normals in world space.
    pub normal: Floats,
    /// Motion vectors.
    pub motion: Floats,
    /// Numbers of instances, or [`NONE`].
    pub instance: Vec<u32>,
    /// Numbers of materials, or [`NONE`].
    pub material: Vec<u32>,
}

impl Labelled {
    /// The labels in AOVs with numbers in their mattes and one sample per pixel.
    pub fn of(aovs: Vec<AovImage>) -> Self {
        let mut own = Self::default();
        for AovImage { aov, values } in aovs {
            match aov {
                Aov::Depth => own.depth = values,
                Aov::Normal => own.normal = values,
                Aov::Motion => own.motion = values,
                Aov::Instance => own.instance = numbers(&values),
                Aov::Material => own.material = numbers(&values),
                _ => {}
            }
        }
        own
    }
}

/// The number with the greatest share in each pixel of a matte.
fn numbers(matte: &[f32]) -> Vec<u32> {
    let pixels = matte.chunks_exact(2 * MATTE_RANKS);
    pixels.map(|ranks| if ranks[1] > 0.0 { ranks[0].to_bits() } else { NONE }).collect()
}

/// The traced labels of a frame with what their conversion needs.
pub struct TracedMaps<'a> {
    pub settings: &'a FrameSettings,
    /// The camera in world space.
    pub camera: &'a CameraPose,
    pub maps: &'a Labelled,
}

impl TracedMaps<'_> {
    /// The bytes of a map's file.
    ///
    /// # Errors
    /// If the encoder fails.
    pub fn encode(&self, map: (MapKind, MapFormat), objects: &Objects) -> Result<Vec<u8>, EncodeError> {
        let (kind, format) = map;
        match kind {
            MapKind::Depth | MapKind::Distance => self.encode_depth(self.depth(kind), format),
            MapKind::Normal => Ok(self.floats(3, &self.maps.normal)),
            MapKind::NormalCamera => Ok(self.floats(3, &self.normals_of_camera())),
            MapKind::Flow => self.encode_flow(format),
            MapKind::Instance => self.encode_numbers(self.maps.instance.clone(), format),
            MapKind::Material => self.encode_numbers(self.maps.material.clone(), format),
            MapKind::Mesh => {
                let meshes = self.maps.instance.iter().map(|&instance| objects.mesh_of(instance));
                self.encode_numbers(meshes.collect(), format)
            }
        }
    }

    fn size(&self) -> (u32, u32) {
        self.settings.film_size()
    }

    fn floats(&self, channels: usize, values: &[f32]) -> Vec<u8> {
        let (width, height) = self.size();
        let shape = [height as usize, width as usize, channels];
        let sides = if channels == 1 { &shape[..2] } else { &shape[..] };
        encode_npy(sides, NpyArray::F32(values))
    }

    /// Depths along the axis or along the rays.
    fn depth(&self, kind: MapKind) -> Vec<f32> {
        let is_along_rays = sees_around(self.camera);
        if is_along_rays == (kind == MapKind::Distance) {
            return self.maps.depth.to_vec();
        }
        let (forward, _, _) = self.camera.basis();
        let width = self.size().0 as usize;
        let convert = |(pixel, &depth): (usize, &f32)| {
            let ahead = self.direction(pixel % width, pixel / width).dot(forward);
            match kind {
                _ if depth.is_infinite() => depth,
                MapKind::Distance => depth / ahead,
                _ => depth * ahead,
            }
        };
        self.maps.depth.par_iter().enumerate().with_min_len(1024).map(convert).collect()
    }

    /// Unit direction of the ray through the middle of a pixel.
    fn direction(&self, column: usize, row: usize) -> Vec3 {
        let (left, top) = self.settings.region.map_or((0, 0), |region| (region.x, region.y));
        let (width, height) = (self.settings.width as f32, self.settings.height as f32);
        let x = 2.0 * (left as f32 + column as f32 + 0.5) / width - 1.0;
        let y = 1.0 - 2.0 * (top as f32 + row as f32 + 0.5) / height;
        self.camera.ray(x, y, width / height).1
    }

    fn encode_depth(&self, depth: Vec<f32>, format: MapFormat) -> Result<Vec<u8>, EncodeError> {
        match format {
            MapFormat::Exr => encode_depth_exr(self.size(), depth),
            MapFormat::Png => encode_gray_png(self.size(), depth.into_iter().map(millimetres)),
            _ => Ok(self.floats(1, &depth)),
        }
    }

    fn normals_of_camera(&self) -> Vec<f32> {
        let (forward, right, up) = self.camera.basis();
        let normals = self.maps.normal.as_chunks::<3>().0.iter().map(|&normal| Vec3::from(normal));
        normals.flat_map(|normal| [normal.dot(right), -normal.dot(up), normal.dot(forward)]).collect()
    }

    fn encode_flow(&self, format: MapFormat) -> Result<Vec<u8>, EncodeError> {
        // Motion vectors have y up, and the second pair is the offset from the next frame to this one.
        let offsets = self.maps.motion.as_chunks::<4>().0.iter();
        let flow: Vec<f32> = offsets.flat_map(|&[_, _, x, y]| [0.0 - x, y]).collect();
        let is_hit = |pixel: usize| self.maps.depth.get(pixel).is_some_and(|depth| depth.is_finite());
        match format {
            MapFormat::Flo => Ok(encode_flo(self.size(), &flow)),
            MapFormat::Kitti => encode_kitti(self.size(), &flow, is_hit),
            _ => Ok(self.floats(2, &flow)),
        }
    }

    fn encode_numbers(&self, numbers: Vec<u32>, format: MapFormat) -> Result<Vec<u8>, EncodeError> {
        let (width, height) = self.size();
        if format == MapFormat::Png {
            // 0 stands for nothing. The job was refused if a number has no room.
            return encode_gray_png((width, height), numbers.into_iter().map(|number| number.wrapping_add(1) as u16));
        }
        let numbers: Vec<i32> = numbers.into_iter().map(|number| number as i32).collect();
        Ok(encode_npy(&[height as usize, width as usize], NpyArray::I32(&numbers)))
    }
}

/// Whether depths are distances from the eye, because the camera may see what is behind it.
fn sees_around(camera: &CameraPose) -> bool {
    let is_fisheye = |own: &throng_scene::Intrinsics| matches!(own.distortion, Distortion::Fisheye { .. });
    match camera.projection {
        Projection::Equirectangular => true,
        Projection::Perspective { .. } => camera.intrinsics.as_ref().is_some_and(is_fisheye),
        Projection::Orthographic { .. } => false,
    }
}

/// A depth in whole millimetres; 0 if it has no room.
fn millimetres(depth: f32) -> u16 {
    let rounded = (depth * MILLIMETRES).round();
    if rounded <= f32::from(u16::MAX) { rounded as u16 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_without_room_are_zero() {
        let depths = [0.0, 0.0004, 1.2345, 65.535, 65.5356, f32::INFINITY, f32::NAN, -1.0];
        assert_eq!(depths.map(millimetres), [0, 0, 1235, 65_535, 0, 0, 0, 0]);
    }

    #[test]
    fn numbers_are_those_with_the_greatest_share() {
        let mut matte = vec![0.0; 4 * MATTE_RANKS];
        (matte[0], matte[1]) = (f32::from_bits(7), 1.0);
        assert_eq!(numbers(&matte), [7, NONE]);
    }
}

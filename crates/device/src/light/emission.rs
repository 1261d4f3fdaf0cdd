//! Mean emission of materials.

use super::luminance;
use glam::Vec3;
use rayon::prelude::*;
use throng_base::math::linear_from_srgb8;
use throng_scene::{Material, NONE, Rgba, Scene, Texture};

/// Texels per task.
const CHUNK: usize = 1 << 16;

/// Mean luminance emitted by each of `materials`, averaged over both sides and over the whole emission texture. 0 for materials that
/// illuminate nothing.
pub fn emission_weights(scene: &Scene, materials: &[Material]) -> Vec<f32> {
    let weights = materials.par_iter().map(|m| weight(scene, m));
    weights.collect()
}

fn weight(scene: &Scene, material: &Material) -> f32 {
    if material.unlit || material.emission.max_element() <= 0.0 {
        return 0.0;
    }
    let mean = match scene.maps.get(material.emission_map as usize) {
        Some(map) if map.texture != NONE => scene.textures.get(map.texture as usize).map_or(Vec3::ONE, mean),
        _ => Vec3::ONE,
    };
    luminance(material.emission * mean) * if material.one_sided || material.is_culled() { 0.5 } else { 1.0 }
}

fn mean(texture: &Texture) -> Vec3 {
    let is_srgb = texture.texels.is_srgb();
    let (sum, count) = match texture.texels.rgba(texture.width, texture.height) {
        Rgba::Bytes(data) => {
            let table = if is_srgb { *linear_from_srgb8() } else { std::array::from_fn(|code| code as f32 / 255.0) };
            let color = |t: &[u8; 4]| Vec3::from([t[0], t[1], t[2]].map(|x| table[x as usize]));
            (sum(&data, color), data.len())
        }
        Rgba::Floats(data) => (sum(&data, |t| Vec3::new(t[0], t[1], t[2])), data.len()),
    };
    sum / count.max(1) as f32
}

fn sum<T: Sync>(data: &[T], color: impl Fn(&T) -> Vec3 + Sync) -> Vec3 {
    let chunks = data.par_chunks(CHUNK);
    let sums: Vec<Vec3> = chunks.map(|chunk| chunk.iter().map(&color).sum()).collect();
    sums.into_iter().sum()
}

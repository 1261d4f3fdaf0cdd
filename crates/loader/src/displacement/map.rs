//! Heights as a function of texture coordinates.

use super::HeightPicture;
use glam::{Affine2, Vec2};
use std::sync::Arc;
use throng_scene::Wrap;
use throng_usd::{Computed, Read, TexelSpace, WrapMode, scaled};

/// Largest absolute height. Greater ones are clamped, because their positions would be out of range anyway.
const MOST_HEIGHT: f32 = 1e15;

/// Heights over texture coordinates.
#[derive(Clone, Debug)]
pub struct HeightMap {
    /// The height; its first component counts. [`Read::picture`] is an index into `pictures`.
    pub tree: Computed,
    /// The pictures that it reads; none where a picture is missing or damaged.
    pub pictures: Vec<Option<Arc<HeightPicture>>>,
    /// 0 for the mesh's `uvs`, 1 for its `uvs1`.
    pub uv_set: u32,
}

impl HeightMap {
    /// `(texel - midlevel) · scale` of a picture.
    pub fn of_picture(picture: HeightPicture, scale: f32, midlevel: f32) -> Self {
        let read = Read {
            picture: 0,
            channel: 0,
            scale: [scale; 4],
            bias: [-midlevel * scale; 4],
            fallback: [0.0; 4],
            uvs: String::new(),
            transform: Affine2::IDENTITY,
            wrap: [WrapMode::Repeat; 2],
            space: TexelSpace::Raw,
        };
        Self { tree: Computed::Channel(read), pictures: vec![Some(Arc::new(picture))], uv_set: 0 }
    }

    /// The height at texture coordinates of the mesh, in units of the mesh.
    pub fn at(&self, uv: Vec2) -> f32 {
        let height = self.tree.at(&mut |leaf| self.leaf(leaf, uv))[0];
        if height.is_nan() { 0.0 } else { height.clamp(-MOST_HEIGHT, MOST_HEIGHT) }
    }

    fn leaf(&self, leaf: &Computed, uv: Vec2) -> [f32; 4] {
        let picture = |read: &Read| {
            let picture = self.pictures.get(read.picture as usize).and_then(Option::as_ref);
            let texel = picture.and_then(|picture| picture.at(read.transform.transform_point2(uv)));
            scaled(read, texel.unwrap_or(read.fallback))
        };
        match leaf {
            Computed::Picture(read) => picture(read),
            Computed::Channel(read) => [picture(read)[usize::from(read.channel.min(3))]; 4],
            Computed::Coordinates { transform, .. } => {
                let Vec2 { x, y } = transform.transform_point2(uv);
                [x, y, 0.0, 1.0]
            }
            _ => [0.0; 4],
        }
    }
}

/// The wrap mode of a picture. What is black outside is continued.
pub fn wrap(mode: WrapMode) -> Wrap {
    match mode {
        WrapMode::Repeat => Wrap::Repeat,
        WrapMode::Mirror => Wrap::Mirror,
        WrapMode::Clamp | WrapMode::Black => Wrap::Clamp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_usd::Operation;

    #[test]
    fn midlevel_and_scale_are_those_of_other_programs() {
        let picture = HeightPicture::of_values(2, vec![0.5, 1.0], [Wrap::Clamp; 2]);
        let map = HeightMap::of_picture(picture, 0.2, 0.5);
        let heights = [0.25, 0.5, 0.75].map(|u| map.at(Vec2::new(u, 0.5)));
        assert!(heights.iter().zip([0.0, 0.05, 0.1]).all(|(a, b)| (a - b).abs() < 1e-7), "{heights:?}");
    }

    #[test]
    fn networks_are_evaluated_at_each_place_and_never_infinite() {
        let place = Computed::Coordinates { uvs: String::new(), transform: Affine2::IDENTITY };
        let of = |operation: Operation, other: f32| HeightMap {
            tree: Computed::Apply(operation, vec![place.clone(), Computed::Constant([other; 4])]),
            pictures: Vec::new(),
            uv_set: 0,
        };
        assert_eq!(of(Operation::Multiply, 3.0).at(Vec2::new(0.5, 0.0)), 1.5);
        assert_eq!(of(Operation::Multiply, 1e30).at(Vec2::new(9.0, 0.0)), MOST_HEIGHT);
    }
}

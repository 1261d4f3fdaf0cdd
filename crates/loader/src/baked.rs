//! Values that networks of shaders compute from pictures, computed once for each texel of a texture.

use crate::materials::PictureFile;
use glam::Vec2;
use rayon::prelude::*;
use throng_base::math::linear_from_srgb;
use throng_scene::{Rgba, Texture, Wrap};
use throng_usd::{Computed, Read, scaled};

/// Width and height of a texture over coordinates without pictures.
const PLAIN_SIDE: u32 = 1024;
/// Width and height of a texture at most, unless one of its pictures is larger.
const MOST_SIDE: u32 = 4096;

/// A value over the unit square of a texture's coordinates.
pub struct Baked {
    /// The value. [`Read::picture`] is an index into `pictures`, and [`Read::transform`] and the transforms of coordinates are from the
    /// texture's coordinates.
    pub tree: Computed,
    /// The pictures that it reads.
    pub pictures: Vec<PictureFile>,
}

impl Baked {
    /// The size that keeps all texels of the pictures, as `texture_of` has them, within limits.
    pub fn size<'t>(&self, texture_of: &dyn Fn(&PictureFile) -> Option<&'t Texture>) -> (u32, u32) {
        let (mut least, mut whole) = ((1, 1), (1.0_f32, 1.0_f32));
        for read in self.tree.reads() {
            let Some(texture) = self.pictures.get(read.picture as usize).and_then(texture_of) else { continue };
            let own = Vec2::new(texture.width as f32, texture.height as f32);
            let [across, up] = [read.transform.matrix2.x_axis, read.transform.matrix2.y_axis].map(|axis| axis * own);
            least = (least.0.max(texture.width), least.1.max(texture.height));
            whole = (whole.0.max(across.length()), whole.1.max(up.length()));
        }
        if self.tree.uses_coordinates() {
            whole = (whole.0.max(PLAIN_SIDE as f32), whole.1.max(PLAIN_SIDE as f32));
        }
        let side = |whole: f32, least: u32| (whole.ceil() as u32).clamp(1, least.max(MOST_SIDE));
        (side(whole.0, least.0), side(whole.1, least.1))
    }

    /// The values of all texels, row-major from the top.
    pub fn texels<'t>(
        &self,
        (width, height): (u32, u32),
        texture_of: &dyn Fn(&PictureFile) -> Option<&'t Texture>,
    ) -> Vec<[f32; 4]> {
        let textures: Vec<Option<Sampler>> = self.pictures.iter().map(|p| texture_of(p).map(Sampler::new)).collect();
        let mut texels = vec![[0.0; 4]; width as usize * height as usize];
        texels.par_chunks_mut(width as usize).enumerate().for_each(|(y, row)| {
            for (x, texel) in row.iter_mut().enumerate() {
                let place = Vec2::new((x as f32 + 0.5) / width as f32, 1.0 - (y as f32 + 0.5) / height as f32);
                *texel = self.tree.at(&mut |leaf| value(leaf, place, &textures));
            }
        });
        texels
    }
}

/// The value of a picture or of coordinates at a place of the texture.
fn value(leaf: &Computed, place: Vec2, textures: &[Option<Sampler>]) -> [f32; 4] {
    let picture = |read: &Read| {
        let sampler = textures.get(read.picture as usize).and_then(Option::as_ref);
        let texel = sampler.map_or(read.fallback, |sampler| sampler.at(read.transform.transform_point2(place)));
        scaled(read, texel)
    };
    match leaf {
        Computed::Picture(read) => picture(read),
        Computed::Channel(read) => [picture(read)[usize::from(read.channel.min(3))]; 4],
        Computed::Coordinates { transform, .. } => {
            let Vec2 { x, y } = transform.transform_point2(place);
            [x, y, 0.0, 1.0]
        }
        _ => [0.0; 4],
    }
}

/// Reads a texture with bilinear interpolation, as linear values.
struct Sampler<'a> {
    texture: &'a Texture,
    channels: Rgba<'a>,
    linear: [f32; 256],
}

impl<'a> Sampler<'a> {
    fn new(texture: &'a Texture) -> Self {
        let is_srgb = texture.texels.is_srgb();
        let decode = |x: f32| if is_srgb { linear_from_srgb(x) } else { x };
        Self {
            texture,
            channels: texture.texels.rgba(texture.width, texture.height),
            linear: std::array::from_fn(|byte| decode(byte as f32 / 255.0)),
        }
    }

    fn at(&self, uv: Vec2) -> [f32; 4] {
        let Texture { width, height, .. } = *self.texture;
        // Rounding to a fraction of a texel reads the texels of a texture of the same size exactly.
        let snapped = |x: f32| (x * 1024.0).round() / 1024.0;
        let x = snapped(uv.x * width as f32 - 0.5);
        let y = snapped((1.0 - uv.y) * height as f32 - 0.5);
        let (left, top) = (x.floor(), y.floor());
        let (across, down) = (x - left, y - top);
        let row = |y: f32| {
            let [a, b] = [left, left + 1.0].map(|x| self.texel(x, y));
            if across == 0.0 { a } else { std::array::from_fn(|i| a[i] + (b[i] - a[i]) * across) }
        };
        let upper = row(top);
        if down == 0.0 {
            return upper;
        }
        let lower = row(top + 1.0);
        std::array::from_fn(|i| upper[i] + (lower[i] - upper[i]) * down)
    }

    fn texel(&self, x: f32, y: f32) -> [f32; 4] {
        let Texture { width, height, wrap, .. } = *self.texture;
        let [row, column] =
            [(y, height, wrap[1]), (x, width, wrap[0])].map(|(x, n, wrap)| wrapped(x as i64, n.into(), wrap));
        let index = row * width as usize + column;
        match &self.channels {
            Rgba::Bytes(texels) => {
                let Some(&[r, g, b, a]) = texels.get(index) else { return [0.0; 4] };
                let [r, g, b] = [r, g, b].map(|byte| self.linear[usize::from(byte)]);
                [r, g, b, f32::from(a) / 255.0]
            }
            Rgba::Floats(texels) => texels.get(index).copied().unwrap_or_default(),
        }
    }
}

/// The index of a texel outside of a texture.
pub fn wrapped(at: i64, count: i64, wrap: Wrap) -> usize {
    let count = count.max(1);
    let index = match wrap {
        Wrap::Repeat => at.rem_euclid(count),
        Wrap::Clamp => at.clamp(0, count - 1),
        Wrap::Mirror => {
            let at = at.rem_euclid(2 * count);
            if at < count { at } else { 2 * count - 1 - at }
        }
    };
    index as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gltf::ColorSpace, materials::Use};
    use glam::Affine2;
    use std::path::PathBuf;
    use throng_scene::Texels;
    use throng_usd::{Operation, WrapMode};

    fn picture(name: &str) -> PictureFile {
        PictureFile {
            path: PathBuf::from(name),
            bytes: None,
            tiles: Vec::new(),
            wrap: [Wrap::Repeat; 2],
            space: ColorSpace::Linear,
            only_colors: false,
            used_by: Use::Optional { place: "a.mtlx".to_owned() },
        }
    }

    fn read(picture: u32, transform: Affine2) -> Read {
        Read {
            picture,
            channel: 0,
            scale: [1.0; 4],
            bias: [0.0; 4],
            fallback: [0.25; 4],
            uvs: String::new(),
            transform,
            wrap: [WrapMode::Repeat; 2],
            space: Default::default(),
        }
    }

    fn texture(width: u32, height: u32, texel: impl Fn(u32, u32) -> [u8; 4]) -> Texture {
        let texels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| texel(x, y)).collect();
        let (name, wrap) = ("t".to_owned(), [Wrap::Repeat; 2]);
        Texture { name, width, height, texels: Texels::Linear8(texels), wrap, nearest: false, filtered: true }
    }

    /// A mix of two pictures by a channel of a third, the second of which is repeated.
    fn mixed(second: Affine2) -> Baked {
        let tree = Computed::Apply(
            Operation::Mix,
            vec![
                Computed::Picture(read(0, Affine2::IDENTITY)),
                Computed::Picture(read(1, second)),
                Computed::Channel(Read { channel: 2, ..read(2, Affine2::IDENTITY) }),
            ],
        );
        Baked { tree, pictures: ["a", "b", "c"].map(picture).to_vec() }
    }

    #[test]
    fn texels_of_equal_pictures_are_computed_one_by_one() {
        let textures = [
            texture(4, 2, |x, y| [(60 * x + y) as u8, 0, 255, 255]),
            texture(4, 2, |x, y| [(200 - 10 * x) as u8, (7 * y) as u8, 0, 255]),
            texture(4, 2, |x, y| [0, 0, (30 * (x + y)) as u8, 255]),
        ];
        let texture_of = |p: &PictureFile| Some(&textures[["a", "b", "c"].iter().position(|n| p.path == **n)?]);
        let baked = mixed(Affine2::IDENTITY);
        assert_eq!(baked.size(&texture_of), (4, 2));
        let texels = baked.texels((4, 2), &texture_of);
        for (index, texel) in texels.iter().enumerate() {
            let byte = |picture: usize, channel: usize| match &textures[picture].texels {
                Texels::Linear8(texels) => f32::from(texels[index][channel]) / 255.0,
                _ => f32::NAN,
            };
            for (channel, found) in texel.iter().enumerate().take(3) {
                let share = byte(2, 2);
                let wanted = byte(0, channel) * share + byte(1, channel) * (1.0 - share);
                assert!((found - wanted).abs() < 1e-6, "{index} {channel}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn a_repeated_picture_keeps_its_texels_and_is_read_between_them() {
        let small = texture(2, 2, |x, y| [(x * 255) as u8, (y * 255) as u8, 0, 255]);
        let texture_of = |p: &PictureFile| (p.path == *"b").then_some(&small);
        let baked = mixed(Affine2::from_scale(Vec2::new(4.0, 1.0)));
        assert_eq!(baked.size(&texture_of), (8, 2));
        // The other pictures are missing, so a quarter is their fallback.
        let texels = baked.texels((8, 2), &texture_of);
        let row = |y: usize, channel: usize| (0..8).map(|x| texels[y * 8 + x][channel]).collect::<Vec<_>>();
        let wanted = |value: f32| 0.25 * 0.25 + 0.75 * value;
        assert_eq!(row(0, 0), [0.0, 1.0].repeat(4).into_iter().map(wanted).collect::<Vec<_>>());
        assert_eq!((row(0, 1)[0], row(1, 1)[0]), (wanted(0.0), wanted(1.0)));
        // Twice the width reads a quarter of a texel beside each middle.
        let fine = baked.texels((16, 2), &texture_of);
        assert_eq!(fine[0][0], wanted(0.25), "the picture repeats at its edge");
        assert_eq!(fine[1][0], wanted(0.25));
        assert_eq!(fine[2][0], wanted(0.75));
    }

    #[test]
    fn coordinates_are_computed_over_the_unit_square() {
        let tree = Computed::Coordinates { uvs: String::new(), transform: Affine2::from_scale(Vec2::new(2.0, 1.0)) };
        let baked = Baked { tree, pictures: Vec::new() };
        assert_eq!(baked.size(&|_| None), (PLAIN_SIDE, PLAIN_SIDE));
        let texels = baked.texels((2, 2), &|_| None);
        assert_eq!(texels[0], [0.5, 0.75, 0.0, 1.0], "the first row is at the top");
        assert_eq!(texels[3], [1.5, 0.25, 0.0, 1.0]);
    }

    #[test]
    fn wrap_modes_apply_beyond_the_edges() {
        assert_eq!([-1, 4].map(|at| wrapped(at, 4, Wrap::Repeat)), [3, 0]);
        assert_eq!([-1, 4].map(|at| wrapped(at, 4, Wrap::Clamp)), [0, 3]);
        assert_eq!([-1, 4, 8].map(|at| wrapped(at, 4, Wrap::Mirror)), [0, 3, 0]);
    }
}

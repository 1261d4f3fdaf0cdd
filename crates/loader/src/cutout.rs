//! Textures whose opacity comes from another picture than their colours, as in MTL files.

use crate::enlarge::enlarged;
use throng_scene::{Rgba, Texels, Texture, Wrap};

/// The channel of a picture that contains the opacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Alpha if the picture has any, otherwise brightness.
    Automatic,
    Red,
    Green,
    Blue,
    Alpha,
    Brightness,
}

/// A texture with one white texel.
pub fn white() -> Texture {
    let texels = Texels::Srgb8(vec![[255; 4]]);
    Texture {
        name: "white".to_owned(),
        width: 1,
        height: 1,
        texels,
        wrap: [Wrap::Repeat; 2],
        nearest: false,
        filtered: true,
    }
}

/// Combines the colours of one picture (white if it is None) with the opacity from another. The smaller picture is enlarged.
///
/// If both are one file whose alpha is 1 everywhere, the texture is opaque: exporters name the file twice in case it has alpha.
pub fn joined(color: Option<Texture>, opacity: &Texture, channel: Channel, is_one_file: bool) -> Texture {
    let mut alpha = match channel {
        Channel::Automatic if is_one_file => channel_of(opacity, Channel::Alpha),
        _ => channel_of(opacity, channel),
    };
    let mut joined = color.unwrap_or_else(|| Texture {
        name: opacity.name.clone(),
        width: opacity.width,
        height: opacity.height,
        texels: Texels::Srgb8(vec![[255; 4]; alpha.len()]),
        wrap: opacity.wrap,
        nearest: opacity.nearest,
        filtered: opacity.filtered,
    });
    let own = (joined.width, joined.height);
    let size = (own.0.max(opacity.width), own.1.max(opacity.height));
    alpha = enlarged(alpha, (opacity.width, opacity.height), size);
    let is_srgb = joined.texels.is_srgb();
    joined.texels = match joined.texels.into_rgba(own.0, own.1) {
        Rgba::Bytes(texels) => {
            let mut texels = enlarged(texels.into_owned(), own, size);
            texels.iter_mut().zip(alpha).for_each(|(texel, alpha)| texel[3] = alpha);
            Texels::of_bytes(texels, is_srgb)
        }
        Rgba::Floats(texels) => {
            let mut texels = enlarged(texels.into_owned(), own, size);
            texels.iter_mut().zip(alpha).for_each(|(texel, alpha)| texel[3] = f32::from(alpha) / 255.0);
            Texels::Linear(texels)
        }
    };
    (joined.width, joined.height) = size;
    joined
}

/// A channel of all texels, from 0 to 255.
fn channel_of(texture: &Texture, channel: Channel) -> Vec<u8> {
    let byte = |x: f32| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
    let texels = match texture.texels.rgba(texture.width, texture.height) {
        Rgba::Bytes(texels) => texels,
        Rgba::Floats(texels) => texels.iter().map(|texel| texel.map(byte)).collect(),
    };
    let brightness = |[r, g, b, _]: [u8; 4]| {
        let [r, g, b] = [r, g, b].map(f32::from);
        (0.2126 * r + 0.7152 * g + 0.0722 * b).round() as u8
    };
    let has_alpha = || texels.iter().any(|texel| texel[3] != 255);
    let read: fn([u8; 4]) -> u8 = match channel {
        Channel::Red => |texel| texel[0],
        Channel::Green => |texel| texel[1],
        Channel::Blue => |texel| texel[2],
        Channel::Alpha => |texel| texel[3],
        Channel::Automatic if has_alpha() => |texel| texel[3],
        Channel::Automatic | Channel::Brightness => brightness,
    };
    texels.iter().map(|&texel| read(texel)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texture(width: u32, height: u32, texels: Vec<[u8; 4]>) -> Texture {
        Texture { width, height, texels: Texels::Srgb8(texels), ..white() }
    }

    fn alphas(texture: &Texture) -> Vec<u8> {
        channel_of(texture, Channel::Alpha)
    }

    #[test]
    fn opacity_is_alpha_where_there_is_any_and_brightness_elsewhere() {
        let grey = texture(2, 1, vec![[0, 0, 0, 255], [255; 4]]);
        assert_eq!(alphas(&joined(None, &grey, Channel::Automatic, false)), [0, 255]);
        let clear = texture(2, 1, vec![[9, 9, 9, 40], [255; 4]]);
        assert_eq!(alphas(&joined(None, &clear, Channel::Automatic, false)), [40, 255]);
        assert_eq!(alphas(&joined(None, &clear, Channel::Red, false)), [9, 255]);
        let white = joined(None, &clear, Channel::Automatic, false);
        assert_eq!(white.texels, Texels::Srgb8(vec![[255, 255, 255, 40], [255; 4]]));
    }

    #[test]
    fn a_picture_named_for_both_is_opaque_without_alpha() {
        let grey = texture(2, 1, vec![[0, 0, 0, 255], [255; 4]]);
        assert_eq!(alphas(&joined(Some(grey.clone()), &grey, Channel::Automatic, true)), [255, 255]);
        assert_eq!(alphas(&joined(Some(grey.clone()), &grey, Channel::Red, true)), [0, 255]);
    }

    #[test]
    fn the_smaller_picture_is_enlarged() {
        let red = texture(1, 1, vec![[200, 0, 0, 255]]);
        let holes = texture(2, 2, vec![[0, 0, 0, 255], [255; 4], [255; 4], [0, 0, 0, 255]]);
        let small = joined(Some(red.clone()), &holes, Channel::Automatic, false);
        assert_eq!((small.width, small.height, alphas(&small)), (2, 2, vec![0, 255, 255, 0]));
        let Texels::Srgb8(texels) = &small.texels else { panic!() };
        assert!(texels.iter().all(|t| t[..3] == [200, 0, 0]));
        let large = joined(Some(texture(4, 4, vec![[1; 4]; 16])), &holes, Channel::Automatic, false);
        assert_eq!((large.width, alphas(&large)[0], alphas(&large)[3]), (4, 0, 255));
    }
}

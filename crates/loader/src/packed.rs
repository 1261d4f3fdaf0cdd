//! Textures whose channels are read from different pictures, are scaled and shifted, or are computed, as in USD's networks.

use crate::{
    LoadError,
    baked::Baked,
    enlarge::enlarged,
    materials::{Packed, PackedChannel, PictureFile},
};
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};
use throng_base::math::{linear_from_srgb, srgb_from_linear};
use throng_scene::{Rgba, Texels, Texture};

/// How a packed texture is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Numbers from 0 to 1 in eight bits.
    Bytes,
    /// Linear numbers of any size.
    Floats,
    /// Colours in eight bits of sRGB, if all are from 0 to 1; otherwise linear ones.
    Colors,
}

/// One channel of a picture, row-major from the top.
struct Plane {
    width: u32,
    height: u32,
    values: Vec<f32>,
}

/// The texture of `packed`, as large as its largest picture. `decode` returns None for a picture that is missing or damaged; its channels are
/// then white.
///
/// # Errors
/// As `decode`.
pub fn texture(
    packed: &Packed,
    mut decode: impl FnMut(&PictureFile) -> Result<Option<Texture>, LoadError>,
) -> Result<Texture, LoadError> {
    let mut pictures = HashMap::new();
    for picture in packed.channels.iter().flat_map(PackedChannel::pictures) {
        if let Entry::Vacant(free) = pictures.entry(picture.key()) {
            free.insert(decode(picture)?);
        }
    }
    let known = |picture: &PictureFile| pictures.get(&picture.key()).and_then(Option::as_ref);
    let mut computed: Vec<(&Arc<Baked>, (u32, u32))> = Vec::new();
    let mut size = (1, 1);
    for channel in &packed.channels {
        let own = match channel {
            PackedChannel::Constant(_) => (1, 1),
            PackedChannel::Read { picture, .. } => known(picture).map_or((1, 1), |t| (t.width, t.height)),
            PackedChannel::Computed { baked, .. } => {
                let own = baked.size(&known);
                if !computed.iter().any(|(known, _)| Arc::ptr_eq(known, baked)) {
                    computed.push((baked, own));
                }
                own
            }
        };
        size = (size.0.max(own.0), size.1.max(own.1));
    }
    let (width, height) = size;
    let made: Vec<_> = computed.iter().map(|(baked, own)| (*baked, *own, baked.texels(*own, &known))).collect();
    let plane = |channel: &PackedChannel| match channel {
        PackedChannel::Constant(value) => Plane::constant(*value),
        PackedChannel::Read { picture, channel, scale, bias } => match known(picture) {
            Some(texture) => Plane::of(texture, usize::from(*channel), *scale, *bias).enlarged(width, height),
            None => Plane::constant(scale + bias),
        },
        PackedChannel::Computed { baked, channel } => {
            let found = made.iter().find(|(known, ..)| Arc::ptr_eq(known, baked));
            found
                .map_or_else(
                    || Plane::constant(1.0),
                    |(_, (width, height), texels)| {
                        let values = texels.iter().map(|texel| texel[usize::from(*channel).min(3)]).collect();
                        Plane { width: *width, height: *height, values }
                    },
                )
                .enlarged(width, height)
        }
    };
    let planes = packed.channels.each_ref().map(plane);
    let texels = stored(&planes, width as usize * height as usize, packed.encoding);
    let first = pictures.values().flatten().next();
    let name = first.map_or_else(|| "packed".to_owned(), |texture| texture.name.clone());
    Ok(Texture { name, width, height, texels, wrap: packed.wrap, nearest: false, filtered: true })
}

/// The texels of planes, each of which has as many values or one.
fn stored(planes: &[Plane; 4], count: usize, encoding: Encoding) -> Texels {
    let texel = |index: usize| planes.each_ref().map(|plane| plane.values[index.min(plane.values.len() - 1)]);
    let byte = |x: f32| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
    let is_within = || planes.iter().all(|plane| plane.values.iter().all(|value| (0.0..=1.0).contains(value)));
    match encoding {
        Encoding::Bytes => Texels::Linear8((0..count).map(|index| texel(index).map(byte)).collect()),
        Encoding::Colors if is_within() => {
            let color = |[r, g, b, a]: [f32; 4]| {
                let [r, g, b] = [r, g, b].map(|x| byte(srgb_from_linear(x)));
                [r, g, b, byte(a)]
            };
            Texels::Srgb8((0..count).map(|index| color(texel(index))).collect())
        }
        Encoding::Floats | Encoding::Colors => Texels::Linear((0..count).map(texel).collect()),
    }
}

impl Plane {
    fn constant(value: f32) -> Self {
        Self { width: 1, height: 1, values: vec![value] }
    }

    /// A channel as linear values, scaled and shifted.
    fn of(texture: &Texture, channel: usize, scale: f32, bias: f32) -> Self {
        let value = |x: f32| x * scale + bias;
        let table = |decode: fn(f32) -> f32| -> [f32; 256] { std::array::from_fn(|i| value(decode(i as f32 / 255.0))) };
        let bytes = |texels: &[[u8; 4]], table: [f32; 256]| texels.iter().map(|t| table[t[channel] as usize]).collect();
        let is_srgb = texture.texels.is_srgb() && channel < 3;
        let values = match texture.texels.rgba(texture.width, texture.height) {
            Rgba::Bytes(texels) => bytes(&texels, table(if is_srgb { linear_from_srgb } else { |x| x })),
            Rgba::Floats(texels) => texels.iter().map(|t| value(t[channel])).collect(),
        };
        Self { width: texture.width, height: texture.height, values }
    }

    /// The plane in another size. A constant stays one value.
    fn enlarged(self, width: u32, height: u32) -> Self {
        if self.values.len() == 1 {
            return self;
        }
        Self { width, height, values: enlarged(self.values, (self.width, self.height), (width, height)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gltf::ColorSpace, materials::Use};
    use std::path::PathBuf;
    use throng_scene::Wrap;

    fn read(path: &str, channel: u8, scale: f32, bias: f32) -> PackedChannel {
        let picture = PictureFile {
            path: PathBuf::from(path),
            bytes: None,
            tiles: Vec::new(),
            wrap: [Wrap::Clamp, Wrap::Repeat],
            space: ColorSpace::Linear,
            only_colors: false,
            used_by: Use::Optional { place: "a.usda".to_owned() },
        };
        PackedChannel::Read { picture, channel, scale, bias }
    }

    fn grey(width: u32, texels: &[[u8; 4]]) -> Texture {
        Texture {
            name: "grey".to_owned(),
            width,
            height: texels.len() as u32 / width,
            texels: Texels::Linear8(texels.to_vec()),
            wrap: [Wrap::Clamp, Wrap::Repeat],
            nearest: false,
            filtered: true,
        }
    }

    #[test]
    fn channels_come_from_different_pictures_and_sizes() {
        let channels =
            [PackedChannel::Constant(1.0), read("a", 0, 1.0, 0.0), read("b", 2, 0.5, 0.5), read("c", 3, 1.0, 0.0)];
        let packed = Packed { channels, encoding: Encoding::Bytes, wrap: [Wrap::Clamp, Wrap::Repeat] };
        let made = texture(&packed, |picture| {
            Ok(match picture.path.to_str() {
                Some("a") => Some(grey(2, &[[0, 9, 9, 9], [200, 9, 9, 9]])),
                Some("b") => Some(grey(1, &[[9, 9, 51, 9]])),
                _ => None,
            })
        });
        let made = made.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((made.width, made.height, made.wrap), (2, 1, [Wrap::Clamp, Wrap::Repeat]));
        assert_eq!(made.texels, Texels::Linear8(vec![[255, 0, 153, 255], [255, 200, 153, 255]]));
    }

    #[test]
    fn floats_keep_values_beyond_one() {
        let packed = Packed {
            channels: [0, 1, 2, 3].map(|c| read("a", c, 2.0, -1.0)),
            encoding: Encoding::Floats,
            wrap: [Wrap::Repeat; 2],
        };
        let made = texture(&packed, |_| Ok(Some(grey(1, &[[255, 0, 51, 255]])))).unwrap_or_else(|e| panic!("{e}"));
        let Texels::Linear(texels) = &made.texels else { panic!() };
        assert!((texels[0][2] + 0.6).abs() < 1e-6 && texels[0][..2] == [1.0, -1.0], "{texels:?}");
    }
}

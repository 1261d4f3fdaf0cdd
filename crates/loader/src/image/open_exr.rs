//! OpenEXR pictures with half or full floats, in one or several parts. The first colours are read.

use super::gpu_formats::Room;
use exr::{
    meta::{MetaData, header::Header},
    prelude::{ReadChannels as _, ReadLayers as _, ReadSpecificChannel as _, Text, read},
};
use image::{DynamicImage, Rgba32FImage};
use std::io::{BufRead, Seek};

/// First bytes of a file.
pub const MAGIC: &[u8] = &[0x76, 0x2f, 0x31, 0x01];

/// A rectangle of pixels: its first column and row, its width and height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    left: i64,
    top: i64,
    width: i64,
    height: i64,
}

impl Window {
    fn new((left, top): (i32, i32), (width, height): (usize, usize)) -> Self {
        Self { left: left.into(), top: top.into(), width: width as i64, height: height as i64 }
    }

    fn intersection(self, other: Self) -> Self {
        let (left, top) = (self.left.max(other.left), self.top.max(other.top));
        let right = (self.left + self.width).min(other.left + other.width);
        let bottom = (self.top + self.height).min(other.top + other.height);
        Self { left, top, width: (right - left).max(0), height: (bottom - top).max(0) }
    }
}

/// The pixels of a file that become the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The whole frame; missing pixels are black and transparent.
    Frame,
    /// The pixels of the frame that the file contains, for example a region.
    Stored,
}

/// Reads linear red, green, blue and alpha. Colours are multiplied by alpha, as in the file.
///
/// # Errors
/// If the picture is damaged, has deep pixels or no colours, or if `room` rejects its size. The text is the end of a sentence about the
/// picture.
pub fn decode(mut file: impl BufRead + Seek, extent: Extent, room: impl Room) -> Result<DynamicImage, String> {
    let damaged = |error: exr::error::Error| format!("the picture is damaged: {error}");
    let meta = MetaData::read_from_buffered(&mut file, false).map_err(damaged)?;
    let (header, names) = meta
        .headers
        .iter()
        .find_map(|header| Some((header, color_names(header)?)))
        .ok_or("the OpenEXR picture has no channels R, G and B, and no Y: write it with colours")?;
    if header.deep {
        return Err("the OpenEXR picture has deep pixels: flatten it".to_owned());
    }
    let position = header.own_attributes.layer_position;
    let stored = Window::new((position.0, position.1), (header.layer_size.0, header.layer_size.1));
    let display = header.shared_attributes.display_window;
    let frame = Window::new((display.position.0, display.position.1), (display.size.0, display.size.1));
    let shown = match extent {
        Extent::Frame => frame,
        Extent::Stored => stored.intersection(frame),
    };
    let side = |length: i64| u32::try_from(length).unwrap_or(u32::MAX);
    // The pixels of the file, and of the result.
    let more = 16u64.saturating_mul(stored.width as u64).saturating_mul(stored.height as u64);
    room(side(shown.width), side(shown.height), more)?;
    file.rewind().map_err(|error| error.to_string())?;
    let pixels = colors(file, names).map_err(damaged)?;
    let mut picture = Rgba32FImage::new(side(shown.width), side(shown.height));
    let both = stored.intersection(shown);
    for y in both.top..both.top + both.height {
        let start = ((y - stored.top) * stored.width + both.left - stored.left) as usize;
        let row = pixels.get(start..start + both.width as usize).unwrap_or_default();
        for (x, pixel) in (both.left - shown.left..).zip(row) {
            picture.put_pixel(x as u32, (y - shown.top) as u32, image::Rgba(*pixel));
        }
    }
    Ok(picture.into())
}

/// Names of the channels for red, green, blue and alpha, from the layer without a name, or from the first layer with colours.
type Names = [Text; 4];

fn color_names(header: &Header) -> Option<Names> {
    let has = |name: &str| header.channels.list.iter().any(|channel| channel.name.to_string() == name);
    let names = |layer: &str, colors: [&str; 3]| {
        let name = |letter: &str| format!("{layer}{letter}");
        let found = colors.iter().all(|letter| has(&name(letter)));
        found.then(|| [colors[0], colors[1], colors[2], "A"].map(|letter| Text::from(&*name(letter))))
    };
    let layers = header.channels.list.iter().filter_map(|channel| {
        let name = channel.name.to_string();
        name.strip_suffix('R').filter(|layer| layer.is_empty() || layer.ends_with('.')).map(String::from)
    });
    let mut layers: Vec<String> = layers.collect();
    // If several layers have colours, the picture itself is Combined.
    layers.sort_by_key(|layer| (!layer.is_empty(), !layer.ends_with("Combined.")));
    let colors = layers.iter().find_map(|layer| names(layer, ["R", "G", "B"]));
    colors.or_else(|| names("", ["Y", "Y", "Y"]))
}

fn colors(file: impl BufRead + Seek, [r, g, b, a]: Names) -> exr::error::Result<Vec<[f32; 4]>> {
    let channels = read().no_deep_data().largest_resolution_level();
    if r == g {
        let grey = channels.specific_channels().required(r).optional(a, 1.0f32).collect_pixels(
            |size, _| (size.0, vec![[0f32; 4]; size.area()]),
            |(width, pixels): &mut (usize, Vec<[f32; 4]>), at, (y, a): (f32, f32)| {
                pixels[at.1 * *width + at.0] = [y, y, y, a];
            },
        );
        return Ok(grey.first_valid_layer().all_attributes().from_buffered(file)?.layer_data.channel_data.pixels.1);
    }
    let rgba = channels.specific_channels().required(r).required(g).required(b).optional(a, 1.0f32).collect_pixels(
        |size, _| (size.0, vec![[0f32; 4]; size.area()]),
        |(width, pixels): &mut (usize, Vec<[f32; 4]>), at, (r, g, b, a): (f32, f32, f32, f32)| {
            pixels[at.1 * *width + at.0] = [r, g, b, a];
        },
    );
    Ok(rgba.first_valid_layer().all_attributes().from_buffered(file)?.layer_data.channel_data.pixels.1)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use exr::{
        image::{AnyChannel, AnyChannels, Encoding, FlatSamples, Image, Layer, Layers},
        meta::{
            attribute::IntegerBounds,
            header::{ImageAttributes, LayerAttributes},
        },
        prelude::{Vec2, WritableImage as _, f16},
    };
    use std::io::Cursor;

    /// A file of parts, each given by its name and channels. Channels have 3x2 pixels with a constant value, at (`left`, 1) in a frame of
    /// 8x4 pixels.
    pub fn file(parts: &[(&str, &[(&str, f32)])], left: i32) -> Vec<u8> {
        let half = |value: f32| FlatSamples::F16(vec![f16::from_f32(value); 6]);
        let layer = |(part, channels): &(&str, &[(&str, f32)])| {
            let channels = channels.iter().map(|&(name, value)| match name {
                "Z" => AnyChannel::new(name, FlatSamples::F32(vec![value; 6])),
                _ => AnyChannel::new(name, half(value)),
            });
            let attributes = LayerAttributes { layer_position: Vec2(left, 1), ..LayerAttributes::named(*part) };
            Layer::new((3, 2), attributes, Encoding::SMALL_LOSSLESS, AnyChannels::sort(channels.collect()))
        };
        let layers: Layers<_> = parts.iter().map(layer).collect();
        let attributes = ImageAttributes::new(IntegerBounds::new((0, 0), (8, 4)));
        let mut bytes = Cursor::new(Vec::new());
        Image::from_layers(attributes, layers).write().to_buffered(&mut bytes).unwrap();
        bytes.into_inner()
    }

    fn read_as(bytes: &[u8], extent: Extent) -> Result<Rgba32FImage, String> {
        decode(Cursor::new(bytes), extent, |_, _, _| Ok(())).map(DynamicImage::into_rgba32f)
    }

    #[test]
    fn pixels_are_where_the_data_window_has_them() {
        let bytes = file(&[("", &[("R", 2.0), ("G", 0.5), ("B", 0.25), ("depth.Z", 9.0)])], 4);
        let whole = read_as(&bytes, Extent::Frame).unwrap();
        assert_eq!(whole.dimensions(), (8, 4));
        for (x, y, pixel) in whole.enumerate_pixels() {
            let is_inside = (4..7).contains(&x) && (1..3).contains(&y);
            assert_eq!(pixel.0, if is_inside { [2.0, 0.5, 0.25, 1.0] } else { [0.0; 4] }, "{x} {y}");
        }
        assert_eq!(read_as(&bytes, Extent::Stored).unwrap().dimensions(), (3, 2));
        // Pixels outside the frame are not part of the picture.
        let beyond = file(&[("", &[("R", 2.0), ("G", 0.5), ("B", 0.25)])], -2);
        assert_eq!(read_as(&beyond, Extent::Stored).unwrap().dimensions(), (1, 2));
        assert_eq!(read_as(&beyond, Extent::Frame).unwrap().get_pixel(0, 1).0, [2.0, 0.5, 0.25, 1.0]);
    }

    #[test]
    fn colours_are_found_in_layers_parts_and_luminance() {
        let first =
            |parts: &[(&str, &[(&str, f32)])]| read_as(&file(parts, 0), Extent::Frame).map(|it| it.get_pixel(0, 1).0);
        let combined: &[(&str, f32)] = &[
            ("View.Albedo.R", 7.0),
            ("View.Albedo.G", 7.0),
            ("View.Albedo.B", 7.0),
            ("View.Combined.R", 1.0),
            ("View.Combined.G", 2.0),
            ("View.Combined.B", 3.0),
            ("View.Combined.A", 0.5),
        ];
        assert_eq!(first(&[("", combined)]), Ok([1.0, 2.0, 3.0, 0.5]));
        assert_eq!(
            first(&[("depth", &[("Z", 1.0)]), ("color", &[("R", 1.0), ("G", 2.0), ("B", 3.0)])]),
            Ok([1.0, 2.0, 3.0, 1.0])
        );
        assert_eq!(first(&[("", &[("Y", 4.0)])]), Ok([4.0, 4.0, 4.0, 1.0]));
        assert!(first(&[("", &[("Z", 1.0)])]).unwrap_err().contains("no channels R, G and B"));
    }
}

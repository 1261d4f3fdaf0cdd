//! Colours in the attributes of binary STL files, with 5 bits per channel, as written by VisCAM and Materialise Magics.

use throng_base::math::linear_from_srgb;
use throng_scene::Material;

/// The bit of an attribute that marks it as a colour.
const FLAG: u16 = 1 << 15;
/// Text that Magics writes into the header before the colour of the whole object.
const MAGICS: &[u8] = b"COLOR=";

/// The attributes of a file's triangles.
#[derive(Default)]
pub struct Attributes {
    /// Empty if all are 0 so far.
    all: Vec<u16>,
}

impl Attributes {
    /// Adds the attribute of triangle `index`, the next one.
    pub fn add(&mut self, index: usize, attribute: u16) {
        if attribute != 0 || !self.all.is_empty() {
            self.all.resize(index, 0);
            self.all.push(attribute);
        }
    }

    /// Linear colours of all `count` triangles; empty if there are none. Attributes that may have another meaning are not treated as colours.
    pub fn colors(self, header: &[u8], count: usize) -> Vec<[f32; 4]> {
        if let Some(at) = header.windows(MAGICS.len()).position(|bytes| bytes == MAGICS)
            && let [r, g, b, ..] = header[at + MAGICS.len()..]
        {
            let whole = color([r, g, b].map(|x| f32::from(x) / 255.0));
            let is_own = !self.all.is_empty();
            let of = |&a: &u16| if is_own && a & FLAG == 0 { color(channels(a)) } else { whole };
            return if is_own { self.all.iter().map(of).collect() } else { vec![whole; count] };
        }
        // Some programs write other data than colours, for example part numbers.
        let are_colors =
            self.all.iter().all(|a| *a == 0 || a & FLAG != 0) && self.all.iter().any(|a| !matches!(*a, 0 | u16::MAX));
        if !are_colors {
            return Vec::new();
        }
        let plain = Material::default().color.extend(1.0).to_array();
        let of = |&a: &u16| {
            let [b, g, r] = channels(a);
            if a & FLAG == 0 { plain } else { color([r, g, b]) }
        };
        self.all.iter().map(of).collect()
    }
}

/// The three channels from 0 to 1, lowest bits first.
fn channels(attribute: u16) -> [f32; 3] {
    [0, 5, 10].map(|shift| f32::from(attribute >> shift & 31) / 31.0)
}

fn color([r, g, b]: [f32; 3]) -> [f32; 4] {
    [linear_from_srgb(r), linear_from_srgb(g), linear_from_srgb(b), 1.0]
}

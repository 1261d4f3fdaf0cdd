//! Vertex colours, which some programs write after the coordinates: `v x y z r g b` or `v x y z r g b a`.

use throng_base::math::linear_from_srgb;

/// The raw value of a vertex without a colour.
const NONE: [f32; 4] = [f32::NAN; 4];

/// The raw colours of a file's vertices.
#[derive(Debug, Default)]
pub struct VertexColors {
    /// Colours up to the last vertex that has one. A missing alpha is NaN.
    written: Vec<[f32; 4]>,
}

impl VertexColors {
    /// Reads the values after the coordinates of vertex `index`. A single number is a weight and is ignored.
    pub fn read<'a>(&mut self, index: usize, words: impl Iterator<Item = &'a str>) {
        let mut color = NONE;
        for (value, word) in color.iter_mut().zip(words) {
            match word.parse::<f32>() {
                Ok(x) if x.is_finite() => *value = x,
                _ => break,
            }
        }
        if !color[2].is_nan() {
            self.written.resize(index, NONE);
            self.written.push(color);
        }
    }

    /// Linear colours of all `count` vertices; empty if no vertex has one. Files have sRGB values from 0 to 1, or integers up to 255.
    pub fn linear(mut self, count: usize) -> Vec<[f32; 4]> {
        if self.written.is_empty() {
            return Vec::new();
        }
        let scale = if self.are_bytes() { 255.0 } else { 1.0 };
        self.written.resize(count, NONE);
        // Vertices without a colour are white, and colours without alpha are opaque.
        let share = |x: f32| if x.is_nan() { 1.0 } else { (x / scale).clamp(0.0, 1.0) };
        for color in &mut self.written {
            let [r, g, b, a] = color.map(share);
            *color = [linear_from_srgb(r), linear_from_srgb(g), linear_from_srgb(b), a];
        }
        self.written
    }

    fn are_bytes(&self) -> bool {
        let values = || self.written.as_flattened().iter().filter(|x| !x.is_nan());
        values().any(|&x| x > 1.0) && values().all(|x| x.fract() == 0.0)
    }
}

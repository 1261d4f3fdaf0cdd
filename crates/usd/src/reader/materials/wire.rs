//! The value at an input of a shader: a constant, a picture with a factor and a summand, or a colour of the mesh.

use crate::{Input, Read, Source};
use openusd::sdf::Value;

/// A value that a network computes, with up to four components.
#[derive(Clone, Debug, PartialEq)]
pub enum Wire {
    /// The same everywhere. A single number stands in all components.
    Constant([f32; 4]),
    /// Read from a picture.
    Picture(Read),
    /// The mesh's `displayColor` or `displayOpacity`, or this value where it has none.
    Display([f32; 4]),
}

impl Wire {
    /// The value multiplied by constants.
    pub fn times(self, factor: [f32; 4]) -> Self {
        self.affine(factor, [0.0; 4])
    }

    /// `value · factor + summand`. Colours of the mesh are left as they are, because a [`Source::DisplayPrimvar`] has no factor.
    pub fn affine(self, factor: [f32; 4], summand: [f32; 4]) -> Self {
        let apply = |value: [f32; 4]| zip(zip(value, factor, |a, b| a * b), summand, |a, b| a + b);
        match self {
            Self::Constant(value) => Self::Constant(apply(value)),
            Self::Picture(read) => {
                let scale = zip(read.scale, factor, |a, b| a * b);
                Self::Picture(Read { scale, bias: apply(read.bias), ..read })
            }
            Self::Display(value) => Self::Display(value),
        }
    }

    /// One component as a single value.
    pub fn channel(self, channel: u8) -> Self {
        match self {
            Self::Constant(value) => Self::Constant([value[usize::from(channel.min(3))]; 4]),
            Self::Picture(read) => Self::Picture(Read { channel: channel.min(3), ..read }),
            Self::Display(value) => Self::Display(value),
        }
    }

    /// The constant, if it is one.
    pub fn constant(&self) -> Option<[f32; 4]> {
        match self {
            Self::Constant(value) => Some(*value),
            _ => None,
        }
    }

    /// Whether all numbers are finite.
    pub fn is_finite(&self) -> bool {
        let finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
        match self {
            Self::Constant(value) | Self::Display(value) => finite(value),
            Self::Picture(read) => {
                finite(&read.scale) && finite(&read.bias) && finite(&read.fallback) && read.transform.is_finite()
            }
        }
    }

    /// The value where pictures and the mesh have none.
    fn typical(&self) -> [f32; 4] {
        match self {
            Self::Constant(value) | Self::Display(value) => *value,
            Self::Picture(read) => zip(zip(read.fallback, read.scale, |a, b| a * b), read.bias, |a, b| a + b),
        }
    }

    fn source(self) -> Option<Source> {
        match self {
            Self::Constant(_) => None,
            Self::Picture(read) => Some(Source::Picture(read)),
            Self::Display(_) => Some(Source::DisplayPrimvar),
        }
    }

    /// The input of a colour.
    pub fn color(self) -> Input<[f32; 3]> {
        let [r, g, b, _] = self.typical();
        Input { value: [r, g, b], source: self.source() }
    }

    /// The input of a single value.
    pub fn single(self) -> Input<f32> {
        let value = self.typical();
        let channel = match &self {
            Self::Picture(read) => usize::from(read.channel.min(3)),
            _ => 0,
        };
        Input { value: value[channel], source: self.source() }
    }
}

/// Combines the components of two values.
pub fn zip(a: [f32; 4], b: [f32; 4], combine: impl Fn(f32, f32) -> f32) -> [f32; 4] {
    std::array::from_fn(|i| combine(a[i], b[i]))
}

/// The numbers of a value with one to four components: the first ones, and 0, 0, 1 for those that are missing. A single number stands in all
/// components. `None` for other types and for numbers that are not finite.
pub fn numbers(value: &Value) -> Option<[f32; 4]> {
    let numbers = match value {
        Value::Bool(v) => [f32::from(u8::from(*v)); 4],
        Value::Uchar(v) => [f32::from(*v); 4],
        Value::Int(v) => [*v as f32; 4],
        Value::Uint(v) => [*v as f32; 4],
        Value::Int64(v) => [*v as f32; 4],
        Value::Uint64(v) => [*v as f32; 4],
        Value::Half(v) => [v.to_f32(); 4],
        Value::Float(v) => [*v; 4],
        Value::Double(v) => [*v as f32; 4],
        Value::Vec2h(v) => [v.x.to_f32(), v.y.to_f32(), 0.0, 1.0],
        Value::Vec2f(v) => [v.x, v.y, 0.0, 1.0],
        Value::Vec2d(v) => [v.x as f32, v.y as f32, 0.0, 1.0],
        Value::Vec2i(v) => [v.x as f32, v.y as f32, 0.0, 1.0],
        Value::Vec3h(v) => [v.x.to_f32(), v.y.to_f32(), v.z.to_f32(), 1.0],
        Value::Vec3f(v) => [v.x, v.y, v.z, 1.0],
        Value::Vec3d(v) => [v.x as f32, v.y as f32, v.z as f32, 1.0],
        Value::Vec3i(v) => [v.x as f32, v.y as f32, v.z as f32, 1.0],
        Value::Vec4h(v) => [v.x.to_f32(), v.y.to_f32(), v.z.to_f32(), v.w.to_f32()],
        Value::Vec4f(v) => [v.x, v.y, v.z, v.w],
        Value::Vec4d(v) => [v.x as f32, v.y as f32, v.z as f32, v.w as f32],
        Value::Vec4i(v) => [v.x as f32, v.y as f32, v.z as f32, v.w as f32],
        _ => return None,
    };
    numbers.iter().all(|number| number.is_finite()).then_some(numbers)
}

/// The text of a token, string or asset.
pub fn text(value: &Value) -> Option<String> {
    match value {
        Value::Token(text) => Some(text.as_str().to_owned()),
        Value::String(text) => Some(text.clone()),
        Value::AssetPath(path) => Some(path.as_str().to_owned()),
        _ => None,
    }
}

//! Values that networks of shaders compute from pictures. The reader folds their constant parts, and the loader makes pictures of the rest.

use super::{Read, zip};
use glam::Affine2;

/// A value with four components that may differ from place to place. A single number stands in all components.
#[derive(Clone, Debug, PartialEq)]
pub enum Computed {
    /// The same everywhere.
    Constant([f32; 4]),
    /// The channels of a picture, `texel · scale + bias`. [`Read::channel`] is ignored.
    Picture(Read),
    /// The channel [`Read::channel`] of a picture, in all components.
    Channel(Read),
    /// Texture coordinates u and v, then 0 and 1.
    Coordinates {
        /// Name of the primvar; empty for the first set.
        uvs: String,
        /// `coordinates = transform · mesh_uv`, with v upwards.
        transform: Affine2,
    },
    /// An operation on other values.
    Apply(Operation, Vec<Computed>),
}

impl Computed {
    /// The value at a place where all pictures have their fallback, and all coordinates are 0.
    pub fn typical(&self) -> [f32; 4] {
        self.at(&mut |leaf| match leaf {
            Self::Picture(read) => scaled(read, read.fallback),
            Self::Channel(read) => [scaled(read, read.fallback)[usize::from(read.channel.min(3))]; 4],
            _ => [0.0, 0.0, 0.0, 1.0],
        })
    }

    /// The value, with those of pictures and coordinates from `leaf`.
    pub fn at(&self, leaf: &mut dyn FnMut(&Self) -> [f32; 4]) -> [f32; 4] {
        match self {
            Self::Constant(value) => *value,
            Self::Apply(operation, values) => {
                let mut arguments = [[0.0; 4]; MOST_ARGUMENTS];
                for (argument, value) in arguments.iter_mut().zip(values) {
                    *argument = value.at(leaf);
                }
                operation.of(&arguments[..values.len().min(MOST_ARGUMENTS)])
            }
            _ => leaf(self),
        }
    }

    /// All pictures that are read.
    pub fn reads(&self) -> Vec<&Read> {
        match self {
            Self::Picture(read) | Self::Channel(read) => vec![read],
            Self::Apply(_, values) => values.iter().flat_map(Self::reads).collect(),
            Self::Constant(_) | Self::Coordinates { .. } => Vec::new(),
        }
    }

    /// Whether it depends on texture coordinates themselves.
    pub fn uses_coordinates(&self) -> bool {
        match self {
            Self::Coordinates { .. } => true,
            Self::Apply(_, values) => values.iter().any(Self::uses_coordinates),
            Self::Constant(_) | Self::Picture(_) | Self::Channel(_) => false,
        }
    }

    /// Calls `change` with each picture that is read.
    pub fn for_each_read(&mut self, change: &mut dyn FnMut(&mut Read)) {
        match self {
            Self::Picture(read) | Self::Channel(read) => change(read),
            Self::Apply(_, values) => values.iter_mut().for_each(|value| value.for_each_read(change)),
            Self::Constant(_) | Self::Coordinates { .. } => {}
        }
    }

    /// Whether all numbers are finite.
    pub fn is_finite(&self) -> bool {
        let finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
        match self {
            Self::Constant(value) => finite(value),
            Self::Picture(read) | Self::Channel(read) => {
                finite(&read.scale) && finite(&read.bias) && finite(&read.fallback) && read.transform.is_finite()
            }
            Self::Coordinates { transform, .. } => transform.is_finite(),
            Self::Apply(_, values) => values.iter().all(Self::is_finite),
        }
    }
}

/// `texel · scale + bias`.
pub fn scaled(read: &Read, texel: [f32; 4]) -> [f32; 4] {
    zip(zip(texel, read.scale, |a, b| a * b), read.bias, |a, b| a + b)
}

/// Arguments of an operation at most.
pub const MOST_ARGUMENTS: usize = 4;

/// An operation on values, named and defined as the node of MaterialX's standard library. It works on each component, unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// `a + b`.
    Add,
    /// `a - b`.
    Subtract,
    /// `a · b`.
    Multiply,
    /// `a / b`; 0 where b is 0.
    Divide,
    /// `a - b · floor(a / b)`.
    Modulo,
    /// `a` to the power of `b`, of the absolute value of `a` with its sign.
    Power,
    /// The smaller value.
    Min,
    /// The larger value.
    Max,
    /// The angle of the vector (b, a).
    Atan2,
    /// The absolute value.
    Absolute,
    /// -1, 0 or 1.
    Sign,
    /// The next lower integer.
    Floor,
    /// The next higher integer.
    Ceil,
    /// The nearest integer.
    Round,
    /// The part beyond the next lower integer.
    Fraction,
    /// The square root; 0 for negative numbers.
    SquareRoot,
    /// e to the power of a.
    Exponential,
    /// The natural logarithm; 0 where it is not finite.
    Logarithm,
    /// The sine of radians.
    Sine,
    /// The cosine of radians.
    Cosine,
    /// The tangent of radians.
    Tangent,
    /// The angle with this sine.
    ArcSine,
    /// The angle with this cosine.
    ArcCosine,
    /// `a · c + b · (1 - c)`.
    Mix,
    /// The cubic step of a from b to c.
    SmoothStep,
    /// `(a - c) · b + c`.
    Contrast,
    /// The colour a with its saturation times b; c has the weights of luminance.
    Saturate,
    /// Hue, saturation and value of a colour.
    RgbToHsv,
    /// The colour with this hue, saturation and value.
    HsvToRgb,
    /// The colour a with its hue shifted and its saturation and value multiplied by b.
    HsvAdjust,
    /// The sum of the products of the first three components, in all components.
    Dot,
    /// The length of the first three components, in all components.
    Magnitude,
    /// The first three components with a length of 1.
    Normalize,
    /// The cross product of the first three components.
    Cross,
    /// c if a > b, otherwise d; the first components are compared.
    Greater,
    /// c if a ≥ b, otherwise d.
    GreaterOrEqual,
    /// c if a = b, otherwise d.
    Equal,
    /// The components with these indices; 4 is 0 and 5 is 1.
    Swizzle([u8; 4]),
    /// The first components of up to four values; 0, 0 and 1 for those that are missing.
    Combine,
    /// The first three components, multiplied by the matrix with these rows.
    Matrix([[f32; 3]; 3]),
    /// The colour times its alpha.
    Premultiply,
    /// The colour divided by its alpha.
    Unpremultiply,
    /// a, whose colours are premultiplied, over b.
    Over,
    /// `1 - (1 - b) / a`; 0 where a is 0.
    Burn,
    /// `b / (1 - a)`; 0 where a is 1.
    Dodge,
    /// `1 - (1 - a) · (1 - b)`.
    Screen,
    /// Multiply where b is below 0.5, otherwise screen.
    Overlay,
}

impl Operation {
    /// The value for these arguments. Missing ones are 0, and so are results that are not finite.
    pub fn of(self, arguments: &[[f32; 4]]) -> [f32; 4] {
        let at = |index: usize| arguments.get(index).copied().unwrap_or_default();
        let (a, b) = (at(0), at(1));
        let value = match self {
            Self::Mix => std::array::from_fn(|i| a[i] * at(2)[i] + b[i] * (1.0 - at(2)[i])),
            Self::SmoothStep => std::array::from_fn(|i| smooth_step(a[i], b[i], at(2)[i])),
            Self::Contrast => std::array::from_fn(|i| (a[i] - at(2)[i]) * b[i] + at(2)[i]),
            Self::Greater => at(if a[0] > b[0] { 2 } else { 3 }),
            Self::GreaterOrEqual => at(if a[0] >= b[0] { 2 } else { 3 }),
            Self::Equal => at(if a[0] == b[0] { 2 } else { 3 }),
            Self::Combine => std::array::from_fn(|i| match arguments.get(i) {
                Some(value) => value[0],
                None => [0.0, 0.0, 0.0, 1.0][i],
            }),
            _ => self.of_two(a, b, at(2)),
        };
        value.map(|x| if x.is_finite() { x } else { 0.0 })
    }

    fn of_two(self, a: [f32; 4], b: [f32; 4], c: [f32; 4]) -> [f32; 4] {
        match self {
            Self::Saturate => {
                let grey = dot(a, c);
                with_alpha([0, 1, 2].map(|i| grey + (a[i] - grey) * b[0]), a[3])
            }
            Self::RgbToHsv => hsv_of(a),
            Self::HsvToRgb => rgb_of(a),
            Self::HsvAdjust => {
                let [hue, saturation, value, alpha] = hsv_of(a);
                rgb_of([hue + b[0], saturation * b[1], value * b[2], alpha])
            }
            Self::Dot => [dot(a, b); 4],
            Self::Magnitude => [dot(a, a).sqrt(); 4],
            Self::Normalize => {
                let length = dot(a, a).sqrt();
                with_alpha([0, 1, 2].map(|i| a[i] / length), a[3])
            }
            Self::Cross => {
                let part = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
                with_alpha([part(1, 2), part(2, 0), part(0, 1)], 1.0)
            }
            Self::Swizzle(from) => from.map(|index| [a[0], a[1], a[2], a[3], 0.0, 1.0][usize::from(index.min(5))]),
            Self::Matrix(rows) => with_alpha(rows.map(|row| row[0] * a[0] + row[1] * a[1] + row[2] * a[2]), a[3]),
            Self::Premultiply => with_alpha([0, 1, 2].map(|i| a[i] * a[3]), a[3]),
            Self::Unpremultiply => with_alpha([0, 1, 2].map(|i| a[i] / a[3]), a[3]),
            Self::Over => std::array::from_fn(|i| a[i] + b[i] * (1.0 - a[3])),
            _ => zip(a, b, |a, b| self.of_numbers(a, b)),
        }
    }

    /// Operations on each component.
    fn of_numbers(self, a: f32, b: f32) -> f32 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Modulo => a - b * (a / b).floor(),
            Self::Power => a.abs().powf(b) * if a < 0.0 { -1.0 } else { 1.0 },
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::Atan2 => a.atan2(b),
            Self::Absolute => a.abs(),
            Self::Sign if a == 0.0 => 0.0,
            Self::Sign => a.signum(),
            Self::Floor => a.floor(),
            Self::Ceil => a.ceil(),
            Self::Round => (a + 0.5).floor(),
            Self::Fraction => a - a.floor(),
            Self::SquareRoot => a.max(0.0).sqrt(),
            Self::Exponential => a.exp(),
            Self::Logarithm => a.ln(),
            Self::Sine => a.sin(),
            Self::Cosine => a.cos(),
            Self::Tangent => a.tan(),
            Self::ArcSine => a.clamp(-1.0, 1.0).asin(),
            Self::ArcCosine => a.clamp(-1.0, 1.0).acos(),
            Self::Burn => 1.0 - (1.0 - b) / a,
            Self::Dodge => b / (1.0 - a),
            Self::Screen => 1.0 - (1.0 - a) * (1.0 - b),
            Self::Overlay if b < 0.5 => 2.0 * a * b,
            Self::Overlay => 1.0 - 2.0 * (1.0 - a) * (1.0 - b),
            // Every other operation is in `of` or `of_two`.
            _ => a,
        }
    }
}

fn with_alpha([r, g, b]: [f32; 3], alpha: f32) -> [f32; 4] {
    [r, g, b, alpha]
}

fn dot(a: [f32; 4], b: [f32; 4]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn smooth_step(x: f32, low: f32, high: f32) -> f32 {
    let t = if low == high { f32::from(u8::from(x >= high)) } else { ((x - low) / (high - low)).clamp(0.0, 1.0) };
    t * t * (3.0 - 2.0 * t)
}

/// Hue and saturation from 0 to 1, and value (Smith 1978).
fn hsv_of([r, g, b, alpha]: [f32; 4]) -> [f32; 4] {
    let (low, high) = (r.min(g).min(b), r.max(g).max(b));
    let range = high - low;
    if !(range > 0.0 && high > 0.0) {
        return [0.0, 0.0, high, alpha];
    }
    let turns = match high {
        _ if r >= high => (g - b) / range,
        _ if g >= high => 2.0 + (b - r) / range,
        _ => 4.0 + (r - g) / range,
    };
    [(turns / 6.0).rem_euclid(1.0), range / high, high, alpha]
}

fn rgb_of([hue, saturation, value, alpha]: [f32; 4]) -> [f32; 4] {
    let channel = |shift: f32| {
        let place = (shift + hue * 6.0).rem_euclid(6.0);
        value - value * saturation * place.min(4.0 - place).clamp(0.0, 1.0)
    };
    [channel(5.0), channel(3.0), channel(1.0), alpha]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(operation: Operation, arguments: &[[f32; 4]]) -> [f32; 3] {
        let [x, y, z, _] = operation.of(arguments);
        [x, y, z]
    }

    #[test]
    fn components_are_combined_as_the_standard_library_says() {
        let (a, b) = ([0.5, -2.0, 3.0, 1.0], [2.0, 0.0, 2.0, 1.0]);
        assert_eq!(of(Operation::Divide, &[a, b]), [0.25, 0.0, 1.5]);
        assert_eq!(of(Operation::Modulo, &[a, [2.0; 4]]), [0.5, 0.0, 1.0]);
        assert_eq!(of(Operation::Power, &[a, [2.0; 4]]), [0.25, -4.0, 9.0]);
        assert_eq!(of(Operation::Mix, &[a, b, [0.25; 4]]), [1.625, -0.5, 2.25]);
        assert_eq!(of(Operation::Greater, &[[1.0; 4], [2.0; 4], a, b]), [2.0, 0.0, 2.0]);
        assert_eq!(of(Operation::Equal, &[[1.0; 4], [1.0; 4], a, b]), [0.5, -2.0, 3.0]);
        assert_eq!(Operation::Combine.of(&[a, [7.0; 4]]), [0.5, 7.0, 0.0, 1.0]);
        assert_eq!(Operation::Swizzle([2, 2, 4, 5]).of(&[a]), [3.0, 3.0, 0.0, 1.0]);
        assert_eq!(of(Operation::Cross, &[[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]]), [0.0, 0.0, 1.0]);
        assert_eq!(of(Operation::SmoothStep, &[[0.5; 4], [0.0; 4], [1.0; 4]]), [0.5; 3]);
    }

    #[test]
    fn hue_is_adjusted_and_returns_to_the_same_color() {
        let red = [0.8, 0.2, 0.2, 1.0];
        let green = of(Operation::HsvAdjust, &[red, [1.0 / 3.0, 1.0, 1.0, 1.0]]);
        assert!((0..3).all(|i| (green[i] - [0.2, 0.8, 0.2][i]).abs() < 1e-5), "{green:?}");
        let same = Operation::HsvToRgb.of(&[Operation::RgbToHsv.of(&[[0.3, 0.1, 0.6, 1.0]])]);
        assert!((0..3).all(|i| (same[i] - [0.3, 0.1, 0.6][i]).abs() < 1e-5), "{same:?}");
        let grey = of(Operation::Saturate, &[red, [0.0; 4], [0.25, 0.5, 0.25, 1.0]]);
        assert!(grey.iter().all(|x| (x - 0.35).abs() < 1e-6), "{grey:?}");
    }

    #[test]
    fn results_are_finite() {
        for operation in [Operation::Divide, Operation::Logarithm, Operation::Normalize, Operation::Unpremultiply] {
            assert_eq!(of(operation, &[[0.0; 4], [0.0; 4]]), [0.0; 3], "{operation:?}");
        }
        assert_eq!(Operation::Exponential.of(&[[1e9; 4]]), [0.0; 4]);
        assert_eq!(Operation::Add.of(&[]), [0.0; 4]);
    }
}

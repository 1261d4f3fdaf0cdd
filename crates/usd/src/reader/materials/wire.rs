//! The value at an input of a shader: a constant, a picture with a factor and a summand, a colour of the mesh, or what is computed from these.

use crate::{Computed, Input, Operation, Read, Source, scaled, zip};
use glam::Affine2;
use openusd::sdf::Value;

/// A value that a network computes, with up to four components.
#[derive(Clone, Debug, PartialEq)]
pub enum Wire {
    /// The same everywhere. A single number stands in all components.
    Constant([f32; 4]),
    /// The channels of a picture.
    Picture(Read),
    /// One channel of a picture, a single number.
    Channel(Read),
    /// The mesh's `displayColor` or `displayOpacity`, or the first value where it has none; times a value.
    Display([f32; 4], Box<Wire>),
    /// Computed from pictures.
    Computed(Computed),
}

impl Wire {
    /// A single number.
    pub fn number(value: f32) -> Self {
        Self::Constant([value; 4])
    }

    /// The mesh's own colour or opacity, or a value where it has none.
    pub fn display(fallback: [f32; 4]) -> Self {
        Self::Display(fallback, Box::new(Self::number(1.0)))
    }

    /// Texture coordinates.
    pub fn coordinates(uvs: String, transform: Affine2) -> Self {
        Self::Computed(Computed::Coordinates { uvs, transform })
    }

    /// The value multiplied by constants.
    pub fn times(self, factor: [f32; 4]) -> Self {
        self.affine(factor, [0.0; 4])
    }

    /// `value · factor + summand`. Colours of the mesh have no summand.
    pub fn affine(self, factor: [f32; 4], summand: [f32; 4]) -> Self {
        let apply = |value: [f32; 4]| zip(zip(value, factor, |a, b| a * b), summand, |a, b| a + b);
        let is_single = |value: [f32; 4]| value[0] == value[1] && value[1] == value[2];
        let read_so = |read: Read| {
            let scale = zip(read.scale, factor, |a, b| a * b);
            Read { scale, bias: apply(read.bias), ..read }
        };
        match self {
            same if factor == [1.0; 4] && summand == [0.0; 4] => same,
            Self::Constant(value) => Self::Constant(apply(value)),
            Self::Picture(read) => Self::Picture(read_so(read)),
            Self::Channel(read) if is_single(factor) && is_single(summand) => {
                let (factor, summand) = ([factor[0]; 4], [summand[0]; 4]);
                Self::Channel(Read {
                    scale: read.scale.map(|scale| scale * factor[0]),
                    bias: zip(zip(read.bias, factor, |a, b| a * b), summand, |a, b| a + b),
                    ..read
                })
            }
            Self::Display(value, wire) => Self::Display(apply(value), Box::new(wire.times(factor))),
            Self::Channel(_) | Self::Computed(_) => {
                let product = Self::Computed(Computed::Apply(
                    Operation::Multiply,
                    vec![self.into_computed(), Computed::Constant(factor)],
                ));
                if summand == [0.0; 4] {
                    return product;
                }
                let arguments = vec![product.into_computed(), Computed::Constant(summand)];
                Self::Computed(Computed::Apply(Operation::Add, arguments))
            }
        }
    }

    /// The result of an operation, folded where arguments are constant. `None` for colours of the mesh, which can only be multiplied.
    pub fn apply(operation: Operation, arguments: Vec<Self>) -> Option<Self> {
        if operation == Operation::Mix && arguments.first() == arguments.get(1) {
            return arguments.into_iter().next();
        }
        if let Some(constants) = arguments.iter().map(Self::constant).collect::<Option<Vec<_>>>() {
            return Some(Self::Constant(operation.of(&constants)));
        }
        let arguments = match simplified(operation, arguments) {
            Ok(wire) => return Some(wire),
            Err(arguments) => arguments,
        };
        if arguments.iter().any(|argument| matches!(argument, Self::Display(..))) {
            return None;
        }
        let arguments = arguments.into_iter().map(Self::into_computed).collect();
        Some(Self::Computed(Computed::Apply(operation, arguments)))
    }

    /// The product, if one of the values is no colour of the mesh.
    pub fn product(self, other: Self) -> Option<Self> {
        Self::apply(Operation::Multiply, vec![self, other])
    }

    /// `front · share + self · (1 - share)`, if none is a colour of the mesh.
    pub fn mixed(self, front: Self, share: Self) -> Option<Self> {
        Self::apply(Operation::Mix, vec![front, self, share])
    }

    /// One component as a single value.
    pub fn channel(self, channel: u8) -> Self {
        let channel = channel.min(3);
        match self {
            Self::Constant(value) => Self::number(value[usize::from(channel)]),
            Self::Picture(read) => Self::Channel(Read { channel, ..read }),
            Self::Computed(Computed::Apply(Operation::Combine, mut values)) if usize::from(channel) < values.len() => {
                match Self::of_computed(values.swap_remove(usize::from(channel))) {
                    Self::Picture(read) => Self::Channel(Read { channel: 0, ..read }),
                    single => single,
                }
            }
            Self::Computed(computed) => {
                Self::Computed(Computed::Apply(Operation::Swizzle([channel; 4]), vec![computed]))
            }
            Self::Channel(_) | Self::Display(..) => self,
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
        match self {
            Self::Constant(value) => value.iter().all(|value| value.is_finite()),
            Self::Display(value, wire) => value.iter().all(|value| value.is_finite()) && wire.is_finite(),
            Self::Picture(read) | Self::Channel(read) => Computed::Picture(read.clone()).is_finite(),
            Self::Computed(computed) => computed.is_finite(),
        }
    }

    /// The value where pictures and the mesh have none.
    pub fn typical(&self) -> [f32; 4] {
        match self {
            Self::Constant(value) | Self::Display(value, _) => *value,
            Self::Picture(read) => scaled(read, read.fallback),
            Self::Channel(read) => [scaled(read, read.fallback)[usize::from(read.channel.min(3))]; 4],
            Self::Computed(computed) => computed.typical(),
        }
    }

    /// The number of operations and pictures that it is computed from.
    pub fn size(&self) -> usize {
        match self {
            Self::Computed(computed) => size(computed),
            Self::Display(_, wire) => wire.size(),
            _ => 1,
        }
    }

    fn of_computed(computed: Computed) -> Self {
        match computed {
            Computed::Constant(value) => Self::Constant(value),
            Computed::Picture(read) => Self::Picture(read),
            Computed::Channel(read) => Self::Channel(read),
            other => Self::Computed(other),
        }
    }

    fn into_computed(self) -> Computed {
        match self {
            Self::Constant(value) | Self::Display(value, _) => Computed::Constant(value),
            Self::Picture(read) => Computed::Picture(read),
            Self::Channel(read) => Computed::Channel(read),
            Self::Computed(computed) => computed,
        }
    }

    /// The input of a colour.
    pub fn color(self) -> Input<[f32; 3]> {
        let [r, g, b, _] = self.typical();
        let source = match self {
            Self::Constant(_) => None,
            Self::Picture(read) => Some(Source::Picture(read)),
            Self::Display(_, wire) => Some(Source::Display(Box::new(wire.color()))),
            Self::Channel(_) | Self::Computed(_) => Some(Source::Computed(Box::new(self.into_computed()))),
        };
        Input { value: [r, g, b], source }
    }

    /// The input of a single value: the first component.
    pub fn single(self) -> Input<f32> {
        let value = match &self {
            Self::Picture(read) => self.typical()[usize::from(read.channel.min(3))],
            _ => self.typical()[0],
        };
        let source = match self {
            Self::Constant(_) => None,
            Self::Picture(read) | Self::Channel(read) => Some(Source::Picture(read)),
            Self::Display(..) => Some(Source::display()),
            Self::Computed(computed) => Some(Source::Computed(Box::new(computed))),
        };
        Input { value, source }
    }
}

fn size(computed: &Computed) -> usize {
    match computed {
        Computed::Apply(_, values) => 1 + values.iter().map(size).sum::<usize>(),
        _ => 1,
    }
}

/// The result of an operation that a picture's factor and summand can express, or that does nothing. Otherwise the arguments.
fn simplified(operation: Operation, mut arguments: Vec<Wire>) -> Result<Wire, Vec<Wire>> {
    let constant = |index: usize| arguments.get(index).and_then(Wire::constant);
    let is_all = |value: Option<[f32; 4]>, number: f32| {
        value.is_some_and(|value| value[..3] == [number; 3] && (number == 0.0 || value[3] == number))
    };
    let chosen = match operation {
        Operation::Multiply if is_all(constant(0), 0.0) || is_all(constant(1), 0.0) => {
            return Ok(Wire::number(0.0));
        }
        Operation::Multiply if is_all(constant(0), 1.0) => Some(1),
        Operation::Multiply | Operation::Divide | Operation::Power if is_all(constant(1), 1.0) => Some(0),
        Operation::Mix if is_all(constant(2), 1.0) => Some(0),
        Operation::Mix if is_all(constant(2), 0.0) => Some(1),
        Operation::Greater | Operation::GreaterOrEqual | Operation::Equal => match (constant(0), constant(1)) {
            (Some(a), Some(b)) => {
                let index = [2.0; 4];
                Some(operation.of(&[a, b, index, [3.0; 4]])[0] as usize)
            }
            _ => None,
        },
        _ => None,
    };
    if let Some(index) = chosen.filter(|index| *index < arguments.len()) {
        return Ok(arguments.swap_remove(index));
    }
    let zero = [0.0; 4];
    let negative = |value: [f32; 4]| value.map(|x| -x);
    let rest = |value: [f32; 4]| value.map(|x| 1.0 - x);
    let product = |a: [f32; 4], b: [f32; 4]| zip(a, b, |a, b| a * b);
    // The argument that varies, its factor and its summand.
    let (index, factor, summand) = match (operation, constant(0), constant(1), constant(2)) {
        (Operation::Multiply, Some(a), ..) => (1, a, zero),
        (Operation::Multiply, _, Some(b), _) => (0, b, zero),
        (Operation::Divide, _, Some(b), _) => (0, b.map(|b| if b == 0.0 { 0.0 } else { 1.0 / b }), zero),
        (Operation::Add, Some(a), ..) => (1, [1.0; 4], a),
        (Operation::Add, _, Some(b), _) => (0, [1.0; 4], b),
        (Operation::Subtract, Some(a), ..) => (1, [-1.0; 4], a),
        (Operation::Subtract, _, Some(b), _) => (0, [1.0; 4], negative(b)),
        (Operation::Mix, Some(front), _, Some(share)) => (1, rest(share), product(front, share)),
        (Operation::Mix, _, Some(back), Some(share)) => (0, share, product(back, rest(share))),
        (Operation::Mix, Some(front), Some(back), None) => (2, zip(front, back, |a, b| a - b), back),
        (Operation::Contrast, _, Some(amount), Some(pivot)) => (0, amount, product(pivot, rest(amount))),
        _ => return display_product(operation, arguments),
    };
    let adds = summand[..3] != [0.0; 3];
    match &arguments[index] {
        Wire::Display(..) if adds => Err(arguments),
        Wire::Picture(_) | Wire::Channel(_) | Wire::Display(..) => {
            Ok(arguments.swap_remove(index).affine(factor, summand))
        }
        _ => Err(arguments),
    }
}

/// The product of a colour of the mesh and another value.
fn display_product(operation: Operation, mut arguments: Vec<Wire>) -> Result<Wire, Vec<Wire>> {
    let is_display = |wire: Option<&Wire>| matches!(wire, Some(Wire::Display(..)));
    let index = match operation {
        Operation::Multiply if is_display(arguments.first()) && !is_display(arguments.get(1)) => 0,
        Operation::Multiply if is_display(arguments.get(1)) && !is_display(arguments.first()) => 1,
        _ => return Err(arguments),
    };
    let (display, other) = (arguments.swap_remove(index), arguments.swap_remove(0));
    match display {
        Wire::Display(value, factor) => match factor.product(other) {
            Some(factor) => {
                let fallback = zip(value, factor.typical(), |a, b| a * b);
                Ok(Wire::Display(fallback, Box::new(factor)))
            }
            None => Ok(Wire::Constant(value)),
        },
        other => Ok(other),
    }
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

//! Shaders that compute values from values: the nodes of MaterialX's standard library, and Arnold's.

use super::{
    coordinates::Coordinates,
    network::{Feed, Node},
    textures::{Evaluator, Kind},
    wire::Wire,
};
use crate::Operation as Op;

/// Weights of luminance for the primaries of ACEScg, which MaterialX uses unless a node has others.
pub const LUMINANCE: [f32; 4] = [0.272_228_7, 0.674_081_8, 0.053_689_5, 1.0];

/// Operations of one or two values: the name of the node, the operation, and the names and defaults of the inputs.
type Plain = (&'static str, Op, &'static [(&'static str, f32)]);

const ONE: &[(&str, f32)] = &[("in", 0.0)];
const TWO: &[(&str, f32)] = &[("in1", 0.0), ("in2", 0.0)];
const BY_ONE: &[(&str, f32)] = &[("in1", 1.0), ("in2", 1.0)];
const CONDITION: &[(&str, f32)] = &[("value1", 1.0), ("value2", 0.0), ("in1", 0.0), ("in2", 0.0)];
const EQUALITY: &[(&str, f32)] = &[("value1", 0.0), ("value2", 0.0), ("in1", 0.0), ("in2", 0.0)];
const LAYERS: &[(&str, f32)] = &[("fg", 0.0), ("bg", 0.0)];

#[rustfmt::skip]
const PLAIN: &[Plain] = &[
    ("multiply", Op::Multiply, BY_ONE),
    ("add", Op::Add, TWO),
    ("subtract", Op::Subtract, TWO),
    ("divide", Op::Divide, BY_ONE),
    ("modulo", Op::Modulo, BY_ONE),
    ("power", Op::Power, BY_ONE),
    ("safepower", Op::Power, BY_ONE),
    ("min", Op::Min, TWO),
    ("max", Op::Max, TWO),
    ("atan2", Op::Atan2, &[("iny", 0.0), ("inx", 1.0)]),
    ("absval", Op::Absolute, ONE),
    ("sign", Op::Sign, ONE),
    ("floor", Op::Floor, ONE),
    ("ceil", Op::Ceil, ONE),
    ("round", Op::Round, ONE),
    ("fract", Op::Fraction, ONE),
    ("sqrt", Op::SquareRoot, ONE),
    ("exp", Op::Exponential, ONE),
    ("ln", Op::Logarithm, ONE),
    ("sin", Op::Sine, ONE),
    ("cos", Op::Cosine, ONE),
    ("tan", Op::Tangent, ONE),
    ("asin", Op::ArcSine, ONE),
    ("acos", Op::ArcCosine, ONE),
    ("mix", Op::Mix, &[("fg", 0.0), ("bg", 0.0), ("mix", 0.0)]),
    ("smoothstep", Op::SmoothStep, &[("in", 0.0), ("low", 0.0), ("high", 1.0)]),
    ("contrast", Op::Contrast, &[("in", 0.0), ("amount", 1.0), ("pivot", 0.5)]),
    ("rgbtohsv", Op::RgbToHsv, ONE),
    ("hsvtorgb", Op::HsvToRgb, ONE),
    ("dotproduct", Op::Dot, TWO),
    ("magnitude", Op::Magnitude, ONE),
    ("normalize", Op::Normalize, ONE),
    ("crossproduct", Op::Cross, TWO),
    ("ifgreater", Op::Greater, CONDITION),
    ("ifgreatereq", Op::GreaterOrEqual, CONDITION),
    ("ifequal", Op::Equal, EQUALITY),
    ("premult", Op::Premultiply, ONE),
    ("unpremult", Op::Unpremultiply, ONE),
    ("inside", Op::Multiply, &[("in", 0.0), ("mask", 1.0)]),
    ("and", Op::Min, TWO),
    ("or", Op::Max, TWO),
    ("arnold:multiply", Op::Multiply, &[("input1", 1.0), ("input2", 1.0)]),
    ("arnold:add", Op::Add, &[("input1", 0.0), ("input2", 0.0)]),
    ("arnold:mix_rgba", Op::Mix, &[("input2", 1.0), ("input1", 0.0), ("mix", 0.5)]),
];

/// Operations of layers, whose result replaces the background in part.
const BLENDS: &[(&str, Op)] = &[
    ("plus", Op::Add),
    ("difference", Op::Subtract),
    ("burn", Op::Burn),
    ("dodge", Op::Dodge),
    ("screen", Op::Screen),
    ("overlay", Op::Overlay),
    ("over", Op::Over),
];

/// A shader that cannot be computed.
pub struct Unsupported;

impl Evaluator<'_> {
    /// The result of a shader that computes values; `None` if none of its inputs has one.
    ///
    /// # Errors
    /// If there is no such shader, or if an input is a colour of the mesh, which cannot be computed with.
    pub fn computed(&mut self, node: &Node, kind: &Kind) -> Result<Option<Wire>, Unsupported> {
        let name = kind.name;
        if let Some((_, operation, inputs)) = PLAIN.iter().find(|(known, ..)| *known == name) {
            let values: Vec<_> = inputs.iter().map(|(name, default)| (self.input(node, name), *default)).collect();
            if values.iter().all(|(value, _)| value.is_none()) {
                return Ok(None);
            }
            let arguments = values.into_iter().map(|(value, default)| value.unwrap_or(Wire::number(default)));
            return Wire::apply(*operation, arguments.collect()).map(Some).ok_or(Unsupported);
        }
        if let Some((_, operation)) = BLENDS.iter().find(|(known, _)| *known == name) {
            return self.blend(node, *operation).map(Some).ok_or(Unsupported);
        }
        match name {
            "convert" | "dot" | "separate2" | "separate3" | "separate4" => return Ok(self.input(node, "in")),
            _ => {}
        }
        self.special(node, name).map(Some).ok_or(Unsupported)
    }

    /// Shaders with inputs of their own. `None` if there is no such shader, or as [`Self::computed`].
    fn special(&mut self, node: &Node, name: &str) -> Option<Wire> {
        match name {
            "minus" => self.blended(node, |front, back| Wire::apply(Op::Subtract, vec![back, front])),
            "invert" | "not" => {
                let amount = self.or(node, "amount", 1.0);
                Wire::apply(Op::Subtract, vec![amount, self.or(node, "in", 0.0)])
            }
            "xor" => {
                let [a, b] = ["in1", "in2"].map(|name| self.or(node, name, 0.0));
                Wire::apply(Op::Subtract, vec![a, b]).and_then(|wire| Wire::apply(Op::Absolute, vec![wire]))
            }
            "outside" => {
                let mask = Wire::apply(Op::Subtract, vec![Wire::number(1.0), self.or(node, "mask", 0.0)])?;
                self.or(node, "in", 0.0).product(mask)
            }
            "distance" => {
                let [a, b] = ["in1", "in2"].map(|name| self.or(node, name, 0.0));
                Wire::apply(Op::Subtract, vec![a, b]).and_then(|wire| Wire::apply(Op::Magnitude, vec![wire]))
            }
            "clamp" => self.clamped(node, "low", "high"),
            "remap" | "range" => self.range(node),
            "luminance" => {
                let weights = self.input(node, "lumacoeffs").unwrap_or(Wire::Constant(LUMINANCE));
                Wire::apply(Op::Dot, vec![self.or(node, "in", 0.0), weights])
            }
            "saturate" => {
                let weights = self.input(node, "lumacoeffs").unwrap_or(Wire::Constant(LUMINANCE));
                Wire::apply(Op::Saturate, vec![self.or(node, "in", 0.0), self.or(node, "amount", 1.0), weights])
            }
            "hsvadjust" => {
                let amount = self.input(node, "amount").unwrap_or(Wire::Constant([0.0, 1.0, 1.0, 1.0]));
                Wire::apply(Op::HsvAdjust, vec![self.or(node, "in", 0.0), amount])
            }
            "colorcorrect" => self.color_correct(node),
            "switch" => {
                let which = node.numbers("which").map_or(0.0, |which| which[0]).clamp(0.0, 9.0) as u32;
                Some(self.or(node, &format!("in{}", which + 1), 0.0))
            }
            "extract" => {
                let channel = node.numbers("index").map_or(0.0, |index| index[0]) as u8;
                Some(self.or(node, "in", 0.0).channel(channel))
            }
            "swizzle" => self.swizzle(node),
            "combine2" | "combine3" | "combine4" => self.combine(node, name),
            "ramplr" | "ramptb" | "splitlr" | "splittb" | "ramp4" | "checkerboard" => self.ramp(node, name),
            "texcoord" | "place2d" | "rotate2d" | "UsdTransform2d" => {
                let here = Some(Feed::Output(node.clone(), String::new()));
                let Coordinates { uvs, transform } = Coordinates::of(here, self.notes);
                Some(Wire::coordinates(uvs, transform))
            }
            _ => None,
        }
    }

    /// The value of an input, or a number if it has none.
    pub fn or(&mut self, node: &Node, name: &str, default: f32) -> Wire {
        self.input(node, name).unwrap_or(Wire::number(default))
    }

    fn blend(&mut self, node: &Node, operation: Op) -> Option<Wire> {
        self.blended(node, |front, back| match operation {
            Op::Subtract => {
                Wire::apply(Op::Subtract, vec![front, back]).and_then(|wire| Wire::apply(Op::Absolute, vec![wire]))
            }
            _ => Wire::apply(operation, vec![front, back]),
        })
    }

    /// `operation(fg, bg) · mix + bg · (1 - mix)`.
    fn blended(&mut self, node: &Node, operation: impl Fn(Wire, Wire) -> Option<Wire>) -> Option<Wire> {
        let [front, back] = [LAYERS[0], LAYERS[1]].map(|(name, default)| self.or(node, name, default));
        let share = self.or(node, "mix", 1.0);
        let top = operation(front, back.clone())?;
        back.mixed(top, share)
    }

    fn clamped(&mut self, node: &Node, low: &str, high: &str) -> Option<Wire> {
        let value = self.or(node, "in", 0.0);
        let raised = Wire::apply(Op::Max, vec![value, self.or(node, low, 0.0)])?;
        Wire::apply(Op::Min, vec![raised, self.or(node, high, 1.0)])
    }

    /// `(in - inlow) / (inhigh - inlow)`, to the power of one over gamma, `· (outhigh - outlow) + outlow`.
    fn range(&mut self, node: &Node) -> Option<Wire> {
        let [low, high] = [("inlow", 0.0), ("inhigh", 1.0)].map(|(name, default)| self.or(node, name, default));
        let [out_low, out_high] = [("outlow", 0.0), ("outhigh", 1.0)].map(|(name, x)| self.or(node, name, x));
        let width = Wire::apply(Op::Subtract, vec![high, low.clone()])?;
        let place = Wire::apply(Op::Subtract, vec![self.or(node, "in", 0.0), low])?;
        let place = Wire::apply(Op::Divide, vec![place, width])?;
        let exponent = Wire::apply(Op::Divide, vec![Wire::number(1.0), self.or(node, "gamma", 1.0)])?;
        let curved = Wire::apply(Op::Power, vec![place, exponent])?;
        let width = Wire::apply(Op::Subtract, vec![out_high.clone(), out_low.clone()])?;
        let result = Wire::apply(Op::Add, vec![curved.product(width)?, out_low.clone()])?;
        if node.numbers("doclamp").is_none_or(|clamps| clamps[0] == 0.0) {
            return Some(result);
        }
        Wire::apply(Op::Min, vec![Wire::apply(Op::Max, vec![result, out_low])?, out_high])
    }

    /// Hue, saturation, gamma, lift, gain, contrast and exposure, in this order.
    fn color_correct(&mut self, node: &Node) -> Option<Wire> {
        let numbers =
            [("hue", 0.0), ("saturation", 1.0), ("gamma", 1.0), ("lift", 0.0), ("gain", 1.0), ("contrast", 1.0)];
        let [hue, saturation, gamma, lift, gain, contrast] = numbers.map(|(name, x)| self.or(node, name, x));
        let [pivot, exposure] = [("contrastpivot", 0.5), ("exposure", 0.0)].map(|(name, x)| self.or(node, name, x));
        let one = || Wire::number(1.0);
        let mut color = self.or(node, "in", 1.0);
        if hue != Wire::number(0.0) {
            let turn = Wire::apply(Op::Combine, vec![hue, one(), one()])?;
            color = Wire::apply(Op::HsvAdjust, vec![color, turn])?;
        }
        if saturation != one() {
            color = Wire::apply(Op::Saturate, vec![color, saturation, Wire::Constant(LUMINANCE)])?;
        }
        color = Wire::apply(Op::Power, vec![color, Wire::apply(Op::Divide, vec![one(), gamma])?])?;
        let rest = Wire::apply(Op::Subtract, vec![one(), lift.clone()])?;
        color = Wire::apply(Op::Add, vec![color.product(rest)?, lift])?.product(gain)?;
        if contrast != one() {
            color = Wire::apply(Op::Contrast, vec![color, contrast, pivot])?;
        }
        color.product(Wire::apply(Op::Power, vec![Wire::number(2.0), exposure])?)
    }

    /// The components that `channels` names, such as `rrr` or `x`.
    fn swizzle(&mut self, node: &Node) -> Option<Wire> {
        let value = self.or(node, "in", 0.0);
        let index = |letter: char| match letter {
            'r' | 'x' => 0,
            'g' | 'y' => 1,
            'b' | 'z' => 2,
            'a' | 'w' => 3,
            '1' => 5,
            _ => 4,
        };
        let channels: Vec<u8> = node.text("channels").unwrap_or_default().chars().take(4).map(index).collect();
        match channels[..] {
            [] => Some(value),
            [channel @ 0..=3] => Some(value.channel(channel)),
            [0, 1, 2] | [0, 1, 2, 3] => Some(value),
            _ => {
                let all = std::array::from_fn(|i| channels.get(i).copied().unwrap_or(if i == 3 { 5 } else { 4 }));
                Wire::apply(Op::Swizzle(all), vec![value])
            }
        }
    }

    /// A value of its components. The channels of one picture in their order are the picture.
    fn combine(&mut self, node: &Node, name: &str) -> Option<Wire> {
        let count = match name {
            "combine2" => 2,
            "combine3" => 3,
            _ => 4,
        };
        let inputs: Vec<Wire> = (1..=count).map(|index| self.or(node, &format!("in{index}"), 0.0)).collect();
        // A node may also combine a colour and an alpha, or two pairs.
        let is_wide = |input: &Wire| matches!(input, Wire::Picture(_));
        if count == 2 && inputs.first().is_some_and(is_wide) {
            return inputs.into_iter().next();
        }
        let whole = inputs.iter().enumerate().all(|(index, input)| match (input, &inputs[0]) {
            (Wire::Channel(read), Wire::Channel(first)) => {
                usize::from(read.channel) == index && crate::Read { channel: 0, ..read.clone() } == *first
            }
            _ => false,
        });
        match inputs.first() {
            Some(Wire::Channel(read)) if whole && count > 2 => Some(Wire::Picture(read.clone())),
            _ => Wire::apply(Op::Combine, inputs),
        }
    }

    /// Values that depend on texture coordinates alone.
    fn ramp(&mut self, node: &Node, name: &str) -> Option<Wire> {
        let Coordinates { uvs, transform } = Coordinates::of(node.input("texcoord"), self.notes);
        let place = Wire::coordinates(uvs, transform);
        let clamped = |wire: Wire| {
            let raised = Wire::apply(Op::Max, vec![wire, Wire::number(0.0)])?;
            Wire::apply(Op::Min, vec![raised, Wire::number(1.0)])
        };
        let mut named = |name: &str| self.or(node, name, 0.0);
        match name {
            "ramplr" => named("valuel").mixed(named("valuer"), clamped(place.channel(0))?),
            "ramptb" => named("valueb").mixed(named("valuet"), clamped(place.channel(1))?),
            "splitlr" | "splittb" => {
                let (low, high, axis) =
                    if name == "splitlr" { ("valuel", "valuer", 0) } else { ("valueb", "valuet", 1) };
                let (low, high) = (named(low), named(high));
                Wire::apply(Op::GreaterOrEqual, vec![place.channel(axis), self.or(node, "center", 0.5), high, low])
            }
            "ramp4" => {
                let [top_left, top_right] = [named("valuetl"), named("valuetr")];
                let [bottom_left, bottom_right] = [named("valuebl"), named("valuebr")];
                let across = clamped(place.clone().channel(0))?;
                let top = top_left.mixed(top_right, across.clone())?;
                bottom_left.mixed(bottom_right, across)?.mixed(top, clamped(place.channel(1))?)
            }
            _ => self.checkerboard(node, place),
        }
    }

    fn checkerboard(&mut self, node: &Node, place: Wire) -> Option<Wire> {
        let [light, dark] = [self.or(node, "color1", 1.0), self.or(node, "color2", 0.0)];
        let [tiling, offset] = [self.or(node, "uvtiling", 8.0), self.or(node, "uvoffset", 0.0)];
        let tiles = Wire::apply(Op::Subtract, vec![place.product(tiling)?, offset])?;
        let tiles = Wire::apply(Op::Floor, vec![tiles])?;
        let sum = Wire::apply(Op::Dot, vec![tiles, Wire::Constant([1.0, 1.0, 0.0, 0.0])])?;
        dark.mixed(light, Wire::apply(Op::Modulo, vec![sum, Wire::number(2.0)])?)
    }
}

//! Textures as inputs of surfaces.

use super::contents::Pictures;
use crate::files;
use glam::{Affine2, Mat2, Vec2};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};
use throng_pbrt::{Color, Mapping, Number, Picture, Scene, TextureKind, Wrap};
use throng_usd::{Computed, Input, Operation, Read, Source, TexelSpace, WrapMode};

/// Number of operations of a network at most. Textures that refer to each other many times would multiply without end.
const MOST_OPERATIONS: usize = 2000;
/// Depth of a network at most.
const DEEPEST: usize = 24;
/// Radius of dots in unit squares, as in pbrt.
const DOT: f32 = 0.35;

/// Converts textures to inputs.
pub struct Textures<'a> {
    scene: &'a Scene,
    pub pictures: Pictures,
    /// Pictures that do not exist, in whose place there is grey.
    pub missing: BTreeSet<PathBuf>,
    /// Operations left for the input that is being converted.
    left: usize,
}

impl<'a> Textures<'a> {
    pub fn new(scene: &'a Scene) -> Self {
        Self { scene, pictures: Pictures::default(), missing: BTreeSet::new(), left: 0 }
    }

    /// A colour. What is constant has no source.
    pub fn color(&mut self, color: &Color) -> Input<[f32; 3]> {
        match self.network(color) {
            Computed::Constant([r, g, b, _]) => Input::of([r, g, b]),
            Computed::Picture(read) => Input { value: [1.0; 3], source: Some(Source::Picture(read)) },
            other => Input { value: [1.0; 3], source: Some(Source::Computed(Box::new(other))) },
        }
    }

    /// A number, which is the first channel of a texture.
    pub fn number(&mut self, number: &Number) -> Input<f32> {
        let source = match number {
            Number::Constant(value) => return Input::of(*value),
            Number::Texture(texture) => self.network(&Color::Texture(*texture)),
        };
        match source {
            Computed::Constant([value, ..]) => Input::of(value),
            Computed::Picture(read) => Input { value: 1.0, source: Some(Source::Picture(read)) },
            other => Input { value: 1.0, source: Some(Source::Computed(Box::new(other))) },
        }
    }

    /// The input with each of its numbers raised to a power.
    pub fn power(input: Input<f32>, exponent: f32) -> Input<f32> {
        let tree = match input.source {
            None => return Input::of(input.value.max(0.0).powf(exponent)),
            Some(Source::Picture(read)) => Computed::Channel(read),
            Some(Source::Computed(tree)) => *tree,
            Some(other @ Source::Display(_)) => return Input { value: input.value, source: Some(other) },
        };
        let power = Computed::Apply(Operation::Power, vec![tree, constant(exponent)]);
        Input { value: 1.0, source: Some(Source::Computed(Box::new(power))) }
    }

    /// The picture of normals in a file.
    pub fn normal(&mut self, file: &Path) -> Source {
        let picture = self.pictures.add(file);
        let usual = Read {
            picture,
            channel: 0,
            scale: [2.0, 2.0, 2.0, 1.0],
            bias: [-1.0, -1.0, -1.0, 0.0],
            fallback: [0.5, 0.5, 1.0, 1.0],
            uvs: String::new(),
            transform: Affine2::IDENTITY,
            wrap: [WrapMode::Repeat; 2],
            space: TexelSpace::Raw,
        };
        Source::Picture(usual)
    }

    /// A picture as it is, times a colour.
    pub fn tinted(&mut self, file: &Path, [r, g, b]: [f32; 3]) -> Source {
        let picture = self.pictures.add(file);
        Source::Picture(Read {
            picture,
            channel: 0,
            scale: [r, g, b, 1.0],
            bias: [0.0; 4],
            fallback: [1.0; 4],
            uvs: String::new(),
            transform: Affine2::IDENTITY,
            wrap: [WrapMode::Clamp; 2],
            space: TexelSpace::Srgb,
        })
    }

    /// The values of a colour.
    pub fn network(&mut self, color: &Color) -> Computed {
        self.left = MOST_OPERATIONS;
        self.nested(color, 0)
    }

    fn nested(&mut self, color: &Color, depth: usize) -> Computed {
        let texture = match color {
            Color::Constant([r, g, b]) => return Computed::Constant([*r, *g, *b, 1.0]),
            Color::Texture(texture) => &self.scene.textures[*texture as usize],
        };
        if depth > DEEPEST || self.left == 0 {
            return constant(0.5);
        }
        self.left -= 1;
        let mut inner = |color: &Color| self.nested(color, depth + 1);
        match &texture.kind {
            TextureKind::Constant([r, g, b]) => Computed::Constant([*r, *g, *b, 1.0]),
            TextureKind::Scale([a, b]) => apply(Operation::Multiply, [inner(a), inner(b)]),
            TextureKind::Mix { values: [a, b], amount } => {
                let (a, b) = (inner(a), inner(b));
                apply(Operation::Mix, [b, a, inner(amount)])
            }
            TextureKind::Picture(picture) if files::exists(&picture.file) => Computed::Picture(self.read(picture)),
            TextureKind::Picture(picture) => {
                self.missing.insert(picture.file.clone());
                constant(0.5)
            }
            TextureKind::Checkerboard { values: [a, b], uv } => {
                let cell = apply(Operation::Floor, [coordinates(uv)]);
                let sum = apply(Operation::Dot, [cell, Computed::Constant([1.0, 1.0, 0.0, 0.0])]);
                let odd = apply(Operation::Modulo, [sum, constant(2.0)]);
                let (a, b) = (inner(a), inner(b));
                apply(Operation::Greater, [odd, constant(0.5), b, a])
            }
            TextureKind::Bilinear { corners, uv } => {
                let [a, b, c, d] = [&corners[0], &corners[1], &corners[2], &corners[3]].map(inner);
                let axis = |axis| apply(Operation::Swizzle([axis; 4]), [coordinates(uv)]);
                let mix = |a, b, share| apply(Operation::Mix, [b, a, share]);
                mix(mix(a, c, axis(0)), mix(b, d, axis(0)), axis(1))
            }
            TextureKind::Coordinates(uv) => apply(Operation::Fraction, [coordinates(uv)]),
            TextureKind::Dots { inside, outside, uv } => {
                let place = apply(Operation::Fraction, [coordinates(uv)]);
                let middle = Computed::Constant([0.5, 0.5, 0.0, 0.0]);
                let distance = apply(Operation::Magnitude, [apply(Operation::Subtract, [place, middle])]);
                let (inside, outside) = (inner(inside), inner(outside));
                apply(Operation::Greater, [constant(DOT), distance, inside, outside])
            }
        }
    }

    fn read(&mut self, picture: &Picture) -> Read {
        let (scale, bias) = if picture.invert { (-picture.scale, 1.0) } else { (picture.scale, 0.0) };
        let wrap = match picture.wrap {
            Wrap::Repeat => WrapMode::Repeat,
            Wrap::Clamp => WrapMode::Clamp,
            Wrap::Black => WrapMode::Black,
        };
        Read {
            picture: self.pictures.add(&picture.file),
            channel: 0,
            scale: [scale, scale, scale, 1.0],
            bias: [bias, bias, bias, 0.0],
            fallback: [0.5, 0.5, 0.5, 1.0],
            uvs: String::new(),
            transform: transform(&picture.uv),
            wrap: [wrap; 2],
            space: if picture.linear { TexelSpace::Raw } else { TexelSpace::Srgb },
        }
    }
}

fn constant(value: f32) -> Computed {
    Computed::Constant([value, value, value, 1.0])
}

/// An operation, which is done at once if all of its values are constant.
pub fn apply<const N: usize>(operation: Operation, values: [Computed; N]) -> Computed {
    let constants: Vec<[f32; 4]> = values
        .iter()
        .filter_map(|value| match value {
            Computed::Constant(value) => Some(*value),
            _ => None,
        })
        .collect();
    if constants.len() == N {
        Computed::Constant(operation.of(&constants))
    } else {
        Computed::Apply(operation, values.into())
    }
}

fn coordinates(uv: &Mapping) -> Computed {
    Computed::Coordinates { uvs: String::new(), transform: transform(uv) }
}

fn transform(uv: &Mapping) -> Affine2 {
    Affine2 { matrix2: Mat2::from_diagonal(uv.scale.into()), translation: Vec2::from(uv.offset) }
}

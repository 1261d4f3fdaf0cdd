//! Values of attributes.

use glam::{Affine3, DAffine3, Quat};

/// The type of an attribute, by its name in USD.
pub type AttributeType = &'static str;

/// A value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum LayerValue {
    /// `bool`.
    Bool(bool),
    /// `int`.
    Int(i32),
    /// `float`.
    Float(f32),
    /// `double`.
    Double(f64),
    /// `token`.
    Token(String),
    /// `string`.
    Text(String),
    /// `asset`: a path relative to the layer.
    Asset(String),
    /// `int2`.
    Ints2([i32; 2]),
    /// `float2` and its roles.
    Float2([f32; 2]),
    /// `float3` and its roles.
    Float3([f32; 3]),
    /// `float4` and its roles.
    Float4([f32; 4]),
    /// `matrix4d`.
    Matrix(DAffine3),
    /// `int[]`.
    Ints(Vec<i32>),
    /// `int64[]`.
    Longs(Vec<i64>),
    /// `float[]`.
    Floats(Vec<f32>),
    /// `token[]`.
    Tokens(Vec<String>),
    /// `float2[]` and its roles.
    Float2s(Vec<[f32; 2]>),
    /// `float3[]` and its roles.
    Float3s(Vec<[f32; 3]>),
    /// `float4[]` and its roles.
    Float4s(Vec<[f32; 4]>),
    /// `quatf[]`.
    Quats(Vec<Quat>),
    /// `quath[]`, in half precision.
    HalfQuats(Vec<Quat>),
}

impl LayerValue {
    /// A token.
    pub fn token(text: impl Into<String>) -> Self {
        Self::Token(text.into())
    }

    /// A matrix in single precision, which stays as it is.
    pub fn matrix(place: &Affine3) -> Self {
        Self::Matrix(DAffine3 { matrix3: place.matrix3.as_dmat3(), translation: place.translation.as_dvec3() })
    }
}

//! Conversion of `openusd`'s values to types of throng: of all precisions, and of arrays.

use glam::{DMat4, DQuat, Quat, Vec3};
use openusd::sdf::{Value, ValueKind};

/// A type that values of a stage convert to.
pub trait FromUsd: Sized {
    /// What the type is, for warnings.
    const NAME: &'static str;

    /// Converts the value.
    ///
    /// # Errors
    /// With the kind of the value if it is another one.
    fn from_usd(value: Value) -> Result<Self, ValueKind>;

    /// Whether all numbers are finite.
    fn all_finite(&self) -> bool {
        true
    }
}

macro_rules! from_usd {
    ($type:ty, $name:literal, $($pattern:pat => $result:expr),+ $(,)?) => {
        from_usd!($type, $name, |_value| true, $($pattern => $result),+);
    };
    ($type:ty, $name:literal, |$value:ident| $finite:expr, $($pattern:pat => $result:expr),+ $(,)?) => {
        impl FromUsd for $type {
            const NAME: &'static str = $name;

            fn from_usd(value: Value) -> Result<Self, ValueKind> {
                match value {
                    $($pattern => Ok($result),)+
                    other => Err(ValueKind::from(&other)),
                }
            }

            fn all_finite(&self) -> bool {
                let $value = self;
                $finite
            }
        }
    };
}

/// Converts each element.
fn each<T, U>(values: Vec<T>, convert: impl FnMut(T) -> U) -> Vec<U> {
    values.into_iter().map(convert).collect()
}

from_usd!(bool, "a condition",
    Value::Bool(value) => value,
    Value::Int(value) => value != 0,
    Value::Uchar(value) => value != 0,
);
from_usd!(f64, "a number", |value| value.is_finite(),
    Value::Double(value) => value,
    Value::Float(value) => value.into(),
    Value::Half(value) => value.to_f64(),
    Value::Int(value) => value.into(),
    Value::Uint(value) => value.into(),
    Value::Int64(value) => value as f64,
    Value::Uint64(value) => value as f64,
    Value::TimeCode(value) => value.value(),
);
from_usd!(f32, "a number", |value| value.is_finite(),
    Value::Float(value) => value,
    Value::Half(value) => value.to_f32(),
    Value::Double(value) => value as f32,
    Value::Int(value) => value as f32,
    Value::Uint(value) => value as f32,
    Value::Int64(value) => value as f32,
    Value::Uint64(value) => value as f32,
);
from_usd!(i32, "an integer",
    Value::Int(value) => value,
    Value::Uint(value) => value.try_into().unwrap_or(i32::MAX),
    Value::Uchar(value) => value.into(),
    Value::Int64(value) => value.clamp(i32::MIN.into(), i32::MAX.into()) as i32,
);
from_usd!(String, "a token",
    Value::Token(value) => value.as_str().to_owned(),
    Value::String(value) => value,
);
from_usd!(Vec<String>, "an array of tokens",
    Value::TokenVec(values) => each(values, |value| value.as_str().to_owned()),
    Value::StringVec(values) => values,
);
from_usd!(Vec<i32>, "an array of integers",
    Value::IntVec(values) => values,
    Value::UintVec(values) => each(values, |value| i32::try_from(value).unwrap_or(i32::MAX)),
    Value::Int64Vec(values) => each(values, |value| value.clamp(i32::MIN.into(), i32::MAX.into()) as i32),
    Value::UcharVec(values) => each(values, i32::from),
);
from_usd!(Vec<i64>, "an array of integers",
    Value::Int64Vec(values) => values,
    Value::Uint64Vec(values) => each(values, |value| i64::try_from(value).unwrap_or(i64::MAX)),
    Value::IntVec(values) => each(values, i64::from),
    Value::UintVec(values) => each(values, i64::from),
);
from_usd!(Vec<f32>, "an array of numbers", |values| values.iter().all(|value| value.is_finite()),
    Value::FloatVec(values) => values,
    Value::HalfVec(values) => each(values, |value| value.to_f32()),
    Value::DoubleVec(values) => each(values, |value| value as f32),
    Value::Float(value) => vec![value],
    Value::Half(value) => vec![value.to_f32()],
    Value::Double(value) => vec![value as f32],
);
from_usd!(Vec<f64>, "an array of numbers", |values| values.iter().all(|value| value.is_finite()),
    Value::DoubleVec(values) => values,
    Value::FloatVec(values) => each(values, f64::from),
    Value::HalfVec(values) => each(values, |value| value.to_f64()),
);
from_usd!(Vec<[f64; 2]>, "an array of pairs", |values| values.iter().flatten().all(|value| value.is_finite()),
    Value::Vec2dVec(values) => each(values, |value| value.into()),
    Value::Vec2fVec(values) => each(values, |value| [value.x.into(), value.y.into()]),
    Value::Vec2hVec(values) => each(values, |value| [value.x.to_f64(), value.y.to_f64()]),
);
from_usd!([f32; 2], "a pair of numbers", |value| value.iter().all(|value| value.is_finite()),
    Value::Vec2f(value) => value.into(),
    Value::Vec2h(value) => [value.x.to_f32(), value.y.to_f32()],
    Value::Vec2d(value) => [value.x as f32, value.y as f32],
);
from_usd!([f32; 3], "a triple of numbers", |value| value.iter().all(|value| value.is_finite()),
    Value::Vec3f(value) => value.into(),
    Value::Vec3h(value) => [value.x.to_f32(), value.y.to_f32(), value.z.to_f32()],
    Value::Vec3d(value) => [value.x as f32, value.y as f32, value.z as f32],
);
from_usd!([f64; 3], "a triple of numbers", |value| value.iter().all(|value| value.is_finite()),
    Value::Vec3d(value) => value.into(),
    Value::Vec3f(value) => [value.x.into(), value.y.into(), value.z.into()],
    Value::Vec3h(value) => [value.x.to_f64(), value.y.to_f64(), value.z.to_f64()],
);
from_usd!([f32; 4], "four numbers", |value| value.iter().all(|value| value.is_finite()),
    Value::Vec4f(value) => value.into(),
    Value::Vec4h(value) => [value.x.to_f32(), value.y.to_f32(), value.z.to_f32(), value.w.to_f32()],
    Value::Vec4d(value) => [value.x as f32, value.y as f32, value.z as f32, value.w as f32],
);
from_usd!(Vec<[f32; 2]>, "an array of pairs", |values| values.iter().flatten().all(|value| value.is_finite()),
    Value::Vec2fVec(values) => each(values, Into::into),
    Value::Vec2hVec(values) => each(values, |value| [value.x.to_f32(), value.y.to_f32()]),
    Value::Vec2dVec(values) => each(values, |value| [value.x as f32, value.y as f32]),
    Value::Vec2f(value) => vec![value.into()],
    // Texture coordinates in three dimensions are used for UDIM tiles; the third is ignored as by all renderers.
    Value::Vec3fVec(values) => each(values, |value| [value.x, value.y]),
);
from_usd!(Vec<[f32; 3]>, "an array of triples", |values| values.iter().flatten().all(|value| value.is_finite()),
    Value::Vec3fVec(values) => each(values, Into::into),
    Value::Vec3hVec(values) => each(values, |value| [value.x.to_f32(), value.y.to_f32(), value.z.to_f32()]),
    Value::Vec3dVec(values) => each(values, |value| [value.x as f32, value.y as f32, value.z as f32]),
    Value::Vec3f(value) => vec![value.into()],
);
from_usd!(Vec<Vec3>, "an array of triples", |values| values.iter().all(|value| value.is_finite()),
    Value::Vec3fVec(values) => each(values, |value| Vec3::new(value.x, value.y, value.z)),
    Value::Vec3hVec(values) => each(values, |value| Vec3::new(value.x.to_f32(), value.y.to_f32(), value.z.to_f32())),
    Value::Vec3dVec(values) => each(values, |value| Vec3::new(value.x as f32, value.y as f32, value.z as f32)),
);
from_usd!(DQuat, "a quaternion", |value| value.is_finite(),
    Value::Quatd(value) => DQuat::from_xyzw(value.x, value.y, value.z, value.w),
    Value::Quatf(value) => DQuat::from_xyzw(value.x.into(), value.y.into(), value.z.into(), value.w.into()),
    Value::Quath(value) =>
        DQuat::from_xyzw(value.x.to_f64(), value.y.to_f64(), value.z.to_f64(), value.w.to_f64()),
);
from_usd!(Vec<Quat>, "an array of quaternions", |values| values.iter().all(|value| value.is_finite()),
    Value::QuatfVec(values) => each(values, |value| Quat::from_xyzw(value.x, value.y, value.z, value.w)),
    Value::QuathVec(values) => each(values, |value| {
        Quat::from_xyzw(value.x.to_f32(), value.y.to_f32(), value.z.to_f32(), value.w.to_f32())
    }),
    Value::QuatdVec(values) => each(values, |value| {
        Quat::from_xyzw(value.x as f32, value.y as f32, value.z as f32, value.w as f32)
    }),
);
// USD's rows are the columns of a matrix that acts on column vectors.
from_usd!(DMat4, "a matrix", |value| value.is_finite(),
    Value::Matrix4d(value) => DMat4::from_cols_array(&value.0),
);
from_usd!(Vec<DMat4>, "an array of matrices", |values| values.iter().all(|value| value.is_finite()),
    Value::Matrix4dVec(values) => each(values, |value| DMat4::from_cols_array(&value.0)),
);

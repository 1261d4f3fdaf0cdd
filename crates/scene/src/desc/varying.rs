//! Values that change between and within frames, with keys.

use super::{EaseDesc, Finite};
use crate::{Ease, Ends, Key, Track};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor, value},
};
use std::{fmt, marker::PhantomData};

/// `exposure: keys([(0, 0.5), (4, -1, ease: smooth)], ends: ping_pong)`: a value that changes over time. Each key has a time in seconds,
/// later than the previous key's, a value, and optionally `ease`, the interpolation from the previous key.
///
/// Keys may replace numbers, colours, points and words in `environment`, `lights`, `materials`, `air`, `camera` and `cameras`; `exposure`
/// and `white_balance` of `render`; `visible` of placements; and `distance` of `Follow`. Words, names, `true` and `false` change in steps.
/// Values between keys stay valid: a value that would leave the valid range is clamped to the range of its keys.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, PartialEq)]
pub enum Varying<T> {
    Always(T),
    Keys(Track<T>),
}

impl<T: Copy> Varying<T> {
    /// The track. A constant value has a single key.
    #[doc(hidden)]
    pub fn track(&self) -> Track<T> {
        match self {
            Self::Always(value) => {
                Track { keys: vec![Key { time: 0.0, value: *value, ease: Ease::Step }], ends: Ends::Hold }
            }
            Self::Keys(track) => track.clone(),
        }
    }
}

/// Types of values that can be [`Varying`].
pub trait Plain: Copy + for<'de> Deserialize<'de> {
    const EXPECTED: &'static str;

    fn of_number(_: f64) -> Option<Self> {
        None
    }

    fn of_bool(_: bool) -> Option<Self> {
        None
    }
}

impl Plain for Finite {
    const EXPECTED: &'static str = "a number or keys([(time, number), ..])";

    fn of_number(x: f64) -> Option<Self> {
        Some(Self(x as f32)).filter(|x| x.0.is_finite())
    }
}

impl Plain for bool {
    const EXPECTED: &'static str = "true, false or keys([(time, true), (time, false), ..])";

    fn of_bool(value: bool) -> Option<Self> {
        Some(value)
    }
}

impl<'de, T: Plain> Deserialize<'de> for Varying<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(VaryingVisitor(PhantomData))
    }
}

/// `(keys: [(0, 1, linear)], ends: hold)`, the loader's internal form of `keys(..)`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written<T> {
    keys: Vec<(f64, T, EaseDesc)>,
    ends: Ends,
}

struct VaryingVisitor<T>(PhantomData<T>);

impl<T: Plain> VaryingVisitor<T> {
    fn always<E: Error>(value: Option<T>) -> Result<Varying<T>, E> {
        value.map(Varying::Always).ok_or_else(|| E::custom(format!("expected {}", T::EXPECTED)))
    }
}

impl<'de, T: Plain> Visitor<'de> for VaryingVisitor<T> {
    type Value = Varying<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Varying<T>, E> {
        Self::always(T::of_bool(value))
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<Varying<T>, E> {
        Self::always(T::of_number(x))
    }

    fn visit_i64<E: Error>(self, x: i64) -> Result<Varying<T>, E> {
        Self::always(T::of_number(x as f64))
    }

    fn visit_u64<E: Error>(self, x: u64) -> Result<Varying<T>, E> {
        Self::always(T::of_number(x as f64))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Varying<T>, A::Error> {
        let written = Written::<T>::deserialize(value::MapAccessDeserializer::new(map))?;
        if written.keys.is_empty() {
            return Err(A::Error::custom("there are no keys"));
        }
        let keys = written.keys.into_iter().map(|(time, value, ease)| Key { time, value, ease: ease.into() });
        Ok(Varying::Keys(Track { keys: keys.collect(), ends: written.ends }))
    }
}

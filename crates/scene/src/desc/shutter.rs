//! The `shutter:` field of a camera.

use super::Finite;
use crate::Shutter;
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor, value},
};
use std::fmt;

/// `shutter: 0.5` or `shutter: (open: -0.25, close: 0.25)`: shutter time in frames, centred on the frame's time; or the opening and closing
/// times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShutterDesc(pub Shutter);

impl<'de> Deserialize<'de> for ShutterDesc {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(ShutterVisitor)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Times {
    /// Opening time in frames, relative to the frame's time.
    open: Finite,
    /// Closing time in frames, relative to the frame's time.
    close: Finite,
}

struct ShutterVisitor;

fn centred<E: Error>(length: f32) -> Result<ShutterDesc, E> {
    Shutter::centred(length).map(ShutterDesc).map_err(E::custom)
}

impl<'de> Visitor<'de> for ShutterVisitor {
    type Value = ShutterDesc;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number of frames or (open: .., close: ..)")
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<ShutterDesc, E> {
        centred(x as f32)
    }

    fn visit_i64<E: Error>(self, x: i64) -> Result<ShutterDesc, E> {
        centred(x as f32)
    }

    fn visit_u64<E: Error>(self, x: u64) -> Result<ShutterDesc, E> {
        centred(x as f32)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ShutterDesc, A::Error> {
        let times = Times::deserialize(value::MapAccessDeserializer::new(map))?;
        let shutter = Shutter::new(times.open.0, times.close.0);
        shutter.map(ShutterDesc).map_err(A::Error::custom)
    }
}

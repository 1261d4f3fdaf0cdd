//! Basic values of the scene file, such as numbers, points and colours. Each type refuses invalid input (NaN, negative light).

use super::Placement;
use crate::FrameRate;
use glam::{EulerRot, Quat, Vec3};
use serde::{
    Deserialize, Deserializer,
    de::{Error, Expected, MapAccess, SeqAccess, Visitor, value},
};
use std::{fmt, marker::PhantomData};
use throng_base::css;

/// A number, such as `3`, `-0.5` or `1e-3`. It must be finite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Finite(pub f32);

impl<'de> Deserialize<'de> for Finite {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        finite(f32::deserialize(d)?).map(Self)
    }
}

/// A number in double precision, for times: `86400.04`. It must be finite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Double(pub f64);

impl<'de> Deserialize<'de> for Double {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let x = f64::deserialize(d)?;
        // A number beyond the range of f32 cannot be used in computations.
        finite(x as f32).map(|_: f32| Self(x))
    }
}

pub(super) fn finite<E: Error>(x: f32) -> Result<f32, E> {
    if x.is_finite() { Ok(x) } else { Err(E::custom("the number must be finite")) }
}

pub(super) fn one() -> Finite {
    Finite(1.0)
}

pub(super) fn a_tenth() -> Finite {
    Finite(0.1)
}

pub(super) fn yes() -> bool {
    true
}

pub(super) fn white() -> Color {
    Color::new(1.0, 1.0, 1.0)
}

pub(super) fn forty() -> Finite {
    Finite(40.0)
}

pub(super) fn forty_five() -> Finite {
    Finite(45.0)
}

pub(super) fn slight_blend() -> Finite {
    Finite(0.15)
}

pub(super) fn sixty() -> Finite {
    Finite(60.0)
}

pub(super) fn up() -> Point {
    Point(Vec3::Y)
}

/// Frames per second: a number, such as `24`, or a fraction as text, such as `"30000/1001"`. NTSC rates are always exact: `29.97` means
/// `"30000/1001"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate(pub f64);

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(RateVisitor)
    }
}

struct RateVisitor;

impl Visitor<'_> for RateVisitor {
    type Value = Rate;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number or \"24000/1001\"")
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<Rate, E> {
        finite(x as f32).map(|_| Rate(x))
    }

    fn visit_i64<E: Error>(self, x: i64) -> Result<Rate, E> {
        Ok(Rate(x as f64))
    }

    fn visit_u64<E: Error>(self, x: u64) -> Result<Rate, E> {
        Ok(Rate(x as f64))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Rate, E> {
        let bad = || E::custom(format!("bad frame rate \"{text}\": write a number or \"24000/1001\""));
        FrameRate::parse(text).map(|rate| Rate(rate.fps())).ok_or_else(bad)
    }
}

/// Three numbers, such as `(0, 1.5, -2)`: a position, direction or offset along x, y and z. Y is up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point(pub Vec3);

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_tuple(3, PointVisitor)
    }
}

struct PointVisitor;

impl<'de> Visitor<'de> for PointVisitor {
    type Value = Point;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a point: (x, y, z)")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Point, A::Error> {
        three(seq, &self).map(Point)
    }
}

pub(super) fn triple<'de, A: SeqAccess<'de>>(seq: A) -> Result<Vec3, A::Error> {
    three(seq, &"three numbers")
}

/// Reads three numbers. Errors contain the text `expected`.
fn three<'de, A: SeqAccess<'de>>(mut seq: A, expected: &dyn Expected) -> Result<Vec3, A::Error> {
    let mut v = [0.0; 3];
    for (i, x) in v.iter_mut().enumerate() {
        *x = seq.next_element::<Finite>()?.ok_or_else(|| A::Error::invalid_length(i, expected))?.0;
    }
    match seq.next_element::<Finite>()? {
        None => Ok(v.into()),
        Some(_) => Err(A::Error::custom(format_args!("expected {expected}, not more values"))),
    }
}

/// Red, green and blue, such as `(0.8, 0.2, 0.1)`, in linear Rec.709; or `"#rrggbb"` or `"white"` in sRGB, with all names and notations of
/// CSS. Never negative. Reflectances are at most 1; radiances, intensities and irradiances have no upper limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color(pub Vec3);

impl Color {
    /// A linear colour.
    pub const fn new(r: f32, g: f32, b: f32) -> Self {
        Self(Vec3::new(r, g, b))
    }
}

impl<'de> Deserialize<'de> for Color {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(ColorVisitor)
    }
}

struct ColorVisitor;

impl<'de> Visitor<'de> for ColorVisitor {
    type Value = Color;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a colour: (r, g, b), \"#rrggbb\" or a name like \"white\"")
    }

    fn visit_str<E: Error>(self, s: &str) -> Result<Color, E> {
        let bad = || E::custom(format!("bad colour \"{s}\": write \"#rrggbb\" or a name of CSS like \"white\""));
        css::parse_opaque(s).map(Color).ok_or_else(bad)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Color, A::Error> {
        let c = triple(seq)?;
        if c.min_element() < 0.0 {
            return Err(A::Error::custom("a colour must not be negative"));
        }
        Ok(Color(c))
    }
}

/// A factor on sizes: one number, such as `2`, or one for each axis, such as `(1, 2, 1)`. Negative numbers mirror; 0 on some axes flattens
/// objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale(pub Vec3);

impl Default for Scale {
    fn default() -> Self {
        Self(Vec3::ONE)
    }
}

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let v = d.deserialize_any(ScaleVisitor)?;
        if v == Vec3::ZERO {
            return Err(D::Error::custom("a scale must not be 0 along all axes"));
        }
        Ok(Self(v))
    }
}

/// Lengths in scene units: one number for all three axes, such as `2`, or `(4, 3, 6)` along x, y and z. Above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxSize(pub Vec3);

impl<'de> Deserialize<'de> for BoxSize {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let size = d.deserialize_any(ScaleVisitor)?;
        if size.min_element() <= 0.0 {
            return Err(D::Error::custom("the size must be above 0"));
        }
        Ok(Self(size))
    }
}

struct ScaleVisitor;

impl<'de> Visitor<'de> for ScaleVisitor {
    type Value = Vec3;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number or (x, y, z)")
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<Vec3, E> {
        finite(x as f32).map(Vec3::splat)
    }

    fn visit_i64<E: Error>(self, x: i64) -> Result<Vec3, E> {
        Ok(Vec3::splat(x as f32))
    }

    fn visit_u64<E: Error>(self, x: u64) -> Result<Vec3, E> {
        Ok(Vec3::splat(x as f32))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Vec3, A::Error> {
        triple(seq)
    }
}

/// Degrees about the fixed axes x, y and z, in this order, such as `(0, 90, 0)`; or `(axis: (1, 1, 0), degrees: 30)`
/// (see [`AxisAngle`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rotation(pub Quat);

impl<'de> Deserialize<'de> for Rotation {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(RotationVisitor)
    }
}

/// `(axis: (1, 1, 0), degrees: 30)`: a rotation about an axis.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxisAngle {
    /// Axis, of any length but 0.
    pub axis: Point,
    /// Angle in degrees, counter-clockwise where the axis points to the viewer.
    pub degrees: Finite,
}

struct RotationVisitor;

impl<'de> Visitor<'de> for RotationVisitor {
    type Value = Rotation;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("(x, y, z) in degrees or (axis: (x, y, z), degrees: a)")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Rotation, A::Error> {
        let [x, y, z] = triple(seq)?.to_array().map(f32::to_radians);
        Ok(Rotation(Quat::from_euler(EulerRot::ZYX, z, y, x)))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Rotation, A::Error> {
        Rotation::of_axis(map)
    }
}

impl Rotation {
    /// Reads `(axis: .., degrees: ..)`.
    pub(super) fn of_axis<'de, A: MapAccess<'de>>(map: A) -> Result<Self, A::Error> {
        let r = AxisAngle::deserialize(value::MapAccessDeserializer::new(map))?;
        let axis = r.axis.0.try_normalize().ok_or_else(|| A::Error::custom("a rotation axis must not be zero"))?;
        Ok(Self(Quat::from_axis_angle(axis, r.degrees.0.to_radians())))
    }
}

/// The contents of a placement: the name of a mesh or group; a list of placements; or `{"oak": 3, "pine": 1}`: names of meshes and groups
/// with weights, one of which is selected at random for each copy.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug)]
pub enum Of {
    Name(String),
    List(Vec<Placement>),
    Weighted(Named<Finite>),
}

impl<'de> Deserialize<'de> for Of {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(OfVisitor)
    }
}

struct OfVisitor;

impl<'de> Visitor<'de> for OfVisitor {
    type Value = Of;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the name of a mesh or group, a [list] of placements, or {\"name\": weight, ..}")
    }

    fn visit_str<E: Error>(self, s: &str) -> Result<Of, E> {
        Ok(Of::Name(s.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Of, A::Error> {
        Vec::deserialize(value::SeqAccessDeserializer::new(seq)).map(Of::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Of, A::Error> {
        Named::deserialize(value::MapAccessDeserializer::new(map)).map(Of::Weighted)
    }
}

/// A map `{ "name": .., }` that keeps the order of the file. Repeated names are refused.
#[derive(Clone, Debug)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Named<T> {
    /// Adds an entry at the end.
    pub fn push(&mut self, name: impl Into<String>, value: T) {
        self.0.push((name.into(), value));
    }

    /// Position of the entry `name`, in file order.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|(n, _)| n == name)
    }

    /// The entry `name`.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.index(name).map(|index| &self.0[index].1)
    }

    /// The names, in file order.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().map(|(n, _)| n.as_str())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_map(NamedVisitor(PhantomData))
    }
}

struct NamedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for NamedVisitor<T> {
    type Value = Named<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("{ \"name\": value, .. }")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
        let mut entries = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if !seen.insert(name.clone()) {
                return Err(A::Error::custom(format!("the name `{name}` comes twice")));
            }
            entries.push((name, map.next_value()?));
        }
        Ok(Named(entries))
    }
}

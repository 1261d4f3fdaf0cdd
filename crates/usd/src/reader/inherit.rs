//! What prims inherit from those above them: place, visibility, purpose, bindings, colour and opacity.

use super::{
    kinds,
    materials::{Bound, Materials},
    skeleton::{SkelBound, Skeletons},
    transforms::{self, Place},
    values::{FromUsd, Values, compact},
};
use crate::{Purposes, Sampled};
use openusd::usd::Prim;
use std::rc::Rc;

/// The state that is inherited from above a prim in its group.
#[derive(Clone)]
pub struct Above {
    /// The place of the prim above in its group.
    pub place: Place,
    /// Whether it is visible.
    pub shown: Rc<Sampled<bool>>,
    /// What else changes how content looks.
    pub look: Rc<Look>,
}

/// Inherited state that changes what a prototype looks like. Instances of a prototype with equal state share a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Look {
    /// The bound material.
    pub bound: Bound,
    /// The skeleton and animation.
    pub skel: SkelBound,
    /// The purpose.
    pub purpose: Purpose,
    /// Bits of the constant `displayColor`.
    pub color: Option<[u32; 3]>,
    /// Bits of the constant `displayOpacity`.
    pub opacity: Option<u32>,
    /// Whether prims without a definition are drawn: prototypes of point instancers often are below an `over`.
    pub undefined: bool,
}

/// Purposes of UsdGeomImageable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// No particular one: always drawn.
    #[default]
    Default,
    /// Final pictures.
    Render,
    /// Light stand-ins.
    Proxy,
    /// Helpers.
    Guide,
}

impl Purpose {
    /// Whether prims with this purpose are drawn.
    pub fn is_drawn(self, purposes: &Purposes) -> bool {
        match self {
            Self::Default => true,
            Self::Render => purposes.render,
            Self::Proxy => purposes.proxy,
            Self::Guide => purposes.guide,
        }
    }
}

impl Above {
    /// The state at the root of a group.
    pub fn root(look: Look) -> Self {
        Self { place: Place::default(), shown: Rc::new(Sampled::Still(true)), look: Rc::new(look) }
    }

    /// Whether the prim is visible at some time.
    pub fn is_shown(&self) -> bool {
        *self.shown != Sampled::Still(false)
    }
}

impl Look {
    /// The inherited colour.
    pub fn color(&self) -> Option<[f32; 3]> {
        self.color.map(|bits| bits.map(f32::from_bits))
    }

    /// The inherited opacity.
    pub fn opacity(&self) -> Option<f32> {
        self.opacity.map(f32::from_bits)
    }
}

/// The state at the prim: that from above with the prim's own opinions.
pub fn enter(
    values: &Values,
    materials: &mut Materials,
    skeletons: &mut Skeletons,
    prim: &Prim,
    type_name: &str,
    above: &Above,
) -> Above {
    let mut here = above.clone();
    if kinds::is_xformable(type_name) && values.has(prim, "xformOpOrder") {
        here.place = above.place.child(&transforms::read(values, prim));
    }
    if kinds::is_imageable(type_name) && values.has(prim, "visibility") {
        here.shown = visibility(values, prim, &above.shown);
    }
    let color: Option<[f32; 3]> = constant(values, prim, "primvars:displayColor");
    let opacity: Option<f32> = constant(values, prim, "primvars:displayOpacity");
    let look = Look {
        bound: materials.bind(prim, &above.look.bound),
        skel: skeletons.bind(prim, &above.look.skel),
        purpose: purpose(values, prim, type_name).unwrap_or(above.look.purpose),
        color: color.map(|color| color.map(f32::to_bits)).or(above.look.color),
        opacity: opacity.map(f32::to_bits).or(above.look.opacity),
        undefined: above.look.undefined,
    };
    if look != *above.look {
        here.look = Rc::new(look);
    }
    here
}

/// The purpose that the prim has itself.
fn purpose(values: &Values, prim: &Prim, type_name: &str) -> Option<Purpose> {
    if !kinds::is_imageable(type_name) || !values.has(prim, "purpose") {
        return None;
    }
    match values.token(prim, "purpose")?.as_str() {
        "default" => Some(Purpose::Default),
        "render" => Some(Purpose::Render),
        "proxy" => Some(Purpose::Proxy),
        "guide" => Some(Purpose::Guide),
        other => {
            values.warn(format!("{}: purpose `{other}` is unknown; it is ignored", prim.path()));
            None
        }
    }
}

/// The value of the prim's primvar if descendants inherit it.
fn constant<T: Copy>(values: &Values, prim: &Prim, name: &str) -> Option<T>
where
    Vec<T>: FromUsd,
{
    if !values.has(prim, name) || values.metadata(prim, name, "interpolation").is_some_and(|kind| kind != "constant") {
        return None;
    }
    values.get::<Vec<T>>(prim, name)?.first().copied()
}

/// Visibility of the prim and those above it.
fn visibility(values: &Values, prim: &Prim, above: &Rc<Sampled<bool>>) -> Rc<Sampled<bool>> {
    match values.sampled::<String>(prim, "visibility") {
        Some(own) => {
            let own = own.map(|token| token != "invisible");
            if own == Sampled::Still(true) { above.clone() } else { Rc::new(both(above, &own)) }
        }
        None => above.clone(),
    }
}

/// Where both hold; steps.
pub fn both(a: &Sampled<bool>, b: &Sampled<bool>) -> Sampled<bool> {
    let mut times = Vec::new();
    for steps in [a, b] {
        if let Sampled::Moving(samples) = steps {
            times.extend(samples.iter().map(|(time, _)| *time));
        }
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    let holds = |time: f64| step(a, time) && step(b, time);
    let samples = times.into_iter().map(|time| (time, holds(time))).collect();
    steps(samples).unwrap_or(Sampled::Still(holds(0.0)))
}

/// The value of steps at a time.
pub fn step(steps: &Sampled<bool>, time: f64) -> bool {
    match steps {
        Sampled::Still(value) => *value,
        Sampled::Moving(samples) => {
            let after = samples.partition_point(|(sample, _)| *sample <= time);
            samples[after.saturating_sub(1)].1
        }
    }
}

fn steps(samples: Vec<(f64, bool)>) -> Option<Sampled<bool>> {
    compact(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prim_is_visible_where_all_above_it_are() {
        let above = Sampled::Moving(vec![(1.0, true), (10.0, false)]);
        let own = Sampled::Moving(vec![(1.0, false), (5.0, true)]);
        let merged = both(&above, &own);
        assert_eq!(merged, Sampled::Moving(vec![(1.0, false), (5.0, true), (10.0, false)]));
        assert_eq!([0.0, 4.9, 5.0, 9.9, 20.0].map(|time| step(&merged, time)), [false, false, true, true, false]);
        assert_eq!(both(&Sampled::Still(true), &Sampled::Still(false)), Sampled::Still(false));
    }
}

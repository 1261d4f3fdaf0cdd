//! Attributes in which a file keeps all of a material of throng.

use super::{
    network::{self, Feed},
    textures::Evaluator,
    wire::{self, Wire},
};
use crate::{OwnSurface, Source, reader::values::Values};
use openusd::usd::Prim;
use std::rc::Rc;

/// All attributes of a material. Numbers are finite.
pub fn read(values: &Rc<Values>, material: &Prim, evaluator: &mut Evaluator) -> OwnSurface {
    let mut own = OwnSurface::default();
    for name in values.names(material) {
        let Some(short) = name.as_str().strip_prefix(OwnSurface::PREFIX).map(str::to_owned) else { continue };
        match network::feed(values, material, name.as_str()) {
            Some(Feed::Value(_, _, value)) => match (wire::text(&value), wire::numbers(&value)) {
                (Some(text), _) => own.texts.push((short, text)),
                (None, Some(number)) if number.iter().all(|x| x.is_finite()) => own.numbers.push((short, number)),
                _ => {}
            },
            Some(output @ Feed::Output(..)) => {
                if let Some(Wire::Picture(read)) = evaluator.feed(output) {
                    own.maps.push((short, Source::Picture(read)));
                }
            }
            None => {}
        }
    }
    own
}

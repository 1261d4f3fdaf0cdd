//! throng's own surface shader, in which a file keeps all of a material.

use super::{
    network::{Feed, Node},
    textures::Evaluator,
    wire::{self, Wire},
};
use crate::{OwnSurface, Source, reader::values::Values};

/// The shader among the surfaces of a material.
pub fn find(surfaces: &[(String, Node)]) -> Option<&Node> {
    let own = |(context, node): &&(String, Node)| context == OwnSurface::CONTEXT && node.id == OwnSurface::SHADER;
    surfaces.iter().find(own).map(|(_, node)| node)
}

/// All inputs of the shader. Numbers are finite.
pub fn read(values: &Values, node: &Node, evaluator: &mut Evaluator) -> OwnSurface {
    let mut own = OwnSurface::default();
    for name in values.names(&node.prim) {
        let Some(name) = name.as_str().strip_prefix("inputs:") else { continue };
        match node.input(name) {
            Some(Feed::Value(_, _, value)) => match (wire::text(&value), wire::numbers(&value)) {
                (Some(text), _) => own.texts.push((name.to_owned(), text)),
                (None, Some(number)) if number.iter().all(|x| x.is_finite()) => {
                    own.numbers.push((name.to_owned(), number));
                }
                _ => {}
            },
            Some(Feed::Output(..)) => {
                if let Some(Wire::Picture(read)) = evaluator.input(node, name) {
                    own.maps.push((name.to_owned(), Source::Picture(read)));
                }
            }
            None => {}
        }
    }
    own
}

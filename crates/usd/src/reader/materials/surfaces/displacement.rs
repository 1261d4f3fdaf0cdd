//! Displacement shaders.

use super::{Evaluator, Node};
use crate::{Input, Operation, reader::materials::wire::Wire};

/// The height that the shader at a material's output for displacement computes. UsdPreviewSurface has it as an input, which is read with the
/// other ones. Shaders that are not supported are counted, and displace nothing.
pub fn displacement(node: &Node, evaluator: &mut Evaluator) -> Input<f32> {
    let none = Input::of(0.0);
    let definition = node.id.strip_prefix("ND_").unwrap_or(&node.id);
    if definition.starts_with("UsdPreviewSurface") {
        return none;
    }
    if definition != "displacement_float" {
        evaluator.notes.left_out(node, &format!("displacement by {}", node.id));
        return none;
    }
    let [height, scale] = [("displacement", 0.0), ("scale", 1.0)].map(|(name, or)| evaluator.or(node, name, or));
    match Wire::apply(Operation::Multiply, vec![height, scale]) {
        Some(wire) => wire.single(),
        None => {
            evaluator.notes.unknown(node);
            none
        }
    }
}

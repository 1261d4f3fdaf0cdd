//! Triangle lists from lists, strips and fans, with or without indices (glTF 2.0, 3.7.2.1).

use crate::budget::Budget;
use crate::gltf::{
    fault::{Fault, fault},
    file::accessor::Elements,
};
use gltf::json::mesh::Mode;
use rayon::prelude::*;

/// The source of a primitive's vertex indices.
pub enum Indices<'a> {
    /// Consecutive indices from 0 for this number of vertices.
    Implicit(usize),
    Accessor(Elements<'a>),
    /// A triangle list.
    Decoded(Vec<[u32; 3]>),
}

/// The triangles of a primitive, counter-clockwise, and whether a list ends with an incomplete triangle.
///
/// # Errors
/// If an index is not below `vertices`, or if the memory budget is exceeded.
pub fn read(
    indices: Indices,
    mode: Mode,
    vertices: usize,
    budget: &Budget,
    path: &str,
) -> Result<(Vec<[u32; 3]>, bool), Fault> {
    let (triangles, left_over) = match indices {
        Indices::Decoded(triangles) => (triangles, false),
        Indices::Implicit(count) => {
            budget.take_array(count, 12).map_err(|lack| fault(path, format!("the triangles {lack}")))?;
            let at = |i: usize| i as u32;
            (assemble(mode, count, at), leaves_over(mode, count))
        }
        Indices::Accessor(elements) => {
            let left_over = leaves_over(mode, elements.count);
            (from_accessor(&elements, mode, budget)?, left_over)
        }
    };
    let outside = triangles.par_iter().find_first(|t| t.iter().any(|&v| v as usize >= vertices));
    match outside {
        None => Ok((triangles, left_over)),
        Some(t) => Err(fault(
            format!("{path}/indices"),
            format!("triangle {t:?} refers to a vertex beyond the {vertices} there are"),
        )),
    }
}

fn leaves_over(mode: Mode, count: usize) -> bool {
    mode == Mode::Triangles && !count.is_multiple_of(3)
}

fn from_accessor(elements: &Elements, mode: Mode, budget: &Budget) -> Result<Vec<[u32; 3]>, Fault> {
    if let (Mode::Triangles, Some(triples)) = (mode, elements.as_triples()) {
        return triples.integers::<3>(budget);
    }
    let indices = elements.integers::<1>(budget)?.into_flattened();
    budget.take_array(indices.len(), 12).map_err(|lack| elements.fault(format!("the triangles {lack}")))?;
    Ok(assemble(mode, indices.len(), |i| indices[i]))
}

/// Assembles triangles from the indices `at(i)`, `i < count`. The degenerate triangles that stitch strips are omitted.
fn assemble(mode: Mode, count: usize, at: impl Fn(usize) -> u32) -> Vec<[u32; 3]> {
    let windows = 0..count.saturating_sub(2);
    let has_area = |t: &[u32; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
    match mode {
        Mode::TriangleStrip => {
            windows.map(|i| [at(i), at(i + 1 + i % 2), at(i + 2 - i % 2)]).filter(has_area).collect()
        }
        Mode::TriangleFan => windows.map(|i| [at(i + 1), at(i + 2), at(0)]).collect(),
        _ => (0..count / 3).map(|t| [at(3 * t), at(3 * t + 1), at(3 * t + 2)]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn implicit(mode: Mode, count: usize) -> (Vec<[u32; 3]>, bool) {
        let budget = Budget::new(Some(1000));
        read(Indices::Implicit(count), mode, count, &budget, "").unwrap_or_else(|f| panic!("{}", f.line()))
    }

    #[test]
    fn strips_and_fans_keep_their_winding() {
        let strip = [[0, 1, 2], [1, 3, 2], [2, 3, 4]];
        assert_eq!(implicit(Mode::TriangleStrip, 5).0, strip);
        let fan = [[1, 2, 0], [2, 3, 0], [3, 4, 0]];
        assert_eq!(implicit(Mode::TriangleFan, 5).0, fan);
    }

    #[test]
    fn vertices_left_over_are_told() {
        assert_eq!(implicit(Mode::Triangles, 5), (vec![[0, 1, 2]], true));
        assert!(!implicit(Mode::Triangles, 6).1);
        for mode in [Mode::Triangles, Mode::TriangleStrip, Mode::TriangleFan] {
            assert!(implicit(mode, 2).0.is_empty());
        }
    }

    #[test]
    fn stitches_of_strips_have_no_triangle() {
        let indices = [0u32, 1, 2, 2, 3, 3, 4, 5];
        let triangles = assemble(Mode::TriangleStrip, 8, |i| indices[i]);
        assert_eq!(triangles, [[0, 1, 2], [3, 5, 4]]);
    }

    #[test]
    fn a_vertex_that_is_not_there_is_refused() {
        let e = read(Indices::Decoded(vec![[0, 1, 3]]), Mode::Triangles, 3, &Budget::new(None), "/p");
        assert_eq!(e.err().map(|f| f.path).as_deref(), Some("/p/indices"));
    }
}

//! Lines, line strips and line loops as strands of points (glTF 2.0, 3.7.2.1).

use super::vertices::Vertices;
use crate::gltf::{
    fault::{Fault, fault},
    file::accessor,
};
use gltf::json::mesh::{Mode, Semantic};
use throng_base::math::LARGEST_COORDINATE;

/// Vertices of strands, one strand after the other.
#[derive(Debug, Default, PartialEq)]
struct Chains {
    vertices: Vec<u32>,
    /// Index in `vertices` of the first one of each strand.
    starts: Vec<u32>,
}

/// Whether a primitive of this mode consists of lines.
pub fn is_line(mode: Mode) -> bool {
    matches!(mode, Mode::Lines | Mode::LineLoop | Mode::LineStrip)
}

/// Reads the points of a primitive's strands, and the index of each strand's first point. Later reads from `v` are of these points. Strands
/// with a point that is not finite are left out with a warning.
///
/// # Errors
/// If an index is out of range, or if the memory budget is exceeded.
pub fn read(v: &mut Vertices, mode: Mode) -> Result<(Vec<[f32; 3]>, Vec<u32>), Fault> {
    let (document, path) = (v.document, v.path);
    let most = v.primitive.indices.map(|_| "indices");
    let indices: Vec<u32> = match v.primitive.indices {
        Some(indices) => {
            let from = format!("{path}/indices");
            accessor::elements(document, indices, &from)?.integers::<1>(document.budget)?.into_flattened()
        }
        None => (0..v.count as u32).collect(),
    };
    let memory = document.budget.take_array(indices.len(), 16);
    memory.map_err(|lack| fault(path, format!("the lines {lack}")))?;
    if let (Some(what), Some(index)) = (most, indices.iter().find(|&&index| index as usize >= v.count)) {
        let message = format!("a line refers to vertex {index}, beyond the {} there are", v.count);
        return Err(fault(format!("{path}/{what}"), message));
    }
    let positions = v.floats::<3>(&Semantic::Positions)?.unwrap_or_default();
    let is_somewhere = |&vertex: &u32| positions[vertex as usize].iter().all(|x| x.abs() <= LARGEST_COORDINATE);
    let (chains, lost) = assemble(mode, &indices).retain(is_somewhere);
    if lost > 0 {
        let message =
            format!("{lost} lines are left out: their positions are not finite and within {LARGEST_COORDINATE:e}");
        document.warnings.add(&format!("{path}/attributes/POSITION"), message);
    }
    let points = chains.vertices.iter().map(|&vertex| positions[vertex as usize]).collect();
    v.kept = Some(chains.vertices);
    Ok((points, chains.starts))
}

/// The strands of a primitive. Of a list, lines that begin where the one before ends form one strand.
fn assemble(mode: Mode, indices: &[u32]) -> Chains {
    let mut chains = Chains::default();
    match mode {
        Mode::Lines => {
            for pair in indices.chunks_exact(2) {
                if chains.vertices.last() != Some(&pair[0]) {
                    chains.starts.push(chains.vertices.len() as u32);
                    chains.vertices.push(pair[0]);
                }
                chains.vertices.push(pair[1]);
            }
        }
        _ if indices.len() > 1 => {
            chains.starts.push(0);
            chains.vertices.extend(indices);
            chains.vertices.extend(indices.first().filter(|_| mode == Mode::LineLoop));
        }
        _ => {}
    }
    chains
}

impl Chains {
    /// The strands of which all vertices are kept, and the number of others.
    fn retain(self, is_kept: impl Fn(&u32) -> bool) -> (Self, usize) {
        if self.vertices.iter().all(&is_kept) {
            return (self, 0);
        }
        let ends = self.starts.iter().skip(1).copied().chain([self.vertices.len() as u32]);
        let (mut kept, mut lost) = (Self::default(), 0);
        for (&start, end) in self.starts.iter().zip(ends) {
            let strand = &self.vertices[start as usize..end as usize];
            if strand.iter().all(&is_kept) {
                kept.starts.push(kept.vertices.len() as u32);
                kept.vertices.extend(strand);
            } else {
                lost += 1;
            }
        }
        (kept, lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_strips_and_loops_are_strands() {
        let chains = |vertices: &[u32], starts: &[u32]| Chains { vertices: vertices.into(), starts: starts.into() };
        assert_eq!(assemble(Mode::Lines, &[0, 1, 1, 2, 5, 6, 7]), chains(&[0, 1, 2, 5, 6], &[0, 3]));
        assert_eq!(assemble(Mode::LineStrip, &[3, 1, 2]), chains(&[3, 1, 2], &[0]));
        assert_eq!(assemble(Mode::LineLoop, &[3, 1, 2]), chains(&[3, 1, 2, 3], &[0]));
        assert_eq!(assemble(Mode::LineStrip, &[3]), Chains::default());
        let (kept, lost) = assemble(Mode::Lines, &[0, 1, 2, 3, 4, 5]).retain(|&vertex| vertex != 3);
        assert_eq!((kept, lost), (chains(&[0, 1, 4, 5], &[0, 2]), 1));
    }
}

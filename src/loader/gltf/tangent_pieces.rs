//! Cuts a mesh into pieces that tangents are made for side by side, with the result that the whole would have.
//!
//! MikkTSpace finds a corner's tangent from the triangles around its vertex (those that share position, normal and texture
//! coordinates). So a piece is some triangles with all that touch their vertices; the tangents of these others are made
//! too, and thrown away. A triangle without area in the texture takes over its orientation from whoever comes first: those
//! bring all that touch them along.

use crate::math::Aabb;
use glam::Vec3;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Where pieces have more than this many triangles for each one of their own, the whole is done in one go.
const MOST_OVERLAP: usize = 3;

/// Some triangles to make tangents for, by index; both lists are sorted.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece {
    /// Those whose tangents are valid.
    pub own: Vec<u32>,
    /// Those that it takes to make them.
    pub all: Vec<u32>,
}

/// Which triangles touch which vertices. Corners with the same key are at one vertex.
pub struct Vertices {
    /// Of each triangle's corners.
    keys: Vec<[u32; 3]>,
    /// Where each slot's triangles begin, and where those of the last one end. A slot is that of a key's lower bits.
    first: Vec<u32>,
    triangles: Vec<u32>,
}

impl Vertices {
    /// Keys should be spread over all numbers. Different vertices may have the same one, which costs some time only.
    pub fn new(keys: Vec<[u32; 3]>) -> Self {
        let slots = (keys.len() * 6).next_power_of_two();
        let counts = (0..=slots).into_par_iter().map(|_| AtomicU32::new(0));
        let counts: Vec<AtomicU32> = counts.collect();
        keys.par_iter().for_each(|corners| {
            for &key in corners {
                counts[key as usize & (slots - 1)].fetch_add(1, Relaxed);
            }
        });
        let mut first: Vec<u32> = counts.into_iter().map(AtomicU32::into_inner).collect();
        let mut sum = 0;
        for slot in &mut first {
            sum += std::mem::replace(slot, sum);
        }
        // Filling moves each beginning to its end, that is, to the next one's beginning.
        let mut triangles = vec![0; keys.len() * 3];
        for (corners, triangle) in keys.iter().zip(0..) {
            for &key in corners {
                let next = &mut first[key as usize & (slots - 1)];
                triangles[*next as usize] = triangle;
                *next += 1;
            }
        }
        first.rotate_right(1);
        first[0] = 0;
        Self {
            keys,
            first,
            triangles,
        }
    }

    /// Corners in the key's slot: no fewer than there are at its vertex.
    pub fn valence(&self, triangle: usize, corner: usize) -> usize {
        self.slot(self.keys[triangle][corner]).len()
    }

    fn slot(&self, key: u32) -> &[u32] {
        let slot = key as usize & (self.first.len() - 2);
        &self.triangles[self.first[slot] as usize..self.first[slot + 1] as usize]
    }

    /// The triangles that touch any of `triangles`, themselves included.
    fn around(&self, triangles: &[u32]) -> Vec<u32> {
        let corners = triangles.iter().flat_map(|&t| self.keys[t as usize]);
        let touching = sorted(corners.collect()).into_iter().flat_map(|key| {
            let touches = move |t: &&u32| self.keys[**t as usize].contains(&key);
            self.slot(key).iter().filter(touches)
        });
        sorted(touching.copied().collect())
    }
}

fn sorted(mut values: Vec<u32>) -> Vec<u32> {
    values.sort_unstable();
    values.dedup();
    values
}

/// Cuts `faces`, which are sorted, by the place of their centres into pieces of about `size`. `is_flat` tells which
/// triangles have no area in the texture, `is_face` which ones are among `faces`. `None` where pieces would do much more work than the whole.
pub fn cut(
    faces: &[u32],
    size: usize,
    vertices: &Vertices,
    is_face: impl Fn(u32) -> bool + Sync,
    centre: impl Fn(u32) -> Vec3 + Sync,
    is_flat: impl Fn(u32) -> bool + Sync,
) -> Option<Vec<Piece>> {
    if faces.len() <= size {
        return None;
    }
    let ordered = along_a_curve(faces, centre);
    let pieces = ordered
        .par_chunks(size)
        .map(|own| piece(sorted(own.to_vec()), vertices, &is_face, &is_flat))
        .collect::<Option<Vec<_>>>()?;
    let work: usize = pieces.iter().map(|p| p.all.len()).sum();
    (work <= MOST_OVERLAP * faces.len()).then_some(pieces)
}

fn piece(
    own: Vec<u32>,
    vertices: &Vertices,
    is_face: &impl Fn(u32) -> bool,
    is_flat: &impl Fn(u32) -> bool,
) -> Option<Piece> {
    let most = own.len().saturating_mul(4 * MOST_OVERLAP);
    let mut all = vertices.around(&own);
    let mut flat: Vec<u32> = all.iter().copied().filter(|&t| is_flat(t)).collect();
    while !flat.is_empty() && all.len() <= most {
        let more = vertices.around(&flat);
        let new = more.into_iter().filter(|t| all.binary_search(t).is_err());
        let new: Vec<u32> = new.collect();
        flat = new.iter().copied().filter(|&t| is_flat(t)).collect();
        all.extend(new);
        all.sort_unstable();
    }
    let fits = all.len() <= most;
    all.retain(|&t| is_face(t));
    fits.then_some(Piece { own, all })
}

/// In the order of a Morton curve, so that neighbours in the list are neighbours in space.
fn along_a_curve(faces: &[u32], centre: impl Fn(u32) -> Vec3 + Sync) -> Vec<u32> {
    let union = |a: Aabb, b: Aabb| a.union(b);
    let bounds = faces
        .par_iter()
        .map(|&face| Aabb::of_points([centre(face)]))
        .reduce(|| Aabb::EMPTY, union);
    // The same for all axes: the thickness of a sheet is no reason to tear it apart.
    let scale = 1023.0 / bounds.extent().max_element().max(f32::MIN_POSITIVE);
    let key = |&face: &u32| {
        let cell = ((centre(face) - bounds.min) * scale).as_uvec3().to_array();
        let [x, y, z] = cell.map(|c| spread(c.min(1023)));
        (u64::from(x | y << 1 | z << 2) << 32) | u64::from(face)
    };
    let mut keyed: Vec<u64> = faces.par_iter().map(key).collect();
    keyed.par_sort_unstable();
    keyed.into_iter().map(|k| k as u32).collect()
}

/// Ten bits, two apart.
fn spread(bits: u32) -> u32 {
    let bits = (bits | bits << 16) & 0x0300_00ff;
    let bits = (bits | bits << 8) & 0x0300_f00f;
    let bits = (bits | bits << 4) & 0x030c_30c3;
    (bits | bits << 2) & 0x0924_9249
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Triangle `i` of a strip has the vertices `i`, `i + 1` and `i + 2`.
    fn strip(count: u32) -> Vertices {
        Vertices::new((0..count).map(|i| [i, i + 1, i + 2]).collect())
    }

    fn cut_strip(count: u32, is_flat: impl Fn(u32) -> bool + Sync) -> Option<Vec<Piece>> {
        let faces: Vec<u32> = (0..count).collect();
        cut(
            &faces,
            10,
            &strip(count),
            |_| true,
            |t| Vec3::X * t as f32,
            is_flat,
        )
    }

    #[test]
    fn pieces_have_their_neighbours_along() {
        let pieces = cut_strip(30, |_| false).unwrap_or_default();
        assert_eq!(pieces.len(), 3);
        assert_eq!(pieces[1].own, (10..20).collect::<Vec<_>>());
        assert_eq!(pieces[1].all, (8..22).collect::<Vec<_>>());
    }

    #[test]
    fn triangles_without_area_bring_theirs_along() {
        let pieces = cut_strip(30, |t| (21..25).contains(&t)).unwrap_or_default();
        assert_eq!(pieces[1].all, (8..27).collect::<Vec<_>>());
        assert_eq!(pieces[0].all, (0..12).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_small_or_tangled_stays_whole() {
        assert_eq!(cut_strip(10, |_| false), None);
        assert_eq!(cut_strip(1000, |_| true), None);
        let one_vertex = Vertices::new(vec![[0, 1, 2]; 1000]);
        let faces: Vec<u32> = (0..1000).collect();
        assert_eq!(
            cut(&faces, 10, &one_vertex, |_| true, |_| Vec3::ZERO, |_| false),
            None
        );
    }

    #[test]
    fn valence_counts_corners() {
        let vertices = strip(5);
        assert_eq!([0, 1, 2].map(|k| vertices.valence(2, k)), [3, 3, 3]);
        assert_eq!(vertices.valence(0, 0), 1);
    }
}

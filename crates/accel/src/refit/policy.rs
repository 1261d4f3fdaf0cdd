//! The choice between refitting and rebuilding the tree of a deforming mesh.
//!
//! A refit takes a fraction of a build's time and keeps primitives grouped as they were. As they move apart, boxes overlap more and rays take longer.
//! The cost by the surface area heuristic, a by-product of the refit, determines when to rebuild; `docs/refit.md` has measurements. Hits do not
//! depend on the tree, and neither do pictures.

use crate::{Blas, BlasShape, Geometry, NodeLayout, Quality};
use std::time::{Duration, Instant};
use throng_scene::rig::RefitPolicy;

/// Growth of the cost since the last build above which trees are rebuilt under [`RefitPolicy::Auto`].
pub const REFIT_FACTOR: f32 = 1.3;

/// Whether to rebuild a tree whose cost is `ratio` times its cost after the last build.
fn rebuilds_at(policy: RefitPolicy, ratio: f32) -> bool {
    match policy {
        RefitPolicy::Auto => ratio > REFIT_FACTOR,
        RefitPolicy::Refit => false,
        RefitPolicy::Rebuild => true,
    }
}

/// The outcome of updating one tree for one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Followed {
    pub rebuilt: bool,
    /// Cost after the refit divided by the cost after the previous build; 1 if the policy is always to rebuild.
    pub cost_ratio: f32,
    pub time: Duration,
}

/// Statistics of refits, summed over trees or frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefitStats {
    pub refits: u32,
    pub rebuilds: u32,
    /// Greatest cost ratio at any decision; 0 before the first.
    pub worst_ratio: f32,
    /// Sum over trees, which may be processed in parallel.
    pub time: Duration,
}

impl RefitStats {
    pub const NONE: Self = Self { refits: 0, rebuilds: 0, worst_ratio: 0.0, time: Duration::ZERO };

    #[must_use]
    pub fn with(self, followed: &Followed) -> Self {
        Self {
            refits: self.refits + u32::from(!followed.rebuilt),
            rebuilds: self.rebuilds + u32::from(followed.rebuilt),
            worst_ratio: self.worst_ratio.max(followed.cost_ratio),
            time: self.time + followed.time,
        }
    }

    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            refits: self.refits + other.refits,
            rebuilds: self.rebuilds + other.rebuilds,
            worst_ratio: self.worst_ratio.max(other.worst_ratio),
            time: self.time + other.time,
        }
    }
}

impl Default for RefitStats {
    fn default() -> Self {
        Self::NONE
    }
}

/// Quality of trees that serve one or a few frames. It is `Fast` for GPUs: a GPU traces a frame while the next frame's trees are built, and slower
/// builds would soon delay it.
pub fn rebuild_quality(layout: NodeLayout) -> Quality {
    match layout {
        NodeLayout::Compressed8 => Quality::Fast,
        NodeLayout::Wide4 | NodeLayout::Wide8 | NodeLayout::Wide16 => Quality::Balanced,
    }
}

impl Blas {
    /// Updates the tree to moved vertices by a refit or a rebuild, according to `policy`. `geometry` must have the triangles or strands that this BLAS
    /// was built from.
    pub fn follow(&mut self, geometry: Geometry<'_>, policy: RefitPolicy) -> Followed {
        let start = Instant::now();
        let cost_ratio = match policy {
            RefitPolicy::Rebuild => 1.0,
            RefitPolicy::Auto | RefitPolicy::Refit => {
                self.refit(geometry);
                self.cost_ratio()
            }
        };
        let layout = match &self.shape {
            BlasShape::Triangles { tree, .. } | BlasShape::Curves { tree, .. } => Some(tree.layout),
            BlasShape::Compressed { .. } | BlasShape::CompressedCurves { .. } => Some(NodeLayout::Compressed8),
            _ => None,
        };
        let rebuilt = layout.filter(|_| rebuilds_at(policy, cost_ratio));
        if let Some(layout) = rebuilt {
            let fresh = Self::of_geometry(geometry, layout, rebuild_quality(layout));
            *self = if self.deforms() { fresh.deforming() } else { fresh };
        }
        Followed { rebuilt: rebuilt.is_some(), cost_ratio, time: start.elapsed() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_base::math::hash_unit;
    use throng_scene::TriangleMesh;

    const LAYOUTS: [NodeLayout; 2] = [NodeLayout::Wide8, NodeLayout::Compressed8];

    /// Small triangles in a cube; each moves in its own direction.
    fn swarm(time: f32) -> TriangleMesh {
        let corner = |i: u32| {
            let along = |axis: u32| {
                let velocity = hash_unit(10 + axis, i / 3) - 0.5;
                hash_unit(axis, i / 3) + time * velocity + 0.01 * hash_unit(20 + axis, i)
            };
            [along(0), along(1), along(2)]
        };
        TriangleMesh {
            positions: (0..9000).map(corner).collect(),
            triangles: (0..3000).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
            ..TriangleMesh::default()
        }
    }

    fn fresh(time: f32, layout: NodeLayout) -> Blas {
        Blas::of_surface((&swarm(time)).into(), layout, rebuild_quality(layout))
    }

    #[test]
    fn a_tree_is_refitted_while_its_cost_stays_near_that_of_its_build_and_then_rebuilt() {
        for layout in LAYOUTS {
            let mut blas = fresh(0.0, layout);
            let little = blas.follow((&swarm(0.001)).into(), RefitPolicy::Auto);
            assert!(!little.rebuilt && little.cost_ratio < REFIT_FACTOR);
            let much = blas.follow((&swarm(2.0)).into(), RefitPolicy::Auto);
            assert!(much.rebuilt && much.cost_ratio > REFIT_FACTOR, "{much:?}");
            let same = fresh(2.0, layout);
            assert_eq!((blas.sah_cost(), blas.cost_ratio()), (same.sah_cost(), 1.0));
            let again = blas.follow((&swarm(2.001)).into(), RefitPolicy::Auto);
            assert!(!again.rebuilt, "the cost is that of the last build");
        }
    }

    #[test]
    fn who_asks_for_refits_or_rebuilds_gets_nothing_else() {
        let mut blas = fresh(0.0, NodeLayout::Wide8);
        assert!(!blas.follow((&swarm(2.0)).into(), RefitPolicy::Refit).rebuilt);
        assert!(blas.cost_ratio() > REFIT_FACTOR);
        let rebuilt = blas.follow((&swarm(2.0)).into(), RefitPolicy::Rebuild);
        assert!(rebuilt.rebuilt && rebuilt.cost_ratio == 1.0);
        assert_eq!(blas.cost_ratio(), 1.0);
    }

    #[test]
    fn statistics_count_choices_and_keep_the_worst_ratio() {
        let followed = |rebuilt, cost_ratio| Followed { rebuilt, cost_ratio, time: Duration::from_millis(2) };
        let frame = RefitStats::NONE.with(&followed(false, 1.1)).with(&followed(true, 1.7));
        let both = frame.union(RefitStats::NONE.with(&followed(false, 1.2)));
        assert_eq!((both.refits, both.rebuilds, both.worst_ratio), (2, 1, 1.7));
        assert_eq!(both.time, Duration::from_millis(6));
    }
}

//! Rays of frames and of queries, and counts of their work.

use throng_abi::{Ray, RayWork};
use throng_base::choice::choice;

/// Number of rays of each kind in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RayCounts {
    /// Rays from the camera.
    pub primary: u64,
    /// Rays that continue from a surface or in a medium.
    pub bounce: u64,
    /// Rays to lights.
    pub shadow: u64,
}

impl RayCounts {
    /// All rays.
    pub fn total(&self) -> u64 {
        self.primary + self.bounce + self.shadow
    }
}

impl std::ops::AddAssign for RayCounts {
    fn add_assign(&mut self, other: Self) {
        self.primary += other.primary;
        self.bounce += other.bounce;
        self.shadow += other.shadow;
    }
}

/// Traversal work of ray queries, summed over their rays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts {
    pub rays: u64,
    pub tlas_nodes: u64,
    pub blas_nodes: u64,
    /// Instances entered. Analytic spheres are tested on entry.
    pub instances: u64,
    /// Leaves of BLASes: packs of up to eight or sixteen triangles, or single triangles in compressed trees.
    pub packs: u64,
    /// Triangles in these leaves.
    pub triangles: u64,
}

impl WorkCounts {
    /// Adds the counts of one ray.
    #[must_use]
    pub(crate) fn with(self, ray: &RayWork) -> Self {
        Self {
            rays: self.rays + 1,
            tlas_nodes: self.tlas_nodes + u64::from(ray.tlas_nodes),
            blas_nodes: self.blas_nodes + u64::from(ray.blas_nodes),
            instances: self.instances + u64::from(ray.instances),
            packs: self.packs + u64::from(ray.packs),
            triangles: self.triangles + u64::from(ray.triangles),
        }
    }
}

/// The rays of a frame, each kind in the order in which the device traced it. Their numbers match [`RayCounts`].
#[derive(Clone, Debug, Default)]
pub struct OwnRays {
    pub primary: Vec<Ray>,
    /// The rays of all bounces, ordered by bounce.
    pub bounce: Vec<Ray>,
    pub shadow: Vec<Ray>,
}

choice! {
    /// The result that a ray query computes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RayKind {
        /// The closest hit.
        Closest = "closest",
        /// Whether there is any hit.
        Any = "any",
    }
}

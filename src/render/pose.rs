//! The first stage: the scene at a frame's time, with its TLAS.

use crate::{
    accel::{
        Blas, InstanceGroups, NodeLayout, Quality, Tlas, TlasBuilder, TlasInput, reserve_huge_pages,
    },
    anim::{self, OrderedInstances},
    device::{Frame, FrameSettings},
    scene::{Integrator, Scene},
};
use glam::Affine3;
use rayon::prelude::*;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Paths of a frame that make care with one instance worth its time on a GPU: it takes a CPU of 16 threads about 10 ns, and saves
/// about a sixth of tracing a path, which takes 3 ns.
const PATHS_FOR_CARE: u64 = 20;

/// Poses frames of one scene. Builds each mesh's BLAS once.
pub struct Poser {
    scene: Arc<Scene>,
    layout: NodeLayout,
    blas: Arc<Vec<Arc<Blas>>>,
    /// Groups of neighbours among the instances, if these are many and posed again and again.
    grouped: Option<Arc<Grouped>>,
    world_from_object: Vec<Affine3>,
    careful: bool,
    builder: TlasBuilder,
    /// TLASes of earlier frames; those that nobody holds any more are filled again.
    recent: Vec<Arc<Tlas>>,
}

/// Instances in the order of their groups. Where neighbours in space are neighbours in memory, whatever walks them in the
/// order of a tree finds them in the caches. As much memory again as the scene's instances.
struct Grouped {
    instances: OrderedInstances,
    groups: InstanceGroups,
}

/// A frame that is ready to be traced.
pub struct Posed {
    pub frame: Frame,
    pub time: Duration,
    pub trees: TreeWork,
}

/// Work on acceleration structures for one frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeWork {
    /// BLASes whose boxes followed a deforming mesh.
    pub refits: u32,
    /// Trees built afresh: the TLAS if anything moved, and BLASes that no longer fit their mesh.
    pub rebuilds: u32,
}

impl Poser {
    pub fn new(scene: Arc<Scene>, layout: NodeLayout) -> Self {
        let blas: Vec<_> = scene
            .meshes
            .par_iter()
            .map(|mesh| Arc::new(Blas::build(mesh, layout, Quality::High)))
            .collect();
        let many = InstanceGroups::are_worth_it(scene.instances.len(), layout);
        let grouped =
            (scene.is_animated() && many).then(|| Arc::new(Grouped::new(&scene, layout, &blas)));
        Self::with_trees(scene, layout, Arc::new(blas), grouped)
    }

    /// One more poser of the same scene, with the same trees of meshes.
    pub fn sibling(&self) -> Self {
        let mut sibling = Self::with_trees(
            self.scene.clone(),
            self.layout,
            self.blas.clone(),
            self.grouped.clone(),
        );
        sibling.careful = self.careful;
        sibling
    }

    /// Builds TLASes of moving scenes in haste where a GPU traces few paths per frame: care would take longer than it saves. The
    /// picture is the same: the views that are scaled by the scene's bounds keep exact boxes.
    pub fn choose_care(&mut self, settings: &FrameSettings) {
        let pixels = u64::from(settings.width) * u64::from(settings.height);
        let paths = pixels.saturating_mul(u64::from(settings.samples));
        let many_paths = paths > PATHS_FOR_CARE * self.scene.instances.len() as u64;
        let scaled = matches!(settings.integrator, Integrator::Ao | Integrator::Depth);
        self.careful = !self.is_animated() || many_paths || scaled;
    }

    fn with_trees(
        scene: Arc<Scene>,
        layout: NodeLayout,
        blas: Arc<Vec<Arc<Blas>>>,
        grouped: Option<Arc<Grouped>>,
    ) -> Self {
        // The TLAS builder reads this in leaf order, which may be no order at all to memory.
        let mut world_from_object = Vec::new();
        reserve_huge_pages(&mut world_from_object, scene.instances.len());
        Self {
            scene,
            layout,
            blas,
            grouped,
            world_from_object,
            careful: true,
            builder: TlasBuilder::default(),
            recent: Vec::new(),
        }
    }

    /// Whether frames differ in more than the camera.
    pub fn is_animated(&self) -> bool {
        self.scene.is_animated()
    }

    /// The tree of each mesh.
    pub fn blas(&self) -> &[Arc<Blas>] {
        &self.blas
    }

    /// The scene at frame `number` (from 1). The TLAS is built afresh if something moves; if nothing does, it serves all
    /// frames, and may take longer to build.
    pub fn pose(&mut self, number: u32) -> Posed {
        match (self.scene.is_animated(), self.recent.is_empty()) {
            (true, _) => self.pose_with(number, Some(Quality::Fast)),
            (false, true) => self.pose_with(number, Some(Quality::High)),
            (false, false) => self.pose_with(number, None),
        }
    }

    /// The same, with a TLAS that is built afresh as in a moving scene: for measuring.
    pub fn repose(&mut self, number: u32) -> Frame {
        self.pose_with(number, Some(Quality::Fast)).frame
    }

    /// `rebuild`: how the TLAS is built afresh, if it is.
    fn pose_with(&mut self, number: u32, rebuild: Option<Quality>) -> Posed {
        let start = Instant::now();
        let time = number.saturating_sub(1) as f32 / self.scene.settings.fps;
        let tlas = match rebuild {
            Some(quality) => self.rebuild_tlas(time, quality),
            None => self.recent[0].clone(),
        };
        let frame = Frame {
            number,
            camera: anim::camera_at(&self.scene, time),
            tlas,
            blas: self.blas.clone(),
        };
        Posed {
            frame,
            time: start.elapsed(),
            trees: TreeWork {
                rebuilds: u32::from(rebuild.is_some()),
                ..TreeWork::default()
            },
        }
    }

    fn rebuild_tlas(&mut self, time: f32, quality: Quality) -> Arc<Tlas> {
        let (scene, transforms) = (&*self.scene, &mut self.world_from_object);
        let (instances, ids, groups) = match self.grouped.as_deref() {
            Some(Grouped { instances, groups }) => {
                anim::ordered_transforms(scene, instances, time, transforms);
                (instances.instances(), instances.ids(), Some(groups))
            }
            None => {
                anim::world_transforms(scene, time, transforms);
                (&scene.instances[..], &[][..], None)
            }
        };
        let unused = self.recent.iter().position(|t| Arc::strong_count(t) == 1);
        let reused = unused.and_then(|i| Arc::into_inner(self.recent.swap_remove(i)));
        let mut tlas = reused.unwrap_or_else(|| Tlas::new(self.layout));
        let input = TlasInput {
            instances,
            ids,
            groups,
            world_from_object: &self.world_from_object,
            blas: &self.blas,
            careful: self.careful,
        };
        self.builder.build(input, quality, &mut tlas);
        let tlas = Arc::new(tlas);
        self.recent.push(tlas.clone());
        tlas
    }
}

impl Grouped {
    /// As the instances stand at time 0.
    fn new(scene: &Scene, layout: NodeLayout, blas: &[Arc<Blas>]) -> Self {
        let mut world_from_object = Vec::new();
        anim::world_transforms(scene, 0.0, &mut world_from_object);
        let input = TlasInput {
            instances: &scene.instances,
            ids: &[],
            groups: None,
            world_from_object: &world_from_object,
            blas,
            careful: true,
        };
        let groups = TlasBuilder::default().group(input, layout);
        Self {
            instances: OrderedInstances::new(scene, groups.order().to_vec()),
            groups,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        device::fake::settings,
        math::Aabb,
        scene::{Instance, Mesh, Motion, MotionPart, NONE, Phase, Shape, TriangleMesh},
    };
    use glam::Vec3;

    /// A tetrahedron that turns, and fills no more than a corner of its box.
    fn turning() -> Arc<Scene> {
        let tetrahedron = TriangleMesh {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            triangles: vec![[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]],
            ..TriangleMesh::default()
        };
        let spin = MotionPart::Spin {
            axis: Vec3::Y,
            period: 2.0,
        };
        Arc::new(Scene {
            meshes: vec![Mesh {
                name: "tetrahedron".into(),
                shape: Shape::Triangles(tetrahedron),
                slot_count: 1,
            }],
            instances: vec![Instance {
                local: Affine3::IDENTITY,
                node: NONE,
                mesh: 0,
                slot_base: 0,
                motion: 0,
            }],
            motions: vec![Motion {
                parts: vec![spin],
                phase: Phase::Same,
            }],
            ..Scene::default()
        })
    }

    #[test]
    fn few_paths_get_cheap_boxes_except_in_views_that_the_bounds_scale() {
        let bounds = |integrator, samples| -> Aabb {
            let mut poser = Poser::new(turning(), NodeLayout::Wide8);
            poser.choose_care(&FrameSettings {
                integrator,
                samples,
                ..settings()
            });
            poser.sibling().pose(5).frame.tlas.bounds()
        };
        let exact = Poser::new(turning(), NodeLayout::Wide8).pose(5);
        let exact = exact.frame.tlas.bounds();
        assert!(bounds(Integrator::Whitted, 1).half_area() > 1.01 * exact.half_area());
        assert_eq!(bounds(Integrator::Whitted, 1000), exact);
        assert_eq!(bounds(Integrator::Ao, 1), exact);
        assert_eq!(bounds(Integrator::Depth, 1), exact);
    }
}

//! Deforming meshes and their trees, updated from frame to frame.

use crate::TreeSource;
use rayon::prelude::*;
use std::{sync::Arc, time::Instant};
use throng_accel::{Blas, Followed, Geometry, NodeLayout, RefitStats, Strands, Surface, rebuild_quality};
use throng_device::PosedMesh;
use throng_scene::anim::{self, Deformed, Moment, ShutterTime};
use throng_scene::{
    CurvePoint, Curves, Scene, Shape,
    rig::{DeformingMesh, RefitPolicy},
};

/// The deforming meshes of a scene, in the scene's order.
#[derive(Clone)]
pub struct DeformingMeshes(Vec<Body>);

/// One deforming mesh. Frames in flight hold its shape and tree, so there are several copies of both, used in turn.
#[derive(Clone)]
struct Body {
    forms: Vec<Form>,
    /// Index of the most recently posed form.
    newest: usize,
    /// Shapes over the shutter time. Replaces `forms` while the mesh deforms during the exposure.
    over_shutter: Option<Form>,
}

#[derive(Clone)]
struct Form {
    /// Shape at the frame's moment, or when the shutter opens.
    shape: Arc<Deformed>,
    later: Vec<Arc<Deformed>>,
    blas: Arc<Blas>,
}

impl DeformingMeshes {
    /// Computes the shapes at `moment` and gets their trees from `source`. Later refits change copies of these trees.
    pub fn new(scene: &Scene, layout: NodeLayout, moment: &Moment, source: &TreeSource) -> Self {
        let body = |deforming: &DeformingMesh| {
            let mut shape = Deformed::default();
            anim::shape_at(scene, deforming, moment, &mut shape);
            let blas = match posed(scene, deforming.mesh, &shape).geometry() {
                Geometry::Triangles(surface) => source.tree(surface, layout),
                Geometry::Curves(strands) => Blas::of_strands(strands, layout, rebuild_quality(layout)),
            };
            let form = Form { shape: Arc::new(shape), later: Vec::new(), blas: Arc::new(blas.deforming()) };
            Body { forms: vec![form], newest: 0, over_shutter: None }
        };
        Self(scene.deforming.par_iter().map(body).collect())
    }

    /// Stores the most recent tree of each deforming mesh in `blas`, at the index of the mesh.
    pub fn place_trees(&self, scene: &Scene, blas: &mut [Arc<Blas>]) {
        for (body, deforming) in self.0.iter().zip(&scene.deforming) {
            blas[deforming.mesh as usize] = body.newest().blas.clone();
        }
    }

    /// Updates shapes and trees to `moment`. `policy` overrides the refit policies of the meshes; none keeps them.
    pub fn follow(&mut self, scene: &Scene, moment: &Moment, policy: Option<RefitPolicy>) -> RefitStats {
        let pairs = self.0.par_iter_mut().zip(&scene.deforming);
        pairs
            .map(|(body, deforming)| {
                let policy = policy.unwrap_or(deforming.refit);
                let followed = body.follow(scene, deforming, moment, policy);
                RefitStats::NONE.with(&followed)
            })
            .reduce(|| RefitStats::NONE, RefitStats::union)
    }

    /// Computes the shapes over the shutter time (see [`anim::shape_shutter_keys`]) and builds their trees from scratch. Meshes without such
    /// shapes are updated as by [`Self::follow`].
    pub fn follow_over_shutter(
        &mut self,
        scene: &Scene,
        layout: NodeLayout,
        (moment, time): (&Moment, ShutterTime),
        policy: Option<RefitPolicy>,
    ) -> RefitStats {
        let keys = anim::shape_shutter_keys(scene, moment, time);
        let pairs = self.0.par_iter_mut().zip(&scene.deforming).zip(keys);
        pairs
            .map(|((body, deforming), keys)| {
                let followed = if keys.is_empty() {
                    let policy = policy.unwrap_or(deforming.refit);
                    body.follow(scene, deforming, moment, policy)
                } else {
                    body.follow_over_shutter(scene, deforming, layout, keys)
                };
                RefitStats::NONE.with(&followed)
            })
            .reduce(|| RefitStats::NONE, RefitStats::union)
    }

    /// The most recently posed shapes.
    pub fn shapes(&self, scene: &Scene) -> Vec<PosedMesh> {
        let pairs = self.0.iter().zip(&scene.deforming);
        pairs
            .map(|(body, deforming)| PosedMesh {
                mesh: deforming.mesh,
                shape: body.newest().shape.clone(),
                later: body.newest().later.clone(),
            })
            .collect()
    }
}

impl Body {
    fn newest(&self) -> &Form {
        self.over_shutter.as_ref().unwrap_or(&self.forms[self.newest])
    }

    /// Stores the shapes at the shutter keys, and builds a tree over them from scratch.
    fn follow_over_shutter(
        &mut self,
        scene: &Scene,
        deforming: &DeformingMesh,
        layout: NodeLayout,
        keys: Vec<Deformed>,
    ) -> Followed {
        let start = Instant::now();
        let posed: Vec<_> = keys.iter().map(|shape| posed(scene, deforming.mesh, shape)).collect();
        let shapes: Vec<_> = posed.iter().map(Posed::geometry).collect();
        let blas = Blas::of_keys(&shapes, layout).deforming();
        let mut keys = keys.into_iter().map(Arc::new);
        self.over_shutter = keys.next().map(|shape| Form { shape, later: keys.collect(), blas: Arc::new(blas) });
        Followed { rebuilt: true, cost_ratio: 1.0, time: start.elapsed() }
    }

    fn follow(&mut self, scene: &Scene, deforming: &DeformingMesh, moment: &Moment, policy: RefitPolicy) -> Followed {
        let is_free = |form: &Form| Arc::strong_count(&form.shape) == 1 && Arc::strong_count(&form.blas) == 1;
        self.over_shutter = None;
        self.newest = self.forms.iter().position(is_free).unwrap_or_else(|| {
            self.forms.push(self.forms[self.newest].clone());
            self.forms.len() - 1
        });
        let form = &mut self.forms[self.newest];
        // Copies the shape only if a frame still holds it.
        let shape = Arc::make_mut(&mut form.shape);
        anim::shape_at(scene, deforming, moment, shape);
        let posed = posed(scene, deforming.mesh, shape);
        Arc::make_mut(&mut form.blas).follow(posed.geometry(), policy)
    }
}

/// A deforming mesh in a shape.
enum Posed<'a> {
    Surface(Surface<'a>),
    /// Curves, and their points in the shape.
    Curves(&'a Curves, Vec<CurvePoint>),
}

impl Posed<'_> {
    fn geometry(&self) -> Geometry<'_> {
        match self {
            Self::Surface(surface) => Geometry::Triangles(*surface),
            Self::Curves(curves, points) => Geometry::Curves(Strands { points, curves }),
        }
    }
}

/// A deforming mesh in the given shape.
///
/// # Panics
/// If the mesh is a sphere. Spheres never deform.
fn posed<'a>(scene: &'a Scene, mesh: u32, shape: &'a Deformed) -> Posed<'a> {
    match &scene.meshes[mesh as usize].shape {
        Shape::Triangles(mesh) => Posed::Surface(Surface { positions: &shape.positions, triangles: &mesh.triangles }),
        Shape::Curves(curves) => Posed::Curves(curves, curves.posed_points(&shape.positions)),
        Shape::Sphere => unreachable!("a sphere does not deform"),
    }
}

//! The division of a scene's instances into those that stand still, whose trees are built once, and those whose tree is built in each frame.
//!
//! Instances that never move have a tree for the whole film. Instances that rest for a while have one in each stretch of the film in which many rest.

use glam::Affine3;
use std::sync::{Arc, Mutex};
use throng_accel::{Blas, InstanceGroups, NodeLayout, Quality, StillTree, Tlas, TlasBuilder, TlasInput};
use throng_base::sync::lock;
use throng_scene::Scene;
use throng_scene::anim::{self, Moment, OrderedInstances, TimeSpan};

/// Minimum number of instances that stand still for which a tree of their own pays.
const FEWEST_STILL: usize = 512;
/// Maximum share of moving instances. Beyond it, rays lose more in several trees than the builds save.
const MOST_MOVING: f32 = 0.5;
/// Number of frames of a stretch.
const STRETCH: u32 = 48;

/// The instances whose tree is built in each frame, and the trees over all others.
pub struct Divided {
    pub rebuilt: OrderedInstances,
    /// Groups of instances that are neighbours in space. They are neighbours in memory, too, which makes traversal in tree order cache-friendly. None
    /// for few instances.
    pub groups: Option<InstanceGroups>,
    /// At most two. Empty if every instance is rebuilt.
    pub still: Vec<Arc<StillTree>>,
}

/// The divisions of an animated scene without levels.
pub struct Divisions {
    whole: Arc<Divided>,
    /// None if instances never rest for a while.
    stretches: Option<Stretches>,
}

struct Stretches {
    /// Time of the first frame and duration of a frame, in seconds.
    start: f64,
    frame: f64,
    /// For each instance, whether it ever moves.
    moving: Vec<bool>,
    /// The tree over those that never move; empty if these are few.
    base: Vec<Arc<StillTree>>,
    /// The stretch that was used last, and its division; none if few instances rest in it.
    last: Mutex<Option<(i64, Option<Arc<Divided>>)>>,
}

impl Divisions {
    /// None if each frame's tree is built over all instances in the scene's order.
    pub fn new(scene: &Scene, layout: NodeLayout, blas: &[Arc<Blas>]) -> Option<Self> {
        if !scene.is_animated() || scene.has_levels() {
            return None;
        }
        let moving = anim::moving_instances(scene, None);
        let count = moving.iter().filter(|moves| **moves).count();
        let is_divided = pays(moving.len() - count, count);
        let has_stretches = count >= FEWEST_STILL && anim::has_rests(scene);
        let rebuilt = if is_divided { ids(&moving, true) } else { (0..moving.len() as u32).collect() };
        let is_grouped = InstanceGroups::are_worth_it(rebuilt.len(), layout);
        if !is_divided && !is_grouped && !has_stretches {
            return None;
        }
        let input = Input { scene, layout, blas, moment: &Moment::of(scene, scene.settings.start) };
        let has_base = is_divided || (has_stretches && moving.len() - count >= FEWEST_STILL);
        let base: Vec<_> = has_base.then(|| input.still_tree(ids(&moving, false), &[])).into_iter().collect();
        let (rebuilt, groups) = input.ordered(rebuilt);
        let whole = Arc::new(Divided { rebuilt, groups, still: if is_divided { base.clone() } else { Vec::new() } });
        let stretches = has_stretches.then(|| Stretches {
            start: scene.settings.start,
            frame: 1.0 / scene.settings.fps,
            moving,
            base,
            last: Mutex::default(),
        });
        Some(Self { whole, stretches })
    }

    /// The division for instances that may be anywhere; none if some count as standing still.
    pub fn of_placed(&self) -> Option<Arc<Divided>> {
        self.whole.still.is_empty().then(|| self.whole.clone())
    }

    /// The division for a frame that shows the times of `span`.
    pub fn at(&self, scene: &Scene, layout: NodeLayout, blas: &[Arc<Blas>], span: TimeSpan) -> Arc<Divided> {
        let own = self.stretches.as_ref().and_then(|stretches| {
            let length = stretches.frame * f64::from(STRETCH);
            let number = ((0.5 * (span[0] + span[1]) - stretches.start) / length).floor();
            let start = stretches.start + number * length;
            // The shutter may be open in neighbouring frames, too.
            let whole = [start - stretches.frame, start + length + stretches.frame];
            let is_inside = whole[0] <= span[0] && span[1] <= whole[1];
            let number = is_inside.then_some(number as i64)?;
            if let Some((last, own)) = &*lock(&stretches.last)
                && *last == number
            {
                return own.clone();
            }
            // Several posers may do this at the same time. None of them waits for another, whose threads it may be needed by.
            let moment = Moment::of(scene, start);
            let input = Input { scene, layout, blas, moment: &moment };
            let own = input.stretch(stretches, whole).map(Arc::new);
            *lock(&stretches.last) = Some((number, own.clone()));
            own
        });
        own.unwrap_or_else(|| self.whole.clone())
    }
}

/// The instances of a frame's tree if some are hidden at `moment`; none if all are shown.
pub fn shown_instances(scene: &Scene, moment: &Moment, divided: Option<&Divided>) -> Option<OrderedInstances> {
    let Some(divided) = divided else {
        return anim::shown_instances(scene, moment).map(|ids| OrderedInstances::new(scene, ids));
    };
    let hidden = anim::hidden_instances(scene, moment);
    let shown = divided.rebuilt.ids().iter().copied().filter(|id| hidden.binary_search(id).is_err());
    (!hidden.is_empty()).then(|| OrderedInstances::new(scene, shown.collect()))
}

/// Whether trees over `still` instances pay.
pub fn pays(still: usize, moving: usize) -> bool {
    still >= FEWEST_STILL && moving as f32 <= MOST_MOVING * (still + moving) as f32
}

/// The instances that move, or those that do not.
pub fn ids(moving: &[bool], moves: bool) -> Vec<u32> {
    (0..).zip(moving).filter(|(_, own)| **own == moves).map(|(id, _)| id).collect()
}

/// What trees of instances are made from.
struct Input<'a> {
    scene: &'a Scene,
    layout: NodeLayout,
    blas: &'a [Arc<Blas>],
    moment: &'a Moment,
}

impl Input<'_> {
    /// The division for a stretch of the film. None if few instances rest in it.
    fn stretch(&self, stretches: &Stretches, span: TimeSpan) -> Option<Divided> {
        let Stretches { moving: ever, base, .. } = stretches;
        let mut moving = anim::moving_instances(self.scene, Some(span));
        let rests = |id: &u32| !moving[*id as usize];
        let resting: Vec<u32> = ids(ever, true).into_iter().filter(rests).collect();
        if base.is_empty() {
            // The instances that never move, which are too few for a tree of their own, are rebuilt.
            moving.iter_mut().zip(ever).for_each(|(moves, ever)| *moves |= !ever);
        }
        let rebuilt = ids(&moving, true);
        if resting.len() < FEWEST_STILL || !pays(moving.len() - rebuilt.len(), rebuilt.len()) {
            return None;
        }
        let resting = self.still_tree(resting, base);
        let (rebuilt, groups) = self.ordered(rebuilt);
        Some(Divided { rebuilt, groups, still: base.iter().cloned().chain([resting]).collect() })
    }

    fn still_tree(&self, ids: Vec<u32>, others: &[Arc<StillTree>]) -> Arc<StillTree> {
        let mut tlas = Tlas::new(self.layout);
        let build = |input: TlasInput<'_>| TlasBuilder::default().build(input, Quality::High, &mut tlas);
        self.with(&OrderedInstances::new(self.scene, ids), build);
        Arc::new(StillTree::new(&tlas, others))
    }

    /// Instances in the order of their groups by their positions at the moment. Few instances have no groups.
    fn ordered(&self, ids: Vec<u32>) -> (OrderedInstances, Option<InstanceGroups>) {
        let instances = OrderedInstances::new(self.scene, ids);
        if !InstanceGroups::are_worth_it(instances.ids().len(), self.layout) {
            return (instances, None);
        }
        let groups = self.with(&instances, |input| TlasBuilder::default().group(input, self.layout));
        let ids = groups.order().iter().map(|&place| instances.ids()[place as usize]).collect();
        (OrderedInstances::new(self.scene, ids), Some(groups))
    }

    /// Calls `act` with the input of a careful build.
    fn with<T>(&self, instances: &OrderedInstances, act: impl FnOnce(TlasInput<'_>) -> T) -> T {
        let mut world_from_object: Vec<Affine3> = Vec::new();
        anim::ordered_transforms(self.scene, instances, self.moment, &mut world_from_object);
        act(TlasInput {
            instances: instances.instances(),
            ids: instances.ids(),
            meshes: &[],
            groups: None,
            world_from_object: &world_from_object,
            blas: self.blas,
            careful: true,
        })
    }
}

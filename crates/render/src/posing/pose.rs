//! The first stage: poses the scene at a frame's time and builds its TLAS.

use crate::{
    PoseSettings, TreeSource,
    labels::pass,
    posing::assemblies::{Assemblies, Pose},
    posing::deforming::DeformingMeshes,
    posing::divided::{Divided, Divisions, shown_instances},
    posing::left::LeftKinds,
    posing::other_poses::{Movers, other_pose_of, other_poses},
};
use glam::{Affine3, Vec3};
use std::{
    mem::replace,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};
use throng_accel::{Blas, NodeLayout, Quality, RefitStats, Tlas, TlasBuilder, TlasInput, reserve_huge_pages};
use throng_device::{Frame, OtherPose};
use throng_picture::aov::Aov;
use throng_scene::anim::{self, CameraPose, Moment, PosedTables, ShutterTime};
use throng_scene::{Integrator, Placements, Scene, Shutter, View};

/// Poses frames of one scene. The BLAS of each rigid mesh is built once.
pub struct Poser {
    scene: Arc<Scene>,
    layout: NodeLayout,
    blas: Arc<Vec<Arc<Blas>>>,
    deforming: DeformingMeshes,
    /// None if frames have no nested levels.
    assemblies: Option<Assemblies>,
    /// The kind of frames. The shutter is none if frames show a single moment.
    settings: PoseSettings,
    moment: Moment,
    /// Index of the mesh that each instance shows; empty if the scene has no palettes.
    shown: Vec<u32>,
    /// None if each frame's TLAS is built over all instances in the scene's order.
    divisions: Option<Arc<Divisions>>,
    /// The tree over the instances that move, where it is a part of a frame's TLAS.
    moving: Tlas,
    world_from_object: Vec<Affine3>,
    /// Spacing of the possible origins of a frame's positions; `None` for positions in world space.
    grid: Option<f32>,
    /// Position of the eye in world space; none to use the scene's camera.
    eye: Option<Vec3>,
    builder: TlasBuilder,
    /// The last posed frame, which serves all frames of its moment.
    last: Option<LastPose>,
    /// TLASes of earlier frames, reused once no frame holds them.
    recent: Vec<Arc<Tlas>>,
    /// TLASes of instances that have been moved since, of which only the memory is of use.
    spare: Vec<Arc<Tlas>>,
    left: Arc<LeftKinds>,
    /// The instances that other poses have, once they are needed. Posers of a scene share them.
    movers: Arc<OnceLock<Option<Movers>>>,
}

/// Whether the TLAS is built again, and at which quality.
#[derive(Clone, Copy)]
enum Rebuild {
    Always(Quality),
    /// Only if no TLAS with the frame's origin exists. The first TLAS has high quality.
    IfOther,
}

/// A pose, and the time that it shows, in seconds.
struct LastPose {
    time: f64,
    frame: Frame,
}

/// A frame that is ready to be traced.
pub struct Posed {
    pub frame: Frame,
    /// The frame at its own moment and without a lens, if it is wanted for labels.
    pub labels: Option<Frame>,
    pub time: Duration,
    pub trees: TreeWork,
}

/// Work on acceleration structures for one frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeWork {
    /// Refits and rebuilds of the BLASes of deforming meshes.
    pub followed: RefitStats,
    /// Number of TLAS builds.
    pub tlas_builds: u32,
}

impl TreeWork {
    /// Number of trees built from scratch.
    pub fn rebuilds(&self) -> u32 {
        self.followed.rebuilds + self.tlas_builds
    }

    /// Adds the work of another frame.
    pub fn add(&mut self, other: &Self) {
        self.followed = self.followed.union(other.followed);
        self.tlas_builds += other.tlas_builds;
    }
}

impl Poser {
    /// Creates a poser of frames of the default kind, see [`Self::configure`].
    pub fn new(scene: Arc<Scene>, layout: NodeLayout) -> Self {
        Self::with_trees_from(scene, layout, &TreeSource::default())
    }

    /// Creates a poser that gets the trees of meshes from `source`.
    pub fn with_trees_from(scene: Arc<Scene>, layout: NodeLayout, source: &TreeSource) -> Self {
        let moment = Moment::of(&scene, scene.settings.start);
        let (mut blas, deforming) =
            rayon::join(|| source.trees(&scene, layout), || DeformingMeshes::new(&scene, layout, &moment, source));
        deforming.place_trees(&scene, &mut blas);
        let divisions = Divisions::new(&scene, layout, &blas).map(Arc::new);
        Self::with_trees(scene, layout, (Arc::new(blas), deforming), divisions)
    }

    /// Selects the kind of the next frames.
    pub fn configure(&mut self, settings: PoseSettings) {
        let reach = || self.scene.bounds_of_assemblies().reach().max_element();
        let of_assemblies = || (!self.scene.assemblies.is_empty()).then(|| grid_of(reach(), -13));
        let of_details = || self.scene.far().details.map(|size| grid_of(size, 10));
        let grid = || of_assemblies().into_iter().chain(of_details()).reduce(f32::min);
        self.grid = settings.close_to_camera.then(grid).flatten();
        let same = |(a, b): (&Arc<Placements>, &Arc<Placements>)| Arc::ptr_eq(a, b);
        let (placed, earlier) = (settings.placed.as_ref(), self.settings.placed.as_ref());
        if placed.is_some() != earlier.is_some() || !placed.zip(earlier).is_none_or(same) {
            self.spare.append(&mut self.recent);
        }
        self.last = None;
        self.settings = PoseSettings { shutter: settings.shutter.filter(Shutter::is_open), ..settings };
    }

    /// Another poser of the scene for the same kind of frames, which shares the trees of meshes.
    pub fn sibling(&self) -> Self {
        let trees = (self.blas.clone(), self.deforming.clone());
        let sibling = Self::with_trees(self.scene.clone(), self.layout, trees, self.divisions.clone());
        let (left, movers) = (self.left.clone(), self.movers.clone());
        Self { settings: self.settings.clone(), grid: self.grid, left, movers, ..sibling }
    }

    fn with_trees(
        scene: Arc<Scene>,
        layout: NodeLayout,
        (blas, deforming): (Arc<Vec<Arc<Blas>>>, DeformingMeshes),
        divisions: Option<Arc<Divisions>>,
    ) -> Self {
        // The TLAS builder reads the transforms in leaf order, so accesses may jump across memory.
        let mut world_from_object = Vec::new();
        reserve_huge_pages(&mut world_from_object, scene.instances.len());
        let assemblies = Assemblies::new(&scene, layout);
        Self {
            scene,
            layout,
            blas,
            deforming,
            assemblies,
            settings: PoseSettings::default(),
            moment: Moment::default(),
            shown: Vec::new(),
            divisions,
            moving: Tlas::new(layout),
            world_from_object,
            grid: None,
            eye: None,
            builder: TlasBuilder::default(),
            last: None,
            recent: Vec::new(),
            spare: Vec::new(),
            left: Arc::default(),
            movers: Arc::default(),
        }
    }

    /// Whether frames differ in more than the camera.
    pub fn is_animated(&self) -> bool {
        self.scene.is_animated()
    }

    /// The tree of each mesh in the most recent pose, followed by the trees of assemblies.
    pub fn blas(&self) -> &[Arc<Blas>] {
        &self.blas
    }

    /// Poses the scene at frame `number`. The TLAS is built again if anything moves, except for frames of the same moment in succession,
    /// which share all but the camera. A static scene uses one TLAS for all frames, which is built at high quality.
    pub fn pose(&mut self, number: u32) -> Posed {
        let posed = self.pose_picture(number);
        if !self.settings.labels {
            return posed;
        }
        let start = Instant::now();
        let still = if self.shutter_time(number).is_some() { self.pose_still(number) } else { posed.frame.clone() };
        Posed { labels: Some(pass::frame(still)), time: posed.time + start.elapsed(), ..posed }
    }

    fn pose_picture(&mut self, number: u32) -> Posed {
        let start = Instant::now();
        self.move_to(number);
        let time = self.time_of(number);
        let is_same = |last: &LastPose| last.time == time && last.frame.tlas.origin == self.moment.origin();
        let posed = match self.last.take().filter(is_same) {
            Some(LastPose { frame, .. }) => {
                let (camera, others) = (self.camera(number, &self.moment), self.others(number));
                Posed {
                    frame: Frame { number, camera, others, ..frame },
                    labels: None,
                    time: start.elapsed(),
                    trees: TreeWork::default(),
                }
            }
            None => self.pose_anew(number, self.rebuild(), start),
        };
        self.last = Some(LastPose { time, frame: posed.frame.clone() });
        posed
    }

    /// The TLAS of a scene in which nothing moves serves all frames.
    fn rebuild(&self) -> Rebuild {
        if self.scene.is_animated() { Rebuild::Always(Quality::Fast) } else { Rebuild::IfOther }
    }

    /// Poses the scene at the moment of frame `number`, with the shutter ignored.
    fn pose_still(&mut self, number: u32) -> Frame {
        let start = Instant::now();
        let (shutter, shutter_keys) = (self.settings.shutter.take(), replace(&mut self.settings.shutter_keys, false));
        self.last = None;
        self.move_to(number);
        let still = self.pose_anew(number, self.rebuild(), start).frame;
        (self.settings.shutter, self.settings.shutter_keys) = (shutter, shutter_keys);
        still
    }

    /// The frame with positions relative to an origin close to `eye`, a point in world space; none to use the scene's camera. Returns none
    /// if the frame has that origin already, or if positions are in world space.
    pub fn close_to(&mut self, frame: &Frame, eye: Option<Vec3>) -> Option<Frame> {
        self.grid?;
        self.eye = eye;
        self.move_to(frame.number);
        let is_other = self.moment.origin() != frame.tlas.origin;
        let posed = is_other.then(|| self.pose(frame.number).frame);
        self.eye = None;
        posed
    }

    /// Poses the scene and builds its TLAS again even if nothing moves, for measuring build times.
    pub fn repose(&mut self, number: u32) -> Frame {
        let start = Instant::now();
        self.last = None;
        self.move_to(number);
        self.pose_anew(number, Rebuild::Always(Quality::Fast), start).frame
    }

    /// Poses a frame whose moment is set. `start` is the time at which the work on it began.
    fn pose_anew(&mut self, number: u32, rebuild: Rebuild, start: Instant) -> Posed {
        let followed = self.follow(number);
        let (kept, quality) = match rebuild {
            Rebuild::Always(quality) => (None, quality),
            Rebuild::IfOther => {
                let same = self.recent.iter().find(|tlas| tlas.origin == self.moment.origin());
                let is_first = self.recent.is_empty() && self.spare.is_empty();
                (same.cloned(), if is_first { Quality::High } else { Quality::Fast })
            }
        };
        let rebuilt = kept.is_none();
        let tlas = kept.unwrap_or_else(|| self.rebuild_tlas(quality, number));
        let frame = Frame {
            scene: self.scene.clone(),
            number,
            camera: self.camera(number, &self.moment),
            tlas,
            blas: self.blas.clone(),
            shapes: self.deforming.shapes(&self.scene),
            tables: self.tables().map(Arc::new),
            camera_keys: self
                .shutter_time(number)
                .filter(|_| self.settings.views.is_none())
                .map_or(Vec::new(), |time| anim::camera_shutter_keys(&self.scene, time)),
            others: self.others(number),
        };
        Posed { frame, labels: None, time: start.elapsed(), trees: TreeWork { followed, tlas_builds: rebuilt.into() } }
    }

    /// Sets the moment and the origin of positions for a frame.
    fn move_to(&mut self, number: u32) {
        let time = self.time_of(number);
        let mut moment = std::mem::take(&mut self.moment).relative_to(Vec3::ZERO);
        // Since the last pose, the kind of frames has not changed.
        if self.last.is_none() || moment.time() != time {
            moment.move_to(&self.scene, time);
            moment.place(self.settings.placed.clone());
        }
        let eye = || self.eye.unwrap_or_else(|| self.camera(number, &moment).eye);
        let origin = self.grid.map_or(Vec3::ZERO, |grid| place_close_to(eye(), grid));
        self.moment = moment.relative_to(origin);
    }

    fn tables(&self) -> Option<PosedTables> {
        if self.settings.integrator == Integrator::Clay {
            Some(anim::clay_tables(&self.scene, &self.moment))
        } else {
            anim::posed_tables(&self.scene, &self.moment)
        }
    }

    /// Updates deforming meshes and their BLASes to the moment, or to the shutter time if the shutter is open.
    fn follow(&mut self, number: u32) -> RefitStats {
        if self.scene.deforming.is_empty() {
            return RefitStats::NONE;
        }
        let (scene, moment, policy) = (&self.scene, &self.moment, self.settings.refit);
        let followed = match self.shutter_time(number) {
            Some(time) => self.deforming.follow_over_shutter(scene, self.layout, (moment, time), policy),
            None => self.deforming.follow(scene, moment, policy),
        };
        let mut blas = self.blas.to_vec();
        self.deforming.place_trees(&self.scene, &mut blas);
        self.blas = Arc::new(blas);
        followed
    }

    /// Time during which the shutter is open in a frame; none if the frame shows a single moment.
    fn shutter_time(&self, number: u32) -> Option<ShutterTime> {
        let PoseSettings { shutter, shutter_keys, .. } = self.settings;
        let is_own = shutter_keys && shutter == self.scene.settings.shutter.filter(Shutter::is_open);
        let timeline = self.scene.timeline.as_ref().filter(|_| is_own);
        let time = self.time_of(number);
        let keyed = timeline.and_then(|timeline| timeline.shutter(time));
        let shutter = keyed.or(shutter).filter(Shutter::is_open)?;
        Some(ShutterTime::new(&self.scene, shutter, time, self.moment.origin()))
    }

    fn view(&self, number: u32) -> Option<&View> {
        self.settings.views.as_ref().map(|views| views.of_frame(&self.scene.settings, number))
    }

    /// The time that a frame shows, in seconds.
    fn time_of(&self, number: u32) -> f64 {
        self.view(number).map_or_else(|| self.scene.time_of(number), |view| view.time)
    }

    /// The camera of a frame at its moment.
    fn camera(&self, number: u32, moment: &Moment) -> CameraPose {
        match self.view(number) {
            Some(view) => anim::view_pose(&self.scene, view, moment),
            None => anim::camera_at(&self.scene, moment),
        }
    }

    /// The poses of neighbouring frames, if motion vectors are requested.
    fn others(&self, number: u32) -> Option<Arc<[OtherPose; 3]>> {
        self.settings.aovs.contains(Aov::Motion).then(|| Arc::new(self.other_poses(number)))
    }

    /// The scene one frame earlier, one frame later and in frame `number`, for motion vectors.
    fn other_poses(&self, number: u32) -> [OtherPose; 3] {
        let (scene, moment) = (&self.scene, &self.moment);
        let moves = self.shutter_time(number).is_some();
        // Any instance may be placed anew.
        let fixed = self.settings.placed.is_none() && scene.is_animated();
        let movers = if fixed { Movers::shared(scene, &self.movers) } else { None };
        if self.settings.views.is_none() {
            return other_poses(scene, moment, moves, movers);
        }
        let seen = [number.saturating_sub(1), number.saturating_add(1), number].map(|number| {
            let then = Moment::of(scene, self.time_of(number)).showing(moment).relative_to(moment.origin());
            OtherPose { camera: self.camera(number, &then), ..other_pose_of(scene, &then, movers) }
        });
        if moves || scene.has_levels() {
            return seen;
        }
        let [before, after, now] = seen;
        [before, after, OtherPose::of_camera(now.camera)]
    }

    fn rebuild_tlas(&mut self, quality: Quality, number: u32) -> Arc<Tlas> {
        if self.assemblies.is_some() {
            return self.rebuild_nested(quality, number);
        }
        let time = self.shutter_time(number);
        let mut tlas = self.unused_tlas();
        let (scene, moment) = (&*self.scene, &self.moment);
        let span = time.map_or([moment.time(); 2], |time| [time.at(0.0), time.at(1.0)]);
        let division = self.divisions.as_ref().and_then(|divisions| match self.settings.placed {
            Some(_) => divisions.of_placed(),
            None => Some(divisions.at(scene, self.layout, &self.blas, span)),
        });
        let divided = division.as_deref();
        let still = divided.map_or(&[][..], |divided| &divided.still);
        let transforms = &mut self.world_from_object;
        let shown = shown_instances(scene, moment, divided);
        let (instances, ids, groups) = match (&shown, divided) {
            (Some(shown), _) => {
                anim::ordered_transforms(scene, shown, moment, transforms);
                (shown.instances(), shown.ids(), None)
            }
            (None, Some(Divided { rebuilt, groups, .. })) => {
                anim::ordered_transforms(scene, rebuilt, moment, transforms);
                (rebuilt.instances(), rebuilt.ids(), groups.as_ref())
            }
            (None, None) => {
                anim::world_transforms(scene, moment, transforms);
                (&scene.instances[..], &[][..], None)
            }
        };
        if !scene.palettes.is_empty() {
            anim::shown_meshes(scene, instances, ids, moment, &mut self.shown);
        }
        let is_left = self.settings.leaves(scene, instances.len());
        let built = if still.is_empty() || is_left { &mut tlas } else { &mut self.moving };
        match time {
            Some(time) => anim::instance_shutter_keys(scene, instances, ids, time, &mut built.shutter),
            None => built.shutter.clear(),
        }
        let input = TlasInput {
            instances,
            ids,
            meshes: &self.shown,
            groups,
            world_from_object: &self.world_from_object,
            blas: &self.blas,
            careful: self.settings.careful(scene),
        };
        if is_left {
            let changes = shown.is_some() || !self.shown.is_empty();
            let kinds = self.left.of(input, division.clone(), changes);
            tlas.leave(still, kinds, &mut self.world_from_object);
            return self.keep(tlas);
        }
        self.builder.build(input, quality, built);
        if !still.is_empty() {
            tlas.join(still, &mut self.moving);
        }
        self.keep(tlas)
    }

    /// Builds the trees of assemblies that move, and a TLAS that refers to all assemblies.
    fn rebuild_nested(&mut self, quality: Quality, number: u32) -> Arc<Tlas> {
        let shutter = self.shutter_time(number);
        let scene = self.scene.clone();
        anim::world_transforms(&scene, &self.moment, &mut self.world_from_object);
        if !scene.palettes.is_empty() {
            anim::shown_meshes(&scene, &scene.instances, &[], &self.moment, &mut self.shown);
        }
        let mut tlas = self.unused_tlas();
        tlas.origin = self.moment.origin();
        if let Some(assemblies) = &mut self.assemblies {
            let pose = Pose {
                scene: &scene,
                moment: &self.moment,
                shutter,
                world_from_object: &self.world_from_object,
                shown: &self.shown,
                careful: self.settings.careful(&scene),
                is_placed: self.settings.placed.is_some(),
            };
            let mut blas = self.blas.to_vec();
            assemblies.build(pose, &mut self.builder, &mut blas);
            assemblies.build_world(pose, quality, &mut self.builder, &blas, &mut tlas);
            self.blas = Arc::new(blas);
        }
        self.keep(tlas)
    }

    /// A TLAS to fill: one of an earlier frame that no frame holds any more, or a new one.
    fn unused_tlas(&mut self) -> Tlas {
        for tlases in [&mut self.spare, &mut self.recent] {
            let unused = tlases.iter().position(|t| Arc::strong_count(t) == 1);
            if let Some(reused) = unused.and_then(|i| Arc::into_inner(tlases.swap_remove(i))) {
                return reused;
            }
        }
        Tlas::new(self.layout)
    }

    fn keep(&mut self, tlas: Tlas) -> Arc<Tlas> {
        let tlas = Arc::new(tlas);
        self.recent.push(tlas.clone());
        tlas
    }
}

/// Spacing of the possible origins: `size`, rounded down to a power of two, times 2^`exponent`. A power of two keeps all digits of the
/// instances' positions. The spacing is about a ten-thousandth of the extent of assemblies, or a thousand times the size of details. A
/// slowly moving camera therefore seldom needs a new TLAS.
fn grid_of(size: f32, exponent: i32) -> f32 {
    let size = if size.is_finite() { size.max(1e-18) } else { 1.0 };
    (size.log2().floor() + exponent as f32).exp2()
}

fn place_close_to(eye: Vec3, grid: f32) -> Vec3 {
    let place = (eye / grid).round() * grid;
    if place.is_finite() { place } else { Vec3::ZERO }
}

#[cfg(test)]
mod tests;

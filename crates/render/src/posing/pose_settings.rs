//! The kind of frames that a poser poses.

use std::sync::Arc;
use throng_device::FrameSettings;
use throng_picture::aov::AovSet;
use throng_scene::{Integrator, Placements, Scene, Shutter, Views, rig::RefitPolicy};

/// Paths per instance above which a GPU frame gets a careful TLAS build. A careful build costs about 10 ns per instance on a CPU with 16
/// threads, and saves about a sixth of the 3 ns that tracing a path takes.
const PATHS_FOR_CARE: u64 = 20;

/// Paths per instance above which a device that could build TLASes gets those of the CPU: rays are up to 3 % faster in them, and a frame takes so long
/// that the CPU has the time.
const PATHS_FOR_BEST: u64 = 100;
/// Minimum number of instances of a TLAS that is left to a device. Launching a build takes as long as building a smaller one here.
const FEWEST_LEFT: usize = 1 << 14;

/// The kind of frames that a [`Poser`](crate::Poser) poses. The default is frames for separate ray queries: single moments in world space,
/// with the scene's own materials.
#[derive(Clone, Debug)]
pub struct PoseSettings {
    /// Views that replace the scene's cameras, and the times of its frames.
    pub views: Option<Arc<Views>>,
    /// Transforms of instances that replace the scene's.
    pub placed: Option<Arc<Placements>>,
    /// Refit policy for all deforming meshes; none to use the policy of each mesh.
    pub refit: Option<RefitPolicy>,
    /// Shutter of frames. None, or a shutter that opens for no time, poses frames at a single moment.
    pub shutter: Option<Shutter>,
    /// Whether the keys of the scene's own shutter apply, if `shutter` equals it.
    pub shutter_keys: bool,
    /// AOVs for which frames have the data. [`Aov::Motion`](throng_picture::aov::Aov::Motion) needs the poses of neighbouring frames.
    pub aovs: AovSet,
    /// [`Integrator::Clay`] replaces the materials.
    pub integrator: Integrator,
    /// Whether positions are relative to an origin close to the camera. This applies to scenes with assemblies and to scenes far from the
    /// world's origin, and keeps details precise that are tiny relative to their distance. Otherwise positions are in world space, as
    /// separate ray queries need them.
    pub close_to_camera: bool,
    /// Number of paths of a frame on a device that is fast enough for the cost of TLAS builds to matter; none for careful builds. Animated
    /// scenes get fast builds if the paths are few, as a careful build would cost more time than it saves. Pictures do not change:
    /// integrators that scale with the scene's bounds keep exact boxes.
    pub paths: Option<u64>,
    /// Whether frames are also posed for labels.
    pub labels: bool,
    /// Whether TLASes over many moving instances are left to the device, see [`Device::builds_tlases`](throng_device::Device::builds_tlases). Their records
    /// are not available on the host.
    pub leaves_tlases: bool,
}

impl Default for PoseSettings {
    fn default() -> Self {
        Self {
            views: None,
            placed: None,
            refit: None,
            shutter: None,
            shutter_keys: false,
            aovs: AovSet::default(),
            integrator: Integrator::Path,
            close_to_camera: false,
            paths: None,
            labels: false,
            leaves_tlases: false,
        }
    }
}

impl PoseSettings {
    /// Frames that are rendered with `settings`, with careful TLAS builds.
    pub fn of(settings: &FrameSettings) -> Self {
        let &FrameSettings { shutter, aovs, integrator, .. } = settings;
        Self { shutter, shutter_keys: true, aovs, integrator, close_to_camera: true, ..Self::default() }
    }

    /// Like [`Self::of`], for a device that traces paths fast.
    pub fn of_fast(settings: &FrameSettings) -> Self {
        let paths = (settings.film_pixels() as u64).saturating_mul(u64::from(settings.samples));
        Self { paths: Some(paths), ..Self::of(settings) }
    }

    /// Whether a TLAS over `instances` of `scene` is left to the device.
    pub(crate) fn leaves(&self, scene: &Scene, instances: usize) -> bool {
        self.leaves_tlases && instances >= FEWEST_LEFT && !self.has_paths(scene, PATHS_FOR_BEST)
    }

    /// Whether the TLASes of `scene` are built carefully.
    pub(crate) fn careful(&self, scene: &Scene) -> bool {
        self.has_paths(scene, PATHS_FOR_CARE)
    }

    /// Whether a frame has more than this number of paths per instance, or needs a careful build for another reason.
    fn has_paths(&self, scene: &Scene, per_instance: u64) -> bool {
        let many = |paths| paths > per_instance * scene.instances.len() as u64;
        let moves = scene.is_animated() || self.placed.is_some();
        !moves || self.integrator.scales_with_bounds() || self.paths.is_none_or(many)
    }
}

//! The shown scene, on its device.
//!
//! A viewer with unsaved changes or another animation has a separate scene, made from the file's text with these changes. If the scenes of
//! viewers differ, the device loads each in turn.

use super::{Bounds, SceneFacts, camera, choices, edits::Pair};
use rayon::prelude::*;
use serde_json::json;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};
use throng_accel::NodeLayout;
use throng_base::{choice::Choice, files::recording, math::Aabb};
use throng_denoise::Denoise;
use throng_device::Device;
use throng_edit::{self as edit, SceneText};
use throng_loader::Inspected;
use throng_picture::{
    aov::{Aov, AovSet},
    pixels::PixelType,
};
use throng_render::{LoadedScene, Outputs, RenderError, RenderJob};
use throng_scene::anim::{Deformed, Moment, camera_at, shape_at, world_transforms};
use throng_scene::{Integrator, Scene, ToneMap};
use throng_settings::{Error, FrameOptions, PictureOptions};

/// A file, and the options for showing it.
#[derive(Clone)]
pub struct Source {
    pub path: PathBuf,
    pub options: PictureOptions,
    /// The command-line flags for these options, each with its value.
    pub flags: Vec<String>,
}

/// Changes of a viewer to the scene.
#[derive(Default)]
pub struct Changed {
    /// Text of the scene file; None for models.
    pub text: Option<Arc<str>>,
    pub changes: Vec<Pair>,
    /// The animations to play, as in the loader's options; None for the animations of the command line.
    pub animation: Option<Vec<String>>,
}

/// A scene with the trees of its meshes, before the device has loaded it.
pub struct Prepared {
    scene: Arc<Scene>,
    loaded: LoadedScene,
    options: PictureOptions,
    /// The scene file; None for models, and for scenes with a viewer's changes.
    pub file: Option<SceneText>,
    text: Option<Arc<str>>,
    /// Number of the first frame in files; in the scene, it is 1.
    first_frame: u32,
    /// The choices of [`throng_loader::animation_choices`].
    animations: Vec<String>,
}

/// A scene that is shown.
pub struct Shown {
    pub scene: Arc<Scene>,
    pub loaded: LoadedScene,
    pub options: PictureOptions,
    /// Number of scenes before this one.
    pub generation: u32,
    /// Bounds of the first frame.
    pub bounds: Aabb,
    /// Number of the first frame in files; in the scene, it is 1.
    pub first_frame: u32,
    /// The text of the scene file, without unsaved changes.
    pub text: Option<Arc<str>>,
    /// The choices of [`throng_loader::animation_choices`].
    animations: Vec<String>,
}

/// The device, and the scenes of viewers: the file's scene, and one for each viewer with changes.
pub struct ViewerScenes {
    pub device: Box<dyn Device>,
    /// The current scene.
    pub shown: Shown,
    /// The viewer that owns the current scene; None for the file's scene.
    whose: Option<u64>,
    /// All other scenes.
    others: BTreeMap<Option<u64>, Shown>,
    /// The scene that the device has loaded.
    on_device: Arc<Scene>,
    /// Number of scenes so far.
    count: u32,
}

impl Source {
    /// Loads the scene and builds its trees, for a device with this node layout. Also returns the files that were read.
    pub fn prepare(&self, layout: NodeLayout) -> (Result<Prepared, Error>, Vec<PathBuf>) {
        self.recorded(|| {
            // The scene is loaded from the text that was read here. Loading reports errors of reading.
            let file = is_scene(&self.path).then(|| SceneText::read(&self.path).ok()).flatten();
            let text = file.as_ref().map(|file| Arc::from(file.text()));
            Ok(Prepared { file, ..self.load(layout, Changed { text, ..Changed::default() })? })
        })
    }

    /// Loads the scene as [`Self::prepare`] does, with a viewer's changes.
    pub fn prepare_changed(&self, layout: NodeLayout, changed: Changed) -> (Result<Prepared, Error>, Vec<PathBuf>) {
        self.recorded(|| self.load(layout, changed))
    }

    fn recorded<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> (Result<T, Error>, Vec<PathBuf>) {
        let (loaded, files) = recording(work);
        let paths = files.into_iter().map(|file| file.path);
        (loaded, paths.chain([self.path.clone()]).collect())
    }

    /// Loads a scene and builds its trees.
    ///
    /// # Errors
    /// If the file cannot be loaded, or if its picture settings are invalid.
    fn load(&self, layout: NodeLayout, changed: Changed) -> Result<Prepared, Error> {
        let Changed { text, changes, animation } = changed;
        let mut options = self.options.clone();
        options.load.overrides.extend(changes);
        if let Some(clips) = animation {
            options.load.model.animation.clips = clips;
        }
        let mut animations = Vec::new();
        let mut scene = match &text {
            Some(text) => options.load_scene(&self.path, text)?,
            None => options.load_inspected(&self.path, |inspected| {
                if let Inspected::Gltf(model) = inspected {
                    animations = throng_loader::animation_choices(&model.rig.clips);
                }
            })?,
        };
        // Viewers count frames from 1, and display the numbers used in files.
        let first_frame = std::mem::replace(&mut scene.settings.first_frame, 1);
        let scene = Arc::new(scene);
        scene.check_references()?;
        options.picture.resolve(&scene.settings)?;
        let loaded = LoadedScene::of_trees(scene.clone(), layout, &options.trees);
        Ok(Prepared { scene, loaded, options, file: None, text, first_frame, animations })
    }

    /// Checks that a scene file at `path` with this text can be rendered without further flags, as `throng check` does.
    ///
    /// # Errors
    /// If the text cannot be loaded, or if its settings are invalid.
    pub fn check(&self, path: &Path, text: &str) -> Result<(), Error> {
        let mut options = PictureOptions::default();
        options.load.model.allow_dirs.clone_from(&self.options.load.model.allow_dirs);
        let scene = options.load_scene(path, text)?;
        scene.check_references()?;
        options.picture.resolve(&scene.settings)?;
        FrameOptions::default().resolve(&scene.settings)?;
        Ok(())
    }
}

/// Whether the path belongs to a scene file rather than a model.
fn is_scene(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ron"))
}

/// Bounds of the first frame. An animated mesh may have a position and a size that differ from its rest pose.
fn first_bounds(scene: &Scene) -> Aabb {
    if scene.deforming.is_empty() {
        return scene.bounds_at_rest();
    }
    let moment = Moment::of(scene, scene.time_of(1));
    let mut boxes = scene.boxes_at_rest();
    for deforming in &scene.deforming {
        let mut shape = Deformed::default();
        shape_at(scene, deforming, &moment, &mut shape);
        boxes[deforming.mesh as usize] = shape.bounds;
    }
    let mut worlds = Vec::new();
    world_transforms(scene, &moment, &mut worlds);
    let placed = scene.instances[scene.world()].par_iter().zip(&worlds);
    let placed = placed.map(|(instance, world)| boxes[instance.mesh as usize].transformed(world));
    placed.reduce(|| Aabb::EMPTY, Aabb::union)
}

impl Shown {
    fn of(prepared: Prepared, generation: u32) -> Self {
        let Prepared { scene, loaded, options, text, first_frame, animations, .. } = prepared;
        let bounds = first_bounds(&scene);
        Self { scene, loaded, options, generation, bounds, first_frame, text, animations }
    }
}

impl ViewerScenes {
    /// Loads the scene on the device.
    ///
    /// # Errors
    /// If the device cannot load the scene.
    pub fn new(mut device: Box<dyn Device>, prepared: Prepared) -> Result<Self, Error> {
        let shown = Shown::of(prepared, 0);
        device.load(shown.scene.clone()).map_err(RenderError::Load)?;
        let on_device = shown.scene.clone();
        Ok(Self { device, shown, whose: None, others: BTreeMap::new(), on_device, count: 1 })
    }

    /// Makes the scene of a viewer current: its own scene, or the file's.
    pub fn turn_to(&mut self, viewer: u64) {
        let has_own = self.has_own(viewer);
        self.turn(has_own.then_some(viewer));
    }

    fn turn(&mut self, whose: Option<u64>) {
        if let Some(next) = self.others.remove(&whose) {
            let last = std::mem::replace(&mut self.shown, next);
            self.others.insert(std::mem::replace(&mut self.whose, whose), last);
        }
    }

    /// Whether a viewer has its own scene.
    pub fn has_own(&self, viewer: u64) -> bool {
        self.whose == Some(viewer) || self.others.contains_key(&Some(viewer))
    }

    /// Removes a viewer's own scene.
    pub fn forget(&mut self, viewer: u64) {
        if self.whose == Some(viewer) {
            self.turn(None);
        }
        self.others.remove(&Some(viewer));
    }

    /// Loads the current scene on the device, unless it is loaded already.
    ///
    /// # Errors
    /// If the device cannot load it.
    pub fn make_ready(&mut self) -> Result<(), Error> {
        if !Arc::ptr_eq(&self.on_device, &self.shown.scene) {
            self.device.load(self.shown.scene.clone()).map_err(RenderError::Load)?;
            self.on_device = self.shown.scene.clone();
        }
        Ok(())
    }

    /// Replaces the file's scene, or a viewer's own scene.
    ///
    /// # Errors
    /// If the device cannot load the new scene. The old one then stays.
    pub fn replace(&mut self, whose: Option<u64>, prepared: Prepared) -> Result<(), Error> {
        let shown = Shown::of(prepared, self.count);
        if let Err(error) = self.device.load(shown.scene.clone()) {
            // Restores the old scene.
            self.device.load(self.on_device.clone()).map_err(RenderError::Load)?;
            return Err(RenderError::Load(error).into());
        }
        self.on_device = shown.scene.clone();
        self.count += 1;
        if self.whose == whose {
            self.shown = shown
        } else {
            drop(self.others.insert(whose, shown))
        }
        Ok(())
    }

    /// The job for one frame with these options.
    ///
    /// # Errors
    /// If the options are invalid, see [`PictureOptions::job`].
    pub fn job(&self, options: &PictureOptions, pixels: PixelType) -> Result<RenderJob, Error> {
        let options = PictureOptions { open_ended: true, ..options.clone() };
        options.job(self.shown.scene.clone(), pixels, (vec![1], Outputs::default()), false)
    }

    /// The description of the scene that is sent to viewers. `path` is its file.
    pub fn facts(&self, path: &Path) -> SceneFacts {
        let Shown { scene, options, generation, bounds, first_frame, animations, .. } = &self.shown;
        let own = camera_at(scene, &Moment::of(scene, scene.time_of(1)));
        let settings = options.picture.resolve(&scene.settings);
        let mut told = settings.as_ref().map(|settings| choices::told(settings, None)).unwrap_or_default();
        told.insert(choices::ANIMATION, json!(options.load.model.animation.clips.join(",")));
        SceneFacts {
            name: scene.name.clone(),
            file: path.display().to_string(),
            frames: scene.settings.frames,
            first_frame: *first_frame,
            fps: scene.settings.fps,
            start: scene.settings.start,
            cameras: scene.viewpoints.iter().map(|(name, _)| name.clone()).collect(),
            animations: animations.clone(),
            integrators: Integrator::ALL.map(Integrator::name).to_vec(),
            views: AovSet::from_iter(Aov::ALL).gathered().iter().map(Aov::name).collect(),
            tone_maps: ToneMap::VALUES.iter().map(|it| it.name()).collect(),
            bounds: Bounds { min: bounds.min.into(), max: bounds.max.into() },
            camera: camera::view(&own),
            settings: told,
            samples: settings.map_or(1, |settings| settings.samples),
            loaded: *generation,
            size: [scene.settings.width, scene.settings.height],
            device: self.device.describe(),
            instances: scene.leaf_count() as usize,
            lens: camera::lens_kind(&scene.camera),
            saves_to: if is_scene(path) { path.to_owned() } else { edit::path_for(path) }.display().to_string(),
            denoises_finished: choices::usual_denoising(options, &scene.settings) != Denoise::Off,
            warnings: scene.warnings.iter().chain(&scene.doubts).chain(&scene.notes).cloned().collect(),
        }
    }
}

//! The scene that is shown, on its device.

use super::{Bounds, SceneFacts, camera, choices};
use crate::{
    Error,
    accel::NodeLayout,
    anim::{Moment, camera_at},
    aov::{Aov, AovSet},
    choice::Choice,
    device::Device,
    edit::{self, SceneText},
    files::recording,
    math::Aabb,
    pixels::PixelType,
    render::{LoadedScene, Outputs, RenderError, RenderJob},
    scene::{Integrator, Scene, ToneMap},
    settings::PictureOptions,
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// A file and how it is shown.
#[derive(Clone)]
pub struct Source {
    pub path: PathBuf,
    pub options: PictureOptions,
    /// The flags that made these options, each with its value.
    pub flags: Vec<String>,
}

/// A scene with the trees of its meshes, which a device has not loaded yet.
pub struct Prepared {
    scene: Arc<Scene>,
    loaded: LoadedScene,
    options: PictureOptions,
    /// The scene file; None for models.
    pub text: Option<SceneText>,
    /// Number of the first frame, which is 1 in the scene.
    first_frame: u32,
}

pub struct Stage {
    pub device: Box<dyn Device>,
    pub scene: Arc<Scene>,
    pub loaded: LoadedScene,
    pub options: PictureOptions,
    /// Number of scenes that came before this one.
    pub generation: u32,
    /// Bounds of everything in the first frame.
    pub bounds: Aabb,
    /// Number of the first frame in files; it is 1 in the scene.
    pub first_frame: u32,
}

impl Source {
    /// Loads the scene and builds its trees, for a device with this layout of nodes. Returns with it the files that were read.
    pub fn prepare(&self, layout: NodeLayout) -> (Result<Prepared, Error>, Vec<PathBuf>) {
        let (loaded, files) = recording(|| self.load(layout));
        let paths = files.into_iter().map(|file| file.path);
        (loaded, paths.chain([self.path.clone()]).collect())
    }

    /// # Errors
    /// Everything that is wrong with the file, or with the pictures that are asked for.
    fn load(&self, layout: NodeLayout) -> Result<Prepared, Error> {
        // Before the scene, so that a file that changes meanwhile is not the one that was read. Loading tells what is wrong with it.
        let text = is_scene(&self.path).then(|| SceneText::read(&self.path).ok()).flatten();
        let mut scene = self.options.load(&self.path)?;
        // Viewers count from 1, and show numbers as files have them.
        let first_frame = std::mem::replace(&mut scene.settings.first_frame, 1);
        let scene = Arc::new(scene);
        scene.check_references()?;
        self.options.picture.resolve(&scene.settings)?;
        let loaded = LoadedScene::of_trees(scene.clone(), layout, &self.options.trees);
        Ok(Prepared { scene, loaded, options: self.options.clone(), text, first_frame })
    }
}

/// Whether there is a scene file at `path`, and not a model.
fn is_scene(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ron"))
}

impl Stage {
    /// # Errors
    /// If the device cannot load the scene.
    pub fn new(mut device: Box<dyn Device>, prepared: Prepared) -> Result<Self, Error> {
        let Prepared { scene, loaded, options, first_frame, .. } = prepared;
        device.load(scene.clone()).map_err(RenderError::Load)?;
        let bounds = scene.bounds_at_rest();
        Ok(Self { device, scene, loaded, options, generation: 0, bounds, first_frame })
    }

    /// Shows another scene from now on.
    ///
    /// # Errors
    /// If the device cannot load it. Then the old one stays.
    pub fn replace(&mut self, prepared: Prepared) -> Result<(), Error> {
        let Prepared { scene, loaded, options, first_frame, .. } = prepared;
        if let Err(error) = self.device.load(scene.clone()) {
            // The old scene goes on.
            self.device.load(self.scene.clone()).map_err(RenderError::Load)?;
            return Err(RenderError::Load(error).into());
        }
        self.bounds = scene.bounds_at_rest();
        (self.scene, self.loaded, self.options, self.first_frame) = (scene, loaded, options, first_frame);
        self.generation += 1;
        Ok(())
    }

    /// The job of one frame with these options.
    ///
    /// # Errors
    /// Those of [`PictureOptions::job`].
    pub fn job(&self, options: &PictureOptions, pixels: PixelType) -> Result<RenderJob, Error> {
        let options = PictureOptions { open_ended: true, ..options.clone() };
        options.job(self.scene.clone(), pixels, (vec![1], Outputs::default()), false)
    }

    /// Everything that viewers are told about the scene in the file at `path`.
    pub fn facts(&self, path: &Path) -> SceneFacts {
        let scene = &*self.scene;
        let own = camera_at(scene, &Moment::of(scene, scene.settings.start));
        let settings = self.options.picture.resolve(&scene.settings);
        SceneFacts {
            name: scene.name.clone(),
            file: path.display().to_string(),
            frames: scene.settings.frames,
            first_frame: self.first_frame,
            fps: scene.settings.fps,
            start: scene.settings.start,
            cameras: scene.viewpoints.iter().map(|(name, _)| name.clone()).collect(),
            integrators: Integrator::ALL.map(Integrator::name).to_vec(),
            views: AovSet::from_iter(Aov::ALL).gathered().iter().map(Aov::name).collect(),
            tone_maps: ToneMap::VALUES.iter().map(|it| it.name()).collect(),
            bounds: Bounds { min: self.bounds.min.into(), max: self.bounds.max.into() },
            camera: camera::view(&own),
            settings: settings.as_ref().map(|settings| choices::told(settings, None)).unwrap_or_default(),
            samples: settings.map_or(1, |settings| settings.samples),
            loaded: self.generation,
            size: [scene.settings.width, scene.settings.height],
            device: self.device.describe(),
            instances: scene.leaf_count() as usize,
            lens: camera::lens_kind(&scene.camera),
            saves_to: if is_scene(path) { path.to_owned() } else { edit::path_for(path) }.display().to_string(),
            warnings: scene.warnings.iter().chain(&scene.doubts).chain(&scene.notes).cloned().collect(),
        }
    }
}

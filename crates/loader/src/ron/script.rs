//! Conversion, at any time, of the sections of a scene file whose values have keys.

use super::{
    camera,
    file::{self, Source},
    keys::{Course, Keys},
    material,
    names::{Known, Names},
    settings,
    source::Place,
    surroundings::{
        air,
        environment::{self, Pictures},
        lights::{self, Lamp},
    },
};
use crate::{LoadError, materials::Materials};
use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex},
};
use throng_base::sync::lock;
use throng_scene::{
    Camera, Changes, Environment, Light, Material, RenderDefaults, Scene, Shutter, Timeline, desc::SceneFile,
};

/// The animated sections of a scene file. Values at each time are checked by the code for files without keys.
pub struct Script {
    path: PathBuf,
    /// A scene file with the animated sections only.
    text: String,
    keys: Keys,
    /// The settings of the scene. Together with `known`, they are everything that cameras need.
    scene: Scene,
    known: Known,
    /// Row of each of the file's materials.
    rows: Vec<u32>,
    /// The visible lights at the first frame.
    lamps: Vec<Lamp>,
    /// Row of the first visible light; the others follow.
    first_lamp: u32,
    /// Indices into the file's cameras, in the order of their cuts.
    shots: Vec<usize>,
    /// Textures and maps of materials.
    table: Mutex<Materials>,
    pictures: Mutex<Pictures>,
    last_sky: Mutex<Option<LastSky>>,
}

/// An environment with its lights, and the text from which it was created.
struct LastSky {
    text: String,
    environment: Arc<Environment>,
    suns: Vec<Light>,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("text", &self.text).field("shots", &self.shots).finish()
    }
}

impl Script {
    /// The script of a file, given its complete scene. None if nothing is animated. `names` must contain all names that cameras use at any
    /// time.
    ///
    /// # Errors
    /// If a value is invalid at the time of a key.
    pub fn new(
        source: &Source,
        scene: &Scene,
        (rows, table): (&[u32], Materials),
        lamps: &[Lamp],
        shots: Vec<usize>,
    ) -> Result<Option<Self>, LoadError> {
        let (text, keys) = source.keys.extract(&source.text);
        if keys.is_empty() {
            return Ok(None);
        }
        let settings = Scene { settings: scene.settings.clone(), ..Scene::default() };
        let mut script = Self {
            path: source.path.clone(),
            text,
            keys,
            scene: settings,
            known: Known::default(),
            rows: rows.to_vec(),
            lamps: lamps.to_vec(),
            first_lamp: scene.materials.len() as u32,
            shots,
            table: Mutex::new(table),
            pictures: Mutex::default(),
            last_sky: Mutex::default(),
        };
        let names = Names::of(scene);
        for time in script.keys.times() {
            script.check(source, time, &names)?;
        }
        script.known = names.known();
        Ok(Some(script))
    }

    /// Whether cameras are animated.
    pub fn has_cameras(&self) -> bool {
        self.keys.has("camera") || self.keys.has("cameras")
    }

    /// Whether the exposure is animated.
    pub fn has_exposure(&self) -> bool {
        self.keys.has("exposure")
    }

    /// Converts everything at the time of a key to detect errors.
    fn check(&self, source: &Source, time: f64, names: &Names) -> Result<(), LoadError> {
        let file = self.file(time, Course::Exact).map_err(|message| source.error_at(time, &message))?;
        settings::convert(source, &file.render, RenderDefaults::default())?;
        environment::check(source, file.environment.as_ref())?;
        let (_, lamps) = lights::convert(source, &file.lights)?;
        if lamps.len() != self.lamps.len()
            || lamps.iter().zip(&self.lamps).any(|(lamp, first)| !lamp.stands_like(first))
        {
            let message =
                "lights that are seen do not move by keys: leave out `radius`, or place something that emits light";
            return Err(source.error(&Place::ROOT.key("lights"), message));
        }
        air::convert(source, file.air.as_ref())?;
        self.materials(source, &file)?;
        let root = Place::ROOT;
        if let Some(desc) = &file.camera {
            camera::one(source, desc, &root.key("camera"), &self.scene, names)?;
        }
        let all = root.key("cameras");
        for (name, desc) in &file.cameras.0 {
            camera::one(source, desc, &all.key(name), &self.scene, names)?;
        }
        Ok(())
    }

    fn file(&self, time: f64, course: Course) -> Result<SceneFile, String> {
        file::parsed(&self.keys.text_at(&self.text, time, course))
    }

    /// Applies `convert` to the file at `time`. Between keys, values may become invalid; they are then clamped to the range of the keys, or
    /// else the values of the previous key are used.
    fn converted<T>(&self, time: f64, convert: impl Fn(&Source, &SceneFile) -> Result<T, LoadError>) -> Option<T> {
        let source = Source { path: self.path.clone(), ..Source::default() };
        let courses = [Course::Exact, Course::Bounded, Course::Stepped];
        courses.into_iter().find_map(|course| convert(&source, &self.file(time, course).ok()?).ok())
    }

    fn materials(&self, source: &Source, file: &SceneFile) -> Result<Vec<(u32, Material)>, LoadError> {
        let all = Place::ROOT.key("materials");
        let mut table = lock(&self.table);
        let rows = file.materials.0.iter().zip(&self.rows);
        let convert = |((name, desc), &row): (&(String, _), &u32)| {
            Ok((row, material::convert(source, desc, (&mut table, &[]), &all.key(name))?))
        };
        rows.map(convert).collect()
    }

    fn sky(&self, source: &Source, file: &SceneFile) -> Result<(Arc<Environment>, Vec<Light>), LoadError> {
        let text = format!("{:?}", file.environment);
        let mut last = lock(&self.last_sky);
        if let Some(last) = last.as_ref().filter(|last| last.text == text) {
            return Ok((last.environment.clone(), last.suns.clone()));
        }
        let mut pictures = lock(&self.pictures);
        let (environment, suns) = environment::convert(source, file.environment.as_ref(), &mut pictures)?;
        let environment = Arc::new(environment);
        *last = Some(LastSky { text, environment: environment.clone(), suns: suns.clone() });
        Ok((environment, suns))
    }

    fn setting<T>(&self, name: &str, time: f64, of: impl Fn(&RenderDefaults) -> T) -> Option<T> {
        let usual = RenderDefaults::default;
        let settings = |source: &Source, file: &SceneFile| settings::convert(source, &file.render, usual());
        self.keys.has(name).then(|| self.converted(time, settings)).flatten().map(|settings| of(&settings))
    }
}

impl Timeline for Script {
    fn at(&self, time: f64) -> Changes {
        let (sky, lights) = (self.keys.has("environment"), self.keys.has("lights"));
        let mut changes = Changes::default();
        if sky {
            let sky = self.converted(time, |source, file| self.sky(source, file));
            if let Some((environment, suns)) = sky {
                changes.environment = Some(environment);
                changes.suns = Some(suns);
            }
        }
        if lights {
            let lit = self.converted(time, |source, file| lights::convert(source, &file.lights));
            if let Some((lights, lamps)) = lit {
                changes.lights = Some(lights);
                changes.lamps = (self.first_lamp..).zip(lamps.iter().map(Lamp::radiance)).collect();
            }
        }
        if self.keys.has("air") {
            changes.fog = self.converted(time, |source, file| air::convert(source, file.air.as_ref())).flatten();
        }
        if self.keys.has("materials") {
            changes.materials = self.converted(time, |source, file| self.materials(source, file)).unwrap_or_default();
        }
        changes
    }

    fn camera(&self, number: usize, time: f64) -> Option<Camera> {
        let names = || Names::Found(&self.known);
        self.converted(time, |source, file| {
            let root = Place::ROOT;
            let all = root.key("cameras");
            match (&file.camera, self.shots.get(number).and_then(|&shot| file.cameras.0.get(shot))) {
                (Some(desc), _) => camera::one(source, desc, &root.key("camera"), &self.scene, &names()).map(Some),
                (None, Some((name, desc))) => {
                    camera::one(source, desc, &all.key(name), &self.scene, &names()).map(Some)
                }
                (None, None) => Ok(None),
            }
        })
        .flatten()
    }

    fn shutter(&self, time: f64) -> Option<Shutter> {
        if !self.has_cameras() {
            return None;
        }
        let shutter = |_: &Source, file: &SceneFile| Ok(file.first_camera().and_then(|camera| camera.optics().shutter));
        self.converted(time, shutter).flatten().map(|shutter| shutter.0)
    }

    fn exposure(&self, time: f64) -> Option<f32> {
        self.setting("exposure", time, |settings| settings.exposure)
    }

    fn white_balance(&self, time: f64) -> Option<f32> {
        self.setting("white_balance", time, |settings| settings.white_balance).flatten()
    }

    fn changes_lights(&self) -> bool {
        self.keys.has("environment") || self.keys.has("lights")
    }

    fn changes_fog(&self) -> bool {
        self.keys.has("air")
    }

    fn materials_at_keys(&self) -> Vec<(u32, Material)> {
        if !self.keys.has("materials") {
            return Vec::new();
        }
        let times = self.keys.times();
        times.into_iter().flat_map(|time| self.at(time).materials).collect()
    }
}

//! User options for loading a file, as plain values.

mod lens;
pub(super) mod view;
mod views;

pub use views::{PatternShape, ViewPattern, WorldUp};

use super::{LoadError, gltf::GltfOptions, meshes::MeshFormat, suggest};
use glam::{EulerRot, Quat, Vec2, Vec3};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};
use throng_base::{choice::choice, css};
use throng_scene::{desc::SunSky, rig::Playback};

/// User options for loading a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadOptions {
    /// `--set key=value` for a `.ron` scene, applied in order: a path into the file (`render.samples`, `materials.stone.color`,
    /// `instances.0.count`) and its new value as RON text.
    pub overrides: Vec<(String, String)>,
    /// Time of the first frame in seconds.
    pub start: Option<f64>,
    /// The view of the picture.
    pub view: ViewOptions,
    /// Presentation of standalone models.
    pub model: ModelOptions,
    /// Whether loading fails if anything would be replaced or left out, instead of warning.
    pub strict: bool,
}

/// A view that replaces the file's own. Applies to all kinds of scenes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewOptions {
    /// Position of a fixed camera.
    pub eye: Option<Vec3>,
    /// Point that the camera looks at. None: the middle of the scene.
    pub target: Option<Vec3>,
    /// Up direction of the picture.
    pub up: Option<Vec3>,
    /// Vertical field of view in degrees.
    pub fov: Option<f32>,
    /// Optics of the camera.
    pub lens: LensOptions,
    /// File with cameras, each of which is the view of a frame. At most one of this, `views` and `eye` is given.
    pub cameras: Option<PathBuf>,
    /// Views around the scene, each of a frame.
    pub views: Option<ViewPattern>,
    /// Up axis of the world in `cameras`. None: +Y.
    pub world_up: Option<WorldUp>,
}

/// Optics that replace the optics of the file's camera.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LensOptions {
    /// Projection of the camera.
    pub projection: Option<Projecting>,
    /// Lens shift to the right and up, relative to the longer side of the picture.
    pub shift: Option<Vec2>,
    /// Height of an orthographic view, in scene units. None: the height of the view without this option.
    pub height: Option<f32>,
    /// F-number: focal length over diameter of the aperture, for a 35 mm camera unless the scene's lens has another sensor. 0 means a
    /// pinhole. At most one of this and `radius` is given.
    pub f_stop: Option<f32>,
    /// Radius of the aperture in scene units. 0 means a pinhole.
    pub radius: Option<f32>,
    /// Focus of the lens.
    pub focus: Option<Focusing>,
    /// Number of aperture blades. 0 means a round aperture.
    pub blades: Option<u32>,
    /// Rotation of the blades in degrees.
    pub blade_rotation: Option<f32>,
}

/// Focus of the lens.
#[derive(Clone, Debug, PartialEq)]
pub enum Focusing {
    /// A distance along the camera's axis, in scene units.
    Distance(f32),
    /// A point in world space.
    Point(Vec3),
    /// The mesh, group or node with this name.
    On(String),
}

impl std::str::FromStr for Focusing {
    type Err = String;

    /// Parses a distance above 0, or `x,y,z`.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(point) = parse_triple(text) {
            return Ok(Self::Point(point));
        }
        let distance = text.parse().ok().filter(|x: &f32| *x > 0.0 && *x <= 1e18);
        let distance = distance.map(Self::Distance);
        distance.ok_or_else(|| "write a distance above 0 like 3.5, or a point like 1,2,3".to_owned())
    }
}

choice! {
    /// Camera projections.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Projecting {
        /// Distant objects appear smaller.
        Perspective = "perspective",
        /// Parallel rays: sizes do not depend on distance.
        Orthographic = "orthographic",
        /// The whole surroundings, 360 by 180 degrees; for sizes like 2048x1024.
        Equirectangular = "equirectangular",
    }
}

/// Options for standalone models. Some also apply to models in scene files, as noted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelOptions {
    /// Animations to play.
    pub animation: AnimationOptions,
    /// Camera for the model.
    pub camera: CameraChoice,
    /// Environment. None: the file's own, otherwise a studio, or almost no light if the file has lights.
    pub environment: Option<EnvironmentChoice>,
    /// Rotation of the environment about +Y, in degrees.
    pub environment_rotation: Option<f32>,
    /// Leaves out the ground plane of models.
    pub no_ground: bool,
    /// Leaves out the ground plane because the background is transparent or replaced. Applies to all kinds of files.
    pub cut_out: bool,
    /// Keeps the ground plane as a shadow catcher, even with `cut_out`.
    pub shadow_catcher: bool,
    /// Name or index of the file's scene.
    pub scene: Option<String>,
    /// Name of the material variant.
    pub variant: Option<String>,
    /// Additional folders that models may refer to. Also applies to models in scene files.
    pub allow_dirs: Vec<PathBuf>,
    /// Size, placement and timing.
    pub stage: StageOptions,
}

/// Presentation of a standalone model: camera path, size in the picture, and timing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageOptions {
    /// Width and height of the pictures. None: the default size.
    pub size: Option<(u32, u32)>,
    /// Empty space on each side, relative to the picture's smaller side.
    pub margin: Option<f32>,
    /// Magnification of the model, or of the view of a scene file.
    pub zoom: Option<f32>,
    /// Revolutions of the turntable; negative numbers reverse its direction.
    pub turns: Option<f32>,
    /// Length of the sequence in seconds. None: one cycle of the animation, or the default turntable.
    pub duration: Option<f32>,
    /// Frames per second.
    pub fps: Option<f64>,
    /// Axis of the file that points up. None: +Y.
    pub up: Option<Vec3>,
    /// Rotation of the model in degrees: first about X, then Y, then Z.
    pub rotate: Option<Vec3>,
    /// Whether a single picture is rendered. It gets a still camera instead of a turntable, unless `turns` or `duration` are given.
    pub single: bool,
    /// Trade-off between time and quality.
    pub preset: Option<Preset>,
}

choice! {
    /// Trade-off between time and quality for pictures of a standalone model.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Preset {
        /// For a quick look: few samples, visible noise.
        Draft = "draft",
        /// Adaptive sampling: more samples in noisy parts.
        Good = "good",
        /// Sampling until no noise is visible.
        Best = "best",
    }
}

impl StageOptions {
    /// The rotation of the model: first the up axis is rotated to +Y, then `rotate` is applied.
    #[doc(hidden)]
    pub fn rotation(&self) -> Quat {
        let upright = self.up.map_or(Quat::IDENTITY, |up| Quat::from_rotation_arc(up.normalize(), Vec3::Y));
        let [x, y, z] = self.rotate.unwrap_or_default().to_array().map(f32::to_radians);
        Quat::from_euler(EulerRot::ZYX, z, y, x) * upright
    }
}

impl ModelOptions {
    /// Flags that scene files do not support, whether they are given, and the alternative.
    fn not_of_scenes(&self) -> [(&'static str, bool, &'static str); 10] {
        let stage = &self.stage;
        [
            (
                "--camera",
                !matches!(self.camera, CameraChoice::Automatic | CameraChoice::Of(_)),
                "--camera NAME chooses one of its cameras, --eye and --target place another",
            ),
            ("--no-ground", self.no_ground, "take its ground out of the file's `instances`"),
            ("--margin", stage.margin.is_some(), "write --zoom, or --eye and --target"),
            ("--turns", stage.turns.is_some(), "write --set camera.turns=N if its camera is an Orbit"),
            ("--duration", stage.duration.is_some(), "write --set render.frames=N"),
            ("--fps", stage.fps.is_some(), "write --set render.fps=N"),
            ("--rotate", stage.rotate.is_some(), "give the instance a `rotate` in the file"),
            ("--up", stage.up.is_some(), "+Y is up in it; with --eye, the flag says what is up in the picture"),
            ("--preset", stage.preset.is_some(), "write --samples N"),
            ("--shadow-catcher", self.shadow_catcher, "give its ground the material ShadowCatcher()"),
        ]
    }

    /// The options for reading a glTF file.
    #[doc(hidden)]
    pub fn gltf(&self) -> GltfOptions {
        GltfOptions {
            scene: self.scene.clone(),
            variant: self.variant.clone(),
            allow_dirs: self.allow_dirs.clone(),
            skip_environment: self.environment.is_some(),
            rotation: self.stage.rotation(),
            ..GltfOptions::default()
        }
    }
}

/// The animations to play, and their playback.
#[derive(Clone, Debug, PartialEq)]
pub struct AnimationOptions {
    /// Names or indices of animations, or comma-separated lists; `all` for all. Empty: the model is at rest.
    pub clips: Vec<String>,
    /// Playback speed in seconds of the animation per second.
    pub speed: f64,
    /// Time within the animation at time 0, in seconds. None: its start, or its end if it is played backwards once.
    pub offset: Option<f64>,
    /// Whether the animation repeats.
    pub looped: bool,
}

impl Default for AnimationOptions {
    fn default() -> Self {
        let Playback { speed, looped, .. } = Playback::default();
        Self { clips: Vec::new(), speed, offset: None, looped }
    }
}

/// The camera for a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CameraChoice {
    /// A turntable for a static model; a still camera for an animated one, and for a single picture.
    #[default]
    Automatic,
    /// Always a turntable.
    Turntable,
    /// Always a still camera.
    Still,
    /// Name or index of one of the file's cameras.
    Of(String),
}

impl From<&str> for CameraChoice {
    fn from(text: &str) -> Self {
        match text {
            "turntable" => Self::Turntable,
            "still" => Self::Still,
            _ => Self::Of(text.to_owned()),
        }
    }
}

/// The environment that lights a model.
#[derive(Clone, Debug, PartialEq)]
pub enum EnvironmentChoice {
    /// A clear sky with a sun.
    Sky,
    /// Soft studio light.
    Studio,
    /// Uniform radiance from all directions.
    Color(Vec3),
    /// A panorama by longitude and latitude.
    File(PathBuf),
}

impl EnvironmentChoice {
    /// Parses `sky`, `studio` or a colour (see [`parse_color`]); other text is the path of a file.
    ///
    /// # Errors
    /// A sentence about valid values, if the text is none.
    pub fn parse(text: OsString) -> Result<Self, String> {
        let Some(text) = text.to_str() else {
            return Ok(Self::File(text.into()));
        };
        match text {
            "sky" => return Ok(Self::Sky),
            "studio" => return Ok(Self::Studio),
            "transparent" => {
                return Err("--transparent leaves the environment out of pictures and keeps its light".into());
            }
            _ => {}
        }
        match parse_color(text)? {
            Some(color) => Ok(Self::Color(color)),
            None if Path::new(text).extension().is_some() => Ok(Self::File(text.into())),
            None => Err(format!(
                "`{text}` is no environment: write sky, studio, a colour like white, #c8b090 or 0.5,0.5,0.5, or the name of \
                 a picture with its extension"
            )),
        }
    }
}

impl EnvironmentChoice {
    /// The environment as a scene file writes it, rotated by `rotation` degrees about +Y.
    ///
    /// # Errors
    /// A sentence about an alternative, if scene files have no equivalent.
    pub(crate) fn in_scene_file(&self, rotation: f32) -> Result<String, String> {
        Ok(match self {
            // Azimuths increase from +X to +Z, opposite to rotations about +Y.
            Self::Sky => format!("SunSky(azimuth: {:?})", SunSky::default().azimuth.0 - rotation),
            Self::Studio => return Err("scene files have no studio: write sky, a colour or a picture".to_owned()),
            Self::Color(Vec3 { x, y, z }) => format!("Constant(radiance: ({x:?}, {y:?}, {z:?}))"),
            Self::File(path) => {
                let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                let name = absolute.to_str().ok_or("this name is not UTF-8: rename the picture")?;
                format!("Image(file: {name:?}, rotation: {rotation:?})")
            }
        })
    }
}

/// Parses a CSS colour, such as `white` or `#c8b090`, or a linear `r,g,b`. None if the text does not look like a colour.
///
/// # Errors
/// A sentence about valid colours, if the colour is invalid.
pub fn parse_color(text: &str) -> Result<Option<Vec3>, String> {
    match (css::parse(text), parse_triple(text)) {
        (Some((color, u8::MAX)), _) => Ok(Some(color)),
        (Some(_), _) => Err("this colour must have no alpha".to_owned()),
        (None, Some(color)) if color.min_element() < 0.0 => Err("a colour must not be negative".to_owned()),
        (None, None) if text.starts_with('#') => Err("write a colour like #c8b090".to_owned()),
        (None, color) => Ok(color),
    }
}

/// Parses a flag that only takes a colour.
#[doc(hidden)]
pub fn parse_only_color(text: &str) -> Result<Vec3, String> {
    let wrong = || format!("`{text}` is no colour: write one like white, #c8b090 or 0.5,0.5,0.5");
    parse_color(text)?.ok_or_else(wrong)
}

/// Parses three finite, comma-separated numbers, with or without parentheses.
pub fn parse_triple(text: &str) -> Option<Vec3> {
    let text = text.trim();
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    let number = |part: &str| part.trim().parse::<f32>().ok().filter(|x| x.is_finite());
    let numbers: Option<Vec<f32>> = inner.unwrap_or(text).split(',').map(number).collect();
    <[f32; 3]>::try_from(numbers?).ok().map(Vec3::from)
}

/// Kinds of files with different options.
#[derive(Clone, Copy)]
pub enum Kind {
    /// `.ron`
    Scene,
    /// `.gltf` and `.glb`
    Gltf,
    /// A file with a single mesh, such as `.obj`
    Mesh(&'static dyn MeshFormat),
    /// `.scn`
    Raw,
}

impl LoadOptions {
    /// Refuses options that do not apply to files of this kind.
    ///
    /// # Errors
    /// Names the first such flag, and the alternative.
    pub(crate) fn check(&self, kind: Kind) -> Result<(), LoadError> {
        let model = &self.model;
        let gltf = "only .gltf and .glb models have";
        let only_gltf = [
            ("--animation", model.animation != AnimationOptions::default(), "animations"),
            ("--scene", model.scene.is_some(), "several scenes"),
            ("--variant", model.variant.is_some(), "material variants"),
        ];
        for (flag, given, what) in only_gltf {
            if given && !matches!(kind, Kind::Gltf) {
                return Err(LoadError::flag(flag, format!("{gltf} {what}")));
            }
        }
        for (flag, given, instead) in model.not_of_scenes() {
            let instead = match kind {
                Kind::Scene => format!("this is of models, and a .ron scene says it itself: {instead}"),
                Kind::Raw => "only models have this choice, not scenes".to_owned(),
                Kind::Gltf | Kind::Mesh(_) => continue,
            };
            if given {
                return Err(LoadError::flag(flag, instead));
            }
        }
        if matches!(kind, Kind::Raw) && (model.environment.is_some() || model.environment_rotation.is_some()) {
            let flag = if model.environment.is_some() { "--environment" } else { "--environment-rotation" };
            return Err(LoadError::flag(flag, "a .scn file has its own light: write a .ron scene for another"));
        }
        if matches!((&model.camera, kind), (CameraChoice::Of(_), Kind::Mesh(_) | Kind::Raw)) {
            return Err(LoadError::flag("--camera", "only .ron scenes, .gltf and .glb models have cameras by name"));
        }
        if matches!(kind, Kind::Raw) && !model.allow_dirs.is_empty() {
            return Err(LoadError::flag("--allow-dir", "a .scn file refers to no files"));
        }
        match (self.overrides.first(), kind) {
            (Some((key, _)), Kind::Raw) => Err(LoadError::set(key, "raw scenes have no values to set")),
            _ => Ok(()),
        }
    }
}

/// Position of `wanted` in `names`: an exact name, otherwise an index from 0.
///
/// # Errors
/// A sentence with the nearest name, or with all names.
pub fn choose<'a>(
    wanted: &str,
    names: impl Iterator<Item = &'a str> + Clone,
    (one, many): (&str, &str),
) -> Result<usize, String> {
    if let Some(index) = names.clone().position(|name| name == wanted) {
        return Ok(index);
    }
    let index = wanted.parse::<usize>();
    if let Ok(index) = index
        && index < names.clone().count()
    {
        return Ok(index);
    }
    // For a wrong index, no similar index is suggested.
    let nearest = suggest::nearest(wanted, names.clone()).filter(|_| index.is_err());
    let hint = nearest.map_or(String::new(), |name| format!("did you mean `{name}`? "));
    let list = suggest::list(names, many);
    Err(format!("there is no {one} `{wanted}`: {hint}{list}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_are_words_colours_or_files() {
        let parse = |text: &str| EnvironmentChoice::parse(text.into());
        assert_eq!(parse("sky"), Ok(EnvironmentChoice::Sky));
        assert_eq!(parse("studio"), Ok(EnvironmentChoice::Studio));
        assert_eq!(parse("#ffffff"), Ok(EnvironmentChoice::Color(Vec3::ONE)));
        let grey = EnvironmentChoice::Color(Vec3::new(0.5, 0.25, 1.0));
        assert_eq!(parse("(0.5, 0.25, 1)"), Ok(grey.clone()));
        assert_eq!(parse("0.5,0.25,1"), Ok(grey));
        let file = EnvironmentChoice::File("beach.hdr".into());
        assert_eq!(parse("beach.hdr"), Ok(file));
        assert_eq!(parse("white"), parse("#fff"));
        for wrong in ["#ff", "#+fffff", "#ffffff80", "transparent", "-1,0,0", "stduio"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_model_is_turned_upright_before_it_is_rotated() {
        let stage =
            StageOptions { up: Some(Vec3::Z), rotate: Some(Vec3::new(0.0, 90.0, 0.0)), ..StageOptions::default() };
        assert!((stage.rotation() * Vec3::Z).abs_diff_eq(Vec3::Y, 1e-6));
        assert!((stage.rotation() * Vec3::Y).abs_diff_eq(Vec3::NEG_X, 1e-6), "{}", stage.rotation() * Vec3::Y);
        assert_eq!(StageOptions::default().rotation(), Quat::IDENTITY);
    }

    #[test]
    fn names_go_before_indices() {
        let names = ["Walk", "0", "Run"];
        let find = |wanted| choose(wanted, names.into_iter(), ("animation", "animations"));
        assert_eq!(find("Run"), Ok(2));
        assert_eq!(find("0"), Ok(1));
        assert_eq!(find("2"), Ok(2));
        let error = find("run!").unwrap_err();
        let all = "the animations are Walk, 0, Run";
        let expected = format!("there is no animation `run!`: did you mean `Run`? {all}");
        assert_eq!(error, expected);
        let error = find("3").unwrap_err();
        assert_eq!(error, format!("there is no animation `3`: {all}"));
    }
}

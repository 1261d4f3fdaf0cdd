//! Options from the user for loading a file, as plain values.

mod lens;
pub(super) mod view;

use super::{LoadError, gltf::GltfOptions, meshes::MeshFormat, suggest};
use crate::{
    choice::choice,
    css,
    scene::{desc::SunSky, rig::Playback},
};
use glam::{EulerRot, Quat, Vec2, Vec3};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// Options from the user for loading a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadOptions {
    /// `--set key=value` for a `.ron` scene, applied in order: a dotted path into the file (`render.samples`,
    /// `materials.stone.color`, `instances.0.count`) and the RON text to put there.
    pub overrides: Vec<(String, String)>,
    /// Time of the first frame in seconds.
    pub start: Option<f64>,
    /// The view that pictures show.
    pub view: ViewOptions,
    /// How standalone models are presented.
    pub model: ModelOptions,
    /// Whether loading ends with an error where it would replace or leave out something, with a warning.
    pub strict: bool,
}

/// A view that replaces that of the file; for all kinds of scenes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewOptions {
    /// Position of the camera, which stands still there.
    pub eye: Option<Vec3>,
    /// Point that the camera looks at; None for the middle of the scene.
    pub target: Option<Vec3>,
    /// Direction that is up in the picture.
    pub up: Option<Vec3>,
    /// Vertical field of view in degrees.
    pub fov: Option<f32>,
    /// Optics of the camera.
    pub lens: LensOptions,
}

/// Optics that replace those of the file's camera.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LensOptions {
    /// How the scene is projected.
    pub projection: Option<Projecting>,
    /// From the axis to the middle of the picture, to the right and upwards, in longer sides of the picture.
    pub shift: Option<Vec2>,
    /// Height of what an orthographic picture shows, in scene units; None for as much as is seen without.
    pub height: Option<f32>,
    /// Focal length over diameter of the aperture, of a 35 mm camera unless the scene's lens has another sensor; 0 for a pinhole. At most one of this and `radius` is given.
    pub f_stop: Option<f32>,
    /// Radius of the aperture in scene units; 0 for a pinhole.
    pub radius: Option<f32>,
    /// Where pictures are sharp.
    pub focus: Option<Focusing>,
    /// Corners of the aperture; 0 for a round one.
    pub blades: Option<u32>,
    /// Rotation of the blades in degrees.
    pub blade_rotation: Option<f32>,
}

/// The focus of the lens, as the user names it.
#[derive(Clone, Debug, PartialEq)]
pub enum Focusing {
    /// A distance along the camera's axis, in scene units.
    Distance(f32),
    /// A point in world space.
    Point(Vec3),
    /// The mesh, group or node of this name.
    On(String),
}

impl std::str::FromStr for Focusing {
    type Err = String;

    /// A distance above 0, or `x,y,z`.
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
    /// A projection that the user can choose.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Projecting {
        /// As eyes see.
        Perspective = "perspective",
        /// Parallel rays: distance makes nothing small.
        Orthographic = "orthographic",
        /// Everything around, 360 by 180 degrees; for sizes like 2048x1024.
        Equirectangular = "equirectangular",
    }
}

/// Options for standalone models, and for models in scene files where it says so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelOptions {
    /// Clips that play.
    pub animation: AnimationOptions,
    /// The camera that shows the model.
    pub camera: CameraChoice,
    /// None for the file's own, else a studio; or for hardly any light where the file has lights.
    pub environment: Option<EnvironmentChoice>,
    /// Degrees by which the environment is turned about +Y.
    pub environment_rotation: Option<f32>,
    /// Leaves out the ground that models stand on.
    pub no_ground: bool,
    /// Does the same, because nothing but the model is to be in the picture; for all kinds of files.
    pub cut_out: bool,
    /// Keeps the ground all the same, but shows nothing of it except for shadows.
    pub shadow_catcher: bool,
    /// Name or index of the file's scene.
    pub scene: Option<String>,
    /// Name of the material variant.
    pub variant: Option<String>,
    /// Folders beside their own that models may refer to. Also for models in scene files.
    pub allow_dirs: Vec<PathBuf>,
    /// Size, place and time.
    pub stage: StageOptions,
}

/// How a standalone model is presented: the camera's way around it, its size in the picture, and time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageOptions {
    /// Width and height of the pictures; None for the usual size.
    pub size: Option<(u32, u32)>,
    /// Empty space on each side, as a share of the picture's smaller side.
    pub margin: Option<f32>,
    /// Factor by which the model, or what a scene file shows, is larger in the picture than it would be.
    pub zoom: Option<f32>,
    /// Rounds of a turntable; negative ones go the other way.
    pub turns: Option<f32>,
    /// Seconds that the film lasts; None for one round of the animation, or the usual turntable.
    pub duration: Option<f32>,
    /// Frames per second.
    pub fps: Option<f64>,
    /// Axis of the file that points up; None for +Y.
    pub up: Option<Vec3>,
    /// Rotations of the model in degrees: about X, then Y, then Z.
    pub rotate: Option<Vec3>,
    /// How much time pictures may take.
    pub preset: Option<Preset>,
}

choice! {
    /// How much time the pictures of a standalone model may take.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Preset {
        /// For a look: few samples, visible noise.
        Draft = "draft",
        /// Samples where the noise is.
        Good = "good",
        /// As many samples as it takes until no noise is seen.
        Best = "best",
    }
}

impl StageOptions {
    /// The rotation of the model: what points up comes to point to +Y, then it is rotated.
    pub(crate) fn rotation(&self) -> Quat {
        let upright = self.up.map_or(Quat::IDENTITY, |up| Quat::from_rotation_arc(up.normalize(), Vec3::Y));
        let [x, y, z] = self.rotate.unwrap_or_default().to_array().map(f32::to_radians);
        Quat::from_euler(EulerRot::ZYX, z, y, x) * upright
    }
}

impl ModelOptions {
    /// Flags that scene files do not take, whether they are given, and what to write instead.
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

    /// The options that concern reading a glTF file.
    pub(crate) fn gltf(&self) -> GltfOptions {
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

/// Which clips of a file are played, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct AnimationOptions {
    /// Names or indices of clips, or lists of them with commas in between; `all` for all. Empty for the model at rest.
    pub clips: Vec<String>,
    /// Seconds of the clip per second.
    pub speed: f64,
    /// Time of the clip at time 0, in seconds; None for its start, or its end if it is played backwards once.
    pub offset: Option<f64>,
    /// Whether the clip begins anew when it is over.
    pub looped: bool,
}

impl Default for AnimationOptions {
    fn default() -> Self {
        let Playback { speed, looped, .. } = Playback::default();
        Self { clips: Vec::new(), speed, offset: None, looped }
    }
}

/// The camera that a model is seen through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CameraChoice {
    /// A turntable around a model at rest, or a still camera in front of a model that moves.
    #[default]
    Automatic,
    /// A turntable in any case.
    Turntable,
    /// A camera at rest in any case.
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
    /// A clear sky and its sun.
    Sky,
    /// The soft light of a photographer's studio.
    Studio,
    /// The same radiance from everywhere.
    Color(Vec3),
    /// A latitude-longitude picture.
    File(PathBuf),
}

impl EnvironmentChoice {
    /// `sky`, `studio`, a colour (see [`parse_color`]), else a file.
    ///
    /// # Errors
    /// A sentence about what may be written, if the text is none of these.
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
    /// The environment as a scene file would have it, turned by `rotation` degrees about +Y.
    ///
    /// # Errors
    /// A sentence about what to write instead, if scene files have no such environment.
    pub(crate) fn in_scene_file(&self, rotation: f32) -> Result<String, String> {
        Ok(match self {
            // Azimuths go from +X to +Z, against rotations about +Y.
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

/// A colour of CSS, such as `white` or `#c8b090`, or a linear `r,g,b`; none if the text does not look like one.
///
/// # Errors
/// A sentence about what may be written, if it is a wrong one.
pub fn parse_color(text: &str) -> Result<Option<Vec3>, String> {
    match (css::parse(text), parse_triple(text)) {
        (Some((color, u8::MAX)), _) => Ok(Some(color)),
        (Some(_), _) => Err("this colour must have no alpha".to_owned()),
        (None, Some(color)) if color.min_element() < 0.0 => Err("a colour must not be negative".to_owned()),
        (None, None) if text.starts_with('#') => Err("write a colour like #c8b090".to_owned()),
        (None, color) => Ok(color),
    }
}

/// Parses a flag that takes a colour and nothing else.
#[cfg(feature = "cli")]
pub(crate) fn parse_only_color(text: &str) -> Result<Vec3, String> {
    let wrong = || format!("`{text}` is no colour: write one like white, #c8b090 or 0.5,0.5,0.5");
    parse_color(text)?.ok_or_else(wrong)
}

/// Three finite numbers with commas between, in parentheses or without.
pub fn parse_triple(text: &str) -> Option<Vec3> {
    let text = text.trim();
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    let number = |part: &str| part.trim().parse::<f32>().ok().filter(|x| x.is_finite());
    let numbers: Option<Vec<f32>> = inner.unwrap_or(text).split(',').map(number).collect();
    <[f32; 3]>::try_from(numbers?).ok().map(Vec3::from)
}

/// The kinds of files, as far as options tell them apart.
#[derive(Clone, Copy)]
pub enum Kind {
    /// `.ron`
    Scene,
    /// `.gltf` and `.glb`
    Gltf,
    /// A file of one mesh, such as `.obj`
    Mesh(&'static dyn MeshFormat),
    /// `.scn`
    Raw,
}

impl LoadOptions {
    /// Refuses options that do not apply to files of this kind.
    ///
    /// # Errors
    /// The first such flag, and what to do instead.
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

/// Position of `wanted` among `names`: an exact name, else an index from 0.
///
/// # Errors
/// A sentence with the nearest name, or all of them.
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
    // No other index is suggested for a wrong one.
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

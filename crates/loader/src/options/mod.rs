//! User options for loading a file. With the feature `cli` they are also command line flags.

mod environment;
#[cfg(feature = "cli")]
mod flags;
mod lens;
mod model;
pub(super) mod view;
mod views;

pub use environment::{EnvironmentChoice, parse_color, parse_only_color, parse_triple};
pub use lens::{Focusing, LensOptions, Projecting};
pub use model::{AnimationOptions, CameraChoice, ModelOptions, Preset, StageOptions};
pub use view::ViewOptions;
pub use views::{PatternShape, ViewPattern, WorldUp};

use super::{LoadError, gltf::GltfOptions, meshes::MeshFormat, suggest, usd};
use glam::{EulerRot, Quat, Vec3};
use throng_usd::StageOptions as UsdOptions;

/// User options for loading a file. `overrides` are applied in order; each is a path into the file (`render.samples`,
/// `materials.stone.color`, `instances.0.count`) and its new value as RON text. `start` is in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct LoadOptions {
    /// Override a value of the scene file, for example render.frames=12
    ///
    /// May be repeated. Models have render.*, environment.* and materials.NAME. The environment includes one set by --environment
    #[cfg_attr(feature = "cli", arg(long = "set", value_name = "KEY=VALUE", value_parser = flags::pair))]
    pub overrides: Vec<(String, String)>,
    /// Fail if anything in a file would be replaced or left out, instead of printing a warning
    #[cfg_attr(feature = "cli", arg(long))]
    pub strict: bool,
    /// The view of the picture.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub view: ViewOptions,
    /// Time of the first frame
    #[cfg_attr(feature = "cli", arg(id = "time", long, help_heading = "View", value_name = "SECONDS", allow_negative_numbers = true, value_parser = flags::double))]
    pub start: Option<f64>,
    /// Presentation of standalone models.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub model: ModelOptions,
}

/// Kinds of files with different options.
#[derive(Clone, Copy)]
pub enum Kind {
    /// `.ron`
    Scene,
    /// `.gltf` and `.glb`
    Gltf,
    /// `.usd`, `.usda`, `.usdc` and `.usdz`
    Usd,
    /// `.pbrt` and `.pbrt.gz`
    Pbrt,
    /// A file with a single mesh, such as `.obj`
    Mesh(&'static dyn MeshFormat),
    /// `.scn`
    Raw,
}

impl LoadOptions {
    /// The axis of a standalone model that points up; None for +Y. With an eye, `view.up` is of the camera instead.
    fn model_up(&self) -> Option<Vec3> {
        self.view.up.filter(|_| self.view.eye.is_none())
    }

    /// The rotation of a standalone model: first its up axis is rotated to +Y, then `rotate` is applied.
    #[doc(hidden)]
    pub fn rotation(&self) -> Quat {
        let upright = self.model_up().map_or(Quat::IDENTITY, |up| Quat::from_rotation_arc(up.normalize(), Vec3::Y));
        let [x, y, z] = self.model.stage.rotate.unwrap_or_default().to_array().map(f32::to_radians);
        Quat::from_euler(EulerRot::ZYX, z, y, x) * upright
    }

    /// The options for reading a glTF file.
    #[doc(hidden)]
    pub fn gltf(&self) -> GltfOptions {
        GltfOptions {
            scene: self.model.scene.clone(),
            variant: self.model.variants.first().cloned(),
            allow_dirs: self.model.allow_dirs.clone(),
            skip_environment: self.model.environment.is_some(),
            line_width: self.model.line_width,
            rotation: self.rotation(),
            ..GltfOptions::default()
        }
    }

    /// Flags that scene files do not support, whether they are given, and the alternative.
    /// The options for reading a USD stage.
    ///
    /// # Errors
    /// If a variant is not of the form `/Prim{set=variant}`.
    pub(crate) fn usd(&self) -> Result<UsdOptions, LoadError> {
        let variants = usd::variants(&self.model.variants);
        Ok(UsdOptions {
            prim: self.model.scene.clone(),
            variants: variants.map_err(|message| LoadError::flag("--variant", message))?,
            purposes: usd::purposes(&self.model.purposes),
            allow: self.model.allow_dirs.clone(),
        })
    }

    fn not_of_scenes(&self) -> [(&'static str, bool, &'static str); 10] {
        let (model, stage) = (&self.model, &self.model.stage);
        [
            (
                "--camera",
                matches!(model.camera, Some(CameraChoice::Turntable | CameraChoice::Still)),
                "--camera NAME chooses one of its cameras, --eye and --target place another",
            ),
            ("--no-ground", model.no_ground, "take its ground out of the file's `instances`"),
            ("--margin", stage.margin.is_some(), "write --zoom, or --eye and --target"),
            ("--turns", stage.turns.is_some(), "write --set camera.turns=N if its camera is an Orbit"),
            ("--duration", stage.duration.is_some(), "write --set render.frames=N"),
            ("--fps", stage.fps.is_some(), "write --set render.fps=N"),
            ("--rotate", stage.rotate.is_some(), "give the instance a `rotate` in the file"),
            ("--up", self.model_up().is_some(), "+Y is up in it; with --eye, the flag says what is up in the picture"),
            ("--preset", stage.preset.is_some(), "write --samples N"),
            ("--shadow-catcher", model.shadow_catcher, "give its ground the material ShadowCatcher()"),
        ]
    }

    /// Refuses options that do not apply to files of this kind.
    ///
    /// # Errors
    /// Names the first such flag, and the alternative.
    pub(crate) fn check(&self, kind: Kind) -> Result<(), LoadError> {
        let model = &self.model;
        let (is_gltf, is_usd) = (matches!(kind, Kind::Gltf), matches!(kind, Kind::Usd));
        let of_others = [
            (
                "--animation",
                model.animation != AnimationOptions::default(),
                is_gltf,
                ".gltf and .glb models have animations to choose; USD stages play by themselves",
            ),
            ("--scene", model.scene.is_some(), is_gltf || is_usd, "glTF and USD files have several scenes or prims"),
            ("--variant", !model.variants.is_empty(), is_gltf || is_usd, "glTF and USD files have variants"),
            (
                "--line-width",
                model.line_width.is_some(),
                is_gltf,
                ".gltf and .glb models have lines; a .ron scene has `line_width` in the entries of models",
            ),
            ("--purpose", !model.purposes.is_empty(), is_usd, "USD files have purposes"),
            (
                "--subdivision",
                model.subdivision.is_some(),
                is_usd || matches!(kind, Kind::Mesh(format) if format.has_polygons()),
                "USD, .obj and .ply files have faces to subdivide; a .ron scene has `subdivision` in the entries of meshes",
            ),
        ];
        for (flag, given, fits, what) in of_others {
            if given && !fits {
                return Err(LoadError::flag(flag, format!("only {what}")));
            }
        }
        if is_gltf && model.variants.len() > 1 {
            return Err(LoadError::flag("--variant", "a glTF file shows one variant: write the flag once"));
        }
        for (flag, given, instead) in self.not_of_scenes() {
            let instead = match kind {
                Kind::Scene => format!("this is of models, and a .ron scene says it itself: {instead}"),
                Kind::Raw => "only models have this choice, not scenes".to_owned(),
                Kind::Gltf | Kind::Usd | Kind::Pbrt | Kind::Mesh(_) => continue,
            };
            if given {
                return Err(LoadError::flag(flag, instead));
            }
        }
        if matches!(kind, Kind::Raw) && (model.environment.is_some() || model.environment_rotation.is_some()) {
            let flag = if model.environment.is_some() { "--environment" } else { "--environment-rotation" };
            return Err(LoadError::flag(flag, "a .scn file has its own light: write a .ron scene for another"));
        }
        if matches!((&model.camera, kind), (Some(CameraChoice::Of(_)), Kind::Mesh(_) | Kind::Raw)) {
            return Err(LoadError::flag("--camera", "only .ron scenes, glTF and USD files have cameras by name"));
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
    fn a_model_is_turned_upright_before_it_is_rotated() {
        let mut options = LoadOptions::default();
        assert_eq!(options.rotation(), Quat::IDENTITY);
        options.model.stage.rotate = Some(Vec3::new(0.0, 90.0, 0.0));
        let turned = options.rotation();
        options.view.up = Some(Vec3::Z);
        assert!((options.rotation() * Vec3::Z).abs_diff_eq(Vec3::Y, 1e-6));
        assert!((options.rotation() * Vec3::Y).abs_diff_eq(Vec3::NEG_X, 1e-6), "{}", options.rotation() * Vec3::Y);
        // With an eye, the camera is upright, not the model.
        options.view.eye = Some(Vec3::X);
        assert_eq!(options.rotation(), turned);
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

//! Creates a scene file for a model without one: the setup in which a standalone model is shown, as far as scene files can express it.

use super::{
    Flight,
    number::{double, number, point},
    save_flight, save_values,
};
use glam::{Vec2, Vec3};
use std::{
    fmt::Write,
    path::{self, Path, PathBuf},
};
use throng_loader::{LoadOptions, is_gltf, options::EnvironmentChoice};
use throng_scene::anim::{Moment, camera_at};
use throng_scene::desc::Subdivision;
use throng_scene::{
    Aperture, CLAY, CameraPath, Environment, FloatImage, Focus, Instance, Light, Material, Projection, Scene, Shape,
    ToCamera,
};

/// Choices for the scene of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelChoices {
    /// `None` for the camera with which the model is shown.
    pub flight: Option<Flight>,
    /// Exposure in stops, measured or chosen; `None` for the exposure of the settings.
    pub exposure: Option<f32>,
}

/// The name of a scene file that does not exist yet, in the model's folder: `fox.ron` for `fox.glb`, otherwise `fox-2.ron` and so on.
pub fn path_for(model: &Path) -> PathBuf {
    let stem = model.file_stem().unwrap_or_default().to_string_lossy();
    let first = model.with_file_name(format!("{stem}.ron"));
    let others = (2..).map(|number| model.with_file_name(format!("{stem}-{number}.ron")));
    std::iter::once(first).chain(others).find(|path| path.symlink_metadata().is_err()).unwrap_or_default()
}

/// The text of a scene file next to `model` that shows the model like `scene`, which was loaded from it with `options`.
///
/// Scene files cannot express some properties. They are replaced as follows:
/// - environment light in the model's file: a still light of equal mean;
/// - moving lights and cameras: still lights, and a camera's first pose;
/// - several clips, or a start time: the first clip;
/// - a noise limit: all pixels get all samples;
/// - a ground whose colour fades into the backdrop or the sky: a uniform ground;
/// - changes to materials by `--set`: omitted.
pub fn scene_for(model: &Path, scene: &Scene, options: &LoadOptions, choices: &ModelChoices) -> String {
    let mut sets = Vec::new();
    for (key, value) in &options.overrides {
        if ["render", "environment"].contains(&key.split('.').next().unwrap_or_default()) {
            sets.push((key.clone(), value.clone()));
        }
    }
    if let Some(exposure) = choices.exposure {
        sets.push(("render.exposure".to_owned(), number(exposure)));
    }
    let mut text = Writer { model, scene, options }.text();
    // One by one: settings that do not fit are omitted.
    for set in sets {
        text = save_values(&text, &[set]).unwrap_or(text);
    }
    match &choices.flight {
        Some(flight) => save_flight(&text, None, flight).unwrap_or(text),
        None => text,
    }
}

struct Writer<'a> {
    model: &'a Path,
    scene: &'a Scene,
    options: &'a LoadOptions,
}

impl Writer<'_> {
    fn text(&self) -> String {
        let name = self.model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let ground = if name == "ground" { "the ground" } else { "ground" };
        let stage = self.scene.stage.and_then(|index| self.scene.instances.get(index as usize));
        let clay = self.is_clay().then_some("clay");
        let mut materials = String::new();
        let mut instances = format!("        Single(of: {name:?}{}),\n", self.turned());
        let mut meshes = format!("        {name:?}: {},\n", self.mesh(clay));
        if let Some(clay) = clay {
            let _ = writeln!(materials, "        {clay:?}: Diffuse(color: {}),", point(CLAY));
        }
        if let Some(stage) = stage {
            let (kind, color, radius) = self.ground(stage);
            let _ = writeln!(materials, "        {ground:?}: {kind}(color: {}),", point(color));
            let _ = writeln!(meshes, "        {ground:?}: Disc(radius: {}),", number(radius));
            let (scale, _, translation) = stage.local.to_scale_rotation_translation();
            let (translate, scale) = (point(translation), number(scale.x));
            let _ = writeln!(
                instances,
                "        Single(of: {ground:?}, material: {ground:?}, translate: {translate}, scale: {scale}),"
            );
        }
        let materials = section("materials", '{', &materials, '}');
        let lights: String = self.lights().map(|light| format!("        {light},\n")).collect();
        let lights = section("lights", '[', &lights, ']');
        format!(
            "// {} as throng shows it.\n(\n    render: ({}),\n\n    environment: {},\n\n{lights}{materials}    \
             meshes: {{\n{meshes}    }},\n\n    instances: [\n{instances}    ],\n\n    camera: {},\n)\n",
            self.file().replace(|c: char| c.is_control(), " "),
            self.settings(),
            self.environment(),
            self.camera(),
        )
    }

    fn file(&self) -> String {
        self.model.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn settings(&self) -> String {
        let s = &self.scene.settings;
        let mut text = format!(
            "size: ({}, {}), samples: {}, bounces: {}, frames: {}, fps: {}, integrator: {}, tone_map: {}",
            s.width,
            s.height,
            s.samples,
            s.bounces,
            s.frames,
            double(s.fps),
            s.integrator,
            s.tone_map
        );
        if s.start != 0.0 {
            let _ = write!(text, ", start: {}", double(s.start));
        }
        if s.exposure != 0.0 {
            let _ = write!(text, ", exposure: {}", number(s.exposure));
        }
        if let Some(limit) = s.clamp_indirect {
            let _ = write!(text, ", clamp_indirect: {}", number(limit));
        }
        text
    }

    fn environment(&self) -> String {
        match (&self.options.model.environment, &self.scene.environment) {
            (Some(EnvironmentChoice::Sky), _) => "SunSky()".to_owned(),
            (Some(EnvironmentChoice::File(picture)), _) => format!("Image(file: {:?})", self.relative(picture)),
            (_, Environment::Constant { radiance }) => format!("Constant(radiance: {})", point(*radiance)),
            (_, Environment::Gradient { zenith, horizon, nadir }) => {
                let [zenith, horizon, nadir] = [zenith, horizon, nadir].map(|radiance| point(*radiance));
                format!("Gradient(zenith: {zenith}, horizon: {horizon}, nadir: {nadir})")
            }
            (_, Environment::Image { pixels, .. }) => format!("Constant(radiance: {})", point(mean(pixels))),
        }
    }

    /// A path in the form that a scene file next to the model uses.
    fn relative(&self, file: &Path) -> String {
        let absolute = path::absolute(file).unwrap_or_else(|_| file.to_owned());
        let folder = path::absolute(self.model).ok().and_then(|model| model.parent().map(Path::to_owned));
        let inside = folder.and_then(|folder| absolute.strip_prefix(folder).ok().map(Path::to_owned));
        inside.unwrap_or(absolute).to_string_lossy().into_owned()
    }

    /// The lights that do not belong to the environment.
    fn lights(&self) -> impl Iterator<Item = String> {
        let is_set =
            self.options.overrides.iter().any(|(key, _)| key == "environment" || key.starts_with("environment."));
        let own = if is_set || self.options.model.environment == Some(EnvironmentChoice::Sky) {
            self.scene.own_lights
        } else {
            self.scene.lights.len()
        };
        self.scene.lights.iter().take(own).filter_map(light)
    }

    fn mesh(&self, clay: Option<&str>) -> String {
        let kind = match self.model.extension().map(|extension| extension.to_string_lossy().to_lowercase()).as_deref() {
            Some("gltf" | "glb") => "Gltf",
            Some("usd" | "usda" | "usdc" | "usdz") => return self.stage(clay),
            Some("pbrt" | "gz") => "Pbrt",
            Some("ply") => "Ply",
            Some("stl") => "Stl",
            _ => "Obj",
        };
        let mut text = format!("{kind}(file: {:?}", self.file());
        let clip = self.scene.actors.first().and_then(|actor| {
            let playback = actor.playbacks.first()?;
            Some((actor.rig.clips.get(playback.clip as usize)?, playback.speed))
        });
        if let Some((clip, speed)) = clip.filter(|_| is_gltf(self.model)) {
            let _ = write!(text, ", clip: {:?}, alive: true", clip.name);
            if speed != 1.0 {
                let _ = write!(text, ", speed: {}", double(speed));
            }
        }
        let model = &self.options.model;
        for (name, value) in [
            ("scene", model.scene.as_deref()),
            ("variant", model.variants.first().map(String::as_str)),
            ("material", clay),
        ] {
            if let Some(value) = value {
                let _ = write!(text, ", {name}: {value:?}");
            }
        }
        if let Some(width) = model.line_width {
            let _ = write!(text, ", line_width: {width}");
        }
        text + &self.level() + ")"
    }

    /// The level of subdivision.
    fn level(&self) -> String {
        match self.options.model.subdivision {
            Some(Subdivision::Level(level)) => format!(", subdivision: {level}"),
            Some(Subdivision::Auto) => ", subdivision: \"auto\"".to_owned(),
            None => String::new(),
        }
    }

    fn stage(&self, clay: Option<&str>) -> String {
        let model = &self.options.model;
        let mut text = format!("Usd(file: {:?}", self.file());
        for (name, value) in [("prim", model.scene.as_deref()), ("material", clay)] {
            if let Some(value) = value {
                let _ = write!(text, ", {name}: {value:?}");
            }
        }
        if !model.variants.is_empty() {
            let _ = write!(text, ", variants: {:?}", model.variants);
        }
        if !model.purposes.is_empty() {
            let names: Vec<String> = model.purposes.iter().map(ToString::to_string).collect();
            let _ = write!(text, ", purposes: [{}]", names.join(", "));
        }
        if let Some(width) = model.line_width {
            let _ = write!(text, ", line_width: {width}");
        }
        text + &self.level() + ")"
    }

    /// Whether the whole model is clay because it has no materials.
    fn is_clay(&self) -> bool {
        let clay = Material { color: CLAY, ..Material::default() };
        let stage = self.stage_row();
        let used = self.scene.used_materials();
        let mut own = used.iter().filter(|&&row| Some(row as u32) != stage).peekable();
        own.peek().is_some() && own.all(|&row| self.scene.materials[row] == clay)
    }

    /// Index of the ground's material.
    fn stage_row(&self) -> Option<u32> {
        let stage = self.scene.instances.get(self.scene.stage? as usize)?;
        self.scene.material_slots.get(stage.slot_base as usize).copied()
    }

    /// The model's rotation, as the text of an additional field; empty without rotation.
    fn turned(&self) -> String {
        let (axis, angle) = self.options.rotation().to_axis_angle();
        if angle.abs() < 1e-6 {
            String::new()
        } else {
            format!(", rotate: (axis: {}, degrees: {})", point(axis), degrees(angle))
        }
    }

    /// Kind and colour of the ground's material, and its radius.
    fn ground(&self, stage: &Instance) -> (&'static str, Vec3, f32) {
        let row = self.stage_row().and_then(|row| self.scene.materials.get(row as usize));
        let kind = match row.map(|material| material.to_camera) {
            Some(ToCamera::ShadowCatcher) => "ShadowCatcher",
            _ => "Diffuse",
        };
        let mesh = self.scene.meshes.get(stage.mesh as usize);
        let Some(Shape::Triangles(mesh)) = mesh.map(|mesh| &mesh.shape) else {
            return (kind, Vec3::splat(0.5), 1.0);
        };
        let [r, g, b, _] = mesh.colors.first().copied().unwrap_or([1.0; 4]);
        let radius = mesh.positions.iter().map(|p| Vec3::from(*p).length()).fold(0.0, f32::max);
        (kind, Vec3::new(r, g, b), radius)
    }

    fn camera(&self) -> String {
        let camera = &self.scene.camera;
        let pose = camera_at(self.scene, &Moment::of(self.scene, self.scene.settings.start));
        let mut text = match camera.path {
            CameraPath::Orbit { target, radius, height, start, turns } => {
                let [radius, height, turns] = [radius, height, turns].map(number);
                format!(
                    "Orbit(target: {}, radius: {radius}, height: {height}, start: {}, turns: {turns}",
                    point(target),
                    degrees(start)
                )
            }
            _ => format!("LookAt(eye: {}, target: {}", point(pose.eye), point(pose.target)),
        };
        match pose.projection {
            Projection::Perspective { fov_y } => {
                let _ = write!(text, ", fov: {}", degrees(fov_y));
            }
            Projection::Orthographic { height } => {
                let _ = write!(text, ", projection: orthographic(height: {})", number(height));
            }
            Projection::Equirectangular => text += ", projection: equirectangular",
        }
        if camera.shift != Vec2::ZERO {
            let _ = write!(text, ", shift: ({}, {})", number(camera.shift.x), number(camera.shift.y));
        }
        if pose.up != Vec3::Y {
            let _ = write!(text, ", up: {}", point(pose.up));
        }
        if let Some(lens) = &camera.lens {
            let _ = match lens.aperture {
                Aperture::FStop { number: stop, sensor } => {
                    write!(text, ", lens: (f_stop: {}, sensor: {}", number(stop), number(sensor))
                }
                Aperture::Radius(radius) => write!(text, ", lens: (radius: {}", number(radius)),
            };
            let focus = match &lens.focus {
                Focus::Target => None,
                Focus::Point(at) => Some(point(*at)),
                Focus::Distance(distance) => Some(number(*distance)),
                Focus::On(_) => pose.lens.map(|lens| number(lens.focus)),
            };
            if let Some(focus) = focus {
                let _ = write!(text, ", focus: {focus}");
            }
            let (blades, rotation) = (lens.iris.blades, degrees(lens.iris.rotation));
            let _ = write!(text, ", blades: {blades}, rotation: {rotation}, ratio: {})", number(lens.iris.ratio));
        }
        text + ")"
    }
}

/// A section of a scene file; empty if its content is empty.
fn section(name: &str, open: char, content: &str, close: char) -> String {
    if content.is_empty() { String::new() } else { format!("    {name}: {open}\n{content}    {close},\n\n") }
}

fn light(light: &Light) -> Option<String> {
    Some(match *light {
        Light::Point { position, intensity, range } => {
            format!("Point(position: {}, intensity: {}{})", point(position), point(intensity), ending(range))
        }
        Light::Sun { direction, irradiance, angular_radius } => format!(
            "Sun(direction: {}, irradiance: {}, size: {})",
            point(direction),
            point(irradiance),
            degrees(2.0 * angular_radius)
        ),
        Light::Spot { position, direction, intensity, inner, outer, radius, range } => format!(
            "Spot(position: {}, direction: {}, intensity: {}, angle: {}, blend: {}, radius: {}{})",
            point(position),
            point(direction),
            point(intensity),
            degrees(2.0 * outer),
            number((1.0 - inner / outer).clamp(0.0, 1.0)),
            number(radius),
            ending(range)
        ),
        Light::Moon { .. } | Light::Lamp { .. } => return None,
    })
}

/// The field for a light's range, limited to the bounds of scene files; empty without a range.
fn ending(range: Option<f32>) -> String {
    range.map_or_else(String::new, |range| format!(", range: {}", number(range.clamp(1e-6, 1e6))))
}

/// The mean radiance of a latitude-longitude image, weighted by solid angle.
fn mean(picture: &FloatImage) -> Vec3 {
    let (mut sum, mut weights) = (Vec3::ZERO, 0.0);
    for (row, pixels) in picture.data.chunks_exact((picture.width as usize).max(1)).enumerate() {
        let weight = ((row as f32 + 0.5) / picture.height as f32 * std::f32::consts::PI).sin();
        sum += weight * pixels.iter().map(|pixel| Vec3::from(*pixel)).sum::<Vec3>();
        weights += weight * pixels.len() as f32;
    }
    sum / weights.max(f32::MIN_POSITIVE)
}

/// The shortest text in degrees that converts back to exactly these radians.
#[doc(hidden)]
pub fn degrees(radians: f32) -> String {
    let exact = radians.to_degrees();
    let rounded = (0..6).map(|digits| {
        let power = 10f64.powi(digits);
        ((f64::from(exact) * power).round() / power) as f32
    });
    let mut same = rounded.filter(|rounded| rounded.to_radians() == radians);
    number(same.next().unwrap_or(exact))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Waypoint, parsed};
    use glam::Affine3;
    use std::fs;
    use throng_base::math::Aabb;
    use throng_loader::{self as loader, options::AnimationOptions};

    const TRIANGLE: &str = "v 0 0 0\nv 2 0 0\nv 0 3 1\nf 1 2 3\n";

    fn bounds(scene: &Scene) -> Aabb {
        let mut worlds: Vec<Affine3> = Vec::new();
        throng_scene::anim::world_transforms(scene, &Moment::of(scene, 0.0), &mut worlds);
        let boxes = scene
            .instances
            .iter()
            .zip(&worlds)
            .map(|(instance, world)| scene.meshes[instance.mesh as usize].bounds().transformed(world));
        boxes.fold(Aabb::EMPTY, |all, one| all.union(one))
    }

    /// Writes the scene file of a model next to it, and loads both.
    fn both(model: &Path, options: &LoadOptions, choices: &ModelChoices) -> (Scene, Scene) {
        let bare = loader::load_with(model, options).unwrap();
        let text = scene_for(model, &bare, options, choices);
        let path = path_for(model);
        fs::write(&path, &text).unwrap();
        let scene = loader::load(&path).unwrap_or_else(|error| panic!("{error}\n{text}"));
        (bare, scene)
    }

    fn assert_alike(bare: &Scene, scene: &Scene) {
        assert_eq!(bare.environment, scene.environment);
        assert_eq!(bare.lights.len(), scene.lights.len());
        let (a, b) = (&bare.settings, &scene.settings);
        assert_eq!((a.samples, a.bounces, a.frames, a.fps), (b.samples, b.bounces, b.frames, b.fps));
        assert_eq!((a.integrator, a.tone_map, a.clamp_indirect), (b.integrator, b.tone_map, b.clamp_indirect));
        for frame in [1, a.frames] {
            let pose = |scene: &Scene| camera_at(scene, &Moment::of(scene, scene.time_of(frame)));
            let (a, b) = (pose(bare), pose(scene));
            assert!(a.eye.distance(b.eye) < 1e-4 * a.eye.length(), "{a:?} {b:?}");
            assert_eq!((a.target, a.projection), (b.target, b.projection));
        }
        let (a, b) = (bounds(bare), bounds(scene));
        let off = (a.min - b.min).length().max((a.max - b.max).length());
        assert!(off < 1e-4 * a.diagonal(), "{a:?} {b:?}");
    }

    #[test]
    fn a_mesh_is_shown_as_it_was_without_a_scene() {
        let dir = tempfile::tempdir().unwrap();
        let model = dir.path().join("a \"thing\".obj");
        fs::write(&model, TRIANGLE).unwrap();
        let (bare, scene) = both(&model, &LoadOptions::default(), &ModelChoices::default());
        assert_alike(&bare, &scene);
        assert_eq!(scene.materials[scene.material_slots[0] as usize].color, CLAY);
        assert_eq!(path_for(&model).file_name().unwrap(), "a \"thing\"-2.ron");
    }

    #[test]
    fn choices_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let model = dir.path().join("ground.obj");
        fs::write(&model, TRIANGLE).unwrap();
        let mut options = LoadOptions::default();
        options.model.environment = Some(EnvironmentChoice::Sky);
        options.view.up = Some(Vec3::Z);
        options.model.stage.rotate = Some(Vec3::new(0.0, 30.0, 0.0));
        options.overrides = vec![("render.samples".into(), "7".into()), ("materials.x".into(), "Mirror()".into())];
        let waypoint = Waypoint { eye: Vec3::new(1.0, 2.0, 9.0), ..Waypoint::default() };
        let flight = Flight { waypoints: vec![waypoint], ..Flight::default() };
        options.overrides.pop();
        let choices = ModelChoices { flight: Some(flight), exposure: Some(1.25) };
        let (bare, scene) = both(&model, &options, &choices);
        // Below the horizon, the model's environment has the colour of the ground.
        let zenith = |scene: &Scene| match &scene.environment {
            Environment::Image { pixels, .. } => pixels.data[..pixels.width as usize].to_vec(),
            _ => Vec::new(),
        };
        assert!(zenith(&bare) == zenith(&scene) && !zenith(&scene).is_empty());
        assert_eq!((scene.lights.len(), scene.settings.samples, scene.settings.exposure), (bare.lights.len(), 7, 1.25));
        assert_eq!(camera_at(&scene, &Moment::of(&scene, 0.0)).eye, waypoint.eye);
        let (a, b) = (bounds(&bare), bounds(&scene));
        assert!((a.max - b.max).length() < 1e-4 * a.diagonal());
    }

    #[test]
    fn a_model_plays_its_clip() {
        let dir = tempfile::tempdir().unwrap();
        let model = dir.path().join("dragon.glb");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/flapping_dragon.glb");
        fs::copy(source, &model).unwrap();
        let mut options = LoadOptions::default();
        options.model.animation = AnimationOptions { clips: vec!["0".into()], ..AnimationOptions::default() };
        let (bare, scene) = both(&model, &options, &ModelChoices::default());
        assert_alike(&bare, &scene);
        assert_eq!(scene.actors.len(), 1);
        let text = fs::read_to_string(dir.path().join("dragon.ron")).unwrap();
        assert!(parsed(&text).is_ok() && text.contains("alive: true"), "{text}");
    }
}

//! Golden image tests: renders of scenes are compared with committed references that were checked by eye.
//!
//! Each test renders one frame of a file in `scenes/` with every supported CPU variant, and on a GPU if one is usable. CPU variants must
//! agree exactly; a GPU must agree as `--compare` requires. The picture may differ slightly from its reference in `references/` (see
//! `picture.rs`). After an intended change, `THRONG_BLESS=1 cargo test --test golden` writes new references; look at each before
//! committing.
//!
//! The scenes share four small files: `worm.gltf`, a tube with a skin of four joints, a morph target that bulges and a mirror that turns
//! beneath it; `letter.png`, an F with a red corner at the bottom left and a yellow one at the top right; `studio.hdr`, red around +X,
//! green around +Z, blue around -X and grey around -Z, with a bright window between +X and +Z; and `house.obj`, which has no symmetry.

mod picture;
use picture::Picture;
use std::{
    path::{Path, PathBuf},
    process::Command,
};
use throng_device::{CpuDevice, cuda::gpus};
use throng_render::compare::PictureDifference;
use throng_testing::process;

/// A device that renders.
#[derive(Clone, Copy, Debug)]
enum On {
    /// A kernel variant of the CPU.
    Cpu(&'static str),
    Gpu,
}

impl On {
    /// The first GPU. Prints a line with the reason and returns None if no GPU is usable.
    fn gpu() -> Option<Self> {
        match gpus() {
            Ok(_) => Some(Self::Gpu),
            Err(reason) => {
                println!("skipped on GPUs: {reason}");
                None
            }
        }
    }

    fn add_to(self, command: &mut Command) {
        match self {
            Self::Cpu(variant) => command.args(["--device", "cpu"]).env("THRONG_CPU", variant),
            Self::Gpu => command.args(["--device", "cuda"]),
        };
    }
}

/// A golden image: a frame of a scene, with additional flags.
struct Golden {
    name: &'static str,
    scene: &'static str,
    frame: u32,
    flags: &'static [&'static str],
}

impl Golden {
    /// Frame 1 of the scene of that name, with the scene's settings.
    const fn of(name: &'static str) -> Self {
        Self { name, scene: name, frame: 1, flags: &[] }
    }

    /// A picture of `scene` under another name.
    const fn with(name: &'static str, scene: &'static str, flags: &'static [&'static str]) -> Self {
        Self { name, scene, frame: 1, flags }
    }

    const fn frame(self, frame: u32) -> Self {
        Self { frame, ..self }
    }

    fn render(&self, on: On) -> Picture {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("picture.png");
        let mut command = process::command(env!("CARGO_BIN_EXE_throng"));
        command
            .arg("render")
            .arg(self.scene())
            .args(["--frames", &self.frame.to_string(), "--output"])
            .arg(&path)
            // Without dithering, so that pictures change only if values do.
            .args(["--dither", "0"])
            .args(self.flags);
        on.add_to(&mut command);
        let output = process::output(&mut command);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {stderr}", self.name);
        // Scenes that use whitted accept its limitations.
        let warns = stderr.lines().any(|line| line.contains("warning") && !line.contains("whitted"));
        assert!(!warns, "{}: {stderr}", self.name);
        Picture::load(&path)
    }

    /// The path of the scene or model.
    fn scene(&self) -> PathBuf {
        let path = folder_of_tests().join("scenes").join(self.scene);
        if path.extension().is_some() { path } else { path.with_extension("ron") }
    }

    fn reference(&self) -> PathBuf {
        folder_of_tests().join("references").join(self.name).with_extension("png")
    }

    #[track_caller]
    fn check(&self) {
        let found = self.render(On::Cpu("baseline"));
        for variant in CpuDevice::variants() {
            assert!(self.render(On::Cpu(variant)) == found, "{}: {variant} makes another picture", self.name);
        }
        if let Some(gpu) = On::gpu() {
            let picture = self.render(gpu);
            let difference = PictureDifference::between(found.bytes(), picture.bytes());
            assert!(difference.agrees(), "{}: {difference:?}", self.name);
        }
        if std::env::var_os("THRONG_BLESS").is_some() {
            found.save(&self.reference());
        } else {
            found.assert_like(&Picture::load(&self.reference()), self.name);
        }
    }
}

fn folder_of_tests() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"))
}

#[test]
fn textures_stand_upright_and_wrap() {
    Golden::of("textures").check();
}

#[test]
fn every_mesh_stands_in_the_sun_and_mirrored_ones_face_out() {
    Golden::of("village").check();
}

#[test]
fn point_lights_and_a_wide_sun_cast_their_shadows() {
    Golden::of("lights").check();
}

#[test]
fn lamps_with_a_size_are_seen_and_cast_soft_shadows() {
    Golden::of("lamps").check();
}

#[test]
fn whitted_knows_lamps_with_a_size_too() {
    Golden::with("lamps_whitted", "lamps", &["--integrator", "whitted", "--samples", "8"]).check();
}

#[test]
fn a_sun_stands_in_its_sky() {
    Golden::of("sky").check();
}

#[test]
fn stars_and_a_moon_stand_in_the_night_and_in_a_mirror() {
    Golden::of("night").check();
}

#[test]
fn at_dusk_the_first_stars_are_out() {
    const FLAGS: [&str; 4] = ["--set", "environment.elevation=-8", "--set", "environment.moon.size=0"];
    Golden::with("dusk", "night", &FLAGS).check();
}

#[test]
fn a_constant_environment_is_the_same_all_around() {
    const ENVIRONMENT: &str = "environment=Constant(radiance: (0.5, 0.6, 0.7))";
    Golden::with("sky_constant", "sky", &["--set", ENVIRONMENT]).check();
}

#[test]
fn a_gradient_runs_from_nadir_to_zenith() {
    const ENVIRONMENT: &str =
        "environment=Gradient(zenith: (0.1, 0.2, 0.8), horizon: (1, 0.7, 0.4), nadir: (0.1, 0.3, 0.1))";
    Golden::with("sky_gradient", "sky", &["--set", ENVIRONMENT]).check();
}

#[test]
fn an_environment_image_is_turned_and_reflected() {
    const ENVIRONMENT: &str = "environment=Image(file: \"studio.hdr\", rotation: 90)";
    Golden::with("sky_image", "sky", &["--set", ENVIRONMENT]).check();
}

#[test]
fn paths_find_all_lights_through_all_materials() {
    Golden::of("paths").check();
}

#[test]
fn hair_shines_and_lets_light_through() {
    Golden::of("hair").check();
}

#[test]
fn fog_lies_on_the_ground_and_shows_where_light_goes() {
    Golden::of("fog").check();
}

#[test]
fn what_moves_while_the_shutter_is_open_is_blurred() {
    Golden::of("blur").check();
}

#[test]
fn a_shutter_of_no_length_blurs_nothing() {
    Golden::with("blur_off", "blur", &["--shutter", "0"]).check();
}

#[test]
fn a_shutter_blurs_scenes_that_name_none() {
    let flags = &["--shutter", "-0.5,0.5"];
    Golden::with("motions_blurred", "motions", flags).frame(7).check();
}

#[test]
fn mirrors_bounce_until_their_limit() {
    Golden::of("mirrors").check();
}

#[test]
fn without_bounces_mirrors_show_the_environment() {
    Golden::with("mirrors_without_bounces", "mirrors", &["--bounces", "0"]).check();
}

#[test]
fn copies_stand_where_their_placements_say() {
    Golden::of("placements").check();
}

#[test]
fn a_valley_has_a_river_a_street_and_a_wood() {
    Golden::of("valley").check();
}

#[test]
fn motions_are_half_way_at_half_a_second() {
    Golden::of("motions").frame(7).check();
}

#[test]
fn motions_begin_at_rest_or_at_their_phase() {
    Golden::with("motions_at_rest", "motions", &[]).check();
}

#[test]
fn a_street_is_as_its_keys_have_it_by_day() {
    Golden::of("street").frame(4).check();
}

#[test]
fn a_street_is_cut_to_and_goes_on_into_the_night() {
    Golden::with("street_later", "street", &[]).frame(21).check();
}

#[test]
fn a_street_is_blurred_while_its_camera_follows() {
    Golden::with("street_blurred", "street", &["--shutter", "0.5"]).frame(15).check();
}

#[test]
fn animated_models_pose_as_their_phases_say() {
    Golden::of("crowd").check();
}

#[test]
fn animated_models_move_on() {
    Golden::with("crowd_later", "crowd", &[]).frame(15).check();
}

#[test]
fn a_spline_flies_past() {
    Golden::of("flight").frame(8).check();
}

#[test]
fn an_orbit_begins_in_front() {
    Golden::of("orbit").check();
}

#[test]
fn an_orbit_comes_round_to_the_side() {
    Golden::with("orbit_turned", "orbit", &[]).frame(3).check();
}

#[test]
fn ambient_occlusion_darkens_corners() {
    Golden::with("view_ao", "village", &["--integrator", "ao"]).check();
}

#[test]
fn the_normal_view_colours_directions() {
    Golden::with("view_normal", "village", &["--integrator", "normal"]).check();
}

#[test]
fn the_depth_view_darkens_with_distance() {
    Golden::with("view_depth", "village", &["--integrator", "depth"]).check();
}

#[test]
fn the_albedo_view_has_no_light() {
    Golden::with("view_albedo", "village", &["--integrator", "albedo"]).check();
}

#[test]
fn the_instance_view_gives_each_its_colour() {
    Golden::with("view_instance", "placements", &["--integrator", "instance"]).check();
}

#[test]
fn a_lens_of_six_blades_is_sharp_where_it_focuses() {
    Golden::of("lens").check();
}

#[test]
fn keys_pull_the_focus_to_a_group() {
    Golden::with("lens_far", "lens", &[]).frame(3).check();
}

#[test]
fn a_panorama_shows_everything_around() {
    const FLAGS: [&str; 4] = ["--projection", "equirectangular", "--size", "128x64"];
    Golden::with("panorama", "lens", &FLAGS).check();
}

#[test]
fn parallel_rays_have_a_lens_too() {
    const FLAGS: [&str; 4] = ["--projection", "orthographic", "--focus-on", "ball:1"];
    Golden::with("lens_parallel", "lens", &FLAGS).check();
}

#[test]
fn what_is_blurred_and_its_shadow_lie_over_a_background() {
    const FLAGS: [&str; 4] = ["--set", "materials.ground=ShadowCatcher()", "--background", "#e0b040"];
    Golden::with("background", "blur", &FLAGS).check();
}

#[test]
fn a_holdout_shows_the_background_through_what_is_behind_it() {
    const FLAGS: [&str; 4] = ["--set", "materials.glass=Holdout()", "--background", "#e0b040"];
    Golden::with("holdout", "paths", &FLAGS).check();
}

#[test]
fn a_model_of_clay_stands_in_a_studio() {
    Golden::with("model", "house.obj", &["--size", "192x108", "--integrator", "whitted"]).check();
}

#[test]
fn a_model_casts_its_shadow_on_a_picture_of_its_surroundings() {
    const FLAGS: [&str; 4] = ["--size", "192x108", "--environment", "tests/golden/scenes/studio.hdr"];
    Golden::with("model_pictured", "worm.gltf", &FLAGS).check();
}

#[test]
fn the_ground_of_a_model_fades_into_any_sky() {
    const FLAGS: [&str; 4] = ["--size", "192x108", "--environment", "sky"];
    Golden::with("model_sky", "house.obj", &FLAGS).check();
}

#[test]
fn edges_of_triangles_are_drawn_alone_or_over_clay() {
    const ALONE: [&str; 4] = ["--size", "192x108", "--integrator", "wireframe"];
    Golden::with("view_wireframe", "house.obj", &ALONE).check();
    const OVER: [&str; 5] = ["--size", "192x108", "--integrator", "clay", "--wireframe=1.5"];
    Golden::with("view_clay", "worm.gltf", &OVER).check();
}

#[test]
fn views_show_texture_coordinates_and_materials() {
    Golden::with("view_uv", "textures", &["--integrator", "uv"]).check();
    Golden::with("view_material", "village", &["--integrator", "material"]).check();
}

#[test]
fn the_steps_view_is_hot_where_traversal_works() {
    let golden = Golden::with("view_steps", "placements", &["--integrator", "steps"]);
    let hedgehog = (100..140, 30..60);
    let sky = (0..40, 0..10);
    let variants = CpuDevice::variants().into_iter().map(On::Cpu);
    for on in variants.chain(On::gpu()) {
        let picture = golden.render(on);
        let (hot, cold) = (picture.mean(hedgehog.clone()), picture.mean(sky.clone()));
        // The colour scale goes from dark blue over blue to green.
        assert!(hot[1] > cold[1] + 40.0, "{on:?}: {hot:?} {cold:?}");
        assert!(cold[2] > 30.0, "{on:?}: {cold:?}");
    }
}

/// Checks the tolerance: it must accept rounding, but not a changed picture.
#[test]
fn other_noise_is_another_picture() {
    let seed = |seed| Golden::with("lights", "lights", seed).render(On::Cpu("baseline"));
    let distance = seed(&["--seed", "1"]).compare(&seed(&["--seed", "2"]));
    assert!(!distance.is_like(), "{distance}");
}

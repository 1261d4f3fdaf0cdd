//! Command lines that render a viewer's current picture or animation.

use super::View;
use std::path::Path;
use throng_base::quoting::for_user;
use throng_edit::degrees;
use throng_scene::Projection;
use throng_scene::anim::CameraPose;

/// Flags of `throng view` that concern only the server.
const OF_THE_SERVER: [&str; 3] = ["--port", "--bind", "--no-open"];

/// Groups of flags that replace one another.
const ALIKE: [&[&str]; 3] =
    [&["--projection", "--orthographic"], &["--aperture", "--aperture-radius"], &["--focus", "--focus-on"]];
/// Camera flags that are dropped if one of the scene's cameras is selected.
const OF_CAMERAS: [&str; 12] = [
    "--camera",
    "--eye",
    "--target",
    "--up",
    "--fov",
    "--projection",
    "--orthographic",
    "--aperture",
    "--aperture-radius",
    "--focus",
    "--focus-on",
    "--blades",
];
/// Flags that require an animation, and the flag that selects it.
const OF_ANIMATIONS: [&str; 4] = ["--animation", "--animation-speed", "--animation-offset", "--no-loop"];
/// The flag that may be given several times.
const MANY: &str = "--set";

/// The command line that renders `scene` with the flags `typed`, some of which are replaced by flags in `chosen`. Each entry is a flag with
/// its value, separated by a space or `=`.
pub fn render(scene: &Path, typed: &[String], chosen: &[String]) -> String {
    let is_replaced = |flag: &String| chosen.iter().any(|other| replaces(name(other), name(flag)));
    let kept = typed.iter().filter(|flag| !is_replaced(flag));
    let scene = scene.display().to_string();
    let scene = if scene.starts_with('-') { format!("./{scene}") } else { scene };
    let mut line = format!("throng render {}", for_user(&scene));
    for flag in kept.chain(chosen) {
        line.push(' ');
        line.push_str(flag);
    }
    line
}

/// The flags of a model that is at rest.
pub fn at_rest(mut typed: Vec<String>) -> Vec<String> {
    typed.retain(|flag| !OF_ANIMATIONS.contains(&name(flag)));
    typed
}

fn replaces(chosen: &str, typed: &str) -> bool {
    let are_alike = |flags: &&[&str]| flags.contains(&chosen) && flags.contains(&typed);
    chosen != MANY && (chosen == typed || ALIKE.iter().any(are_alike))
        || chosen == "--camera" && OF_CAMERAS.contains(&typed)
}

/// The flags after `throng view`, each with its value, without the scene and the server's flags. `takes` returns whether a flag may be
/// followed by a value.
pub fn typed(arguments: &[String], takes: impl Fn(&str) -> Takes) -> Vec<String> {
    let mut flags = Vec::new();
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        if argument == "--" {
            break;
        }
        if !argument.starts_with('-') || argument == "-" {
            continue;
        }
        if let Some((flag, value)) = argument.split_once('=') {
            flags.push(format!("{flag}={}", for_user(value)));
            continue;
        }
        let follows = match takes(argument) {
            Takes::Nothing => false,
            Takes::Value => true,
            Takes::Perhaps => rest.peek().is_some_and(|next| !next.starts_with('-')),
        };
        match rest.next_if(|_| follows) {
            Some(value) => flags.push(format!("{argument} {}", for_user(value))),
            None => flags.push(argument.clone()),
        }
    }
    flags.retain(|flag| !OF_THE_SERVER.contains(&name(flag)));
    flags
}

/// Whether the value of a flag follows as a separate argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    Value,
    Perhaps,
}

/// The optics of a picture, and the projection that a camera has without flags.
pub struct Optics<'a> {
    pub pose: &'a CameraPose,
    pub own: Projection,
}

/// Flags for a camera with the position of `view` and with these optics.
pub fn view_flags(view: &View, optics: &Optics) -> Vec<String> {
    let point = |flag: &str, [x, y, z]: [f32; 3]| format!("{flag} {x:?},{y:?},{z:?}");
    let mut flags = vec![point("--eye", view.eye), point("--target", view.target), point("--up", view.up)];
    match optics.pose.projection {
        Projection::Perspective { fov_y } => {
            if !matches!(optics.own, Projection::Perspective { .. }) {
                flags.push("--projection perspective".to_owned());
            }
            let asked = view.fov.filter(|degrees| degrees.to_radians() == fov_y);
            flags.push(format!("--fov {}", asked.map_or_else(|| degrees(fov_y), |degrees| format!("{degrees:?}"))));
        }
        Projection::Orthographic { height } => flags.push(format!("--orthographic={height:?}")),
        Projection::Equirectangular => {}
    }
    let number = |flag: &str, value: Option<f32>| value.map(|value| format!("{flag} {value:?}"));
    match view.radius {
        Some(radius) => flags.push(format!("--aperture-radius {radius:?}")),
        None => flags.extend(number("--aperture", view.f_stop)),
    }
    flags.extend(number("--focus", view.focus.filter(|_| optics.pose.lens.is_some())));
    flags
}

fn name(flag: &str) -> &str {
    flag.split(['=', ' ']).next().unwrap_or(flag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Vec2, Vec3};

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn takes(flag: &str) -> Takes {
        match flag {
            "--lock-seed" | "--no-open" => Takes::Nothing,
            "--wireframe" => Takes::Perhaps,
            _ => Takes::Value,
        }
    }

    #[test]
    fn what_was_typed_stays_unless_it_was_changed() {
        let line = "scene.ron --port 0 --samples 4 --no-open --environment=sky --set a=b --fov 30";
        let flags = typed(&words(line), takes);
        assert_eq!(flags, ["--samples 4", "--environment=sky", "--set a=b", "--fov 30"]);
        let chosen = ["--samples 9".to_owned(), "--set c=d".to_owned(), "-o x.png".to_owned()];
        let line = render(Path::new("a scene.ron"), &flags, &chosen);
        let expected = "--environment=sky --set a=b --fov 30 --samples 9 --set c=d -o x.png";
        assert_eq!(line, format!("throng render 'a scene.ron' {expected}"));
    }

    #[test]
    fn the_scene_is_no_flag_wherever_it_stands() {
        for line in [
            "--device cpu s.ron --lock-seed",
            "--device cpu --lock-seed s.ron",
            "s.ron --device cpu --lock-seed",
            "--port 0 --device cpu --no-open --lock-seed -- s.ron",
        ] {
            assert_eq!(typed(&words(line), takes), ["--device cpu", "--lock-seed"], "{line}");
        }
        assert_eq!(
            typed(&words("--eye -1,2,3 s.ron --wireframe --fov 3"), takes),
            ["--eye -1,2,3", "--wireframe", "--fov 3"]
        );
        assert_eq!(typed(&words("--set a=b=c"), takes), ["--set a=b=c"]);
        assert_eq!(render(Path::new("-s.ron"), &[], &[]), "throng render ./-s.ron");
    }

    #[test]
    fn flags_that_contradict_each_other_take_each_others_place() {
        let flags = ["--aperture 2", "--focus-on ball", "--projection equirectangular", "--blades 5", "--eye 1,2,3"];
        let flags = flags.map(str::to_owned);
        let chosen = ["--aperture-radius 0.5", "--focus 3.0", "--orthographic=2.0"].map(str::to_owned);
        let line = render(Path::new("s"), &flags, &chosen);
        assert_eq!(line, format!("throng render s --blades 5 --eye 1,2,3 {}", chosen.join(" ")));
        assert_eq!(render(Path::new("s"), &flags, &["--camera top".to_owned()]), "throng render s --camera top");
    }

    #[test]
    fn a_model_at_rest_has_no_flags_of_animations() {
        let flags = ["--animation Walk", "--animation=Run", "--animation-speed 2", "--no-loop", "--samples 4"];
        let flags = flags.map(str::to_owned);
        let line = render(Path::new("fox.glb"), &flags, &["--animation all".to_owned()]);
        assert_eq!(line, "throng render fox.glb --animation-speed 2 --no-loop --samples 4 --animation all");
        assert_eq!(at_rest(flags.to_vec()), ["--samples 4"]);
    }

    #[test]
    fn cameras_are_flags() {
        let view =
            View { eye: [1.0, 2.5, -3.0], target: [0.0; 3], up: [0.0, 1.0, 0.0], fov: Some(40.0), ..View::default() };
        let (eye, target, up) = (Vec3::from(view.eye), Vec3::ZERO, Vec3::Y);
        let pose = |projection| CameraPose {
            eye,
            target,
            up,
            skewed: None,
            projection,
            shift: Vec2::ZERO,
            intrinsics: None,
            lens: None,
        };
        let perspective = Projection::Perspective { fov_y: 40f32.to_radians() };
        let flags = |view: &View, projection, own| view_flags(view, &Optics { pose: &pose(projection), own }).join(" ");
        let place = "--eye 1.0,2.5,-3.0 --target 0.0,0.0,0.0 --up 0.0,1.0,0.0";
        assert_eq!(flags(&view, perspective, perspective), format!("{place} --fov 40.0"));
        let parallel = Projection::Orthographic { height: 3.1 };
        assert_eq!(flags(&view, parallel, perspective), format!("{place} --orthographic=3.1"));
        let all_around = flags(&view, perspective, Projection::Equirectangular);
        assert_eq!(all_around, format!("{place} --projection perspective --fov 40.0"));
        // A computed angle is written with enough digits to be read back exactly.
        let odd = Projection::Perspective { fov_y: 0.123_456_79 };
        let line = flags(&View { fov: None, ..view }, odd, perspective);
        let degrees: f32 = line.rsplit(' ').next().unwrap().parse().unwrap();
        assert_eq!(degrees.to_radians(), 0.123_456_79);
    }
}

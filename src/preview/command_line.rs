//! The command lines that make what a viewer sees.

use super::View;
use crate::quoting::quote;
use std::path::Path;

/// Flags of `throng view` that are of the server.
const OF_THE_SERVER: [&str; 3] = ["--port", "--bind", "--no-open"];

/// The line that renders `scene` with `typed` flags, of which those in `chosen` take the place. Each is one flag, with its value after a space
/// or `=`.
pub fn render(scene: &Path, typed: &[String], chosen: &[String]) -> String {
    let is_replaced = |flag: &String| chosen.iter().any(|other| name(other) == name(flag));
    let kept = typed.iter().filter(|flag| !is_replaced(flag));
    let mut line = format!("throng render {}", quote(&scene.display().to_string()));
    for flag in kept.chain(chosen) {
        line.push(' ');
        line.push_str(flag);
    }
    line
}

/// The flags that were typed after `throng view SCENE`, each with its value, without those of the server.
pub fn typed(arguments: &[String]) -> Vec<String> {
    let mut flags: Vec<String> = Vec::new();
    for argument in arguments {
        match argument.starts_with("--") || flags.is_empty() {
            true if argument.contains('=') => {
                let (flag, value) = argument.split_once('=').unwrap_or((argument, ""));
                flags.push(format!("{flag}={}", quote(value)));
            }
            true => flags.push(argument.clone()),
            false => {
                if let Some(last) = flags.last_mut() {
                    last.push(' ');
                    last.push_str(&quote(argument));
                }
            }
        }
    }
    flags.retain(|flag| flag.starts_with("--") && !OF_THE_SERVER.contains(&name(flag)));
    flags
}

/// The flags of a camera.
pub fn view_flags(view: &View) -> Vec<String> {
    let point = |flag: &str, [x, y, z]: [f32; 3]| format!("{flag} {x:?},{y:?},{z:?}");
    let mut flags = vec![point("--eye", view.eye), point("--target", view.target), point("--up", view.up)];
    let number = |flag: &str, value: Option<f32>| value.map(|value| format!("{flag} {value:?}"));
    flags.extend(number("--fov", view.fov));
    flags.extend(view.height.map(|_| "--orthographic".to_owned()));
    match view.radius {
        Some(radius) => flags.push(format!("--aperture-radius {radius:?}")),
        None => flags.extend(number("--aperture", view.f_stop)),
    }
    flags.extend(number(
        "--focus",
        view.focus.filter(|_| view.radius.is_some_and(|r| r > 0.0) || view.f_stop.is_some()),
    ));
    flags
}

fn name(flag: &str) -> &str {
    flag.split(['=', ' ']).next().unwrap_or(flag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_was_typed_stays_unless_it_was_changed() {
        let flags = typed(&words("scene.ron --port 0 --samples 4 --no-open --environment=sky --set a=b --fov 30"));
        assert_eq!(flags, ["--samples 4", "--environment=sky", "--set a=b", "--fov 30"]);
        let chosen = ["--samples 9".to_owned(), "-o x.png".to_owned()];
        let line = render(Path::new("a scene.ron"), &flags, &chosen);
        assert_eq!(line, "throng render 'a scene.ron' --environment=sky --set a=b --fov 30 --samples 9 -o x.png");
    }

    #[test]
    fn cameras_are_flags() {
        let view =
            View { eye: [1.0, 2.5, -3.0], target: [0.0; 3], up: [0.0, 1.0, 0.0], fov: Some(40.0), ..View::default() };
        let flags = view_flags(&view).join(" ");
        assert_eq!(flags, "--eye 1.0,2.5,-3.0 --target 0.0,0.0,0.0 --up 0.0,1.0,0.0 --fov 40.0");
        assert_eq!(quote("it's"), r"'it'\''s'");
    }
}

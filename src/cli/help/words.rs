//! Flag and command names of other programs, for tips in error messages; and `throng model.glb` as short for `throng render model.glb`.

use crate::cli::shipped;
use clap::{
    Command,
    error::{ContextKind, ContextValue, ErrorKind},
};
use std::{ffi::OsString, path::PathBuf};
use throng_base::quoting;
use throng_loader::suggest;

/// Flag names of other programs, each with the equivalent flag and an example.
const FLAGS: &str = r#"
resolution res dimensions dim geometry width height xres yres res-x res-y resolution-x resolution-y w => --size 1920x1080
image-size picture-size output-size film-size window-size render-size resize image-width image-height s => --size 1920x1080
spp samples-per-pixel sample-count num-samples nsamples pixel-samples pixelsamples max-samples => --samples 64
aa antialiasing anti-aliasing aa-samples msaa raytracing-samples render-samples => --samples 64
hdri hdr ibl env envmap env-map environment-map skybox hdri-file hdri-ambient panorama light-probe world => --environment sky.hdr
hdri-rotation env-rotation environment-rotate rotate-environment envmap-rotation world-rotation => --environment-rotation 90
hdri-strength hdri-intensity env-intensity environment-intensity environment-strength env-strength world-strength => --set environment.intensity=2
sun sun-elevation sun-angle sun-direction light lights lighting => --environment sky --set environment.elevation=20
bg bg-color bg-colour bgcolor background-color background-colour background-image backdrop clear-color => --background white
alpha transparency no-background no-bg nobg rgba film-transparent transparent-background => --transparent
color colour material materials albedo base-color base-colour basecolor diffuse shader => --set 'materials.NAME.color="white"'
metal metallic metallicness metalness roughness glossiness shininess specular => --set 'materials.NAME=Metal(roughness: 0.3)'
define param parameter override property option D => --set KEY=VALUE
engine renderer render-engine method shading shading-mode render-mode => --integrator path
path-tracing pathtracing path-tracer raytracing ray-tracing raytrace => --integrator path
ao ambient-occlusion => --integrator ao
out outfile out-file output-file output-path output-image filename file-name render-output save save-as export dst dest image => -o picture.png
output-dir output-directory output-folder outdir out-dir dir directory folder destination export-dir => -o FOLDER/
format file-format output-format image-format render-format file-type filetype ext extension F => -o picture.png
start end start-frame end-frame frame-start frame-end first-frame last-frame first last frame-range framerange render-frame e => --frames 1-24
range start-number frame-number frame-count num-frames nframes n-frames frame-step step j-frames => --frames 1-24
still single one-frame once screenshot shot => -f 1 -o picture.png
gpu gpus use-gpu gpu-id cuda optix nvidia render-device cycles-device => --device cuda
cpu cpu-only no-gpu nogpu use-cpu => --device cpu
jobs nthreads num-threads thread-count nproc workers cores procs j => --threads 8
denoiser denoising use-denoising oidn optix-denoiser raytracing-denoise noise-reduction despeckle => --denoise
no-denoise no-denoiser no-denoising nodenoise raw => --denoise off
max-depth maxdepth max-bounces ray-depth path-depth max-path-depth path-length recursion-depth => --bounces 8
bits bit-depth bitdepth bpc bpp depth-bits => --color-depth 16
fovy fov-y vfov field-of-view angle-of-view view-angle camera-view-angle focal-length => --fov 40
camera-position camera-pos cam-pos position eye-position camera-location lookfrom look-from origin => --eye 3,2,5
look-at lookat camera-target camera-focal-point focal-point center centre => --eye 3,2,5 --target 0,1,0
up-axis upaxis axis-up camera-up view-up camera-view-up up-vector z-up => --up z
rotation rot yaw orientation orient rotate-x rotate-y rotate-z model-rotation azimuth camera-azimuth-angle => --rotate 0,90,0
turntable spin orbit => --camera turntable
revolutions rounds => --turns 2
camera-file cameras-file camera-json transforms poses camera-poses trajectory colmap => --cameras transforms.json
num-views nviews n-views multiview multi-view num-cameras => --views sphere:24
cam view-name sensor camera-name camera-index active-camera => --camera NAME
framerate frame-rate rate r => --fps 24
length seconds video-length t => --duration 5
anim animations animation-name animation-index clip action take animate => --animation all
speed playback-speed animation-speed-factor => --animation-speed 0.5
animation-time start-time ss => --animation-offset 1.5
movie film mp4 gif webm mkv mov encode => --video video.mp4
crf jpeg-quality jpg-quality video-quality compression bitrate => --quality 90
codec vcodec encoder video-encoder => --video-codec libx265
ev brightness gain stops => --exposure 1
tonemap tonemapping tone-mapping tonemapper view-transform filmic aces agx => --tone-map agx
random-seed rng-seed => --seed 1
dof depth-of-field fstop f-stop f-number fnumber lens-radius bokeh => --aperture 2.8
focus-distance focal-distance => --focus 3.5
motion-blur motionblur shutter-speed exposure-time => --shutter 0.5
ortho parallel isometric orthogonal camera-orthographic => --orthographic
vr equirect spherical panoramic latlong => --projection equirectangular
wire edges show-edges mesh-lines => --wireframe
shadow shadows ground-shadow catch-shadows => --shadow-catcher
no-floor nofloor no-plane hide-ground no-shadow => --no-ground
aov aovs pass passes render-passes channels aux => --layers depth,normal
annotations coco segmentation segmap masks ground-truth bounding-boxes bboxes optical-flow depth-map save-depth => --labels depth,instance,coco
crop cropwindow crop-window render-region tile => --region 0,0,640,360
"#;

/// Flag names without an equivalent, and what to do instead.
const OTHERS: &str = r#"
input i file infile scene-file mesh model load => scenes and models have no flag: write `throng render model.glb`
wire-color wire-colour edge-color edge-colour line-color => write `--wireframe --wireframe-color black`
overwrite force y no-clobber => files of the same name are replaced; `--skip-existing` keeps them
resume continue => `--skip-existing` renders only the frames that are missing
adaptive adaptive-sampling adaptive-threshold noise-threshold threshold => write `--noise 0.05`
preview interactive gui window live watch => write `throng view SCENE`, or `--preset draft` for pictures that are made soon
dry-run validate => write `throng check SCENE`
list list-animations list-cameras list-materials metadata => write `throng info SCENE`
list-devices devices list-gpus => write `throng --version --verbose`
"#;

/// Command names of other programs.
const COMMANDS: &str = r#"
preview show open gui => view
validate lint verify => check
compare flip psnr => diff
init create template => new
benchmark perf => bench
list stats inspect describe => info
"#;

/// The command line, with `render` inserted if a scene, model or folder stands in place of a command.
pub fn with_command(mut args: Vec<OsString>, program: &Command) -> Vec<OsString> {
    let is_input = |first: &OsString| !is_command(first, program) && shipped::found(PathBuf::from(first)).exists();
    if args.get(1).is_some_and(is_input) {
        args.insert(1, "render".into());
    }
    args
}

fn is_command(word: &OsString, program: &Command) -> bool {
    word.to_str().is_some_and(|word| word.starts_with('-') || word == "help" || program.find_subcommand(word).is_some())
}

/// The error, with tips for users of other programs. They replace clap's tips, which suggest any similar flag.
pub fn explained(mut error: clap::Error, args: &[OsString], program: &Command) -> clap::Error {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    };
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => context(ContextKind::InvalidSubcommand).map(|word| command_tip(&word, program)),
        ErrorKind::UnknownArgument => match context(ContextKind::InvalidArg) {
            Some(word) if word.starts_with('-') => Some(flag_tip(&word, args, program)),
            _ => None,
        },
        _ => None,
    };
    if let Some(tip) = tip {
        for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::Suggested] {
            error.remove(kind);
        }
        // clap's usage line contains its suggested flag.
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

fn command_tip(word: &str, program: &Command) -> String {
    let known = program.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
    let other = of(COMMANDS, word).next();
    match other.or_else(|| suggest::nearest(word, known)) {
        _ if word.contains(['.', '/', '\\']) => {
            format!(
                "there is no file `{word}` either; `throng render SCENE` renders a scene or a model: check the path"
            )
        }
        Some(command) => format!("write `throng {command}`"),
        None => "`throng render SCENE` renders a scene or a model; `throng --help` lists all commands".to_owned(),
    }
}

/// The tip for an unknown flag. `word` begins with dashes.
fn flag_tip(word: &str, args: &[OsString], program: &Command) -> String {
    let Some(command) = args.get(1).and_then(|name| program.find_subcommand(name)) else {
        let given = args.iter().skip(1).map(|arg| quoting::for_user(&arg.to_string_lossy()));
        let given = given.collect::<Vec<_>>().join(" ");
        return format!("flags follow a command: write `throng render {given}`");
    };
    let single = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    // clap reports only the first letter of a word with a single dash.
    let whole = single.and_then(|letter| {
        let longer = |arg: &&str| {
            arg.strip_prefix('-').is_some_and(|rest| rest.len() > letter.len() && rest.starts_with(letter))
        };
        args.iter().filter_map(|arg| arg.to_str()).find(longer)
    });
    let name = whole.unwrap_or(word).trim_start_matches('-').split('=').next().unwrap_or_default();
    let folded = if name.len() > 1 { name.to_lowercase().replace('_', "-") } else { name.to_owned() };
    let flags: Vec<&str> = command.get_arguments().filter_map(|arg| arg.get_long()).collect();
    if flags.contains(&&*folded) {
        return format!("write `--{folded}`");
    }
    let all = format!("`throng {} --help` lists all flags", command.get_name());
    if let Some(tip) = meant(&folded, &flags) {
        return tip;
    }
    let has_it =
        |other: &&Command| !other.is_hide_set() && other.get_arguments().any(|arg| arg.get_long() == Some(&folded));
    match (program.get_subcommands().find(has_it), suggest::nearest(&folded, flags.iter().copied())) {
        (Some(other), _) => format!("`--{folded}` is a flag of `throng {}`; {all}", other.get_name()),
        (None, Some(flag)) => format!("did you mean `--{flag}`? {all}"),
        (None, None) => all,
    }
}

/// The equivalent of another program's flag name, in a command with these flags.
fn meant(word: &str, flags: &[&str]) -> Option<String> {
    let write = of(FLAGS, word);
    let fits = |write: &&str| long_flags(write).all(|flag| flags.contains(&flag));
    let other = || of(OTHERS, word).next().map(str::to_owned);
    let mut write = write.peekable();
    match (write.peek().is_some(), write.find(fits)) {
        (_, Some(write)) if write.contains("NAME") => {
            Some(format!("write `{write}`; `throng info SCENE` lists the names"))
        }
        (_, Some(write)) => Some(format!("write `{write}`")),
        (true, None) => None,
        (false, None) => other(),
    }
}

/// The flag names in an example.
fn long_flags(example: &str) -> impl Iterator<Item = &str> {
    example.split(' ').filter_map(|word| match word {
        "-o" => Some("output"),
        "-f" => Some("frames"),
        _ => word.strip_prefix("--"),
    })
}

/// The words of a table and their meanings, line by line.
fn lines(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    table.lines().filter_map(|line| line.split_once(" => "))
}

/// All meanings of `word`.
fn of(table: &'static str, word: &str) -> impl Iterator<Item = &'static str> {
    lines(table).filter(move |(words, _)| words.split(' ').any(|known| known == word)).map(|(_, meaning)| meaning)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Help, command},
        *,
    };
    use std::collections::HashSet;

    fn explain(line: &str) -> String {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let mut program = command(Help::Long);
        let error = program.try_get_matches_from_mut(&args).unwrap_err().format(&mut program);
        explained(error, &args, &program).render().to_string()
    }

    #[test]
    fn words_of_other_programs_lead_to_flags() {
        for (given, tip) in [
            ("--hdri a.hdr", "tip: write `--environment sky.hdr`\n"),
            ("--resolution 1920 1080", "tip: write `--size 1920x1080`\n"),
            ("--res=64x64", "`--size 1920x1080`"),
            ("--width 64", "`--size 1920x1080`"),
            ("--sample_count 8", "`--samples 64`"),
            ("-resolution 8", "`--size 1920x1080`"),
            ("-samples 8", "tip: write `--samples`\n"),
            ("--bg white", "`--background white`"),
            ("--color red", "`--set 'materials.NAME.color=\"white\"'`"),
            ("--engine cycles", "`--integrator path`"),
            ("--output-dir a", "`-o FOLDER/`"),
            ("--start 1", "`--frames 1-24`"),
            ("--gpu", "`--device cuda`"),
            ("-j 8", "`--threads 8`"),
            ("-y", "`--skip-existing` keeps them"),
            ("--sampels 8", "did you mean `--samples`?"),
            ("--frobnicate", "tip: `throng render --help` lists all flags\n"),
        ] {
            let error = explain(&format!("throng render a.glb {given}"));
            assert!(error.contains(tip), "{given}: {error}");
            assert!(error.contains("unexpected argument") && !error.contains("similar"), "{error}");
        }
        // Tips name flags that the command has.
        assert!(explain("throng info a.glb --gpu").contains("`--device cuda`"));
        assert!(explain("throng info a.glb --samples 1").contains("`--samples` is a flag of `throng render`"));
        assert!(explain("throng check a.glb --gpu").contains("`throng check --help` lists all flags"));
    }

    #[test]
    fn what_is_no_command_leads_to_render() {
        assert!(explain("throng nowhere.glb").contains("`throng render SCENE`"));
        assert!(explain("throng frobnicate").contains("`throng render SCENE`"));
        assert!(explain("throng rendr").contains("write `throng render`"));
        assert!(explain("throng preview a.glb").contains("write `throng view`"));
        let error = explain("throng -o a.png a.glb");
        assert!(error.contains("write `throng render -o a.png a.glb`"), "{error}");
    }

    #[test]
    fn a_path_where_a_command_would_stand_is_rendered() {
        let program = command(Help::Long);
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().to_str().unwrap();
        let words = |words: &[&str]| with_command(words.iter().map(OsString::from).collect(), &program);
        assert_eq!(words(&["throng", folder, "-f", "1"]), ["throng", "render", folder, "-f", "1"]);
        for other in [
            &["throng", "view", folder][..],
            &["throng", "help"],
            &["throng", "-V"],
            &["throng", "nowhere"],
            &["throng"],
        ] {
            assert_eq!(words(other), other, "{other:?}");
        }
    }

    #[test]
    fn words_are_no_flags_and_stand_for_one_thing() {
        let program = command(Help::Long);
        let render = program.find_subcommand("render").unwrap();
        let longs = render.get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned));
        let shorts = render.get_arguments().filter_map(|arg| arg.get_short().map(String::from));
        let mut known: HashSet<String> = longs.chain(shorts).collect();
        for (words, _) in lines(FLAGS).chain(lines(OTHERS)) {
            for word in words.split(' ') {
                assert!(known.insert(word.to_owned()), "{word}");
            }
        }
        for (_, command) in lines(COMMANDS) {
            assert!(program.find_subcommand(command).is_some(), "{command}");
        }
    }

    #[test]
    fn what_tips_say_is_understood() {
        for (_, write) in lines(FLAGS) {
            let write = write.replace("KEY=VALUE", "render.samples=1").replace('\'', "");
            // No example has a space within a value but this one.
            let words: Vec<&str> = match write.split_once(' ') {
                Some((flag, value)) if value.contains('(') => vec![flag, value],
                _ => write.split(' ').collect(),
            };
            let line = ["throng", "render", "a.glb", "--animation", "Walk"].into_iter().chain(words);
            let parsed = command(Help::Long).try_get_matches_from(line);
            assert!(parsed.is_ok(), "{write}: {parsed:?}");
        }
    }
}

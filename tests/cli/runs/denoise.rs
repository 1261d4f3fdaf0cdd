//! `throng denoise` for sequences of EXR files with layers, and `throng render --denoise`.

use crate::common::{Place, decode};

const LAYERS: [&str; 2] = ["--layers", "albedo,normal,motion,variance"];

fn sequence(frames: u32) -> Place {
    let place = Place::new(frames);
    place.ok(&[&["render", "scene.ron", "-o", "raw/####.exr", "--samples", "4"], &LAYERS[..]].concat());
    place
}

#[test]
fn a_sequence_is_nearer_to_the_truth_without_its_noise() {
    let place = sequence(5);
    place.ok(&["denoise", "raw/####.exr", "-o", "clean/####.png"]);
    assert_eq!(place.names("clean"), ["0001.png", "0002.png", "0003.png", "0004.png", "0005.png"]);
    assert_eq!(decode(&place.path("clean/0003.png")).len(), 64 * 36 * 3);
    place.ok(&["render", "scene.ron", "-o", "truth/", "--samples", "256"]);
    place.ok(&["render", "scene.ron", "-o", "noisy/", "--samples", "4"]);
    let mean = |frames: &str| {
        let found = place.run(&["diff", "--sequence", "truth/####.png", frames, "--json"]).json();
        found["mean"].as_f64().unwrap()
    };
    let (clean, noisy) = (mean("clean/####.png"), mean("noisy/####.png"));
    assert!(clean < noisy, "{clean} {noisy}");
}

#[test]
fn a_frame_depends_on_those_around_it_alone() {
    let place = sequence(5);
    place.ok(&["denoise", "raw/####.exr", "-o", "all/####.exr", "--denoise-frames", "1"]);
    place.ok(&["denoise", "raw/####.exr", "-o", "one.exr", "--denoise-frames", "1", "-f", "3"]);
    std::fs::remove_file(place.path("raw/0001.exr")).unwrap();
    place.ok(&["denoise", "raw/####.exr", "-o", "some/####.exr", "--denoise-frames", "1", "--quiet"]);
    for other in ["one.exr", "some/0003.exr"] {
        place.ok(&["diff", "all/0003.exr", other]);
    }
}

#[test]
fn a_still_picture_is_denoised_alone_and_needs_no_motion() {
    let place = sequence(2);
    place.ok(&["denoise", "raw/####.exr", "-o", "alone.exr", "--denoise-frames", "0", "-f", "2"]);
    place.ok(&["denoise", "raw/0002.exr", "-o", "picture.exr"]);
    place.ok(&["diff", "alone.exr", "picture.exr"]);
    let layers =
        ["render", "scene.ron", "--samples", "4", "--layers", "albedo,normal,variance", "-o", "still/####.exr"];
    place.ok(&layers);
    place.fails(&["denoise", "still/####.exr", "-o", "clean/####.exr"], 1, "has no layer motion");
    place.ok(&["denoise", "still/0002.exr", "-o", "still.exr"]);
    place.ok(&["diff", "alone.exr", "still.exr"]);
}

#[test]
fn a_run_denoises_as_it_goes() {
    let place = Place::new(7);
    let exact = ["--samples", "4", "--filter", "shared", "--color-depth", "32", "-o", "raw/####.exr"];
    place.ok(&[&["render", "scene.ron"], &exact[..], &LAYERS[..]].concat());
    place.ok(&["denoise", "raw/####.exr", "-o", "after/####.exr", "--denoise-frames", "2"]);
    let render = |more: &[&'static str]| {
        let denoise = ["render", "scene.ron", "--samples", "4", "--denoise", "--denoise-frames", "2"];
        place.ok(&[&denoise[..], more].concat())
    };
    render(&["-o", "run/####.exr"]);
    for frame in 1..=7 {
        place.ok(&["diff", &format!("after/{frame:04}.exr"), &format!("run/{frame:04}.exr")]);
    }
    let told = render(&["-o", "some/####.exr", "-f", "6,1,2"]).stderr;
    assert!(told.contains("4 frames beyond the requested ones are also traced"), "{told}");
    assert_eq!(place.names("some"), ["0001.exr", "0002.exr", "0006.exr"]);
    // Existing frames are kept, but rendered where missing frames need them.
    std::fs::remove_file(place.path("some/0002.exr")).unwrap();
    render(&["-o", "some/####.exr", "-f", "6,1,2", "--skip-existing"]);
    render(&["-o", "piece/####.exr", "-f", "2", "--write-partial", "60"]);
    let bytes = |path: &str| std::fs::read(place.path(path)).unwrap();
    for (file, of) in [("some", 1), ("some", 2), ("some", 6), ("piece", 2)] {
        assert!(bytes(&format!("{file}/{of:04}.exr")) == bytes(&format!("run/{of:04}.exr")), "{file} {of}");
    }
}

#[test]
fn what_is_left_of_noise_is_told() {
    let place = Place::new(3);
    let denoise = ["render", "scene.ron", "-f", "2", "--samples", "4", "--denoise"];
    let told = place.ok(&[&denoise[..], &["-v", "-o", "a.exr", "--layers", "error,albedo"]].concat()).stderr;
    let (_, words) = told.split_once("; noise ").expect("the noise is told");
    let (before, left) = words.split_once(", denoised ").unwrap();
    let number = |text: &str| text.lines().next().unwrap().parse::<f64>().unwrap();
    assert!(number(left) > 0.0 && number(left) < 0.7 * number(before), "{words}");
    let meta = exr::meta::MetaData::read_from_file(place.path("a.exr"), false).unwrap();
    let names: Vec<String> = meta.headers[0].channels.list.iter().map(|channel| channel.name.to_string()).collect();
    assert_eq!(names, ["B", "G", "R", "albedo.B", "albedo.G", "albedo.R", "error.V"]);
    let events = place.ok(&[&denoise[..], &["--progress", "json", "-o", "b.exr"]].concat()).stdout;
    let frame = events.lines().find(|line| line.contains(r#""event":"frame""#)).unwrap();
    let frame: serde_json::Value = serde_json::from_str(frame).unwrap();
    assert!((frame["noise"]["before"].as_f64().unwrap() - number(before)).abs() < 1e-4);
    for more in [&["--denoise", "off"][..], &[]] {
        let error = ["render", "scene.ron", "-f", "2", "-o", "c.exr", "--layers", "error"];
        place.fails(&[&error[..], more].concat(), 2, "add --denoise frames");
    }
}

#[test]
fn what_is_denoised_is_chosen() {
    let place = Place::new(3);
    let render = |more: &[&'static str]| {
        place.ok(&[&["render", "scene.ron", "-f", "2", "--samples", "4", "-o", "a.png"], more].concat());
        decode(&place.path("a.png"))
    };
    let raw = render(&[]);
    assert!(render(&["--denoise", "off"]) == raw);
    let frames = render(&["--denoise", "frames"]);
    assert!(frames != raw && render(&["--denoise"]) == frames);
    // The earlier name.
    assert!(render(&["--denoise", "film"]) == frames);
    let job = |how| place.ok(&["farm", "slurm", "scene.ron", "-o", "out/####.png", "--denoise", how]).stdout;
    assert_eq!(job("film"), job("frames"));
    assert!(render(&["--denoise", "--denoise-frames", "0"]) != frames);
    // The filter `shared` is part of it.
    let own = ["--filter", "gaussian"];
    assert!(render(&own) == raw && render(&["--filter", "shared"]) != raw);
    assert!(render(&[&["--denoise"][..], &own].concat()) != frames);
    let wide = ["render", "scene.ron", "--filter", "shared", "--filter-width", "2"];
    place.fails(&wide, 2, "remove it");
    // A scene may enable denoising. It applies only to integrators that show light.
    let asks = ["--set", "render.denoise=true"];
    assert!(render(&asks) == frames && render(&[&asks[..], &["--denoise", "off"]].concat()) == raw);
    assert!(render(&[&asks[..], &["--integrator", "depth"]].concat()) == render(&["--integrator", "depth"]));
    place.fails(&["render", "--denoise", "scene.ron"], 2, "[possible values: frames, oidn, off]");
    // Layers remain those of the frame itself. Alpha is denoised like colours.
    let alpha = |more: &[&'static str]| {
        place.ok(&[&["render", "scene.ron", "-f", "2", "-o", "a.png", "--transparent"], more].concat());
        let picture = image::open(place.path("a.png")).unwrap().into_rgba8();
        picture.pixels().map(|pixel| pixel[3]).collect::<Vec<_>>()
    };
    let covered = alpha(&["--denoise"]);
    assert!(covered != alpha(&[]) && covered.contains(&0) && covered.contains(&255));
    // A single sample has no variance estimate, but noise is still reduced.
    let single = |more: &[&'static str]| {
        place.ok(&[&["render", "scene.ron", "-f", "2", "--samples", "1", "-o", "b.png"], more].concat());
        decode(&place.path("b.png"))
    };
    assert!(single(&["--denoise"]) != single(&[]));
    place.fails(&["render", "scene.ron", "-o", "c/", "--denoise", "--checkpoint"], 2, "use throng denoise");
}

#[test]
fn files_that_cannot_be_denoised_are_told() {
    let place = sequence(2);
    let denoise = |input: &'static str| ["denoise", input, "-o", "clean/####.png"];
    place.ok(&["render", "scene.ron", "-o", "bare/####.exr", "-f", "1"]);
    place.fails(&denoise("bare/####.exr"), 1, "--layers albedo,normal,motion,variance");
    place.fails(&denoise("none/####.exr"), 1, "none/####.exr");
    place.fails(&denoise("raw/####.png"), 1, "there are no such files");
    place.fails(&denoise("raw/one.exr"), 2, "write it like frames/####.png");
    place.fails(&["denoise", "raw/####.exr", "-o", "one.png"], 2, "no place for the frame number");
    place.fails(&["denoise", "raw/####.exr", "-o", "raw/####.exr"], 1, "what was read as");
    place.ok(&[&["render", "scene.ron", "-o", "raw/####.exr", "-f", "2", "--size", "32x18"], &LAYERS[..]].concat());
    place.fails(&denoise("raw/####.exr"), 1, "32x18 pixels, but its neighbours have 64x36");
    std::fs::write(place.path("raw/0002.exr"), b"v/1\x01 damaged").unwrap();
    place.fails(&denoise("raw/####.exr"), 1, "cannot be read as OpenEXR");
}

/// A picture of 6x4 pixels for the denoiser, as another program might write it.
fn foreign(place: &Place, name: &str, origin: (i32, i32), red: impl Fn(usize) -> f32) {
    use exr::prelude::*;
    let channel = |name: &str, values: Vec<f32>| AnyChannel::new(Text::from(name), FlatSamples::F32(values));
    let mut channels = vec![channel("R", (0..24).map(red).collect())];
    channels.extend(["G", "B", "albedo.R", "albedo.G", "albedo.B"].map(|name| channel(name, vec![0.5; 24])));
    channels.extend(["normal.X", "normal.Y", "normal.Z"].map(|name| channel(name, vec![0.5; 24])));
    let attributes = LayerAttributes { layer_position: Vec2(origin.0, origin.1), ..LayerAttributes::default() };
    let channels = AnyChannels::sort(channels.into_iter().collect());
    let layer = Layer::new((6, 4), attributes, Encoding::UNCOMPRESSED, channels);
    let image = ImageAttributes::new(IntegerBounds::new((-1, 0), (100, 50)));
    Image::from_layer(layer).with_attributes(image).write().to_file(place.path(name)).unwrap();
}

/// Replaces the attributes of an image.
trait WithAttributes {
    fn with_attributes(self, attributes: exr::meta::header::ImageAttributes) -> Self;
}

impl<L> WithAttributes for exr::image::Image<L> {
    fn with_attributes(mut self, attributes: exr::meta::header::ImageAttributes) -> Self {
        self.attributes = attributes;
        self
    }
}

#[test]
fn a_crop_stays_where_it_is_in_its_picture() {
    let place = Place::new(1);
    for (name, origin) in [("crop.exr", (10, 20)), ("overscan.exr", (-3, -2)), ("odd.exr", (95, 44))] {
        foreign(&place, name, origin, |_| 0.25);
        place.ok(&["denoise", name, "-o", "out.exr", "--denoise-frames", "0"]);
        let read = |name: &str| {
            let meta = exr::meta::MetaData::read_from_file(place.path(name), true).unwrap();
            let header = &meta.headers[0];
            let data = (header.own_attributes.layer_position, header.layer_size);
            (data, header.shared_attributes.display_window)
        };
        assert_eq!(read("out.exr"), read(name), "{name}");
        let whole = exr::prelude::read_first_flat_layer_from_file(place.path("out.exr")).unwrap();
        assert_eq!(whole.layer_data.size, exr::math::Vec2(6, 4), "all rows are read again");
    }
    place.ok(&["denoise", "crop.exr", "-o", "a.png", "--exposure", "0"]);
    assert_eq!(decode(&place.path("a.png")).len(), 6 * 4 * 3);
}

#[test]
fn frames_of_a_sequence_have_their_pixels_in_one_place() {
    let place = Place::new(1);
    foreign(&place, "0001.exr", (10, 20), |_| 0.25);
    foreign(&place, "0002.exr", (11, 20), |_| 0.25);
    let run = place.run(&["denoise", "####.exr", "-o", "out/####.exr"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    place.ok(&["denoise", "####.exr", "-o", "out/####.exr", "--denoise-frames", "0"]);
}

#[test]
fn a_pixel_that_is_no_number_is_told_and_does_not_spread() {
    let place = Place::new(1);
    foreign(&place, "nan.exr", (0, 0), |pixel| {
        [0.25, f32::NAN, f32::INFINITY][(pixel == 7) as usize + 2 * (pixel == 16) as usize]
    });
    let run = place.ok(&["denoise", "nan.exr", "-o", "out.exr"]);
    let warning = "warning: nan.exr: number of NaN or infinite pixels, filled from their neighbours: 2";
    assert!(run.stderr.contains(warning), "{}", run.stderr);
    foreign(&place, "right.exr", (0, 0), |_| 0.25);
    let right = place.ok(&["denoise", "right.exr", "-o", "right_out.exr"]);
    assert!(!right.stderr.contains("warning"), "{}", right.stderr);
    place.ok(&["diff", "out.exr", "right_out.exr", "--limit", "0.001"]);
}

#[test]
fn a_dash_is_standard_output() {
    let place = sequence(2);
    let run = |more: &[&str]| {
        crate::process::output(&mut place.command(&[&["denoise", "raw/####.exr", "-o"], more].concat()))
    };
    let stream = run(&["-"]);
    assert!(stream.status.success());
    place.ok(&["denoise", "raw/####.exr", "-o", "clean/####.png"]);
    let files = ["clean/0001.png", "clean/0002.png"].map(|name| std::fs::read(place.path(name)).unwrap());
    assert!(stream.stdout == files.concat());
    assert!(run(&["-.exr", "-f", "1"]).stdout.starts_with(&[0x76, 0x2f, 0x31, 0x01]));
    assert!(place.names(".").iter().all(|name| !name.starts_with('-')));
}

/// The noise that a run reports for its only frame.
fn told_noise(events: &str) -> serde_json::Value {
    let frame = events.lines().find(|line| line.contains(r#""event":"frame""#)).unwrap();
    let frame: serde_json::Value = serde_json::from_str(frame).unwrap();
    frame["noise"].clone()
}

const NOISE: [&str; 8] =
    ["render", "scene.ron", "--denoise", "--denoise-frames", "1", "--progress", "json", "--color-depth=32"];

#[test]
fn samples_go_where_a_denoised_frame_is_noisy() {
    let place = Place::new(3);
    let noise = |more: &[&'static str]| {
        let run = place.ok(&[&NOISE[..], &["-f", "2", "-o", "a.exr"], more].concat());
        let told = told_noise(&run.stdout);
        ["samples", "noisy"].map(|name| told[name].as_f64().unwrap())
    };
    let [samples, noisy] = noise(&["--samples", "256", "--noise", "0.05"]);
    assert!(samples > 8.0 && noisy == 0.0, "{samples} {noisy}");
    let raw =
        ["render", "scene.ron", "-f", "2", "-o", "b.png", "--progress", "json", "--samples", "256", "--noise", "0.05"];
    let raw = place.ok(&raw).stdout;
    let raw = raw.lines().find(|line| line.contains(r#""event":"frame""#)).unwrap();
    let raw: serde_json::Value = serde_json::from_str(raw).unwrap();
    let raw = raw["rays"]["primary"].as_f64().unwrap() / (64.0 * 36.0);
    assert!(samples < 0.8 * raw, "{samples} {raw}");
    // A smooth picture gets only the first samples; a noisy one gets at most all of them.
    assert_eq!(noise(&["--samples", "256", "--noise", "2"]), [8.0, 0.0]);
    assert_eq!(noise(&["--samples", "16", "--noise", "0.00001"]), [16.0, 1.0]);
    assert_eq!(noise(&["--samples", "4", "--noise", "0.00001"]), [4.0, 1.0]);
    let told = place.ok(&[
        "render",
        "scene.ron",
        "-f",
        "2",
        "-o",
        "c.png",
        "--denoise",
        "--noise",
        "2",
        "--samples",
        "9",
        "-v",
    ]);
    assert!(told.stderr.contains("; 8.0 samples per pixel, 0.0 % above the target"), "{}", told.stderr);
    let again = ["render", "scene.ron", "-f", "2", "-o", "c.png", "--denoise", "--samples", "9", "--skip-existing"];
    place.ok(&[&again[..], &["--noise", "2"]].concat());
    place.fails(&[&again[..], &["--noise", "0.1"]].concat(), 1, "its noise is 2.0 and not 0.1");
}

#[test]
fn a_frame_with_more_samples_depends_on_those_around_it_alone() {
    let place = Place::new(5);
    let render = |more: &[&'static str]| {
        place.ok(&[&NOISE[..], &["--samples", "64", "--noise", "0.05"], &LAYERS, more].concat())
    };
    let all = render(&["-o", "all/####.exr"]).stdout;
    assert!(all.lines().any(|line| line.contains(r#""frame":3,"#) && !line.contains(r#""samples":8.0,"#)), "{all}");
    render(&["-o", "one.exr", "-f", "3"]);
    render(&["-o", "some/####.exr", "-f", "5,3,4", "--write-partial", "60"]);
    let bytes = |path: &str| std::fs::read(place.path(path)).unwrap();
    assert!(bytes("one.exr") == bytes("all/0003.exr"));
    for frame in 3..=5 {
        assert!(bytes(&format!("some/{frame:04}.exr")) == bytes(&format!("all/{frame:04}.exr")), "{frame}");
    }
}

#[test]
fn tiles_that_got_more_samples_are_as_if_they_had_had_them_at_once() {
    let place = Place::new(1);
    let layers = ["--layers", "albedo,normal,motion,variance,alpha,instance,error", "--transparent", "--samples", "16"];
    let render = |more: &[&'static str]| place.ok(&[&NOISE[..], &layers, more].concat());
    render(&["-o", "at_once.exr"]);
    let told = render(&["-o", "in_turn.exr", "--noise", "0.00001"]).stdout;
    assert!(told.contains(r#""samples":"#) && !told.contains(r#""samples":8.0"#), "{told}");
    let channels = |file: &str| {
        let image = exr::prelude::read_all_flat_layers_from_file(place.path(file)).unwrap();
        let channels = image.layer_data.into_iter().flat_map(|layer| layer.channel_data.list);
        channels.map(|channel| (channel.name.to_string(), channel.sample_data)).collect::<Vec<_>>()
    };
    assert!(channels("at_once.exr") == channels("in_turn.exr"));
    // With checkpoints, the noise before denoising decides.
    let kept =
        ["render", "scene.ron", "-o", "kept.exr", "--denoise", "--noise", "0.1", "--samples", "32", "--checkpoint"];
    assert!(!place.ok(&[&kept[..], &["--progress", "json"]].concat()).stdout.contains(r#""samples":8"#));
}

#[test]
fn shadows_on_catchers_are_denoised() {
    let place = Place::new(1);
    let scene = "(render: (size: (96, 54), samples: 8, integrator: path),
        environment: Gradient(zenith: (1, 1, 1), horizon: (0.5, 0.5, 0.5), nadir: (0.1, 0.1, 0.1)),
        lights: [Sun(direction: (0.3, 1, 0.2), irradiance: (1, 1, 1), size: 25)],
        materials: {\"d\": Diffuse(color: (0.8, 0.2, 0.1)), \"c\": ShadowCatcher()},
        meshes: {\"ball\": Sphere, \"floor\": Quad()},
        instances: [Single(of: \"ball\", material: \"d\", translate: (0, 2.5, 0)), Single(of: \"floor\", material: \"c\", scale: 40)],
        camera: LookAt(eye: (0, 6, 6), target: (-0.5, 0, 0), fov: 35))";
    std::fs::write(place.path("catcher.ron"), scene).unwrap();
    for more in [&[][..], &["--transparent"]] {
        let render = |name: &str, own: &[&str]| {
            let args = ["render", "catcher.ron", "-o", name, "--color-depth", "32"];
            place.ok(&[&args[..], more, own].concat());
            image::open(place.path(name)).unwrap().into_rgba32f()
        };
        let truth = render("truth.exr", &["--samples", "1024"]);
        // Composited over white, in the area without a ball.
        let over = |pixel: &image::Rgba<f32>| [0, 1, 2].map(|c| pixel[c] + 1.0 - pixel[3]);
        let off = |picture: &image::Rgba32FImage| {
            let pixels = truth.enumerate_pixels().filter(|(x, y, _)| *y > 36 && (24..72).contains(x));
            let squares = pixels.flat_map(|(x, y, pixel)| {
                let (a, b) = (over(pixel), over(picture.get_pixel(x, y)));
                [0, 1, 2].map(|c| (a[c] - b[c]).powi(2))
            });
            squares.sum::<f32>().sqrt()
        };
        let [raw, clean] = [&[][..], &["--denoise"]].map(|own| off(&render("own.exr", own)));
        assert!(clean < 0.4 * raw, "{more:?}: {clean} of {raw}");
    }
}

/// Premultiplied colours and alpha of each pixel.
fn premultiplied(place: &Place, name: &str) -> Vec<[f32; 4]> {
    let picture = image::open(place.path(name)).unwrap();
    assert!(picture.color().has_alpha(), "{name}");
    picture.into_rgba32f().pixels().map(|pixel| pixel.0).collect()
}

#[test]
fn transparent_edges_are_denoised_with_their_alpha() {
    let place = Place::new(1);
    let scene = "(render: (size: (96, 54), samples: 8, frames: 5, fps: 24, integrator: path),
        environment: Gradient(zenith: (1, 1, 1), horizon: (0.5, 0.5, 0.5), nadir: (0.1, 0.1, 0.1)),
        materials: {\"d\": Diffuse(color: (0.8, 0.2, 0.1))}, meshes: {\"t\": Torus()},
        motions: {\"s\": (parts: [Spin(axis: (0, 1, 0), period: 2)])},
        instances: [Single(of: \"t\", rotate: (70, 0, 0), motion: \"s\", material: \"d\", scale: 2)],
        camera: LookAt(eye: (0, 0, 5), target: (0, 0, 0)))";
    std::fs::write(place.path("torus.ron"), scene).unwrap();
    let render = |name: &str, more: &[&str]| {
        let args = ["render", "torus.ron", "-f", "3", "-o", name, "--transparent", "--color-depth", "32"];
        place.ok(&[&args[..], more].concat());
        premultiplied(&place, name)
    };
    let truth = render("truth.exr", &["--samples", "512"]);
    // Composited over white, at partly covered pixels.
    let off = |pixels: &[[f32; 4]]| {
        let over = |pixel: &[f32; 4]| [0, 1, 2].map(|c| pixel[c] + 1.0 - pixel[3]);
        let edges = truth.iter().zip(pixels).filter(|(truth, _)| (0.02..0.98).contains(&truth[3]));
        let squares: Vec<f32> = edges.flat_map(|(a, b)| [0, 1, 2].map(|c| (over(a)[c] - over(b)[c]).powi(2))).collect();
        (squares.iter().sum::<f32>() / squares.len() as f32).sqrt()
    };
    let (mut raw, mut clean) = (0.0, 0.0);
    for seed in ["1", "2"] {
        raw += off(&render("raw.exr", &["--seed", seed]));
        let denoised = render("clean.exr", &["--seed", seed, "--denoise"]);
        assert!(denoised.iter().all(|pixel| pixel[3] > 0.0 || pixel[..3] == [0.0; 3]), "colours where nothing is");
        assert!(denoised.iter().all(|pixel| (0.0..=1.0).contains(&pixel[3])));
        clean += off(&denoised);
    }
    assert!(clean < 0.9 * raw, "{clean} {raw}");
    // Also when the files are denoised afterwards.
    let layers = ["--layers", "albedo,normal,motion,variance", "--transparent", "--color-depth", "32"];
    place.ok(&[&["render", "torus.ron", "-o", "frames/#.exr", "--seed", "2"], &layers[..]].concat());
    place.ok(&["denoise", "frames/#.exr", "-f", "3", "-o", "after.exr"]);
    let after = premultiplied(&place, "after.exr");
    assert!(off(&after) < off(&render("raw.exr", &["--seed", "2"])));
    place.ok(&["denoise", "frames/#.exr", "-f", "3", "-o", "after.png"]);
    assert!(image::open(place.path("after.png")).unwrap().color().has_alpha());
}

/// Number of pixels that are brighter by more than 12 of 255 than all pixels at a distance of two.
fn specks((width, height): (usize, usize), rgb: &[u8]) -> usize {
    let light: Vec<u8> = rgb.as_chunks::<3>().0.iter().map(|&[r, g, b]| r.max(g).max(b)).collect();
    let is_speck = |i: usize| {
        let near = |at: usize, step: usize, end: usize| (at + step).saturating_sub(2).min(end - 1);
        let ring = (0..25).filter(|k| [0, 4].contains(&(k / 5)) || [0, 4].contains(&(k % 5)));
        let around = ring.map(|k| light[near(i / width, k / 5, height) * width + near(i % width, k % 5, width)]);
        light[i] > around.max().unwrap().saturating_add(12)
    };
    (0..width * height).filter(|&i| is_speck(i)).count()
}

#[test]
fn few_samples_in_fog_leave_no_specks() {
    let place = Place::new(1);
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/scene/examples/air_fog.ron");
    let scene = std::fs::read_to_string(example).unwrap();
    let low_sun = scene.replace("direction: (-1, 0.7, -0.9)", "direction: (-1, 0.12, -0.9)");
    assert!(low_sun != scene);
    std::fs::write(place.path("fog.ron"), low_sun).unwrap();
    let size = ["--size", "180x120", "--samples", "6", "--device", "cpu"];
    place.ok(&[&["render", "fog.ron", "-f", "1", "-o", "fog.png", "--denoise"], &size[..]].concat());
    let found = specks((180, 120), &decode(&place.path("fog.png")));
    assert!(found <= 180 * 120 / 1000, "{found}");
}

//! `throng view`: access control, misbehaving clients, and final pictures that equal renders.
#![cfg(unix)]

use crate::{
    common::{Place, decode, scene},
    process::wait_until,
    viewer::page::Server,
};
use serde_json::{Value, json};
use std::{fs, io::Write, net::TcpListener};
use tungstenite::Message;

#[test]
fn only_who_has_the_link_is_let_in() {
    let place = Place::new(1);
    let server = Server::start(&place, &[]);
    for path in ["/", "/main.js", "/style.css", "/socket", "/still/1.png", "/?token=", "/?token=0"] {
        let answer = server.get(path, "");
        assert!(answer.starts_with("HTTP/1.1 403"), "{path}: {answer}");
        assert!(answer.contains("needs the whole link") && !answer.contains("Set-Cookie"), "{path}: {answer}");
    }
    let cookie = server.cookie();
    let page = server.get("/", &cookie);
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("Content-Security-Policy: default-src 'self'"), "{page}");
    assert!(server.get("/style.css", &cookie).starts_with("HTTP/1.1 200"));
    for path in ["/../Cargo.toml", "/no", "/still/1.png", "//"] {
        assert!(server.get(path, &cookie).starts_with("HTTP/1.1 404"), "{path}");
    }
    assert!(server.get("/socket", &cookie).starts_with("HTTP/1.1 400"));
    assert!(server.ask("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n").starts_with("HTTP/1.1 405"));
    assert!(server.ask("nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
}

#[test]
fn other_sites_and_other_names_are_refused() {
    let place = Place::new(1);
    let server = Server::start(&place, &[]);
    let (cookie, host) = (server.cookie(), &server.host);
    let answer = server.ask(&format!("GET / HTTP/1.1\r\nHost: evil.example\r\n{cookie}\r\n"));
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    let handshake = |headers: &str| server.handshake(headers).0;
    let good = format!("Host: {host}\r\nOrigin: http://{host}\r\n");
    assert!(handshake(&format!("{good}{cookie}")).starts_with("HTTP/1.1 101"));
    for bad in [
        good.clone(),
        format!("Host: {host}\r\n{cookie}"),
        format!("Host: {host}\r\nOrigin: http://evil.example\r\n{cookie}"),
        format!("Host: {host}\r\nOrigin: null\r\n{cookie}"),
        format!("Host: evil.example\r\nOrigin: http://evil.example\r\n{cookie}"),
        format!("Host: {host}\r\nOrigin: http://localhost:1\r\n{cookie}"),
    ] {
        let answer = handshake(&bad);
        assert!(answer.starts_with("HTTP/1.1 40"), "{bad}{answer}");
    }
}

#[test]
fn a_finished_picture_is_that_of_a_render() {
    let place = Place::new(3);
    let server = Server::start(&place, &["--samples", "5"]);
    let rendered = |flags: &[&str]| {
        let args = ["render", "scene.ron", "-o", "still.png", "--samples", "5", "--size", "80x50", "--checkpoint"];
        let _ = fs::remove_file(place.path("still.png.film"));
        place.ok(&[&args[..], flags].concat());
        decode(&place.path("still.png"))
    };
    let mut page = server.open();
    let scene = page.answer("scene");
    assert_eq!((&scene["frames"], &scene["samples"], &scene["size"]), (&json!(3), &json!(5), &json!([64, 36])));
    page.start(80, 50);
    let own = page.finished();
    assert_eq!((own.header.samples, own.header.frame), (5, 1));
    assert!(own.pixels == rendered(&[]));

    page.say(&json!({"do": "time", "frame": 2}));
    let eye = json!({"do": "camera", "eye": [3, 2.1, 9], "target": [0.1, 0, 0], "fov": 55, "f_stop": 0.01, "focus": 8, "key": 7});
    page.say(&eye);
    page.say(&json!({"do": "set", "name": "integrator", "value": "path"}));
    let flown = page.picture(|header| header.is_finished() && header.key == 7);
    let flags = ["-f", "2", "--eye", "3,2.1,9", "--target", "0.1,0,0", "--fov", "55"];
    let lens = ["--aperture", "0.01", "--focus", "8", "--integrator", "path"];
    let expected = rendered(&[&flags[..], &lens].concat());
    assert!(flown.pixels == expected);

    // Exposure changes only the display. With more samples, rendering continues.
    page.say(&json!({"do": "set", "name": "exposure", "value": 1}));
    let brighter = page.finished();
    assert!(brighter.pixels == rendered(&[&flags[..], &lens, &["--exposure", "1"]].concat()));
    page.say(&json!({"do": "still", "format": "png", "ask": 3, "size": [40, 30]}));
    let link = page.wait("a still", |message| message.ok()?["link"].as_str().map(str::to_owned));
    let still = server.get(&link, &server.cookie());
    assert!(
        still.contains("Content-Type: image/png") && still.contains("attachment"),
        "{}",
        &still[..still.len().min(300)]
    );
    assert!(server.get(&link, &server.cookie()).starts_with("HTTP/1.1 404"));
    page.say(&json!({"do": "command", "of": "still"}));
    let line = page.answer("command")["text"].as_str().unwrap().to_owned();
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    place.ok(&words);
    assert!(decode(&place.path("scene.png")) == brighter.pixels, "{line}");
}

#[test]
fn pages_ask_what_is_there() {
    let place = Place::new(1);
    let server = Server::start(&place, &[]);
    let mut page = server.open();
    page.start(64, 36);
    page.finished();
    page.say(&json!({"do": "pick", "at": [0.5, 0.5], "ask": 1}));
    let hit = page.answer("picked");
    assert_eq!((&hit["ask"], &hit["mesh"], &hit["material"]), (&json!(1), &json!("ball"), &json!("red")));
    assert!(hit["instance"].as_str().unwrap().starts_with("ball"), "{hit}");
    assert!((hit["radius"].as_f64().unwrap() - 3f64.sqrt()).abs() < 1e-3, "{hit}");
    assert!(hit["fixed"].as_str().unwrap().contains("one of the copies that a `Grid` makes"), "{hit}");
    page.say(&json!({"do": "pick", "at": [0.01, 0.01], "ask": 2}));
    let miss = page.answer("picked");
    assert_eq!((&miss["ask"], miss.get("instance")), (&json!(2), None));
    for view in ["depth", "normal", "instance", "motion"] {
        page.say(&json!({"do": "set", "name": "view", "value": view}));
        page.finished();
    }
    let keys = json!([{"eye": [0, 4, 12], "target": [0, 0, 0], "time": 0}, {"eye": [5, 4, 12], "target": [0, 0, 0], "time": 2}]);
    page.say(&json!({"do": "waypoints", "keys": keys}));
    let path = page.wait("a path", |message| message.ok().filter(|answer| answer["of"] == "waypoints").cloned());
    assert!(path["points"].as_array().unwrap().len() > 10);
    page.say(&json!({"do": "follow", "path": "waypoints"}));
    page.say(&json!({"do": "time", "frame": 49}));
    let camera = page.wait("the end of the flight", |message| {
        message.ok().filter(|answer| answer["is"] == "camera" && answer["eye"] == json!([5.0, 4.0, 12.0])).cloned()
    });
    assert_eq!(camera["target"], json!([0.0, 0.0, 0.0]));
}

#[test]
fn what_is_picked_has_the_bounds_of_the_pose_that_is_shown() {
    let place = Place::new(1);
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/bull.glb"), place.path("bull.glb")).unwrap();
    let scene = r#"(
        render: (size: (64, 36), samples: 1, integrator: normal),
        environment: Constant(radiance: (1, 1, 1)),
        meshes: { "bull": Gltf(file: "bull.glb", clip: "Gallop", alive: true) },
        instances: [Single(of: "bull")],
        camera: LookAt(eye: (4, 2, 2), target: (0, 0.9, 0.4)),
    )"#;
    fs::write(place.path("scene.ron"), scene).unwrap();
    let server = Server::start(&place, &[]);
    let mut page = server.open();
    page.start(64, 36);
    page.finished();
    let mut hits = 0;
    for (row, column) in (0..9).flat_map(|row| (0..16).map(move |column| (row, column))) {
        page.say(
            &json!({"do": "pick", "at": [(f64::from(column) + 0.5) / 16.0, (f64::from(row) + 0.5) / 9.0], "ask": 1}),
        );
        let hit = page.answer("picked");
        let numbers = |name: &str| -> Option<Vec<f64>> { hit[name].as_array()?.iter().map(Value::as_f64).collect() };
        if let (Some(point), Some(centre)) = (numbers("point"), numbers("centre")) {
            let square: f64 = point.iter().zip(&centre).map(|(a, b)| (a - b).powi(2)).sum();
            assert!(square.sqrt() <= 1.001 * hit["radius"].as_f64().unwrap(), "{hit}");
            assert_eq!((&hit["movable"], hit.get("fixed")), (&json!(true), None));
            hits += 1;
        }
    }
    assert!(hits > 15, "{hits}");
}

#[test]
fn a_model_is_loaded_again_with_the_animation_that_a_page_chooses() {
    let place = Place::new(1);
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/bull.glb"), place.path("bull.glb")).unwrap();
    let server = Server::start_with(&place, &["bull.glb", "--animation", "Walk", "--animation-speed", "2"]);
    let (mut page, mut other) = (server.open(), server.open());
    let walking = page.answer("scene");
    assert_eq!((&walking["animations"], &walking["frames"]), (&json!(["Gallop", "Walk"]), &json!(14)));
    assert_eq!(walking["settings"]["animation"], "Walk");
    other.answer("scene");
    let mut choose = |value: Value| {
        page.say(&json!({"do": "set", "name": "animation", "value": value}));
        let scene = page.wait("a scene or an error", |message| {
            message.ok().filter(|answer| answer["is"] == "scene" || answer["is"] == "error").cloned()
        });
        page.say(&json!({"do": "command", "of": "film"}));
        (scene, page.answer("command")["text"].as_str().unwrap().to_owned())
    };
    let (galloping, line) = choose(json!("Gallop"));
    assert_eq!((&galloping["frames"], &galloping["settings"]["animation"]), (&json!(6), &json!("Gallop")));
    assert_eq!(line, "throng render bull.glb --animation-speed 2 --animation Gallop -o bull.mp4");
    let (resting, line) = choose(json!(""));
    assert_eq!((&resting["frames"], &resting["settings"]["animation"]), (&json!(72), &json!("")));
    assert_eq!(line, "throng render bull.glb -o bull.mp4");
    let (error, _) = choose(json!("Trot"));
    assert!(error["message"].as_str().unwrap().contains("there is no animation `Trot`"), "{error}");
    let (walking, line) = choose(Value::Null);
    assert_eq!((&walking["frames"], &walking["settings"]["animation"]), (&json!(14), &json!("Walk")));
    assert_eq!(line, "throng render bull.glb --animation Walk --animation-speed 2 -o bull.mp4");
    // The other page's model was not loaded again.
    other.say(&json!({"do": "values"}));
    let is_answer = |answer: &Value| answer["is"] == "scene" || answer["is"] == "values";
    let next = other.wait("values", |message| message.ok().filter(|answer| is_answer(answer)).cloned());
    assert_eq!(next["is"], "values");
}

#[test]
fn a_finished_picture_of_a_model_is_denoised_as_its_render_is() {
    let place = Place::new(1);
    fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/bull.glb"), place.path("bull.glb")).unwrap();
    let server = Server::start_with(&place, &["bull.glb"]);
    let mut page = server.open();
    assert_eq!(page.answer("scene")["denoises_finished"], true);
    page.start(64, 36);
    let denoised = page.finished();
    page.say(&json!({"do": "set", "name": "denoise", "value": "off"}));
    let traced = page.finished();
    assert!(traced.pixels != denoised.pixels);
    for (value, flags, shown) in
        [(json!("off"), " --denoise off ", &traced), (Value::Null, " --denoise frames --denoise-frames 0 ", &denoised)]
    {
        page.say(&json!({"do": "set", "name": "denoise", "value": value}));
        page.say(&json!({"do": "command", "of": "still"}));
        let line = page.answer("command")["text"].as_str().unwrap().to_owned();
        assert!(
            line.contains(flags) && line.contains(" --turns 1 --size") && line.contains(" --noise 0.09 "),
            "{line}"
        );
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        let _ = fs::remove_file(place.path("bull.png.film"));
        place.ok(&words);
        assert!(decode(&place.path("bull.png")) == shown.pixels, "{line}");
    }
}

#[test]
fn mistakes_of_one_page_are_told_to_it_and_nobody_else_notices() {
    let place = Place::new(1);
    let server = Server::start(&place, &[]);
    let mut good = server.open();
    good.start(64, 36);
    good.finished();
    let mut bad = server.open();
    for message in [
        "{",
        "[]",
        r#"{"do":"fly"}"#,
        r#"{"do":"time","frame":"x"}"#,
        r#"{"do":"camera","eye":[0,0,0],"target":[0,0,0]}"#,
    ] {
        bad.socket.send(Message::Text(message.into())).unwrap();
        let error = bad.answer("error");
        assert_eq!(error["lasting"], false, "{message}");
    }
    bad.start(30, 20);
    bad.finished();
    // A message that is too large closes the page.
    let _ = bad.socket.send(Message::Text("x".repeat(2 << 20).into()));
    wait_until("the end of the page", || bad.socket.read().is_err());
    // Incomplete and invalid WebSocket frames.
    let (_, mut stream) =
        server.handshake(&format!("Host: {0}\r\nOrigin: http://{0}\r\n{1}", server.host, server.cookie()));
    stream.write_all(&[0xff; 64]).unwrap();
    good.say(&json!({"do": "camera", "eye": [0, 4, 11], "target": [0, 0, 0], "key": 5}));
    good.picture(|header| header.is_finished() && header.key == 5);
}

#[test]
fn neither_slow_readers_nor_a_hundred_connections_disturb_a_page() {
    let place = Place::new(1);
    let server = Server::start(&place, &[]);
    let cookie = server.cookie();
    let mut good = server.open();
    good.start(64, 36);
    good.finished();
    // These pages neither read nor acknowledge pictures.
    let mut slow: Vec<_> = (0..3).map(|_| server.open()).collect();
    for page in &mut slow {
        page.start(4000, 3000);
        page.say(&json!({"do": "play", "playing": true, "loop": true}));
    }
    let crowd: Vec<_> = (0..100).map(|_| server.connect()).collect();
    for key in 1..20 {
        good.say(&json!({"do": "camera", "eye": [0, 4, 12.0 + f64::from(key)], "target": [0, 0, 0], "key": key}));
        good.picture(|header| header.key == key);
    }
    drop((crowd, slow));
    wait_until("places for others", || server.get("/", &cookie).starts_with("HTTP/1.1 200"));
}

#[test]
fn a_port_that_is_taken_is_an_error_and_control_c_is_none() {
    let place = Place::new(1);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    place.fails(&["view", "scene.ron", "--no-open", "--port", &port], 1, &port);
    place.fails(&["view", "none.ron", "--no-open", "--port", "0"], 1, "none.ron");
    let server = Server::start(&place, &[]);
    let mut page = server.open();
    page.start(64, 36);
    page.finished();
    let process = server.process.unwrap();
    process.send(libc::SIGINT);
    let ended = process.finish();
    assert_eq!(ended.status.code(), Some(0));
}

#[test]
fn changes_are_shown_at_once_and_saved_when_asked() {
    let place = Place::new(1);
    let server = Server::start(&place, &[]);
    let file = || fs::read_to_string(place.path("scene.ron")).unwrap();
    let written = file();
    let mut page = server.open();
    page.start(64, 36);
    page.finished();
    page.say(&json!({"do": "values"}));
    let values = page.answer("values");
    let is_color = |value: &&serde_json::Value| value["path"] == "materials.red.color";
    assert!(values["values"].as_array().unwrap().iter().find(is_color).is_some(), "{values}");
    page.say(&json!({"do": "change", "values": {"materials.red.colr": "(0, 1, 0)"}}));
    assert_eq!(page.answer("error")["lasting"], false);
    page.say(&json!({"do": "change", "values": {"materials.red.color": "(0, 1, 0)"}}));
    assert_eq!(page.answer("scene")["loaded"], 1);
    assert_eq!(file(), written);
    page.say(&json!({"do": "save", "what": "values"}));
    assert_eq!(page.answer("saved")["file"], "scene.ron");
    assert_eq!(file(), written.replace("(0.8, 0.2, 0.2)", "(0, 1, 0)"));
    let keys = json!([{"eye": [0, 4, 12], "target": [0, 0, 0], "time": 0}, {"eye": [5, 4, 12], "target": [0, 0, 0], "time": 1}]);
    page.say(&json!({"do": "waypoints", "keys": keys}));
    page.say(&json!({"do": "save", "what": "camera"}));
    page.answer("saved");
    place.ok(&["check", "scene.ron"]);
    assert!(file().contains("Spline(") && file().contains("frames: 25"), "{}", file());
    // This text cannot be loaded, so it never becomes the scene's text.
    fs::write(place.path("scene.ron"), "(").unwrap();
    page.say(&json!({"do": "save", "what": "camera"}));
    let refused = page.answer("refused");
    assert_eq!(refused["choices"], json!(["anyway", "reload"]), "{refused}");
    fs::write(place.path("scene.ron"), scene(1)).unwrap();
    page.say(&json!({"do": "save", "what": "camera", "anyway": true}));
    page.answer("saved");
    assert!(file().contains("Spline("));
}

#[test]
fn a_change_of_the_file_is_seen_and_a_mistake_is_told_until_it_is_mended() {
    let place = Place::new(1);
    let server = Server::start(&place, &[]);
    let mut page = server.open();
    page.answer("scene");
    page.start(64, 36);
    let before = page.finished();
    // The file is replaced by renaming, as editors do, so it is never read half written.
    let write = |text: &str| {
        fs::write(place.path("scene.new"), text).unwrap();
        fs::rename(place.path("scene.new"), place.path("scene.ron")).unwrap();
    };
    write(&scene(1).replace("(0.8, 0.2, 0.2)", "(0.1, 0.2, 0.9)"));
    assert_eq!(page.answer("scene")["loaded"], 1);
    assert!(page.finished().pixels != before.pixels);
    write(&scene(1).replace("Diffuse(color", "Diffus(color"));
    let error = page.answer("error");
    assert_eq!(error["lasting"], true);
    assert!(error["message"].as_str().unwrap().contains("scene.ron:4:"), "{error}");
    // A new page also receives the error, and shows the last valid scene.
    let mut other = server.open();
    assert_eq!(other.answer("error")["lasting"], true);
    write(&scene(1));
    assert_eq!(page.answer("scene")["loaded"], 2);
    assert!(page.finished().pixels == before.pixels);
}

#[test]
#[cfg(feature = "usd")]
fn changes_of_all_layers_of_a_stage_are_seen() {
    let place = Place::new(1);
    let write = |name: &str, text: &str| {
        fs::write(place.path("layer.new"), format!("#usda 1.0\n{text}")).unwrap();
        fs::rename(place.path("layer.new"), place.path(name)).unwrap();
    };
    let root = |layers: &str| {
        let objects = "def Sphere \"ball\" {}\ndef DistantLight \"sun\" {}\ndef Camera \"eye\" {
            double3 xformOp:translate = (0, 0, 8)\nuniform token[] xformOpOrder = [\"xformOp:translate\"] }";
        write("stage.usda", &format!("(subLayers = [{layers}])\n{objects}"));
    };
    let colored = |name: &str, color: &str| {
        write(name, &format!("over \"ball\" {{ color3f[] primvars:displayColor = [({color})] }}"));
    };
    root("@./colour.usda@");
    colored("colour.usda", "0.8, 0.1, 0.1");
    let server = Server::start_with(&place, &["stage.usda", "--samples", "4"]);
    let mut page = server.open();
    page.answer("scene");
    page.start(64, 36);
    let red = page.finished();
    colored("colour.usda", "0.1, 0.8, 0.1");
    assert_eq!(page.answer("scene")["loaded"], 1);
    assert!(page.finished().pixels != red.pixels);
    // A layer that is damaged, and layers that are missing, are waited for.
    write("colour.usda", "over \"ball\" {");
    let error = page.answer("error");
    assert!(error["lasting"] == true && error["message"].as_str().unwrap().contains("colour.usda"), "{error}");
    root("@./new.usda@, @./colour.usda@");
    colored("colour.usda", "0.1, 0.1, 0.8");
    let is_missing = |message: &Value| message["message"].as_str().is_some_and(|text| text.contains("new.usda"));
    page.wait("an error about the new layer", |message| message.ok().filter(|answer| is_missing(answer)).cloned());
    colored("new.usda", "0.8, 0.1, 0.1");
    assert_eq!(page.answer("scene")["loaded"], 2);
    assert!(page.finished().pixels == red.pixels);
}

//! Changes and saves of `throng view`. Changes belong to one page, a save writes the intended change or nothing, and copied commands
//! reproduce the current picture.
#![cfg(unix)]

use crate::{
    common::{Place, decode},
    process::{Process, wait_until},
    viewer::page::{Page, Server},
};
use serde_json::{Value, json};
use std::{
    fs,
    io::{Read, Write},
    os::unix::fs::{MetadataExt, PermissionsExt},
};
use tungstenite::{Bytes, Message, protocol::CloseFrame, protocol::frame::coding::CloseCode};

const SCENE: &str = r##"(
    render: (size: (64, 36), samples: 1, integrator: whitted),
    environment: SunSky(elevation: 35, azimuth: 120),
    materials: { "stone": Diffuse(color: "#c8b090") },
    meshes: { "ball": Sphere, "floor": Quad() },
    instances: [
        Single(of: "floor", scale: 50, material: "stone"),
        Single(of: "ball", translate: (0, 1, 0)), // the second
        Grid(of: "ball", count: (3, 1, 3), spacing: (4, 0, 4), material: "stone"),
    ],
    camera: LookAt(eye: (0, 4, 12), target: (0, 1, 0)),
)
"##;

struct Edited {
    place: Place,
    server: Server,
}

fn edited(flags: &[&str]) -> Edited {
    let place = Place::new(1);
    fs::write(place.path("scene.ron"), SCENE).unwrap();
    let server = Server::start(&place, flags);
    Edited { place, server }
}

impl Edited {
    fn open(&self) -> Page {
        let mut page = self.server.open();
        page.start(64, 36);
        page.answer("scene");
        page
    }

    fn text(&self) -> String {
        fs::read_to_string(self.place.path("scene.ron")).unwrap()
    }

    fn edit(&self, text: &str) {
        fs::write(self.place.path("scene.ron"), text).unwrap();
    }
}

/// Saves, and returns the answer: `saved` or `refused`.
fn save(page: &mut Page, message: &Value) -> Value {
    page.say(message);
    page.wait("the end of a save", |answer| answer.ok().filter(|a| a["is"] == "saved" || a["is"] == "refused").cloned())
}

/// The text of a value that is sent to the page.
fn value(page: &mut Page, path: &str) -> Value {
    page.say(&json!({"do": "values"}));
    let values = page.answer("values");
    let found = values["values"].as_array().unwrap().iter().find(|value| value["path"] == path).cloned();
    found.map_or(Value::Null, |value| value["text"].clone())
}

#[test]
fn a_change_stays_with_its_entry_when_the_file_is_edited() {
    let edited = edited(&[]);
    let mut page = edited.open();
    page.say(&json!({"do": "place", "instance": "ball.0", "translate": [0, 5, 0]}));
    page.answer("scene");
    let without_floor = SCENE.replace("        Single(of: \"floor\", scale: 50, material: \"stone\"),\n", "");
    edited.edit(&without_floor);
    page.answer("scene");
    assert_eq!(save(&mut page, &json!({"do": "save", "what": "values"}))["is"], "saved");
    assert_eq!(edited.text(), without_floor.replace("(0, 1, 0)), // the second", "(0, 5, 0)), // the second"));

    // An entry that was removed from the file does not shift changes to another entry. Its lost change can be discarded.
    page.answer("scene");
    page.say(&json!({"do": "place", "instance": "ball.0", "translate": [0, 7, 0]}));
    page.answer("scene");
    let gone = SCENE.replace("        Single(of: \"ball\", translate: (0, 1, 0)), // the second\n", "");
    edited.edit(&gone);
    let lost = page.answer("error");
    assert!(lost["message"].as_str().unwrap().contains("instances.0.translate"), "{lost}");
    let refused = save(&mut page, &json!({"do": "save", "what": "values"}));
    assert_eq!(refused["choices"], json!(["anyway", "reload"]), "{refused}");
    assert_eq!(edited.text(), gone);
    let rest = json!({"do": "save", "what": "values", "values": {"render.exposure": "1"}, "anyway": true});
    assert_eq!(save(&mut page, &rest)["is"], "saved");
    assert_eq!(edited.text(), gone.replace("render: (", "render: (exposure: 1, "));
}

#[test]
fn a_save_that_is_refused_leaves_everything_as_it_was() {
    let edited = edited(&[]);
    let (mut one, mut other) = (edited.open(), edited.open());
    let key =
        |time: f64, f_stop: f64| json!({"eye": [time, 4, 12], "target": [0, 1, 0], "time": time, "f_stop": f_stop});
    for values in [
        json!({"environment.elevation": "\"high\""}),
        json!({"instances.0.material": "\"nope\""}),
        json!({"instances": "[]"}),
        json!({"meshes.ball": "Obj(file: \"nope.obj\")"}),
        json!({"instances.0.scale": "1e-45"}),
    ] {
        let refused = save(&mut one, &json!({"do": "save", "what": "values", "values": values}));
        assert_eq!((&refused["is"], &refused["choices"]), (&json!("refused"), &json!([])), "{values}: {refused}");
        assert_eq!(edited.text(), SCENE, "{values}");
    }
    for keys in [json!([key(0.0, 2.0), key(1e5, 2.0)]), json!([key(0.0, 0.0005), key(1.0, 0.0005)])] {
        one.say(&json!({"do": "waypoints", "keys": keys}));
        assert_eq!(save(&mut one, &json!({"do": "save", "what": "camera"}))["is"], "refused", "{keys}");
        assert_eq!(edited.text(), SCENE);
    }
    one.say(&json!({"do": "waypoints", "keys": []}));
    one.say(&json!({"do": "camera", "eye": [0, 4, 12], "target": [0, 1, 0], "radius": 1, "focus": 1e-45}));
    assert_eq!(save(&mut one, &json!({"do": "save", "what": "camera"}))["is"], "refused");
    assert_eq!(edited.text(), SCENE);
    // Other pages are not affected, and two simultaneous saves both succeed.
    assert_eq!(value(&mut other, "environment.elevation"), "35");
    let exposure = json!({"do": "save", "what": "values", "values": {"render.exposure": "1"}});
    other.say(&exposure);
    one.say(&json!({"do": "save", "what": "values", "values": {"environment.elevation": "9"}}));
    other.answer("saved");
    one.answer("saved");
    assert_eq!(edited.text(), SCENE.replace("render: (", "render: (exposure: 1, ").replace("35", "9"));
    edited.place.ok(&["check", "scene.ron"]);
}

#[test]
fn what_a_page_changes_is_its_own_until_it_is_saved() {
    let edited = edited(&[]);
    let (mut one, mut other) = (edited.server.open_as("one"), edited.open());
    one.start(64, 36);
    one.answer("scene");
    let before = other.finished();
    one.say(&json!({"do": "change", "values": {"environment.elevation": "5", "materials.stone.color": "(1, 0, 0)"}}));
    one.answer("scene");
    let changed = one.finished();
    assert!(changed.pixels != before.pixels);
    assert_eq!(value(&mut other, "environment.elevation"), "35");
    other.say(&json!({"do": "reload"}));
    other.answer("scene");
    assert_eq!(value(&mut one, "environment.elevation"), "5");
    // A name that the file no longer has does not block other changes.
    edited.edit(&SCENE.replace("stone", "rock"));
    let lost = one.answer("error");
    assert!(lost["message"].as_str().unwrap().contains("materials.stone.color"), "{lost}");
    one.answer("scene");
    other.answer("scene");
    one.say(&json!({"do": "change", "values": {"environment.elevation": "10"}}));
    one.answer("scene");
    assert_eq!(value(&mut one, "environment.elevation"), "10");
    // The other page shows the content of the file.
    assert!(other.picture(|header| header.is_finished() && header.is_png()).pixels == before.pixels);
    // The page reconnects after the name was restored in the file.
    drop(one);
    edited.edit(SCENE);
    other.answer("scene");
    let mut back = edited.server.open_as("one");
    back.start(64, 36);
    back.answer("scene");
    back.answer("scene");
    assert_eq!(value(&mut back, "environment.elevation"), "10");
    assert_eq!(value(&mut back, "materials.stone.color"), "(1, 0, 0)");
    assert_eq!(value(&mut other, "environment.elevation"), "35");
}

#[test]
fn a_copied_command_makes_the_picture_that_is_seen() {
    let place = Place::new(1);
    fs::write(place.path("scene.ron"), SCENE).unwrap();
    // The scene follows flags, one of which has no value.
    let server = Server::start_with(&place, &["--samples", "3", "--lock-seed", "scene.ron"]);
    let mut page = server.open();
    page.start(64, 36);
    page.answer("scene");
    let run = |page: &mut Page| {
        page.say(&json!({"do": "command", "of": "still"}));
        let line = page.answer("command")["text"].as_str().unwrap().to_owned();
        assert_eq!(line.matches("scene.ron").count(), 1, "{line}");
        for name in ["scene.png", "scene.png.film"] {
            let _ = fs::remove_file(place.path(name));
        }
        let script = format!("set -- {line}; shift; printf '%s\\n' \"$@\"");
        let words = crate::process::output(crate::process::command("sh").args(["-c", &script])).stdout;
        let words = String::from_utf8(words).unwrap();
        place.ok(&words.lines().collect::<Vec<_>>());
        decode(&place.path("scene.png"))
    };
    let own = page.finished();
    assert!(run(&mut page) == own.pixels);
    page.say(&json!({"do": "camera", "eye": [1, 4, 12], "target": [0, 1, 0], "height": 3.1, "key": 1}));
    let parallel = page.picture(|header| header.is_finished() && header.key == 1);
    assert!(run(&mut page) == parallel.pixels);
    // Unsaved changes are visible and included in the command.
    page.say(&json!({"do": "change", "values": {"materials.stone.color": "(1, 0, 0)"}}));
    page.answer("scene");
    let red = page.finished();
    assert!(red.pixels != parallel.pixels && run(&mut page) == red.pixels);
}

#[test]
fn stills_of_a_page_have_a_limit() {
    let edited = edited(&[]);
    let mut page = edited.open();
    page.finished();
    for ask in 0..20 {
        page.say(&json!({"do": "still", "format": "exr", "ask": ask, "size": [64, 36], "samples": 1_048_576}));
    }
    let error = page.answer("error");
    assert!(error["message"].as_str().unwrap().contains("too many stills"), "{error}");
    // Other pages can still request stills.
    let mut other = edited.open();
    other.finished();
    other.say(&json!({"do": "still", "format": "png", "ask": 7, "size": [16, 9], "samples": 1}));
    let link = other.wait("a still", |message| message.ok()?["link"].as_str().map(str::to_owned));
    assert!(edited.server.get(&link, &edited.server.cookie()).starts_with("HTTP/1.1 200"));
}

#[test]
fn a_read_only_file_stays_and_other_names_of_a_file_stay_its_names() {
    let edited = edited(&[]);
    let file = edited.place.path("scene.ron");
    let exposure = json!({"do": "save", "what": "values", "values": {"render.exposure": "1"}});
    let mut page = edited.open();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
    let refused = save(&mut page, &exposure);
    assert!(refused["why"].as_str().unwrap().contains("read-only"), "{refused}");
    assert_eq!(edited.text(), SCENE);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    fs::hard_link(&file, edited.place.path("other.ron")).unwrap();
    assert_eq!(save(&mut page, &exposure)["is"], "saved");
    let found = fs::metadata(&file).unwrap();
    assert_eq!((found.nlink(), found.mode() & 0o777), (2, 0o640));
    assert_eq!(fs::read_to_string(edited.place.path("other.ron")).unwrap(), edited.text());
    assert!(edited.text().contains("exposure: 1"));
}

#[test]
fn pings_are_answered_and_the_end_has_the_code_of_who_ends() {
    let edited = edited(&[]);
    let mut page = edited.open();
    page.socket.send(Message::Ping(Bytes::from_static(b"are you there"))).unwrap();
    let is_pong =
        |page: &mut Page| matches!(page.socket.read().unwrap(), Message::Pong(text) if &text[..] == b"are you there");
    wait_until("a pong", || is_pong(&mut page));
    let code = |page: &mut Page| loop {
        match page.socket.read() {
            Ok(Message::Close(frame)) => return frame.map(|frame| frame.code),
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    };
    page.socket.close(Some(CloseFrame { code: CloseCode::Away, reason: "".into() })).unwrap();
    assert_eq!(code(&mut page), Some(CloseCode::Away));
    // Messages with invalid UTF-8 and oversized messages close the page with the matching code.
    let mut page = edited.open();
    page.socket.get_mut().write_all(&[0x81, 0x82, 0, 0, 0, 0, 0xff, 0xff]).unwrap();
    assert_eq!(code(&mut page), Some(CloseCode::Invalid));
    let mut page = edited.open();
    let _ = page.socket.send(Message::Text("x".repeat(2 << 20).into()));
    assert_eq!(code(&mut page), Some(CloseCode::Size));
}

#[test]
fn who_has_the_token_gets_in_however_many_strangers_wait() {
    let edited = edited(&[]);
    let cookie = edited.server.cookie();
    let mut strangers: Vec<_> = (0..64).map(|_| edited.server.connect()).collect();
    assert!(edited.server.get("/", &cookie).starts_with("HTTP/1.1 200"));
    edited.open().finished();
    // Clients without the token are soon disconnected.
    assert_eq!(strangers[63].read(&mut [0]).unwrap_or(0), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn the_token_is_on_no_command_line() {
    let place = Place::new(1);
    fs::write(place.path("scene.ron"), SCENE).unwrap();
    let opener = place.path("xdg-open");
    fs::write(
        &opener,
        "#!/bin/sh\necho \"$@\" > asked\nstat -c %a \"$1\" > mode\ncp \"$1\" page.html\necho > opened\n",
    )
    .unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = place.command(&["view", "scene.ron", "--port", "0"]);
    let path = format!("{}:{}", place.path("").display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("DISPLAY", ":0").env("TMPDIR", place.path(""));
    for name in ["SSH_CONNECTION", "SSH_TTY", "XDG_RUNTIME_DIR"] {
        command.env_remove(name);
    }
    let _process = Process::start_with_stdout(&mut command, fs::File::create(place.path("link")).unwrap());
    wait_until("the browser", || place.path("opened").exists());
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    let link = read("link");
    let token = link.trim().split_once("token=").unwrap().1;
    assert!(!read("asked").contains(token) && read("asked").contains(".html"), "{}", read("asked"));
    assert_eq!(read("mode").trim(), "600");
    assert!(read("page.html").contains(&format!("/enter?token={token}")), "{}", read("page.html"));
    let server = Server::at(link.trim());
    let entered = server.get(&format!("/enter?token={token}"), "");
    assert!(
        entered.starts_with("HTTP/1.1 200") && entered.contains("Set-Cookie: ") && entered.contains("url=/"),
        "{entered}"
    );
}

//! The page of `throng view` in a real browser: headless Chromium flies, records a flight, saves it and follows changes of the file.
//! Skipped if Chromium is not installed.

mod chromium;
mod viewer;

use serde_json::Value;
use std::path::Path;
use throng_testing::process;
use viewer::{READY, SceneFile, Viewer};

const BALLS: &str = r#"// This comment stays.
(
    render: (size: (160, 90), samples: 4, frames: 49, fps: 24, integrator: whitted),
    environment: Gradient(zenith: (0.3, 0.5, 1.0), horizon: (1.0, 1.0, 1.0), nadir: (0.2, 0.2, 0.2)),
    materials: { "paint": Diffuse(color: (0.8, 0.1, 0.1)) },
    meshes: { "ball": Sphere },
    // A single ball in the middle of the picture.
    instances: [Single(of: "ball", material: "paint", scale: 2)],
    camera: LookAt(eye: (0, 1, 12), target: (0, 0, 0), fov: 40), // to be replaced
)
"#;

#[test]
fn a_flight_is_flown_recorded_saved_and_played() {
    let scene = SceneFile::new(BALLS);
    let viewer = Viewer::start(&scene.path, &[]);
    let Some(mut page) = viewer.page(1280, 720) else { return };

    // Fly forward until the camera has moved and a picture shows it.
    page.key_down("w", "KeyW", 0);
    page.wait_for("throng.viewpoint.camera.eye[2] < 11");
    page.key_up("w", "KeyW", 0);
    page.wait_for("document.body.classList.contains('finished')");

    // Three waypoints, at different places and times.
    for (count, (key, code)) in [("d", "KeyD"), ("e", "KeyE"), ("a", "KeyA")].into_iter().enumerate() {
        page.press("k", "KeyK");
        page.wait_for(&format!("document.querySelectorAll('#keys .key').length === {}", count + 1));
        page.value("globalThis.before = throng.viewpoint.camera.eye");
        page.key_down(key, code, 0);
        page.wait_for("throng.viewpoint.camera.eye.some((x, i) => Math.abs(x - before[i]) > 0.5)");
        page.key_up(key, code, 0);
    }
    page.wait_for("document.querySelectorAll('#keys .key canvas').length > 0");
    assert_eq!(page.value("throng.waypoints.changed"), true);

    // In a small window, the waypoint's card is completely visible and does not overlap the panel.
    page.resize(800, 600);
    for _ in 0..2 {
        page.wait_for(CARD_IS_WHOLE);
        assert_eq!(page.value("document.querySelector('#key-editor :invalid') === null"), true);
        page.press("n", "KeyN");
    }
    page.resize(1280, 720);

    // Save: the camera becomes a spline, and the rest of the file is unchanged.
    page.press_with_control("s", "KeyS");
    page.wait_for("document.getElementById('toast').textContent.startsWith('Saved to')");
    let saved = scene.text();
    assert!(saved.contains("Spline"), "{saved}");
    let (before, after) = BALLS.split_once("LookAt(eye: (0, 1, 12), target: (0, 0, 0), fov: 40)").unwrap();
    assert!(saved.starts_with(before) && saved.ends_with(after), "{saved}");

    // Reload the page: the flight is read from the file.
    let keys = page.value(KEYS);
    page.reload();
    page.wait_for("throng.waypoints.keys.length === 3 && !throng.waypoints.changed");
    page.wait_for(READY);
    assert_near(&page.value(KEYS), &keys);

    // Play: the frame number and the camera advance along the path.
    page.press("0", "Digit0");
    page.wait_for("throng.playback.follow === 'scene'");
    page.press(" ", "Space");
    page.wait_for("throng.playback.playing && throng.playback.frame > 1");
    page.value("globalThis.before = [throng.playback.frame, throng.viewpoint.camera.eye]");
    page.wait_for(
        "throng.playback.frame !== before[0] && throng.viewpoint.camera.eye.some((x, i) => x !== before[1][i])",
    );
    page.press(" ", "Space");
    page.wait_for("!throng.playback.playing");
    page.assert_no_failures();
}

#[test]
fn edits_of_the_file_are_seen_and_so_are_its_errors() {
    let scene = SceneFile::new(BALLS);
    let viewer = Viewer::start(&scene.path, &[]);
    let Some(mut page) = viewer.page(1280, 720) else { return };
    page.wait_for(&format!("{MIDDLE}[0] > 2 * {MIDDLE}[1]"));

    scene.edit("(0.8, 0.1, 0.1)", "(0.1, 0.8, 0.1)");
    page.wait_for(&format!("{MIDDLE}[1] > 2 * {MIDDLE}[0]"));

    let shown = "!document.getElementById('banner').hidden && document.getElementById('banner').textContent";
    scene.edit("meshes:", "mashes:");
    page.wait_for(&format!("({shown} || '').includes('balls.ron:6:')"));
    // The previous picture is still shown.
    assert_eq!(page.value(&format!("{MIDDLE}[1] > 2 * {MIDDLE}[0]")), true);

    scene.edit("mashes:", "meshes:");
    page.wait_for("document.getElementById('banner').hidden");
    page.assert_no_failures();
}

#[test]
fn a_changed_value_loads_the_scene_once_and_is_saved_when_asked() {
    let scene = SceneFile::new(BALLS);
    let viewer = Viewer::start(&scene.path, &[]);
    let Some(mut page) = viewer.page(1280, 720) else { return };
    page.wait_for(&format!("{READY} && {MIDDLE}[0] > 2 * {MIDDLE}[1]"));
    page.wait_for(&format!("{PAINT} !== null"));
    page.value("globalThis.scenes = 0; throng.app.on('scene', () => scenes++)");
    page.value(&format!("{PAINT}.value = '(0.1, 0.1, 0.8)'; {PAINT}.dispatchEvent(new Event('input'))"));
    page.wait_for(&format!("{MIDDLE}[2] > 2 * {MIDDLE}[0] && document.body.classList.contains('finished')"));
    assert_eq!(page.value("scenes"), 1);
    assert_eq!(scene.text(), BALLS);

    // After a reload, the page still has the unsaved change.
    page.reload();
    page.wait_for(&format!("{READY} && {MIDDLE}[2] > 2 * {MIDDLE}[0]"));
    page.wait_for("document.querySelector('.count').textContent === '1 changed'");
    page.press_with_control("s", "KeyS");
    page.wait_for("document.getElementById('toast').textContent.startsWith('Saved to')");
    assert_eq!(scene.text(), BALLS.replace("(0.8, 0.1, 0.1)", "(0.1, 0.1, 0.8)"));
    page.assert_no_failures();
}

#[test]
fn a_banner_covers_neither_the_title_nor_the_picture() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let viewer = Viewer::start(&root.join("assets/bull.glb"), &[]);
    let Some(mut page) = viewer.page(800, 600) else { return };
    page.wait_for("document.getElementById('banner').textContent.includes('shown at rest')");
    for (width, height) in [(800, 600), (1280, 720), (390, 844)] {
        page.resize(width, height);
        page.wait_for(&format!("innerWidth === {width} && innerHeight === {height} && {NOTHING_IS_COVERED}"));
    }
    page.value("document.querySelector('#banner button').click()");
    page.wait_for("document.getElementById('banner').getBoundingClientRect().height === 0");
    page.assert_no_failures();
}

#[test]
fn an_animation_of_a_model_is_chosen_in_the_panel() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let viewer = Viewer::start(&root.join("assets/bull.glb"), &[]);
    let Some(mut page) = viewer.page(800, 600) else { return };
    page.press("n", "KeyN");
    page.wait_for(&format!("{ANIMATION}.checkVisibility()"));
    let names = page.value(&format!("[...{ANIMATION}.options].map((option) => option.text).join()"));
    assert_eq!(names, "at rest,all,Gallop,Walk");
    page.value("throng.app.on('command', ({ text }) => (globalThis.line = text))");
    for (value, flag) in [("Walk", "--animation Walk "), ("all", "--animation all "), ("", "")] {
        page.value(&format!("{ANIMATION}.value = '{value}'; {ANIMATION}.dispatchEvent(new Event('change'))"));
        page.wait_for(&format!("throng.app.scene.settings.animation === '{value}' && {ANIMATION}.value === '{value}'"));
        page.value("globalThis.line = ''; throng.app.send({ do: 'command', of: 'film' })");
        page.wait_for("line !== ''");
        let line = page.value("line");
        let line = line.as_str().unwrap();
        assert!(line.ends_with(&format!("bull.glb --device cpu {flag}-o bull.mp4")), "{line}");
    }
    page.assert_no_failures();
}

#[test]
fn the_pure_parts_of_the_page_calculate_right() {
    let scene = SceneFile::new(BALLS);
    let viewer = Viewer::start(&scene.path, &[]);
    let Some(mut page) = viewer.page(640, 480) else { return };
    let checks = page.value(include_str!("checks.js"));
    let checks = checks.as_object().expect("the checks run");
    let failed: Vec<&String> = checks.iter().filter(|(_, holds)| **holds != true).map(|(name, _)| name).collect();
    assert!(checks.len() > 10 && failed.is_empty(), "{failed:?}");
}

/// Writes the README's screenshot.
#[test]
#[ignore = "writes docs/view.jpg: just view-picture"]
fn the_picture_of_the_readme() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let viewer = Viewer::start(&root.join("scenes/dragon_of_dragons.ron"), &[]);
    let Some(mut page) = viewer.page(1280, 720) else { return };
    // Shows the time of each waypoint once, so that all have thumbnails.
    let count = page.value("throng.waypoints.keys.length").as_u64().unwrap();
    for number in 0..count {
        page.value(&format!("throng.playback.seek(1 + Math.round(24 * throng.waypoints.keys[{number}].time))"));
        page.wait_for("document.body.classList.contains('finished')");
        page.wait_for(&format!("document.querySelectorAll('#keys .key')[{number}].querySelector('canvas') !== null"));
    }
    page.press("n", "KeyN");
    page.value("throng.settings.set('samples', 64)");
    page.value("throng.waypoints.choose(throng.waypoints.keys[6].id); throng.playback.seek(61)");
    page.value(
        "import('/camera.js').then(({ fromPose }) => throng.viewpoint.set(fromPose({
            eye: [-8, 62, 152], target: [36, 24, 20], up: [0, 1, 0], fov: 46 })))",
    );
    page.wait_for("document.getElementById('state').textContent.startsWith('64 of 64 samples')");
    page.wait_for("document.body.classList.contains('finished') && !document.querySelector('.toast.shown')");
    page.screenshot(&root.join("docs/view.jpg"), 80);
}

/// Whether all fields of a waypoint's card are inside it, and the card is above the timeline.
const CARD_IS_WHOLE: &str = "(() => {
    const box = (element) => element.getBoundingClientRect();
    const card = document.getElementById('key-editor');
    const within = (a, b) => a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
    const parts = [...card.querySelectorAll('input, button')].filter((part) => part.checkVisibility());
    return parts.length > 5 && parts.every((part) => within(box(part), box(card))) && within(box(card), box(document.getElementById('stage')));
})()";

/// The banner, the picture with its title, and the strip are shown, and none of them covers another one.
const NOTHING_IS_COVERED: &str = "(() => {
    const boxes = ['#banner', '#view', '.strip'].map((name) => document.querySelector(name).getBoundingClientRect());
    const [banner, view] = boxes;
    const title = document.querySelector('.title').getBoundingClientRect();
    const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
    const inside = (a, b) => a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
    const window = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    return [...boxes, title].every((box) => box.height > 0 && inside(box, window)) && inside(title, view) && apart(title, banner) &&
        boxes.every((a, i) => boxes.slice(i + 1).every((b) => apart(a, b)));
})()";

/// The keys of the flight.
const KEYS: &str = "throng.waypoints.keys.map(({ eye, target, time }) => [...eye, ...target, time]).flat()";

/// The choice of animations.
const ANIMATION: &str = "(() => {
    const labels = [...document.querySelectorAll('.row label')];
    return document.getElementById(labels.find((label) => label.textContent === 'Animation').htmlFor);
})()";

/// The input field of the paint's colour.
const PAINT: &str = r#"document.querySelector('input[aria-label="materials.paint.color"]')"#;

/// Red, green and blue at the centre of the picture.
const MIDDLE: &str = "(() => {
    const canvas = document.getElementById('picture');
    return canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data;
})()";

#[track_caller]
fn assert_near(a: &Value, b: &Value) {
    let numbers = |value: &Value| -> Vec<f64> { value.as_array().unwrap().iter().filter_map(Value::as_f64).collect() };
    let (a, b) = (numbers(a), numbers(b));
    assert_eq!(a.len(), b.len());
    assert!(a.iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-4 * (1.0 + y.abs())), "{a:?} is not {b:?}");
}

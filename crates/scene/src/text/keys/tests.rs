use super::*;

fn at(text: &str, time: f64) -> String {
    match Keys::find(text) {
        Ok(keys) => keys.text_at(text, time, Course::Exact),
        Err((at, message)) => format!("{at}: {message}"),
    }
}

#[test]
fn numbers_points_and_colours_are_interpolated_and_words_change_in_steps() {
    let text = "(render: (exposure: keys([(0, 1), (2, 2)])), environment: Constant(radiance: keys([(0, \"#000000\"), (1, (1, 1, 3))])))";
    let expected = "(render: (exposure: 1.25), environment: Constant(radiance: (0.5, 0.5, 1.5)))";
    assert_eq!(at(text, 0.5), expected);
    let words = "(lights: [Point(shape: keys([(0, round), (1, \"flat\")]))])";
    assert_eq!(at(words, 0.9), "(lights: [Point(shape: round)])");
    assert_eq!(at(words, 1.0), "(lights: [Point(shape: \"flat\")])");
}

#[test]
fn easing_and_ends_are_the_keys_own() {
    let text = "(air: Fog(density: keys([(0, 0), (1, 1, ease: bezier(0, 0, 1, 1)), (2, 0, ease: step)], ends: loop)))";
    assert_eq!(at(text, 0.0), "(air: Fog(density: 0.0))");
    assert!(at(text, 0.5).starts_with("(air: Fog(density: 0.5"));
    assert_eq!(at(text, 3.5), "(air: Fog(density: 1.0))");
}

#[test]
fn tracks_are_written_out_whole() {
    let text = "(instances: [Single(of: \"a\", visible: keys([(0, true), (1.5, false)], ends: ping_pong))])";
    let whole = "(keys: [(0.0, true, step), (1.5, false, step), ], ends: ping_pong)";
    assert_eq!(at(text, 7.0), format!("(instances: [Single(of: \"a\", visible: {whole})])"));
}

#[test]
fn places_are_found_again_in_the_original() {
    let text = "(render: (exposure: keys([(0, 1)])), lights: [Point(intensity: keys([(0, 2)]), x: 1)])";
    let keys = Keys::find(text).expect("keys");
    let now = keys.text_at(text, 0.0, Course::Exact);
    let find = |what: &str| (text.find(what), now.find(what).map(|at| keys.origin(0.0, at)));
    for what in ["render", "lights", "x: 1", "])"] {
        let (there, back) = find(what);
        assert_eq!(there.filter(|_| what != "])"), back.filter(|_| what != "])"), "{what}");
    }
    assert_eq!(keys.origin(0.0, now.find("2.0").expect("value")), text.rfind("keys").expect("keys"));
}

#[test]
fn places_in_words_are_found_in_the_key_that_has_them() {
    let text = "(environment: keys([(0, SunSky(elevation: 3)), (1, Constant(color: 1))]), lights: [])";
    let keys = Keys::find(text).expect("keys");
    let now = keys.text_at(text, 1.0, Course::Exact);
    for what in ["Constant", "color", "lights"] {
        let (there, back) = (text.find(what), now.find(what).map(|at| keys.origin(1.0, at)));
        assert_eq!(there, back, "{what}");
    }
    let (own, keys) = keys.extract(text);
    let now = keys.text_at(&own, 1.0, Course::Exact);
    assert_eq!(own.find("color"), now.find("color").map(|at| keys.origin(1.0, at)));
}

#[test]
fn sections_that_change_are_taken_out() {
    let text =
        "(render: (samples: 4), lights: [Point(intensity: keys([(0, 1), (1, 3)]))], materials: {\"a\": Mirror()})";
    let keys = Keys::find(text).expect("keys");
    assert!(keys.has("lights") && !keys.has("materials"));
    let (own, keys) = keys.extract(text);
    let now = keys.text_at(&own, 0.5, Course::Exact);
    assert_eq!(now, "(lights: [Point(intensity: 2.0)], meshes: {}, instances: [])");
}

#[test]
fn faults_are_told() {
    for (text, words) in [
        ("(meshes: {\"a\": Quad(tile: keys([(0, 1)]))})", "cannot stand here"),
        ("(render: (samples: keys([(0, 1)])))", "cannot stand here"),
        ("(lights: [Point(x: keys([(1, 1), (1, 2)]))])", "sort the keys"),
        ("(lights: [Point(x: keys([]))])", "there are no keys"),
        ("(lights: [Point(x: keys(5))])", "there are no keys"),
        ("(lights: [Point(x: keys([(0, 1), (1, (1, 2))]))])", "of one kind"),
        ("(lights: [Point(x: keys([(0, a), (1, 2)]))])", "of one kind"),
        ("(lights: [Point(x: keys([(0, a), (1, b, ease: smooth)]))])", "in steps"),
        ("(lights: [Point(x: keys([(0, 1), (1, 2, ease: slow)]))])", "an ease is"),
        ("(lights: [Point(x: keys([(0, 1), (1, 2, ease: bezier(2, 0, 1, 1))]))])", "from 0 to 1"),
        ("(lights: [Point(x: keys([(0, 1)], ends: back))])", "`ends` are"),
        ("(lights: [Point(x: keys([(inf, 1)]))])", "number of seconds"),
        ("(lights: [Point(x: keys([(0, 1), (1, nan)]))])", "`nan` is no value: write a finite number"),
        ("(lights: [Point(x: keys([(0, (1, -inf, 2)), (1, (1, 2, 3))]))])", "`-inf` is no value"),
        ("(lights: [Point(x: keys([(0, 1e99)]))])", "`1e99` is no value"),
        ("(lights: [Point(x: keys([(0, 1, 2)]))])", "a key is"),
    ] {
        assert!(at(text, 0.0).contains(words), "{text}: {}", at(text, 0.0));
    }
}

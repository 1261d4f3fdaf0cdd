//! `docs/scene`: the reference of the scene file format, generated from the doc comments of its types and from example scenes, and its
//! schema.

mod book;
mod check;
mod contents;
mod docs;
mod examples;
mod pages;
mod ron;
mod schema;
mod source;
mod values;

use book::Book;
use docs::Docs;
use source::{Body, Field, Kind};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
};
use throng::{loader::load, scene::desc::SceneFile};

/// All files of the reference, by name.
fn files() -> Vec<(String, String)> {
    let book = Book::read();
    let mut files = book.pages();
    files.push(("schema.json".into(), format!("{:#}\n", schema::schema(&book))));
    files
}

#[test]
fn the_reference_is_what_the_sources_say() {
    for (name, text) in files() {
        let written = fs::read_to_string(examples::folder().join(&name)).unwrap_or_default();
        assert!(written == text, "the format has changed: run `just docs`, which writes docs/scene/{name} again");
    }
}

#[test]
#[ignore = "writes docs/scene"]
fn the_reference_is_written_again() {
    for (name, text) in files() {
        fs::write(examples::folder().join(name), text).unwrap();
    }
}

#[test]
fn every_link_between_pages_leads_to_a_heading() {
    let pages = Book::read().pages();
    let headings = |text: &str| -> BTreeSet<String> {
        let titles = text.lines().filter(|line| line.starts_with('#'));
        titles.map(|line| docs::anchor(line.trim_start_matches('#').trim())).collect()
    };
    let known: BTreeMap<&str, BTreeSet<String>> = pages.iter().map(|(name, text)| (&**name, headings(text))).collect();
    for (name, text) in &pages {
        let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link);
        for (page, heading) in links.filter_map(|link| link.split_once('#')) {
            let page = if page.is_empty() { name } else { page };
            assert!(known.get(page).is_some_and(|all| all.contains(heading)), "{name}: {page}#{heading}");
        }
    }
}

/// The types that occur in a kind of value.
fn named(kind: &Kind) -> Vec<&str> {
    match kind {
        Kind::Named(name) => vec![name],
        Kind::List(inner) | Kind::Map(inner) | Kind::Varying(inner) => named(inner),
        Kind::Tuple(parts) => parts.iter().flat_map(named).collect(),
    }
}

/// All types that a scene can contain, with their fields.
fn reachable(book: &Book) -> Vec<(String, Vec<Field>)> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec!["SceneFile".to_owned()];
    while let Some(name) = open.pop() {
        let Some(thing) = book.sources.things.get(&name).filter(|_| seen.insert(name.clone())) else { continue };
        let (fields, parts) = match &thing.body {
            Body::Fields(fields) => (fields.clone(), Vec::new()),
            Body::Choices(choices) => (Vec::new(), choices.iter().flat_map(|choice| choice.parts.clone()).collect()),
        };
        let shared = thing.shared.iter().flat_map(|name| book.sources.shared[name].clone());
        let fields: Vec<Field> = fields.into_iter().chain(shared).collect();
        let kinds = fields.iter().map(|field| &field.kind).chain(&parts);
        open.extend(kinds.flat_map(named).map(str::to_owned));
        found.push((name, fields));
    }
    found
}

#[test]
fn every_type_is_explained() {
    let book = Book::read();
    let explained: BTreeSet<&str> = book.explained().collect();
    for (name, _) in reachable(&book).iter().filter(|(name, _)| name != "SceneFile") {
        assert!(explained.contains(&**name), "{name} is on no page: add it to PAGES");
    }
}

#[test]
fn every_field_has_a_comment_that_says_what_happens_without_it() {
    let book = Book::read();
    let words = ["efault", "left out", "nstead of", "ither"];
    let mut bad = Vec::new();
    for (name, fields) in reachable(&book) {
        for field in fields {
            let told =
                field.required || words.iter().any(|word| field.docs.contains(word)) || field.docs.starts_with("As ");
            if field.docs.is_empty() || !told {
                bad.push(format!("{name}::{}", field.name));
            }
        }
    }
    assert!(bad.is_empty(), "tell the default, or what it means to leave them out, of {}", bad.join(", "));
}

#[test]
fn every_kind_has_a_picture() {
    // Curves from files look like other curves.
    assert_eq!(Book::read().without_picture(), ["Obj in curves", "Gltf in curves"]);
}

#[test]
fn every_example_scene_loads_and_is_shown_with_its_picture() {
    let book = Book::read();
    let pages: String =
        book.pages().into_iter().filter(|(name, _)| name != "README.md").map(|(_, text)| text).collect();
    for example in &book.examples {
        let name = &example.name;
        let path = examples::folder().join(format!("examples/{name}.ron"));
        if cfg!(feature = "usd") || !["Usd(", "MaterialX("].iter().any(|kind| example.text.contains(kind)) {
            load(&path).unwrap_or_else(|e| panic!("{e}"));
        }
        assert!(pages.contains(&format!("(pictures/{name}.jpg)")), "no page has a heading for {name}.ron");
        assert!(!example.caption.is_empty(), "{name}.ron begins with no comment");
        let picture = image::open(examples::folder().join(format!("pictures/{name}.jpg")));
        let picture = picture.unwrap_or_else(|e| panic!("{name}.jpg: {e}: run `just scene-pictures`"));
        let size = (picture.width(), picture.height());
        assert!([(360, 240), (384, 264)].contains(&size), "{name}.jpg: {size:?}");
    }
    let pictures = fs::read_dir(examples::folder().join("pictures")).unwrap();
    assert_eq!(pictures.count(), book.examples.len(), "pictures of scenes that are not there");
}

/// The context in which the doc examples of a type occur in a scene; `X` stands for the example.
fn context(name: &str) -> &str {
    match name {
        "EnvironmentDesc" | "Constant" | "Gradient" | "SunSky" | "EnvironmentImage" => "environment: X",
        "Moon" => "environment: SunSky(moon: X)",
        "FogDesc" => "air: X",
        "PointLight" | "SunLight" | "SpotLight" | "RectangleLight" | "DiscLight" => "lights: [X]",
        "MaterialDesc" | "Diffuse" | "Mirror" | "Emissive" | "Metal" | "Glossy" | "Glass" | "Pbr" | "Hair"
        | "MaterialXFile" => "materials: {\"m\": X}",
        "AlphaDesc" => "materials: {\"m\": Pbr(X)}",
        "CatmullRomCurve" | "BezierCurve" | "ObjCurve" | "GltfCurve" => "curves: {\"c\": X}",
        "DisplacementDesc" => "meshes: {\"m\": Obj(file: \"a.obj\", X)}",
        "Fur" => "meshes: {\"hill\": Sphere, \"m\": X}",
        "FurRules" | "FurWind" => {
            "meshes: {\"hill\": Sphere, \"m\": Fur(on: \"hill\", count: 1, length: 1, width: 0.1, X)}"
        }
        "NoiseDesc" | "Valley" | "Bed" => "meshes: {\"t\": Terrain(size: 1, X)}",
        "MotionDesc" => "motions: {\"m\": X}",
        "KeyframeDesc" => "motions: {\"m\": (parts: [Keyframes(keys: [X])])}",
        "PhaseDesc" | "RandomPhase" | "Wave" => "motions: {\"m\": (parts: [], phase: X)}",
        "Spin" | "Sway" | "Bob" | "Keyframes" | "FollowDesc" | "Towards" | "Shake" | "Clip" => {
            "motions: {\"m\": (parts: [X])}"
        }
        "BendDesc" => "motions: {\"m\": (parts: [Sway(axis: (0, 0, 1), degrees: 9, period: 2, X)])}",
        "Single" | "Group" | "Grid" | "Scatter" | "Random" | "Along" | "Table" => "instances: [X]",
        "Surface" | "Poisson" => "instances: [Scatter(of: \"a\", on: \"a\", at: X)]",
        "Sample" => "instances: [Scatter(of: \"a\", on: \"a\", X)]",
        "Rules" => "instances: [Scatter(of: \"a\", on: \"a\", at: vertices, X)]",
        "Each" | "Jitter" => "instances: [Grid(of: \"a\", count: (1, 1, 1), spacing: (1, 1, 1), X)]",
        "Choose" | "DropDesc" => "instances: [Single(of: \"a\", X)]",
        "AxisAngle" => "instances: [Single(of: \"a\", rotate: X)]",
        "LookAt" | "Fit" | "Orbit" | "Spline" => "camera: X",
        "SplineKey" => "camera: Spline(X)",
        "PaceDesc" => "camera: Spline(keys: [], X)",
        "ProjectionDesc" | "LensDesc" | "ShutterDesc" => "camera: Fit(from: (1, 0, 0), X)",
        "AimOn" => "camera: LookAt(eye: X, target: (0, 0, 0))",
        "EaseDesc" | "Varying" => "render: (X)",
        "RenderDesc" | "CutDesc" | "SceneFile" => "X",
        _ => "meshes: {\"m\": X}",
    }
}

/// Examples in doc comments, with the sections in which they occur.
fn examples_in_docs(book: &Book) -> Vec<String> {
    let mut found = Vec::new();
    for (name, fields) in reachable(book) {
        let thing = &book.sources.things[&name];
        let choices = match &thing.body {
            Body::Choices(choices) => &choices[..],
            Body::Fields(_) => &[],
        };
        let fields = fields.iter().filter(|field| name == "SceneFile" && field.name == "groups");
        let docs = std::iter::once(&thing.docs).chain(fields.map(|field| &field.docs));
        found.extend(docs.flat_map(|docs| Docs::of(docs).examples).map(|code| context(&name).replace('X', &code)));
        for code in choices.iter().flat_map(|choice| Docs::of(&choice.docs).examples) {
            let field = match (&*name, code.contains(": ")) {
                ("EaseDesc", _) => format!("exposure: keys([(0, 1), (1, 2, ease: {code})])"),
                ("AlphaDesc", false) => format!("alpha: {code}"),
                ("PaceDesc", false) => format!("pace: {code}"),
                ("ProjectionDesc", _) => format!("projection: {code}"),
                ("Choose", false) => format!("choose: {code}"),
                _ => code,
            };
            found.push(context(&name).replace('X', &field));
        }
    }
    found
}

#[test]
fn every_example_in_the_docs_is_right() {
    let examples = examples_in_docs(&Book::read());
    assert!(examples.len() > 60, "{}", examples.len());
    for section in examples {
        let more = ["meshes", "instances"].iter().filter(|name| !section.starts_with(*name));
        let more: String =
            more.map(|name| format!(", {name}: {}", if *name == "meshes" { "{}" } else { "[]" })).collect();
        let text = format!("({section}{more})");
        text.parse::<SceneFile>().unwrap_or_else(|e| panic!("{text}: {e}"));
    }
}

#[test]
fn every_scene_follows_the_schema() {
    let book = Book::read();
    let schema = schema::schema(&book);
    let scenes = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/scenes")).unwrap();
    let scenes = scenes.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "ron"));
    let scenes: Vec<PathBuf> = scenes.collect();
    let texts = scenes.iter().map(|path| (path.display().to_string(), fs::read_to_string(path).unwrap()));
    let examples = book.examples.iter().map(|example| (example.name.clone(), example.text.clone()));
    for (name, text) in texts.chain(examples) {
        assert_eq!(check::fault(&schema, &ron::read(&text)), None, "{name}");
    }
}

#[test]
fn scenes_that_are_wrong_do_not_follow_the_schema() {
    let schema = schema::schema(&Book::read());
    for text in [
        "(meshes: {})",
        "(meshes: {}, instances: [], rendr: ())",
        "(meshes: {\"a\": Torus(radius: \"large\")}, instances: [])",
        "(meshes: {\"a\": Torus(radius: keys([(0, 1)]))}, instances: [])",
        "(meshes: {\"a\": Donut()}, instances: [])",
        "(meshes: {}, instances: [Single(of: \"a\", translate: (1, 2))])",
        "(meshes: {}, instances: [], lights: [Point(position: (0, 0, 0), intensity: (-1, 0, 0))])",
        "(meshes: {}, instances: [], camera: Orbit(target: 3, radius: 1))",
    ] {
        let wrong = text.parse::<SceneFile>().is_err();
        assert!(wrong && check::fault(&schema, &ron::read(text)).is_some(), "{text}");
    }
}

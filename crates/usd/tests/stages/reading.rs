//! Composition, visibility, purposes, instances and errors.

use crate::inline::{Layers, error, item, names, read};
use glam::{Affine3, DAffine3, DVec3, Vec3};
use throng_usd::{Content, Copies, Purposes, Sampled, Stage, StageOptions, VariantChoice};

fn options() -> StageOptions {
    StageOptions::default()
}

#[test]
fn prims_that_are_not_there_are_not_read() {
    let stage = read(
        "def Cube \"a\" {}\ndef Cube \"b\" (active = false) {}\nover Cube \"c\" {}\nclass Cube \"d\" {}
        class \"e\" { def Cube \"f\" {} }\nover \"g\" { def Cube \"h\" {} }\ndef Cube \"i\" { def Cube \"j\" {} }",
    );
    assert_eq!(names(&stage), ["a", "i", "j"]);
}

#[test]
fn purposes_are_inherited_and_chosen() {
    let layers = Layers::new(&[(
        "a.usda",
        "def Xform \"r\" { uniform token purpose = \"render\"\ndef Cube \"render\" {}
            def Cube \"default\" { uniform token purpose = \"default\" } }
        def \"untyped\" { uniform token purpose = \"guide\"\ndef Cube \"always\" {} }
        def Scope \"p\" { uniform token purpose = \"proxy\"\ndef Xform \"q\" { def Cube \"proxy\" {} } }
        def Cube \"guide\" { uniform token purpose = \"guide\" }",
    )]);
    let shown = |render, proxy, guide| {
        let options = StageOptions { purposes: Purposes { render, proxy, guide }, ..options() };
        names(&layers.read("a.usda", &options).unwrap())
    };
    assert_eq!(shown(true, false, false), ["always", "default", "render"]);
    assert_eq!(shown(false, true, true), ["always", "default", "guide", "proxy"]);
}

#[test]
fn purposes_of_instances_reach_their_prototype() {
    let stage = read(
        "def Xform \"asset\" { def Cube \"c\" {} def Cube \"d\" { uniform token purpose = \"default\" } }
        def \"i\" (instanceable = true\nreferences = </asset>) { uniform token purpose = \"guide\" }
        def \"j\" (instanceable = true\nreferences = </asset>) {}\ndef \"k\" (instanceable = true\nreferences = </asset>) {}",
    );
    assert_eq!(names(&stage), ["c", "d", "i/d", "j/c", "j/d", "k/c", "k/d"]);
    // The two instances with the same purpose share a group, and all share their shape.
    assert_eq!((stage.groups.len(), stage.shapes.len()), (3, 1));
    assert_eq!((stage.census.native_instances, stage.census.prototypes), (3, 1));
}

#[test]
fn invisible_prims_hide_all_below_them() {
    let stage = read(
        "(startTimeCode = 1\nendTimeCode = 10)
        def Xform \"a\" { token visibility = \"invisible\"\ndef Cube \"b\" { token visibility = \"inherited\" } }
        def Xform \"c\" { token visibility.timeSamples = { 1: \"inherited\", 5: \"invisible\" }
            def Cube \"d\" { token visibility.timeSamples = { 1: \"invisible\", 3: \"inherited\" } } }
        def \"e\" { token visibility = \"invisible\"\ndef Cube \"f\" {} }",
    );
    assert_eq!(names(&stage), ["d", "f"]);
    let steps = Sampled::Moving(vec![(1.0, false), (3.0, true), (5.0, false)]);
    assert_eq!(item(&stage, "/c/d").shown, steps);
}

#[test]
fn constant_colours_are_inherited() {
    let stage = read(
        "def Xform \"a\" { color3f[] primvars:displayColor = [(1, 0, 0)]
            def Cube \"b\" {}\ndef Cube \"c\" { color3f[] primvars:displayColor = [(0, 1, 0)] } }
        def Xform \"d\" { color3f[] primvars:displayColor = [(0, 0, 1)] (interpolation = \"vertex\")\ndef Cube \"e\" {} }",
    );
    let color = |name: &str| match &item(&stage, name).content {
        Content::Shape { shape, color, .. } => {
            (*color, stage.shapes[*shape as usize].colors.as_ref().map(|c| c.values[0]))
        }
        _ => panic!(),
    };
    assert_eq!(color("/a/b"), (Some([1.0, 0.0, 0.0]), None));
    assert_eq!(color("/a/c"), (None, Some([0.0, 1.0, 0.0])));
    assert_eq!(color("/d/e"), (None, None));
}

#[test]
fn constant_opacities_are_inherited() {
    let stage = read(
        "def Xform \"a\" { float[] primvars:displayOpacity = [0.5]
            def Cube \"b\" {}\ndef Cube \"c\" { float[] primvars:displayOpacity = [1] } }
        def Xform \"d\" (instanceable = true; prepend inherits = </part>) { float[] primvars:displayOpacity = [0.25] }
        class \"part\" { def Cube \"e\" {} }",
    );
    let items = stage.groups.iter().flat_map(|group| &group.items);
    let opacity = |name: &str| match &items.clone().find(|item| item.name == name).unwrap().content {
        Content::Shape { shape, opacity, .. } => (*opacity, stage.shapes[*shape as usize].opacities.is_some()),
        _ => panic!(),
    };
    assert_eq!([opacity("/a/b"), opacity("/a/c")], [(Some(0.5), false), (None, true)]);
    assert_eq!(opacity("/d/e"), (Some(0.25), false));
}

#[test]
fn a_prim_can_be_chosen_and_keeps_its_place() {
    let layers = Layers::new(&[(
        "a.usda",
        "def Xform \"w\" { double3 xformOp:translate = (1, 2, 3)\nuniform token[] xformOpOrder = [\"xformOp:translate\"]
            def Cube \"a\" {}\ndef Cube \"b\" {} }\ndef Cube \"c\" {}",
    )]);
    let chosen = |prim: &str| layers.read("a.usda", &StageOptions { prim: Some(prim.to_owned()), ..options() });
    let stage = chosen("/w/b").unwrap();
    assert_eq!(names(&stage), ["b"]);
    let place = DAffine3::from_translation(DVec3::new(1.0, 2.0, 3.0));
    assert_eq!(item(&stage, "/w/b").group_from_item, Sampled::Still(place));
    assert_eq!(chosen("/w/x").unwrap_err().message, "there is no prim /w/x; /w has the prims a, b");
    assert_eq!(chosen("/x/y").unwrap_err().message, "there is no prim /x; the stage has the prims c, w");
    assert_eq!(chosen("w b").unwrap_err().message, "`w b` is no path of a prim; write it as /World/Car");
}

const VARIANTS: &str = "def Xform \"w\" { def Xform \"car\" (variants = { string body = \"small\" }\nprepend variantSets = [\"body\", \"top\"])
    { variantSet \"body\" = { \"small\" { def Cube \"small\" {} }\n\"large\" { def Cube \"large\" {} } }
      variantSet \"top\" = { \"open\" { def Cube \"open\" {} }\n\"shut\" { def Cube \"shut\" {} } } } }";

fn choose(layers: &Layers, choices: &[(&str, &str, &str)]) -> Result<Vec<String>, String> {
    let choice = |&(prim, set, variant): &(&str, &str, &str)| VariantChoice {
        prim: prim.into(),
        set: set.into(),
        variant: variant.into(),
    };
    let options = StageOptions { variants: choices.iter().map(choice).collect(), ..options() };
    layers.read("a.usda", &options).map(|stage| names(&stage)).map_err(|error| error.message)
}

#[test]
fn variants_can_be_chosen() {
    let layers = Layers::new(&[("a.usda", VARIANTS)]);
    assert_eq!(choose(&layers, &[("/w/car", "top", "shut")]).unwrap(), ["shut", "small"]);
    let both = [("/w/car", "body", "large"), ("/w/car", "top", "open")];
    assert_eq!(choose(&layers, &both).unwrap(), ["large", "open"]);
    let stage = layers.read("a.usda", &StageOptions { variants: Vec::new(), ..options() }).unwrap();
    assert_eq!(stage.layers.len(), 1);
}

#[test]
fn variants_that_do_not_exist_are_errors_that_list_what_there_is() {
    let layers = Layers::new(&[("a.usda", VARIANTS)]);
    let fails = |prim, set, variant| choose(&layers, &[(prim, set, variant)]).unwrap_err();
    assert_eq!(fails("/w/bus", "body", "large"), "there is no prim /w/bus; /w has the prims car");
    assert_eq!(fails("/w/car", "colour", "red"), "variant `colour=red`: /w/car has the variant sets body, top");
    assert_eq!(fails("/w", "colour", "red"), "variant `colour=red`: /w has no variant sets");
    assert_eq!(
        fails("/w/car", "body", "huge"),
        "variant `body=huge`: set `body` of /w/car has the variants large, small"
    );
    assert_eq!(fails("w", "body", "huge"), "variant `w:body=huge`: write it as /World/Car:color=red");
    let twice = [("/w/car", "body", "large"), ("/w/car", "body", "small")];
    assert!(choose(&layers, &twice).unwrap_err().contains("is selected twice"));
}

#[test]
fn files_outside_of_the_folder_need_a_permission() {
    let layers = Layers::new(&[
        ("in/a.usda", "def \"a\" (references = @../out/b.usda@) {}"),
        ("out/b.usda", "(defaultPrim = \"b\")\ndef Cube \"b\" {}"),
    ]);
    let message = layers.read("in/a.usda", &options()).unwrap_err().to_string();
    assert!(message.contains("out/b.usda, which is outside of its folder; permit it with `--allow-dir /"), "{message}");
    let allow = vec![layers.path("out")];
    assert_eq!(names(&layers.read("in/a.usda", &StageOptions { allow, ..options() }).unwrap()), ["a"]);
    let allow = vec![layers.path("")];
    assert_eq!(layers.read("in/a.usda", &StageOptions { allow, ..options() }).unwrap().layers.len(), 2);
}

#[test]
fn all_folders_that_need_a_permission_are_named_at_once() {
    let layers = Layers::new(&[
        (
            "in/a.usda",
            "(subLayers = [@../under/d.usda@])\ndef \"a\" (references = @../out/b.usda@) {}\ndef \"c\" (references = @../far/c.usda@) {}",
        ),
        ("out/b.usda", "(defaultPrim = \"b\")\ndef Cube \"b\" {}"),
        ("far/c.usda", "(defaultPrim = \"c\")\ndef Cube \"c\" {}"),
        ("under/d.usda", ""),
    ]);
    let message = layers.read("in/a.usda", &options()).unwrap_err().to_string();
    for folder in ["out", "far", "under"] {
        assert!(
            message.contains(&format!("--allow-dir {}", layers.path(folder).canonicalize().unwrap().display())),
            "{message}"
        );
    }
}

#[test]
#[cfg(unix)]
fn a_link_out_of_the_folder_needs_a_permission() {
    let layers = Layers::new(&[
        ("in/a.usda", "def \"a\" (references = @./b.usda@) {}"),
        ("out/b.usda", "(defaultPrim = \"b\")\ndef Cube \"b\" {}"),
    ]);
    std::os::unix::fs::symlink(layers.path("out/b.usda"), layers.path("in/b.usda")).unwrap();
    assert!(layers.read("in/a.usda", &options()).unwrap_err().message.contains("--allow-dir"));
}

#[test]
fn errors_name_the_line() {
    let fault = error("def Cube \"a\" {\n  double size = \n}\n");
    assert_eq!(fault.place, Some((4, 1)), "{fault}");
    let fault = error("def Cube \"a\" {}\ndef \"b\" (references = @./missing.usda@) {}\n");
    assert_eq!(fault.place.map(|at| at.0), Some(3), "{fault}");
    assert!(
        fault.message.contains("/b: reference ") && fault.message.ends_with("missing.usda does not exist"),
        "{fault}"
    );
    let fault = error("(subLayers = [@./gone.usda@])");
    assert_eq!((fault.place.map(|at| at.0), fault.message.contains("sublayer")), (Some(2), true), "{fault}");
    let fault = error("def \"a\" {}\ndef \"b\" (references = </c>) {}\n");
    assert_eq!((fault.place.map(|at| at.0), fault.message.ends_with("has no prim /c")), (Some(3), true), "{fault}");
}

#[test]
fn errors_of_other_layers_name_their_file() {
    let layers =
        Layers::new(&[("a.usda", "def \"a\" (references = @./b.usda@) {}"), ("b.usda", "def \"b\" {\n oops\n")]);
    let error = layers.read("a.usda", &options()).unwrap_err();
    assert!(error.file.ends_with("b.usda") && error.place.is_some(), "{error}");
}

#[test]
fn missing_payloads_are_warnings() {
    let stage = read("def Cube \"a\" (payload = @./gone.usda@) {}");
    assert_eq!(names(&stage), ["a"]);
    assert!(stage.warnings[0].starts_with("/a: its payload ") && stage.warnings[0].ends_with("it is left out"));
    assert!(stage.census.unresolved[0].ends_with("gone.usda"), "{:?}", stage.census.unresolved);
}

#[test]
fn the_range_of_time_has_two_spellings() {
    let range = |header: &str| read(&format!("({header})")).times;
    assert_eq!(range("startFrame = 3\nendFrame = 9").range, Some((3.0, 9.0)));
    assert_eq!(range("startTimeCode = 1\nendTimeCode = 2\nstartFrame = 3\nendFrame = 9").range, Some((1.0, 2.0)));
    let times = range("startTimeCode = 5\ntimeCodesPerSecond = 30");
    assert_eq!((times.range, times.per_second), (None, 30.0));
}

/// The copies of the instancer `/p`.
fn copies(stage: &Stage) -> &Copies {
    match &item(stage, "/p").content {
        Content::Copies(copies) => copies,
        _ => panic!(),
    }
}

fn instancer(header: &str, attributes: &str) -> Stage {
    read(&format!(
        "({header})\ndef PointInstancer \"p\" {{ rel prototypes = [</p/a>, </p/b>]
        {attributes}\ndef Cube \"a\" {{}}\ndef Sphere \"b\" {{}} }}"
    ))
}

const THREE: &str = "int[] protoIndices = [0, 1, 0]\npoint3f[] positions = [(1, 0, 0), (2, 0, 0), (3, 0, 0)]\n";

fn xs(places: &[Affine3]) -> Vec<f32> {
    places.iter().map(|place| place.translation.x).collect()
}

#[test]
fn copies_have_prototypes_and_places() {
    let stage = instancer(
        "",
        &format!(
            "{THREE}quath[] orientations = [(1, 0, 0, 0), (0, 0, 0, 2), (0, 0, 0, 0)]\nfloat3[] scales = [(1, 1, 1), (2, 3, 4), (1, 1, 1)]"
        ),
    );
    let copies = copies(&stage);
    let prototypes: Vec<&str> =
        copies.of.iter().map(|&of| stage.groups[copies.prototypes[of as usize] as usize].name.as_str()).collect();
    assert_eq!(prototypes, ["/p/a", "/p/b", "/p/a"]);
    let places = copies.places.first();
    assert_eq!(xs(places), [1.0, 2.0, 3.0]);
    let corner = places[1].transform_point3(Vec3::ONE);
    assert!(corner.abs_diff_eq(Vec3::new(0.0, -3.0, 4.0), 1e-5), "{corner}");
    assert_eq!(places[2], Affine3::from_translation(Vec3::X * 3.0));
    assert_eq!(stage.census.point_instances, 3);
}

#[test]
fn newer_orientations_replace_older_ones() {
    let stage = instancer(
        "",
        &format!(
            "{THREE}quath[] orientations = [(0, 1, 0, 0), (0, 1, 0, 0), (0, 1, 0, 0)]\nquatf[] orientationsf = [(1, 0, 0, 0), (1, 0, 0, 0), (1, 0, 0, 0)]"
        ),
    );
    assert_eq!(copies(&stage).places.first()[0], Affine3::from_translation(Vec3::X));
}

#[test]
fn masked_copies_are_left_out() {
    let hidden = |attributes: &str| xs(copies(&instancer("", &format!("{THREE}{attributes}"))).places.first());
    assert_eq!(hidden("int64[] invisibleIds = [1]"), [1.0, 3.0]);
    assert_eq!(hidden("int64[] ids = [7, 8, 9]\nint64[] invisibleIds = [9, 1]"), [1.0, 2.0]);
    let layer = format!(
        "def PointInstancer \"p\" (inactiveIds = [0, 2]) {{ rel prototypes = [</p/a>, </p/b>]\n{THREE}\ndef Cube \"a\" {{}}\ndef Cube \"b\" {{}} }}"
    );
    assert_eq!(xs(copies(&read(&layer)).places.first()), [2.0]);
}

#[test]
fn masks_over_time_make_copies_absent() {
    let stage = instancer(
        "startTimeCode = 1\nendTimeCode = 3",
        &format!("{THREE}int64[] invisibleIds.timeSamples = {{ 1: [0, 1, 2], 2: [1], 3: [] }}"),
    );
    let copies = copies(&stage);
    let Sampled::Moving(samples) = &copies.places else { panic!() };
    let there = |index: usize| samples[index].1.iter().filter(|place| place.is_finite()).count();
    assert_eq!([there(0), there(1), there(2)], [0, 2, 3]);
    assert_eq!(stage.census.point_instances, 0);
}

#[test]
fn copies_stay_until_they_go() {
    let stage = instancer(
        "startTimeCode = 0\nendTimeCode = 10",
        &format!("{THREE}int64[] invisibleIds.timeSamples = {{ 0: [], 6: [1], 7: [0] }}"),
    );
    let Sampled::Moving(samples) = &copies(&stage).places else { panic!() };
    let there: Vec<_> =
        samples.iter().map(|(time, places)| (*time, [0, 1].map(|copy| places[copy].is_finite()))).collect();
    assert_eq!(there, [(0.0, [true; 2]), (5.99, [true; 2]), (6.0, [true, false]), (7.0, [false, true])]);
}

#[test]
fn copies_keep_their_number_by_their_ids() {
    let stage = instancer(
        "startTimeCode = 1\nendTimeCode = 2",
        "int[] protoIndices.timeSamples = { 1: [0, 1], 2: [1, 0, 0] }
        int64[] ids.timeSamples = { 1: [5, 6], 2: [6, 7, 5] }
        point3f[] positions.timeSamples = { 1: [(5, 0, 0), (6, 0, 0)], 2: [(6.5, 0, 0), (7.5, 0, 0), (5.5, 0, 0)] }",
    );
    let copies = copies(&stage);
    let Sampled::Moving(samples) = &copies.places else { panic!() };
    assert_eq!(copies.of.len(), 3);
    assert_eq!(xs(&samples[0].1)[..2], [5.0, 6.0]);
    assert!(samples[0].1[2].is_nan());
    assert_eq!(xs(&samples[1].1), [5.5, 6.5, 7.5]);
}

#[test]
fn velocities_move_copies() {
    let stage = instancer(
        "startTimeCode = 1\nendTimeCode = 1\ntimeCodesPerSecond = 24",
        &format!("{THREE}vector3f[] velocities = [(24, 0, 0), (0, 0, 0), (0, 48, 0)]"),
    );
    let Sampled::Moving(samples) = &copies(&stage).places else { panic!() };
    assert_eq!(samples.iter().map(|(time, _)| *time).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
    assert_eq!(xs(&samples[0].1), [0.0, 2.0, 3.0]);
    assert_eq!(samples[2].1[2].translation, Vec3::new(3.0, 2.0, 0.0));
}

#[test]
fn angular_velocities_turn_copies() {
    let stage = instancer(
        "startTimeCode = 0\nendTimeCode = 0\ntimeCodesPerSecond = 1",
        "int[] protoIndices = [0]\npoint3f[] positions = [(0, 0, 0)]\nvector3f[] angularVelocities = [(0, 0, 90)]",
    );
    let Sampled::Moving(samples) = &copies(&stage).places else { panic!() };
    let turned = samples[2].1[0].transform_vector3(Vec3::X);
    assert!(turned.abs_diff_eq(Vec3::Y, 1e-6), "{turned}");
}

#[test]
fn copies_with_bad_numbers_are_left_out_with_warnings() {
    let stage = instancer(
        "",
        "int[] protoIndices = [0, 5, -1, 0, 0]\npoint3f[] positions = [(1, 0, 0), (2, 0, 0), (3, 0, 0), (nan, 0, 0)]\nfloat3[] scales = [(1, 1, 1)]",
    );
    assert_eq!(xs(copies(&stage).places.first()), [1.0]);
    assert_eq!(
        stage.warnings,
        [
            "/p: has 4 positions for 5 protoIndices; copies without a position are left out",
            "/p: has 1 scales for 5 protoIndices; scales are ignored",
            "/p: 2 protoIndices are not in the 2 prototypes; these copies are left out",
            "/p: 1 copies have numbers that are not finite; they are left out",
        ]
    );
}

#[test]
fn prototypes_keep_their_own_transform_and_visibility() {
    let stage = read(
        "def PointInstancer \"p\" { rel prototypes = [</p/a>, </p/h>, </p/gone>]
            int[] protoIndices = [0, 1, 2]\npoint3f[] positions = [(1, 0, 0), (2, 0, 0), (3, 0, 0)]
            def Xform \"a\" { double3 xformOp:translate = (0, 5, 0)\nuniform token[] xformOpOrder = [\"xformOp:translate\"]
                def Cube \"c\" {} }
            def Cube \"h\" { token visibility = \"invisible\" } }",
    );
    assert_eq!(names(&stage), ["p/c"].map(str::to_owned).to_vec());
    let copies = copies(&stage);
    assert_eq!(copies.of.len(), 2);
    let group = stage.groups.iter().find(|group| group.name == "/p/a").unwrap();
    assert_eq!(group.items[0].group_from_item, Sampled::Still(DAffine3::from_translation(DVec3::Y * 5.0)));
    assert_eq!(stage.warnings, ["/p: its prototype /p/gone does not exist; its copies are left out"]);
}

#[test]
fn prototypes_may_be_elsewhere_and_under_an_over() {
    let attributes = "int[] protoIndices = [0, 0]\npoint3f[] positions = [(1, 0, 0), (2, 0, 0)]";
    let stage =
        read(&format!("def Cube \"c\" {{}}\ndef PointInstancer \"p\" {{ rel prototypes = [</c>]\n{attributes} }}"));
    assert_eq!(names(&stage), ["c", "p/c", "p/c"]);
    let stage = read(&format!(
        "over \"o\" {{ def Xform \"x\" {{ def Cube \"c\" {{}} }} }}\ndef PointInstancer \"p\" {{ rel prototypes = [</o/x>]\n{attributes} }}"
    ));
    assert_eq!(names(&stage), ["p/c", "p/c"]);
}

#[test]
fn instancers_and_instances_nest() {
    let stage = read(
        "def Xform \"asset\" { def Cube \"c\" {} }
        def PointInstancer \"p\" { rel prototypes = [</p/q>]\nint[] protoIndices = [0, 0]\npoint3f[] positions = [(1, 0, 0), (2, 0, 0)]
            def PointInstancer \"q\" { rel prototypes = [</p/q/i>]
                int[] protoIndices = [0, 0, 0]\npoint3f[] positions = [(0, 1, 0), (0, 2, 0), (0, 3, 0)]
                def \"i\" (instanceable = true\nreferences = </asset>) {} } }",
    );
    assert_eq!(names(&stage).iter().filter(|name| *name == "p/q/i/c").count(), 6);
    assert_eq!(stage.census.point_instances, 8);
    let order: Vec<&str> = stage.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(order[0], "/");
}

#[test]
fn an_instancer_in_a_native_instance_is_read_once() {
    let stage = read(
        "def Xform \"asset\" { def PointInstancer \"p\" { rel prototypes = [</asset/p/c>]
            int[] protoIndices = [0, 0]\npoint3f[] positions = [(1, 0, 0), (2, 0, 0)]\ndef Cube \"c\" {} } }
        def \"i\" (instanceable = true\nreferences = </asset>) {}\ndef \"j\" (instanceable = true\nreferences = </asset>) {}",
    );
    assert_eq!(names(&stage).iter().filter(|name| name.ends_with("/p/c")).count(), 4);
    assert_eq!(stage.census.point_instances, 6);
}

#[test]
fn an_instancer_that_contains_itself_is_left_out_there() {
    let stage = read(
        "def Xform \"x\" { def Cube \"c\" {}\ndef PointInstancer \"p\" { rel prototypes = [</x>]
            int[] protoIndices = [0]\npoint3f[] positions = [(1, 0, 0)] } }",
    );
    assert_eq!(names(&stage), ["c", "p/c"]);
    assert_eq!(stage.warnings, ["/x/p: contains itself; it is left out there"]);
}

#[test]
fn lights_and_cameras_of_instances_are_in_world_space() {
    let stage = read(
        "def Xform \"asset\" { def Camera \"cam\" { double3 xformOp:translate = (0, 1, 0)\nuniform token[] xformOpOrder = [\"xformOp:translate\"] } }
        def Xform \"i\" (instanceable = true\nreferences = </asset>) { double3 xformOp:translate = (1, 0, 0)\nuniform token[] xformOpOrder = [\"xformOp:translate\"] }
        def Xform \"j\" (instanceable = true\nreferences = </asset>) {}",
    );
    let cameras: Vec<_> = stage
        .cameras
        .iter()
        .map(|camera| (camera.name.as_str(), camera.world_from_camera.first().translation))
        .collect();
    let at = |x: f64| DVec3::new(x, 1.0, 0.0);
    assert_eq!(cameras, [("/asset/cam", at(0.0)), ("/i/cam", at(1.0)), ("/j/cam", at(0.0))]);
}

#[test]
fn types_that_are_not_drawn_are_told_once() {
    let stage = read("def NurbsPatch \"a\" {}\ndef NurbsPatch \"b\" {}\ndef Volume \"v\" {}\ndef Cube \"c\" {}");
    assert_eq!(
        stage.warnings,
        [
            "NurbsPatch: 2 prims are left out, because throng does not draw this type",
            "Volume: 1 prim is left out, because throng does not draw this type"
        ]
    );
    assert_eq!(stage.census.left_out.len(), 2);
}

#[test]
fn values_of_a_wrong_type_are_told_and_replaced() {
    let stage = read("def Cube \"c\" { string size = \"big\" }\ndef Sphere \"s\" { double radius = inf }");
    assert_eq!(stage.shapes[0].kind, throng_usd::ShapeKind::Cube(2.0));
    assert_eq!(stage.shapes[1].kind, throng_usd::ShapeKind::Sphere(1.0));
    assert_eq!(
        stage.warnings,
        [
            "/c.size: is of type String, not a number; its fallback is used",
            "/s.radius: has a number that is not finite; its fallback is used"
        ]
    );
}

/// An instancer and native instances beside it. Places of the instances are those of the copies, but for the last one.
fn doubled(asset: &str) -> Stage {
    read(&format!(
        "def Xform \"asset\" {{ def Cube \"c\" {{}} }}\ndef Xform \"other\" {{ def Sphere \"s\" {{}} }}
        def Xform \"w\" {{ double3 xformOp:translate = (9, 9, 9)\nuniform token[] xformOpOrder = [\"xformOp:translate\"]
            def PointInstancer \"p\" {{ rel prototypes = [</w/p/a>]
                int[] protoIndices = [0, 0, 0]\npoint3f[] positions = [(1.1, 0, 0), (2.2, 0, 0), (3.3, 0, 0)]
                quath[] orientations = [(0.9, 0.1, 0.2, 0.3), (1, 0, 0, 0), (1, 0, 0, 0)]
                over \"a\" (instanceable = true\nreferences = </asset>) {{}} }}
            def Xform \"i\" (instanceable = true\nreferences = <{asset}>) {{ float3 xformOp:translate = (1.1, 0, 0)
                quatd xformOp:orient = (0.9, 0.1, 0.2, 0.3)
                uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"] }}
            def Xform \"j\" (instanceable = true\nreferences = <{asset}>) {{ float3 xformOp:translate = (2.2, 0, 0)
                float xformOp:rotateX = 5\nuniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:rotateX\"] }}
            def Xform \"k\" (instanceable = true\nreferences = <{asset}>) {{ float3 xformOp:translate = (3.3, 0.01, 0)
                uniform token[] xformOpOrder = [\"xformOp:translate\"] }} }}"
    ))
}

#[test]
fn instances_that_an_instancer_shows_as_well_are_dropped() {
    let stage = doubled("/asset");
    assert_eq!(names(&stage), ["c", "j/c", "k/c", "p/a/c", "p/a/c", "p/a/c", "s"]);
    assert!(
        stage.warnings[0].starts_with("/w/p: 1 instances are also copies of this point instancer"),
        "{:?}",
        stage.warnings
    );
}

#[test]
fn instances_of_other_geometry_at_the_same_places_stay() {
    let stage = doubled("/other");
    assert_eq!(names(&stage), ["c", "i/s", "j/s", "k/s", "p/a/c", "p/a/c", "p/a/c", "s"]);
    assert_eq!(stage.warnings, [""; 0]);
}

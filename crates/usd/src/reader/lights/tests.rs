//! Tests of lights.

use super::{is_light, read};
use crate::{
    Light, LightKind, NONE, Sampled, Shaping,
    reader::{pictures::Pictures, test_stage::TestStage},
};
use glam::DAffine3;

fn light_of(stage: &TestStage) -> Option<Light> {
    let prim = stage.prim("/L");
    let type_name = stage.values.type_name(&prim);
    assert!(is_light(&stage.values, &prim, type_name.as_str()), "{type_name}");
    let world = Sampled::Still(DAffine3::IDENTITY);
    read(&stage.values, &Pictures::default(), &prim, world, Sampled::Still(true))
}

/// A light of this type, without warnings.
fn light(type_name: &str, attributes: &str) -> Light {
    let (light, warnings) = with_warnings(type_name, attributes);
    assert_eq!(warnings, Vec::<String>::new());
    light.expect("a light")
}

fn with_warnings(type_name: &str, attributes: &str) -> (Option<Light>, Vec<String>) {
    let text = format!("def {type_name} \"L\" {{\n{attributes}\n}}\n");
    let stage = TestStage::with_files(&text, &[("stage/sky.hdr", b"sky")]);
    let light = light_of(&stage);
    (light, stage.warnings())
}

#[test]
fn all_kinds_are_read_with_their_dimensions() {
    let kind = |type_name, attributes| light(type_name, attributes).kind;
    assert_eq!(kind("DistantLight", ""), LightKind::Distant { angle: 0.53 });
    assert_eq!(kind("DistantLight", "float inputs:angle = 2"), LightKind::Distant { angle: 2.0 });
    assert_eq!(kind("SphereLight", ""), LightKind::Sphere { radius: 0.5 });
    assert_eq!(kind("SphereLight", "float inputs:radius = 3"), LightKind::Sphere { radius: 3.0 });
    assert_eq!(kind("SphereLight", "bool treatAsPoint = true"), LightKind::Sphere { radius: 0.0 });
    assert_eq!(kind("DiskLight", "float inputs:radius = 3"), LightKind::Disk { radius: 3.0 });
    let rect = "float inputs:width = 2\nfloat inputs:height = 3";
    assert_eq!(kind("RectLight", rect), LightKind::Rect { size: [2.0, 3.0], picture: NONE });
    let cylinder = "float inputs:radius = 2\nfloat inputs:length = 3";
    assert_eq!(kind("CylinderLight", cylinder), LightKind::Cylinder { radius: 2.0, length: 3.0 });
    assert_eq!(kind("CylinderLight", "bool treatAsLine = 1"), LightKind::Cylinder { radius: 0.0, length: 1.0 });
}

#[test]
fn a_dome_has_a_picture_and_a_pole() {
    let file = "asset inputs:texture:file = @sky.hdr@";
    let kind = |type_name, attributes: &str| light(type_name, attributes).kind;
    assert_eq!(kind("DomeLight", file), LightKind::Dome { picture: 0, pole_is_z: false });
    assert_eq!(kind("DomeLight", ""), LightKind::Dome { picture: NONE, pole_is_z: false });
    let format = format!("{file}\ntoken inputs:texture:format = \"latlong\"");
    assert_eq!(kind("DomeLight", &format), LightKind::Dome { picture: 0, pole_is_z: false });
    let z = format!("{file}\nuniform token poleAxis = \"Z\"");
    assert_eq!(kind("DomeLight_1", &z), LightKind::Dome { picture: 0, pole_is_z: true });
    assert_eq!(kind("DomeLight_1", file), LightKind::Dome { picture: 0, pole_is_z: false });
}

#[test]
fn the_pole_of_a_newer_dome_is_by_default_the_axis_that_points_up() {
    let stage = TestStage::new("( upAxis = \"Z\" )\ndef DomeLight_1 \"L\" {}\n");
    assert_eq!(light_of(&stage).map(|light| light.kind), Some(LightKind::Dome { picture: NONE, pole_is_z: true }));
}

#[test]
fn a_dome_with_another_kind_of_picture_is_even_with_a_warning() {
    let attributes = "
        asset inputs:texture:file = @sky.hdr@
        token inputs:texture:format = \"mirroredBall\"";
    let (light, warnings) = with_warnings("DomeLight", attributes);
    assert_eq!(light.map(|light| light.kind), Some(LightKind::Dome { picture: NONE, pole_is_z: false }));
    assert_eq!(warnings, ["/L: the picture's format mirroredBall is not supported; it is left out"]);
}

#[test]
fn radiance_is_intensity_times_exposure_times_color() {
    let attributes = "
        float inputs:intensity = 3
        float inputs:exposure = 2
        color3f inputs:color = (1, 0.5, 0.25)
        bool inputs:normalize = true";
    let light = light("SphereLight", attributes);
    assert_eq!(light.radiance, Sampled::Still([12.0, 6.0, 3.0]));
    assert!(light.normalize);
}

#[test]
fn defaults_are_those_of_the_schemas() {
    assert_eq!(light("SphereLight", "").radiance, Sampled::Still([1.0; 3]));
    assert_eq!(light("DistantLight", "").radiance, Sampled::Still([50_000.0; 3]));
    assert!(!light("DistantLight", "").normalize);
    assert_eq!(light("SphereLight", "").shaping, None);
}

/// OpenUSD 26.11 gives (1.7710284, 0.84429353, 0.27203175) for 3,000 K.
#[test]
fn a_temperature_tints_the_light_if_it_is_enabled() {
    let temperature = "float inputs:colorTemperature = 3000\nfloat inputs:intensity = 10";
    assert_eq!(light("SphereLight", temperature).radiance, Sampled::Still([10.0; 3]));
    let enabled = format!("{temperature}\nbool inputs:enableColorTemperature = true");
    let radiance = *light("SphereLight", &enabled).radiance.first();
    let expected = [17.710_284, 8.442_935, 2.720_317_5];
    assert!(radiance.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4), "{radiance:?}");
}

#[test]
fn animated_intensities_and_colors_have_samples_at_the_times_of_both() {
    let attributes = "
        float inputs:intensity.timeSamples = { 1: 1, 3: 3 }
        color3f inputs:color.timeSamples = { 2: (1, 0, 0), 3: (0, 1, 0) }";
    let expected = vec![(1.0, [1.0, 0.0, 0.0]), (2.0, [2.0, 0.0, 0.0]), (3.0, [0.0, 3.0, 0.0])];
    assert_eq!(light("SphereLight", attributes).radiance, Sampled::Moving(expected));
}

#[test]
fn names_of_files_older_than_usd_21_02_are_read() {
    let attributes = "
        float intensity = 3
        float radius = 2
        float shaping:cone:angle = 30";
    let light = light("SphereLight", attributes);
    assert_eq!(light.radiance, Sampled::Still([3.0; 3]));
    assert_eq!(light.kind, LightKind::Sphere { radius: 2.0 });
    assert_eq!(light.shaping, Some(Shaping { angle: 30.0, softness: 0.0, focus: 0.0 }));
}

#[test]
fn new_names_win_over_old_ones() {
    let attributes = "float intensity = 3\nfloat inputs:intensity = 4";
    assert_eq!(light("SphereLight", attributes).radiance, Sampled::Still([4.0; 3]));
}

#[test]
fn shaping_makes_a_spot_light() {
    let attributes = "
        float inputs:shaping:cone:angle = 40
        float inputs:shaping:cone:softness = 0.25
        float inputs:shaping:focus = 2";
    let expected = Shaping { angle: 40.0, softness: 0.25, focus: 2.0 };
    assert_eq!(light("DiskLight", attributes).shaping, Some(expected));
    assert_eq!(light("DiskLight", "float inputs:shaping:cone:angle = 180").shaping, None);
}

#[test]
fn meshes_with_the_schema_and_lights_of_geometry_emit_by_their_shapes() {
    let mesh = "def Mesh \"L\" (prepend apiSchemas = [\"MeshLightAPI\"]) { float inputs:intensity = 5 }\n";
    let light = light_of(&TestStage::new(mesh)).expect("a light");
    assert_eq!(
        (light.name.as_str(), light.kind, light.radiance),
        ("/L", LightKind::Geometry, Sampled::Still([5.0; 3]))
    );
    let geometry =
        "def GeometryLight \"L\" { rel geometry = </World/Lamp> }\ndef Xform \"World\" { def Mesh \"Lamp\" {} }\n";
    let light = light_of(&TestStage::new(geometry)).expect("a light");
    assert_eq!((light.name.as_str(), light.kind), ("/World/Lamp", LightKind::Geometry));
    let stage = TestStage::new("def Mesh \"L\" {}\n");
    assert!(!is_light(&stage.values, &stage.prim("/L"), "Mesh"));
}

#[test]
fn unsupported_kinds_are_left_out_with_a_warning() {
    let (light, warnings) = with_warnings("PortalLight", "");
    assert!(light.is_none());
    assert_eq!(warnings, ["/L: lights of type PortalLight are not supported; it is left out"]);
}

#[test]
fn unsupported_attributes_are_named() {
    let attributes = "
        float inputs:diffuse = 0.5
        asset inputs:shaping:ies:file = @lamp.ies@
        bool inputs:shadow:enable = false
        rel light:filters = </L/Gobo>
        rel collection:lightLink:excludes = </World>";
    let (_, warnings) = with_warnings("SphereLight", attributes);
    let expected = [
        "/L: factors for diffuse and specular reflections are not supported; the light acts in full",
        "/L: profiles (IES) are not supported; the light shines evenly",
        "/L: lights without shadows are not supported; it casts them",
        "/L: filters of lights are not supported; it shines without them",
        "links of lights to objects are not supported; all lights shine on all objects",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn a_light_that_is_infinitely_bright_is_off() {
    let (light, warnings) = with_warnings("SphereLight", "float inputs:exposure = 1000");
    assert_eq!(light.map(|light| light.radiance), Some(Sampled::Still([0.0; 3])));
    assert_eq!(warnings, ["/L: its intensity and exposure are too large; the light is off"]);
}

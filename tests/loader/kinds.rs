//! Messages about values of the wrong kind: the accepted kinds, with line and column of the value.

use super::*;

/// A section with a wrong value, which begins after `~`, and the expected message.
type Case = (&'static str, &'static str);

#[rustfmt::skip]
const CASES: [Case; 77] = [
    ("lights: [Point(position: ~\"car\", intensity: (1, 1, 1))]", "expected a point: (x, y, z)"),
    ("lights: [Point(position: ~3, intensity: (1, 1, 1))]", "expected a point: (x, y, z)"),
    ("lights: [Point(position: ~[1, 2, 3], intensity: (1, 1, 1))]", "expected a point: (x, y, z)"),
    ("lights: [Point(position: (1, 2~), intensity: (1, 1, 1))]", "expected a point: (x, y, z), not 2 values"),
    ("lights: [Point(position: (1, 2, ~true), intensity: (1, 1, 1))]", "expected a number, such as 1.5"),
    ("lights: [Point(position: (0, 0, 0), intensity: ~true)]", "expected a colour: (r, g, b), \"#rrggbb\" or a name like \"white\", not `true`"),
    ("lights: [Point(position: (0, 0, 0), intensity: (1, 1~))]", "expected three numbers, not 2 values"),
    ("lights: [Point(position: (0, 0, 0), intensity: (1, 1, 1), name: ~3)]", "expected text in quotes"),
    ("lights: [Sun(direction: (0, 1, 0), irradiance: (1, 1, 1), size: ~[1, 2])]", "expected a number"),
    ("lights: [Sun(direction: (0, 1, 0), irradiance: (1, 1, 1), size: ~true)]", "expected a number"),
    ("lights: [Rectangle(size: ~3)]", "expected 2 values in parentheses: (a, b)"),
    ("lights: [Rectangle(size: (1, 2, ~3))]", "expected `,` or `)`: check the value before this one, or remove it"),
    ("materials: {\"m\": Glass(attenuation: (\"#ffffff\"~))}", "expected 2 values in parentheses: (a, b), not 1 value"),
    ("lights: ~Point(position: (0, 0, 0))", "expected a list: [.., ..]"),
    ("environment: ~\"sky\"", "expected a name without quotes: the choices are Constant, Gradient, SunSky, Image"),
    ("environment: ~\"SunSky\"", "expected a name without quotes: write SunSky"),
    ("environment: SunSky(moon: ~3)", "expected fields in parentheses, as in `(field: value)`: the fields are elevation, azimuth"),
    ("environment: SunSky(moon: ~true)", "the fields are elevation, azimuth"),
    ("environment: SunSky(sun: ~1)", "expected true or false"),
    ("environment: SunSky(elevation: ~(1, 2, 3))", "expected a number"),
    ("render: (size: ~5)", "expected 2 values in parentheses: (a, b)"),
    ("render: (size: (5, ~\"a\"))", "expected a whole number"),
    ("render: (samples: ~2.5)", "expected a whole number"),
    ("render: (samples: ~-1)", "expected a whole number from 0 to 4294967295"),
    ("render: (tone_map: ~\"aces\")", "expected a name without quotes: write aces"),
    ("render: (tone_map: ~3)", "the choices are none, aces, agx, pbr_neutral"),
    ("render: ~3", "expected fields in parentheses"),
    ("air: Fog(density: ~\"thick\")", "expected a number"),
    ("air: Fog(density: keys([(0, ~\"a\"), (1, \"b\")]))", "expected a number"),
    ("air: Fog(density: ~keys([(0, (1, 2, 3)), (1, (1, 2, 3))]))", "expected a number"),
    ("materials: {\"m\": Diffuse(color: ~3)}", "expected a colour: (r, g, b), \"#rrggbb\" or a name like \"white\", not `3`"),
    ("materials: {\"m\": Diffuse(color: ~red)}", "expected a colour: (r, g, b), \"#rrggbb\" or a name like \"white\", not a word without quotes"),
    ("materials: {\"m\": Diffuse(texture: ~(1, 1, 1))}", "expected text in quotes"),
    ("materials: {\"m\": Diffuse(wrap: ~\"mirrored\")}", "expected a name without quotes: did you mean `mirror`?"),
    ("materials: {~m: Diffuse()}", "expected text in quotes"),
    ("materials: ~[Diffuse()]", "expected names with values: {\"name\": .., ..}"),
    ("materials: {\"m\": Glass(attenuation: ~\"#ffffff\")}", "expected 2 values in parentheses: (a, b)"),
    ("materials: {\"m\": Pbr(alpha: mask(~\"a\"))}", "expected a number"),
    ("meshes: {\"a\": Torus(~3)}", "expected fields by name, as in `field: value`: the fields are radius, tube, segments"),
    ("meshes: {\"a\": Torus(segments: ~3.5)}", "expected a whole number"),
    ("meshes: {\"a\": Sphere~(radius: 3)}", "this name has no fields: remove the parentheses"),
    ("meshes: {\"a\": Box(size: ~\"large\")}", "expected a number or (x, y, z), not \"large\""),
    ("meshes: {\"a\": Terrain(size: (1, 1, 1), noise: ~3)}", "the fields are seed, octaves, scale"),
    ("meshes: {\"a\": Obj(~\"x.obj\")}", "the fields are file, material"),
    ("meshes: {\"a\": Quad(tile: ~keys([(0, 1)]))}", "`keys` cannot stand here"),
    ("curves: {\"c\": CatmullRom(points: ~(1, 2, 3))}", "expected a list: [.., ..]"),
    ("curves: {\"c\": CatmullRom(points: [~1, 2])}", "expected a point: (x, y, z)"),
    ("motions: {\"m\": ~Spin(period: 3)}", "expected fields in parentheses, as in `(field: value)`: the fields are parts, phase"),
    ("motions: {\"m\": (parts: [Keyframes(keys: [(~0, (1, 2, 3))])])}", "the fields are time, translate, rotate, scale, ease"),
    ("motions: {\"m\": (parts: [Keyframes(keys: [(time: 0, rotate: ~90)])])}", "expected (x, y, z) in degrees or (axis: (x, y, z), degrees: a), not `90`"),
    ("motions: {\"m\": (parts: [Keyframes(keys: [(time: 0, ease: ~\"smooth\")])])}", "write smooth"),
    ("motions: {\"m\": (parts: [Keyframes(keys: [(time: 0, ease: bezier(1, 2~))])])}", "expected 4 values in parentheses: (a, b, c, d), not 2"),
    ("motions: {\"m\": (parts: [Follow(curve: \"c\", distance: ~\"far\")])}", "expected a number or keys([(time, number), ..]), not \"far\""),
    ("motions: {\"m\": (parts: [], phase: random(~3))}", "the fields are seed, spread"),
    ("instances: [Single(~\"a\")]", "the fields are of, translate"),
    ("instances: [~\"a\"]", "the choices are Single, Grid, Scatter, Random, Along, Table, Group"),
    ("instances: [Single(of: \"a\", translate: ~\"up\")]", "expected a point: (x, y, z)"),
    ("instances: [Single(of: \"a\", visible: ~yes)]", "expected true, false or keys([(time, true), (time, false), ..])"),
    ("instances: [Single(of: ~Sphere)]", "expected the name of a mesh or group"),
    ("instances: [Single(of: \"a\", drop: ~3)]", "expected the name of a mesh or group, or (on: name, align: normal, lift: 0), not `3`"),
    ("instances: [Single(of: \"a\", choose: random(~\"a\"))]", "expected a whole number"),
    ("instances: [Grid(of: \"a\", count: ~3, spacing: (1, 1, 1))]", "expected 3 values in parentheses: (a, b, c)"),
    ("instances: [Grid(of: \"a\", count: (3, 1, 1), spacing: (1, 1, 1), jitter: ~0.3)]", "the fields are translate, rotate, scale, seed"),
    ("instances: [Scatter(of: \"a\", on: \"a\", at: ~\"vertices\")]", "write vertices"),
    ("instances: [Scatter(of: \"a\", on: \"a\", at: vertices, where: (away_from: [~\"road\"]))]", "expected 2 values in parentheses"),
    ("instances: [Single(of: \"a\", rotate: ~90, scale: 2)]", "expected (x, y, z) in degrees"),
    ("instances: [Single(of: \"a\", scale: ~\"big\" , rotate: (0, 0, 0))]", "expected a number or (x, y, z), not \"big\""),
    ("materials: {\"m\": Diffuse(color: ~red, wrap: clamp)}", "not a word without quotes"),
    ("materials: {\"m\": Diffuse(color: ~\"rad\")}", "bad colour \"rad\": write \"#rrggbb\""),
    ("camera: LookAt(eye: ~true, target: (0, 0, 0))", "expected (x, y, z), the name of something, or On("),
    ("camera: LookAt(eye: (1, 2, 3), target: (0, 0, 0), up: ~\"y\")", "expected a point: (x, y, z)"),
    ("camera: LookAt(eye: (1, 2, 3), target: (0, 0, 0), lens: ~2.8)", "the fields are f_stop, radius, sensor, focus"),
    ("camera: LookAt(eye: (1, 2, 3), target: (0, 0, 0), shutter: ~\"half\")", "expected a number of frames or (open: .., close: ..), not \"half\""),
    ("camera: LookAt(eye: (1, 2, 3), target: (0, 0, 0), projection: orthographic(~3))", "the fields are height"),
    ("camera: Spline(keys: [(eye: ~\"car\", target: (1, 1, 1))])", "expected a point: (x, y, z)"),
    ("cuts: [(~3, \"a\")]", "the fields are time, to"),
    ("cameras: ~[LookAt(eye: (1, 2, 3), target: (0, 0, 0))]", "expected names with values"),
];

#[test]
fn values_of_the_wrong_kind_are_told_with_what_is_accepted() {
    let mut wrong = Vec::new();
    for (section, expected) in CASES {
        let more = match section.split(':').next() {
            Some("meshes") => "instances: []",
            Some("instances") => "meshes: {\"a\": Sphere}",
            _ => BALL,
        };
        // The section has its own line, so that the column is relative to it.
        let told = error(&format!("(\n{}, {more})", section.replace('~', "")));
        let column = section.find('~').expect("a mark") + 1;
        if !told.starts_with(&format!("s.ron:2:{column}: ")) || !told.contains(expected) {
            wrong.push(format!("{section}\n  {told}\n  {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

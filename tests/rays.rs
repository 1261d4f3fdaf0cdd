//! Custom rays, traced through the public interface as other programs do.

use throng::{
    DeviceChoice, Ray, Renderer,
    glam::Vec3,
    scene::{
        TriangleMesh,
        desc::{MeshDesc, SceneFile},
    },
};

/// A triangle that faces +Z at x = 0, its mirrored and stretched copy at x = 10, and a sphere of radius 2 at x = 20.
fn three_things() -> Renderer {
    let text = r##"(
        environment: Constant(radiance: (1, 1, 1)),
        materials: { "red": Diffuse(color: "#ff0000"), "blue": Diffuse(color: "#0000ff") },
        meshes: { "ball": Sphere },
        instances: [
            Single(of: "triangle", material: "red"),
            Single(of: "triangle", translate: (10, 0, 0), rotate: (0, 45, 0), scale: (-1, 3, 2), material: "blue"),
            Single(of: "ball", translate: (20, 0, 0), scale: 2, material: "red"),
        ],
    )"##;
    let mut scene: SceneFile = text.parse().unwrap();
    let triangle = TriangleMesh {
        positions: vec![[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]],
        triangles: vec![[0, 1, 2]],
        ..TriangleMesh::default()
    };
    scene.meshes.push("triangle", MeshDesc::Triangles(triangle));
    Renderer::from_desc("things", &scene).unwrap().device(DeviceChoice::Cpu)
}

#[test]
fn hits_tell_what_where_and_which_way_it_faces() {
    let mut renderer = three_things();
    let forward = Vec3::NEG_Z;
    let rays = [0.0, 10.0, 20.0, 30.0].map(|x| Ray::new([x, 0.0, 5.0], 0.5 * forward));
    let hits = renderer.trace(1, &rays).unwrap();
    let [Some(plain), Some(mirrored), Some(ball), None] = hits[..] else { panic!("{hits:?}") };
    let scene = renderer.scene().unwrap();
    for (hit, mesh, material) in [(plain, "triangle", "red"), (mirrored, "triangle", "blue"), (ball, "ball", "red")] {
        assert_eq!(scene.meshes[hit.mesh as usize].name, mesh);
        assert_eq!(scene.material_name(hit.material as usize), material);
    }
    assert_eq!([plain, mirrored, ball].map(|hit| hit.instance), [0, 1, 2]);
    // The distance is doubled because the direction has half the length.
    assert_eq!([plain.distance, ball.distance], [10.0, 6.0]);
    assert_eq!((plain.normal, plain.barycentrics), ([0.0, 0.0, 1.0], [0.25, 0.5]));
    // Mirroring does not swap the front and the back of a triangle.
    let turned = Vec3::new(1.0, 0.0, 1.0).normalize();
    assert!(Vec3::from(mirrored.normal).distance(turned) < 1e-6, "{mirrored:?}");
    assert!(Vec3::from(ball.normal).distance(Vec3::Z) < 1e-6, "{ball:?}");
    // Also from behind.
    let behind = renderer.trace(1, &[Ray::new([0.0, 0.0, -5.0], Vec3::Z)]).unwrap();
    assert_eq!(behind[0].unwrap().normal, [0.0, 0.0, 1.0]);
}

#[test]
fn hits_in_assemblies_lead_to_the_copy() {
    let text = r##"(
        environment: Constant(radiance: (1, 1, 1)),
        materials: { "red": Diffuse(color: "#ff0000") },
        meshes: { "ball": Sphere },
        groups: {
            "pair": [Grid(of: "ball", count: (1, 2, 1), spacing: (4, 4, 4), material: "red")],
            "row": [Grid(of: "pair", count: (3, 1, 1), spacing: (4, 4, 4), nest: true)],
        },
        instances: [Grid(of: "row", count: (1, 1, 2), spacing: (20, 20, 20), nest: true)],
    )"##;
    let scene: SceneFile = text.parse().unwrap();
    let mut renderer = Renderer::from_desc("rows", &scene).unwrap().device(DeviceChoice::Cpu);
    // Grids are centred.
    let rays = [(4.0, 2.0), (-4.0, -2.0)].map(|(x, y)| Ray::new([x, y, 0.0], [0.0, 0.0, 1.0]));
    let hits = renderer.trace(1, &rays).unwrap();
    let scene = renderer.scene().unwrap();
    let numbers = scene.numbers();
    let names = hits.iter().flatten().map(|hit| scene.name_of_way(&scene.way_to(hit.number, hit.instance, &numbers)));
    assert_eq!(names.collect::<Vec<_>>(), ["row.1/pair.2/ball.1", "row.1/pair.0/ball.0"]);
}

#[test]
fn rays_end_where_they_are_told_to() {
    let mut renderer = three_things();
    let ray = Ray::new([0.0, 0.0, 5.0], Vec3::NEG_Z);
    let rays = [ray, Ray { t_max: 4.9, ..ray }, Ray { t_min: 5.1, ..ray }];
    assert_eq!(renderer.occluded(1, &rays).unwrap(), [true, false, false]);
    let hits = renderer.trace(1, &rays).unwrap();
    assert_eq!(hits.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(renderer.trace(1, &[]).unwrap(), []);
    for (ray, part) in [
        (Ray::new([0.0; 3], [0.0; 3]), "ray 1 has a number"),
        (Ray { t_min: -1.0, ..ray }, "ray 1 starts before its origin"),
    ] {
        let error = renderer.trace(1, &[rays[0], ray]).unwrap_err();
        assert!(error.to_string().starts_with(part), "{error}");
    }
    assert!(renderer.trace(2, &rays).is_err(), "there is one frame");
    assert_eq!(renderer.occluded(1, &rays[..1]).unwrap(), [true]);
}

#[test]
fn rays_meet_what_deforms_as_it_is_in_the_frame() {
    let flying = || {
        let dragon = Renderer::open("assets/flapping_dragon.glb").unwrap().device(DeviceChoice::Cpu);
        dragon.with(|options| options.load.model.animation.clips = vec!["Fly".into()])
    };
    let rays: Vec<Ray> =
        (0..64).map(|i| Ray::new([(i % 8) as f32 - 3.5, 20.0, (i / 8) as f32 - 3.5], Vec3::NEG_Y)).collect();
    let mut renderer = flying();
    let first = renderer.trace(1, &rays).unwrap();
    let fifth = renderer.trace(5, &rays).unwrap();
    assert!(first != fifth, "the dragon flies");
    assert!(renderer.trace(1, &rays).unwrap() == first);
    // Motion blur applies to pictures only.
    let mut blurred = flying().with(|options| options.picture.shutter = "0.5".parse().ok());
    assert!(blurred.trace(5, &rays).unwrap() == fifth);
}

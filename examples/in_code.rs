//! Builds a scene in code and renders it to memory.
//!
//!     cargo run --release --example in_code

use throng::{
    Error, Renderer,
    glam::{Quat, Vec3},
    scene::{
        TriangleMesh,
        desc::{MeshDesc, Placement, Point, Rotation, SceneFile, Single},
    },
};

fn main() -> Result<(), Error> {
    // The fixed parts are shortest in scene file syntax.
    let mut scene: SceneFile = r##"(
        environment: SunSky(elevation: 30),
        materials: { "gold": Metal(color: "#ffd080"), "stone": Diffuse(color: "#8a8078") },
        meshes: { "ground": Quad() },
        instances: [Single(of: "ground", scale: 60, material: "stone")],
        camera: LookAt(eye: (0, 7, 16), target: (0, 0.5, 0)),
    )"##
    .parse()?;
    scene.meshes.push("pyramid", MeshDesc::Triangles(pyramid()));
    scene.instances.extend((0..500).map(|seed| {
        let (angle, radius) = (seed as f32 * 2.4, (seed as f32).sqrt() * 0.35);
        Placement::Single(Single {
            translate: Point(radius * Vec3::new(angle.cos(), 0.0, angle.sin())),
            rotate: Rotation(Quat::from_rotation_y(-angle)),
            material: Some("gold".into()),
            ..Single::new("pyramid")
        })
    }));

    let image = Renderer::from_desc("sunflower", &scene)?.size(160, 90).samples(4).frame(1)?;
    let brightest = image.pixels().iter().max();
    println!("{} x {} pixels, the brightest value is {brightest:?}", image.width(), image.height());
    Ok(())
}

/// A pyramid of height 0.6. Triangles are counter-clockwise as seen from outside.
fn pyramid() -> TriangleMesh {
    TriangleMesh {
        positions: vec![[-0.2, 0.0, -0.2], [0.2, 0.0, -0.2], [0.2, 0.0, 0.2], [-0.2, 0.0, 0.2], [0.0, 0.6, 0.0]],
        triangles: vec![[0, 1, 2], [0, 2, 3], [0, 4, 1], [1, 4, 2], [2, 4, 3], [3, 4, 0]],
        ..TriangleMesh::default()
    }
}

#[test]
fn it_runs() -> Result<(), Error> {
    main()
}

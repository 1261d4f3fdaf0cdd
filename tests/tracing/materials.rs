//! Material inputs of the kernels: textures, vertex colours, and normal maps under instance transforms.

use crate::common::{mesh, render, scene, settings};
use glam::{Affine2, Affine3, Quat, Vec2, Vec3};
use throng::scene::{
    Camera, CameraPath, Integrator, Lobes, Material, MaterialKind, Projection, Scene, Shape, Texels, Texture,
    TextureMap, TriangleMesh, Wrap,
};

/// A square of side 2, centred on the origin and facing +Y, with u along +X and v along -Z, seen from `eye`.
fn square(eye: Vec3, transform: Affine3) -> Scene {
    let corners = [[-1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 0.0, -1.0]];
    let positions = corners.map(Vec3::from).to_vec();
    let mut scene = scene(vec![mesh(positions, vec![[0, 1, 2], [0, 2, 3]])], &[(0, transform)]);
    scene.camera = Camera {
        path: CameraPath::Still { eye, target: Vec3::ZERO },
        up: Vec3::new(0.1, 0.2, -0.9).normalize(),
        projection: Projection::Perspective { fov_y: 0.01 },
        ..Camera::default()
    };
    let triangles = triangles(&mut scene);
    triangles.normals = vec![[0.0, 1.0, 0.0]; 4];
    triangles.tangents = vec![[1.0, 0.0, 0.0, 1.0]; 4];
    scene
}

fn triangles(scene: &mut Scene) -> &mut TriangleMesh {
    match &mut scene.meshes[0].shape {
        Shape::Triangles(triangles) => triangles,
        _ => panic!("a mesh of triangles"),
    }
}

fn texture(width: u32, texels: Texels) -> Texture {
    Texture {
        name: "texture".into(),
        width,
        height: texels.count() as u32 / width,
        texels,
        wrap: [Wrap::Repeat; 2],
        nearest: false,
        filtered: true,
    }
}

/// The colour at the centre of the picture.
fn shown(scene: Scene, integrator: Integrator) -> [u8; 3] {
    let mut settings = settings(3, 3, integrator);
    settings.samples = 4;
    let pixels = render(scene, &settings).pixels;
    [pixels[12], pixels[13], pixels[14]]
}

fn srgb(linear: f32) -> u8 {
    ((1.055 * linear.powf(1.0 / 2.4) - 0.055) * 255.0 + 0.5) as u8
}

fn grey(level: u8) -> [u8; 4] {
    [level, level, level, 255]
}

/// The albedo of a square with texture coordinates `uv` everywhere.
fn albedo_at(uv: [f32; 2], texture: Texture) -> u8 {
    let mut scene = square(Vec3::Y * 5.0, Affine3::IDENTITY);
    triangles(&mut scene).uvs = vec![uv; 4];
    scene.textures = vec![texture];
    scene.maps = vec![TextureMap::plain(0)];
    scene.materials[0].color_map = 0;
    shown(scene, Integrator::Albedo)[0]
}

#[test]
fn textures_wrap_along_each_axis_on_its_own_and_nearest_ones_stay_square() {
    let levels = [40, 80, 120, 160];
    let picture = |wrap, nearest| Texture { wrap, nearest, ..texture(2, Texels::Srgb8(levels.map(grey).to_vec())) };
    for (wrap, expected) in [
        ([Wrap::Repeat, Wrap::Clamp], 40),
        ([Wrap::Clamp, Wrap::Repeat], 160),
        ([Wrap::Mirror, Wrap::Mirror], 80),
        ([Wrap::Repeat, Wrap::Repeat], 120),
    ] {
        let found = albedo_at([1.25, 1.25], picture(wrap, true));
        assert_eq!(found, expected, "{wrap:?}");
    }
    let repeat = [Wrap::Repeat; 2];
    assert_eq!(albedo_at([0.49, 0.75], picture(repeat, true)), 40);
    let between = albedo_at([0.5, 0.75], picture(repeat, false));
    assert!((58..66).contains(&between), "{between}");
}

#[test]
fn data_is_linear_and_colours_are_not() {
    let bytes = vec![grey(128)];
    let color = albedo_at([0.5; 2], texture(1, Texels::Srgb8(bytes.clone())));
    let data = albedo_at([0.5; 2], texture(1, Texels::Linear8(bytes)));
    assert_eq!((color, data), (128, srgb(128.0 / 255.0)));
}

#[test]
fn maps_have_their_own_texture_coordinates_and_transforms() {
    let mut scene = square(Vec3::Y * 5.0, Affine3::IDENTITY);
    triangles(&mut scene).uvs = vec![[0.25, 0.25]; 4];
    triangles(&mut scene).uvs1 = vec![[0.75, 0.75]; 4];
    let levels = [40, 80, 120, 160];
    scene.textures = vec![texture(2, Texels::Srgb8(levels.map(grey).to_vec()))];
    scene.maps = vec![
        TextureMap { uv_set: 1, ..TextureMap::plain(0) },
        TextureMap { uv_set: 1, transform: Affine2::from_translation(Vec2::new(0.0, -0.5)), ..TextureMap::plain(0) },
        TextureMap { transform: Affine2::from_scale(Vec2::new(3.0, 1.0)), ..TextureMap::plain(0) },
    ];
    for (map, expected) in [(0, 80), (1, 160), (2, 160)] {
        let mut scene = scene.clone();
        scene.materials[0].color_map = map;
        assert_eq!(shown(scene, Integrator::Albedo), [expected; 3], "map {map}");
    }
}

#[test]
fn vertex_colours_multiply_the_base_colour() {
    for kind in [MaterialKind::Diffuse, MaterialKind::Layered] {
        let mut scene = square(Vec3::Y * 5.0, Affine3::IDENTITY);
        triangles(&mut scene).colors = vec![[0.5, 1.0, 0.0, 1.0]; 4];
        scene.materials[0].kind = kind;
        scene.materials[0].color = Vec3::new(0.5, 0.25, 1.0);
        let expected = [srgb(0.25), srgb(0.25), 0];
        assert_eq!(shown(scene, Integrator::Albedo), expected, "{kind:?}");
    }
}

/// A square with a normal map of one texel.
fn mapped(eye: Vec3, transform: Affine3, texel: Vec3, lobes: Lobes) -> Scene {
    let mut scene = square(eye, transform);
    triangles(&mut scene).uvs = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let texel = (texel * 0.5 + 0.5).extend(1.0).to_array();
    scene.textures = vec![texture(1, Texels::Linear(vec![texel]))];
    scene.maps = vec![TextureMap::plain(0)];
    scene.materials[0] =
        Material { kind: MaterialKind::Layered, lobes: Lobes { normal_map: 0, ..lobes }, ..Material::default() };
    scene
}

fn assert_normal(scene: Scene, expected: Vec3, what: &str) {
    let found = shown(scene, Integrator::Normal).map(f32::from);
    let expected = (expected.normalize() * 0.5 + 0.5) * 255.0;
    assert!((Vec3::from(found) - expected).abs().max_element() < 1.6, "{what}: {found:?} is not {expected}");
}

#[test]
fn normal_maps_follow_instances_that_are_turned_squashed_and_mirrored() {
    let turn = Quat::from_rotation_y(0.7);
    let place = |scale: Vec3| Affine3::from_scale_rotation_translation(scale, turn, Vec3::ZERO);
    for scale in [
        Vec3::ONE,
        Vec3::new(3.0, 1.0, 0.5),
        Vec3::new(-1.0, 1.0, 1.0),
        Vec3::new(1.0, 1.0, -2.0),
        Vec3::new(-1.0, 4.0, -1.0),
    ] {
        for texel in [Vec3::new(0.6, 0.0, 0.8), Vec3::new(0.0, 0.6, 0.8)] {
            let transform = place(scale);
            // The axes along which texture coordinates increase, transformed by the instance.
            let u = transform.transform_vector3(Vec3::X).normalize();
            let v = transform.transform_vector3(Vec3::NEG_Z).normalize();
            let expected = u * texel.x + v * texel.y + Vec3::Y * texel.z;
            let scene = mapped(Vec3::Y * 5.0, transform, texel, Lobes::default());
            assert_normal(scene, expected, &format!("{scale} {texel}"));
            let behind = mapped(Vec3::NEG_Y * 5.0, transform, texel, Lobes::default());
            assert_normal(behind, -expected, &format!("{scale} {texel} from behind"));
        }
    }
}

#[test]
fn a_normal_scale_stretches_x_and_y() {
    let lobes = Lobes { normal_scale: -0.5, ..Lobes::default() };
    let scene = mapped(Vec3::Y * 5.0, Affine3::IDENTITY, Vec3::new(0.6, 0.2, 0.7), lobes);
    assert_normal(scene, Vec3::new(-0.3, 0.7, 0.1), "scaled");
}

#[test]
fn a_mesh_without_tangents_and_a_diffuse_one_show_no_normal_map() {
    let tilted = Vec3::new(0.6, 0.0, 0.8);
    let mut bare = mapped(Vec3::Y * 5.0, Affine3::IDENTITY, tilted, Lobes::default());
    triangles(&mut bare).tangents.clear();
    assert_normal(bare, Vec3::Y, "without tangents");
    let mut diffuse = mapped(Vec3::Y * 5.0, Affine3::IDENTITY, tilted, Lobes::default());
    diffuse.materials[0].kind = MaterialKind::Diffuse;
    assert_normal(diffuse, Vec3::Y, "diffuse");
}

#[test]
fn the_normal_map_of_a_sphere_runs_along_its_equator() {
    let mut scene = mapped(Vec3::Z * 5.0, Affine3::IDENTITY, Vec3::new(0.6, 0.0, 0.8), Lobes::default());
    scene.meshes[0].shape = Shape::Sphere;
    scene.camera.up = Vec3::Y;
    // Seen from +Z, u increases to the right.
    assert_normal(scene, Vec3::new(0.6, 0.0, 0.8), "sphere");
}

//! Hair in scenes: it conserves light, and light reaches it from all sides.

use crate::common::{ball, scene, settings, sphere, visit_renders};
use glam::{Affine3, Vec3};
use throng::scene::{
    Camera, CameraPath, Environment, Integrator, Light, Lobes, Material, MaterialKind, Mesh, Projection, Scene, Shape,
    TriangleMesh,
};
use throng_device::{FrameSettings, PixelType};

/// Hair on a mesh that fills the picture. On a closed mesh, light that passes is scattered once more on its way out.
fn hairy(mesh: Mesh, color: Vec3, roughness: f32) -> Scene {
    let mut scene = scene(vec![mesh], &[(0, Affine3::IDENTITY)]);
    let lobes = Lobes { roughness, azimuthal_roughness: roughness, cuticle_tilt: 0.05, ior: 1.55, ..Lobes::default() };
    scene.materials = vec![Material { kind: MaterialKind::Hair, color, lobes, ..Material::default() }];
    scene.environment = Environment::Constant { radiance: Vec3::ONE };
    scene.camera = Camera {
        path: CameraPath::Still { eye: Vec3::new(0.0, 0.4, 3.0), target: Vec3::ZERO },
        projection: Projection::Orthographic { height: 1.2 },
        ..Camera::default()
    };
    scene
}

/// A ball of few faces with smooth normals and tangents around the y axis.
fn smooth_ball() -> Mesh {
    let (positions, triangles) = ball(2);
    let around = |p: &Vec3| Vec3::new(p.z, 0.0, -p.x).try_normalize().unwrap_or(Vec3::X);
    let shape = Shape::Triangles(TriangleMesh {
        normals: positions.iter().map(|p| p.to_array()).collect(),
        tangents: positions.iter().map(|p| around(p).extend(1.0).to_array()).collect(),
        positions: positions.into_iter().map(Into::into).collect(),
        triangles,
        ..TriangleMesh::default()
    });
    Mesh { name: "ball".into(), shape, slot_count: 1 }
}

/// Mean colour on the first device; others must agree.
fn mean(scene: Scene, integrator: Integrator, samples: u32) -> Vec3 {
    let settings = FrameSettings { samples, bounces: 100, pixels: PixelType::F32, ..settings(24, 24, integrator) };
    let mut means: Vec<Vec3> = Vec::new();
    visit_renders(scene, &settings, |device, rendered| {
        let pixels: Vec<f32> = bytemuck::pod_collect_to_vec(&rendered.pixels);
        let pixels = pixels.as_chunks::<3>().0;
        let mean = pixels.iter().copied().map(Vec3::from).sum::<Vec3>() / pixels.len() as f32;
        let first = *means.first().unwrap_or(&mean);
        let most = if device.starts_with("cpu") { 0.0 } else { 2e-3 };
        assert!((mean - first).abs().max_element() <= most, "{device}: {mean}, others {first}");
        means.push(mean);
    });
    means[0]
}

#[test]
fn white_hair_is_not_seen_before_a_white_sky() {
    for (what, mesh) in [("a sphere", sphere()), ("a smooth mesh", smooth_ball())] {
        for roughness in [0.1, 0.3, 0.8] {
            let found = mean(hairy(mesh.clone(), Vec3::ONE, roughness), Integrator::Path, 64);
            assert!((found - 1.0).abs().max_element() < 0.01, "{what} of roughness {roughness}: {found}");
        }
    }
}

/// Light of the narrow sun is sampled; the wide one is hit by scattered rays as well.
#[test]
fn hair_is_lit_alike_by_a_narrow_sun_and_by_a_wide_one() {
    let color = Vec3::new(0.6, 0.4, 0.2);
    let lit = |direction: Vec3, degrees: f32| {
        let mut scene = hairy(smooth_ball(), color, 0.4);
        scene.environment = Environment::Constant { radiance: Vec3::ZERO };
        let angular_radius = degrees.to_radians();
        scene.lights = vec![Light::Sun { direction, irradiance: Vec3::ONE, angular_radius }];
        mean(scene, Integrator::Path, 256)
    };
    for direction in [Vec3::Z, Vec3::NEG_Z, Vec3::new(0.6, 0.8, 0.0)] {
        let (narrow, wide) = (lit(direction, 0.05), lit(direction, 5.0));
        assert!(narrow.min_element() > 0.01, "{direction}: {narrow}");
        assert!((narrow - wide).abs().max_element() < 0.05 * narrow.max_element(), "{direction}: {narrow}, {wide}");
    }
}

#[test]
fn the_whitted_integrator_shows_hair_as_a_matt_surface_that_is_never_black() {
    for (color, least, most) in [(Vec3::ONE, 0.99, 1.01), (Vec3::ZERO, 0.05, 0.1)] {
        let found = mean(hairy(sphere(), color, 0.3), Integrator::Whitted, 16);
        assert!(found.min_element() > least && found.max_element() < most, "{color}: {found}");
    }
}

//! Views that are spread around a scene.

use super::{middle, pose::Pose};
use crate::{
    LoadError, framing,
    options::{LensOptions, PatternShape, ViewPattern},
};
use std::f64::consts::{FRAC_PI_2, TAU};
use throng_base::math::{LARGEST_COORDINATE, hash_unit};
use throng_scene::{Optics, Projection, Scene, View};

/// Empty space around the subject on each side, relative to the picture's smaller side.
const MARGIN: f64 = 0.05;

/// The angle between neighbours on a Fibonacci spiral: π (3 - √5).
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;

/// The views of a pattern, all at the time of the scene's first frame. Pictures have this aspect ratio.
///
/// # Errors
/// If the views would be too far from the subject.
pub fn views(scene: &Scene, pattern: &ViewPattern, lens: &LensOptions, aspect: f32) -> Result<Vec<View>, LoadError> {
    let time = scene.settings.start;
    let target = pattern.target.unwrap_or_else(|| middle(&framing::subject_bounds(scene)));
    let reach = Some(framing::subject_reach(scene, target)).filter(|reach| *reach > 0.0);
    let reach = f64::from(reach.unwrap_or(1.0));
    let narrow = f64::from(aspect.min(1.0));
    let own = scene.camera_of(time).0.projection;
    let projection = match (pattern.fov, own) {
        (Some(degrees), _) => Projection::Perspective { fov_y: degrees.to_radians() },
        // Without a height of the user's own, parallel rays show the whole subject.
        (None, Projection::Orthographic { .. }) if lens.orthographic.flatten().is_none() => {
            Projection::Orthographic { height: (2.0 * reach / (1.0 - 2.0 * MARGIN) / narrow) as f32 }
        }
        (None, own) => own,
    };
    let radius = pattern.radius.map_or_else(|| fitting(reach, narrow, projection), f64::from);
    let farthest = f64::from(LARGEST_COORDINATE) - f64::from(target.abs().max_element());
    if !(f64::from(f32::MIN_POSITIVE)..=farthest).contains(&radius) {
        let message =
            format!("its cameras would be {radius:.3e} units away from the subject: give a radius, or a larger fov");
        return Err(LoadError::flag("--views", message));
    }
    // A shift that the user has asked for also applies to these views.
    let optics = lens.shift.is_none().then_some(Optics::Plain(projection));
    let view = |index| {
        let Pose { eye, axes } = Pose::around(target.as_dvec3(), direction(pattern, index), radius);
        View { name: String::new(), eye: eye.as_vec3(), axes: axes.as_mat3(), optics, distance: radius as f32, time }
    };
    Ok((0..pattern.count).map(view).collect())
}

/// The distance at which a sphere just fits into the narrower field of view.
fn fitting(reach: f64, narrow: f64, projection: Projection) -> f64 {
    match projection {
        Projection::Perspective { fov_y } => {
            let slope = (0.5 * f64::from(fov_y)).tan() * narrow * (1.0 - 2.0 * MARGIN);
            reach / slope.atan().sin()
        }
        Projection::Orthographic { .. } | Projection::Equirectangular => 2.0 * reach,
    }
}

/// Yaw and pitch of a view in radians, as for [`Pose::around`].
fn direction(pattern: &ViewPattern, index: u32) -> (f64, f64) {
    let (place, count) = (f64::from(index), f64::from(pattern.count));
    if pattern.shape == PatternShape::Orbit {
        // The first view is in front of the subject, which is +Z.
        return (place / count * TAU - FRAC_PI_2, f64::from(pattern.elevation).to_radians());
    }
    let (share, turns) = match pattern.seed {
        // As TRELLIS's `sphere_hammersley_sequence`, from below to above.
        Some(seed) => {
            let [along, around] = [0, 1].map(|dimension| f64::from(hash_unit(seed, dimension)));
            ((place + along) / count, radical_inverse(index) + around)
        }
        None => (1.0 - (place + 0.5) / count, place * GOLDEN_ANGLE / TAU),
    };
    let height = match pattern.shape {
        PatternShape::Hemisphere => share,
        PatternShape::Sphere | PatternShape::Orbit => 2.0 * share - 1.0,
    };
    (turns.fract() * TAU, height.clamp(-1.0, 1.0).asin())
}

/// The binary digits of a number, mirrored at the binary point.
fn radical_inverse(index: u32) -> f64 {
    f64::from(index.reverse_bits()) / (1u64 << 32) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DVec3, Vec3};
    use throng_scene::{CameraPath, Instance, Mesh, NONE, Shape};

    /// A sphere of radius 2 about (10, 1, 0), and a ground plane far around it.
    fn scene() -> Scene {
        let mesh = Mesh { name: String::new(), shape: Shape::Sphere, slot_count: 1 };
        let instance = |scale: Vec3, at: Vec3| Instance {
            local: glam::Affine3::from_scale_rotation_translation(scale, glam::Quat::IDENTITY, at),
            node: NONE,
            mesh: 0,
            slot_base: 0,
            motion: NONE,
        };
        let mut scene = Scene {
            meshes: vec![mesh],
            instances: vec![
                instance(Vec3::splat(2.0 / 3f32.sqrt()), Vec3::new(10.0, 1.0, 0.0)),
                instance(Vec3::new(900.0, 1.0, 900.0), Vec3::ZERO),
            ],
            stage: Some(1),
            ..Scene::default()
        };
        scene.camera.path = CameraPath::Still { eye: Vec3::Z, target: Vec3::ZERO };
        scene.camera.projection = Projection::Perspective { fov_y: 40f32.to_radians() };
        scene
    }

    fn views_of(text: &str, aspect: f32) -> Vec<View> {
        views(&scene(), &text.parse().unwrap(), &LensOptions::default(), aspect).unwrap()
    }

    #[test]
    fn all_views_look_at_the_subject_from_where_it_just_fits() {
        for (aspect, narrow) in [(1.5, 1.0), (0.5, 0.5)] {
            let distance = 2.0 / (20f64.to_radians().tan() * narrow * 0.9).atan().sin();
            for text in
                ["sphere:50", "hemisphere:50,seed=3", "orbit:36,elevation=90", "sphere:1", "hemisphere:1", "orbit:1"]
            {
                for view in views_of(text, aspect) {
                    let subject = Vec3::new(10.0, 1.0, 0.0);
                    assert!((f64::from(view.distance) - distance).abs() < 1e-4, "{text}: {} {distance}", view.distance);
                    assert!(
                        (view.eye - view.axes.z_axis * view.distance).abs_diff_eq(subject, 1e-3),
                        "{text}: {view:?}"
                    );
                    assert!((view.axes.transpose() * view.axes).abs_diff_eq(glam::Mat3::IDENTITY, 1e-5));
                    assert!(view.axes.y_axis.y > -1e-6 && view.axes.x_axis.y == 0.0);
                }
            }
        }
    }

    #[test]
    fn directions_cover_a_sphere_evenly_and_a_hemisphere_from_above() {
        for text in ["sphere:200", "sphere:200,seed=7", "hemisphere:200", "hemisphere:200,seed=7"] {
            let views = views_of(text, 1.0);
            let mean = views.iter().map(|view| view.axes.z_axis.as_dvec3()).sum::<DVec3>() / 200.0;
            let expected = if text.starts_with('h') { DVec3::new(0.0, 0.5, 0.0) } else { DVec3::ZERO };
            assert!(mean.abs_diff_eq(expected, 0.03), "{text}: {mean}");
            let lowest = views.iter().map(|view| view.axes.z_axis.y).fold(1.0, f32::min);
            assert!(text.starts_with('s') || lowest >= 0.0, "{text}: {lowest}");
        }
        assert_ne!(views_of("sphere:9,seed=1", 1.0), views_of("sphere:9,seed=2", 1.0));
    }

    #[test]
    fn an_orbit_starts_in_front_and_turns_towards_the_right() {
        let views = views_of("orbit:4,elevation=0,radius=3,target=0:0:0", 1.0);
        let eyes: Vec<Vec3> = views.iter().map(|view| view.eye).collect();
        for (eye, expected) in eyes.iter().zip([Vec3::Z, Vec3::X, Vec3::NEG_Z, Vec3::NEG_X]) {
            assert!(eye.abs_diff_eq(3.0 * expected, 1e-5), "{eyes:?}");
        }
    }

    #[test]
    fn points_on_a_sphere_are_those_of_trellis() {
        let pattern: ViewPattern = "sphere:4,seed=5".parse().unwrap();
        let [along, around] = [0, 1].map(|dimension| f64::from(hash_unit(5, dimension)));
        for (index, inverse) in [(0, 0.0), (1, 0.5), (2, 0.25), (3, 0.75)] {
            let (u, v) = (f64::from(index) / 4.0 + along / 4.0, inverse + around);
            let (theta, phi) = ((1.0 - 2.0 * u).acos() - FRAC_PI_2, v * TAU);
            let (yaw, pitch) = direction(&pattern, index);
            let turns = (yaw - phi) / TAU;
            assert!((pitch - theta).abs() < 1e-9 && (turns - turns.round()).abs() < 1e-9, "{index}");
        }
    }

    #[test]
    fn parallel_rays_show_all_and_views_too_far_away_are_refused() {
        let mut scene = scene();
        scene.camera.projection = Projection::Orthographic { height: 1.0 };
        let lens = LensOptions::default();
        let views = |text: &str| super::views(&scene, &text.parse().unwrap(), &lens, 0.5);
        let optics = views("orbit:1").unwrap()[0].optics;
        let Some(Optics::Plain(Projection::Orthographic { height })) = optics else { panic!("{optics:?}") };
        assert!((height - 2.0 * 2.0 / 0.9 / 0.5).abs() < 1e-4, "{height}");
        let error = views("orbit:1,radius=1e18,target=1e10:0:0").unwrap_err().to_string();
        assert!(error.starts_with("--views: ") && error.contains("radius"), "{error}");
    }
}

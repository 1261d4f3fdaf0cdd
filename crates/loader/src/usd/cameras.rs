//! Cameras of a stage.

use super::clock::Clock;
use crate::tables;
use glam::{Affine3, DAffine3, DMat3, DVec3, Vec2};
use std::sync::Arc;
use throng_scene::{
    Aperture, Camera, CameraPath, Focus, Iris, Lens, LensTracks, NONE, Node, PlacementTables, Projection, Scene,
    Shutter, TableRun,
};
use throng_usd::{self as usd, CameraLens, Sampled};

/// A tenth of a unit, in which USD gives the sizes of cameras.
const TENTH: f32 = 0.1;

/// A camera of the scene for one of the stage. `outer` leads from the stage's world to the scene's, and `aspect` is the width of pictures
/// divided by their height.
pub fn convert(scene: &mut Scene, camera: &usd::Camera, clock: &Clock, outer: &DAffine3, aspect: f32) -> Camera {
    let scale = outer.matrix3.x_axis.length() as f32;
    let node = node(scene, camera, clock, outer);
    let lenses = dense(&camera.lens);
    let first = lenses.first();
    let projection = |lens: &CameraLens| span(lens, camera.orthographic, aspect, scale);
    let span = projection(first);
    let radius = |lens: &CameraLens| match lens.f_stop {
        stop if stop > 0.0 => 0.5 * lens.focal_length * TENTH * scale / stop,
        _ => 0.0,
    };
    let focus = |lens: &CameraLens| (lens.focus_distance * scale).max(f32::MIN_POSITIVE);
    let opens = !lenses.all(|lens| radius(lens) == 0.0 || lens.focus_distance <= 0.0);
    let lens = (opens && !camera.orthographic).then(|| Lens {
        aperture: Aperture::Radius(radius(first)),
        focus: Focus::Distance(focus(first)),
        iris: Iris::default(),
    });
    let tracks = LensTracks {
        span: clock.keys(&lenses, projection),
        aperture: if lens.is_some() { clock.keys(&lenses, radius) } else { Vec::new() },
        focus: match &lens {
            Some(_) => clock.keys(&lenses, focus).into_iter().map(|(t, d)| (t, Focus::Distance(d))).collect(),
            None => Vec::new(),
        },
    };
    let height = shown_height(first, aspect);
    let longer = height.max(height * aspect).max(f32::MIN_POSITIVE);
    Camera {
        path: CameraPath::Node { node },
        projection: if camera.orthographic {
            Projection::Orthographic { height: span }
        } else {
            Projection::Perspective { fov_y: span }
        },
        shift: Vec2::from(first.offset) / longer,
        lens,
        tracks,
        ..Camera::default()
    }
}

/// A lens with a sample at least at each time code, because the angle of view is not linear in the focal length.
fn dense(lens: &Sampled<CameraLens>) -> Sampled<CameraLens> {
    const MOST: f64 = 1000.0;
    let Sampled::Moving(samples) = lens else { return lens.clone() };
    let mut all = Vec::new();
    for pair in samples.windows(2) {
        let ((from, a), (to, b)) = (pair[0], pair[1]);
        let steps = (to - from).ceil().clamp(1.0, MOST) as u32;
        all.extend((0..steps).map(|step| {
            let share = f64::from(step) / f64::from(steps);
            let mix = |a: f32, b: f32| a + (b - a) * share as f32;
            let lens = CameraLens {
                aperture: [mix(a.aperture[0], b.aperture[0]), mix(a.aperture[1], b.aperture[1])],
                offset: a.offset,
                focal_length: mix(a.focal_length, b.focal_length),
                f_stop: mix(a.f_stop, b.f_stop),
                focus_distance: mix(a.focus_distance, b.focus_distance),
                exposure: a.exposure,
            };
            (from + (to - from) * share, lens)
        }));
    }
    all.extend(samples.last());
    Sampled::Moving(all)
}

/// The height of the part of the focal plane that the picture shows. A picture of another shape than the aperture shows all of it and more
/// on two sides, as the default of UsdRenderSettings does (`aspectRatioConformPolicy = expandAperture`).
fn shown_height(lens: &CameraLens, aspect: f32) -> f32 {
    let [width, height] = lens.aperture;
    height.max(width / aspect)
}

/// The vertical field of view in radians, or the height of an orthographic view.
fn span(lens: &CameraLens, orthographic: bool, aspect: f32, scale: f32) -> f32 {
    let height = shown_height(lens, aspect);
    match orthographic {
        true => (height * TENTH * scale).max(f32::MIN_POSITIVE),
        false => (2.0 * (0.5 * height / lens.focal_length).atan()).clamp(1e-4, 3.1),
    }
}

/// Width divided by height of a camera's aperture.
pub fn aspect_of(camera: &usd::Camera) -> f32 {
    let [width, height] = camera.lens.first().aperture;
    let aspect = width / height;
    if aspect.is_finite() && aspect > 0.0 { aspect.clamp(0.05, 20.0) } else { 1.5 }
}

/// The shutter of a camera; None if it opens for an instant.
pub fn shutter_of(camera: &usd::Camera) -> Option<Shutter> {
    let [open, close] = camera.shutter.map(|time| time as f32);
    Shutter::new(open, close).ok().filter(Shutter::is_open)
}

/// A node of the scene at the camera. It has no scale.
fn node(scene: &mut Scene, camera: &usd::Camera, clock: &Clock, outer: &DAffine3) -> u32 {
    let place = |place: &DAffine3| rigid(&(*outer * *place)).as_affine3();
    let node = scene.nodes.len() as u32;
    let local = place(camera.world_from_camera.first());
    let still = Node { local, parent: NONE, motion: NONE, follows: None };
    if let Sampled::Moving(samples) = &camera.world_from_camera {
        let transforms: Arc<[Affine3]> = samples.iter().map(|(_, own)| place(own)).collect();
        let times: Vec<f64> = samples.iter().map(|(code, _)| clock.seconds(*code)).collect();
        if let Ok(loaded) = tables::of_transforms(&transforms, &times) {
            let mut all = PlacementTables::clone(&scene.placement_tables);
            all.all.push(loaded.table);
            let table = all.all.len() as u32 - 1;
            let (around, each) = (Affine3::IDENTITY, Affine3::IDENTITY);
            all.nodes.push(TableRun { table, first: node, stride: 1, row: 0, rows: 1, around, each });
            scene.placement_tables = Arc::new(all);
        }
    }
    scene.nodes.push(still);
    node
}

/// A transform without scale, whose Z axis is kept.
fn rigid(place: &DAffine3) -> DAffine3 {
    let z = place.matrix3.z_axis.normalize_or(DVec3::Z);
    let x = place.matrix3.y_axis.cross(z).try_normalize().unwrap_or_else(|| z.any_orthonormal_vector());
    DAffine3 { matrix3: DMat3::from_cols(x, z.cross(x), z), translation: place.translation }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_usd::Times;

    fn camera(lens: CameraLens) -> usd::Camera {
        usd::Camera {
            name: "/cam".to_owned(),
            world_from_camera: Sampled::Still(DAffine3::from_scale(DVec3::splat(3.0))),
            lens: Sampled::Still(lens),
            orthographic: false,
            shutter: [-0.25, 0.25],
        }
    }

    const LENS: CameraLens = CameraLens {
        aperture: [36.0, 24.0],
        offset: [3.6, 0.0],
        focal_length: 50.0,
        f_stop: 2.0,
        focus_distance: 4.0,
        exposure: 0.0,
    };

    #[test]
    fn the_picture_shows_the_whole_aperture_and_lengths_are_in_units_of_the_scene() {
        let clock = Clock::new(&Times::default());
        let outer = DAffine3::from_scale(DVec3::splat(0.01));
        let mut scene = Scene::default();
        let made = convert(&mut scene, &camera(LENS), &clock, &outer, 2.0);
        let Projection::Perspective { fov_y } = made.projection else { panic!("{:?}", made.projection) };
        // 48 by 24: the width grows.
        assert!((fov_y - 2.0 * (12f32 / 50.0).atan()).abs() < 1e-6);
        assert!(made.shift.abs_diff_eq(Vec2::new(0.075, 0.0), 1e-6));
        let tall = convert(&mut Scene::default(), &camera(LENS), &clock, &outer, 0.5);
        // 36 by 72: the height grows.
        assert!(
            matches!(tall.projection, Projection::Perspective { fov_y } if (fov_y - 2.0 * (36f32 / 50.0).atan()).abs() < 1e-6)
        );
        assert!(tall.shift.abs_diff_eq(Vec2::new(0.05, 0.0), 1e-6));
        let lens = made.lens.unwrap_or_else(|| panic!("no lens"));
        // 50 tenths of a centimetre over f/2 is 2.5 cm wide.
        let Aperture::Radius(radius) = lens.aperture else { panic!() };
        assert!((radius - 0.0125).abs() < 1e-7, "{radius}");
        let Focus::Distance(distance) = lens.focus else { panic!() };
        assert!((distance - 0.04).abs() < 1e-7, "{distance}");
        let local = scene.nodes[0].local;
        assert!((local.matrix3.determinant() - 1.0).abs() < 1e-6, "a camera has no scale");
    }

    #[test]
    fn a_zoom_is_linear_in_the_focal_length() {
        let zoom = Sampled::Moving(vec![(0.0, LENS), (24.0, CameraLens { focal_length: 150.0, ..LENS })]);
        let camera = usd::Camera { lens: zoom, ..camera(LENS) };
        let clock = Clock::new(&Times::default());
        let made = convert(&mut Scene::default(), &camera, &clock, &DAffine3::IDENTITY, 2.0);
        let (time, fov_y) = made.tracks.span[12];
        assert!((time - 0.5).abs() < 1e-9 && (fov_y - 2.0 * (12f32 / 100.0).atan()).abs() < 1e-6, "{time} {fov_y}");
        assert_eq!(made.tracks.span.len(), 25);
    }

    #[test]
    fn cameras_without_an_f_stop_are_pinholes() {
        let mut scene = Scene::default();
        let clock = Clock::new(&Times::default());
        let pinhole = camera(CameraLens { f_stop: 0.0, ..LENS });
        assert!(convert(&mut scene, &pinhole, &clock, &DAffine3::IDENTITY, 1.5).lens.is_none());
        assert_eq!(shutter_of(&pinhole).map(|shutter| shutter.span()), Some([-0.25, 0.25]));
    }
}

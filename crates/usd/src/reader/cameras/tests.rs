//! Tests of cameras.

use super::read;
use crate::{Camera, CameraLens, Sampled, reader::test_stage::TestStage};
use glam::DAffine3;

const DEFAULT: CameraLens = CameraLens {
    aperture: [20.955, 15.2908],
    offset: [0.0; 2],
    focal_length: 50.0,
    f_stop: 0.0,
    focus_distance: 0.0,
    exposure: 0.0,
};

fn camera(stage: &TestStage) -> Camera {
    read(&stage.values, &stage.prim("/C"), Sampled::Still(DAffine3::IDENTITY)).expect("a camera")
}

fn of(attributes: &str) -> (TestStage, Camera) {
    let stage = TestStage::new(&format!("def Camera \"C\" {{\n{attributes}\n}}\n"));
    let camera = camera(&stage);
    (stage, camera)
}

#[test]
fn a_camera_without_attributes_has_the_defaults_of_its_schema() {
    let camera = of("").1;
    assert_eq!(camera.lens, Sampled::Still(DEFAULT));
    assert_eq!((camera.orthographic, camera.shutter), (false, [0.0; 2]));
}

#[test]
fn all_attributes_are_read() {
    let (stage, camera) = of("
        token projection = \"orthographic\"
        float horizontalAperture = 36
        float verticalAperture = 24
        float horizontalApertureOffset = 1.5
        float verticalApertureOffset = -2.5
        float focalLength = 85
        float fStop = 2.8
        float focusDistance = 400
        float exposure = 1.5
        double shutter:open = -0.25
        double shutter:close = 0.25");
    let lens = CameraLens {
        aperture: [36.0, 24.0],
        offset: [1.5, -2.5],
        focal_length: 85.0,
        f_stop: 2.8,
        focus_distance: 400.0,
        exposure: 1.5,
    };
    assert_eq!(camera.lens, Sampled::Still(lens));
    assert_eq!((camera.orthographic, camera.shutter), (true, [-0.25, 0.25]));
    assert_eq!(stage.warnings(), Vec::<String>::new());
}

#[test]
fn a_zoom_with_a_pull_of_focus_has_samples_at_the_times_of_both() {
    let (_, camera) = of("
        float focalLength.timeSamples = { 1: 50, 3: 70 }
        float focusDistance.timeSamples = { 2: 10, 3: 20 }");
    let lens = |focal_length, focus_distance| CameraLens { focal_length, focus_distance, ..DEFAULT };
    let expected = vec![(1.0, lens(50.0, 10.0)), (2.0, lens(60.0, 10.0)), (3.0, lens(70.0, 20.0))];
    assert_eq!(camera.lens, Sampled::Moving(expected));
}

/// OpenUSD 26.11 gives a factor of 0.015 for these values.
#[test]
fn settings_of_a_photographic_camera_become_an_exposure() {
    let (_, camera) = of("
        float exposure = 2
        float exposure:time = 0.02
        float exposure:fStop = 4
        float exposure:iso = 200
        float exposure:responsivity = 1.5");
    let factor = camera.lens.first().exposure.exp2();
    assert!((factor - 0.015).abs() < 1e-6, "{factor}");
}

#[test]
fn impossible_values_are_replaced() {
    let (stage, camera) = of("
        token projection = \"fisheye\"
        float focalLength = 0
        float horizontalAperture = nan
        float exposure:time = 0");
    assert_eq!(camera.lens, Sampled::Still(DEFAULT));
    let expected = [
        "/C: projection fisheye is not supported; perspective is used",
        "/C.horizontalAperture: has a number that is not finite; its fallback is used",
        "/C.focalLength: is not above 0; 50 is used",
    ];
    assert_eq!(stage.warnings(), expected);
}

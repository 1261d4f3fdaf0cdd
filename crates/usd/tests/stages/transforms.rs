//! Transforms of prims.

use crate::inline::{item, read};
use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3};
use throng_usd::{Sampled, Stage};

/// A cube with these attributes.
fn cube(header: &str, attributes: &str) -> Stage {
    read(&format!("({header})\ndef Cube \"c\" {{\n{attributes}\n}}"))
}

fn place(attributes: &str) -> DAffine3 {
    match &item(&cube("", attributes), "/c").group_from_item {
        Sampled::Still(place) => *place,
        moving => panic!("{moving:?}"),
    }
}

fn assert_close(found: DAffine3, wanted: DAffine3) {
    assert!(found.abs_diff_eq(wanted, 1e-6), "{found:?}\n{wanted:?}");
}

fn turn(axis: usize, degrees: f64) -> DAffine3 {
    DAffine3::from_axis_angle(DVec3::AXES[axis], degrees.to_radians())
}

#[test]
fn ops_are_applied_from_the_last_to_the_first() {
    let found = place(
        "double3 xformOp:translate = (1, 2, 3)
        float xformOp:rotateZ = 90
        float3 xformOp:scale = (2, 1, 1)
        uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:rotateZ\", \"xformOp:scale\"]",
    );
    let wanted = DAffine3::from_translation(DVec3::new(1.0, 2.0, 3.0))
        * turn(2, 90.0)
        * DAffine3::from_scale(DVec3::new(2.0, 1.0, 1.0));
    assert_close(found, wanted);
    assert_close(
        DAffine3::from_translation(found.transform_point3(DVec3::X)),
        DAffine3::from_translation(DVec3::new(1.0, 4.0, 3.0)),
    );
}

#[test]
fn rotations_are_applied_in_the_order_of_their_names() {
    let orders = [
        ("XYZ", [0, 1, 2]),
        ("XZY", [0, 2, 1]),
        ("YXZ", [1, 0, 2]),
        ("YZX", [1, 2, 0]),
        ("ZXY", [2, 0, 1]),
        ("ZYX", [2, 1, 0]),
    ];
    let angles = [10.0, 20.0, 30.0];
    for (name, order) in orders {
        for kind in ["float3", "double3", "half3"] {
            let found = place(&format!(
                "{kind} xformOp:rotate{name} = (10, 20, 30)\nuniform token[] xformOpOrder = [\"xformOp:rotate{name}\"]"
            ));
            let wanted = order.into_iter().fold(DAffine3::IDENTITY, |all, axis| turn(axis, angles[axis]) * all);
            assert_close(found, wanted);
        }
    }
    for (axis, name) in ["X", "Y", "Z"].into_iter().enumerate() {
        let text = format!(
            "double xformOp:rotate{name}:pivot = 35\nuniform token[] xformOpOrder = [\"xformOp:rotate{name}:pivot\"]"
        );
        assert_close(place(&text), turn(axis, 35.0));
    }
}

#[test]
fn quaternions_of_all_precisions_rotate() {
    for kind in ["quatd", "quatf", "quath"] {
        let text = format!(
            "{kind} xformOp:orient = (0.5, 0.5, 0.5, 0.5)\nuniform token[] xformOpOrder = [\"xformOp:orient\"]"
        );
        assert_close(place(&text), DAffine3::from_quat(DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5)));
    }
    let zero = "quatf xformOp:orient = (0, 0, 0, 0)\nuniform token[] xformOpOrder = [\"xformOp:orient\"]";
    assert_close(place(zero), DAffine3::IDENTITY);
}

#[test]
fn a_matrix_is_written_for_row_vectors() {
    let found = place(
        "matrix4d xformOp:transform = ((0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, 1, 0), (5, 6, 7, 1))
        uniform token[] xformOpOrder = [\"xformOp:transform\"]",
    );
    assert_close(found, DAffine3::from_translation(DVec3::new(5.0, 6.0, 7.0)) * turn(2, 90.0));
}

#[test]
fn matrices_that_turn_far_are_interpolated_number_by_number() {
    let stage = cube(
        "startTimeCode = 0\nendTimeCode = 24",
        "matrix4d xformOp:transform.timeSamples = {
            0: ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)),
            24: ((0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)) }
        uniform token[] xformOpOrder = [\"xformOp:transform\"]",
    );
    let Sampled::Moving(samples) = &item(&stage, "/c").group_from_item else { panic!() };
    assert_eq!(samples.len(), 10, "none of its parts turns by more than 10 degrees");
    for (time, place) in samples {
        let share = time / 24.0;
        assert!(place.matrix3.x_axis.abs_diff_eq(DVec3::new(1.0 - share, share, 0.0), 1e-9), "{time} {place:?}");
    }
}

#[test]
fn ops_of_one_axis_move_and_scale_it() {
    let found = place(
        "double xformOp:translateY = 3\ndouble xformOp:scaleX = 2
        uniform token[] xformOpOrder = [\"xformOp:translateY\", \"xformOp:scaleX\"]",
    );
    assert_close(found, DAffine3::from_translation(DVec3::Y * 3.0) * DAffine3::from_scale(DVec3::new(2.0, 1.0, 1.0)));
}

#[test]
fn an_inverted_op_cancels_its_op() {
    let found = place(
        "double3 xformOp:translate:pivot = (1, 2, 3)\nfloat xformOp:rotateX = 90
        uniform token[] xformOpOrder = [\"xformOp:translate:pivot\", \"xformOp:rotateX\", \"!invert!xformOp:translate:pivot\"]",
    );
    let pivot = DAffine3::from_translation(DVec3::new(1.0, 2.0, 3.0));
    assert_close(found, pivot * turn(0, 90.0) * pivot.inverse());
}

#[test]
fn a_reset_forgets_transforms_above() {
    let stage = read(
        "def Xform \"a\" {
        double3 xformOp:translate = (1, 0, 0)
        uniform token[] xformOpOrder = [\"xformOp:translate\"]
        def Cube \"c\" {
            double3 xformOp:translate = (0, 1, 0)\ndouble3 xformOp:translate:gone = (9, 9, 9)
            uniform token[] xformOpOrder = [\"xformOp:translate:gone\", \"!resetXformStack!\", \"xformOp:translate\"]
        }
        def Cube \"d\" {}
    }",
    );
    assert_eq!(item(&stage, "/a/c").group_from_item, Sampled::Still(DAffine3::from_translation(DVec3::Y)));
    assert_eq!(item(&stage, "/a/d").group_from_item, Sampled::Still(DAffine3::from_translation(DVec3::X)));
}

#[test]
fn prims_that_are_not_xformable_have_no_transform() {
    let ops = "double3 xformOp:translate = (1, 0, 0)\nuniform token[] xformOpOrder = [\"xformOp:translate\"]";
    let stage = read(&format!("def \"a\" {{\n{ops}\ndef Scope \"b\" {{\n{ops}\ndef Cube \"c\" {{}}\n}}\n}}"));
    assert_eq!(item(&stage, "/a/b/c").group_from_item, Sampled::Still(DAffine3::IDENTITY));
}

#[test]
fn ops_without_an_attribute_or_with_an_unknown_name_are_left_out() {
    let stage = cube("", "uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:shear\"]");
    assert_eq!(item(&stage, "/c").group_from_item, Sampled::Still(DAffine3::IDENTITY));
    assert_eq!(stage.warnings, ["/c: transform op `xformOp:shear` is unknown; it is left out"]);
}

#[test]
fn items_whose_transform_is_not_finite_are_left_out() {
    let stage =
        cube("", "float3 xformOp:scale = (0, 1, 1)\nuniform token[] xformOpOrder = [\"!invert!xformOp:scale\"]");
    assert!(stage.groups[0].items.is_empty());
    assert_eq!(stage.warnings, ["/c: its transform is not finite; it is left out"]);
    let stage = cube("", "float3 xformOp:scale = (nan, 1, 1)\nuniform token[] xformOpOrder = [\"xformOp:scale\"]");
    assert_eq!(item(&stage, "/c").group_from_item, Sampled::Still(DAffine3::IDENTITY));
    assert!(stage.warnings[0].contains("not finite"), "{:?}", stage.warnings);
}

/// Samples of a moving item.
fn samples(stage: &Stage) -> Vec<(f64, DAffine3)> {
    match &item(stage, "/c").group_from_item {
        Sampled::Moving(samples) => samples.clone(),
        still => panic!("{still:?}"),
    }
}

#[test]
fn a_long_turn_has_samples_between_its_keys() {
    let stage = cube(
        "startTimeCode = 1\nendTimeCode = 191",
        "float xformOp:rotateY.timeSamples = { 1: 0, 191: 360 }\nuniform token[] xformOpOrder = [\"xformOp:rotateY\"]",
    );
    let samples = samples(&stage);
    assert_eq!(samples.len(), 37);
    for pair in samples.windows(2) {
        let angle = DQuat::from_mat3(&pair[0].1.matrix3).angle_between(DQuat::from_mat3(&pair[1].1.matrix3));
        assert!((angle.to_degrees() - 10.0).abs() < 1e-6);
        assert!(pair[1].1.abs_diff_eq(turn(1, (pair[1].0 - 1.0) / 190.0 * 360.0), 1e-9));
    }
}

#[test]
fn a_fast_turn_has_one_sample_per_time_code_at_most() {
    let stage = cube(
        "startTimeCode = 0\nendTimeCode = 4",
        "float xformOp:rotateY.timeSamples = { 0: 0, 4: 3600 }\nuniform token[] xformOpOrder = [\"xformOp:rotateY\"]",
    );
    assert_eq!(samples(&stage).iter().map(|(time, _)| *time).collect::<Vec<_>>(), [0.0, 1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_straight_move_has_its_keys_only() {
    let stage = cube(
        "startTimeCode = 0\nendTimeCode = 100",
        "double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 100: (5, 0, 0) }
        uniform token[] xformOpOrder = [\"xformOp:translate\"]",
    );
    assert_eq!(samples(&stage).len(), 2);
}

#[test]
fn ops_that_move_together_are_sampled_between_their_keys() {
    // A scale after a move of the pivot: the place is a product, which is not linear.
    let stage = cube(
        "startTimeCode = 0\nendTimeCode = 100",
        "float3 xformOp:scale.timeSamples = { 0: (1, 1, 1), 100: (3, 3, 3) }
        double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 100: (5, 0, 0) }
        uniform token[] xformOpOrder = [\"xformOp:scale\", \"xformOp:translate\"]",
    );
    let samples = samples(&stage);
    assert!(samples.len() > 10 && samples.len() <= 101, "{}", samples.len());
}

#[test]
fn samples_outside_of_the_range_are_dropped_but_for_the_nearest() {
    let stage = cube(
        "startTimeCode = 10\nendTimeCode = 12",
        "double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 9: (1, 0, 0), 11: (0, 1, 0), 13: (0, 0, 1), 14: (9, 9, 9) }
        uniform token[] xformOpOrder = [\"xformOp:translate\"]",
    );
    assert_eq!(samples(&stage).iter().map(|(time, _)| *time).collect::<Vec<_>>(), [9.0, 11.0, 13.0]);
}

#[test]
fn matrices_are_those_of_the_whole_way() {
    let stage = read(
        "def Xform \"a\" {
        matrix4d xformOp:transform = ((2, 0, 0, 0), (0, 2, 0, 0), (0, 0, 2, 0), (1, 0, 0, 1))
        uniform token[] xformOpOrder = [\"xformOp:transform\"]
        def Cube \"c\" {
            double3 xformOp:translate = (0, 1, 0)
            uniform token[] xformOpOrder = [\"xformOp:translate\"]
        }
    }",
    );
    let wanted = DMat4::from_cols_array(&[2., 0., 0., 0., 0., 2., 0., 0., 0., 0., 2., 0., 1., 2., 0., 1.]);
    let Sampled::Still(place) = item(&stage, "/a/c").group_from_item else { panic!() };
    assert_close(place, DAffine3::from_mat4(wanted));
    assert_eq!(place.matrix3, DMat3::from_diagonal(DVec3::splat(2.0)));
}

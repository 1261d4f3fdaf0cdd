//! Catmull-Rom splines through points at increasing times.

use std::ops::{Add, Mul, Sub};

/// Values that a spline can pass through: numbers and vectors.
pub trait Point: Copy + Default + Add<Output = Self> + Sub<Output = Self> + Mul<f32, Output = Self> {}

impl<T> Point for T where T: Copy + Default + Add<Output = T> + Sub<Output = T> + Mul<f32, Output = T> {}

/// The point at `time` of the spline that passes through each `(time, point)`.
///
/// Cubic Hermite segments with the tangents `(p[i+1] - p[i-1]) / (t[i+1] - t[i-1])`; with even times this is the
/// classic uniform Catmull-Rom spline. Beyond the ends the neighbours are reflected: `p[-1] = 2 p[0] - p[1]`.
/// Times outside the keys are clamped. Without keys the result is the origin.
#[doc(hidden)]
pub fn catmull_rom<P: Point>(keys: &[(f64, P)], time: f64) -> P {
    let (Some(&first), Some(&last)) = (keys.first(), keys.last()) else {
        return P::default();
    };
    let end = keys.partition_point(|k| k.0 <= time);
    if end == 0 {
        return first.1;
    }
    if end == keys.len() {
        return last.1;
    }
    segment(keys, end - 1, time)
}

fn segment<P: Point>(keys: &[(f64, P)], i: usize, time: f64) -> P {
    let (a, b) = (keys[i], keys[i + 1]);
    let before = if i > 0 { keys[i - 1] } else { reflect(a, b) };
    let after = keys.get(i + 2).copied().unwrap_or_else(|| reflect(b, a));
    let length = b.0 - a.0;
    let t = ((time - a.0) / length) as f32;
    let from = (b.1 - before.1) * (length / (b.0 - before.0)) as f32;
    let to = (after.1 - a.1) * (length / (after.0 - a.0)) as f32;
    let rise = b.1 - a.1;
    // Horner form of the cubic Hermite basis.
    a.1 + (from + (rise * 3.0 - from * 2.0 - to + (from + to - rise * 2.0) * t) * t) * t
}

/// The mirror image of `other` about `end`.
fn reflect<P: Point>(end: (f64, P), other: (f64, P)) -> (f64, P) {
    (2.0 * end.0 - other.0, end.1 * 2.0 - other.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use proptest::prelude::*;

    fn closed_form(t: f32, [p0, p1, p2, p3]: [Vec3; 4]) -> Vec3 {
        let c = 2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3;
        let d = 3.0 * (p1 - p2) + p3 - p0;
        0.5 * (2.0 * p1 + (p2 - p0) * t + c * t * t + d * t * t * t)
    }

    fn point() -> impl Strategy<Value = Vec3> {
        [-10.0f32..10.0, -10.0f32..10.0, -10.0f32..10.0].prop_map(Vec3::from)
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(256))]

        #[test]
        fn even_times_give_the_closed_form(p in prop::array::uniform4(point()), t in 0.0f32..1.0, start in -5.0f64..5.0, step in 0.1f64..4.0) {
            let keys: Vec<_> = p.iter().enumerate().map(|(i, &p)| (start + step * i as f64, p)).collect();
            let found = catmull_rom(&keys, start + step * (1.0 + f64::from(t)));
            prop_assert!(found.distance(closed_form(t, p)) < 1e-3, "{found}");
        }

        #[test]
        fn the_ends_reflect_their_neighbours(p in prop::array::uniform3(point()), t in 0.0f32..1.0) {
            let keys = [(0.0, p[0]), (1.0, p[1]), (2.0, p[2])];
            let first = closed_form(t, [2.0 * p[0] - p[1], p[0], p[1], p[2]]);
            let last = closed_form(t, [p[0], p[1], p[2], 2.0 * p[2] - p[1]]);
            prop_assert!(catmull_rom(&keys, t.into()).distance(first) < 1e-3);
            prop_assert!(catmull_rom(&keys, 1.0 + f64::from(t)).distance(last) < 1e-3);
        }

        #[test]
        fn uneven_times_keep_a_straight_line_straight(times in prop::collection::vec(0.1f64..3.0, 2..8), t in 0.0f64..1.0) {
            let mut now = 0.0;
            let keys: Vec<_> = times.iter().map(|d| { now += d; (now, Vec3::new(now as f32, 2.0 * now as f32, 1.0)) }).collect();
            let time = keys[0].0 + t * (now - keys[0].0);
            prop_assert!(catmull_rom(&keys, time).distance(Vec3::new(time as f32, 2.0 * time as f32, 1.0)) < 1e-3);
        }
    }

    #[test]
    fn keys_are_passed_and_times_outside_are_clamped() {
        let keys = [(1.0, Vec3::X), (2.0, Vec3::Y), (5.0, Vec3::Z)];
        for (time, expected) in [(0.0, Vec3::X), (1.0, Vec3::X), (2.0, Vec3::Y), (5.0, Vec3::Z), (9.0, Vec3::Z)] {
            assert_eq!(catmull_rom(&keys, time), expected);
        }
        assert_eq!(catmull_rom::<Vec3>(&[], 1.0), Vec3::ZERO);
    }
}

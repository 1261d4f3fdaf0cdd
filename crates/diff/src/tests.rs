use super::*;
use glam::Vec3;

fn image(width: usize, height: usize, unbounded: bool, f: impl Fn(usize, usize) -> Vec3) -> LinearImage {
    LinearImage::new(width, (0..width * height).map(|i| f(i % width, i / width)), unbounded)
}

fn gradient(x: usize, y: usize) -> Vec3 {
    Vec3::new(x as f32 / 64.0, y as f32 / 64.0, 0.5)
}

#[test]
fn equal_pictures_do_not_differ() {
    for unbounded in [false, true] {
        let a = image(40, 30, unbounded, gradient);
        let found = compare(&a, &a, PIXELS_PER_DEGREE).unwrap();
        assert_eq!(found.stats, DifferenceStats::default());
        assert_eq!((found.width, found.height, found.values.len()), (40, 30, 1200));
    }
}

#[test]
fn black_and_white_differ_almost_as_much_as_can_be() {
    let [black, white] = [Vec3::ZERO, Vec3::ONE].map(|c| image(8, 8, false, |_, _| c));
    let found = compare(&black, &white, PIXELS_PER_DEGREE).unwrap().stats;
    assert!(found.mean > 0.9 && found.max <= 1.0, "{found:?}");
    assert_eq!((found.rmse, found.differing), (1.0, 1.0));
}

#[test]
fn a_point_is_seen_where_it_is() {
    let a = image(64, 64, false, |_, _| Vec3::splat(0.2));
    let b = image(64, 64, false, |x, y| Vec3::splat(if (x, y) == (40, 20) { 1.0 } else { 0.2 }));
    let found = compare(&a, &b, PIXELS_PER_DEGREE).unwrap();
    let greatest = (0..found.values.len()).max_by(|&a, &b| found.values[a].total_cmp(&found.values[b]));
    let at = greatest.map(|i| (i % 64, i / 64)).unwrap();
    assert!(at.0.abs_diff(40) < 3 && at.1.abs_diff(20) < 3, "{at:?}");
    assert_eq!(found.values[0], 0.0);
    assert!((found.stats.differing - 1.0 / 4096.0).abs() < 1e-9);
}

#[test]
fn what_only_shows_at_another_exposure_counts_in_linear_pictures() {
    // Both pictures have a lamp far brighter than white.
    let lamp = |bright: f32| move |x: usize, _: usize| Vec3::splat(if x < 16 { bright } else { 0.05 });
    let [a, b] = [100.0, 25.0].map(|bright| image(32, 32, true, lamp(bright)));
    assert!(compare(&a, &b, PIXELS_PER_DEGREE).unwrap().stats.max > 0.2);
}

#[test]
fn pictures_of_other_sizes_are_refused() {
    let [a, b] = [8, 9].map(|width| image(width, 4, false, gradient));
    let text = compare(&a, &b, PIXELS_PER_DEGREE).unwrap_err().to_string();
    assert!(text.starts_with("8x4 pixels cannot be compared with 9x4"), "{text}");
}

#[test]
fn a_pixel_that_is_no_number_differs_from_one_that_is() {
    const N: f32 = f32::NAN;
    const I: f32 = f32::INFINITY;
    let at = |odd: Vec3| image(8, 8, true, move |x, y| if (x, y) == (3, 2) { odd } else { Vec3::splat(0.5) });
    let found = |a: Vec3, b: Vec3| compare(&at(a), &at(b), PIXELS_PER_DEGREE).unwrap();
    for (a, b) in [
        (Vec3::ZERO, Vec3::splat(N)),
        (Vec3::new(0.0, N, 0.0), Vec3::new(0.0, 0.0, 0.0)),
        (Vec3::splat(I), Vec3::splat(-I)),
        (Vec3::splat(1e30), Vec3::splat(I)),
        (Vec3::splat(N), Vec3::splat(I)),
    ] {
        let found = found(a, b);
        assert_eq!((found.stats.broken, found.stats.differing), (1, 1.0 / 64.0), "{a} {b}");
        assert_eq!((found.values[2 * 8 + 3], found.stats.max), (1.0, 1.0), "{a} {b}");
        assert!(found.stats.rmse.is_finite() && found.stats.mean.is_finite(), "{:?}", found.stats);
    }
    // Values that are too large to be measured still count as numbers.
    let large = found(Vec3::splat(2e30), Vec3::splat(3e30)).stats;
    assert_eq!((large.broken, large.differing, large.not_finite), (0, 1.0 / 64.0, [0, 0]));
    let same = found(Vec3::new(N, I, -I), Vec3::new(N, I, -I)).stats;
    assert_eq!(same, DifferenceStats { not_finite: [1, 1], ..DifferenceStats::default() });
}

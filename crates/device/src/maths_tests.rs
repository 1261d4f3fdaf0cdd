//! Tests of the kernels' elementary functions against double precision.

unsafe extern "C" {
    fn throng_probe_functions(x: f32, out: *mut f32);
    fn throng_probe_power(x: f32, y: f32) -> f32;
    fn throng_probe_arc_tangent(x: f32) -> f32;
    fn throng_probe_angle_of(x: f32, y: f32) -> f32;
    fn throng_probe_fused_multiply_add(a: f32, b: f32, c: f32) -> f32;
}

/// Sine and cosine of turns, natural and binary logarithm, and exponential function.
fn functions(x: f32) -> [f32; 5] {
    let mut found = [0.0; 5];
    // SAFETY: five floats are written.
    unsafe { throng_probe_functions(x, found.as_mut_ptr()) };
    found
}
fn power(x: f32, y: f32) -> f32 {
    // SAFETY: plain arithmetic, here and below.
    unsafe { throng_probe_power(x, y) }
}
fn arc_tangent(x: f32) -> f32 {
    // SAFETY: as above.
    unsafe { throng_probe_arc_tangent(x) }
}
fn angle_of(x: f32, y: f32) -> f32 {
    // SAFETY: as above.
    unsafe { throng_probe_angle_of(x, y) }
}
fn fused_multiply_add(a: f32, b: f32, c: f32) -> f32 {
    // SAFETY: as above.
    unsafe { throng_probe_fused_multiply_add(a, b, c) }
}

/// Positive floats from one to another, every 10,007th of them.
fn floats(from: f32, to: f32) -> impl Iterator<Item = f32> {
    (from.to_bits()..=to.to_bits()).step_by(10_007).map(f32::from_bits)
}

/// The error of a float in units in the last place of the exact value.
fn ulps(found: f32, exact: f64) -> f64 {
    let nearest = (exact as f32).abs().max(f32::MIN_POSITIVE);
    let unit = f64::from(f32::from_bits(nearest.to_bits() & 0x7f80_0000)) * f64::from(f32::EPSILON);
    (f64::from(found) - exact).abs() / unit
}

/// Checks that a function has at most this error in ulps.
fn check(arguments: impl Iterator<Item = f32>, most: f64, found: impl Fn(f32) -> f32, exact: impl Fn(f64) -> f64) {
    for x in arguments {
        let (found, exact) = (found(x), exact(f64::from(x)));
        assert!(ulps(found, exact) <= most, "{x:e}: {found:e} instead of {exact:e}");
    }
}

/// Pseudorandom words.
fn words(count: usize) -> impl Iterator<Item = u32> {
    let next = |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(Some(1), next).skip(1).take(count).map(|x| (x >> 32) as u32)
}

#[test]
fn functions_are_as_exact_as_they_say() {
    let turn = std::f64::consts::TAU;
    check(floats(1e-30, 0.125), 2.0, |x| functions(x)[0], |x| (turn * x).sin());
    check(floats(1e-30, 0.125), 2.0, |x| functions(x)[1], |x| (turn * x).cos());
    for x in floats(0.1, 1.0) {
        let ([sine, cosine, ..], (s, c)) = (functions(x), (turn * f64::from(x)).sin_cos());
        assert!((f64::from(sine) - s).abs() < 1.2e-7 && (f64::from(cosine) - c).abs() < 1.2e-7, "{x}");
    }
    check(floats(f32::MIN_POSITIVE, f32::MAX), 1.0, |x| functions(x)[2], f64::ln);
    check(floats(0.5, 2.0), 1.0, |x| functions(x)[2], f64::ln);
    check(floats(f32::MIN_POSITIVE, f32::MAX), 2.0, |x| functions(x)[3], f64::log2);
    check(floats(1e-30, 87.0), 1.0, |x| functions(-x)[4], |x| (-x).exp());
    check(floats(1e-30, 88.0), 1.0, |x| functions(x)[4], f64::exp);
    check(floats(1e-30, 1e30), 2.0, arc_tangent, f64::atan);
    for y in [0.08, 0.168, 1.0 / 2.4, 2.0 / 3.0, 2.4, 10.0, 33.0, 100.0] {
        let bound = |exponent: f32| (exponent / y).exp2().clamp(f32::MIN_POSITIVE, f32::MAX);
        let error = if y > 33.0 { 4.0 } else { 1.5 };
        check(floats(bound(-125.0), bound(127.0)), error, |x| power(x, y), |x| x.powf(f64::from(y)));
    }
    let mut words = words(20_000);
    while let (Some(x), Some(y)) = (words.next(), words.next()) {
        let [x, y] = [x, y].map(|word| (f64::from(word) / f64::from(1 << 31) - 1.0) as f32);
        let exact = f64::from(y).atan2(f64::from(x));
        assert!(ulps(angle_of(x, y), exact) <= 2.0, "{x} {y}");
    }
}

#[test]
fn special_values_are_exact() {
    let (infinity, nan) = (f32::INFINITY, f32::NAN);
    for (turn, expected) in
        [(0.0, [0.0, 1.0]), (0.25, [1.0, 0.0]), (0.5, [0.0, -1.0]), (0.75, [-1.0, 0.0]), (1.0, [0.0, 1.0])]
    {
        assert_eq!(functions(turn)[..2], expected, "{turn}");
    }
    assert_eq!(functions(1.0)[2], 0.0);
    for exponent in -126..128 {
        assert_eq!(functions((exponent as f32).exp2())[3], exponent as f32);
    }
    let exponential = |x| functions(x)[4];
    assert_eq!([0.0, -infinity, infinity, nan].map(exponential), [1.0, 0.0, infinity, 0.0]);
    assert_eq!([0.0, 1.0, infinity, nan].map(|x| power(x, 0.2)), [0.0, 1.0, infinity, 0.0]);
    assert_eq!([(4.0, 0.5), (9.0, 1.0), (3.0, 2.0), (0.5, 126.0)].map(|(x, y)| power(x, y)), [2.0, 9.0, 9.0, 0.0]);
    assert_eq!([power(2.0, 127.0), power(2.0, 128.0)], [2f32.powi(127), infinity]);
    let half = std::f32::consts::FRAC_PI_2;
    assert_eq!([0.0, infinity, -infinity].map(arc_tangent), [0.0, half, -half]);
    let axes = [(0.0, 0.0), (2.0, 0.0), (0.0, 2.0), (-2.0, 0.0), (0.0, -2.0), (-2.0, -0.0)];
    assert_eq!(axes.map(|(x, y)| angle_of(x, y)), [0.0, 0.0, half, 2.0 * half, -half, 2.0 * half]);
}

/// The float nearest to `value` times 2^`exponent`, ties to even.
fn rounded(value: i128, exponent: i32) -> f32 {
    let size = value.unsigned_abs();
    // Bits below the last place of the float, which is 2^-149 at least.
    let lost = (128 - 24 - size.leading_zeros() as i32).max(-149 - exponent).clamp(0, 127);
    let (kept, rest, half) = (size >> lost, size & ((1 << lost) - 1), (1u128 << lost) / 2);
    let up = rest > half || (rest == half && lost > 0 && kept & 1 == 1);
    let result = (kept + u128::from(up)) as f64 * 2f64.powi(exponent + lost);
    (if value < 0 { -result } else { result }) as f32
}

#[test]
fn fused_operations_round_once() {
    // Products with the unit 2^(2 * low), and addends with 2^shift times this unit; the results of the second kind are subnormal or close to it.
    for (low, shifts, tie) in [(-20, 0..50, 47), (-87, 25..50, 25)] {
        let scaled = |value: i128, exponent: i32| (value as f64 * 2f64.powi(exponent)) as f32;
        let check = |m: i128, n: i128, addend: i128, shift: i32| {
            let [a, b, c] =
                [(m, low), (n, low), (addend, 2 * low + shift)].map(|(value, exponent)| scaled(value, exponent));
            let expected = rounded(m * n + (addend << shift), 2 * low);
            assert_eq!(fused_multiply_add(a, b, c).to_bits(), expected.to_bits(), "{a:e} {b:e} {c:e}");
        };
        let mut words = words(600_000);
        while let (Some(m), Some(n), Some(addend), Some(shift)) =
            (words.next(), words.next(), words.next(), words.next())
        {
            let [m, n, addend] = [m, n, addend].map(|word| i128::from(word as i32 >> 7));
            let shift = shifts.start + (shift % (shifts.len() as u32)) as i32;
            check(m, n, addend, shift);
            // A product just below half a unit of the addend, which is a tie in double precision.
            let j = m & 0xff;
            let half = 1 << ((tie - 1) / 2);
            check(half + j, half - j, addend, tie);
        }
    }
    let (infinity, nan) = (f32::INFINITY, f32::NAN);
    assert_eq!(fused_multiply_add(infinity, 2.0, 1.0), infinity);
    assert_eq!(fused_multiply_add(3e38, 3e38, -1.0), infinity);
    assert_eq!(fused_multiply_add(1.0, 1.0, -infinity), -infinity);
    assert!(fused_multiply_add(infinity, 1.0, -infinity).is_nan() && fused_multiply_add(nan, 1.0, 1.0).is_nan());
    assert_eq!(fused_multiply_add(-1.0, 0.0, -0.0).to_bits(), (-0.0f32).to_bits());
}

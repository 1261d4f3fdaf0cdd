//! Sine and cosine of an angle in turns (of 2π). They are several times faster than the system's functions, and give identical results on
//! all machines.

use throng_base::math::truncated;

/// `(sin 2πx, cos 2πx)` with an error below 3e-7, for any finite `x`.
///
/// The angle is reduced to an eighth of a turn around the nearest quarter, for Taylor polynomials of degree 9 and 8.
#[inline]
pub fn sin_cos_of_turns(x: f32) -> (f32, f32) {
    // All floats from 2^23 upwards are whole turns.
    let x = if x.abs() < 8_388_608.0 { x } else { 0.0 };
    let quarters = (x - truncated(x) as f32) * 4.0;
    let nearest = truncated(quarters + 0.5f32.copysign(quarters));
    let a = (quarters - nearest as f32) * std::f32::consts::FRAC_PI_2;
    let b = a * a;
    let sin = a * (1.0 + b * (-1.0 / 6.0 + b * (1.0 / 120.0 + b * (-1.0 / 5040.0 + b * (1.0 / 362_880.0)))));
    let cos = 1.0 + b * (-0.5 + b * (1.0 / 24.0 + b * (-1.0 / 720.0 + b * (1.0 / 40320.0))));
    // Selects replace branches: phases are random, so branches would be mispredicted.
    let odd = nearest & 1 != 0;
    let (sin, cos) = (if odd { cos } else { sin }, if odd { sin } else { cos });
    let with_sign = |x: f32, negative: i32| f32::from_bits(x.to_bits() ^ ((negative & 2) as u32) << 30);
    (with_sign(sin, nearest), with_sign(cos, nearest + 1))
}

/// `sin 2πx`, with an error below 3e-7: a single polynomial over half a turn.
#[inline]
pub fn sin_of_turns(x: f32) -> f32 {
    let x = if x.abs() < 8_388_608.0 { x } else { 0.0 };
    let halves = (x - truncated(x) as f32) * 2.0;
    let nearest = truncated(halves + 0.5f32.copysign(halves));
    let a = (halves - nearest as f32) * std::f32::consts::PI;
    let b = a * a;
    let tail = 1.0 / 5040.0 - b * (1.0 / 362_880.0 - b * (1.0 / 39_916_800.0));
    let sin = a * (1.0 - b * (1.0 / 6.0 - b * (1.0 / 120.0 - b * tail)));
    f32::from_bits(sin.to_bits() ^ (nearest as u32) << 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_the_exact_functions() {
        for i in -40_000..40_000 {
            let x = i as f32 * 1.03e-4;
            let (sin, cos) = (f64::from(x) * std::f64::consts::TAU).sin_cos();
            let (s, c) = sin_cos_of_turns(x);
            assert!((f64::from(s) - sin).abs() < 3e-7 && (f64::from(c) - cos).abs() < 3e-7, "{x}");
            assert!((f64::from(sin_of_turns(x)) - sin).abs() < 3e-7, "{x}");
        }
        assert_eq!(sin_cos_of_turns(0.25), (1.0, 0.0));
        assert_eq!(sin_cos_of_turns(1e30), (0.0, 1.0));
        assert_eq!(sin_of_turns(1e30), 0.0);
    }
}

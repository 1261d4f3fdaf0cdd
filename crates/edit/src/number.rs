//! Numbers in the shortest text that reads back as an equal `f32`.

use glam::Vec3;

/// Range of magnitudes that are written without an exponent.
const PLAIN: std::ops::Range<f32> = 1e-5..1e9;

/// The text of a finite number.
pub fn number(x: f32) -> String {
    match x {
        0.0 => "0".to_owned(),
        x if PLAIN.contains(&x.abs()) => x.to_string(),
        x => format!("{x:e}"),
    }
}

/// The text of a finite double-precision number.
pub fn double(x: f64) -> String {
    match x {
        0.0 => "0".to_owned(),
        x if (1e-5..1e15).contains(&x.abs()) => x.to_string(),
        x => format!("{x:e}"),
    }
}

/// `(x, y, z)`.
pub fn point(p: Vec3) -> String {
    format!("({}, {}, {})", number(p.x), number(p.y), number(p.z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use throng_scene::desc::{Finite, FocusDesc, Point};

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, -0.0, 34.0, 0.1, -2.5, 1e-6, 1e12, 16_777_216.0].map(number);
        assert_eq!(texts, ["0", "0", "34", "0.1", "-2.5", "1e-6", "1e12", "16777216"]);
        assert_eq!(point(Vec3::new(0.0, 1.5, -8.0)), "(0, 1.5, -8)");
    }

    proptest! {
        #[test]
        fn numbers_read_back_as_they_were(bits: u32) {
            let x = f32::from_bits(bits);
            prop_assume!(x.is_finite());
            prop_assert_eq!(ron::from_str::<Finite>(&number(x)).unwrap().0, x);
            let read: Point = ron::from_str(&point(Vec3::splat(x))).unwrap();
            prop_assert_eq!(read.0.z, x);
            prop_assert_eq!(ron::from_str::<FocusDesc>(&number(x)).unwrap(), FocusDesc::Distance(x));
        }
    }
}

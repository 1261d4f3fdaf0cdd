//! Lenses whose distortion leaves parts of the picture without rays.

use super::{
    calibration::OwnOptics,
    cameras::{Seen, label},
};
use crate::LoadError;
use rayon::prelude::*;
use std::{collections::HashSet, path::Path};
use throng_scene::{Distortion, Intrinsics, Optics};

/// Intervals between the points of a side that are examined. On the way from the axis to each, all directions are examined too.
const INTERVALS: u32 = 32;

/// Checks that there is a ray through every point of the pictures, which have `size` pixels.
///
/// # Errors
/// The first camera for which there is none, and a place.
pub fn check(path: &Path, what: &str, list: &[Seen], (width, height): (u32, u32)) -> Result<(), LoadError> {
    let mut known = HashSet::new();
    let lens = |seen: &Seen| match seen.optics {
        OwnOptics::Given(Optics::Calibrated(lens)) if lens.distortion != Distortion::None => Some(lens),
        _ => None,
    };
    let distinct = list.iter().filter_map(|seen| Some((seen, lens(seen)?)));
    let distinct: Vec<_> = distinct.filter(|(_, lens)| known.insert(bits(lens))).collect();
    let fault = distinct.par_iter().find_map_first(|(seen, lens)| Some((seen, fold(lens)?)));
    fault.map_or(Ok(()), |(seen, [across, down])| {
        let (x, y) = (across * f64::from(width), down * f64::from(height));
        Err(LoadError::file(
            path,
            format!(
                "{}: the distortion folds over at {x:.0}, {y:.0} of its {width}x{height} pixels, where the lens images nothing: check its \
                 coefficients, or undistort its picture and use a pinhole",
                label(what, seen.number, &seen.name)
            ),
        ))
    })
}

/// A position on the border, from 0 to 1 across and down, to which no direction leads.
fn fold(lens: &Intrinsics) -> Option<[f64; 2]> {
    let shares = (0..=INTERVALS).map(|i| f64::from(i) / f64::from(INTERVALS));
    let mut border = shares.flat_map(|share| [[share, 0.0], [share, 1.0], [0.0, share], [1.0, share]]);
    border.find(|&place| lens.direction(place).is_none_or(|direction| !direction.iter().all(|x| x.is_finite())))
}

/// The numbers of a lens as a key: equal keys are equal lenses.
fn bits(lens: &Intrinsics) -> [u32; 13] {
    let (kind, [a, b, c, d, e, f, g, h]) = match lens.distortion {
        Distortion::None => (0.0, [0.0; 8]),
        Distortion::Rational { k: [k1, k2, k3, k4, k5, k6], p: [p1, p2] } => (1.0, [k1, k2, k3, k4, k5, k6, p1, p2]),
        Distortion::Fisheye { k: [k1, k2, k3, k4] } => (2.0, [k1, k2, k3, k4, 0.0, 0.0, 0.0, 0.0]),
    };
    let Intrinsics { focal, center, .. } = lens;
    [kind, focal.x, focal.y, center.x, center.y, a, b, c, d, e, f, g, h].map(f32::to_bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::pose::Pose;
    use glam::{DVec3, Vec2};

    fn seen(number: u64, distortion: Distortion) -> Seen {
        let lens = Intrinsics { focal: Vec2::splat(0.7), center: Vec2::splat(0.5), distortion };
        Seen {
            number,
            name: String::new(),
            pose: Pose::around(DVec3::ZERO, (0.0, 0.0), 1.0),
            has_y_up: true,
            optics: OwnOptics::Given(Optics::Calibrated(lens)),
            time: None,
        }
    }

    #[test]
    fn a_lens_that_folds_within_the_picture_is_found_with_a_place() {
        let mild = Distortion::Rational { k: [-0.1, 0.0, 0.0, 0.0, 0.0, 0.0], p: [0.0; 2] };
        let strong = Distortion::Rational { k: [-0.6, 0.0, 0.0, 0.0, 0.0, 0.0], p: [0.0; 2] };
        let check = |list: &[Seen]| check(Path::new("f"), "frame", list, (640, 480)).map_err(|error| error.to_string());
        assert_eq!(check(&[seen(0, Distortion::None), seen(1, mild)]), Ok(()));
        let error = check(&[seen(0, mild), seen(1, strong), seen(2, strong)]).unwrap_err();
        assert!(error.starts_with("f: frame 1: the distortion folds over at 0, 0 of its 640x480 pixels"), "{error}");
    }

    #[test]
    fn a_fisheye_may_see_behind_itself_but_not_twice() {
        let fisheye = |focal: f32| Intrinsics {
            focal: Vec2::splat(focal),
            center: Vec2::splat(0.5),
            distortion: Distortion::Fisheye { k: [0.0; 4] },
        };
        assert_eq!(fold(&fisheye(0.3)), None);
        assert_eq!(fold(&fisheye(0.2)), Some([0.0, 0.0]));
    }
}

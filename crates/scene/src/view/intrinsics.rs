//! Calibrated cameras: focal lengths, principal point and lens distortion, as computer vision describes them.

use glam::Vec2;

/// Steps in which an image moves out from the axis while its distortion is inverted by Newton's method.
const STEPS: u32 = 24;

/// The calibration of a camera, independent of the picture's resolution. Pixel (0, 0) is at the top left and has its centre at (0.5, 0.5), as
/// in COLMAP and nerfstudio; OpenCV counts from that centre, so its principal points are smaller by half a pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intrinsics {
    /// Focal lengths in pixels, divided by the picture's width and height; positive.
    pub focal: Vec2,
    /// Principal point from the top left corner, divided by the picture's width and height.
    pub center: Vec2,
    /// Distortion of the lens.
    pub distortion: Distortion,
}

/// Where a lens images a point of the plane at distance 1 (x to the right, y down).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Distortion {
    /// At the point itself: a pinhole.
    #[default]
    None,
    /// OpenCV's rational model with eight coefficients. With r² = x² + y²,
    /// x' = x (1 + k1 r² + k2 r⁴ + k3 r⁶) / (1 + k4 r² + k5 r⁴ + k6 r⁶) + 2 p1 x y + p2 (r² + 2 x²), and y' likewise with
    /// p1 (r² + 2 y²) + 2 p2 x y.
    Rational {
        /// k1 to k6.
        k: [f32; 6],
        /// p1 and p2.
        p: [f32; 2],
    },
    /// The fisheye model of Kannala and Brandt (2006), as in OpenCV: a ray at the angle θ to the axis is imaged at the radius
    /// θ (1 + k1 θ² + k2 θ⁴ + k3 θ⁶ + k4 θ⁸).
    Fisheye {
        /// k1 to k4.
        k: [f32; 4],
    },
}

impl Intrinsics {
    /// A pinhole with a vertical field of view in radians, square pixels and a central principal point. `aspect` is the picture's width divided
    /// by its height.
    pub fn of_fov(fov_y: f32, aspect: f32) -> Self {
        let focal = 0.5 / (0.5 * fov_y).tan();
        Self { focal: Vec2::new(focal / aspect, focal), center: Vec2::splat(0.5), distortion: Distortion::None }
    }

    /// The vertical field of view in radians of a pinhole with this focal length.
    pub fn fov_y(&self) -> f32 {
        2.0 * (0.5 / self.focal.y).atan()
    }

    /// Position on the picture, from 0 to 1 across its width and down its height, of a point in the camera's space (x right, y down, z ahead).
    /// None for points that the lens does not image: those behind a camera without a fisheye.
    pub fn project(&self, [x, y, z]: [f64; 3]) -> Option<[f64; 2]> {
        let (x, y) = match self.distortion {
            Distortion::Fisheye { k } => {
                let across = x.hypot(y);
                let angle = across.atan2(z);
                let scale = if across > 0.0 { fisheye(k, angle).0 / across } else { 1.0 / z };
                (x * scale, y * scale)
            }
            _ if z <= 0.0 => return None,
            Distortion::None => (x / z, y / z),
            Distortion::Rational { k, p } => rational(k, p, (x / z, y / z)),
        };
        let at = |value: f64, focal: f32, center: f32| value * f64::from(focal) + f64::from(center);
        Some([at(x, self.focal.x, self.center.x), at(y, self.focal.y, self.center.y)])
    }

    /// Direction (x right, y down, z ahead; not a unit vector) of the ray through a position on the picture, see [`Self::project`]. None where no
    /// direction is imaged there.
    pub fn direction(&self, [across, down]: [f64; 2]) -> Option<[f64; 3]> {
        let away = |at: f64, focal: f32, center: f32| (at - f64::from(center)) / f64::from(focal);
        let imaged = (away(across, self.focal.x, self.center.x), away(down, self.focal.y, self.center.y));
        match self.distortion {
            Distortion::None => Some([imaged.0, imaged.1, 1.0]),
            Distortion::Rational { k, p } => undistorted(k, p, imaged).map(|(x, y)| [x, y, 1.0]),
            Distortion::Fisheye { k } => {
                let radius = imaged.0.hypot(imaged.1);
                let (sine, cosine) = fisheye_angle(k, radius)?.sin_cos();
                let scale = if radius > 0.0 { sine / radius } else { 1.0 };
                Some([imaged.0 * scale, imaged.1 * scale, cosine])
            }
        }
    }
}

/// Iterations of a step. Only the last step must converge, even close to a fold.
fn iterations(step: u32) -> u32 {
    if step == STEPS { 16 } else { 3 }
}

/// The image of a point: see [`Distortion::Rational`].
fn rational(k: [f32; 6], p: [f32; 2], (x, y): (f64, f64)) -> (f64, f64) {
    let [k1, k2, k3, k4, k5, k6] = k.map(f64::from);
    let [p1, p2] = p.map(f64::from);
    let r2 = x * x + y * y;
    let radial = (1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))) / (1.0 + r2 * (k4 + r2 * (k5 + r2 * k6)));
    (x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x), y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y)
}

/// The point whose image is `imaged`, on the branch that begins at the axis.
fn undistorted(k: [f32; 6], p: [f32; 2], imaged: (f64, f64)) -> Option<(f64, f64)> {
    const STEP: f64 = 1e-6;
    let (mut x, mut y) = (0.0, 0.0);
    // The image moves out from the axis, so that every step starts close to its solution.
    for step in 1..=STEPS {
        let share = f64::from(step) / f64::from(STEPS);
        let wanted = (imaged.0 * share, imaged.1 * share);
        for _ in 0..iterations(step) {
            let at = |x, y| rational(k, p, (x, y));
            let (here, right, down) = (at(x, y), at(x + STEP, y), at(x, y + STEP));
            let (a, b) = ((right.0 - here.0) / STEP, (down.0 - here.0) / STEP);
            let (c, d) = ((right.1 - here.1) / STEP, (down.1 - here.1) / STEP);
            let determinant = a * d - b * c;
            // Beyond the fold, images return to the axis.
            if determinant <= 1e-9 || a <= 0.0 {
                return None;
            }
            let (dx, dy) = (wanted.0 - here.0, wanted.1 - here.1);
            x += (d * dx - b * dy) / determinant;
            y += (a * dy - c * dx) / determinant;
        }
    }
    let found = rational(k, p, (x, y));
    let close =
        (found.0 - imaged.0).abs().max((found.1 - imaged.1).abs()) < 1e-6 * (1.0 + imaged.0.abs() + imaged.1.abs());
    close.then_some((x, y))
}

/// The radius at which an angle is imaged, and its derivative.
fn fisheye(k: [f32; 4], angle: f64) -> (f64, f64) {
    let [k1, k2, k3, k4] = k.map(f64::from);
    let t2 = angle * angle;
    let radius = angle * (1.0 + t2 * (k1 + t2 * (k2 + t2 * (k3 + t2 * k4))));
    let slope = 1.0 + t2 * (3.0 * k1 + t2 * (5.0 * k2 + t2 * (7.0 * k3 + t2 * 9.0 * k4)));
    (radius, slope)
}

/// The angle from 0 to π that is imaged at a radius.
fn fisheye_angle(k: [f32; 4], radius: f64) -> Option<f64> {
    let mut angle = 0.0;
    for step in 1..=STEPS {
        let wanted = radius * f64::from(step) / f64::from(STEPS);
        for _ in 0..iterations(step) {
            let (here, slope) = fisheye(k, angle);
            if slope <= 1e-9 {
                return None;
            }
            angle += (wanted - here) / slope;
        }
    }
    let close = (fisheye(k, angle).0 - radius).abs() < 1e-6 * (1.0 + radius);
    (close && (0.0..=std::f64::consts::PI).contains(&angle)).then_some(angle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera(distortion: Distortion) -> Intrinsics {
        Intrinsics { focal: Vec2::new(0.7, 0.9), center: Vec2::new(0.48, 0.53), distortion }
    }

    #[test]
    fn the_rational_model_is_opencvs() {
        let rational = Distortion::Rational { k: [-0.28, 0.07, 0.01, 0.02, -0.01, 0.003], p: [0.001, -0.002] };
        let [x, y] = camera(rational).project([0.3, -0.2, 1.0]).unwrap();
        let r2 = 0.13f64;
        let radial = (1.0 - 0.28 * r2 + 0.07 * r2 * r2 + 0.01 * r2.powi(3))
            / (1.0 + 0.02 * r2 - 0.01 * r2 * r2 + 0.003 * r2.powi(3));
        let expected = 0.3 * radial + 2.0 * 0.001 * 0.3 * -0.2 + -0.002 * (r2 + 2.0 * 0.09);
        assert!((x * 640.0 - (expected * 448.0 + 307.2)).abs() < 1e-4, "{x}");
        assert!(y < 0.53);
    }

    #[test]
    fn every_position_has_the_direction_that_is_imaged_there() {
        let lenses = [
            Distortion::None,
            Distortion::Rational { k: [-0.3, 0.1, -0.01, 0.0, 0.0, 0.0], p: [0.001, -0.002] },
            Distortion::Rational { k: [0.4, 0.1, 0.05, 0.3, 0.02, 0.01], p: [0.0, 0.0] },
            Distortion::Fisheye { k: [0.05, -0.01, 0.002, -0.0003] },
            Distortion::Fisheye { k: [0.0; 4] },
        ];
        for lens in lenses {
            let camera = camera(lens);
            for (x, y) in (0..=10).flat_map(|x| (0..=10).map(move |y| (f64::from(x) / 10.0, f64::from(y) / 10.0))) {
                let direction = camera.direction([x, y]).unwrap_or_else(|| panic!("{lens:?} at {x} {y}"));
                let [px, py] = camera.project(direction).unwrap();
                assert!(
                    (px - x).abs() < 1e-9 && (py - y).abs() < 1e-9,
                    "{lens:?}: {x} {y} -> {direction:?} -> {px} {py}"
                );
            }
        }
    }

    #[test]
    fn positions_beyond_the_fold_of_a_lens_have_no_direction() {
        // r (1 - r²) is at most 0.385.
        let folding = Intrinsics {
            distortion: Distortion::Rational { k: [-1.0, 0.0, 0.0, 0.0, 0.0, 0.0], p: [0.0; 2] },
            ..Intrinsics::of_fov(1.0, 1.0)
        };
        assert!(folding.direction([0.5, 0.5 + 0.38 * f64::from(folding.focal.y)]).is_some());
        assert!(folding.direction([0.5, 0.5 + 0.39 * f64::from(folding.focal.y)]).is_none());
        let fisheye = Intrinsics { distortion: Distortion::Fisheye { k: [0.0; 4] }, ..Intrinsics::of_fov(1.0, 1.0) };
        assert!(fisheye.direction([0.5 + 3.2 * f64::from(fisheye.focal.x), 0.5]).is_none());
    }

    #[test]
    fn a_field_of_view_comes_back() {
        assert!((Intrinsics::of_fov(0.8, 1.5).fov_y() - 0.8).abs() < 1e-6);
    }
}

//! The Earth's atmosphere: scattering, absorption and transmittance. Lengths are in km.
//!
//! Air and ozone follow Bruneton and Neyret 2008; haze increases with turbidity. Transmittance and multiple scattering are tabulated once
//! (Hillaire, "A scalable and production ready sky and atmosphere rendering technique", 2020).

use glam::{DVec2, DVec3};
use rayon::prelude::*;
use std::{
    f64::consts::PI,
    sync::{Arc, Mutex},
};
use throng_base::sync::lock;

/// One value per channel, at 680, 550 and 440 nm.
pub type Rgb = DVec3;

pub const GROUND_RADIUS: f64 = 6360.0;
const TOP_RADIUS: f64 = 6460.0;
const AIR_SCATTERING: Rgb = Rgb::new(5.802e-3, 13.558e-3, 33.1e-3);
const AIR_HEIGHT: f64 = 8.0;
const HAZE_HEIGHT: f64 = 1.2;
/// Haze scatters short wavelengths slightly more (Ångström exponent about 1).
const HAZE_TINT: Rgb = Rgb::new(0.85, 1.0, 1.18);
/// Optical depth of the haze at the zenith, per unit of turbidity above 1.
const HAZE_DEPTH: f64 = 0.045;
const HAZE_ALBEDO: f64 = 0.96;
const HAZE_FORWARD: f64 = 0.76;
const OZONE_ABSORPTION: Rgb = Rgb::new(0.65e-3, 1.881e-3, 0.085e-3);

/// Transmittance and scattering tables of one atmosphere.
pub struct Atmosphere {
    turbidity: f64,
    /// Albedo of the ground.
    pub albedo: Rgb,
    /// Extinction of the haze at the ground.
    haze: Rgb,
    transmittance: Table,
    multiple: Table,
}

/// Scattering and extinction per km at some height.
struct Medium {
    air: Rgb,
    haze: Rgb,
    extinction: Rgb,
}

impl Atmosphere {
    /// As [`Self::new`]. Returns the result of the last call if its parameters were equal, as for the frames of an animation.
    pub fn shared(turbidity: f64, albedo: Rgb) -> Arc<Self> {
        static LAST: Mutex<Option<Arc<Atmosphere>>> = Mutex::new(None);
        let last = || lock(&LAST);
        let same = |air: &Arc<Self>| air.turbidity == turbidity && air.albedo == albedo;
        let known = last().clone();
        known.filter(same).unwrap_or_else(|| {
            // The lock is not held here, because other work that this thread takes up meanwhile may need it.
            let air = Arc::new(Self::new(turbidity, albedo));
            *last() = Some(air.clone());
            air
        })
    }

    /// Computes the tables. A `turbidity` of 1 is air without haze; `albedo` is the ground's.
    pub fn new(turbidity: f64, albedo: Rgb) -> Self {
        let haze = HAZE_TINT * (HAZE_DEPTH * (turbidity - 1.0).max(0.0) / HAZE_HEIGHT);
        let empty = Table { width: 1, data: vec![Rgb::ZERO] };
        let multiple = Table { width: 1, data: vec![Rgb::ZERO] };
        let mut air = Self { turbidity, albedo, haze, transmittance: empty, multiple };
        air.transmittance = Table::new(160, 48, |uv| air.transmittance_at(uv));
        air.multiple = Table::new(32, 16, |uv| air.multiple_at(uv, albedo));
        air
    }

    fn medium(&self, height: f64) -> Medium {
        let air = AIR_SCATTERING * (-height / AIR_HEIGHT).exp();
        let haze = self.haze * (-height / HAZE_HEIGHT).exp();
        let ozone = OZONE_ABSORPTION * (1.0 - (height - 25.0).abs() / 15.0).max(0.0);
        Medium { air, haze: haze * HAZE_ALBEDO, extinction: air + haze + ozone }
    }

    /// Distance at which a ray meets the ground; none if it does not.
    pub fn distance_to_ground(&self, from: DVec3, direction: DVec3) -> Option<f64> {
        let b = from.dot(direction);
        let discriminant = b * b - from.length_squared() + GROUND_RADIUS * GROUND_RADIUS;
        (b < 0.0 && discriminant >= 0.0).then(|| (-b - discriminant.sqrt()).max(0.0))
    }

    /// Distance at which a ray leaves the atmosphere; the ground is ignored.
    pub fn distance_to_space(&self, from: DVec3, direction: DVec3) -> f64 {
        let b = from.dot(direction);
        (b * b - from.length_squared() + TOP_RADIUS * TOP_RADIUS).max(0.0).sqrt() - b
    }

    /// Transmittance of sunlight to `radius`. `cos` is the cosine of the angle between the sun and the zenith.
    pub fn sunlight(&self, radius: f64, cos: f64) -> Rgb {
        let horizon = -(1.0 - (GROUND_RADIUS / radius).powi(2)).max(0.0).sqrt();
        // The sun's disc sets over its own diameter.
        let risen = ((cos - horizon) / 0.0093 + 0.5).clamp(0.0, 1.0);
        if risen == 0.0 {
            return Rgb::ZERO;
        }
        self.transmittance.read(transmittance_uv(radius, cos.max(horizon))) * (risen * risen * (3.0 - 2.0 * risen))
    }

    /// Light scattered towards a viewer per km, for sunlight with irradiance 1, and the extinction per km. `phases` belongs to the angle
    /// between view and sun.
    pub fn scattered(&self, at: DVec3, sun: DVec3, phases: &Phases) -> (Rgb, Rgb) {
        let radius = at.length();
        let medium = self.medium(radius - GROUND_RADIUS);
        let cos = at.dot(sun) / radius;
        let once = medium.air * phases.air + medium.haze * phases.haze;
        let again = self.multiple.read(multiple_uv(radius, cos));
        (once * self.sunlight(radius, cos) + (medium.air + medium.haze) * again, medium.extinction)
    }

    fn transmittance_at(&self, uv: DVec2) -> Rgb {
        const STEPS: usize = 40;
        let (radius, cos) = transmittance_ray(uv);
        let (from, direction) = (DVec3::Y * radius, DVec3::new((1.0 - cos * cos).max(0.0).sqrt(), cos, 0.0));
        let end = self.distance_to_space(from, direction);
        let depth = |i: usize| {
            let (distance, length) = step(i, STEPS, end);
            let height = (from + direction * distance).length() - GROUND_RADIUS;
            self.medium(height.max(0.0)).extinction * length
        };
        (-(0..STEPS).map(depth).sum::<Rgb>()).exp()
    }

    /// All orders of scattering after the first, for sunlight with irradiance 1, assumed to be isotropic.
    fn multiple_at(&self, uv: DVec2, albedo: Rgb) -> Rgb {
        const SIDE: usize = 6;
        let cos = uv.x * 2.0 - 1.0;
        let at = DVec3::Y * (GROUND_RADIUS + 0.01 + uv.y * (TOP_RADIUS - GROUND_RADIUS - 0.02));
        let sun = DVec3::new((1.0 - cos * cos).max(0.0).sqrt(), cos, 0.0);
        let (mut second, mut kept) = (Rgb::ZERO, Rgb::ZERO);
        for i in 0..SIDE * SIDE {
            let up = 1.0 - 2.0 * ((i / SIDE) as f64 + 0.5) / SIDE as f64;
            let (s, c) = (((i % SIDE) as f64 + 0.5) / SIDE as f64 * 2.0 * PI).sin_cos();
            let r = (1.0 - up * up).sqrt();
            let (light, share) = self.isotropic(at, DVec3::new(r * c, up, r * s), sun, albedo);
            second += light;
            kept += share;
        }
        let directions = (SIDE * SIDE) as f64;
        second / directions / (Rgb::ONE - kept / directions)
    }

    /// Light from one direction after one isotropic scattering, and the share of light that is scattered again.
    fn isotropic(&self, at: DVec3, direction: DVec3, sun: DVec3, albedo: Rgb) -> (Rgb, Rgb) {
        const STEPS: usize = 16;
        let ground = self.distance_to_ground(at, direction);
        let end = ground.unwrap_or_else(|| self.distance_to_space(at, direction));
        let (mut light, mut share, mut through) = (Rgb::ZERO, Rgb::ZERO, Rgb::ONE);
        for i in 0..STEPS {
            let (distance, length) = step(i, STEPS, end);
            let p = at + direction * distance;
            let radius = p.length();
            let medium = self.medium(radius - GROUND_RADIUS);
            let passed = (-medium.extinction * length).exp();
            let scattered =
                through * (medium.air + medium.haze) * (Rgb::ONE - passed) / medium.extinction.max(Rgb::splat(1e-12));
            light += scattered * self.sunlight(radius, p.dot(sun) / radius) / (4.0 * PI);
            share += scattered;
            through *= passed;
        }
        if ground.is_some() {
            let cos = (at + direction * end).normalize().dot(sun);
            light += through * albedo / PI * cos.max(0.0) * self.sunlight(GROUND_RADIUS + 1e-3, cos);
        }
        (light, share)
    }
}

/// Centre and length of step `i` of `steps` over `length`. Closer steps are shorter, since haze is near the ground.
pub fn step(i: usize, steps: usize, length: f64) -> (f64, f64) {
    let edge = |i: usize| length * (i as f64 / steps as f64).powi(2);
    let (near, far) = (edge(i), edge(i + 1));
    (0.5 * (near + far), far - near)
}

/// Phase functions of air and haze for one angle.
pub struct Phases {
    air: f64,
    haze: f64,
}

impl Phases {
    pub fn of(cos: f64) -> Self {
        Self { air: air_phase(cos), haze: haze_phase(cos) }
    }
}

fn air_phase(cos: f64) -> f64 {
    3.0 / (16.0 * PI) * (1.0 + cos * cos)
}

/// Cornette and Shanks 1992.
fn haze_phase(cos: f64) -> f64 {
    let g = HAZE_FORWARD;
    let denominator = (2.0 + g * g) * (1.0 + g * g - 2.0 * g * cos).powf(1.5);
    3.0 / (8.0 * PI) * (1.0 - g * g) * (1.0 + cos * cos) / denominator
}

fn horizon_length(radius: f64) -> f64 {
    (radius * radius - GROUND_RADIUS * GROUND_RADIUS).max(0.0).sqrt()
}

/// Bruneton's mapping, which gives the region near the horizon more of the table's resolution.
fn transmittance_uv(radius: f64, cos: f64) -> DVec2 {
    let (full, rho) = (horizon_length(TOP_RADIUS), horizon_length(radius));
    let d = (radius * radius * (cos * cos - 1.0) + TOP_RADIUS * TOP_RADIUS).max(0.0).sqrt() - radius * cos;
    let (least, most) = (TOP_RADIUS - radius, rho + full);
    DVec2::new((d - least) / (most - least), rho / full)
}

/// Inverse of [`transmittance_uv`].
fn transmittance_ray(uv: DVec2) -> (f64, f64) {
    let full = horizon_length(TOP_RADIUS);
    let rho = uv.y * full;
    let radius = rho.hypot(GROUND_RADIUS);
    let (least, most) = (TOP_RADIUS - radius, rho + full);
    let d = least + uv.x * (most - least);
    let cos = if d < 1e-9 { 1.0 } else { (full * full - rho * rho - d * d) / (2.0 * radius * d) };
    (radius, cos.clamp(-1.0, 1.0))
}

fn multiple_uv(radius: f64, cos: f64) -> DVec2 {
    DVec2::new(cos * 0.5 + 0.5, (radius - GROUND_RADIUS) / (TOP_RADIUS - GROUND_RADIUS))
}

/// Values on a regular grid over the unit square, read with bilinear interpolation.
struct Table {
    width: usize,
    data: Vec<Rgb>,
}

impl Table {
    fn new(width: usize, height: usize, f: impl Fn(DVec2) -> Rgb + Sync) -> Self {
        let last = DVec2::new((width - 1) as f64, (height - 1) as f64);
        let cell = |i: usize| f(DVec2::new((i % width) as f64, (i / width) as f64) / last);
        Self { width, data: (0..width * height).into_par_iter().map(cell).collect() }
    }

    fn read(&self, uv: DVec2) -> Rgb {
        let height = self.data.len() / self.width;
        let (x, fx) = cell(uv.x, self.width);
        let (y, fy) = cell(uv.y, height);
        let row = |y: usize| {
            let at = y * self.width + x;
            self.data[at].lerp(self.data[(at + 1).min(y * self.width + self.width - 1)], fx)
        };
        row(y).lerp(row((y + 1).min(height - 1)), fy)
    }
}

fn cell(u: f64, size: usize) -> (usize, f64) {
    let at = u.clamp(0.0, 1.0) * (size - 1) as f64;
    let index = (at as usize).min(size.saturating_sub(2));
    (index, at - index as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transmittance_mapping_is_its_own_inverse() {
        for (x, y) in [(0.0, 0.0), (0.3, 0.1), (0.9, 0.5), (1.0, 1.0)] {
            let uv = DVec2::new(x, y);
            let (radius, cos) = transmittance_ray(uv);
            assert!(transmittance_uv(radius, cos).distance(uv) < 1e-6, "{uv}");
        }
    }

    #[test]
    fn phase_functions_integrate_to_one() {
        for phase in [air_phase, haze_phase] {
            let n = 20_000;
            let sum: f64 = (0..n).map(|i| phase(-1.0 + (2.0 * i as f64 + 1.0) / n as f64)).sum();
            assert!((sum * 2.0 / n as f64 * 2.0 * PI - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn sunlight_fades_and_reddens_towards_the_horizon_and_is_gone_below() {
        let air = Atmosphere::new(2.5, Rgb::splat(0.3));
        let [noon, evening, night] = [1.0, 0.05, -0.05].map(|cos| air.sunlight(GROUND_RADIUS, cos));
        assert!(noon.cmpgt(evening).all() && noon.y > 0.75 && night == Rgb::ZERO);
        assert!(evening.x / evening.z > 3.0 * noon.x / noon.z);
    }
}

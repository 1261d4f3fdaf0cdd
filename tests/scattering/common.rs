//! Common code of the scattering tests: directions, random numbers, and named materials.

use glam::Vec3;
use throng_device::probe::ProbeSurface;

pub type Named = (&'static str, ProbeSurface);

/// Unit vector whose angle to +z has this cosine.
pub fn direction(cosine: f32, azimuth: f32) -> Vec3 {
    let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
    Vec3::new(sine * azimuth.cos(), sine * azimuth.sin(), cosine)
}

/// The first `count` points of a low-discrepancy sequence in the unit cube (Roberts 2018, R₃).
pub fn even_points(count: u32) -> Vec<[f32; 3]> {
    const PLASTIC: f64 = 1.220_744_084_605_759_5;
    let steps = [1, 2, 3].map(|k| PLASTIC.powi(-k));
    let point = |i: u32| steps.map(|step| ((0.5 + step * f64::from(i)).fract() as f32).min(0.999_999));
    (0..count).map(point).collect()
}

/// Reproducible random numbers in [0, 1) (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 40) as f32 / 16_777_216.0
    }

    pub fn triple(&mut self) -> [f32; 3] {
        [self.next(), self.next(), self.next()]
    }

    pub fn direction(&mut self) -> Vec3 {
        direction(2.0 * self.next() - 1.0, std::f32::consts::TAU * self.next())
    }
}

pub fn metal(roughness: f32) -> ProbeSurface {
    ProbeSurface::default().with(|l| {
        l.metallic = 1.0;
        l.roughness = roughness;
    })
}

pub fn dielectric(roughness: f32) -> ProbeSurface {
    ProbeSurface::default().with(|l| l.roughness = roughness)
}

pub fn brushed(roughness: f32, anisotropy: f32) -> ProbeSurface {
    metal(roughness).with(|l| l.anisotropy = anisotropy)
}

pub fn coated(clearcoat_roughness: f32) -> ProbeSurface {
    ProbeSurface::default().with(|l| {
        l.clearcoat = 1.0;
        l.clearcoat_roughness = clearcoat_roughness;
    })
}

pub fn cloth(sheen_roughness: f32) -> ProbeSurface {
    ProbeSurface::default().with(|l| {
        l.sheen_color = [1.0; 3];
        l.sheen_roughness = sheen_roughness;
        l.roughness = 1.0;
    })
}

pub fn thin_glass(roughness: f32) -> ProbeSurface {
    dielectric(roughness).with(|l| l.transmission = 1.0)
}

/// Glass with a volume behind its surface, seen from outside.
pub fn glass(roughness: f32) -> ProbeSurface {
    thin_glass(roughness).with(|l| l.thin = 0)
}

/// Like [`glass`], seen from inside.
pub fn within_glass(roughness: f32) -> ProbeSurface {
    ProbeSurface { front: 0, ..glass(roughness) }
}

pub fn leaf() -> ProbeSurface {
    ProbeSurface::default().with(|l| l.diffuse_transmission = 0.4)
}

/// Brown hair along x.
pub fn hair(along: f32, around: f32) -> ProbeSurface {
    let fibre = ProbeSurface { hair: 1, color: [0.4, 0.2, 0.1], ..ProbeSurface::default() };
    fibre.with(|l| {
        l.roughness = along;
        l.azimuthal_roughness = around;
        l.cuticle_tilt = 0.035;
        l.ior = 1.55;
    })
}

/// Returns the surface with a normal 53 degrees off the triangle's, turned away from viewers at an azimuth of 0.4.
pub fn bent(surface: ProbeSurface, lifted: bool) -> ProbeSurface {
    with_normal(surface, direction(0.6, 0.4 + std::f32::consts::PI), lifted)
}

/// Returns the surface with a smooth normal for all layers.
pub fn with_normal(surface: ProbeSurface, normal: Vec3, lifted: bool) -> ProbeSurface {
    let normal = normal.into();
    ProbeSurface { normal, clearcoat_normal: normal, shading: normal, lifted: u32::from(lifted), ..surface }
}

pub fn iridescent(surface: ProbeSurface) -> ProbeSurface {
    surface.with(|l| l.iridescence = 1.0)
}

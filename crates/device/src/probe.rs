//! Entry points of the kernels for tests of scattering without a scene. Compiled from `kernels/probe/closure.cpp`.

use throng_scene::Lobes;

/// A surface of one material without textures. Normals are unit vectors on the side of the viewer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ProbeSurface {
    pub lobes: Lobes,
    /// The shading normal including the normal map, and the clear coat's normal.
    pub normal: [f32; 3],
    pub clearcoat_normal: [f32; 3],
    pub tangent: [f32; 3],
    pub geometric: [f32; 3],
    /// The shading normal without a normal map.
    pub shading: [f32; 3],
    pub color: [f32; 3],
    /// 1 if the viewer is in front; otherwise 0.
    pub front: u32,
    /// 1 if the smooth surface of `shading` is in front of the triangle of `geometric`, so that light between them counts; otherwise 0.
    pub lifted: u32,
    /// 1 for a fibre of hair along `tangent`, with the normal `shading`; otherwise 0.
    pub hair: u32,
}

impl Default for ProbeSurface {
    /// A white dielectric in the xy plane, seen from above.
    fn default() -> Self {
        Self {
            lobes: Lobes { roughness: 0.5, ..Lobes::default() },
            normal: [0.0, 0.0, 1.0],
            clearcoat_normal: [0.0, 0.0, 1.0],
            tangent: [1.0, 0.0, 0.0],
            geometric: [0.0, 0.0, 1.0],
            shading: [0.0, 0.0, 1.0],
            color: [1.0; 3],
            front: 1,
            lifted: 0,
            hair: 0,
        }
    }
}

impl ProbeSurface {
    /// Returns the surface with changed lobes.
    pub fn with(mut self, change: impl FnOnce(&mut Lobes)) -> Self {
        change(&mut self.lobes);
        self
    }
}

/// A sample of `sample_bsdf`; its pdf is 0 if sampling failed, and infinite for perfect mirrors and windows.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbeSample {
    pub direction: [f32; 3],
    pub weight: [f32; 3],
    pub pdf: f32,
    pub transmitted: u32,
}

/// The value of a BSDF times the cosine, RGB, and the pdf of the direction.
pub type Evaluation = [f32; 4];

unsafe extern "C" {
    fn throng_probe_evaluate(
        surface: *const ProbeSurface,
        out: *const f32,
        directions: *const [f32; 3],
        count: u32,
        results: *mut Evaluation,
    );
    fn throng_probe_sample(
        surface: *const ProbeSurface,
        out: *const f32,
        random: *const [f32; 3],
        count: u32,
        samples: *mut ProbeSample,
    );
    fn throng_probe_interface(
        cosine: f32,
        azimuth: f32,
        along: f32,
        across: f32,
        eta: f32,
        grid: u32,
        albedos: *mut f32,
    );
    fn throng_probe_sheen(cosine: f32, roughness: f32, grid: u32) -> f32;
    fn throng_probe_bend(normal: *const f32, geometric: *const f32, out: *const f32, bent: *mut f32);
    fn throng_probe_fresnel(cosine: f32, eta: f32) -> f32;
}

/// Calls `evaluate_bsdf` for light from each of `directions`, seen from `out`. All are unit vectors that point away from the surface.
pub fn evaluate(surface: &ProbeSurface, out: [f32; 3], directions: &[[f32; 3]]) -> Vec<Evaluation> {
    let mut results = vec![[0.0; 4]; directions.len()];
    // SAFETY: ProbeSurface has the kernel's layout, and the arrays of results and directions have equal lengths.
    unsafe {
        throng_probe_evaluate(
            surface,
            out.as_ptr(),
            directions.as_ptr(),
            directions.len() as u32,
            results.as_mut_ptr(),
        );
    }
    results
}

/// Calls `sample_bsdf` for each triple (choice, u) in [0, 1)³.
pub fn sample(surface: &ProbeSurface, out: [f32; 3], random: &[[f32; 3]]) -> Vec<ProbeSample> {
    let mut samples = vec![ProbeSample::default(); random.len()];
    // SAFETY: as above; the arrays of samples and triples have equal lengths.
    unsafe {
        throng_probe_sample(surface, out.as_ptr(), random.as_ptr(), random.len() as u32, samples.as_mut_ptr());
    }
    samples
}

/// Fractions of light that a rough interface reflects if its facets reflect everything, reflects as a dielectric, and transmits, for single
/// scattering at `grid`² visible facets. Light arrives from `cosine` and `azimuth` (relative to the tangent). `alphas` are the GGX widths along and
/// across the tangent. `eta` is the ior behind the interface relative to the ior in front.
pub fn interface_albedo(cosine: f32, azimuth: f32, alphas: [f32; 2], eta: f32, grid: u32) -> [f32; 3] {
    let mut albedos = [0.0; 3];
    // SAFETY: the kernel writes three floats.
    unsafe {
        throng_probe_interface(cosine, azimuth, alphas[0], alphas[1], eta, grid, albedos.as_mut_ptr());
    }
    albedos
}

/// Fraction of light that white sheen reflects, from `grid`² directions.
pub fn sheen_albedo(cosine: f32, roughness: f32, grid: u32) -> f32 {
    // SAFETY: plain arithmetic.
    unsafe { throng_probe_sheen(cosine, roughness, grid) }
}

/// The kernels' bent shading normal for a surface seen from `out`.
pub fn bend_normal(normal: [f32; 3], geometric: [f32; 3], out: [f32; 3]) -> [f32; 3] {
    let mut bent = [0.0; 3];
    // SAFETY: all four arrays have three floats.
    unsafe {
        throng_probe_bend(normal.as_ptr(), geometric.as_ptr(), out.as_ptr(), bent.as_mut_ptr());
    }
    bent
}

/// Fresnel reflectance for unpolarised light.
pub fn fresnel(cosine: f32, eta: f32) -> f32 {
    // SAFETY: plain arithmetic.
    unsafe { throng_probe_fresnel(cosine, eta) }
}

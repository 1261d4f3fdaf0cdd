//! The kernels' scattering by itself, for tests: surfaces without a scene. Compiled from `kernels/probe/closure.cpp`.

/// What a surface is shaded with, as `kernels/closure/shading_inputs.h` has it, and the surface itself. Normals are on the side of the viewer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ProbeSurface {
    pub normal: [f32; 3],
    pub clearcoat_normal: [f32; 3],
    pub tangent: [f32; 3],
    pub geometric: [f32; 3],
    /// The shading normal without a normal map.
    pub shading: [f32; 3],
    pub color: [f32; 3],
    pub specular_color: [f32; 3],
    pub diffuse_transmission_color: [f32; 3],
    pub sheen_color: [f32; 3],
    pub metallic: f32,
    pub roughness: f32,
    pub ior: f32,
    pub dispersion: f32,
    pub specular: f32,
    pub transmission: f32,
    pub diffuse_transmission: f32,
    pub clearcoat: f32,
    pub clearcoat_roughness: f32,
    pub sheen_roughness: f32,
    pub iridescence: f32,
    pub iridescence_ior: f32,
    /// Nanometres.
    pub iridescence_thickness: f32,
    pub anisotropy: f32,
    pub thin: u32,
    pub front: u32,
}

impl Default for ProbeSurface {
    /// A white dielectric in the xy plane, seen from above.
    fn default() -> Self {
        Self {
            normal: [0.0, 0.0, 1.0],
            clearcoat_normal: [0.0, 0.0, 1.0],
            tangent: [1.0, 0.0, 0.0],
            geometric: [0.0, 0.0, 1.0],
            shading: [0.0, 0.0, 1.0],
            color: [1.0; 3],
            specular_color: [1.0; 3],
            diffuse_transmission_color: [1.0; 3],
            sheen_color: [0.0; 3],
            metallic: 0.0,
            roughness: 0.5,
            ior: 1.5,
            dispersion: 0.0,
            specular: 1.0,
            transmission: 0.0,
            diffuse_transmission: 0.0,
            clearcoat: 0.0,
            clearcoat_roughness: 0.0,
            sheen_roughness: 0.5,
            iridescence: 0.0,
            iridescence_ior: 1.3,
            iridescence_thickness: 400.0,
            anisotropy: 0.0,
            thin: 1,
            front: 1,
        }
    }
}

/// What `sample_bsdf` found; a pdf of 0: nothing. Perfect mirrors and windows have an infinite one.
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
    fn throng_probe_bend(
        normal: *const f32,
        geometric: *const f32,
        out: *const f32,
        bent: *mut f32,
    );
    fn throng_probe_fresnel(cosine: f32, eta: f32) -> f32;
}

/// `evaluate_bsdf` for light from every one of `directions`, seen from `out`. All are unit vectors away from the surface.
pub fn evaluate(surface: &ProbeSurface, out: [f32; 3], directions: &[[f32; 3]]) -> Vec<Evaluation> {
    let mut results = vec![[0.0; 4]; directions.len()];
    // SAFETY: ProbeSurface has the kernel's layout; there are as many results as directions.
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

/// `sample_bsdf` for every triple (choice, u) in [0, 1)³.
pub fn sample(surface: &ProbeSurface, out: [f32; 3], random: &[[f32; 3]]) -> Vec<ProbeSample> {
    let mut samples = vec![ProbeSample::default(); random.len()];
    // SAFETY: as above; there are as many samples as triples.
    unsafe {
        throng_probe_sample(
            surface,
            out.as_ptr(),
            random.as_ptr(),
            random.len() as u32,
            samples.as_mut_ptr(),
        );
    }
    samples
}

/// Shares of the light that comes at `cosine` and `azimuth` (from the tangent) which a rough interface reflects at the first
/// scattering if it reflects all, reflects as a dielectric, and lets through, from `grid`² visible facets. `alphas` are GGX's
/// widths along and across the tangent; `eta` is the ior beyond relative to that in front.
pub fn interface_albedo(
    cosine: f32,
    azimuth: f32,
    alphas: [f32; 2],
    eta: f32,
    grid: u32,
) -> [f32; 3] {
    let mut albedos = [0.0; 3];
    // SAFETY: the kernel writes three floats.
    unsafe {
        throng_probe_interface(
            cosine,
            azimuth,
            alphas[0],
            alphas[1],
            eta,
            grid,
            albedos.as_mut_ptr(),
        );
    }
    albedos
}

/// Share of the light that white sheen reflects, from `grid`² directions.
pub fn sheen_albedo(cosine: f32, roughness: f32, grid: u32) -> f32 {
    // SAFETY: plain arithmetic.
    unsafe { throng_probe_sheen(cosine, roughness, grid) }
}

/// The normal that a shading normal is bent to where a surface is seen from `out`.
pub fn bend_normal(normal: [f32; 3], geometric: [f32; 3], out: [f32; 3]) -> [f32; 3] {
    let mut bent = [0.0; 3];
    // SAFETY: all four are three floats.
    unsafe {
        throng_probe_bend(
            normal.as_ptr(),
            geometric.as_ptr(),
            out.as_ptr(),
            bent.as_mut_ptr(),
        );
    }
    bent
}

/// Fresnel's equations for unpolarised light.
pub fn fresnel(cosine: f32, eta: f32) -> f32 {
    // SAFETY: plain arithmetic.
    unsafe { throng_probe_fresnel(cosine, eta) }
}

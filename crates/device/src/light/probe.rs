//! Entry points of the kernels for tests of light sampling; see `kernels/probe/light.cpp`. They use the launch parameters of the baseline
//! variant ([`crate::CpuDevice::probe`]).

use glam::Vec3;
use throng_abi::{Params, StackEntry};

unsafe extern "C" {
    fn throng_probe_sample_light(
        params: *const Params,
        position: *const f32,
        normal: *const f32,
        u: *const f32,
        out: *mut f32,
    ) -> u32;
    fn throng_probe_light_pdfs(
        params: *const Params,
        stack: *mut StackEntry,
        position: *const f32,
        normal: *const f32,
        direction: *const f32,
        out: *mut f32,
    );
    fn throng_probe_irradiance(
        params: *const Params,
        stack: *mut StackEntry,
        position: *const f32,
        normal: *const f32,
        strategy: u32,
        samples: u32,
        seed: u32,
        out: *mut f64,
    );
}

/// A sampled direction to a light; see `LightSample` in `kernels/light/emitters.h`.
#[derive(Clone, Copy, Debug)]
pub struct LightSample {
    pub direction: Vec3,
    pub distance: f32,
    pub light: Vec3,
    pub pdf: f32,
}

/// Strategy for estimating irradiance.
#[derive(Clone, Copy, Debug)]
pub enum Strategy {
    Lights = 0,
    Directions = 1,
    Both = 2,
}

/// A launch whose light sampling is tested.
pub struct Probe<'a> {
    params: &'a Params,
    stack: &'a mut [StackEntry],
}

impl<'a> Probe<'a> {
    /// # Safety
    /// The pointers of `params` must be valid and point to nodes of the baseline variant. `stack` must have as many entries as its trees
    /// need.
    pub unsafe fn new(params: &'a Params, stack: &'a mut [StackEntry]) -> Self {
        Self { params, stack }
    }

    /// Samples a light for a surface point with three random numbers; `normal` may be zero.
    pub fn sample(&self, position: Vec3, normal: Vec3, u: [f32; 3]) -> Option<LightSample> {
        let mut out = [0f32; 8];
        let (position, normal) = (position.to_array(), normal.to_array());
        // SAFETY: the arrays have the sizes that the function requires, and the parameters are valid.
        let found = unsafe {
            throng_probe_sample_light(self.params, position.as_ptr(), normal.as_ptr(), u.as_ptr(), out.as_mut_ptr())
        };
        (found != 0).then_some(LightSample {
            direction: Vec3::new(out[0], out[1], out[2]),
            distance: out[3],
            light: Vec3::new(out[4], out[5], out[6]),
            pdf: out[7],
        })
    }

    /// The pdfs, per solid angle, with which a direction is sampled for the sky, for suns, and for lights inside the scene.
    pub fn pdfs(&mut self, position: Vec3, normal: Vec3, direction: Vec3) -> [f32; 3] {
        let mut out = [0f32; 3];
        let places = [position, normal, direction].map(|v| v.to_array());
        // SAFETY: as above; the stack is as large as the trees need.
        unsafe {
            throng_probe_light_pdfs(
                self.params,
                self.stack.as_mut_ptr(),
                places[0].as_ptr(),
                places[1].as_ptr(),
                places[2].as_ptr(),
                out.as_mut_ptr(),
            );
        }
        out
    }

    /// Estimates the irradiance at a surface point.
    pub fn irradiance(
        &mut self,
        position: Vec3,
        normal: Vec3,
        strategy: Strategy,
        samples: u32,
        seed: u32,
    ) -> [f64; 3] {
        let mut out = [0f64; 3];
        let (position, normal) = (position.to_array(), normal.to_array());
        // SAFETY: as above.
        unsafe {
            throng_probe_irradiance(
                self.params,
                self.stack.as_mut_ptr(),
                position.as_ptr(),
                normal.as_ptr(),
                strategy as u32,
                samples,
                seed,
                out.as_mut_ptr(),
            );
        }
        out
    }
}

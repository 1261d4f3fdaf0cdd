//! The kernels of one GPU, by name, and the number of resident blocks of the persistent kernels.

use super::image::{image, moving_image, nested_image, tlas_image};
use cust::{
    device::{Device, DeviceAttribute},
    error::CudaResult,
    function::FunctionAttribute,
    module::Module,
    stream::Stream,
};
use std::{ffi::c_void, sync::Arc};
use throng_abi::Params;
use throng_accel::Tlas;

/// Threads per block of kernels that use one thread per item.
const ITEM_THREADS: u32 = 128;

/// The kernels for pictures without motion blur. The kernels for motion blur, for scenes with assemblies and for building TLASes are loaded on first
/// use.
pub struct KernelSets {
    gpu: Device,
    pub still: Arc<Kernels>,
    moving: Option<Kernels>,
    nested: Option<Kernels>,
    /// The module that builds TLASes.
    trees: Option<Module>,
}

impl KernelSets {
    /// Loads the kernels for pictures without motion blur. The GPU's context must be current.
    pub fn load(gpu: Device) -> CudaResult<Self> {
        Ok(Self { gpu, still: Arc::new(Kernels::load(gpu, image())?), moving: None, nested: None, trees: None })
    }

    /// Loads the kernels that a frame needs. The GPU's context must be current.
    pub fn prepare(&mut self, params: &Params, tlas: &Tlas) -> CudaResult<()> {
        if tlas.unbuilt.is_some() && self.trees.is_none() {
            self.trees = Some(Module::from_fatbin(tlas_image(), &[])?);
        }
        if tlas.nested.is_some() {
            if self.nested.is_none() {
                self.nested = Some(Kernels::load(self.gpu, nested_image())?);
            }
        } else if params.frame.moves != 0 && self.moving.is_none() {
            self.moving = Some(Kernels::load(self.gpu, moving_image())?);
        }
        Ok(())
    }

    /// The module that builds TLASes, if it is loaded.
    pub fn trees(&self) -> Option<&Module> {
        self.trees.as_ref()
    }

    /// Returns the kernels for a frame with these parameters. [`Self::prepare`] must have loaded them.
    pub fn of(&self, params: &Params) -> &Kernels {
        match (&self.nested, &self.moving, params.frame.moves) {
            (Some(nested), ..) if !params.trees.levels.is_null() => nested,
            (_, Some(moving), 1..) => moving,
            _ => &self.still,
        }
    }
}

pub struct Kernels {
    module: Module,
    multiprocessors: u32,
    trace: [Resident; 4],
    shade: [Resident; 5],
}

/// The kernel that shades waves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shading {
    /// All integrators whose paths end at the first hit.
    View,
    Whitted,
    /// The path integrator in scenes with diffuse surfaces and mirrors only.
    Path,
    /// The path integrator without fog and hair.
    LayeredPath,
    /// The path integrator with everything. Separate, because the code for fog and hair slows down others even where there is none.
    FogPath,
}

impl Shading {
    const ALL: [Self; 5] = [Self::View, Self::Whitted, Self::Path, Self::LayeredPath, Self::FogPath];

    fn kernel(self) -> &'static str {
        match self {
            Self::View => "throng_shade_view",
            Self::Whitted => "throng_shade_wave",
            Self::Path => "throng_shade_path",
            Self::LayeredPath => "throng_shade_layered_path",
            Self::FogPath => "throng_shade_fog_path",
        }
    }
}

/// The kernels for closest hits and any hits, then their variants for scenes with cutouts.
const TRACE_KERNELS: [&str; 4] = [
    "throng_trace_closest_queue",
    "throng_trace_any_queue",
    "throng_trace_closest_queue_cutouts",
    "throng_trace_any_queue_cutouts",
];

/// Launch size that fills the GPU: all blocks are resident at once.
#[derive(Clone, Copy)]
struct Resident {
    blocks: u32,
    /// Threads per block: the bound with which the kernel was compiled.
    threads: u32,
}

/// Pointers to the arguments of a launch.
macro_rules! arguments {
    ($($argument:expr),* $(,)?) => {
        &[$((&raw const $argument).cast_mut().cast::<std::ffi::c_void>()),*]
    };
}
pub(super) use arguments;

impl Kernels {
    /// Loads a fat binary. The GPU's context must be current.
    pub fn load(device: Device, image: &[u8]) -> CudaResult<Self> {
        let module = Module::from_fatbin(image, &[])?;
        let multiprocessors = device.get_attribute(DeviceAttribute::MultiprocessorCount)?.unsigned_abs();
        let resident = |name: &str| -> CudaResult<Resident> {
            let function = module.get_function(name)?;
            let threads = function.get_attribute(FunctionAttribute::MaxThreadsPerBlock)?.unsigned_abs();
            let blocks = function.max_active_blocks_per_multiprocessor(threads.into(), 0)?;
            Ok(Resident { blocks: blocks.max(1) * multiprocessors, threads })
        };
        let [a, b, c, d] = TRACE_KERNELS.map(resident);
        let trace = [a?, b?, c?, d?];
        let [a, b, c, d, e] = Shading::ALL.map(|shading| resident(shading.kernel()));
        let shade = [a?, b?, c?, d?, e?];
        Ok(Self { module, multiprocessors, trace, shade })
    }

    pub fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    /// Launches a kernel with one thread per item.
    ///
    /// # Safety
    /// `arguments` must match the kernel's parameters, and the data behind them must live until the stream has passed the launch.
    pub unsafe fn launch_items(
        &self,
        name: &str,
        items: u32,
        stream: &Stream,
        arguments: &[*mut c_void],
    ) -> CudaResult<()> {
        let blocks = items.div_ceil(ITEM_THREADS);
        // SAFETY: guaranteed by the caller.
        unsafe { self.launch(name, blocks, ITEM_THREADS, stream, arguments) }
    }

    /// Launches the kernel whose warps fetch rays until the queue is empty, for any hits or for the closest ones.
    ///
    /// # Safety
    /// As for [`Self::launch_items`].
    pub unsafe fn launch_trace(
        &self,
        any: bool,
        cutouts: bool,
        stream: &Stream,
        arguments: &[*mut c_void],
    ) -> CudaResult<()> {
        let index = usize::from(any) + 2 * usize::from(cutouts);
        let (name, resident) = (TRACE_KERNELS[index], self.trace[index]);
        // SAFETY: guaranteed by the caller.
        unsafe { self.launch(name, resident.blocks, resident.threads, stream, arguments) }
    }

    /// Shades a queue of at most `length` entries.
    ///
    /// # Safety
    /// As for [`Self::launch_items`].
    pub unsafe fn launch_shade(
        &self,
        shading: Shading,
        length: u32,
        stream: &Stream,
        arguments: &[*mut c_void],
    ) -> CudaResult<()> {
        let Resident { blocks, threads } = self.shade[shading as usize];
        let blocks = blocks.min(length.div_ceil(threads));
        // SAFETY: guaranteed by the caller.
        unsafe { self.launch(shading.kernel(), blocks, threads, stream, arguments) }
    }

    /// Launches a kernel; does nothing for 0 blocks.
    ///
    /// # Safety
    /// As for [`Self::launch_items`].
    pub unsafe fn launch(
        &self,
        name: &str,
        blocks: u32,
        threads: u32,
        stream: &Stream,
        arguments: &[*mut c_void],
    ) -> CudaResult<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { launch(&self.module, name, blocks, threads, stream, arguments) }
    }
}

/// Launches a kernel of a module; does nothing for 0 blocks.
///
/// # Safety
/// As for [`Kernels::launch_items`].
pub unsafe fn launch(
    module: &Module,
    name: &str,
    blocks: u32,
    threads: u32,
    stream: &Stream,
    arguments: &[*mut c_void],
) -> CudaResult<()> {
    if blocks == 0 {
        return Ok(());
    }
    let function = module.get_function(name)?;
    // SAFETY: guaranteed by the caller.
    unsafe { stream.launch(&function, blocks, threads, 0, arguments) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cuda::{gpus, memory::Array},
        records::layout,
    };
    use cust::{
        context::Context,
        stream::{Stream, StreamFlags},
    };

    /// The layout table of the CUDA compiler as GPU `ordinal` reports it: `count` words, and one more.
    fn compiled_layout(ordinal: u32, image: &[u8], count: usize) -> CudaResult<Vec<u32>> {
        let gpu = Device::get_device(ordinal)?;
        let _context = Context::new(gpu)?;
        let kernels = Kernels::load(gpu, image)?;
        let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
        // One word more than expected, so that the test also detects a table that is too long.
        let mut table = vec![u32::MAX; count + 1];
        let mut memory = Array::default();
        memory.reserve(size_of_val(&table[..]))?;
        memory.write(0, bytemuck::cast_slice(&table))?;
        let (out, capacity) = (memory.at::<u32>(0), table.len() as u32);
        // SAFETY: the arguments match the kernel, and the memory lives until the stream was waited for.
        unsafe {
            kernels.launch("throng_layout", 1, 64, &stream, arguments![out, capacity])?;
        }
        stream.synchronize()?;
        memory.read(bytemuck::cast_slice_mut(&mut table))?;
        Ok(table)
    }

    #[test]
    fn the_cuda_compiler_lays_out_the_border_structs_as_rust_does() {
        let gpus = match gpus() {
            Ok(gpus) => gpus,
            Err(reason) => {
                println!("skipped: {reason}");
                return;
            }
        };
        let mut expected = layout::expected(8);
        expected.push(u32::MAX);
        for gpu in gpus {
            for image in [image(), moving_image(), nested_image()] {
                let found = compiled_layout(gpu.ordinal, image, expected.len() - 1).unwrap();
                assert_eq!(found, expected, "cuda:{} ({})", gpu.ordinal, gpu.name);
            }
        }
    }
}

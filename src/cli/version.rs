//! `throng --version`; with `--verbose`, also build information, available devices, and what the system cannot do.

use super::{Exit, console, interrupt};
use std::env::consts::{ARCH, OS};
use throng_base::memory;
use throng_device::{self as device, DeviceChoice, cuda};

const VERSION: &str = concat!("throng ", env!("CARGO_PKG_VERSION"));

pub fn print(verbose: bool) -> anyhow::Result<Exit> {
    let mut lines = vec![VERSION.to_owned()];
    if verbose {
        let checked = if cfg!(debug_assertions) { ", with debug assertions" } else { "" };
        lines.push(format!("built for {ARCH}-{OS}{checked}"));
        lines.push(device::open(&DeviceChoice::Cpu, 0)?.device.describe());
        match cuda::gpus() {
            Ok(gpus) => lines.extend(gpus.iter().map(describe)),
            Err(reason) => lines.push(format!("no cuda: {reason}; {}", reason.advice())),
        }
        lines.extend(interrupt::CANNOT.map(str::to_owned));
    }
    console::print(&lines.join("\n"))?;
    Ok(Exit::Done)
}

fn describe(gpu: &cuda::Gpu) -> String {
    let (major, minor) = gpu.capability;
    let memory = memory::describe(gpu.memory);
    format!("cuda:{} {}, compute capability {major}.{minor}, {memory}", gpu.ordinal, gpu.name)
}

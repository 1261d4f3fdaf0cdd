//! The CUDA part of the build: a static stand-in for the driver's library and, if nvcc is available, the GPU kernels as fat binaries. Without nvcc,
//! the fat binaries are empty, and the program reports that.

use std::{
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// Path of the nvcc that `just cuda-toolkit` installs.
const LOCAL_NVCC: &str = ".cuda/nvidia/cu13/bin/nvcc";

/// Compute capabilities with machine code, as far as nvcc supports them. Newer GPUs compile the PTX of the last one.
const DEFAULT_ARCHITECTURES: [u32; 5] = [75, 80, 86, 89, 90];

/// Whether the CUDA feature is on and the target can have a CUDA driver; becomes `cfg(throng_cuda)`.
pub fn is_wanted() -> bool {
    env::var_os("CARGO_FEATURE_CUDA").is_some() && is_possible()
}

/// Whether GPUs are supported on the target.
pub fn is_possible() -> bool {
    let target = |key| env::var(key).unwrap_or_default();
    target("CARGO_CFG_TARGET_OS") == "linux"
        && ["x86_64", "aarch64"].contains(&target("CARGO_CFG_TARGET_ARCH").as_str())
}

/// Compiles `libcuda.a`. cust links with a library of this name; this build's folder is searched first.
pub fn build_driver_stub(out: &Path) {
    cc::Build::new()
        .file("kernels/driver/libcuda.c")
        .out_dir(out.join("driver"))
        .opt_level(2)
        .debug(false)
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(env::var_os("THRONG_WERROR").is_some())
        .compile("cuda");
}

/// A fat binary, its source and definitions.
type Image = (&'static str, &'static str, &'static [&'static str]);

/// The kernels for pictures without motion blur, for pictures with it, and for scenes with assemblies, from one source; and the builder of TLASes.
const IMAGES: [Image; 4] = [
    ("kernels", RENDERING, &["-DTHRONG_MOTION=0"]),
    ("kernels_moving", RENDERING, &["-DTHRONG_MOTION=1"]),
    ("kernels_nested", RENDERING, &["-DTHRONG_MOTION=1", "-DTHRONG_NESTED=1"]),
    ("kernels_tlas", "kernels/cuda/tlas_cuda.cu", &[]),
];
const RENDERING: &str = "kernels/cuda/kernel_cuda.cu";

/// The compilations of the kernels, running in other processes.
pub struct Kernels(Vec<Compilation>);

struct Compilation {
    nvcc: Child,
    source: &'static str,
    log: PathBuf,
}

impl Kernels {
    /// Starts nvcc, if it is available.
    ///
    /// Exports to the program: the fat binaries of [`IMAGES`] in OUT_DIR, and the environment variable `THRONG_CUDA_BUILT` with the compute
    /// capabilities that have machine code (ascending, separated by commas; empty without nvcc). A `.ptxas.txt` next to each fat binary lists
    /// registers, spills and stack of every kernel.
    pub fn start(out: &Path) -> Self {
        for variable in ["NVCC", "NVCC_CCBIN", "CUDA_HOME", "THRONG_CUDA_ARCH"] {
            println!("cargo::rerun-if-env-changed={variable}");
        }
        let Some(nvcc) = find_nvcc() else {
            println!(
                "cargo::warning=no nvcc found: this build renders on the CPU only. `just cuda-toolkit` installs one \
                 in .cuda; --no-default-features --features cli builds without CUDA"
            );
            Self::none(out);
            return Self(Vec::new());
        };
        if nvcc.is_file() {
            // Cargo resolves other paths in the folder of the crate.
            let nvcc = std::path::absolute(&nvcc).expect("it exists");
            println!("cargo::rerun-if-changed={}", nvcc.display());
        }
        let architectures = architectures(&nvcc);
        let names: Vec<String> = architectures.iter().map(u32::to_string).collect();
        println!("cargo::rustc-env=THRONG_CUDA_BUILT={}", names.join(","));
        let compilations = IMAGES.map(|(name, source, defines)| {
            let [fatbin, log] = files(out, name);
            let mut command = command(&nvcc, &architectures, out);
            command.arg(source).args(defines).arg("-o").arg(&fatbin);
            Compilation::start(command, source, log)
        });
        Self(compilations.into())
    }

    /// Exports that there are no kernels, with empty files.
    pub fn none(out: &Path) {
        println!("cargo::rustc-env=THRONG_CUDA_BUILT=");
        for file in IMAGES.iter().flat_map(|(name, ..)| files(out, name)) {
            write(&file, "");
        }
    }

    /// Waits for nvcc. If a kernel does not compile, the build stops with nvcc's messages.
    pub fn finish(self) {
        self.0.into_iter().for_each(Compilation::finish);
    }
}

impl Compilation {
    fn start(mut command: Command, source: &'static str, log: PathBuf) -> Self {
        let messages = File::create(&log).unwrap_or_else(|e| panic!("{}: {e}", log.display()));
        command.stdin(Stdio::null()).stderr(messages);
        // Cargo would parse nvcc's standard output as build instructions.
        command.stdout(Stdio::null());
        let nvcc = command.spawn();
        let nvcc = nvcc.unwrap_or_else(|e| panic!("cannot run {command:?}: {e}"));
        Self { nvcc, source, log }
    }

    fn finish(mut self) {
        let status = self.nvcc.wait().expect("nvcc is a child of this process");
        let messages = fs::read(&self.log).unwrap_or_default();
        let messages = String::from_utf8_lossy(&messages);
        assert!(status.success(), "nvcc cannot compile {} ({status}):\n{messages}", self.source);
        for line in messages.lines().filter(|line| line.contains("warning")) {
            println!("cargo::warning={line}");
        }
    }
}

/// The fat binary of an image, and the log of its compilation.
fn files(out: &Path, name: &str) -> [PathBuf; 2] {
    [".fatbin", ".ptxas.txt"].map(|end| out.join(format!("{name}{end}")))
}

fn command(nvcc: &Path, architectures: &[u32], out: &Path) -> Command {
    let mut command = Command::new(nvcc);
    command
        .args(["-fatbin", "-I", "kernels", "-I"])
        .arg(out)
        .args(["-std=c++17", "-O3", "-lineinfo", "--threads", "0"])
        // As on the CPU: the watertight triangle test relies on x·y - z·w being computed as written.
        .arg("-fmad=false")
        .args(["-DTHRONG_VARIANT=cuda", "-DTHRONG_WIDTH=8"])
        .args(["-Xptxas", "-v"]);
    if env::var_os("THRONG_WERROR").is_some() {
        command.args(["-Werror", "all-warnings"]);
    }
    for arch in architectures {
        command.arg(format!("-gencode=arch=compute_{arch},code=sm_{arch}"));
    }
    if let Some(newest) = architectures.last() {
        command.arg(format!("-gencode=arch=compute_{newest},code=compute_{newest}"));
    }
    command
}

/// Finds nvcc. `$NVCC` is used unchecked; otherwise the first existing candidate is used.
fn find_nvcc() -> Option<PathBuf> {
    if let Some(nvcc) = env::var_os("NVCC").filter(|nvcc| !nvcc.is_empty()) {
        return Some(nvcc.into());
    }
    let home = env::var_os("CUDA_HOME").filter(|home| !home.is_empty());
    let path = env::var_os("PATH").unwrap_or_default();
    let in_home = home.map(|home| Path::new(&home).join("bin/nvcc"));
    let in_path = env::split_paths(&path).map(|folder| folder.join("nvcc"));
    let usual = ["/usr/local/cuda/bin/nvcc", LOCAL_NVCC].map(PathBuf::from);
    in_home.into_iter().chain(in_path).chain(usual).find(|nvcc| nvcc.is_file())
}

/// The capabilities in `THRONG_CUDA_ARCH`, or the default ones that nvcc supports, ascending.
fn architectures(nvcc: &Path) -> Vec<u32> {
    let mut architectures = match env::var("THRONG_CUDA_ARCH") {
        Ok(list) if !list.is_empty() => parse_architectures(&list),
        _ => {
            let known = known_architectures(nvcc);
            let mut usual = DEFAULT_ARCHITECTURES.to_vec();
            usual.retain(|arch| known.contains(arch));
            if usual.is_empty() {
                usual.extend(known.last());
            }
            usual
        }
    };
    architectures.sort_unstable();
    architectures.dedup();
    assert!(!architectures.is_empty(), "{} knows no architectures", nvcc.display());
    architectures
}

fn parse_architectures(list: &str) -> Vec<u32> {
    let parse = |name: &str| {
        name.trim()
            .parse()
            .unwrap_or_else(|_| panic!("THRONG_CUDA_ARCH: `{name}` is no compute capability; write a list like 75,90"))
    };
    list.split(',').map(parse).collect()
}

/// The capabilities that nvcc supports. `nvcc --list-gpu-arch` prints lines like `compute_75`.
fn known_architectures(nvcc: &Path) -> Vec<u32> {
    let output = Command::new(nvcc).arg("--list-gpu-arch").output();
    let output = output.unwrap_or_else(|e| panic!("cannot run {}: {e}", nvcc.display()));
    assert!(
        output.status.success(),
        "{} --list-gpu-arch failed: {}",
        nvcc.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout);
    let number = |line: &str| line.trim().strip_prefix("compute_")?.parse().ok();
    text.lines().filter_map(number).collect()
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

//! Compiles spheres.cpp for a device.

use libloading::Library;
use std::{env, ffi::OsStr, fs, path::PathBuf, process::Command};

/// The compiler is `$CXX` or g++.
pub fn for_cpu() -> Result<Library, String> {
    let compiler = env::var_os("CXX").unwrap_or_else(|| "g++".into());
    let flags = ["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-pthread"];
    compiled(&compiler, &flags)
}

/// nvcc is searched where build/cuda.rs does.
pub fn for_gpu() -> Result<Library, String> {
    let home = env::var_os("CUDA_HOME").map(|home| PathBuf::from(home).join("bin/nvcc"));
    let path = env::var_os("PATH").unwrap_or_default();
    let in_path = env::split_paths(&path).map(|folder| folder.join("nvcc"));
    let usual = ["/usr/local/cuda/bin/nvcc", ".cuda/nvidia/cu13/bin/nvcc"].map(PathBuf::from);
    let found = home.into_iter().chain(in_path).chain(usual).find(|nvcc| nvcc.is_file());
    let nvcc = env::var_os("NVCC").map(PathBuf::from).or(found).ok_or("no nvcc found")?;
    // The toolkit from PyPI has its libraries in a folder that nvcc does not search.
    let libraries = format!("-L{}", nvcc.with_file_name("../lib").display());
    compiled(nvcc.as_os_str(), &["-x", "cu", "-O3", "-arch=native", "-Xcompiler", "-fPIC", &libraries])
}

/// Compiles spheres.cpp as a shared library.
fn compiled(compiler: &OsStr, flags: &[&str]) -> Result<Library, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let [source, library] = ["spheres.cpp", "spheres.so"].map(|name| folder.path().join(name));
    fs::write(&source, include_str!("spheres.cpp")).map_err(|error| error.to_string())?;
    let mut command = Command::new(compiler);
    command.args(flags).args(["-std=c++17", "-shared", "-o"]).args([&library, &source]);
    let output = command.output().map_err(|error| format!("{}: {error}", compiler.display()))?;
    if !output.status.success() {
        return Err(format!("{command:?}:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    // SAFETY: loading spheres.cpp runs the constructors of the C++ and CUDA libraries only.
    unsafe { Library::new(&library) }.map_err(|error| error.to_string())
}

//! The build script of the crates that have the kernels: `kernels` compiles them for the CPU, once per instruction set, `kernels_cuda` for GPUs
//! (`build/cuda.rs`), and `kernels_probe` the entry points for tests. `device` declares what they export. Each writes the C++ counterpart of
//! `crates/abi`.

use std::{env, fmt::Write as _, fs, path::Path};

use throng_abi as abi;

#[path = "build/cuda.rs"]
mod cuda;

/// One compilation of the kernels.
struct Variant<'a> {
    name: &'a str,
    /// Children per node, equal to the SIMD width in floats.
    width: u32,
    flags: &'static [&'static str],
}

const BASELINE: Variant<'static> = Variant { name: "baseline", width: 4, flags: &[] };
/// The GPU's trees and traversal compiled for the CPU, for tests on machines without a GPU (feature `probe`).
const COMPRESSED: Variant<'static> = Variant { name: "compressed", width: 8, flags: &["-DTHRONG_COMPRESSED"] };
const X86_VARIANTS: [Variant<'static>; 2] = [
    Variant { name: "avx2", width: 8, flags: &["-mavx2", "-mfma", "-mbmi", "-mbmi2", "-mlzcnt", "-mpopcnt"] },
    Variant {
        name: "avx512",
        width: 16,
        flags: &[
            "-mavx512f",
            "-mavx512vl",
            "-mavx512dq",
            "-mavx512bw",
            "-mavx2",
            "-mfma",
            "-mbmi",
            "-mbmi2",
            "-mlzcnt",
            "-mpopcnt",
            "-mprefer-vector-width=256",
        ],
    },
];

/// Flags of all variants, for GCC and clang.
const COMMON_FLAGS: [&str; 6] = [
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-math-errno",
    "-fno-trapping-math",
    // The watertight triangle test relies on x·y - z·w being computed as written.
    "-ffp-contract=off",
    // A `switch` over integrators must list all of them.
    "-Werror=switch",
];

fn main() {
    // Paths are those of the repository, and cargo starts in the crate's folder.
    env::set_current_dir("../..").expect("the crate's folder is in the repository");
    println!("cargo::rerun-if-changed=../../kernels");
    println!("cargo::rerun-if-env-changed=THRONG_WERROR");
    println!("cargo::rerun-if-env-changed=THRONG_SANITIZE");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let out = Path::new(&out);
    write_if_changed(&out.join("abi.h"), &header());
    write_if_changed(&out.join("abi_layout.inc"), &layout_table());
    // Clippy's builds are their own, and link nothing.
    let is_linked = !env::var("RUSTC_WORKSPACE_WRAPPER").is_ok_and(|wrapper| wrapper.contains("clippy"));
    match env::var("CARGO_PKG_NAME").as_deref() {
        Ok("throng-kernels" | "throng-kernels-probe") if !is_linked => {}
        Ok("throng-kernels-cuda") if !is_linked || !cuda::is_possible() => cuda::Kernels::none(out),
        Ok("throng-kernels") => compile_all(&variants(), &[], out),
        Ok("throng-kernels-probe") => compile_all(&[COMPRESSED], &probes(), out),
        Ok("throng-kernels-cuda") => cuda::Kernels::start(out).finish(),
        _ => bind(out),
    }
}

/// Declares the entry points for the crate `device`, and builds the stand-in for the driver's library, which is linked before cust.
fn bind(out: &Path) {
    println!("cargo::rustc-check-cfg=cfg(throng_cuda)");
    if cuda::is_wanted() {
        println!("cargo::rustc-cfg=throng_cuda");
        cuda::build_driver_stub(out);
    }
    if is_windows_with("gnu") {
        link_cpp_library_statically(out);
    }
    let mut variants = variants();
    if env::var_os("CARGO_FEATURE_PROBE").is_some() {
        variants.insert(0, COMPRESSED);
    }
    let entries = kernel_names(&fs::read_to_string("kernels/kernels.def").expect("kernels/kernels.def is readable"));
    write_if_changed(&out.join("kernels.rs"), &rust_bindings(&variants, &entries));
}

/// Whether the target is Windows with the C library of MinGW ("gnu") or of Microsoft ("msvc").
fn is_windows_with(library: &str) -> bool {
    let is = |name: &str, value: &str| env::var(name).as_deref() == Ok(value);
    is("CARGO_CFG_TARGET_OS", "windows") && is("CARGO_CFG_TARGET_ENV", library)
}

/// Whether the environment names the C++ compiler, in one of the forms that `cc` reads.
fn is_compiler_chosen() -> bool {
    let target = env::var("TARGET").unwrap_or_default();
    let names =
        [format!("CXX_{target}"), format!("CXX_{}", target.replace('-', "_")), "TARGET_CXX".into(), "CXX".into()];
    names.iter().any(|name| env::var_os(name).is_some())
}

/// Makes the program for Windows independent of GCC's `libstdc++-6.dll`, which `meshopt` links and few machines have. The linker takes the first
/// library that it finds, so a folder with nothing but the static one is searched first.
fn link_cpp_library_statically(out: &Path) {
    let compiler = cc::Build::new().cpp(true).get_compiler();
    let name = "libstdc++.a";
    let found = compiler.to_command().arg(format!("-print-file-name={name}")).output();
    let found = found.unwrap_or_else(|e| panic!("{}: {e}", compiler.path().display())).stdout;
    let library = Path::new(std::str::from_utf8(&found).expect("the path of a library is UTF-8").trim());
    let folder = out.join("static");
    fs::create_dir_all(&folder).expect("OUT_DIR is writable");
    // A compiler without this library has another one, and prints the name alone.
    if library.is_absolute() {
        fs::copy(library, folder.join(name)).unwrap_or_else(|e| panic!("{}: {e}", library.display()));
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
}

/// The variants for the target's CPUs, the plainest first.
fn variants() -> Vec<Variant<'static>> {
    let mut variants = vec![BASELINE];
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64") {
        variants.extend(X86_VARIANTS);
    }
    variants
}

/// Compiles variants of the kernels, and probes (file and name), in parallel, because compilers are single-threaded and kernels take long.
fn compile_all(variants: &[Variant], probes: &[(String, String)], out: &Path) {
    std::thread::scope(|scope| {
        for variant in variants {
            scope.spawn(move || compile("kernels/cpu/kernel_cpu.cpp", variant, out));
        }
        for (file, name) in probes {
            let probe = Variant { name, ..BASELINE };
            scope.spawn(move || compile(file, &probe, out));
        }
    });
}

/// The files of `kernels/probe` and the names of their compilations: entry points for tests, compiled for the baseline.
fn probes() -> Vec<(String, String)> {
    let files = fs::read_dir("kernels/probe").expect("kernels/probe is readable");
    let paths = files.map(|file| file.expect("kernels/probe is readable").path());
    let probe = |path: std::path::PathBuf| {
        let name = path.file_name()?.to_str()?;
        let stem = name.strip_suffix(".cpp")?;
        Some((format!("kernels/probe/{name}"), format!("probe_{stem}")))
    };
    let mut probes: Vec<_> = paths.filter_map(probe).collect();
    probes.sort();
    probes
}

fn compile(file: &str, variant: &Variant, out: &Path) {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .cpp_link_stdlib(None)
        .std("c++17")
        .file(file)
        .include(out)
        .include("kernels")
        .out_dir(out.join(variant.name))
        .opt_level(3)
        .debug(false)
        .force_frame_pointer(false)
        .define("THRONG_VARIANT", variant.name)
        .define("THRONG_WIDTH", variant.width.to_string().as_str())
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(env::var("THRONG_WERROR").is_ok());
    let is_msvc = is_windows_with("msvc");
    if is_msvc && !is_compiler_chosen() {
        // Microsoft's own compiler lacks the vector types of GCC and clang.
        build.compiler("clang-cl");
    }
    for flag in COMMON_FLAGS.iter().chain(variant.flags) {
        // clang-cl passes on what follows the colon.
        if is_msvc {
            build.flag(format!("/clang:{flag}"))
        } else {
            build.flag(flag)
        };
    }
    if !is_msvc {
        // GCC 12 claims that its own intrinsics read an uninitialised register.
        build.flag_if_supported("-Wno-maybe-uninitialized");
    }
    if is_windows_with("gnu") {
        // On Windows, GCC aligns wide vectors on the stack to 16 bytes only, and still moves them as aligned ones (its bug 54412).
        build.flag_if_supported("-Wa,-muse-unaligned-vector-move");
    }
    // Names as for `-fsanitize`. The program must be linked with the sanitizers' runtime (`just sanitize`, `just tsan`).
    if let Ok(sanitizers) = env::var("THRONG_SANITIZE") {
        build.flag(format!("-fsanitize={sanitizers}")).flag("-fno-sanitize-recover=all").opt_level(1).debug(true);
    }
    build.compile(&format!("throng_kernels_{}", variant.name));
}

/// The names in the lines `KERNEL(name)` and `CPU_KERNEL(name)`.
fn kernel_names(definitions: &str) -> Vec<String> {
    let names = definitions
        .lines()
        .map(|line| line.strip_prefix("CPU_").unwrap_or(line))
        .filter_map(|line| line.strip_prefix("KERNEL(")?.strip_suffix(')'));
    names.map(str::to_owned).collect()
}

/// C++ type and array suffix of a Rust type: `[[f32; 8]; 3]` becomes (`float`, `[3][8]`).
fn cpp_type(rust: &str) -> (String, String) {
    let rust = rust.trim();
    if let Some(inner) = rust.strip_prefix('[').and_then(|r| r.strip_suffix(']')) {
        let (element, count) = inner.rsplit_once(';').expect("an array type has a length");
        let (base, suffix) = cpp_type(element);
        return (base, format!("[{}]{suffix}", count.trim()));
    }
    if let Some(target) = rust.strip_prefix("*const ") {
        return (format!("const {}*", cpp_type(target).0), String::new());
    }
    if let Some(target) = rust.strip_prefix("*mut ") {
        return (format!("{}*", cpp_type(target).0), String::new());
    }
    let base = match rust {
        "f32" => "float",
        "u8" => "uint8_t",
        "u16" => "uint16_t",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        other => other,
    };
    (base.to_owned(), String::new())
}

/// Contents of `abi.h`: constants and structs in the variant's namespace, with assertions of every size and offset.
fn header() -> String {
    let mut h = String::from(
        "// Generated from crates/abi by build.rs.\n#pragma once\n#include \"util/compat.h\"\n#include <stddef.h>\n\n",
    );
    h.push_str("namespace THRONG_NAMESPACE {\n\n");
    for (name, value) in abi::CONSTANTS {
        writeln!(h, "constexpr uint32_t {name} = {value}u;").unwrap();
    }
    h.push_str("\nstruct alignas(64) WideNode {\n    float planes[6][THRONG_WIDTH];\n    uint32_t children[THRONG_WIDTH];\n};\n\n");
    for layout in abi::layouts() {
        writeln!(h, "struct alignas({}) {} {{", layout.align, layout.name).unwrap();
        for field in layout.fields {
            let (base, suffix) = cpp_type(field.rust_type);
            writeln!(h, "    {base} {}{suffix};", field.name).unwrap();
        }
        writeln!(h, "}};\nstatic_assert(sizeof({}) == {}, \"size\");", layout.name, layout.size).unwrap();
        for field in layout.fields {
            writeln!(h, "static_assert(offsetof({}, {}) == {}, \"offset\");", layout.name, field.name, field.offset)
                .unwrap();
        }
        h.push('\n');
    }
    h.push_str("}\n");
    h
}

/// Sizes, alignments and offsets as the C++ compiler computes them, for the run-time test.
fn layout_table() -> String {
    let mut t = String::new();
    for layout in abi::layouts() {
        write!(t, "sizeof({0}), alignof({0}), ", layout.name).unwrap();
        for field in layout.fields {
            write!(t, "offsetof({}, {}), ", layout.name, field.name).unwrap();
        }
        t.push('\n');
    }
    t.push_str("sizeof(WideNode), alignof(WideNode), offsetof(WideNode, planes), offsetof(WideNode, children)\n");
    t
}

/// Contents of `kernels.rs`: the struct of entry points, and one table per compiled variant.
fn rust_bindings(variants: &[Variant], entries: &[String]) -> String {
    let mut r = String::from(
        "/// Entry points of one kernel variant.\npub struct KernelTable {\n    pub name: &'static str,\n    pub width: usize,\n",
    );
    for entry in entries {
        writeln!(r, "    pub {entry}: Kernel,").unwrap();
    }
    r.push_str("    #[cfg(test)]\n    pub layout: unsafe extern \"C\" fn(*mut u32) -> *const u32,\n}\n\nunsafe extern \"C\" {\n");
    for variant in variants {
        for entry in entries {
            writeln!(
                r,
                "    fn throng_{}_{entry}(params: *const Params, begin: u32, end: u32, thread: *mut Thread);",
                variant.name
            )
            .unwrap();
        }
        writeln!(r, "    #[cfg(test)]\n    fn throng_{}_layout(count: *mut u32) -> *const u32;", variant.name).unwrap();
    }
    r.push_str("}\n\n/// All variants in this binary, the plainest first.\npub const VARIANTS: &[KernelTable] = &[\n");
    for variant in variants {
        writeln!(r, "    KernelTable {{\n        name: \"{}\",\n        width: {},", variant.name, variant.width)
            .unwrap();
        for entry in entries {
            writeln!(r, "        {entry}: throng_{}_{entry},", variant.name).unwrap();
        }
        writeln!(r, "        #[cfg(test)]\n        layout: throng_{}_layout,\n    }},", variant.name).unwrap();
    }
    r.push_str("];\n");
    r
}

/// Writes a file unless its contents are unchanged, so that `cc` and rustc do not rerun needlessly.
fn write_if_changed(path: &Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
}

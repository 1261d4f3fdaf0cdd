//! `--device`: names, and the behaviour without a GPU.

use crate::common::{Place, Run};

/// Whether this machine has a usable GPU.
pub fn has_gpu(place: &Place) -> bool {
    let run = place.run(&["info", "scene.ron", "--device", "cuda"]);
    run.code == 0
}

/// Whether `auto` reports a fallback: CUDA is compiled in, but no GPU is usable.
fn falls_back(place: &Place) -> bool {
    cfg!(all(feature = "cuda", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))
        && !has_gpu(place)
}

#[test]
fn nonsense_is_refused_and_the_names_are_told() {
    let place = Place::new(1);
    for (device, text) in [
        ("nonsense", "`nonsense` is not a device; write auto, cpu, cuda or cuda:0,1"),
        ("cuda:x", "`x` is not the number of a GPU"),
        ("cuda:0,0", "GPU 0 is there twice"),
    ] {
        for subcommand in ["render", "info", "bench"] {
            place.fails(&[subcommand, "scene.ron", "--device", device], 2, text);
        }
    }
    for subcommand in ["info", "bench"] {
        let text = "2 devices are named, but only one is allowed";
        place.fails(&[subcommand, "scene.ron", "--device", "cpu,cuda"], 2, text);
    }
    assert_eq!(place.names("."), ["scene.ron"], "nothing is written");
}

#[test]
fn cuda_without_a_gpu_fails_and_says_what_to_do() {
    let place = Place::new(1);
    if has_gpu(&place) {
        eprintln!("skipped: there is a GPU");
        return;
    }
    for device in ["cuda", "cuda:0", "cuda:0,1"] {
        for subcommand in ["render", "info"] {
            let args = [subcommand, "scene.ron", "--device", device];
            let run = place.fails(&args, 1, "cannot open the device: ");
            assert_eq!(run.stdout, "");
            assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        }
    }
    assert_eq!(place.names("."), ["scene.ron"], "nothing is written");
}

#[cfg(target_os = "linux")]
#[test]
fn a_missing_driver_is_named() {
    let place = Place::new(1);
    let libraries = std::fs::read_to_string("/etc/ld.so.cache").unwrap_or_default();
    if libraries.contains("libcuda.so.1") {
        eprintln!("skipped: there is a driver");
        return;
    }
    let run = place.run(&["info", "scene.ron", "--device", "cuda"]);
    let known = ["no NVIDIA driver (libcuda.so.1", "built without "];
    assert!(known.iter().any(|text| run.stderr.contains(text)), "{}", run.stderr);
    run.assert_one_error("use --device cpu");
}

#[test]
fn auto_falls_back_and_tells_those_who_ask() {
    let place = Place::new(1);
    if has_gpu(&place) {
        eprintln!("skipped: there is a GPU");
        return;
    }
    for subcommand in ["info", "bench"] {
        let run = place.ok(&[subcommand, "scene.ron", "--json"]);
        assert!(run.json()["device"].as_str().unwrap().starts_with("cpu"));
        assert_eq!(run.stderr, "");
    }
    let render = ["render", "scene.ron"];
    let told = |more: &[&str]| {
        let stderr = place.ok(&[&render[..], more].concat()).stderr;
        let told = |line: &&str| line.starts_with("throng: ") && line.ends_with(": running on the CPU");
        stderr.lines().filter(told).count()
    };
    assert_eq!((told(&[]), told(&["-v"])), (0, usize::from(falls_back(&place))));
    assert_eq!(place.ok(&["render", "scene.ron", "--progress", "json"]).stderr, "");
    assert_eq!(place.ok(&["render", "scene.ron", "--quiet"]).stderr, "");
}

#[test]
fn the_version_tells_of_devices_if_asked() {
    let place = Place::new(1);
    let version = concat!("throng ", env!("CARGO_PKG_VERSION"), "\n");
    for args in [["--version"], ["-V"]] {
        assert_eq!(place.ok(&args).stdout, version);
    }
    let long = place.ok(&["--version", "--verbose"]).stdout;
    assert_eq!(place.ok(&["-V", "-v"]).stdout, long);
    assert!(long.starts_with(version) && long.contains("\ncpu ("), "{long}");
    let gpus = long.lines().any(|line| line.starts_with("cuda:0 "));
    assert_eq!((gpus, long.contains("\nno cuda: ")), (has_gpu(&place), !has_gpu(&place)), "{long}");
    place.fails(&["--verbose"], 2, "--version");
    place.fails(&["--version", "info", "scene.ron"], 2, "cannot be used");
}

#[test]
fn the_cpu_says_nothing_about_gpus() {
    let place = Place::new(1);
    let run = place.ok(&["info", "scene.ron", "--device", "cpu"]);
    assert_eq!(run.stderr, "");
}

/// The driver is loaded at run time, so that the program also starts on machines without one.
#[cfg(target_os = "linux")]
#[test]
fn the_program_is_not_linked_with_the_driver() {
    let place = Place::new(1);
    let mut command = place.command(&["--version"]);
    // With this variable, the dynamic linker lists the libraries that it would load.
    command.env("LD_TRACE_LOADED_OBJECTS", "1");
    let libraries = Run::of(&mut command).stdout;
    assert!(!libraries.contains("libcuda"), "{libraries}");
}

# Recipes for `just`; every one is a plain command that works without it.

# Build the optimised program
build:
    cargo build --release --features usd --ignore-rust-version

# Build the wheel for pip, for Linux with glibc 2.28 or newer, or for another target (docs/systems.md)
wheel *target:
    scripts/wheel {{target}}

# Install the wheel in dist into an empty virtual environment and hold its first picture against that of a cargo build
wheel-test *wheel:
    cargo build --release --features usd --ignore-rust-version
    scripts/check-wheel {{wheel}}

# Make the archive of a release, and the wheel
dist *target:
    scripts/dist {{target}}

# Install nvcc in .cuda, for builds with kernels for NVIDIA GPUs
cuda-toolkit:
    .ci/cuda-toolkit

# Run all tests
test:
    cargo test --workspace --features usd --ignore-rust-version

# Build for Windows with MinGW, and run the tests under Wine; arguments go to the tests
wine-test *arguments:
    scripts/wine-test {{arguments}}

# Render a scene, for example: just render scenes/million.ron --frames 1
render scene="scenes/dragon_of_dragons.ron" *flags:
    cargo run --release -- render {{scene}} {{flags}}

# Make the video and the gallery of the README, with ffmpeg
readme-pictures:
    cargo build --release
    scripts/readme-pictures

# Make the picture of `throng view` in the README, with chromium
view-picture:
    cargo test --test browser -- --ignored the_picture_of_the_readme

# Format the code
fmt:
    cargo fmt --all

# What the gate checks before the tests
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --features usd --ignore-rust-version -- -D warnings

# Check that everything compiles for Windows and macOS
lint-targets:
    scripts/check-targets

# Measure
bench:
    cargo bench

# Build, check and time everything on a machine with a GPU, for example: just gpu-check compare bench
gpu-check *sections:
    scripts/gpu-check {{sections}}

# Try to break every promise of the program for an hour, for example: just torture --seconds 600 --only kills,disks
torture *flags:
    cargo build --release --features usd --ignore-rust-version
    cargo run --release -p torture -- {{flags}}

# The same in two minutes, with the build of the tests
torture-short:
    cargo test --workspace --features usd --ignore-rust-version --no-run
    cargo build --workspace --bin torture --features usd --ignore-rust-version
    target/debug/torture --short

# Simulate a thousand workers and a hundred thousand frames in one folder, for example: just farm-at-scale --no-locks
farm-at-scale *flags:
    cargo run --release -p farm_at_scale -- {{flags}}

# The next three need a nightly compiler: rustup toolchain install nightly -c miri,rust-src

# Interpret tests of memory and of small trees with Miri, which sees every undefined behaviour on their way. Those that build trees of
# many triangles take hours; `just sanitize` runs them all
miri *tests="buffer key_shapes build::tests::few build::curve::tests::runs build::curve::tests::what overlap::tests::spheres stored::forged_tests::a_tree_of_nothing":
    #!/usr/bin/env bash
    set -euo pipefail
    export MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks -Zmiri-permissive-provenance -Zmiri-tree-borrows" RAYON_NUM_THREADS=2
    # A filter that matches nothing would pass.
    listed=$(cargo test -p throng-accel --lib -- --list)
    for filter in {{tests}}; do
        grep -q "^$filter" <<<"$listed" || { echo "just miri: no test begins with $filter" >&2; exit 1; }
    done
    cargo +nightly miri test -p throng-accel --target-dir target/miri --lib -- {{tests}}

# Run tests with sanitizers of addresses (Rust and kernels) and of undefined behaviour (kernels). GCC before 14 aligns too little what has
# to be found after its function has returned (its bug 110027)
sanitize *flags="--lib --test tracing --test golden":
    THRONG_SANITIZE=address,undefined RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0 \
        cargo +nightly test --target host-tuple --target-dir target/sanitize {{flags}}

# Run tests of what works side by side with the sanitizer of threads
tsan *packages="-p throng-render -p throng-device -p throng-output":
    THRONG_SANITIZE=thread RUSTFLAGS=-Zsanitizer=thread \
        cargo +nightly test -Zbuild-std --target host-tuple --target-dir target/tsan --lib {{packages}}

# Whether the fuzz target still compiles, with a stable compiler
fuzz-check:
    cargo check --manifest-path fuzz/Cargo.toml

# Write docs/flags.md again, from the flags, and docs/scene, from the comments of the scene file format
docs:
    cargo test --lib --test reference -- --ignored the_reference_is_written_again

# Render the pictures of docs/scene, for example: just scene-pictures lights_disc
scene-pictures *names:
    cargo build --release
    scripts/scene-pictures {{names}}

# Make the files in assets/ again; they come out byte for byte the same
assets:
    cargo run --release -p make_animals
    cargo run --release -p make_textures
    cargo run --release -p make_link
    cargo run --release -p make_market

# All that has to pass before a change is merged
ci:
    .ci/run

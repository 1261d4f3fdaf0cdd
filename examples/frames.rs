//! Renders the frames of an animated model, with an observer that is called for each file.
//!
//!     cargo run --release --example frames

use std::{
    error::Error,
    sync::atomic::{AtomicBool, Ordering},
};
use throng::{
    Renderer,
    report::{FrameObserver, FrameReport},
    settings::{Destination, FrameOptions},
};

/// Prints a line per frame, and ends the run after enough rays.
struct Watcher<'a> {
    rays: u64,
    enough: &'a AtomicBool,
}

impl FrameObserver for Watcher<'_> {
    fn frame_done(&mut self, report: &FrameReport) {
        self.rays += report.rays.total();
        println!("{}: {:.0} ms, {} rays so far", report.path.display(), report.trace_ms, self.rays);
        self.enough.store(self.rays > 1_000_000_000, Ordering::Relaxed);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let frames = FrameOptions {
        output: Some(Destination::parse(folder.path().join("dragon_##.png"))?),
        // Every eighth frame.
        frames: Some("1-40:8".parse()?),
        ..FrameOptions::default()
    };
    let mut renderer = Renderer::open("assets/flapping_dragon.glb")?
        .size(160, 90)
        .samples(2)
        .with(|options| options.load.model.animation.clips = vec!["Fly".into()]);
    let enough = AtomicBool::new(false);
    let summary = renderer.write_with(&frames, &mut Watcher { rays: 0, enough: &enough }, &enough)?;
    println!("{} of {} frames in {:.1?}", summary.frames, renderer.scene()?.settings.frames, summary.elapsed);
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn Error>> {
    main()
}

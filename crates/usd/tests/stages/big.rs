//! Large stages.

use crate::numbers::scenes;
use std::{path::Path, process::Command, time::Instant};
use throng_usd::{Stage, StageOptions};

/// ALab without its geometry: thousands of layers.
#[test]
#[ignore = "takes half a minute without optimisation: openusd looks at all layers for each new one"]
fn alab_composes_as_with_openusd() {
    let Some(scenes) = scenes() else { return };
    let folder = tempfile::tempdir().unwrap();
    let archive = scenes.join("ALab-composition-only.tar.xz");
    let unpacked = Command::new("tar").arg("xf").arg(archive).arg("-C").arg(folder.path()).status();
    if !unpacked.is_ok_and(|status| status.success()) {
        println!("skipped: tar cannot unpack xz here");
        return;
    }
    let options = StageOptions { allow: vec![folder.path().into()], ..StageOptions::default() };
    let start = Instant::now();
    let stage = throng_usd::read(&folder.path().join("ALab/ALab/entry.usda"), &options).unwrap();
    println!("ALab: {:?}", start.elapsed());
    // OpenUSD's number of layers, 2,937, includes its empty session layer.
    let Stage { layers, census, .. } = stage;
    assert_eq!((layers.len(), census.native_instances, census.prototypes), (2936, 1254, 383));
}

/// The stages of `make_big_usd.py`, in the folder of the variable THRONG_BIG_USD. `cargo test -- --ignored --nocapture` prints the times.
#[test]
#[ignore = "needs files that make_big_usd.py writes"]
fn a_million_copies_and_a_hundred_thousand_instances_are_read() {
    let folder = std::env::var_os("THRONG_BIG_USD").expect("THRONG_BIG_USD names the folder");
    let read = |name: &str| {
        let start = Instant::now();
        let stage = throng_usd::read(&Path::new(&folder).join(name), &StageOptions::default()).unwrap();
        println!("{name}: {:?}", start.elapsed());
        stage
    };
    assert_eq!(read("pi_million.usdc").census.point_instances, 1_000_000);
    let stage = read("native_100k.usdc");
    assert_eq!((stage.census.native_instances, stage.groups.len(), stage.shapes.len()), (100_000, 2, 1));
}

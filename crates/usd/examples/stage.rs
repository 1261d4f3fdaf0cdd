//! Reads a stage and prints what it has, with the time and the peak of memory: `stage FILE [ALLOWED FOLDER]..`.

use std::{path::PathBuf, time::Instant};
use throng_usd::{Content, StageOptions};

fn main() {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(file) = arguments.next() else {
        println!("stage FILE [ALLOWED FOLDER]..");
        return;
    };
    let options = StageOptions { allow: arguments.collect(), ..StageOptions::default() };
    let start = Instant::now();
    let stage = match throng_usd::read(&file, &options) {
        Ok(stage) => stage,
        Err(error) => {
            println!("{error}");
            std::process::exit(1);
        }
    };
    println!("{:.3} s, {}", start.elapsed().as_secs_f64(), peak().trim());
    println!("{} layers, {:?}", stage.layers.len(), stage.census);
    println!("{} shapes, {} materials, {} pictures", stage.shapes.len(), stage.materials.len(), stage.pictures.len());
    println!("{} lights, {} cameras, {} skeletons", stage.lights.len(), stage.cameras.len(), stage.skeletons.len());
    for (index, group) in stage.groups.iter().enumerate().take(12) {
        println!("group {index} {}: {} items", group.name, group.items.len());
        for item in group.items.iter().take(4) {
            let content = match &item.content {
                Content::Shape { shape, materials, .. } => format!("shape {shape}, materials {materials:?}"),
                Content::Group(group) => format!("group {group}"),
                Content::Copies(copies) => format!("{} copies of {:?}", copies.of.len(), copies.prototypes),
            };
            println!("  {}: {content} at {:?}", item.name, item.group_from_item.first().translation);
        }
    }
    stage.warnings.iter().for_each(|warning| println!("warning: {warning}"));
}

fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("peak unknown").to_owned()
}

//! Tests of materials, with stages of a few lines.

mod bindings;
mod networks;
mod other_shaders;
mod own;
mod pictures;

use super::{Bound, Materials};
use crate::{
    Input, Material, Read, Source, Surface,
    reader::{pictures::Pictures, test_stage::TestStage},
};

/// What a prim shows, after a walk from the root to it.
fn shown(stage: &TestStage, materials: &mut Materials, path: &str) -> u32 {
    let line = stage.line(path);
    let bound = line.iter().fold(Bound::default(), |bound, prim| materials.bind(prim, &bound));
    line.last().map_or(crate::NONE, |prim| materials.bound(prim, &bound))
}

/// The material that a prim shows.
fn material(stage: &TestStage, path: &str) -> Option<Material> {
    let mut materials = Materials::new(&stage.values, &Pictures::default());
    let index = shown(stage, &mut materials, path);
    materials.finish().into_iter().nth(index as usize)
}

/// The surface of `/M`, a material with the shaders of the text.
fn surface(stage: &TestStage) -> Surface {
    material(stage, "/Mesh").expect("a material").surface
}

/// A stage with a material of this content, which is bound to `/Mesh`.
fn bound_stage(content: &str) -> TestStage {
    TestStage::with_files(&bound_text(content), FILES)
}

fn bound_text(content: &str) -> String {
    format!("def Mesh \"Mesh\" {{ rel material:binding = </M> }}\ndef Material \"M\" {{\n{content}\n}}\n")
}

/// Pictures beside the stage. Only their names matter.
const FILES: &[(&str, &[u8])] = &[("stage/a.png", b"a"), ("stage/b.png", b"b"), ("stage/c.png", b"c")];

/// How a colour reads its picture.
fn read<T>(input: &Input<T>) -> &Read {
    match &input.source {
        Some(Source::Picture(read)) => read,
        other => panic!("no picture: {other:?}"),
    }
}

/// How the normal reads its picture.
fn normal_of(surface: &Surface) -> &Read {
    match &surface.normal {
        Some(Source::Picture(read)) => read,
        other => panic!("no picture: {other:?}"),
    }
}

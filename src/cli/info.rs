//! `throng info`: what is in a scene.

use super::{
    Exit,
    args::{DeviceArgs, SceneArgs},
    console,
};
use crate::render::report::scene_info;
use std::sync::Arc;

const JSON_HELP: &str = "\
With --json, standard output has one document with the keys
  name, device
  frames, fps, seconds, size, samples, integrator
  camera              still, orbit or spline, and its number of keys
  environment, lights
  meshes              per mesh: name, shape, primitives, vertices, instances, tree_bytes, tree_depth, sah_cost
  instances, nodes, motions, instanced_primitives
  materials           how many of each kind
  textures            how many, and texture_bytes
  bounds              of the first frame: min, max
  tlas_bytes, tlas_depth, scene_bytes
  warnings            what the loader repaired or ignored";

/// Tell what is in a scene: counts, memory, camera, warnings
#[derive(clap::Args)]
#[command(after_long_help = JSON_HELP)]
pub struct InfoArgs {
    #[command(flatten)]
    scene: SceneArgs,
    #[command(flatten)]
    device: DeviceArgs,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

impl InfoArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        let device = self.device.open(console::note)?;
        let scene = Arc::new(self.scene.load()?);
        let info = scene_info(&scene, device.as_ref())?;
        console::report(&info, self.json)?;
        Ok(Exit::Done)
    }
}

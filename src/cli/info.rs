//! `throng info`: describes the contents of a scene.

use super::{
    Exit, UsageError,
    args::{DeviceArgs, SceneArgs, TreeArgs, warn_of_trees},
    console,
    model::{ModelInfo, ModelText},
    pbrt::PbrtInfo,
    stage::StageInfo,
};
use anyhow::Context;
use serde::Serialize;
use std::{fmt, sync::Arc};
use throng_base::{files, quoting};
use throng_device::{Device, start_threads};
use throng_loader::Inspected;
use throng_picture::aov::cryptomatte;
use throng_render::{
    frame_info::{FrameInfo, frame_info},
    report::{SceneInfo, scene_info},
};
use throng_scene::Scene;

const JSON_HELP: &str = "\
With --json, standard output has one document with the keys
  name, device
  frames, fps, seconds, size, samples, integrator
  camera              still, orbit, spline with its number of keys, or on a node; projection, if not perspective; lens; or
                      the number of views of --cameras or --views
  environment, lights
  meshes              per mesh: name, shape, primitives, vertices, instances, poses (in its palette), follows (update
                      method of its tree, if it deforms), mesh_bytes, tree_bytes, tree_depth, sah_cost
  assemblies          per group that is stored once: name, copies, instances (in it), tree_bytes, tree_depth
  instances           number with all copies of assemblies counted; kept_instances are in memory
  nodes, motions, instanced_primitives
  materials           number of each kind
  textures            number; texture_bytes; texture_list has per texture: name, width, height, color_space, format, bytes (without
                      mip maps)
  following           tree updates of deforming meshes: frames (the first ones), refits, rebuilds, sah_ratio (cost of the
                      worst tree relative to its cost when built) and milliseconds per frame
  bounds              of the first frame: min, max
  tlas_bytes, tlas_depth, scene_bytes
  cached_trees        with --cache: numbers of trees that were read from it, and that were built; without small meshes,
                      which are always built
  frame               with --frame: number, seconds, world_from_camera (x to the right, y up, z back), instances (visible ones: id and name
                      as in labels, mesh, world_from_object, and bounds of the vertices), left_out (instances beyond --most)
  warnings            anything the loader replaced or left out, and probable mistakes
  notes               other contents of the file
  model               glTF files only; indices in it are into its own lists:
    scenes, scene, variants, counts, extensions_used, extensions_unsupported
    nodes             name, parent, meshes, skin, camera, light, instances
    meshes            per primitive: name, triangles, vertices, material, joints_per_vertex, morph_targets
    skins, materials, textures, clips, cameras, lights
    memory            mesh_bytes, texture_bytes, tree_bytes

  stage               USD files only: layers, up_axis, meters_per_unit, time_codes (first and last), time_codes_per_second, prims,
                      native_instances, prototypes, point_instances, shapes, cameras, lights, left_out (types of prims
                      that are not drawn), unresolved (files that do not exist)

  pbrt                pbrt scenes only: files, groups (objects, and files that do nothing but place objects), copies (in the files,
                      with those in groups counted once), shapes, materials, textures, media, lights, emissive_shapes, left_out
                      (directives without effect)

With --files, it has a list of objects with the keys
  path                absolute path
  bytes               length of the file";

/// Print the contents of a scene: counts, memory, camera, warnings
#[derive(clap::Args)]
#[command(after_long_help = JSON_HELP)]
pub struct InfoArgs {
    #[command(flatten)]
    scene: SceneArgs,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    trees: TreeArgs,
    /// Print one JSON document on standard output
    #[arg(long, help_heading = "Report")]
    json: bool,
    /// Print all nodes, materials, textures and animations of a model; long lists are shortened otherwise
    #[arg(long, help_heading = "Report")]
    full: bool,
    /// Add the camera and the instances of this frame: names, matrices and boxes in world space. Needs --json
    #[arg(short, long, value_name = "N", requires = "json", help_heading = "Report")]
    frame: Option<u32>,
    /// Greatest number of instances that --frame lists
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "frame", help_heading = "Report")]
    most: usize,
    /// Print only the files that the scene consists of, as one JSON document: the scene itself, models, buffers, materials, pictures
    #[arg(long, conflicts_with_all = ["json", "full"], help_heading = "Report")]
    files: bool,
    /// Print only the names for these ids of Cryptomatte layers: eight hexadecimal digits, as in manifests, or a decimal number, as Nuke
    /// and Blender show it in angle brackets
    #[arg(long, value_name = "ID,..", value_delimiter = ',', value_parser = matte_id, allow_negative_numbers = true)]
    #[arg(conflicts_with_all = ["json", "full", "files"], help_heading = "Report")]
    matte_id: Vec<u32>,
}

/// Parses an id of a Cryptomatte layer.
fn matte_id(text: &str) -> Result<u32, String> {
    let number = text.trim_start_matches('<').trim_end_matches('>');
    let digits = u32::from_str_radix(number, 16).ok().filter(|_| number.len() == 8 && number == text);
    let id = digits.or_else(|| number.parse::<f32>().ok().filter(|id| id.is_normal()).map(f32::to_bits));
    id.ok_or_else(|| {
        "an id is eight hexadecimal digits such as 13851a76, or a decimal number such as <1.6e-27>".to_owned()
    })
}

/// The report. An empty model, which cannot be a scene, is described as well.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    scene: Option<SceneInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<FrameInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<ModelInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<StageInfo>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pbrt: Option<PbrtInfo>,
    #[serde(skip)]
    full: bool,
}

impl InfoArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.files {
            return self.list_files();
        }
        if !self.matte_id.is_empty() {
            return self.list_named();
        }
        let trees = self.trees.open()?;
        let device = self.device.open(false, console::note)?;
        let (mut model, mut stage, mut pbrt) = (None, None, None);
        let loaded = self.scene.load_inspected(|inspected| match inspected {
            Inspected::Gltf(loaded) => model = Some(ModelInfo::new(loaded)),
            Inspected::Usd(loaded) => stage = Some(StageInfo::new(loaded)),
            Inspected::Pbrt(loaded) => pbrt = Some(PbrtInfo::new(loaded)),
        });
        let mut frame = None;
        let scene = loaded.and_then(|scene| {
            let scene = Arc::new(scene);
            let info = scene_info(&scene, device.as_ref(), &trees)?;
            frame = self.frame.map(|number| self.frame_info(&scene, device.as_ref(), number)).transpose()?;
            Ok(info)
        });
        warn_of_trees(&trees, console::note);
        let (scene, error) = match scene {
            Ok(info) => (Some(info), None),
            Err(error) => (None, Some(error)),
        };
        if let (Some(model), Some(scene)) = (&mut model, &scene) {
            model.add_trees(scene);
        }
        let report = Report { scene, frame, model, stage, pbrt, full: self.full };
        let is_known = report.model.is_some() || report.stage.is_some() || report.pbrt.is_some();
        if report.scene.is_some() || is_known {
            console::report(&report, self.json)?;
        }
        error.map_or(Ok(Exit::Done), Err)
    }

    fn frame_info(&self, scene: &Arc<Scene>, device: &dyn Device, number: u32) -> anyhow::Result<FrameInfo> {
        let frames = scene.settings.frame_numbers();
        if !frames.contains(&number) {
            let (first, last) = frames.into_inner();
            return Err(UsageError(format!("--frame: there is no frame {number}; choose one of {first}-{last}")).into());
        }
        Ok(frame_info(scene, device, number, self.most))
    }

    fn list_files(&self) -> anyhow::Result<Exit> {
        start_threads(0)?;
        let (loaded, mut files) = files::recording(|| self.scene.load());
        loaded?;
        // Missing files that the scene does not require, such as an .mtl, are left out.
        files.retain(|file| file.bytes.is_some());
        if let Some(file) = files.iter().find(|file| file.path.to_str().is_none()) {
            anyhow::bail!(
                "the name {} is not UTF-8, and JSON is text: rename it",
                quoting::any_for_user(file.path.as_os_str())
            );
        }
        console::print(&serde_json::to_string_pretty(&files).context("cannot write the list as JSON")?)?;
        Ok(Exit::Done)
    }

    fn list_named(&self) -> anyhow::Result<Exit> {
        start_threads(0)?;
        let scene = self.scene.load()?;
        let named = cryptomatte::named(&scene, &self.matte_id);
        for (id, name) in &named {
            console::print(&format!("{id:08x} {name}"))?;
        }
        match self.matte_id.iter().find(|&&id| named.iter().all(|(known, _)| *known != id)) {
            Some(id) => anyhow::bail!("nothing in {} has the id {id:08x}", self.scene.path.display()),
            None => Ok(Exit::Done),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if let Some(scene) = &self.scene {
            write!(f, "{scene}")?;
        }
        if let Some(stage) = &self.stage {
            write!(f, "{stage}")?;
        }
        if let Some(pbrt) = &self.pbrt {
            write!(f, "{pbrt}")?;
        }
        let Some(info) = &self.model else {
            return Ok(());
        };
        writeln!(f, "model")?;
        let full = self.full;
        write!(f, "{}", ModelText { info, full })
    }
}

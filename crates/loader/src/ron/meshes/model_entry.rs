//! Entries of a scene file's `meshes` that are models.

use crate::{
    LoadError,
    budget::Budget,
    extension, files,
    gltf::{self, GltfOptions, Model},
    model::Performance,
    options::choose,
    ron::{
        checked::{Fields, within},
        file::Source,
        source::Place,
    },
};
use std::path::PathBuf;
use throng_scene::{desc::GltfFile, rig::Playback};

/// Default number of poses in a palette, and the maximum.
const DEFAULT_POSES: u32 = 64;
const MOST_POSES: u32 = 4096;

/// Reads the file of an entry. Files that it refers to may also be in the folders of `allow`.
///
/// # Errors
/// As [`gltf::load_model`]. Also if there is no such file, or if the width of lines is not above 0.
pub fn parse(
    source: &Source,
    desc: &GltfFile,
    allow: &[PathBuf],
    budget: &Budget,
    place: &Place,
) -> Result<Model, LoadError> {
    let (path, fields) = (source.resolve(&desc.file), Fields { source, place });
    let message = match extension(&path).as_str() {
        "gltf" | "glb" if files::exists(&path) => {
            let options = GltfOptions {
                scene: desc.scene.clone(),
                variant: desc.variant.clone(),
                allow_dirs: allow.to_owned(),
                skip_environment: true,
                line_width: desc.line_width.map(|width| fields.above_zero(width, "line_width")).transpose()?,
                ..GltfOptions::default()
            };
            return gltf::load_within(&path, &options, budget);
        }
        "gltf" | "glb" => "does not exist: check the path",
        _ => "is neither a .gltf nor a .glb file: convert it to glTF",
    };
    let message = format!("the model {} {message}", path.display());
    Err(source.error(&place.key("file"), message))
}

/// The mode in which a model is shown, from its entry.
///
/// # Errors
/// If a clip is unknown, or if fields exclude one another.
pub fn performance(source: &Source, desc: &GltfFile, model: &Model, place: &Place) -> Result<Performance, LoadError> {
    let fields = Fields { source, place };
    if desc.shared == Some(true) && (desc.alive || desc.clip.is_some()) {
        return fields.fail("shared", "a model that moves is one mesh: remove `shared` or `clip`");
    }
    if desc.alive && desc.poses.is_some() {
        return fields.fail("poses", "a model that is alive has no palette of poses: remove one");
    }
    if !desc.alive && (desc.speed.is_some() || desc.refit.is_some()) {
        let field = if desc.speed.is_some() { "speed" } else { "refit" };
        let message = "this is for models with `alive: true`; instances of a palette have their \
                       speeds in a motion's Clip";
        return fields.fail(field, message);
    }
    let Some(wanted) = &desc.clip else {
        return match (desc.alive, desc.poses) {
            (true, _) => fields.fail("alive", "a model that is alive plays a clip: name it with `clip`"),
            (_, Some(_)) => fields.fail("poses", "poses require a clip: name it with `clip`"),
            _ => Ok(Performance::AtRest),
        };
    };
    let names = model.rig.clips.iter().map(|clip| clip.name.as_str());
    let clip = fields.check("clip", choose(wanted, names, ("clip", "clips")))? as u32;
    fields.check("clip", model.rig.clips[clip as usize].playable())?;
    if desc.alive {
        let playback = Playback { clip, speed: desc.speed.map_or(1.0, |speed| speed.0.into()), ..Playback::default() };
        let refit = desc.refit.unwrap_or_default();
        return Ok(Performance::Alive { playback, refit });
    }
    let count = within(desc.poses.unwrap_or(DEFAULT_POSES), 1..=MOST_POSES, "the number of poses");
    let count = fields.check("poses", count)?;
    Ok(Performance::Palette { clip, count })
}

//! Labels of frames, for computer vision: which there are and their files. `pass` traces them, `maps` and `coco` make the files of a frame, with
//! boxes and masks of whole objects from `whole` and `silhouette`; `transforms`, `objects`, `points` and `coco` those of all frames, and `projection` the matrices of cameras.

mod coco;
pub mod maps;
pub(crate) mod objects;
pub mod pass;
mod points;
pub mod projection;
mod silhouette;
pub mod transforms;
mod whole;

pub use objects::MOST_NUMBERS;

use crate::{RenderError, RenderJob};
use coco::CategoryTable;
use maps::Labelled;
use objects::Objects;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::OnceLock,
};
use throng_base::disk;
use throng_device::{Device, Stop};
use throng_output::{Categories, Label, MapFormat, MapKind, OutputError, Pattern, write_atomically};
use throng_picture::aov::{Aov, AovSet};
use throng_scene::Scene;

/// The labels that a run writes beside its pictures.
#[derive(Default)]
pub struct Labels {
    list: Vec<Label>,
    /// All frames that the run was asked for, also those that exist already.
    asked: Vec<u32>,
    /// Tables of the scene's objects. Made when the first frame is written, while others are traced.
    objects: OnceLock<Objects>,
    /// Categories by name, and by material.
    categories: [OnceLock<CategoryTable>; Categories::ALL.len()],
}

impl Labels {
    /// The labels in `list`, each once, of the frames `asked`.
    pub fn new(list: &[Label], asked: Vec<u32>) -> Self {
        let mut own = Vec::new();
        list.iter().for_each(|label| {
            if !own.contains(label) {
                own.push(*label);
            }
        });
        Self { list: own, asked, ..Self::default() }
    }

    /// The labels.
    pub fn list(&self) -> &[Label] {
        &self.list
    }

    /// The AOVs from which the labels are made. Empty if no label needs to be traced.
    pub fn aovs(&self) -> AovSet {
        let of = |label: &Label| match label {
            Label::Map(MapKind::Depth | MapKind::Distance, _) => vec![Aov::Depth],
            Label::Map(MapKind::Normal | MapKind::NormalCamera, _) => vec![Aov::Normal],
            Label::Map(MapKind::Flow, _) => vec![Aov::Motion, Aov::Depth],
            Label::Map(MapKind::Instance | MapKind::Mesh, _) => vec![Aov::Instance],
            Label::Map(MapKind::Material, _) => vec![Aov::Material],
            Label::Coco(categories) => coco::aovs(*categories),
            Label::Transforms | Label::Points => Vec::new(),
        };
        self.list.iter().flat_map(of).collect()
    }

    /// Bytes per pixel that the labels of a frame take until they are written.
    pub(crate) fn pixel_bytes(&self) -> usize {
        let floats = |aov: Aov| if aov.is_matte() { 1 } else { aov.channels() };
        self.aovs().iter().map(|aov| size_of::<f32>() * floats(aov)).sum()
    }

    /// Whether `frame` of `job` is written with labels that have to be traced.
    pub(crate) fn are_traced_for(&self, job: &RenderJob, frame: u32) -> bool {
        !self.aovs().is_empty() && job.frames.contains(&frame)
    }

    /// Paths of the label files of the frame whose picture is at `picture`, in the order of the labels.
    pub fn files_of(&self, picture: &Path) -> Vec<PathBuf> {
        let path = |label: &Label| Some(picture.with_extension(label.extension()?));
        self.list.iter().filter_map(path).collect()
    }

    /// Names of the files for all frames, each once.
    pub fn shared_files(&self) -> BTreeSet<&'static str> {
        self.list.iter().filter_map(|label| label.shared_file()).collect()
    }

    /// Whether all label files of the frame whose picture is at `picture` exist.
    pub(crate) fn exist_for(&self, picture: &Path) -> bool {
        self.files_of(picture).iter().all(|path| disk::metadata(path).is_ok())
    }

    /// Writes the label files of a frame, whose picture is written to `picture` afterwards.
    ///
    /// # Errors
    /// If a file cannot be encoded or written.
    pub(crate) fn write(
        &self,
        job: &RenderJob,
        (frame, picture): (u32, &Path),
        labelled: Option<&Labelled>,
    ) -> Result<(), OutputError> {
        let Some(labelled) = labelled else { return Ok(()) };
        let moment = job.moment_of(frame);
        let camera = job.camera_at(frame, &moment);
        let traced = maps::TracedMaps { settings: &job.settings, camera: &camera, maps: labelled };
        for label in &self.list {
            let Some(extension) = label.extension() else { continue };
            let path = picture.with_extension(extension);
            let bytes = match *label {
                Label::Map(kind, format) => traced.encode((kind, format), self.objects(&job.scene)),
                Label::Coco(categories) => {
                    let objects = self.objects(&job.scene);
                    Ok(coco::frame_file(job, (frame, picture), categories, &moment, &traced, objects))
                }
                Label::Transforms | Label::Points => continue,
            };
            let bytes = bytes.map_err(|error| OutputError::Encode { path: path.clone(), error })?;
            write_atomically(&path, |file| file.write_all(&bytes))?;
        }
        Ok(())
    }

    /// Writes the files for all frames, after the last frame. If frames of other runs appear meanwhile, writes the files again, so that the
    /// last of several runs has all frames in them.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn finish(&self, job: &RenderJob) -> Result<(), OutputError> {
        let Some(pattern) = &job.output.files else { return Ok(()) };
        let folder = pattern.folder_for(&job.scene.name);
        for label in &self.list {
            if let (Label::Map(kind, _), Some(name)) = (*label, label.shared_file()) {
                objects::write_names(&folder.join(name), &job.scene, kind)?;
            }
        }
        let joins = |label: &&Label| matches!(label, Label::Transforms | Label::Coco(_));
        let mut frames = Vec::new();
        while self.list.iter().any(|label| joins(&label)) {
            let before = std::mem::replace(&mut frames, existing_frames(job, pattern, &self.asked));
            if frames == before {
                break;
            }
            for label in self.list.iter().filter(joins) {
                let path = folder.join(label.shared_file().unwrap_or_default());
                match *label {
                    Label::Coco(categories) => coco::write_all(job, &path, &frames, categories)?,
                    _ => transforms::write(job, &path, &frames)?,
                }
            }
        }
        Ok(())
    }

    /// Writes the points of all requested frames, if they are wanted. Does nothing if they exist and no frame was rendered. They need `device`, which loads the scene for them.
    ///
    /// # Errors
    /// If the device fails or is stopped, or if the file cannot be written.
    pub fn write_points(&self, job: &RenderJob, device: &mut dyn Device, stop: &Stop) -> Result<(), RenderError> {
        let name = self.list.iter().find(|&&label| label == Label::Points).and_then(|label| label.shared_file());
        let Some((name, pattern)) = name.zip(job.output.files.as_ref()) else { return Ok(()) };
        let path = pattern.folder_for(&job.scene.name).join(name);
        if job.frames.is_empty() && disk::metadata(&path).is_ok() {
            return Ok(());
        }
        points::write(job, (&path, &self.asked), device, stop)
    }

    fn categories(&self, scene: &Scene, categories: Categories) -> &CategoryTable {
        self.categories[categories as usize].get_or_init(|| CategoryTable::new(scene, categories))
    }

    fn objects(&self, scene: &Scene) -> &Objects {
        self.objects.get_or_init(|| Objects::new(scene))
    }

    /// The map of numbers that has no room in PNG files, if a map has that format and the scene has too many objects of its kind.
    pub fn overfull(&self, scene: &Scene) -> Option<(MapKind, u64)> {
        let is_full = |label: &Label| match *label {
            Label::Map(kind, format) if kind.is_numbers() => {
                let count = objects::count(scene, kind);
                let most = if format == MapFormat::Png { objects::MOST_IN_PNG } else { objects::MOST_NUMBERS };
                (count > most).then_some((kind, count))
            }
            Label::Coco(_) => {
                let count = objects::count(scene, MapKind::Instance);
                (count > objects::MOST_NUMBERS).then_some((MapKind::Instance, count))
            }
            _ => None,
        };
        self.list.iter().find_map(is_full)
    }
}

/// Frames of the scene whose picture exists, and so do its labels, which are written before.
fn existing_frames(job: &RenderJob, pattern: &Pattern, asked: &[u32]) -> Vec<u32> {
    let asked = asked.iter().copied();
    let frames: BTreeSet<u32> =
        if pattern.has_frame() { job.scene.settings.frame_numbers().chain(asked).collect() } else { asked.collect() };
    let is_there = |frame: &u32| disk::metadata(&pattern.path_for(*frame, &job.scene.name)).is_ok();
    frames.into_iter().filter(is_there).collect()
}

//! Instances in COCO's format ("Data format" at cocodataset.org): a file for each frame, and one for all frames, which is made of these.

use super::{
    maps::{Labelled, TracedMaps},
    objects::Objects,
    whole,
};
use crate::RenderJob;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};
use throng_base::files::read_regular;
use throng_output::{Categories, OutputError, Runs, runs_by_number, write_atomically};
use throng_picture::aov::Aov;
use throng_scene::{NONE, Scene, anim::Moment};

/// The AOVs that annotations need.
pub fn aovs(categories: Categories) -> Vec<Aov> {
    match categories {
        Categories::Names => vec![Aov::Instance],
        Categories::Materials => vec![Aov::Instance, Aov::Material],
    }
}

/// The file of a frame.
#[derive(Deserialize, Serialize)]
struct FrameFile {
    /// Hash of the scene, to find files of other scenes in the folder.
    scene_hash: String,
    image: Value,
    annotations: Vec<Annotation>,
}

/// An object in a picture. Boxes are `[x, y, width, height]` in pixels.
#[derive(Deserialize, Serialize)]
struct Annotation {
    /// Number of the annotation among those of all frames, from 1.
    id: u64,
    image_id: u32,
    category_id: u32,
    bbox: [u32; 4],
    /// Box of the whole object, with what is hidden or outside of the picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bbox_whole: Option<[f64; 4]>,
    area: u64,
    segmentation: Segmentation,
    /// Area and mask of the whole object inside the picture, with what is hidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    area_whole: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    segmentation_whole: Option<Segmentation>,
    iscrowd: u32,
    /// Number of the instance, as in maps of instances; equal in all frames.
    instance_id: u32,
}

#[derive(Deserialize, Serialize)]
struct Segmentation {
    /// Height and width of the picture.
    size: [u32; 2],
    counts: String,
}

impl Segmentation {
    fn new((width, height): (u32, u32), mask: &Runs) -> Self {
        Self { size: [height, width], counts: mask.compressed(width.saturating_mul(height)) }
    }
}

/// The categories of a scene, by name in alphabetical order, numbered from 1.
pub struct CategoryTable {
    names: Vec<String>,
    /// For each instance or material by number, the number of its category; 0 for none.
    of: Vec<u32>,
}

impl CategoryTable {
    /// The categories of `scene`.
    pub fn new(scene: &Scene, categories: Categories) -> Self {
        let mut all = Vec::new();
        match categories {
            Categories::Materials => scene.visit_material_names(|name| all.push(Some(name.to_owned()))),
            Categories::Names => super::objects::visit(scene, |_, index| {
                let is_stage = scene.stage.is_some_and(|stage| stage as usize == index);
                all.push((!is_stage).then(|| category(scene.name_parts(index).0).to_owned()));
            }),
        }
        let names: BTreeSet<&String> = all.iter().flatten().collect();
        let numbers: HashMap<&String, u32> = names.iter().copied().zip(1..).collect();
        let of = all.iter().map(|name| name.as_ref().map_or(0, |name| numbers[name])).collect();
        Self { names: names.into_iter().cloned().collect(), of }
    }

    fn of(&self, number: u32) -> Option<u32> {
        self.of.get(number as usize).copied().filter(|&category| category != 0)
    }
}

/// The name of an instance without the number at its end, which tells copies apart: `chair` for `chair.12` and Blender's `chair.001`.
fn category(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, number))
            if !stem.is_empty() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            stem
        }
        _ => name,
    }
}

/// The bytes of the file of a frame, whose picture is at `picture`.
pub fn frame_file(
    job: &RenderJob,
    (frame, picture): (u32, &Path),
    categories: Categories,
    moment: &Moment,
    traced: &TracedMaps,
    objects: &Objects,
) -> Vec<u8> {
    let table = job.output.labels.categories(&job.scene, categories);
    let (width, height) = job.settings.film_size();
    let mut annotations = annotations((width, height), frame, categories, (traced.maps, table));
    let shown = annotations.iter().map(|annotation| annotation.instance_id).collect();
    let wholes = whole::find(&job.scene, moment, traced, objects, &shown);
    for annotation in &mut annotations {
        if let Some(whole) = wholes.get(&annotation.instance_id) {
            annotation.bbox_whole = Some(whole.bounds);
            annotation.area_whole = Some(whole.mask.area());
            annotation.segmentation_whole = Some(Segmentation::new((width, height), &whole.mask));
        }
    }
    let file = FrameFile {
        scene_hash: job.output.metadata(job, frame).scene_hash,
        image: json!({ "id": frame, "file_name": file_name(job, picture), "width": width, "height": height }),
        annotations,
    };
    // Numbers and texts always have a JSON form.
    serde_json::to_vec(&file).unwrap_or_default()
}

/// Name of a picture relative to the folder of the run.
fn file_name(job: &RenderJob, picture: &Path) -> String {
    let folder = job.output.files.as_ref().map(|pattern| pattern.folder_for(&job.scene.name));
    let name = folder.and_then(|folder| picture.strip_prefix(folder).ok().map(Path::to_owned));
    name.unwrap_or_else(|| picture.to_owned()).to_string_lossy().into_owned()
}

fn annotations(
    (width, height): (u32, u32),
    frame: u32,
    categories: Categories,
    (labelled, table): (&Labelled, &CategoryTable),
) -> Vec<Annotation> {
    let number = |list: &[u32], pixel: usize| list.get(pixel).copied().filter(|&number| number != NONE);
    let object = |pixel: usize| {
        let instance = number(&labelled.instance, pixel)?;
        let category = match categories {
            Categories::Names => table.of(instance)?,
            Categories::Materials => table.of(number(&labelled.material, pixel)?)?,
        };
        Some((instance, category))
    };
    let masks: BTreeMap<(u32, u32), Runs> = runs_by_number((width, height), object);
    let annotation = |(id, ((instance_id, category_id), mask)): (u64, ((u32, u32), Runs))| Annotation {
        id,
        image_id: frame,
        category_id,
        bbox: mask.bounds(),
        bbox_whole: None,
        area: mask.area(),
        segmentation: Segmentation::new((width, height), &mask),
        area_whole: None,
        segmentation_whole: None,
        iscrowd: 0,
        instance_id,
    };
    (1..).zip(masks).map(annotation).collect()
}

/// Writes the file for all of `frames`. Files of frames that cannot be read, or that show another scene, are left out.
///
/// # Errors
/// If the file cannot be written.
pub fn write_all(job: &RenderJob, path: &Path, frames: &[u32], categories: Categories) -> Result<(), OutputError> {
    let Some(pattern) = &job.output.files else { return Ok(()) };
    let scene_hash = job.output.metadata(job, 0).scene_hash;
    let read = |&frame: &u32| {
        let picture = pattern.path_for(frame, &job.scene.name);
        let bytes = read_regular(&picture.with_extension("coco.json")).ok()?;
        let file: FrameFile = serde_json::from_slice(&bytes).ok()?;
        (file.scene_hash == scene_hash).then_some(file)
    };
    let table = job.output.labels.categories(&job.scene, categories);
    let named = |(id, name): (u32, &String)| json!({ "id": id, "name": name, "supercategory": "" });
    let categories: Vec<Value> = (1..).zip(&table.names).map(named).collect();
    let mut images = Vec::new();
    write_atomically(path, |file| {
        // Annotations of many frames may take more memory than there is.
        file.write_all(b"{\"annotations\":[")?;
        let mut next = 1;
        for frame in frames.iter().filter_map(read) {
            for annotation in frame.annotations {
                file.write_all(if next == 1 { b"\n" } else { b",\n" })?;
                serde_json::to_writer(&mut *file, &Annotation { id: next, ..annotation })?;
                next += 1;
            }
            images.push(frame.image);
        }
        let info = json!({ "description": job.scene.name, "version": "1.0", "contributor": "throng" });
        let rest = json!({ "info": info, "licenses": [], "images": images, "categories": categories }).to_string();
        file.write_all(b"\n],\n")?;
        file.write_all(&rest.as_bytes()[1..])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_a_category() {
        let names = ["chair.12", "chair.001", "chair", "v1.5 engine", ".5", "a.", "x.y"];
        assert_eq!(names.map(category), ["chair", "chair", "chair", "v1.5 engine", ".5", "a.", "x.y"]);
    }

    #[test]
    fn an_instance_has_a_mask_for_each_category() {
        let labelled = Labelled {
            instance: vec![0, 0, 1, NONE, 0, 1],
            material: vec![0, 1, 1, NONE, 0, 1],
            ..Labelled::default()
        };
        let table = |of: Vec<u32>| CategoryTable { names: Vec::new(), of };
        let names = annotations((3, 2), 7, Categories::Names, (&labelled, &table(vec![2, 0])));
        let told: Vec<_> = names.iter().map(|it| (it.id, it.instance_id, it.category_id, it.area, it.bbox)).collect();
        assert_eq!(told, [(1, 0, 2, 3, [0, 0, 2, 2])]);
        let materials = annotations((3, 2), 7, Categories::Materials, (&labelled, &table(vec![1, 2])));
        let told: Vec<_> = materials.iter().map(|it| (it.instance_id, it.category_id, it.area)).collect();
        assert_eq!(told, [(0, 1, 2), (0, 2, 1), (1, 2, 2)]);
        assert_eq!(names[0].segmentation.size, [2, 3]);
    }
}

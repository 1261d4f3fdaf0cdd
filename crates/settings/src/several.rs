//! Settings of several scenes, or of several animations of a model, that are rendered one after the other.

use super::{FrameOptions, FramePlan, SettingsError, Size};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};
use throng_base::disk;
use throng_loader as loader;
use throng_output::{Destination, Pattern, SheetLayout, SheetRow};
use throng_render::labels::Labels;
use throng_scene::RenderDefaults;

impl FrameOptions {
    /// Checks that several scenes write distinct files.
    ///
    /// # Errors
    /// If a file name has no placeholder for the scene, or if two scenes would write one file.
    #[doc(hidden)]
    pub fn check_scenes(&self, scenes: &[PathBuf]) -> Result<(), SettingsError> {
        let count = scenes.len();
        if let Some(output) = &self.output {
            output.check_scene_count(count)?;
        }
        if let Some(video) = &self.files.video {
            video.check_scene_count(count).map_err(SettingsError::Video)?;
        }
        if let Some(sheet) = &self.files.sheet {
            sheet.check_scene_count(count).map_err(SettingsError::Sheet)?;
        }
        if count > 1 {
            check_apart(&self.label_files("one"), &self.label_files("other"), "{model}")?;
        }
        let mut taken: HashMap<PathBuf, &Path> = HashMap::new();
        for second in scenes {
            for path in self.first_files(&loader::name_of(second)) {
                if let Some(first) = taken.insert(path.clone(), second) {
                    return Err(SettingsError::SameFile { path, first: first.into(), second: second.clone() });
                }
            }
        }
        Ok(())
    }

    /// Whether a file name has a placeholder for the animation.
    #[doc(hidden)]
    pub fn names_animations(&self) -> bool {
        let files = &self.files;
        self.output.as_ref().is_some_and(Destination::has_animation)
            || files.video.as_ref().is_some_and(Pattern::has_animation)
            || files.sheet.as_ref().is_some_and(Pattern::has_animation)
    }

    /// Size at which frames of `usual` size are shown in the row of a shared sheet. None without such a row, and if frames are written to
    /// other files too.
    #[doc(hidden)]
    pub fn size_in_row(&self, usual: (u32, u32)) -> Option<Size> {
        self.files.sheet_row.as_ref()?;
        let is_sheet_alone = self.output.is_none() && self.files.video.is_none();
        let (width, height) = SheetLayout::in_row(&[], self.files.sheet_count(), usual, (0, 1)).tile;
        is_sheet_alone.then_some(Size { width, height })
    }

    /// The options for the animation called `name`, one of `count`. A sheet without a placeholder for the animation gets `row`.
    ///
    /// # Errors
    /// If there are several animations and a file name has no placeholder for them.
    #[doc(hidden)]
    pub fn for_animation(&self, name: &str, count: usize, row: SheetRow) -> Result<Self, SettingsError> {
        let mut files = self.files.clone();
        if let Some(video) = &mut files.video {
            *video = video.for_animation(name, count).map_err(SettingsError::Video)?;
        }
        match &mut files.sheet {
            Some(sheet) if sheet.has_animation() => {
                *sheet = sheet.for_animation(name, count).map_err(SettingsError::Sheet)?;
            }
            Some(_) => files.sheet_row = Some(row),
            None => {}
        }
        let output = self.output.as_ref().map(|output| output.for_animation(name, count)).transpose()?;
        let own = Self { output, files, ..self.clone() };
        if count > 1 && self.names_animations() {
            let other =
                self.output.as_ref().map(|output| output.for_animation(&format!("not {name}"), count)).transpose()?;
            let other = Self { output: other, ..self.clone() };
            check_apart(&own.label_files(""), &other.label_files(""), "{animation}")?;
        }
        Ok(own)
    }

    /// Number of frames that a run renders of the scene called `scene`, which has `count` frames. 0 if the run would fail.
    #[doc(hidden)]
    pub fn expected_frames(&self, scene: &str, count: u32) -> usize {
        let settings = RenderDefaults { frames: count, ..RenderDefaults::default() };
        let Ok(plan) = self.resolve(&settings) else { return 0 };
        let kept = plan.pattern().filter(|_| self.skip_existing);
        let is_kept = |frame: u32| kept.is_some_and(|files| disk::metadata(&files.path_for(frame, scene)).is_ok());
        plan.asked.iter().filter(|&&frame| !is_kept(frame)).count()
    }

    /// A description of the output files of all animations, with the placeholder for the animation's name.
    #[doc(hidden)]
    pub fn describe_animations(&self, scene: &str) -> String {
        let plan = FramePlan {
            output: self.output.clone(),
            files: self.files.clone(),
            skip_existing: None,
            divided: false,
            asked: Vec::new(),
            skipped: 0,
        };
        plan.describe_output(scene)
    }

    /// One file of each kind that a scene writes.
    fn first_files(&self, scene: &str) -> impl Iterator<Item = PathBuf> {
        let output = match &self.output {
            Some(output) => output.first_file(scene),
            // The default folder of frames has the scene's name.
            None => Some(scene.into()),
        };
        let video = self.files.video.as_ref().map(|video| video.path(scene));
        let sheet = self.files.sheet.as_ref().map(|sheet| sheet.path_for(0, scene));
        [output, video, sheet].into_iter().flatten().chain(self.label_files(scene))
    }

    /// The label files for all frames of a scene.
    fn label_files(&self, scene: &str) -> Vec<PathBuf> {
        let Some(Destination::Files(files)) = &self.output else { return Vec::new() };
        let folder = files.folder_for(scene);
        Labels::new(&self.files.labels, Vec::new()).shared_files().into_iter().map(|name| folder.join(name)).collect()
    }
}

/// Refuses label files that runs would share, unless `place` is in the name of their folder.
fn check_apart(one: &[PathBuf], other: &[PathBuf], place: &'static str) -> Result<(), SettingsError> {
    match one.iter().find(|path| other.contains(path)) {
        Some(path) => Err(SettingsError::SharedLabels { path: path.clone(), place }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileOptions;
    use throng_output::parse_sheet;

    fn check(output: &str, scenes: &[&str]) -> Result<(), String> {
        let options = FrameOptions { output: Some(Destination::parse(output).unwrap()), ..FrameOptions::default() };
        let scenes: Vec<PathBuf> = scenes.iter().map(PathBuf::from).collect();
        options.check_scenes(&scenes).map_err(|error| error.to_string())
    }

    #[test]
    fn each_scene_needs_files_of_its_own() {
        let two = ["m/a.glb", "m/b.obj"];
        for output in ["t/{model}.png", "{scene}/####.exr", "{model}.webp", "{model}.mp4"] {
            assert_eq!(check(output, &two), Ok(()), "{output}");
            let error = check(output, &["m/a.glb", "n/b.glb", "n/a.obj"]).unwrap_err();
            assert!(error.starts_with("m/a.glb and n/a.obj would both become "), "{error}");
        }
        for output in ["t.png", "####.png", "a.mp4", "-", "/dev/null"] {
            let error = check(output, &two).unwrap_err();
            assert!(error.starts_with("--output: ") && error.contains("{model}"), "{error}");
            assert_eq!(check(output, &two[..1]), Ok(()));
        }
    }

    #[test]
    fn labels_of_all_frames_need_a_folder_of_their_own() {
        let options = |output: &str| {
            let files = FileOptions { labels: vec!["coco".parse().unwrap()], ..FileOptions::default() };
            FrameOptions { output: Some(Destination::parse(output).unwrap()), files, ..FrameOptions::default() }
        };
        let scenes = ["a.glb", "b.glb"].map(PathBuf::from);
        assert!(options("out/{model}/####.png").check_scenes(&scenes).is_ok());
        let error = options("out/{model}_####.png").check_scenes(&scenes).unwrap_err().to_string();
        assert!(error.contains("out/coco.json") && error.contains("{model}/"), "{error}");
        let row = || throng_output::SheetRows::new(2).row(0, "Walk");
        assert!(options("{animation}/####.png").for_animation("Walk", 2, row()).is_ok());
        let error = options("{animation}_####.png").for_animation("Walk", 2, row()).unwrap_err().to_string();
        assert!(error.contains("{animation}/"), "{error}");
    }

    #[test]
    fn rendered_frames_of_an_animation_are_counted_ahead() {
        let dir = tempfile::tempdir().unwrap();
        let files = dir.path().join("{scene}_#.png");
        let output = Some(Destination::parse(&files).unwrap());
        let mut options = FrameOptions { output, ..FrameOptions::default() };
        std::fs::write(dir.path().join("a_2.png"), "").unwrap();
        assert_eq!(options.expected_frames("a", 5), 5);
        options.skip_existing = true;
        assert_eq!([options.expected_frames("a", 5), options.expected_frames("b", 5)], [4, 5]);
        assert_eq!(options.expected_frames("a", 0), 0);
        let mut options = FrameOptions::default();
        options.files.sheet = Some(parse_sheet("s.png").unwrap());
        options.files.sheet_row = Some(throng_output::SheetRows::new(2).row(0, "Walk"));
        assert_eq!([options.expected_frames("a", 100), options.expected_frames("a", 3)], [8, 3]);
    }

    #[test]
    fn files_of_several_animations_are_described_by_their_pattern() {
        let output = Some(Destination::parse("out/{animation}_##.png").unwrap());
        let mut options = FrameOptions { output, ..FrameOptions::default() };
        options.files.sheet = Some(parse_sheet("{scene}.png").unwrap());
        assert_eq!(options.describe_animations("fox"), "out/{animation}_##.png, fox.png");
    }

    #[test]
    fn sheets_and_usual_folders_count_too() {
        let scenes = ["a.glb", "a.obj"].map(PathBuf::from);
        assert!(FrameOptions::default().check_scenes(&scenes).is_err());
        let mut options = FrameOptions::default();
        options.files.sheet = Some(parse_sheet("s.png").unwrap());
        let error = options.check_scenes(&["a.glb", "b.glb"].map(PathBuf::from)).unwrap_err();
        assert!(error.to_string().starts_with("--sheet: ") && error.is_usage(), "{error}");
    }
}

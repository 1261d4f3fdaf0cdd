//! `throng view` of a scene, and its page in a browser.

use crate::{
    chromium::Chromium,
    process::{self, Process, wait_until},
};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// A server, which is stopped when this is dropped.
pub struct Viewer {
    pub link: String,
    _process: Process,
    _folder: TempDir,
}

impl Viewer {
    /// Serves a scene on any free port.
    pub fn start(scene: &Path, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("output");
        let mut command = process::command(env!("CARGO_BIN_EXE_throng"));
        command.arg("view").arg(scene).args(["--port", "0", "--no-open", "--device", "cpu"]).args(flags);
        let mut process = Process::start_with_stdout(&mut command, File::create(&output).unwrap());
        let mut link = None;
        wait_until("the link", || {
            assert!(process.has_ended().is_none(), "throng view ended early");
            let text = fs::read_to_string(&output).unwrap();
            link = text.lines().find_map(|line| line.find("http://").map(|at| line[at..].trim().to_owned()));
            link.is_some() && text.ends_with('\n')
        });
        Self { link: link.unwrap(), _process: process, _folder: folder }
    }

    /// Opens the page and waits for its first picture. Prints a line and returns None if there is no browser.
    pub fn page(&self, width: u32, height: u32) -> Option<Chromium> {
        let Some(mut page) = Chromium::start(width, height) else {
            println!("skipped: the page of throng view, for there is no chromium");
            return None;
        };
        page.open(&self.link);
        page.wait_for(READY);
        Some(page)
    }
}

/// Whether the page has the scene and has drawn a picture.
pub const READY: &str = "throng.app.scene !== null && document.getElementById('state').textContent.includes('samples')";

/// A scene file in its own folder.
pub struct SceneFile {
    pub path: PathBuf,
    _folder: TempDir,
}

impl SceneFile {
    pub fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("balls.ron");
        fs::write(&path, text).unwrap();
        Self { path, _folder: folder }
    }

    pub fn text(&self) -> String {
        fs::read_to_string(&self.path).unwrap()
    }

    /// Replaces a text that must occur exactly once, by renaming a new file as editors do.
    #[track_caller]
    pub fn edit(&self, from: &str, to: &str) {
        let text = self.text();
        assert_eq!(text.matches(from).count(), 1, "{from}: {text}");
        let edited = self.path.with_extension("edited");
        fs::write(&edited, text.replace(from, to)).unwrap();
        fs::rename(edited, &self.path).unwrap();
    }
}

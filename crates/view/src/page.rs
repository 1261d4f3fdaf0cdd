//! The page's files, compiled into the program. They are plain scripts and styles: there is no build step and no external dependency.

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Path, type and contents of scripts, by folder and file name. Folders divide the scripts by subject; paths do not have them.
macro_rules! scripts {
    ($($folder:literal: $($name:literal)*;)*) => {
        &[$($((concat!("/", $name), SCRIPT, include_str!(concat!("page/", $folder, "/", $name)))),*),*]
    };
}

/// Path, type and contents of the other files.
pub const FILES: &[(&str, &str, &str)] = &[
    ("/", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
    ("/icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
];

/// Path, type and contents of the scripts.
pub const SCRIPTS: &[(&str, &str, &str)] = scripts! {
    "base":
        "actions.js" "app.js" "clipboard.js" "dom.js" "events.js" "help.js" "icons.js" "keyboard.js" "main.js"
        "shell.js" "status.js";
    "camera":
        "camera.js" "flight.js" "turns.js" "vectors.js" "viewpoint.js";
    "panel":
        "colours.js" "panel.js" "saving.js" "selection.js" "settings.js" "sharing.js" "still.js" "values.js";
    "picture":
        "connection.js" "gizmo.js" "handles.js" "message.js" "overlay.js" "picture.js" "pointer.js" "stage.js";
    "timeline":
        "key_editor.js" "playback.js" "strip.js" "thumbnails.js" "times.js" "transport.js" "waypoints.js";
};

/// Type and contents of the file at `path`.
pub fn file(path: &str) -> Option<(&'static str, &'static str)> {
    let found = FILES.iter().chain(SCRIPTS).find(|(name, ..)| *name == path)?;
    Some((found.1, found.2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::Path};

    #[test]
    fn every_script_of_the_folder_is_served() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/src/page");
        let entries = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let folders = entries(Path::new(page)).filter(|path| path.is_dir());
        let names: Vec<String> = folders
            .flat_map(|folder| entries(&folder))
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names.len(), SCRIPTS.len());
        for name in names {
            assert!(file(&format!("/{name}")).is_some(), "{name} is in a folder, but not among the scripts");
        }
        assert!(file("/").is_some() && file("/../mod.rs").is_none());
    }
}

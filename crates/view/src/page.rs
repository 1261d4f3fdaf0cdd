//! The page's files, compiled into the program. They are plain scripts and styles: there is no build step and no external dependency.

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Path, type and contents of scripts, by file name.
macro_rules! scripts {
    ($($name:literal)*) => {
        &[$((concat!("/", $name), SCRIPT, include_str!(concat!("page/", $name)))),*]
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
    "actions.js"
    "app.js"
    "camera.js"
    "clipboard.js"
    "colours.js"
    "connection.js"
    "dom.js"
    "events.js"
    "flight.js"
    "gizmo.js"
    "handles.js"
    "help.js"
    "icons.js"
    "key_editor.js"
    "keyboard.js"
    "main.js"
    "message.js"
    "overlay.js"
    "panel.js"
    "picture.js"
    "playback.js"
    "pointer.js"
    "saving.js"
    "selection.js"
    "settings.js"
    "sharing.js"
    "shell.js"
    "stage.js"
    "status.js"
    "still.js"
    "strip.js"
    "thumbnails.js"
    "times.js"
    "transport.js"
    "turns.js"
    "values.js"
    "vectors.js"
    "viewpoint.js"
    "waypoints.js"
};

/// Type and contents of the file at `path`.
pub fn file(path: &str) -> Option<(&'static str, &'static str)> {
    let found = FILES.iter().chain(SCRIPTS).find(|(name, ..)| *name == path)?;
    Some((found.1, found.2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn every_script_of_the_folder_is_served() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/page");
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        for name in names.filter(|name| name.ends_with(".js")) {
            assert!(file(&format!("/{name}")).is_some(), "{name} is in the folder, but not among the scripts");
        }
        assert!(file("/").is_some() && file("/../mod.rs").is_none());
    }
}

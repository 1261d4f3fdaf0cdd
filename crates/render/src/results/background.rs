//! Backgrounds of finished frames, which replace the environment behind the scene.

use throng_output::Backdrop;

/// A background, rendered for one frame size.
pub struct Background {
    pub backdrop: Backdrop,
    /// The colour or the path, for the metadata of files.
    pub name: String,
}

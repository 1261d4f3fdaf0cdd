//! Flags for views as data: cameras from files, and views around the scene.

use std::path::PathBuf;
use throng_loader::options::{ViewOptions, ViewPattern, WorldUp};
use throng_settings::flags;

/// Views that replace the scene's camera, one per frame.
#[derive(clap::Args)]
#[command(next_help_heading = "View")]
pub struct FrameViewArgs {
    /// Render the cameras of a file, one per frame: transforms.json, a folder of COLMAP, a .json list of matrices, or a .glb
    ///
    /// COLMAP's cameras.txt and images.txt are read as text. The size of the pictures is the file's, unless --size gives another. All cameras
    /// show the time of the first frame, unless the file has times. If the scene is animated and has as many frames as the file has cameras,
    /// camera N shows frame N
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["views", "eye", "target", "camera", "margin", "turns", "zoom"]
    )]
    cameras: Option<PathBuf>,
    /// Render views around the scene, one per frame: sphere:150, hemisphere:24 or orbit:36.
    ///
    /// Options follow after commas: radius=2.5 [default: the whole scene fits], fov=40 (vertical, in degrees), target=X:Y:Z [default: the
    /// middle], elevation=20 for an orbit [default: 18], and seed=7 for other points on a sphere or hemisphere. All views show the time of the
    /// first frame
    #[arg(long, value_name = "PATTERN", conflicts_with_all = ["eye", "target", "camera", "margin", "turns", "zoom"])]
    views: Option<ViewPattern>,
    /// Axis that points up in the world of --cameras [default: y]
    #[arg(long, value_name = "AXIS", requires = "cameras", value_parser = flags::choice::<WorldUp>())]
    cameras_up: Option<WorldUp>,
}

impl FrameViewArgs {
    /// `options` with these views.
    pub fn added_to(&self, options: ViewOptions) -> ViewOptions {
        ViewOptions { cameras: self.cameras.clone(), views: self.views, world_up: self.cameras_up, ..options }
    }
}

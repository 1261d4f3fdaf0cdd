//! The sections of a scene file.

use super::{
    AirDesc, CameraDesc, CurveDesc, CutDesc, EnvironmentDesc, LightDesc, MaterialDesc, MeshDesc, MotionDesc, Named,
    Placement, RenderDesc,
};
use crate::TexelImage;
use serde::Deserialize;
use std::sync::Arc;

/// The whole scene file, or a scene that is built in code (see [`Renderer::from_desc`](crate::Renderer::from_desc)).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "the scene", deny_unknown_fields)]
pub struct SceneFile {
    /// Render settings. Default: 960 by 540 pixels, 64 samples, one frame.
    #[serde(default)]
    pub render: RenderDesc,
    /// Light from all around the scene; black when left out.
    #[serde(default)]
    pub environment: Option<EnvironmentDesc>,
    /// Fog; clear air when left out.
    #[serde(default)]
    pub air: Option<AirDesc>,
    /// Lamps and suns. Default: none. Surfaces and the environment may also emit light.
    #[serde(default)]
    pub lights: Vec<LightDesc>,
    /// Named materials for placements and meshes. Default: none. Surfaces without a material are matt grey.
    #[serde(default)]
    pub materials: Named<MaterialDesc>,
    /// Pictures of a scene that is built in code; not available in files. A texture or an environment that has the name of one uses it in place of
    /// a file.
    #[serde(skip)]
    pub pictures: Named<Arc<TexelImage>>,
    /// Named curves, which placements, meshes and motions can follow. Default: none.
    #[serde(default)]
    pub curves: Named<CurveDesc>,
    /// Named meshes. They are visible only where `instances` place them.
    pub meshes: Named<MeshDesc>,
    /// `groups: { "pair": [Single(of: "ball"), Single(of: "box", translate: (2, 0, 0))] }`: named lists of placements. Any `of` may name a
    /// group instead of a mesh. Groups may contain groups, and repeated contents are stored once. If a placement of a group has a material,
    /// it applies to all contents without their own. Default: none.
    #[serde(default)]
    pub groups: Named<Vec<Placement>>,
    /// Named movements for placements. Default: none.
    #[serde(default)]
    pub motions: Named<MotionDesc>,
    /// Contents of the scene: placements of meshes and groups.
    pub instances: Vec<Placement>,
    /// The camera. Default: a turntable around the whole scene.
    #[serde(default)]
    pub camera: Option<CameraDesc>,
    /// Instead of `camera`: several named cameras. The sequence begins with the first one. Default: none.
    #[serde(default)]
    pub cameras: Named<CameraDesc>,
    /// Switches between `cameras`, at increasing times. Default: none, the first camera is used throughout.
    #[serde(default)]
    pub cuts: Vec<CutDesc>,
}

impl SceneFile {
    /// The first camera of the sequence. None for the default turntable.
    #[doc(hidden)]
    pub fn first_camera(&self) -> Option<&CameraDesc> {
        self.camera.as_ref().or_else(|| self.cameras.0.first().map(|(_, camera)| camera))
    }
}

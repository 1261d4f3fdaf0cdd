//! The list of pages and their contents.

/// A page: its name, its title, the sections of a scene file that it explains, whether their values may be animated, and its types with
/// their headings. The first type has no heading.
pub struct Page {
    pub name: &'static str,
    pub title: &'static str,
    pub sections: &'static [&'static str],
    pub keyed: bool,
    pub things: &'static [(&'static str, &'static str)],
}

const fn page(
    name: &'static str,
    title: &'static str,
    sections: &'static [&'static str],
    keyed: bool,
    things: &'static [(&'static str, &'static str)],
) -> Page {
    Page { name, title, sections, keyed, things }
}

pub const PAGES: [Page; 12] = [
    page(
        "render",
        "Render settings",
        &["render"],
        false,
        &[("RenderDesc", ""), ("Integrator", "integrator"), ("ToneMap", "tone_map"), ("PixelFilter", "filter")],
    ),
    page("environment", "Environments", &["environment"], true, &[("EnvironmentDesc", ""), ("Moon", "moon")]),
    page("air", "Air", &["air"], true, &[("AirDesc", "")]),
    page("lights", "Lights", &["lights"], true, &[("LightDesc", "")]),
    page(
        "materials",
        "Materials",
        &["materials"],
        true,
        &[("MaterialDesc", ""), ("AlphaDesc", "alpha"), ("Wrap", "wrap")],
    ),
    page(
        "meshes",
        "Meshes",
        &["meshes"],
        false,
        &[
            ("MeshDesc", ""),
            ("NoiseDesc", "noise"),
            ("Valley", "valley"),
            ("Bed", "level"),
            ("BedLine", "follow"),
            ("RefitPolicy", "refit"),
            ("Purpose", "purpose"),
            ("FurRules", "where"),
            ("FurWind", "wind"),
            ("StrandProfile", "profile"),
            ("StrandBasis", "basis"),
            ("DisplacementDesc", "displacement"),
            ("SubdivisionScheme", "scheme"),
        ],
    ),
    page("curves", "Curves", &["curves"], false, &[("CurveDesc", "")]),
    page(
        "motions",
        "Motions",
        &["motions"],
        false,
        &[
            ("MotionDesc", ""),
            ("PartDesc", ""),
            ("BendDesc", "bend"),
            ("KeyframeDesc", "key"),
            ("Rotations", "rotations"),
            ("PhaseDesc", "phase"),
        ],
    ),
    page(
        "instances",
        "Placements",
        &["instances"],
        false,
        &[
            ("Placement", ""),
            ("placement", "All placements"),
            ("Each", "each"),
            ("Jitter", "jitter"),
            ("Sample", "at"),
            ("Rules", "where"),
            ("ColorChannel", "vertex_color"),
            ("DropDesc", "drop"),
            ("Align", "align"),
            ("Turn", "turn"),
            ("Choose", "choose"),
            ("Face", "face"),
            ("QuaternionOrder", "quaternion"),
            ("UpAxis", "up"),
        ],
    ),
    page("groups", "Groups", &["groups"], false, &[("SceneFile::groups", "")]),
    page(
        "camera",
        "Cameras and cuts",
        &["camera", "cameras", "cuts"],
        true,
        &[
            ("CameraDesc", ""),
            ("camera", "All cameras"),
            ("SplineKey", "keys"),
            ("Parametrisation", "parametrisation"),
            ("PaceDesc", "pace"),
            ("ProjectionDesc", "projection"),
            ("LensDesc", "lens"),
            ("ShutterDesc", "shutter"),
            ("CutDesc", "cuts"),
        ],
    ),
    page("keys", "Keys", &[], false, &[("Varying", ""), ("EaseDesc", "ease"), ("Ends", "ends")]),
];

//! The labels that users choose by name, such as `depth:npy`.

use std::{fmt, str::FromStr};
use throng_base::choice::{Choice as _, choice};

/// A kind of label, in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// A value for each pixel, in a file for each frame.
    Map(MapKind, MapFormat),
    /// The cameras of all frames.
    Transforms,
    /// Boxes and masks of instances.
    Coco(Categories),
    /// Points on the surfaces that all frames show.
    Points,
}

choice! {
    /// The values of a map. Each is for the ray through the middle of a pixel.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MapKind {
        /// Distance along the camera's axis, in scene units.
        Depth = "depth",
        /// Distance along the ray, in scene units.
        Distance = "distance",
        /// Unit shading normal in world space.
        Normal = "normal",
        /// Unit shading normal along the camera's axes: x to the right, y down, z ahead.
        NormalCamera = "normal-camera",
        /// Optical flow to the next frame, in pixels to the right and down.
        Flow = "flow",
        /// Number of the instance.
        Instance = "instance",
        /// Number of the mesh.
        Mesh = "mesh",
        /// Number of the material.
        Material = "material",
    }
}

choice! {
    /// File format of a map.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MapFormat {
        /// An array of numpy.
        Npy = "npy",
        /// OpenEXR with 32-bit floats.
        Exr = "exr",
        /// PNG with 16 bits.
        Png = "png",
        /// The format of the Middlebury benchmark.
        Flo = "flo",
        /// The PNG format of the KITTI benchmark.
        Kitti = "kitti",
    }
}

choice! {
    /// What the categories of COCO annotations are.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Categories = Names {
        /// Names of instances without their numbers.
        Names = "names",
        /// Names of materials. An instance then has an annotation for each of its materials.
        Materials = "materials",
    }
}

/// A label that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    #[error("unknown label `{0}`; labels are {all}", all = names(MapKind::ALL, "transforms, coco and points"))]
    Kind(String),
    #[error("`{kind}` has no format `{format}`; write {choices}")]
    Format { kind: String, format: String, choices: String },
}

fn names<const N: usize>(kinds: [MapKind; N], end: &str) -> String {
    kinds.iter().map(|kind| format!("{kind}, ")).collect::<String>() + end
}

impl MapKind {
    /// The formats of the map; the first is the default.
    pub fn formats(self) -> &'static [MapFormat] {
        match self {
            Self::Depth | Self::Distance => &[MapFormat::Npy, MapFormat::Exr, MapFormat::Png],
            Self::Normal | Self::NormalCamera => &[MapFormat::Npy],
            Self::Flow => &[MapFormat::Npy, MapFormat::Flo, MapFormat::Kitti],
            Self::Instance | Self::Mesh | Self::Material => &[MapFormat::Png, MapFormat::Npy],
        }
    }

    /// Whether the values are numbers of objects, whose names are in a file beside the maps.
    pub fn is_numbers(self) -> bool {
        matches!(self, Self::Instance | Self::Mesh | Self::Material)
    }
}

impl MapFormat {
    /// The extension of files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Kitti => "png",
            other => other.name(),
        }
    }
}

impl Label {
    /// The end of the name of a frame's file, in place of the picture's extension; none for labels that have one file for all frames.
    pub fn extension(self) -> Option<String> {
        match self {
            Self::Map(kind, format) => Some(format!("{kind}.{}", format.extension())),
            Self::Coco(_) => Some("coco.json".to_owned()),
            Self::Transforms | Self::Points => None,
        }
    }

    /// The name of the file for all frames.
    pub fn shared_file(self) -> Option<&'static str> {
        match self {
            Self::Map(MapKind::Instance, _) => Some("instance.json"),
            Self::Map(MapKind::Mesh, _) => Some("mesh.json"),
            Self::Map(MapKind::Material, _) => Some("material.json"),
            Self::Map(..) => None,
            Self::Transforms => Some("transforms.json"),
            Self::Coco(_) => Some("coco.json"),
            Self::Points => Some("points.ply"),
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Map(kind, format) => write!(f, "{kind}:{format}"),
            Self::Transforms => f.write_str("transforms"),
            Self::Points => f.write_str("points"),
            Self::Coco(categories) => write!(f, "coco:{categories}"),
        }
    }
}

impl FromStr for Label {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let (name, format) = text.split_once(':').map_or((text, None), |(name, format)| (name, Some(format)));
        let wrong = |choices: String| {
            let format = format.unwrap_or_default().to_owned();
            LabelError::Format { kind: name.to_owned(), format, choices }
        };
        match (name, format) {
            ("transforms", None) => Ok(Self::Transforms),
            ("points", None) => Ok(Self::Points),
            ("transforms" | "points", Some(_)) => Err(wrong(name.to_owned())),
            ("coco", None) => Ok(Self::Coco(Categories::default())),
            ("coco", Some(format)) => {
                let categories = Categories::named(format).map(Self::Coco);
                categories.ok_or_else(|| wrong(choices("coco", Categories::ALL.iter().map(|it| it.name()))))
            }
            _ => {
                let kind = MapKind::named(name).ok_or_else(|| LabelError::Kind(text.to_owned()))?;
                let formats = kind.formats();
                let chosen = format.map_or(Some(formats[0]), MapFormat::named);
                let chosen = chosen.filter(|format| formats.contains(format));
                let map = chosen.map(|format| Self::Map(kind, format));
                map.ok_or_else(|| wrong(choices(name, formats.iter().map(|format| format.name()))))
            }
        }
    }
}

/// All forms of a label, like "flow:npy, flow:flo or flow:kitti".
fn choices<'a>(kind: &str, formats: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<String> = formats.map(|format| format!("{kind}:{format}")).collect();
    match all.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => kind.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_is_read_as_it_is_written() {
        for kind in MapKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(Label::Map(kind, kind.formats()[0])));
            for &format in kind.formats() {
                let label = Label::Map(kind, format);
                assert_eq!(label.to_string().parse(), Ok(label));
            }
        }
        for label in
            [Label::Transforms, Label::Points, Label::Coco(Categories::Names), Label::Coco(Categories::Materials)]
        {
            assert_eq!(label.to_string().parse(), Ok(label));
        }
        assert_eq!("coco".parse(), Ok(Label::Coco(Categories::Names)));
    }

    #[test]
    fn errors_have_all_that_could_be_meant() {
        let error = |text: &str| text.parse::<Label>().unwrap_err().to_string();
        assert!(error("masks").starts_with("unknown label `masks`; labels are depth, distance, "));
        assert_eq!(error("flow:png"), "`flow` has no format `png`; write flow:npy, flow:flo or flow:kitti");
        assert_eq!(error("normal:exr"), "`normal` has no format `exr`; write normal:npy");
        assert_eq!(error("coco:x"), "`coco` has no format `x`; write coco:names or coco:materials");
        assert_eq!(error("transforms:json"), "`transforms` has no format `json`; write transforms");
    }

    #[test]
    fn files_of_frames_have_different_names() {
        let kitti = Label::Map(MapKind::Flow, MapFormat::Kitti);
        assert_eq!(kitti.extension().as_deref(), Some("flow.png"));
        assert_eq!(Label::Map(MapKind::Depth, MapFormat::Npy).extension().as_deref(), Some("depth.npy"));
        assert_eq!(Label::Transforms.extension(), None);
    }
}

//! Patterns for names of output files: `frames/####.png`, `{scene}/{frame:04}.png`.

use super::placeholder::{MAX_WIDTH, Piece, escaped, split};
use crate::FileFormat;
use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::Path,
    path::PathBuf,
};
use throng_base::files::{as_file_name, is_separator, name_start};

/// A file name with placeholders for the frame number and the scene's name.
///
/// `####` and `{frame:04}` stand for the frame number, padded with zeros to that width; `{frame}` for the plain number. `{scene}` and
/// `{model}` stand for the scene's name, which is its file's name without the extension. `{animation}` stands for the name of the animation
/// that is played. The notations `%04d`, `$F4`, `@@@@` and `<frame>` of other programs also work. Names need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern<F = FileFormat> {
    pieces: Vec<Piece>,
    format: F,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error("the output name is empty; try frames/####.png")]
    Empty,
    #[error(
        "`{{` has no matching `}}`; placeholders are ####, {{frame}}, {{frame:04}}, {{scene}}, {{model}} and {{animation}}"
    )]
    Unclosed,
    #[error(
        "`}}` has no matching `{{`; placeholders are ####, {{frame}}, {{frame:04}}, {{scene}}, {{model}} and {{animation}}"
    )]
    Unopened,
    #[error(
        "unknown placeholder `{{{0}}}`; placeholders are ####, {{frame}}, {{frame:04}}, {{scene}}, {{model}} and {{animation}}"
    )]
    Unknown(String),
    #[error("frame numbers have at most {MAX_WIDTH} digits")]
    TooWide,
    #[error(
        "`.{found}` files cannot be written, only .png, .jpg, .webp, .exr and .npz, videos (.mp4, .mov, .webm, .mkv) and \
         animations (.gif, .apng, .webp); try `{fix}`"
    )]
    Extension { found: String, fix: String },
    #[error("`{0}` contains a frame number; a video holds all frames in one file")]
    FrameInVideo(String),
    #[error("`{pattern}` has no place for the name of the model, and there are several; try `{fix}`")]
    NoScene { pattern: String, fix: String },
    #[error("`{pattern}` has no place for the name of the animation, and there are several; try `{fix}`")]
    NoAnimation { pattern: String, fix: String },
    #[error("`{{animation}}` requires --animation all, or the names of animations")]
    NothingPlayed,
    #[error("{0} has one place for the pictures of all models; try `{{model}}.png`")]
    OneStream(String),
    #[error("{0} is a film of one picture, and there are several models; render them in separate runs")]
    OneFilm(String),
    #[error("`{pattern}` has no place for the frame number; try `{fix}`")]
    NoFrame { pattern: String, fix: String },
    #[error("`{0}` does not name frames in one folder; write it like frames/####.png")]
    NotFrames(String),
}

/// The file name that is used if only a folder is given.
const IN_FOLDER: &str = "####.png";

impl Pattern {
    /// Parses the argument of `--output`. A text that ends in a separator or names an existing folder gets the file name `####.png`. A name without
    /// extension gets `.png`.
    ///
    /// # Errors
    /// If the name is empty, or has an invalid placeholder or an unknown extension.
    pub fn parse(text: impl AsRef<OsStr>) -> Result<Self, PatternError> {
        let text = text.as_ref();
        let in_folder = |folder: &OsStr| Self::parse_file(Path::new(folder).join(IN_FOLDER));
        match text.as_encoded_bytes() {
            [] => Err(PatternError::Empty),
            [.., last] if is_separator(*last) => in_folder(text),
            _ if Path::new(text).is_dir() => in_folder(text),
            _ => Self::parse_file(text),
        }
    }

    fn parse_file(text: impl AsRef<OsStr>) -> Result<Self, PatternError> {
        Self::parse_known(text, FileFormat::Png, FileFormat::from_extension, "png")
    }
}

impl<F: Copy> Pattern<F> {
    /// Parses a file name. `known` maps extensions to formats. A name without extension gets the extension `default` and the format
    /// `usual`.
    pub(crate) fn parse_known(
        text: impl AsRef<OsStr>,
        usual: F,
        known: impl Fn(&str) -> Option<F>,
        default: &'static str,
    ) -> Result<Self, PatternError> {
        let text = text.as_ref();
        let mut pieces = split(text.as_encoded_bytes())?;
        let mut format = usual;
        match pieces.last_mut() {
            Some(Piece::Text(last)) => match extension(last) {
                Some(ext) => {
                    format = known(&ext).ok_or_else(|| wrong_extension(text, &ext))?;
                }
                None => last.push(format!(".{default}")),
            },
            Some(_) => pieces.push(Piece::Text(format!(".{default}").into())),
            None => return Err(PatternError::Empty),
        }
        Ok(Self { pieces, format })
    }

    /// Whether the pattern has a placeholder for the frame number.
    pub fn has_frame(&self) -> bool {
        self.pieces.iter().any(|p| matches!(p, Piece::Frame { .. }))
    }

    /// Whether the pattern has a placeholder for the scene's name.
    pub fn has_scene(&self) -> bool {
        self.pieces.iter().any(|p| matches!(p, Piece::Scene(_)))
    }

    /// Checks that the pattern has a placeholder for the scene's name if there are several scenes.
    #[doc(hidden)]
    pub fn check_scene_count(&self, scenes: usize) -> Result<(), PatternError> {
        if scenes <= 1 || self.has_scene() {
            return Ok(());
        }
        let (pattern, fix) = self.with_place("{model}");
        Err(PatternError::NoScene { pattern, fix })
    }

    /// The text of the pattern, and the text with a placeholder added before the file name.
    fn with_place(&self, place: &str) -> (String, String) {
        let pattern = self.to_string();
        let (folder, name) = pattern.split_at(name_start(pattern.as_bytes()));
        let fix = format!("{folder}{place}_{name}");
        (pattern, fix)
    }

    /// Whether the pattern has a placeholder for the name of the animation.
    #[doc(hidden)]
    pub fn has_animation(&self) -> bool {
        self.pieces.contains(&Piece::Animation)
    }

    /// The pattern for the animation `name`, which is one of `count`. `name` is used literally, unless it would lead to another folder.
    ///
    /// # Errors
    /// If there are several animations and the pattern has no placeholder for their names.
    #[doc(hidden)]
    pub fn for_animation(&self, name: &str, count: usize) -> Result<Self, PatternError> {
        if count > 1 && !self.has_animation() {
            let (pattern, fix) = self.with_place("{animation}");
            return Err(PatternError::NoAnimation { pattern, fix });
        }
        let piece = |piece: &Piece| match piece {
            Piece::Animation => Piece::Text(as_file_name(name).into()),
            other => other.clone(),
        };
        Ok(Self { pieces: self.pieces.iter().map(piece).collect(), format: self.format })
    }

    /// Returns the pattern if it has no placeholder for the frame number.
    ///
    /// # Errors
    /// If it has one.
    pub(crate) fn without_frame(self) -> Result<Self, PatternError> {
        if self.has_frame() { Err(PatternError::FrameInVideo(self.to_string())) } else { Ok(self) }
    }

    /// Checks that the pattern has a placeholder for the frame number if there are several frames.
    #[doc(hidden)]
    pub fn check_frame_count(&self, frames: usize) -> Result<(), PatternError> {
        if frames <= 1 || self.has_frame() {
            return Ok(());
        }
        let pattern = self.to_string();
        let (stem, extension) = pattern.rsplit_once('.').unwrap_or((&pattern, "png"));
        let fix = format!("{stem}_####.{extension}");
        Err(PatternError::NoFrame { pattern, fix })
    }

    /// The file format.
    #[doc(hidden)]
    pub fn format(&self) -> F {
        self.format
    }

    /// The pattern with another format. The name does not change.
    pub(crate) fn with_format<G>(self, format: G) -> Pattern<G> {
        Pattern { pieces: self.pieces, format }
    }

    /// Path of one frame's file. `scene` is used literally, unless it would lead to another folder.
    pub fn path_for(&self, frame: u32, scene: &str) -> PathBuf {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Frame { width } => format!("{frame:0width$}").into(),
            Piece::Scene(_) => as_file_name(scene).into(),
            // Without an animation, nothing is rendered.
            Piece::Animation => as_file_name("").into(),
        };
        self.pieces.iter().map(text).collect::<OsString>().into()
    }

    /// The innermost folder that holds the files of all frames of `scene`.
    pub fn folder_for(&self, scene: &str) -> PathBuf {
        // Two frames whose numbers differ in every digit.
        let [one, other] = [1, 22_222].map(|frame| self.path_for(frame, scene));
        let folders = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
        let (one, other) = (folders(&one), folders(&other));
        let common = one.components().zip(other.components()).take_while(|(a, b)| a == b);
        common.map(|(component, _)| component).collect()
    }

    /// Describes the location of the frames of `scene` for messages, with `#` for the digits of the frame number.
    #[doc(hidden)]
    pub fn describe(&self, scene: &str) -> String {
        let text = |piece: &Piece| match piece {
            Piece::Scene(_) => as_file_name(scene),
            other => other.to_string(),
        };
        self.pieces.iter().map(text).collect()
    }
}

/// Writes the text from which an equal pattern can be parsed, provided that it is UTF-8.
impl<F> fmt::Display for Pattern<F> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.pieces.iter().try_for_each(|piece| match piece {
            Piece::Text(text) => f.write_str(&escaped(&text.to_string_lossy())),
            place => place.fmt(f),
        })
    }
}

/// The extension of the file name at the end of `text`: everything after its last dot.
fn extension(text: &OsStr) -> Option<String> {
    let bytes = text.as_encoded_bytes();
    let name = &bytes[name_start(bytes)..];
    let dot = name.iter().rposition(|&byte| byte == b'.')?;
    Some(String::from_utf8_lossy(&name[dot + 1..]).into_owned())
}

fn wrong_extension(text: &OsStr, found: &str) -> PatternError {
    let text = text.to_string_lossy();
    let stem = text.strip_suffix(found).unwrap_or(&text);
    PatternError::Extension { found: found.into(), fix: format!("{stem}png") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(pattern: &str, frame: u32) -> String {
        let path = Pattern::parse(pattern).unwrap().path_for(frame, "dra{g}on#");
        path.to_str().unwrap().to_owned()
    }

    fn error(pattern: &str) -> String {
        Pattern::parse(pattern).unwrap_err().to_string()
    }

    #[test]
    fn placeholders_become_numbers_and_names() {
        assert_eq!(path("a/####.png", 7), "a/0007.png");
        assert_eq!(path("a/####.png", 12345), "a/12345.png");
        assert_eq!(path("x{frame}y#.png", 7), "x7y7.png");
        assert_eq!(path("{frame:04}_{frame:02}.PNG", 7), "0007_07.PNG");
        assert_eq!(path("{scene}/{scene}_#.png", 1), "dra{g}on#/dra{g}on#_1.png");
        assert_eq!(path("ünïcode_##.png", 3), "ünïcode_03.png");
    }

    #[test]
    fn all_frames_are_within_one_folder() {
        let folder = |pattern: &str| Pattern::parse(pattern).unwrap().folder_for("dragon");
        assert_eq!(folder("out/{scene}/####.png"), Path::new("out/dragon"));
        assert_eq!(folder("/out/shot_####/a/rgb_####.png"), Path::new("/out"));
        assert_eq!(folder("still.png"), Path::new(""));
        assert_eq!(folder("./#.png"), Path::new("."));
    }

    #[test]
    fn a_missing_extension_is_added() {
        assert_eq!(path("a.b/####", 1), "a.b/0001.png");
        assert_eq!(path("shot.####", 1), "shot.0001.png");
        assert_eq!(path("v1.5/still", 1), "v1.5/still.png");
        assert_eq!(path("{scene}", 1), "dra{g}on#.png");
    }

    #[cfg(windows)]
    #[test]
    fn backslashes_and_drives_are_parts_of_paths() {
        assert_eq!(path(r"C:\a.b\####", 1), r"C:\a.b\0001.png");
        assert_eq!(path(r"not\there\", 3), r"not\there\####.png".replace("####", "0003"));
        let error = Pattern::parse(r"C:\out\a.png").unwrap().check_scene_count(2).unwrap_err().to_string();
        assert!(error.ends_with(r"try `C:\out\{model}_a.png`"), "{error}");
        assert_eq!(Pattern::parse(r"{scene}\#").unwrap().path_for(7, "a:b|c"), Path::new(r"a_b_c\7.png"));
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        for (pattern, scene, path) in [
            ("out/{model}/a.png", "..", "out/__/a.png"),
            ("out/{scene}.png", "../a", "out/.._a.png"),
            ("{model}/####.png", "", "_/0001.png"),
            ("{model}/####.png", "/etc", "_etc/0001.png"),
        ] {
            let pattern = Pattern::parse(pattern).unwrap();
            assert_eq!(pattern.path_for(1, scene), Path::new(path));
            assert!(path.starts_with(pattern.describe(scene).split('#').next().unwrap()));
        }
    }

    #[test]
    fn a_folder_gets_numbered_files() {
        let dir = tempfile::tempdir().unwrap();
        let name = dir.path().to_str().unwrap();
        assert_eq!(Path::new(&path(name, 3)), dir.path().join("0003.png"));
        assert_eq!(Path::new(&path("not/there/yet/", 3)), Path::new("not/there/yet/0003.png"));
        assert_eq!(Path::new(&path(".", 3)), Path::new("./0003.png"));
    }

    #[test]
    fn mistakes_are_named() {
        assert!(error("").contains("is empty"));
        assert!(error("{frame.png").contains("`{` has no matching `}`"));
        assert!(error("frame}.png").contains("`}` has no matching `{`"));
        assert!(error("{shot}.png").contains("unknown placeholder `{shot}`"));
        assert!(error("{frame:}.png").contains("unknown placeholder `{frame:}`"));
        assert!(error("{frame:4}.png").contains("unknown placeholder `{frame:4}`"));
        assert!(error("{frame:0x}.png").contains("unknown placeholder"));
        assert!(error("{frame:099}.png").contains("at most 20 digits"));
        assert!(error(&"#".repeat(70_000)).contains("at most 20 digits"));
        assert!(error("a_##.tif").contains("only .png, .jpg, .webp, .exr and .npz"));
        assert!(error("a_##.tif").ends_with("try `a_##.png`"));
        assert!(error("a.").contains("try `a.png`"));
    }

    #[test]
    fn several_frames_need_a_number() {
        let pattern = Pattern::parse("out/still").unwrap();
        assert_eq!(pattern.check_frame_count(1), Ok(()));
        let error = pattern.check_frame_count(2).unwrap_err().to_string();
        assert!(error.ends_with("try `out/still_####.png`"), "{error}");
        assert_eq!(Pattern::parse("#").unwrap().check_frame_count(2), Ok(()));
        let pattern: Pattern = Pattern::parse("still.exr").unwrap();
        let error = pattern.check_frame_count(2).unwrap_err().to_string();
        assert!(error.ends_with("try `still_####.exr`"), "{error}");
    }

    #[test]
    fn several_models_need_their_name() {
        assert_eq!(path("thumbs/{model}", 1), "thumbs/dra{g}on#.png");
        let error = |text: &str| Pattern::parse(text).unwrap().check_scene_count(2).unwrap_err().to_string();
        assert!(error("out/a.png").ends_with("try `out/{model}_a.png`"));
        assert!(error("/a.png").ends_with("try `/{model}_a.png`"));
        assert!(error("####.png").ends_with("try `{model}_####.png`"));
        for text in ["{model}", "{scene}/#.png"] {
            assert_eq!(Pattern::parse(text).unwrap().check_scene_count(2), Ok(()));
        }
        assert_eq!(Pattern::parse("a.png").unwrap().check_scene_count(1), Ok(()));
    }

    #[test]
    fn several_animations_need_their_name() {
        let of = |text: &str, count| Pattern::parse(text).unwrap().for_animation("a/b", count);
        let files = of("out/{animation}/{scene}_##", 2).unwrap();
        assert_eq!(files.path_for(7, "fox"), Path::new("out/a_b/fox_07.png"));
        assert_eq!(of("####.png", 1).unwrap().path_for(1, "fox"), Path::new("0001.png"));
        let error = of("out/a.png", 2).unwrap_err().to_string();
        assert!(error.ends_with("try `out/{animation}_a.png`"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn names_need_not_be_utf8() {
        use std::os::unix::ffi::OsStrExt;
        let name = |bytes: &'static [u8]| OsStr::from_bytes(bytes).to_owned();
        let pattern = Pattern::parse(name(b"\xff/\xfe_##.png")).unwrap();
        assert_eq!(pattern.path_for(7, "s"), Path::new(&name(b"\xff/\xfe_07.png")));
        let plain = Pattern::parse(name(b"\xff")).unwrap();
        assert_eq!(plain.path_for(7, "s"), Path::new(&name(b"\xff.png")));
        assert!(Pattern::parse(name(b"a.\xff")).is_err());
        assert!(Pattern::parse(name(b"{\xff}.png")).is_err());
    }

    #[test]
    fn a_shown_pattern_parses_to_itself() {
        for text in [
            "a_####.png",
            "{scene}/{frame}.EXR",
            "{frame:02}{scene}",
            "{model}.webp",
            "{animation}.png",
            "a@%%04d_$F4.png",
            "<f3>.@",
        ] {
            let pattern = Pattern::parse(text).unwrap();
            assert_eq!(Pattern::parse(pattern.to_string()).unwrap(), pattern);
        }
        let literal = Pattern::parse("%%04d_##").unwrap();
        assert_eq!((literal.to_string(), literal.describe("s")), ("%%04d_##.png".into(), "%04d_##.png".into()));
        let pattern = Pattern::parse("{scene}/{frame:03}").unwrap();
        assert_eq!(pattern.describe("s"), "s/###.png");
    }
}

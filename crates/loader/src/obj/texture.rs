//! Textures in MTL files: options, followed by a file name that may contain spaces.

use crate::cutout::Channel;
use glam::{Affine2, Vec2};
use throng_scene::Wrap;

/// A texture as specified in an MTL file.
#[derive(Clone, Debug, PartialEq)]
pub struct MtlTexture {
    /// The file name, with `/` as separator.
    pub file: String,
    pub line: usize,
    /// `-clamp on`
    pub clamp: bool,
    /// `-s`
    pub scale: Vec2,
    /// `-o`
    pub offset: Vec2,
    /// `-imfchan`
    pub channel: Channel,
}

impl MtlTexture {
    /// The wrap mode: as specified in the file, or else `default`.
    pub fn wrap(&self, default: Wrap) -> Wrap {
        if self.clamp { Wrap::Clamp } else { default }
    }

    /// The transform from the mesh's texture coordinates to the picture's.
    pub fn transform(&self) -> Affine2 {
        Affine2::from_scale_angle_translation(self.scale, 0.0, self.offset)
    }

    /// Applies an option. Returns whether it is supported.
    fn set(&mut self, keyword: &str, option: &str, arguments: &[&str]) -> bool {
        let vector = |default: f32| {
            let number = |i: usize| arguments.get(i).map_or(Some(default), |word| word.parse().ok());
            let vector = number(0).zip(number(1)).map(|(u, v)| Vec2::new(u, v));
            vector.filter(|v| v.is_finite())
        };
        match option {
            "-clamp" => self.clamp = arguments.first() == Some(&"on"),
            "-s" => match vector(1.0) {
                Some(scale) => self.scale = scale,
                None => return false,
            },
            "-o" => match vector(0.0) {
                Some(offset) => self.offset = offset,
                None => return false,
            },
            "-imfchan" if keyword == "map_d" => match arguments.first().and_then(|name| channel(name)) {
                Some(channel) => self.channel = channel,
                None => return false,
            },
            // These are the defaults, so they need no support.
            "-blendu" | "-blendv" => return arguments == ["on"],
            "-cc" => return arguments == ["off"],
            "-mm" => return arguments == ["0", "1"],
            _ => return false,
        }
        true
    }
}

fn channel(name: &str) -> Option<Channel> {
    Some(match name {
        "r" => Channel::Red,
        "g" => Channel::Green,
        "b" => Channel::Blue,
        "m" => Channel::Alpha,
        "l" => Channel::Brightness,
        _ => return None,
    })
}

/// Parses the text after `keyword`. Also returns a warning for each option without effect.
///
/// # Errors
/// If the file name is missing.
pub fn parse(line: usize, keyword: &str, text: &str) -> Result<(MtlTexture, Vec<String>), String> {
    let mut texture = MtlTexture {
        file: String::new(),
        line,
        clamp: false,
        scale: Vec2::ONE,
        offset: Vec2::ZERO,
        channel: Channel::Automatic,
    };
    let mut warnings = Vec::new();
    let (name, behind) = name_before_options(text.trim());
    let mut read_options = |text: &str| {
        let (options, rest) = options(text);
        for (option, arguments) in options {
            if !texture.set(keyword, option, &arguments) {
                let unknown = if argument_count(option).is_some() { "" } else { "not known and " };
                warnings.push(format!("the option {option} is {unknown}ignored"));
            }
        }
        rest.to_owned()
    };
    let name = read_options(name);
    read_options(behind);
    let name = name.trim().trim_matches('"').trim();
    if name.is_empty() {
        return Err("the texture's file name is missing: the line is ignored".to_owned());
    }
    texture.file = name.replace('\\', "/");
    Ok((texture, warnings))
}

/// Splits a text before the options that some programs write after the file name.
fn name_before_options(text: &str) -> (&str, &str) {
    let ends = text.match_indices(" -").map(|(at, _)| at);
    let is_end = |&at: &usize| {
        let (name, options) = text.split_at(at);
        let option = options.split_whitespace().next().unwrap_or_default();
        argument_count(option).is_some() && !name.starts_with('-') && name.contains('.')
    };
    ends.into_iter().find(is_end).map_or((text, ""), |at| text.split_at(at))
}

/// Splits a text into the options at its start, with their arguments, and the rest.
fn options(text: &str) -> (Vec<(&str, Vec<&str>)>, &str) {
    let (mut options, mut rest) = (Vec::new(), text.trim());
    while rest.starts_with('-') {
        let (option, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let count = match (argument_count(option), after.split_whitespace().count()) {
            (Some(count), _) => count,
            // A file name may start with a dash.
            (None, 0) => break,
            // The last word is the file name.
            (None, 1) => (0, 0),
            (None, more) => (1, more - 1),
        };
        let (arguments, after) = take_arguments(after, count);
        options.push((option, arguments));
        rest = after;
    }
    (options, rest)
}

/// Minimum and maximum number of arguments of a texture option.
fn argument_count(option: &str) -> Option<(usize, usize)> {
    match option {
        "-o" | "-s" | "-t" => Some((1, 3)),
        "-mm" => Some((2, 2)),
        "-bm" | "-blendu" | "-blendv" | "-boost" | "-cc" | "-clamp" | "-imfchan" | "-texres" | "-type" => Some((1, 1)),
        "-colorspace" => Some((1, 1)),
        _ => None,
    }
}

fn take_arguments(mut text: &str, (fewest, most): (usize, usize)) -> (Vec<&str>, &str) {
    let mut taken = Vec::new();
    while taken.len() < most {
        text = text.trim_start();
        let (word, after) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if word.is_empty() || (taken.len() >= fewest && word.parse::<f32>().is_err()) {
            break;
        }
        taken.push(word);
        text = after;
    }
    (taken, text.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (MtlTexture, Vec<String>) {
        parse(1, "map_d", text).unwrap()
    }

    #[test]
    fn scales_and_offsets_move_texture_coordinates() {
        let (texture, warnings) = read("-o 0.5 0.25 0 -s 2 q.png");
        assert_eq!(texture.transform().transform_point2(Vec2::new(1.0, 1.0)), Vec2::new(2.5, 1.25));
        assert!(warnings.is_empty());
        let (texture, warnings) = read("-s nan 1 1 q.png");
        assert_eq!((texture.transform(), texture.file.as_str()), (Affine2::IDENTITY, "q.png"));
        assert_eq!(warnings, ["the option -s is ignored"]);
    }

    #[test]
    fn names_are_what_remains() {
        for (text, name) in [
            ("my tex.png", "my tex.png"),
            ("\"my tex.png\"", "my tex.png"),
            ("C:\\maps\\my tex.png", "C:/maps/my tex.png"),
            ("-colorspace sRGB my tex.png", "my tex.png"),
            ("-zz on my.png", "my.png"),
            ("-zz 1 2 3 my tex.png", "my tex.png"),
            ("-zz my.png", "my.png"),
            ("-odd.png", "-odd.png"),
            ("my tex.png -bm 0.5 -s 2 2 2", "my tex.png"),
            ("a -s b.png", "a -s b.png"),
        ] {
            assert_eq!(read(text).0.file, name, "{text}");
        }
        assert_eq!(read("my tex.png -s 3").0.scale, Vec2::new(3.0, 1.0));
        assert!(parse(1, "map_Kd", "-s 1 1 1").is_err());
    }

    #[test]
    fn options_without_effect_are_warned_of() {
        let options =
            "-blendu on -blendv off -cc off -mm 0 1 -texres 512 -imfchan m -t 1 1 1 -boost 2 -type sphere q.png";
        let (texture, warnings) = read(options);
        let told = ["-blendv", "-texres", "-t", "-boost", "-type"].map(|o| format!("the option {o} is ignored"));
        assert_eq!((texture.channel, warnings), (Channel::Alpha, told.to_vec()));
        let (_, warnings) = parse(1, "map_Kd", "-imfchan m q.png").unwrap();
        assert_eq!(warnings, ["the option -imfchan is ignored"]);
    }
}

//! Wavefront MTL: diffuse and emitted colours and their textures; the rest is for other renderers.

use super::{LoadError, files, obj::Lines};
use crate::scene::Wrap;
use glam::Vec3;
use std::path::{Path, PathBuf};

/// A texture as an MTL file names it.
#[derive(Clone, Debug, PartialEq)]
pub struct MtlTexture {
    pub file: String,
    pub line: usize,
    pub clamp: bool,
}

impl MtlTexture {
    /// How it wraps: as the file says, or else `default`.
    pub fn wrap(&self, default: Wrap) -> Wrap {
        if self.clamp { Wrap::Clamp } else { default }
    }
}

/// One `newmtl` entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MtlMaterial {
    pub name: String,
    pub diffuse: Option<Vec3>,
    pub diffuse_texture: Option<MtlTexture>,
    pub emission: Option<Vec3>,
    pub emission_texture: Option<MtlTexture>,
}

/// An MTL file.
#[derive(Debug, Default)]
pub struct MtlData {
    pub path: PathBuf,
    pub materials: Vec<MtlMaterial>,
    pub warnings: Vec<String>,
}

/// Reads a whole MTL file.
///
/// # Errors
/// When it cannot be read or one of the lines that matter is malformed.
pub fn read(path: &Path) -> Result<MtlData, LoadError> {
    parse(path, &files::read(path)?)
}

/// As [`read`], from bytes; `path` is for messages.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<MtlData, LoadError> {
    let mut data = MtlData {
        path: path.into(),
        ..MtlData::default()
    };
    for (line, text) in Lines::new(bytes) {
        let fail = |message: String| LoadError::line(path, line, message);
        let text = text.trim();
        let (keyword, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if keyword == "newmtl" {
            data.materials.push(MtlMaterial {
                name: rest.trim().to_owned(),
                ..MtlMaterial::default()
            });
            continue;
        }
        let Some(material) = data.materials.last_mut() else {
            continue;
        };
        match keyword {
            "Kd" => material.diffuse = Some(color(rest).map_err(fail)?),
            "Ke" => material.emission = Some(color(rest).map_err(fail)?),
            "map_Kd" | "map_Ke" => {
                let (texture, ignored) = texture(line, rest).map_err(fail)?;
                if let Some(option) = ignored {
                    data.warnings.push(format!(
                        "{}:{line}: the option {option} is ignored",
                        path.display()
                    ));
                }
                let slot = if keyword == "map_Kd" {
                    &mut material.diffuse_texture
                } else {
                    &mut material.emission_texture
                };
                *slot = Some(texture);
            }
            _ => {}
        }
    }
    Ok(data)
}

/// `r g b`, or one number for all three.
fn color(text: &str) -> Result<Vec3, String> {
    let parse = |w: &str| w.parse::<f32>().ok().filter(|x| x.is_finite() && *x >= 0.0);
    let values: Option<Vec<f32>> = text.split_whitespace().take(3).map(parse).collect();
    match values.as_deref() {
        Some(&[r, g, b]) => Ok(Vec3::new(r, g, b)),
        Some(&[grey]) => Ok(Vec3::splat(grey)),
        _ => Err(format!(
            "`{text}` is not a colour: write three finite numbers, none negative"
        )),
    }
}

/// Options, then a file name that may contain spaces; also the first option that has no effect.
fn texture(line: usize, text: &str) -> Result<(MtlTexture, Option<String>), String> {
    let (mut rest, mut clamp, mut ignored) = (text.trim(), false, None);
    while rest.starts_with('-') {
        let (option, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let count =
            argument_count(option).ok_or_else(|| format!("unknown texture option `{option}`"))?;
        let (arguments, after) = take_arguments(after, count);
        if option == "-clamp" {
            clamp = arguments.first() == Some(&"on");
        } else {
            ignored.get_or_insert_with(|| option.to_owned());
        }
        rest = after;
    }
    if rest.is_empty() {
        return Err("the texture's file name is missing".to_owned());
    }
    Ok((
        MtlTexture {
            file: rest.replace('\\', "/"),
            line,
            clamp,
        },
        ignored,
    ))
}

/// Fewest and most arguments of a texture option.
fn argument_count(option: &str) -> Option<(usize, usize)> {
    match option {
        "-o" | "-s" | "-t" => Some((1, 3)),
        "-mm" => Some((2, 2)),
        "-bm" | "-blendu" | "-blendv" | "-boost" | "-cc" | "-clamp" | "-imfchan" | "-texres"
        | "-type" => Some((1, 1)),
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

    fn parse_text(text: &str) -> Result<MtlData, String> {
        parse(Path::new("a.mtl"), text.as_bytes()).map_err(|e| e.to_string())
    }

    #[test]
    fn colours_textures_and_options_are_read() {
        let text = "newmtl a b\nKd 0.1 0.2 0.3\nKe 1\nmap_Kd -s 2 2 -clamp on my tex.png\nmap_Ke sub\\glow.png\nNs 3\n";
        let d = parse_text(text).unwrap_or_default();
        let m = &d.materials[0];
        assert_eq!(
            (m.name.as_str(), m.diffuse, m.emission),
            ("a b", Some(Vec3::new(0.1, 0.2, 0.3)), Some(Vec3::ONE))
        );
        let texture = MtlTexture {
            file: "my tex.png".into(),
            line: 4,
            clamp: true,
        };
        assert_eq!(m.diffuse_texture, Some(texture));
        assert_eq!(
            m.emission_texture.as_ref().map(|t| t.file.as_str()),
            Some("sub/glow.png")
        );
        assert_eq!(d.warnings, ["a.mtl:4: the option -s is ignored"]);
    }

    #[test]
    fn errors_name_the_line() {
        let cases = [
            ("newmtl a\nKd 1 0\n", "a.mtl:2: `1 0` is not a colour"),
            (
                "newmtl a\nKd nan 0 0\n",
                "a.mtl:2: `nan 0 0` is not a colour",
            ),
            (
                "newmtl a\n\nmap_Kd\n",
                "a.mtl:3: the texture's file name is missing",
            ),
            (
                "newmtl a\nmap_Kd -zz x.png\n",
                "a.mtl:2: unknown texture option `-zz`",
            ),
        ];
        for (text, expected) in cases {
            let e = parse_text(text).err().unwrap_or_default();
            assert!(e.starts_with(expected), "{text:?}: {e}");
        }
    }
}

//! Wavefront MTL: diffuse and emitted colours, opacity, their textures, and the extension for physically based materials. All other
//! statements are ignored. A line that cannot be parsed is skipped with a warning.

use super::{
    lines::{Lines, material_name},
    texture::{self, MtlTexture},
};
use crate::pieces::Pieces;
use glam::Vec3;
use std::path::{Path, PathBuf};

/// One `newmtl` entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MtlMaterial {
    pub name: String,
    pub diffuse: Option<Vec3>,
    pub diffuse_texture: Option<MtlTexture>,
    pub emission: Option<Vec3>,
    pub emission_texture: Option<MtlTexture>,
    pub transparency: Transparency,
    /// Properties that apply only if roughness or metalness is specified.
    pub surface: MtlSurface,
}

/// Opacity of a material as specified in the file. All numbers are from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transparency {
    /// `d`
    pub opacity: Option<f32>,
    /// `Tr`
    pub transparency: Option<f32>,
    /// Line of the last of both statements.
    pub line: usize,
    /// `map_d`
    pub texture: Option<MtlTexture>,
}

impl Transparency {
    /// The intended opacity. None if the specified values would make the material invisible, which is rarely intended: some programs swap
    /// `d` and `Tr`, and others write 0 for both.
    pub fn opacity(&self) -> Option<f32> {
        match (self.opacity, self.transparency) {
            (Some(0.0), Some(1.0)) => Some(0.0),
            (Some(0.0), Some(clear)) if clear > 0.0 => Some(1.0 - clear),
            (Some(0.0), _) | (None, Some(1.0)) => None,
            (Some(opacity), _) => Some(opacity),
            (None, Some(clear)) => Some(1.0 - clear),
            (None, None) => Some(1.0),
        }
    }

    fn state(&mut self, line: usize, keyword: &str, value: f32) {
        self.line = line;
        match keyword {
            "d" => self.opacity = Some(value),
            _ => self.transparency = Some(value),
        }
    }
}

/// The extension for physically based materials, and statements that only apply together with it, because exporters otherwise write
/// arbitrary values. All numbers are from 0 to 1, except the refractive index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MtlSurface {
    /// `Pr`
    pub roughness: Option<f32>,
    /// `Pm`
    pub metallic: Option<f32>,
    /// `Pc` and `Pcr`
    pub clearcoat: f32,
    pub clearcoat_roughness: f32,
    /// `aniso`, and `anisor`, a rotation in full turns.
    pub anisotropy: f32,
    pub rotation: f32,
    /// `Ni`
    pub ior: Option<f32>,
    /// `norm`
    pub normal_texture: Option<MtlTexture>,
}

impl MtlSurface {
    /// Whether the file specifies a physically based material.
    pub fn is_stated(&self) -> bool {
        self.roughness.is_some() || self.metallic.is_some()
    }
}

/// An MTL file.
#[derive(Debug, Default)]
pub struct MtlData {
    pub path: PathBuf,
    pub materials: Vec<MtlMaterial>,
    pub warnings: Vec<String>,
}

/// Parses an MTL file; `path` is for messages.
pub fn parse(path: &Path, bytes: &[u8]) -> MtlData {
    let mut data = MtlData { path: path.into(), ..MtlData::default() };
    let mut lines = Lines::new(Pieces::of(bytes));
    while let Ok(Some((line, text))) = lines.next() {
        let text = text.trim();
        let (keyword, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if keyword == "newmtl" {
            let name = material_name(rest).to_owned();
            data.materials.push(MtlMaterial { name, ..MtlMaterial::default() });
        } else if let Some(material) = data.materials.last_mut() {
            // Some programs write `map_kd`.
            let keyword = keyword.to_ascii_lowercase();
            let warnings = material.read(line, &keyword, rest.trim()).unwrap_or_else(|fault| vec![fault]);
            let path = path.display();
            data.warnings.extend(warnings.iter().map(|warning| format!("{path}:{line}: {warning}")));
        }
    }
    data
}

impl MtlMaterial {
    /// Parses a line whose keyword, in lower case, is supported; ignores others. Returns warnings.
    ///
    /// # Errors
    /// The reason why the line is skipped.
    fn read(&mut self, line: usize, keyword: &str, rest: &str) -> Result<Vec<String>, String> {
        let mut warnings = Vec::new();
        let surface = &mut self.surface;
        let place = match keyword {
            "map_kd" => &mut self.diffuse_texture,
            "map_ke" => &mut self.emission_texture,
            "map_d" => &mut self.transparency.texture,
            "norm" => &mut surface.normal_texture,
            _ => {
                match keyword {
                    "kd" => self.diffuse = Some(color(rest, &mut warnings)?),
                    "ke" => self.emission = Some(color(rest, &mut warnings)?),
                    "d" | "tr" => {
                        let value = rest.strip_prefix("-halo").unwrap_or(rest);
                        self.transparency.state(line, keyword, share(value)?);
                    }
                    "pr" => surface.roughness = Some(share(rest)?),
                    "pm" => surface.metallic = Some(share(rest)?),
                    "pc" => surface.clearcoat = share(rest)?,
                    "pcr" => surface.clearcoat_roughness = share(rest)?,
                    "aniso" => surface.anisotropy = share(rest)?,
                    "anisor" => surface.rotation = share(rest)?,
                    // Programs that do not support the extension also write this statement, with arbitrary values.
                    "ni" => surface.ior = rest.parse().ok().filter(|ior| (1.0..=10.0).contains(ior)),
                    _ => {}
                }
                return Ok(warnings);
            }
        };
        let (texture, ignored) = texture::parse(line, keyword, rest)?;
        *place = Some(texture);
        warnings.extend(ignored);
        Ok(warnings)
    }
}

/// Parses `r g b`, or one number for all three. Negative numbers become 0, with a warning.
fn color(text: &str, warnings: &mut Vec<String>) -> Result<Vec3, String> {
    let parse = |w: &str| w.parse::<f32>().ok().filter(|x| x.is_finite());
    let values: Option<Vec<f32>> = text.split_whitespace().take(3).map(parse).collect();
    let color = match values.as_deref() {
        Some(&[r, g, b]) => Vec3::new(r, g, b),
        Some(&[grey]) => Vec3::splat(grey),
        _ => return Err(format!("`{text}` is not a colour and ignored: write three finite numbers, none negative")),
    };
    if color.min_element() < 0.0 {
        warnings.push(format!("`{text}` is negative, 0 is used"));
    }
    Ok(color.max(Vec3::ZERO))
}

/// Parses the number at the start of a text, and clamps it to 0 to 1.
fn share(text: &str) -> Result<f32, String> {
    let word = text.split_whitespace().next();
    let number = word.and_then(|word| word.parse::<f32>().ok()).filter(|x| x.is_finite());
    let share = number.map(|x| x.clamp(0.0, 1.0));
    share.ok_or_else(|| format!("`{text}` is not a number and ignored: write one from 0 to 1"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse_text(text: &str) -> MtlData {
        parse(Path::new("a.mtl"), text.as_bytes())
    }

    #[test]
    fn colours_textures_and_options_are_read() {
        let text = "newmtl a b\nKd 0.1 0.2 0.3\nKe 1\nmap_Kd -s 2 3 -clamp on my tex.png\nmap_Ke sub\\glow.png\nNs 3\n";
        let d = parse_text(text);
        let m = &d.materials[0];
        assert_eq!((m.name.as_str(), m.diffuse, m.emission), ("a b", Some(Vec3::new(0.1, 0.2, 0.3)), Some(Vec3::ONE)));
        let texture = m.diffuse_texture.as_ref().map(|t| (t.file.as_str(), t.line, t.clamp, t.scale.to_array()));
        assert_eq!(texture, Some(("my tex.png", 4, true, [2.0, 3.0])));
        assert_eq!(m.emission_texture.as_ref().map(|t| t.file.as_str()), Some("sub/glow.png"));
        assert!(d.warnings.is_empty(), "{:?}", d.warnings);
    }

    #[test]
    fn physically_based_materials_are_read() {
        let text = "newmtl a\nPr 0.25\nPm 2\nPc 0.5\nPcr 0.1\naniso 0.3\nanisor 0.5\nNi 1.4\nd 0.75\nnorm n.png\nnewmtl b\nNi 0\nTr 0.25\n";
        let d = parse_text(text);
        let [a, b] = [0, 1].map(|i| &d.materials[i].surface);
        assert_eq!((a.roughness, a.metallic), (Some(0.25), Some(1.0)));
        assert_eq!((a.clearcoat, a.clearcoat_roughness), (0.5, 0.1));
        assert_eq!((a.anisotropy, a.rotation), (0.3, 0.5));
        let file = a.normal_texture.as_ref().map(|t| t.file.as_str());
        assert_eq!((a.ior, b.ior, file), (Some(1.4), None, Some("n.png")));
        assert!(a.is_stated() && !b.is_stated());
        assert_eq!([0, 1].map(|i| d.materials[i].transparency.opacity()), [Some(0.75); 2]);
    }

    #[test]
    fn opacity_is_what_writers_mean_by_it() {
        let cases = [
            ("", Some(1.0)),
            ("d 0.5", Some(0.5)),
            ("d -halo 0.5 # half", Some(0.5)),
            ("Tr 0.25", Some(0.75)),
            ("d 1\nTr 1", Some(1.0)),
            ("d 0.25\nTr 0.25", Some(0.25)),
            ("Tr 0.5\nd 0", Some(0.5)),
            ("d 0\nTr 1", Some(0.0)),
            ("d 0", None),
            ("d 0\nTr 0", None),
            ("Tr 1", None),
        ];
        for (lines, expected) in cases {
            let d = parse_text(&format!("newmtl a\n{lines}\n"));
            assert_eq!(d.materials[0].transparency.opacity(), expected, "{lines}");
        }
    }

    #[test]
    fn lines_that_cannot_be_read_are_left_out_with_a_warning() {
        let cases = [
            ("newmtl a\nKd 1 0\n", "a.mtl:2: `1 0` is not a colour"),
            ("newmtl a\nKd nan 0 0\n", "a.mtl:2: `nan 0 0` is not a colour"),
            ("newmtl a\nKd 1 -1 0\n", "a.mtl:2: `1 -1 0` is negative, 0 is used"),
            ("newmtl a\nPr shiny\n", "a.mtl:2: `shiny` is not a number"),
            ("newmtl a\nd thin\n", "a.mtl:2: `thin` is not a number"),
            ("newmtl a\n\nmap_Kd\n", "a.mtl:3: the texture's file name is missing"),
            ("newmtl a\rmap_Kd -zz x y.png\r", "a.mtl:2: the option -zz is not known and ignored"),
        ];
        for (text, expected) in cases {
            let d = parse_text(text);
            assert!(d.warnings.len() == 1 && d.warnings[0].starts_with(expected), "{text:?}: {:?}", d.warnings);
        }
    }

    #[test]
    fn what_other_programs_write_is_read() {
        let text = "\u{feff}newmtl\nKs 1\nKa x y\nNs\nillum 9999\nKd 1 0 0 1\nnewmtl\tb\nmap_ke\tglow.png\n";
        let d = parse_text(text);
        let names: Vec<_> = d.materials.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["unnamed", "b"]);
        assert_eq!(d.materials[0].diffuse, Some(Vec3::X));
        let glow = d.materials[1].emission_texture.as_ref();
        assert_eq!(glow.map(|t| (t.file.as_str(), t.line)), Some(("glow.png", 8)));
    }

    fn assert_sound(bytes: &[u8]) {
        for m in parse(Path::new("a.mtl"), bytes).materials {
            assert!(m.diffuse.is_none_or(|c| c.is_finite() && c.min_element() >= 0.0));
            assert!(
                m.diffuse_texture.is_none_or(|t| t.scale.is_finite() && t.offset.is_finite() && !t.file.is_empty())
            );
        }
    }

    const WORDS: [&str; 25] = [
        "Pr", "norm", "d", "aniso", "newmtl", "newmtl", "Kd", "Kd", "Ke", "map_Kd", "map_Ke", "Ks", "Ns", "illum",
        "bump", "-clamp", "-s", "-zz", "on", "0", "1", "-1", "inf", "é\t", "\\",
    ];

    proptest! {
        #![proptest_config(throng_testing::same_cases(256))]

        #[test]
        fn mutated_files_never_panic(edits in prop::collection::vec((0usize..200, any::<u8>()), 1..8)) {
            let mut bytes = b"newmtl a\nKd 1 0 0\nKe 1\nKs 1 1 1\nmap_Kd -s 1 1 -clamp on a b.png\nmap_Ke e.png\nnewmtl b\n".to_vec();
            for (at, value) in edits {
                let n = bytes.len();
                bytes[at % n] = value;
            }
            assert_sound(&bytes);
        }

        #[test]
        fn files_of_random_words_never_panic(
            lines in prop::collection::vec(prop::collection::vec(prop::sample::select(&WORDS), 1..6), 1..6),
        ) {
            let lines: Vec<String> = lines.iter().map(|words| words.join(" ")).collect();
            assert_sound(lines.join("\n").as_bytes());
            assert_sound(format!("newmtl a\n{}", lines.join("\n")).as_bytes());
        }
    }
}

//! Wavefront MTL: diffuse and emitted colours and their textures, and the extension for physically based materials. The rest is
//! for other renderers.
//!
//! tobj parses the files; the scan in front finds the faulty line and keeps from tobj what it panics on.

use super::lines::{Lines, material_name};
use crate::loader::LoadError;
use crate::{guard::guarded, scene::Wrap};
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
    /// Properties that count only if roughness or metalness is stated.
    pub surface: MtlSurface,
}

/// The extension for physically based materials, and statements that count only with it, since exporters write them elsewhere
/// without meaning them. All numbers are 0 to 1, except the refractive index.
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
    /// `d`, or 1 - `Tr`
    pub opacity: Option<f32>,
    /// `norm`
    pub normal_texture: Option<MtlTexture>,
}

impl MtlSurface {
    /// Whether the file states a physically based material.
    pub fn is_stated(&self) -> bool {
        self.roughness.is_some() || self.metallic.is_some()
    }

    /// Reads a line, if its keyword is one of these.
    fn line(&mut self, line: usize, keyword: &str, rest: &str) -> Result<(), String> {
        match keyword {
            "Pr" => self.roughness = Some(share(rest)?),
            "Pm" => self.metallic = Some(share(rest)?),
            "Pc" => self.clearcoat = share(rest)?,
            "Pcr" => self.clearcoat_roughness = share(rest)?,
            "aniso" => self.anisotropy = share(rest)?,
            "anisor" => self.rotation = share(rest)?,
            "norm" => self.normal_texture = Some(texture(line, rest)?.0),
            // Programs that know nothing of the extension write these, too, and all sorts of things.
            "Ni" => self.ior = rest.trim().parse().ok().filter(|ior| (1.0..=10.0).contains(ior)),
            "d" => self.opacity = share(rest).ok(),
            "Tr" => self.opacity = share(rest).ok().map(|clear| 1.0 - clear),
            _ => {}
        }
        Ok(())
    }
}

/// An MTL file.
#[derive(Debug, Default)]
pub struct MtlData {
    pub path: PathBuf,
    pub materials: Vec<MtlMaterial>,
    pub warnings: Vec<String>,
}

/// Reads a whole MTL file from its bytes; `path` is for messages.
///
/// # Errors
/// When one of the lines that matter is malformed.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<MtlData, LoadError> {
    let scan = scan(path, bytes)?;
    let read = || tobj::load_mtl_buf(&mut scan.restated.as_bytes()).map_err(|e| e.to_string());
    let (parsed, _) = guarded(read, |words| format!("the file is damaged: {words}"))
        .map_err(|message| LoadError::file(path, message))?;
    let mut data = MtlData { path: path.into(), ..MtlData::default() };
    let materials = scan.texture_lines.into_iter().zip(scan.surfaces);
    for (material, (lines, surface)) in parsed.into_iter().zip(materials) {
        data.add(material, lines, surface)?;
    }
    Ok(data)
}

/// The parts of an MTL file that tobj would lose, and the rest restated for it.
#[derive(Default)]
struct MtlScan {
    /// Lines of each material's `map_Kd` and `map_Ke`; the last ones count.
    texture_lines: Vec<[usize; 2]>,
    /// Surface of each material.
    surfaces: Vec<MtlSurface>,
    /// The lines that matter, with complete colours: tobj panics on others.
    restated: String,
}

fn scan(path: &Path, bytes: &[u8]) -> Result<MtlScan, LoadError> {
    let mut scan = MtlScan::default();
    for (line, text) in Lines::new(bytes) {
        scan.line(line, text.trim()).map_err(|message| LoadError::line(path, line, message))?;
    }
    Ok(scan)
}

impl MtlScan {
    /// Scans a line. Lines before the first material are left out.
    fn line(&mut self, line: usize, text: &str) -> Result<(), String> {
        let (keyword, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if keyword == "newmtl" {
            self.texture_lines.push([0; 2]);
            self.surfaces.push(MtlSurface::default());
            self.restate(keyword, material_name(rest));
        }
        let Some(lines) = self.texture_lines.last_mut() else {
            return Ok(());
        };
        match keyword {
            "Kd" | "Ke" => {
                let Vec3 { x, y, z } = color(rest)?;
                self.restate(keyword, &format!("{x} {y} {z}"));
            }
            "map_Kd" | "map_Ke" => {
                lines[usize::from(keyword == "map_Ke")] = line;
                self.restate(keyword, file_name(rest)?);
            }
            _ => {
                let surface = self.surfaces.last_mut();
                return surface.map_or(Ok(()), |s| s.line(line, keyword, rest));
            }
        }
        Ok(())
    }

    fn restate(&mut self, keyword: &str, value: &str) {
        self.restated.extend([keyword, " ", value, "\n"]);
    }
}

impl MtlData {
    fn add(&mut self, m: tobj::Material, lines: [usize; 2], surface: MtlSurface) -> Result<(), LoadError> {
        let glow = m.unknown_param.get("map_Ke");
        let [diffuse_texture, emission_texture] =
            [self.texture(m.diffuse_texture.as_ref(), lines[0])?, self.texture(glow, lines[1])?];
        self.materials.push(MtlMaterial {
            name: m.name,
            diffuse: m.diffuse.map(Vec3::from),
            diffuse_texture,
            emission: m.emissive.map(Vec3::from),
            emission_texture,
            surface,
        });
        Ok(())
    }

    fn texture(&mut self, text: Option<&String>, line: usize) -> Result<Option<MtlTexture>, LoadError> {
        let Some(text) = text else { return Ok(None) };
        let (texture, ignored) = texture(line, text).map_err(|message| LoadError::line(&self.path, line, message))?;
        if let Some(option) = ignored {
            let path = self.path.display();
            self.warnings.push(format!("{path}:{line}: the option {option} is ignored"));
        }
        Ok(Some(texture))
    }
}

/// `r g b`, or one number for all three.
fn color(text: &str) -> Result<Vec3, String> {
    let parse = |w: &str| w.parse::<f32>().ok().filter(|x| x.is_finite() && *x >= 0.0);
    let values: Option<Vec<f32>> = text.split_whitespace().take(3).map(parse).collect();
    match values.as_deref() {
        Some(&[r, g, b]) => Ok(Vec3::new(r, g, b)),
        Some(&[grey]) => Ok(Vec3::splat(grey)),
        _ => Err(format!("`{text}` is not a colour: write three finite numbers, none negative")),
    }
}

/// A number, clamped to 0 to 1.
fn share(text: &str) -> Result<f32, String> {
    let number = text.trim().parse::<f32>().ok().filter(|x| x.is_finite());
    let share = number.map(|x| x.clamp(0.0, 1.0));
    share.ok_or_else(|| format!("`{text}` is not a number: write one from 0 to 1"))
}

/// Parses options and a file name that may contain spaces; also returns the first option that has no effect.
fn texture(line: usize, text: &str) -> Result<(MtlTexture, Option<String>), String> {
    let (mut rest, mut clamp, mut ignored) = (text.trim(), false, None);
    while rest.starts_with('-') {
        let (option, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let count = argument_count(option).ok_or_else(|| format!("unknown texture option `{option}`"))?;
        let (arguments, after) = take_arguments(after, count);
        if option == "-clamp" {
            clamp = arguments.first() == Some(&"on");
        } else {
            ignored.get_or_insert_with(|| option.to_owned());
        }
        rest = after;
    }
    Ok((MtlTexture { file: file_name(rest)?.replace('\\', "/"), line, clamp }, ignored))
}

fn file_name(text: &str) -> Result<&str, String> {
    match text.trim() {
        "" => Err("the texture's file name is missing".to_owned()),
        name => Ok(name),
    }
}

/// Fewest and most arguments of a texture option.
fn argument_count(option: &str) -> Option<(usize, usize)> {
    match option {
        "-o" | "-s" | "-t" => Some((1, 3)),
        "-mm" => Some((2, 2)),
        "-bm" | "-blendu" | "-blendv" | "-boost" | "-cc" | "-clamp" | "-imfchan" | "-texres" | "-type" => Some((1, 1)),
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
    use proptest::prelude::*;

    fn parse_text(text: &str) -> Result<MtlData, String> {
        parse(Path::new("a.mtl"), text.as_bytes()).map_err(|e| e.to_string())
    }

    #[test]
    fn colours_textures_and_options_are_read() {
        let text = "newmtl a b\nKd 0.1 0.2 0.3\nKe 1\nmap_Kd -s 2 2 -clamp on my tex.png\nmap_Ke sub\\glow.png\nNs 3\n";
        let d = parse_text(text).unwrap_or_default();
        let m = &d.materials[0];
        assert_eq!((m.name.as_str(), m.diffuse, m.emission), ("a b", Some(Vec3::new(0.1, 0.2, 0.3)), Some(Vec3::ONE)));
        let texture = MtlTexture { file: "my tex.png".into(), line: 4, clamp: true };
        assert_eq!(m.diffuse_texture, Some(texture));
        assert_eq!(m.emission_texture.as_ref().map(|t| t.file.as_str()), Some("sub/glow.png"));
        assert_eq!(d.warnings, ["a.mtl:4: the option -s is ignored"]);
    }

    #[test]
    fn physically_based_materials_are_read() {
        let text = "newmtl a\nPr 0.25\nPm 2\nPc 0.5\nPcr 0.1\naniso 0.3\nanisor 0.5\nNi 1.4\nd 0.75\nnorm n.png\nnewmtl b\nNi 0\nTr 0.25\n";
        let d = parse_text(text).unwrap_or_default();
        let [a, b] = [0, 1].map(|i| &d.materials[i].surface);
        assert_eq!((a.roughness, a.metallic), (Some(0.25), Some(1.0)));
        assert_eq!((a.clearcoat, a.clearcoat_roughness), (0.5, 0.1));
        assert_eq!((a.anisotropy, a.rotation), (0.3, 0.5));
        assert_eq!((a.ior, a.opacity), (Some(1.4), Some(0.75)));
        let file = a.normal_texture.as_ref().map(|t| t.file.as_str());
        assert_eq!(file, Some("n.png"));
        assert!(a.is_stated() && !b.is_stated());
        assert_eq!((b.ior, b.opacity), (None, Some(0.75)));
    }

    #[test]
    fn errors_name_the_line() {
        let cases = [
            ("newmtl a\nKd 1 0\n", "a.mtl:2: `1 0` is not a colour"),
            ("newmtl a\nKd nan 0 0\n", "a.mtl:2: `nan 0 0` is not a colour"),
            ("newmtl a\nPr shiny\n", "a.mtl:2: `shiny` is not a number"),
            ("newmtl a\n\nmap_Kd\n", "a.mtl:3: the texture's file name is missing"),
            ("newmtl a\nmap_Kd -zz x.png\n", "a.mtl:2: unknown texture option `-zz`"),
        ];
        for (text, expected) in cases {
            let e = parse_text(text).err().unwrap_or_default();
            assert!(e.starts_with(expected), "{text:?}: {e}");
        }
    }

    #[test]
    fn what_tobj_alone_would_refuse_is_read() {
        let text = "Kd 1\nnewmtl\nKs 1\nKa x y\nNs\nillum 9999\nmap_d\nKd 1 0 0 1\nnewmtl\tb\nmap_Ke\tglow.png\n";
        let d = parse_text(text).unwrap_or_default();
        let names: Vec<_> = d.materials.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["unnamed", "b"]);
        assert_eq!(d.materials[0].diffuse, Some(Vec3::X));
        let glow = d.materials[1].emission_texture.as_ref();
        assert_eq!(glow.map(|t| (t.file.as_str(), t.line)), Some(("glow.png", 10)));
    }

    /// All faults are the scan's: none is left for tobj, which has no line numbers.
    fn assert_read_or_one_line(bytes: &[u8]) {
        if let Err(e) = parse(Path::new("a.mtl"), bytes) {
            assert!(matches!(e, LoadError::Line { line: 1.., .. }), "{e}");
        }
    }

    const WORDS: [&str; 25] = [
        "Pr", "norm", "d", "aniso", "newmtl", "newmtl", "Kd", "Kd", "Ke", "map_Kd", "map_Ke", "Ks", "Ns", "illum",
        "bump", "-clamp", "-s", "-zz", "on", "0", "1", "-1", "inf", "é\t", "\\",
    ];

    proptest! {
        #![proptest_config(crate::testing::same_cases(256))]

        #[test]
        fn mutated_files_never_panic(edits in prop::collection::vec((0usize..200, any::<u8>()), 1..8)) {
            let mut bytes = b"newmtl a\nKd 1 0 0\nKe 1\nKs 1 1 1\nmap_Kd -s 1 1 -clamp on a b.png\nmap_Ke e.png\nnewmtl b\n".to_vec();
            for (at, value) in edits {
                let n = bytes.len();
                bytes[at % n] = value;
            }
            assert_read_or_one_line(&bytes);
        }

        #[test]
        fn files_of_random_words_never_panic(
            lines in prop::collection::vec(prop::collection::vec(prop::sample::select(&WORDS), 1..6), 1..6),
        ) {
            let lines: Vec<String> = lines.iter().map(|words| words.join(" ")).collect();
            assert_read_or_one_line(lines.join("\n").as_bytes());
            assert_read_or_one_line(format!("newmtl a\n{}", lines.join("\n")).as_bytes());
        }
    }
}

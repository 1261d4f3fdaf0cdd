//! URIs in a glTF file: data in the URI itself (`data:`), or a file in one of the model's folders.

use super::bytes::Buffer;
use crate::{
    budget::Budget,
    files,
    folders::{Folders, Refusal},
};
use base64::{Engine, alphabet, engine};
use std::path::PathBuf;

/// The bytes to which `uri` refers.
///
/// # Errors
/// If the URI is invalid, or if its file is not allowed or cannot be read. The text is a sentence with the (shortened) URI.
pub fn read(folders: &Folders, uri: &str, budget: &Budget) -> Result<Vec<u8>, String> {
    if let Some(rest) = strip_scheme(uri, "data") {
        return data(rest, budget);
    }
    let path = held(folders, uri, budget)?;
    files::read(&path).map_err(|e| format!("`{}`: {}", short(uri), e.message()))
}

/// As [`read`], but a file is only opened.
///
/// # Errors
/// As [`read`].
pub fn open(folders: &Folders, uri: &str, budget: &Budget) -> Result<Buffer<'static>, String> {
    if is_data(uri) {
        return read(folders, uri, budget).map(Buffer::Memory);
    }
    let path = held(folders, uri, budget)?;
    let opened = files::open(&path).map_err(|e| format!("`{}`: {}", short(uri), e.message()));
    opened.map(|(file, length)| Buffer::File(file, length))
}

/// The path of the file to which `uri` refers, whose bytes are taken from the budget.
fn held(folders: &Folders, uri: &str, budget: &Budget) -> Result<PathBuf, String> {
    let path = find(folders, uri)?;
    let size = path.metadata().map_or(0, |m| m.len());
    budget.hold(&path, size).map_err(|lack| format!("`{}` {lack}", short(uri)))?;
    Ok(path)
}

/// Whether the URI contains its data.
pub fn is_data(uri: &str) -> bool {
    strip_scheme(uri, "data").is_some()
}

/// The path of the file to which `uri` refers, with links resolved.
///
/// # Errors
/// If the URI has a scheme, or if the file does not exist or is not allowed. The text is a sentence with the (shortened) URI.
pub fn find(folders: &Folders, uri: &str) -> Result<PathBuf, String> {
    if let Some(scheme) = scheme(uri) {
        return Err(format!(
            "`{}` has the scheme `{scheme}:`, which is not opened: put the file beside the model",
            short(uri)
        ));
    }
    let Some(home) = folders.home() else {
        return Err(format!("`{}` is a separate file, but this model has no folder: pack it as .glb", short(uri)));
    };
    let found = folders.find(&home.join(decode_percent(uri)?));
    found.map_err(|refusal| match refusal {
        Refusal::Missing => format!("`{}`: no such file: put it beside the model", short(uri)),
        _ => format!("`{}` {refusal}", short(uri)),
    })
}

/// The scheme of a URI (RFC 3986): a letter, then letters, digits, `+`, `-` and `.`, up to a colon. Drive letters also match.
fn scheme(uri: &str) -> Option<&str> {
    let (scheme, _) = uri.split_once(':')?;
    let mut chars = scheme.chars();
    let fits = chars.next()?.is_ascii_alphabetic() && chars.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    fits.then_some(scheme)
}

fn strip_scheme<'a>(uri: &'a str, name: &str) -> Option<&'a str> {
    let scheme = scheme(uri)?;
    scheme.eq_ignore_ascii_case(name).then(|| &uri[scheme.len() + 1..])
}

/// The bytes of a data URI; `rest` is the text after `data:` (RFC 2397).
fn data(rest: &str, budget: &Budget) -> Result<Vec<u8>, String> {
    /// Exporters differ in their use of padding.
    const BASE64: engine::GeneralPurpose = engine::GeneralPurpose::new(
        &alphabet::STANDARD,
        engine::GeneralPurposeConfig::new()
            .with_decode_padding_mode(engine::DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let Some((head, body)) = rest.split_once(',') else {
        return Err("the data URI has no comma before its data: export the file again".to_owned());
    };
    budget.take(body.len() as u64).map_err(|lack| format!("the data URI {lack}"))?;
    if !head.to_ascii_lowercase().ends_with(";base64") {
        return Ok(percent_decoded(body));
    }
    BASE64.decode(body).map_err(|e| format!("the data URI is not valid base64 ({e}): export the file again"))
}

fn decode_percent(uri: &str) -> Result<String, String> {
    String::from_utf8(percent_decoded(uri))
        .map_err(|_| format!("`{}` is not UTF-8 once %-codes are decoded", short(uri)))
}

/// Decodes percent codes such as `%41`.
fn percent_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|&b| char::from(b).to_digit(16));
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    decoded
}

/// The start of a URI, for messages.
pub fn short(uri: &str) -> String {
    const LONGEST: usize = 80;
    match uri.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &uri[..end]),
        None => uri.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn read(folders: &Folders, uri: &str) -> Result<Vec<u8>, String> {
        super::read(folders, uri, &Budget::new(Some(1000)))
    }

    /// A folder with `model/a b.bin` and `secret.bin`.
    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("model")).expect("a folder");
        fs::write(dir.path().join("model/a b.bin"), "inside").expect("writes");
        fs::write(dir.path().join("secret.bin"), "outside").expect("writes");
        dir
    }

    #[test]
    fn files_in_the_folder_are_found_with_percent_codes() {
        let dir = tree();
        let folders = Folders::new(Some(&dir.path().join("model")), &[]);
        for uri in ["a%20b.bin", "a b.bin", "./a b.bin", "../model/a%20b.bin"] {
            assert_eq!(read(&folders, uri).as_deref(), Ok(&b"inside"[..]), "{uri}");
        }
        let e = read(&folders, "gone.bin").err().unwrap_or_default();
        assert!(e.contains("`gone.bin`: no such file"), "{e}");
    }

    #[test]
    fn ways_out_of_the_folder_are_refused_by_name() {
        let dir = tree();
        let folders = Folders::new(Some(&dir.path().join("model")), &[]);
        let absolute = dir.path().join("secret.bin").display().to_string();
        for uri in ["../secret.bin", "%2e%2e/secret.bin", &absolute, "/gone", "../gone"] {
            let e = read(&folders, uri).err().unwrap_or_default();
            assert!(e.contains(uri) && e.contains("--allow-dir DIR"), "{e}");
        }
        for uri in ["file:///etc/passwd", "http://x.org/a.bin", "C:/a.bin", "FILE:a"] {
            let e = read(&folders, uri).err().unwrap_or_default();
            assert!(e.contains(uri) && e.contains("scheme"), "{e}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_are_refused_and_links_inside_are_followed() {
        let dir = tree();
        let model = dir.path().join("model");
        std::os::unix::fs::symlink("../secret.bin", model.join("out")).expect("links");
        std::os::unix::fs::symlink("a b.bin", model.join("in")).expect("links");
        let folders = Folders::new(Some(&model), &[]);
        assert!(read(&folders, "out").is_err_and(|e| e.contains("leads out")));
        assert_eq!(read(&folders, "in").as_deref(), Ok(&b"inside"[..]));
    }

    #[test]
    fn an_allowed_folder_is_open() {
        let dir = tree();
        let folders = Folders::new(Some(&dir.path().join("model")), &[dir.path().to_owned()]);
        assert_eq!(read(&folders, "../secret.bin").as_deref(), Ok(&b"outside"[..]));
    }

    #[test]
    fn data_uris_may_be_padded_or_not_and_need_not_be_base64() {
        let folders = Folders::default();
        for uri in ["data:application/octet-stream;base64,aGk=", "DATA:;base64,aGk", "data:text/plain,h%69"] {
            assert_eq!(read(&folders, uri).as_deref(), Ok(&b"hi"[..]), "{uri}");
        }
        for uri in ["data:;base64,a", "data:;base64,a?==", "data:"] {
            assert!(read(&folders, uri).is_err(), "{uri}");
        }
    }

    #[test]
    fn a_model_in_memory_has_no_files_and_a_budget() {
        let folders = Folders::default();
        assert!(read(&folders, "a.bin").is_err_and(|e| e.contains("pack it as .glb")));
        let long = format!("data:,{}", "x".repeat(2000));
        assert!(read(&folders, &long).is_err_and(|e| e.contains("memory")));
    }
}

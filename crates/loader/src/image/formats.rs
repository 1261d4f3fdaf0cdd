//! Picture formats, detected by the first bytes of a file. Extensions are ignored.

use image::ImageFormat;

/// The format of a file that the crate `image` can read; `magic` is that crate's own detection.
pub fn known(bytes: &[u8], magic: Option<ImageFormat>) -> Option<ImageFormat> {
    magic.or_else(|| is_tga(bytes).then_some(ImageFormat::Tga))
}

/// The name of a format that is not supported.
pub fn foreign(bytes: &[u8]) -> Option<&'static str> {
    let brand = bytes.get(4..12).unwrap_or_default();
    Some(match bytes {
        _ if brand == b"ftypavif" || brand == b"ftypavis" => "AVIF",
        _ if [b"ftypheic", b"ftypheix", b"ftypmif1", b"ftyphevc"].iter().any(|known| brand == *known) => "HEIF",
        [0xff, 0x0a, ..] | [0, 0, 0, 0x0c, b'J', b'X', b'L', b' ', ..] => "JPEG XL",
        [0, 0, 0, 0x0c, b'j', b'P', ..] | [0xff, 0x4f, 0xff, 0x51, ..] => "JPEG 2000",
        [b'8', b'B', b'P', b'S', ..] => "Photoshop",
        [b'P', b'1'..=b'7', b'\n' | b'\r' | b' ' | b'\t', ..] => "PNM",
        [b'q', b'o', b'i', b'f', ..] => "QOI",
        _ if bytes.starts_with(b"<svg") || bytes.starts_with(b"<?xml") => "SVG",
        _ => return None,
    })
}

/// Whether bytes are a Targa picture. The format has no magic number, so the header has to be consistent, and uncompressed pixels have to
/// be complete.
fn is_tga(bytes: &[u8]) -> bool {
    let Some(&[id, map, kind, _, _, map_low, map_high, map_bits, _, _, _, _, w0, w1, h0, h1, bits, flags]) =
        bytes.first_chunk::<18>()
    else {
        return false;
    };
    let pixels = usize::from(u16::from_le_bytes([w0, w1])) * usize::from(u16::from_le_bytes([h0, h1]));
    let map_bytes = usize::from(u16::from_le_bytes([map_low, map_high])) * usize::from(map_bits).div_ceil(8);
    let fits = match kind {
        1 | 9 => map == 1 && [8, 16].contains(&bits) && [15, 16, 24, 32].contains(&map_bits),
        2 | 10 => map <= 1 && [15, 16, 24, 32].contains(&bits),
        3 | 11 => map == 0 && [8, 16].contains(&bits),
        _ => false,
    };
    let plain = 18 + usize::from(id) + map_bytes + pixels * usize::from(bits).div_ceil(8);
    fits && pixels > 0 && flags & 0xc0 == 0 && (kind > 3 || bytes.len() >= plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_that_are_not_read_have_names() {
        for (bytes, name) in [
            (&b"\0\0\0\x20ftypavif"[..], "AVIF"),
            (b"\0\0\0\x20ftypheic", "HEIF"),
            (b"\xff\x0a", "JPEG XL"),
            (b"8BPS", "Photoshop"),
            (b"P6\n2 2", "PNM"),
            (b"<svg xmlns", "SVG"),
        ] {
            assert_eq!(foreign(bytes), Some(name));
            assert_eq!(known(bytes, None), None);
        }
        assert_eq!(foreign(b"text"), None);
        assert_eq!(known(&[0; 40], None), None);
    }
}

//! How encoders of ffmpeg store colours, and the tags by which players know it.
//!
//! Colours are those of BT.709 in limited range, unless the codec has no place to say so. Their tagged transfer function is that of BT.709 as
//! well: players show such videos as they do sRGB pictures.

use super::{VideoFormat, yuv::even_size};

/// Flags of ffmpeg's filter `scale` without which it rounds down and takes the colours of every second pixel.
const EXACT: &str = "bicubic+accurate_rnd+full_chroma_int+full_chroma_inp";

/// The pixels in a file, by ffmpeg's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    pub pixels: &'static str,
    /// The matrix from red, green and blue to luma and colour differences.
    matrix: &'static str,
    range: &'static str,
}

impl Stored {
    /// The pixels that an encoder gets.
    pub fn by(encoder: &str, format: VideoFormat, transparent: bool) -> Self {
        let bt709 = |pixels| Self { pixels, matrix: "bt709", range: "tv" };
        match (encoder, format, transparent) {
            // VP8 and Motion JPEG have the matrix of BT.601, and JPEG the full range.
            ("libvpx", _, transparent) => {
                Self { pixels: if transparent { "yuva420p" } else { "yuv420p" }, matrix: "smpte170m", range: "tv" }
            }
            ("mjpeg", ..) => Self { pixels: "yuvj444p", matrix: "bt470bg", range: "pc" },
            ("ffv1", _, false) => Self { pixels: "bgr0", matrix: "gbr", range: "pc" },
            ("libx264rgb", ..) | ("qtrle" | "png", _, false) => Self { pixels: "rgb24", matrix: "gbr", range: "pc" },
            ("qtrle", _, true) => Self { pixels: "argb", matrix: "gbr", range: "pc" },
            ("png", _, true) => Self { pixels: "rgba", matrix: "gbr", range: "pc" },
            // With the colours of two pixels in one, as in ProRes 422, edges differ from pictures by a tenth.
            (name, _, false) if name.starts_with("prores") => bt709("yuv444p10le"),
            ("dnxhd", _, false) => bt709("yuv422p"),
            (_, _, false) => bt709("yuv420p"),
            (_, VideoFormat::Mov, true) => bt709("yuva444p10le"),
            (_, _, true) => bt709("yuva420p"),
        }
    }

    /// Whether frames are converted by [`yuv`](super::yuv) rather than by ffmpeg.
    pub fn is_converted_here(self) -> bool {
        self == Self { pixels: "yuv420p", matrix: "bt709", range: "tv" }
    }

    /// The tags of a stream.
    pub fn tags(self) -> [&'static str; 8] {
        let range = self.range;
        // Options and filters have different names for it.
        let matrix = if self.matrix == "gbr" { "rgb" } else { self.matrix };
        ["-color_range", range, "-colorspace", matrix, "-color_primaries", "bt709", "-color_trc", "bt709"]
    }

    /// The filter that makes these pixels of RGB or, for `transparent` frames, RGBA. Some encoders take tags from frames alone. Sizes
    /// become even: what is added is transparent, or repeats the last column and row.
    pub fn filter(self, (width, height): (u32, u32), transparent: bool) -> String {
        let Self { pixels, matrix, range } = self;
        let (even_width, even_height) = even_size(width, height);
        let (right, bottom) = (even_width - width, even_height - height);
        let padded = match (right + bottom > 0, transparent) {
            (false, _) => String::new(),
            (true, true) => format!("pad={even_width}:{even_height}:color=black@0,"),
            (true, false) => {
                format!("pad={even_width}:{even_height},fillborders=right={right}:bottom={bottom}:mode=smear,")
            }
        };
        let scale = match matrix {
            "gbr" => String::new(),
            _ => format!("scale=out_color_matrix={matrix}:out_range={range}:flags={EXACT},"),
        };
        let params = format!("setparams=range={range}:colorspace={matrix}:color_primaries=bt709:color_trc=bt709");
        format!("{padded}{scale}format={pixels},{params}")
    }
}

//! Pixel formats and colour spaces of ffmpeg's encoders, and the tags by which players recognise them.
//!
//! Colours are BT.709 in limited range, unless the codec cannot store that. The tagged transfer function is also BT.709, since players then
//! show videos like sRGB pictures.

use super::{VideoFormat, yuv::even_size};

/// Flags for ffmpeg's `scale` filter. Without them it rounds down and uses the chroma of every second pixel.
const EXACT: &str = "bicubic+accurate_rnd+full_chroma_int+full_chroma_inp";

/// The pixel format of a video, by ffmpeg's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    pub pixels: &'static str,
    /// The matrix from RGB to luma and chroma.
    matrix: &'static str,
    range: &'static str,
}

impl Stored {
    /// The pixel format for an encoder.
    pub fn by(encoder: &str, format: VideoFormat, transparent: bool) -> Self {
        let bt709 = |pixels| Self { pixels, matrix: "bt709", range: "tv" };
        match (encoder, format, transparent) {
            // VP8 and Motion JPEG use the BT.601 matrix; JPEG also uses the full range.
            ("libvpx", _, transparent) => {
                Self { pixels: if transparent { "yuva420p" } else { "yuv420p" }, matrix: "smpte170m", range: "tv" }
            }
            ("mjpeg", ..) => Self { pixels: "yuvj444p", matrix: "bt470bg", range: "pc" },
            ("ffv1", _, false) => Self { pixels: "bgr0", matrix: "gbr", range: "pc" },
            ("libx264rgb", ..) | ("qtrle" | "png", _, false) => Self { pixels: "rgb24", matrix: "gbr", range: "pc" },
            ("qtrle", _, true) => Self { pixels: "argb", matrix: "gbr", range: "pc" },
            ("png", _, true) => Self { pixels: "rgba", matrix: "gbr", range: "pc" },
            // With one chroma value per two pixels, as in ProRes 422, edges would differ from pictures by a tenth.
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

    /// The colour tags of a stream.
    pub fn tags(self) -> [&'static str; 8] {
        let range = self.range;
        // Options and filters use different names for this matrix.
        let matrix = if self.matrix == "gbr" { "rgb" } else { self.matrix };
        ["-color_range", range, "-colorspace", matrix, "-color_primaries", "bt709", "-color_trc", "bt709"]
    }

    /// The filter that converts RGB frames, or RGBA if `transparent` is set, to this pixel format. It also sets colour tags, because some
    /// encoders read them only from frames. Sizes are padded to even numbers: transparent frames get transparent pixels, opaque ones repeat
    /// the last column and row.
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

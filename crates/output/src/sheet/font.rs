//! The font of contact sheets: Noto Sans Mono, rasterized at three sizes.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, RasterizedChar, get_raster, get_raster_width};

const SMALLEST: RasterHeight = RasterHeight::Size16;
/// All sizes, in ascending order.
const SIZES: [RasterHeight; 3] = [SMALLEST, RasterHeight::Size24, RasterHeight::Size32];
const WEIGHT: FontWeight = FontWeight::Regular;
/// The end of a text that was cut. The font has no glyph for `…`.
const ELLIPSIS: &str = "...";

/// The font at one of its sizes. All glyphs are equally wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Font(RasterHeight);

impl Font {
    /// The largest font whose lines are at most `height` pixels high. If there is none, the smallest font.
    pub fn at_most(height: u32) -> Self {
        Self(SIZES.into_iter().rfind(|size| size.val() as u32 <= height).unwrap_or(SMALLEST))
    }

    /// Height of a line in pixels.
    pub fn height(self) -> u32 {
        self.0.val() as u32
    }

    /// Width of a glyph in pixels.
    pub fn width(self) -> u32 {
        get_raster_width(WEIGHT, self.0) as u32
    }

    /// The glyph of a character. A character that the font lacks is shown as U+FFFD, white space as a space.
    pub fn glyph(self, character: char) -> Option<RasterizedChar> {
        let character = if character.is_whitespace() { ' ' } else { character };
        let glyph = |character| get_raster(character, WEIGHT, self.0);
        glyph(character).or_else(|| glyph(char::REPLACEMENT_CHARACTER))
    }

    /// Cuts `text` to a width in pixels. A text that was cut ends with an ellipsis.
    pub fn fit(self, text: &str, width: u32) -> String {
        let most = (width / self.width()) as usize;
        if text.chars().count() <= most {
            return text.to_owned();
        }
        let ellipsis = &ELLIPSIS[..ELLIPSIS.len().min(most)];
        let kept: String = text.chars().take(most - ellipsis.len()).collect();
        format!("{}{ellipsis}", kept.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_their_height_and_are_never_too_small_to_read() {
        let heights = [0, 16, 23, 24, 31, 32, 500].map(|height| Font::at_most(height).height());
        assert_eq!(heights, [16, 16, 16, 24, 24, 32, 32]);
    }

    #[test]
    fn every_character_has_a_glyph() {
        let font = Font::at_most(24);
        let glyph = |character| font.glyph(character).unwrap();
        for character in ['W', 'é', 'ł', '滑', 'Б', '\u{301}', '\u{0}', '\u{10ffff}'] {
            assert_eq!(glyph(character).width() as u32, font.width(), "{character:?}");
        }
        assert_ne!(glyph('é'), glyph('e'));
        assert_eq!(glyph('滑'), glyph(char::REPLACEMENT_CHARACTER));
        assert_eq!([glyph('\n'), glyph('\u{a0}')], [glyph(' '); 2]);
    }

    #[test]
    fn long_texts_are_cut_with_an_ellipsis() {
        let font = Font::at_most(16);
        let fit = |text: &str, glyphs: u32| font.fit(text, glyphs * font.width() + 1);
        assert_eq!(fit("Walk", 4), "Walk");
        assert_eq!(fit("Walk in place", 8), "Walk...");
        assert_eq!(fit("Walk in place", 10), "Walk in...");
        assert_eq!(fit("äöüäöü", 5), "äö...");
        assert_eq!([fit("Walk", 3), fit("Walk", 2), fit("Walk", 0)], ["...", "..", ""]);
    }
}

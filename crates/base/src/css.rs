//! Colours in CSS names and notations, used by scene files and flags.

use crate::math::linear_from_srgb;
use color::Srgb;
use glam::Vec3;

/// A CSS colour: linear RGB, and alpha from 0 to 255.
pub type CssColor = (Vec3, u8);

/// Parses `white`, `#c8b090`, `#fff`, `rgb(200 176 144)` or another CSS notation. Channels have 8 bits, as in pictures and web pages. Returns `None`
/// for any other text.
pub fn parse(text: &str) -> Option<CssColor> {
    let rgba = color::parse_color(text).ok()?.to_alpha_color::<Srgb>().to_rgba8();
    let channels = [rgba.r, rgba.g, rgba.b].map(|channel| linear_from_srgb(f32::from(channel) / 255.0));
    Some((Vec3::from(channels), rgba.a))
}

/// Parses an opaque colour; `None` for other text or a transparent colour.
pub fn parse_opaque(text: &str) -> Option<Vec3> {
    parse(text).filter(|&(_, alpha)| alpha == u8::MAX).map(|(color, _)| color)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_have_the_names_and_notations_of_css() {
        let clay = Vec3::from([200, 176, 144].map(|channel: u8| linear_from_srgb(f32::from(channel) / 255.0)));
        for text in ["#c8b090", "#C8B090", "#c8b090ff", "rgb(200 176 144)", "rgb(200, 176, 144)"] {
            assert_eq!(parse_opaque(text), Some(clay), "{text}");
        }
        assert_eq!(parse_opaque("white"), Some(Vec3::ONE));
        assert_eq!(parse_opaque("#fff"), Some(Vec3::ONE));
        assert_eq!(parse_opaque("Red"), Some(Vec3::X));
        assert_eq!(parse_opaque("rebeccapurple"), parse_opaque("#663399"));
        assert_eq!(parse_opaque("hsl(120 100% 50%)"), Some(Vec3::Y));
    }

    #[test]
    fn other_texts_and_translucent_colours_are_no_opaque_ones() {
        for text in ["", "whit", "#ffff0", "#+fffff", "0.5,0.5,0.5", "sky", "beach.hdr"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("transparent").map(|(_, alpha)| alpha), Some(0));
        assert!(parse_opaque("#ffffff80").is_none() && parse_opaque("rgb(0 0 0 / 50%)").is_none());
    }
}

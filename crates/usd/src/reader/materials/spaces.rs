//! Colour spaces, by the names of USD, MaterialX, OCIO and Arnold.

use super::wire::Wire;
use crate::{Operation, TexelSpace};

/// How values become linear ones with the primaries of Rec. 709: decoded, raised to a power, and multiplied by a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColorSpace {
    /// How texels are decoded.
    pub texels: TexelSpace,
    gamma: Option<f32>,
    matrix: Option<[[f32; 3]; 3]>,
}

/// The primaries of ACEScg (AP1). This matrix and the next two are those of MaterialX's library of colour spaces.
const AP1: [[f32; 3]; 3] = [
    [1.705_051, -0.621_792_1, -0.083_258_87],
    [-0.130_256_4, 1.140_804_7, -0.010_548_32],
    [-0.024_003_36, -0.128_969, 1.152_972_3],
];
const ADOBE: [[f32; 3]; 3] = [[1.398_355_7, -0.398_355_7, 0.0], [0.0, 1.0, 0.0], [0.0, -0.042_928_99, 1.042_929]];
const DISPLAY_P3: [[f32; 3]; 3] =
    [[1.224_930_3, -0.224_929_7, 0.0], [-0.042_058_68, 1.042_059, 0.0], [-0.019_641_28, -0.078_647_94, 1.098_289_3]];
/// The primaries of ACES 2065-1 (AP0), adapted from its white to D65.
const AP0: [[f32; 3]; 3] = [
    [2.521_686, -1.134_131, -0.387_555_2],
    [-0.276_479_9, 1.372_719, -0.096_239_17],
    [-0.015_378_06, -0.152_975_3, 1.168_353_4],
];
/// The primaries of Rec. 2020 (BT.2087).
const REC2020: [[f32; 3]; 3] = [
    [1.660_491, -0.587_641_1, -0.072_849_86],
    [-0.124_550_5, 1.132_899_9, -0.008_349_42],
    [-0.018_150_76, -0.100_578_9, 1.118_729_7],
];

impl ColorSpace {
    /// The space with this name. `None` for names that leave the choice open.
    pub fn named(name: &str) -> Option<Result<Self, ()>> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_suffix("_scene").unwrap_or(&name);
        let space = |texels, gamma, matrix| Some(Ok(Self { texels, gamma, matrix }));
        let (raw, srgb) = (TexelSpace::Raw, TexelSpace::Srgb);
        match name {
            "" | "auto" => None,
            "srgb" | "srgb_texture" | "srgb_rec709" | "g22_rec709" => space(srgb, None, None),
            "raw" | "none" | "data" | "linear" | "lin_rec709" | "lin_srgb" | "identity" => space(raw, None, None),
            "g18_rec709" => space(raw, Some(1.8), None),
            "g24_rec709" | "rec709_display" => space(raw, Some(2.4), None),
            "acescg" | "lin_ap1" => space(raw, None, Some(AP1)),
            "g22_ap1" => space(raw, Some(2.2), Some(AP1)),
            "srgb_ap1" => space(srgb, None, Some(AP1)),
            "aces2065_1" | "aces2065-1" | "lin_ap0" => space(raw, None, Some(AP0)),
            "lin_adobergb" => space(raw, None, Some(ADOBE)),
            "adobergb" | "g22_adobergb" => space(raw, Some(563.0 / 256.0), Some(ADOBE)),
            "lin_displayp3" | "lin_p3d65" => space(raw, None, Some(DISPLAY_P3)),
            "srgb_displayp3" | "srgb_p3d65" => space(srgb, None, Some(DISPLAY_P3)),
            "lin_rec2020" => space(raw, None, Some(REC2020)),
            _ if name.contains("srgb") && !name.contains("lin") => space(srgb, None, None),
            _ if ["linear", "lin_", "raw", "data"].iter().any(|part| name.contains(part)) => space(raw, None, None),
            _ => Some(Err(())),
        }
    }

    /// A colour as linear light.
    pub fn decode(self, value: [f32; 4]) -> [f32; 4] {
        let decode = |v: f32| if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) };
        let value = match self.texels {
            TexelSpace::Srgb => [decode(value[0]), decode(value[1]), decode(value[2]), value[3]],
            _ => value,
        };
        self.convert(Wire::Constant(value)).constant().unwrap_or(value)
    }

    /// Decoded texels as linear light with the primaries of Rec. 709.
    pub fn convert(self, texels: Wire) -> Wire {
        let powered = match self.gamma {
            Some(gamma) => {
                Wire::apply(Operation::Power, vec![texels.clone(), Wire::Constant([gamma, gamma, gamma, 1.0])])
            }
            None => Some(texels.clone()),
        };
        let apply = |matrix| Wire::apply(Operation::Matrix(matrix), vec![powered.clone()?]);
        match self.matrix {
            Some(matrix) => apply(matrix),
            None => powered,
        }
        .unwrap_or(texels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(name: &str, value: [f32; 3]) -> [f32; 3] {
        let space = ColorSpace::named(name).and_then(Result::ok).unwrap_or_else(|| panic!("{name}"));
        let [r, g, b, _] = space.decode([value[0], value[1], value[2], 1.0]);
        [r, g, b]
    }

    #[test]
    fn white_stays_white_in_all_spaces() {
        for name in
            ["srgb_texture", "g18_rec709", "acescg", "g22_ap1", "adobergb", "srgb_displayp3", "lin_rec2020", "lin_ap0"]
        {
            let white = decoded(name, [1.0; 3]);
            assert!(white.iter().all(|x| (x - 1.0).abs() < 2e-3), "{name}: {white:?}");
        }
    }

    #[test]
    fn saturated_colors_of_wide_spaces_are_beyond_those_of_rec_709() {
        let [r, g, b] = decoded("lin_ap1", [0.0, 1.0, 0.0]);
        assert!(r < -0.6 && g > 1.1 && b < -0.1, "{r} {g} {b}");
        assert!((decoded("g18_rec709", [0.5; 3])[0] - 0.287_174_6).abs() < 1e-5);
        assert_eq!(decoded("lin_rec709", [0.5, 0.25, 0.0]), [0.5, 0.25, 0.0]);
    }

    #[test]
    fn names_leave_the_choice_open_or_are_unknown() {
        assert_eq!(ColorSpace::named("auto"), None);
        assert_eq!(ColorSpace::named("arri_logc3"), Some(Err(())));
    }
}

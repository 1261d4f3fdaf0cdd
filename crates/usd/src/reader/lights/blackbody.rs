//! The colour of a black body, as `UsdLuxBlackbodyTemperatureAsRgb` computes it.

/// Temperature of the first colour of [`COLORS`] in kelvin.
const FIRST: f32 = 1000.0;
/// Difference of temperature between two colours of [`COLORS`].
const STEP: f32 = 500.0;
/// Linear colours with the primaries of Rec. 709, scaled to a greatest component of 1.
const COLORS: [[f32; 3]; 19] = [
    [1.0, 0.027_490, 0.0],
    [1.0, 0.149_664, 0.0],
    [1.0, 0.256_644, 0.008_095],
    [1.0, 0.372_033, 0.067_450],
    [1.0, 0.476_725, 0.153_601],
    [1.0, 0.570_376, 0.259_196],
    [1.0, 0.653_480, 0.377_155],
    [1.0, 0.726_878, 0.501_606],
    [1.0, 0.791_543, 0.628_050],
    [1.0, 0.848_462, 0.753_228],
    [1.0, 0.898_581, 0.874_905],
    [1.0, 0.942_771, 0.991_642],
    [0.906_947, 0.890_456, 1.0],
    [0.828_247, 0.841_838, 1.0],
    [0.765_791, 0.801_896, 1.0],
    [0.715_255, 0.768_579, 1.0],
    [0.673_683, 0.740_423, 1.0],
    [0.638_992, 0.716_359, 1.0],
    [0.609_681, 0.695_588, 1.0],
];

/// Linear colour with a luminance of 1 at a temperature in kelvin, which is clamped to 1,000 to 10,000 K.
pub fn color(kelvin: f32) -> [f32; 3] {
    let last = COLORS.len() - 1;
    let place = ((kelvin - FIRST) / STEP).clamp(0.0, last as f32);
    let segment = (place as usize).min(last - 1);
    let t = place - segment as f32;
    // Catmull and Rom's spline through the table, whose ends are repeated.
    let at = |offset: isize| COLORS[segment.saturating_add_signed(offset).min(last)];
    let [a, b, c, d] = [at(-1), at(0), at(1), at(2)];
    let rgb: [f32; 3] = std::array::from_fn(|i| {
        let cubic = -a[i] + 3.0 * b[i] - 3.0 * c[i] + d[i];
        let square = 2.0 * a[i] - 5.0 * b[i] + 4.0 * c[i] - d[i];
        0.5 * (((cubic * t + square) * t + (c[i] - a[i])) * t + 2.0 * b[i])
    });
    let luminance = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
    rgb.map(|value| (value / luminance).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of OpenUSD 26.11.
    #[test]
    fn colors_of_temperatures_agree_with_openusd() {
        let expected = [
            (500.0, [4.305_504_3, 0.118_358_31, 0.0]),
            (1250.0, [3.688_244, 0.302_033_07, 0.0]),
            (2100.0, [2.417_980_4, 0.675_474_4, 0.039_308_205]),
            (6500.0, [1.043_333_4, 0.983_624_46, 1.034_613_3]),
            (6750.0, [1.024_043_9, 0.985_601_1, 1.071_832_5]),
            (9900.0, [0.873_904_76, 0.994_652_7, 1.424_269_1]),
            (12_000.0, [0.871_841_3, 0.994_687_9, 1.429_995_9]),
        ];
        for (kelvin, expected) in expected {
            let color = color(kelvin);
            let close = color.iter().zip(expected).all(|(value, expected)| (value - expected).abs() < 1e-5);
            assert!(close, "{kelvin} K: {color:?}, expected {expected:?}");
        }
    }
}

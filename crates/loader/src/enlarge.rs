//! Enlarging of pictures to the size of others that they are joined with.

/// A value that is interpolated.
pub trait Texel: Copy {
    /// The value between the upper left, upper right, lower left and lower right one, at these shares of the way from the first one.
    fn between(corners: [Self; 4], across: f32, down: f32) -> Self;
}

impl Texel for f32 {
    fn between([a, b, c, d]: [Self; 4], across: f32, down: f32) -> Self {
        let mix = |from: f32, to: f32, share: f32| from + (to - from) * share;
        mix(mix(a, b, across), mix(c, d, across), down)
    }
}

impl Texel for u8 {
    fn between(corners: [Self; 4], across: f32, down: f32) -> Self {
        f32::between(corners.map(f32::from), across, down).round() as u8
    }
}

impl<T: Texel, const N: usize> Texel for [T; N] {
    fn between(corners: [Self; 4], across: f32, down: f32) -> Self {
        std::array::from_fn(|channel| T::between(corners.map(|corner| corner[channel]), across, down))
    }
}

/// A picture, row-major, in another size: interpolated between the middles of its texels. Returns it as it is if it has this size.
pub fn enlarged<T: Texel>(texels: Vec<T>, from: (u32, u32), to: (u32, u32)) -> Vec<T> {
    if from == to || texels.is_empty() {
        return texels;
    }
    let (columns, rows) = (steps(from.0, to.0), steps(from.1, to.1));
    let texel = |x: usize, y: usize| texels[y * from.0 as usize + x];
    let mut all = Vec::with_capacity(columns.len() * rows.len());
    for &(top, bottom, down) in &rows {
        all.extend(columns.iter().map(|&(left, right, across)| {
            let corners = [texel(left, top), texel(right, top), texel(left, bottom), texel(right, bottom)];
            T::between(corners, across, down)
        }));
    }
    all
}

/// For each of `to` places, the two of `from` places around it, and the share of the way between them.
fn steps(from: u32, to: u32) -> Vec<(usize, usize, f32)> {
    let last = from.saturating_sub(1) as usize;
    let step = |index: u32| {
        let at = ((index as f32 + 0.5) * from as f32 / to as f32 - 0.5).clamp(0.0, last as f32);
        (at as usize, (at as usize + 1).min(last), at.fract())
    };
    (0..to).map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pictures_are_interpolated_between_the_middles_of_texels() {
        assert_eq!(enlarged(vec![0.0, 1.0], (2, 1), (4, 2)), [0.0, 0.25, 0.75, 1.0, 0.0, 0.25, 0.75, 1.0]);
        assert_eq!(enlarged(vec![[0u8, 9], [201, 9]], (1, 2), (1, 4)), [[0, 9], [50, 9], [151, 9], [201, 9]]);
        assert_eq!(enlarged(vec![7u8, 8], (2, 1), (2, 1)), [7, 8]);
    }
}

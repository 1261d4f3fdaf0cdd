//! Mip maps: smaller levels of textures, in which kernels look up what a ray's footprint covers.

use super::block_encoder::encoded;
use glam::{Vec3, Vec4};
use rayon::prelude::*;
use std::sync::OnceLock;
use throng_base::math::{linear_from_srgb8, srgb_from_linear};
use throng_scene::{Alpha, CompactFormat, CompactTexels, Rgba, Scene, Texels, Texture};

/// Slopes of normals that face away further count as this steep (tangent of the angle to the surface's normal).
const STEEPEST: f32 = 8.0;

/// What the texels of a texture are, for averages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meaning {
    /// Independent channels.
    Plain,
    /// Colours that alpha weights, because they are seen where the surface is.
    Covered,
    /// Normals. In smaller levels, alpha is the standard deviation of their slopes, at most 1 (Olano and Baker 2010).
    Normal,
}

/// The meaning of each texture of a scene, from the maps that use it.
pub fn meanings(scene: &Scene) -> Vec<Meaning> {
    let mut normal = vec![false; scene.textures.len()];
    let (mut covered, mut plain) = (normal.clone(), normal.clone());
    let mark = |set: &mut Vec<bool>, map: u32| {
        let texture = scene.maps.get(map as usize).map(|map| map.texture as usize);
        if let Some(mark) = texture.and_then(|texture| set.get_mut(texture)) {
            *mark = true;
        }
    };
    for material in &scene.materials {
        let normals = [material.lobes.normal_map, material.lobes.clearcoat_normal_map];
        let see_through = material.alpha != Alpha::Opaque;
        normals.into_iter().for_each(|map| mark(&mut normal, map));
        if see_through {
            mark(&mut covered, material.color_map);
        }
        let others = material.maps().into_iter().filter(|map| !normals.contains(map));
        let others = others.filter(|&map| !(see_through && map == material.color_map));
        others.for_each(|map| mark(&mut plain, map));
    }
    // The alpha of sRGB colours is none of normals.
    let is_data = |texture: usize| !scene.textures[texture].texels.is_srgb();
    let meaning = |texture: usize| match (plain[texture], normal[texture], covered[texture]) {
        (false, true, false) if is_data(texture) => Meaning::Normal,
        (_, false, true) => Meaning::Covered,
        _ => Meaning::Plain,
    };
    (0..scene.textures.len()).map(meaning).collect()
}

/// Number of levels of a texture, including the texture.
pub fn level_count(width: u32, height: u32) -> u32 {
    width.max(height).max(1).ilog2() + 1
}

/// All levels of a texture below the first, one after another; empty if it has only one or is not filtered. Sizes are those of
/// [`TextureRecord::mips`](throng_abi::TextureRecord::mips). Those of opaque colours in blocks are blocks of BC7.
pub fn mips(texture: &Texture, meaning: Meaning) -> Texels {
    let size = [texture.width, texture.height];
    let is_srgb = texture.texels.is_srgb();
    if !texture.filtered || level_count(texture.width, texture.height) == 1 {
        return Texels::of_bytes(Vec::new(), is_srgb);
    }
    match texture.texels.rgba(texture.width, texture.height) {
        Rgba::Floats(texels) => Texels::Linear(float_mips(&texels, size, meaning)),
        Rgba::Bytes(texels) => {
            let levels = byte_mips(&texels, size, meaning, is_srgb);
            // One line of colours per block is too few where alpha is another value.
            let is_opaque = meaning != Meaning::Normal && levels.par_iter().all(|texel| texel[3] == u8::MAX);
            let (format, bytes) = match &texture.texels {
                Texels::Compact(compact) if compact.format == CompactFormat::Grey => {
                    (CompactFormat::Grey, levels.iter().map(|texel| texel[0]).collect())
                }
                Texels::Compact(_) if is_opaque => (CompactFormat::Bc7, blocks_of_levels(&levels, size)),
                _ => return Texels::of_bytes(levels, is_srgb),
            };
            Texels::Compact(CompactTexels { format, is_srgb, bytes })
        }
    }
}

fn blocks_of_levels(levels: &[[u8; 4]], size: [u32; 2]) -> Vec<u8> {
    let mut rest = levels;
    let each = sizes_below(size).flat_map(|[width, height]| {
        let (level, smaller) = rest.split_at(width as usize * height as usize);
        rest = smaller;
        encoded(level, [width, height])
    });
    each.collect()
}

/// The sizes of the levels below one of this size.
fn sizes_below(size: [u32; 2]) -> impl Iterator<Item = [u32; 2]> {
    let below =
        |&[width, height]: &[u32; 2]| (width.max(height) > 1).then(|| [width, height].map(|side| (side / 2).max(1)));
    std::iter::successors(Some(size), below).skip(1)
}

fn byte_mips(texels: &[[u8; 4]], size: [u32; 2], meaning: Meaning, is_srgb: bool) -> Vec<[u8; 4]> {
    if !is_srgb {
        let read = |texel: [u8; 4]| Vec4::from(texel.map(f32::from)) / 255.0;
        return chain(texels, size, meaning, read, |mean| mean.to_array().map(byte));
    }
    let (decode, encode) = (linear_from_srgb8(), srgb_codes());
    let read = |[r, g, b, a]: [u8; 4]| {
        let [r, g, b] = [r, g, b].map(|code| decode[usize::from(code)]);
        Vec4::new(r, g, b, f32::from(a) / 255.0)
    };
    let write = |mean: Vec4| {
        let code = |x: f32| encode[(x * (encode.len() - 1) as f32 + 0.5) as usize];
        [code(mean.x), code(mean.y), code(mean.z), byte(mean.w)]
    };
    chain(texels, size, meaning, read, write)
}

/// [`mips`] of texels that are floats.
pub fn float_mips(texels: &[[f32; 4]], size: [u32; 2], meaning: Meaning) -> Vec<[f32; 4]> {
    chain(texels, size, meaning, Vec4::from, |mean| mean.to_array())
}

fn byte(x: f32) -> u8 {
    (x * 255.0 + 0.5) as u8
}

/// sRGB codes of evenly spaced linear values. The steps are fine enough for the darkest codes.
fn srgb_codes() -> &'static [u8] {
    static TABLE: OnceLock<Vec<u8>> = OnceLock::new();
    const STEPS: usize = 1 << 14;
    TABLE.get_or_init(|| (0..=STEPS).map(|step| byte(srgb_from_linear(step as f32 / STEPS as f32))).collect())
}

fn chain<T: Copy + Default + Send + Sync>(
    texels: &[T],
    [mut width, mut height]: [u32; 2],
    meaning: Meaning,
    read: impl Fn(T) -> Vec4 + Sync,
    write: impl Fn(Vec4) -> T + Sync,
) -> Vec<T> {
    let sizes: Vec<[u32; 2]> = sizes_below([width, height]).collect();
    let count = |[width, height]: [u32; 2]| width as usize * height as usize;
    let mut levels = vec![T::default(); sizes.iter().map(|&size| count(size)).sum()];
    let mut begin = 0;
    for (level, &size) in sizes.iter().enumerate() {
        let (done, rest) = levels.split_at_mut(begin);
        let from = if level == 0 { texels } else { &done[begin - count([width, height])..] };
        let to = &mut rest[..count(size)];
        let source = |x: u32, y: u32| {
            let texel = read(from[y as usize * width as usize + x as usize]);
            // The normals of single texels have no variance.
            if level == 0 && meaning == Meaning::Normal { texel.truncate().extend(0.0) } else { texel }
        };
        to.par_chunks_mut(size[0] as usize).enumerate().for_each(|(y, row)| {
            let (rows, row_weights) = span(y as u32, height);
            for (x, texel) in (0..).zip(row) {
                let (columns, weights) = span(x, width);
                let mut cells = Cells::default();
                for (y, down) in (rows..).zip(row_weights) {
                    for (x, across) in (columns..).zip(weights) {
                        if down * across > 0.0 {
                            cells.add(source(x, y), down * across, meaning);
                        }
                    }
                }
                *texel = write(cells.mean(meaning));
            }
        });
        begin += count(size);
        [width, height] = size;
    }
    levels
}

/// The first of the three texels along an axis that texel `index` of the next level covers, and their weights.
fn span(index: u32, size: u32) -> (u32, [f32; 3]) {
    if size == 1 {
        return (0, [1.0, 0.0, 0.0]);
    }
    if size.is_multiple_of(2) {
        return (2 * index, [0.5, 0.5, 0.0]);
    }
    let (half, whole) = ((size / 2) as f32, size as f32);
    (2 * index, [half - index as f32, half, index as f32 + 1.0].map(|covered| covered / whole))
}

/// Sums over the texels that one texel of the next level covers.
#[derive(Default)]
struct Cells {
    plain: Vec4,
    /// Colours times alpha; sums of unit normals.
    weighted: Vec3,
    /// Mean slope (x, y), and mean square of slopes with their variance so far.
    slopes: Vec3,
}

impl Cells {
    fn add(&mut self, texel: Vec4, weight: f32, meaning: Meaning) {
        self.plain += texel * weight;
        match meaning {
            Meaning::Plain => {}
            Meaning::Covered => self.weighted += texel.truncate() * (texel.w * weight),
            Meaning::Normal => {
                let normal = (texel.truncate() * 2.0 - 1.0).normalize_or(Vec3::Z);
                let steepness = normal.truncate() / normal.z.max(1.0 / STEEPEST);
                self.weighted += normal * weight;
                self.slopes += steepness.extend(steepness.length_squared() + texel.w * texel.w) * weight;
            }
        }
    }

    fn mean(&self, meaning: Meaning) -> Vec4 {
        match meaning {
            Meaning::Covered if self.plain.w > 0.0 => (self.weighted / self.plain.w).extend(self.plain.w),
            Meaning::Plain | Meaning::Covered => self.plain,
            Meaning::Normal => {
                let variance = self.slopes.z - self.slopes.truncate().length_squared();
                let normal = self.weighted.normalize_or(Vec3::Z) * 0.5 + 0.5;
                normal.extend(variance.max(0.0).sqrt().min(1.0))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_has_the_mean_of_the_texture() {
        for size in [[7, 5], [8, 8], [1, 9], [16, 3], [1, 1]] {
            let texels: Vec<[f32; 4]> =
                (0..size[0] * size[1]).map(|i| [(i * i % 17) as f32, i as f32, 1.0, 0.5]).collect();
            let levels = float_mips(&texels, size, Meaning::Plain);
            let mean = texels.iter().map(|&texel| Vec4::from(texel)).sum::<Vec4>() / texels.len() as f32;
            let last = levels.last().map_or(mean, |&texel| Vec4::from(texel));
            assert!(last.abs_diff_eq(mean, 1e-4), "{size:?}: {last} {mean}");
            let mut expected = 0;
            let [mut width, mut height] = size;
            for _ in 1..level_count(size[0], size[1]) {
                (width, height) = ((width / 2).max(1), (height / 2).max(1));
                expected += width * height;
            }
            assert_eq!(levels.len() as u32, expected);
        }
    }

    #[test]
    fn colours_are_averaged_in_linear_light_and_by_their_coverage() {
        let texture = |texels: Vec<[u8; 4]>| Texture {
            name: String::new(),
            width: 2,
            height: 1,
            texels: Texels::Srgb8(texels),
            wrap: Default::default(),
            nearest: false,
            filtered: true,
        };
        let half = texture(vec![[255; 4], [0, 0, 0, 255]]);
        assert_eq!(mips(&half, Meaning::Plain), Texels::Srgb8(vec![[188, 188, 188, 255]]));
        let leaf = texture(vec![[10, 200, 30, 255], [0, 0, 0, 0]]);
        assert_eq!(mips(&leaf, Meaning::Covered), Texels::Srgb8(vec![[10, 200, 30, 128]]));
    }

    #[test]
    fn normals_that_differ_leave_the_variance_of_their_slopes() {
        let tilted = |x: f32| (Vec3::new(x, 0.0, 1.0).normalize() * 0.5 + 0.5).extend(1.0).to_array();
        let flat = float_mips(&[tilted(0.0), tilted(0.0)], [2, 1], Meaning::Normal);
        assert!(Vec4::from(flat[0]).abs_diff_eq(Vec4::new(0.5, 0.5, 1.0, 0.0), 1e-6), "{flat:?}");
        let rough = float_mips(&[tilted(0.3), tilted(-0.3)], [2, 1], Meaning::Normal);
        assert!(Vec4::from(rough[0]).abs_diff_eq(Vec4::new(0.5, 0.5, 1.0, 0.3), 1e-5), "{rough:?}");
        // A second level keeps the variance of the first.
        let again = float_mips(&[tilted(0.3), tilted(-0.3), tilted(0.3), tilted(-0.3)], [4, 1], Meaning::Normal);
        assert!((again[2][3] - 0.3).abs() < 1e-5, "{again:?}");
    }
}

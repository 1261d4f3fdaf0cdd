//! The .hair format (Cem Yuksel, <http://www.cemyuksel.com/research/hairmodels>): a header of 128 bytes, and up to five arrays. All numbers are
//! little-endian.

use super::{Strands, primvar};
use throng_base::math::linear_from_srgb;
use throng_usd::{Interpolation, Primvar};

const HEADER: usize = 128;
/// Bits of the arrays that a file has.
const SEGMENTS: u32 = 1;
const POINTS: u32 = 1 << 1;
const THICKNESS: u32 = 1 << 2;
const TRANSPARENCY: u32 = 1 << 3;
const COLORS: u32 = 1 << 4;

/// Parses a file. Colours are sRGB, and thicknesses are diameters.
///
/// # Errors
/// If it is no such file, or if it ends early. The text is a sentence.
pub fn parse(file: &[u8]) -> Result<Strands, String> {
    let header = file.get(..HEADER).filter(|header| header.starts_with(b"HAIR"));
    let header = header.ok_or("this is no .hair file: its first 128 bytes are no header")?;
    let whole = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| header[at + i]));
    let [strands, points, arrays, segments] = [4, 8, 12, 16].map(whole);
    let has = |array: u32| arrays & array != 0;
    if !has(POINTS) {
        return Err("the file has no points: export it with points".to_owned());
    }
    let mut rest = Rest(&file[HEADER..]);
    if (rest.0.len() as u64) < 12 * u64::from(points) {
        return Err(format!("the file ends early: it has no room for its {points} points; get all of it"));
    }
    let counts = match has(SEGMENTS) {
        true => {
            rest.take(strands, 2)?.chunks_exact(2).map(|n| u32::from(u16::from_le_bytes([n[0], n[1]])) + 1).collect()
        }
        false => uniform(strands, points, segments)?,
    };
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    if total != u64::from(points) {
        return Err(format!("its strands have {total} points in all, but the file has {points}: export it again"));
    }
    let frame = rest.floats::<3>(points)?;
    let mut optional = |array: u32| has(array).then(|| rest.floats::<1>(points)).transpose();
    let (thickness, transparency) = (optional(THICKNESS)?, optional(TRANSPARENCY)?);
    let colors = has(COLORS).then(|| rest.floats::<3>(points)).transpose()?;
    let usual = |at: usize| f32::from_bits(whole(at));
    let color = |color: [f32; 3]| color.map(linear_from_srgb);
    let each = |values: Vec<[f32; 1]>| values.into_iter().map(|[value]| value).collect::<Vec<f32>>();
    let of_all = |values: Vec<f32>| primvar(values, points as usize, strands as usize);
    Ok(Strands {
        widths: thickness.map_or_else(|| Some(constant(usual(20))), |values| of_all(each(values))),
        opacities: match transparency {
            Some(values) => of_all(each(values).into_iter().map(|value| 1.0 - value).collect()),
            None => Some(usual(24)).filter(|&value| value != 0.0).map(|value| constant(1.0 - value)),
        },
        colors: match colors {
            Some(values) => primvar(values.into_iter().map(color).collect(), points as usize, strands as usize),
            None => Some(constant(color([28, 32, 36].map(usual)))),
        },
        frames: vec![frame],
        counts,
        ..Strands::default()
    })
}

fn constant<T>(value: T) -> Primvar<T> {
    Primvar { interpolation: Interpolation::Constant, values: vec![value], indices: Vec::new() }
}

/// Strands of equally many segments.
fn uniform(strands: u32, points: u32, segments: u32) -> Result<Vec<u32>, String> {
    // Before the counts are allocated.
    if u64::from(strands) * (u64::from(segments) + 1) != u64::from(points) {
        let message = format!("{strands} strands of {segments} segments do not have {points} points: export it again");
        return Err(message);
    }
    Ok(vec![segments.saturating_add(1); strands as usize])
}

/// The part of a file that was not read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    /// The next `count` numbers of `size` bytes.
    fn take(&mut self, count: u32, size: usize) -> Result<&'a [u8], String> {
        let length = (count as usize).checked_mul(size);
        let (own, rest) = length.and_then(|length| self.0.split_at_checked(length)).ok_or_else(|| {
            let left = self.0.len();
            format!("the file ends early: {left} bytes are left for {count} values of {size} bytes; get all of it")
        })?;
        self.0 = rest;
        Ok(own)
    }

    fn floats<const N: usize>(&mut self, count: u32) -> Result<Vec<[f32; N]>, String> {
        let values = self.take(count, 4 * N)?.chunks_exact(4 * N);
        let float = |bytes: &[u8]| f32::from_le_bytes(std::array::from_fn(|i| bytes[i]));
        Ok(values.map(|value| std::array::from_fn(|i| float(&value[4 * i..]))).collect())
    }
}

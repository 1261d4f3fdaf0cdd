//! Point caches: arrays of points of one or several frames.

use super::{Strands, arrays::Array, primvar, zip};

const SHAPES: &str =
    "write (strands, n, 3) or (frames, strands, n, 3), or with an array `counts`, (points, 3) or (frames, points, 3)";

/// Bytes that the numbers of an array and their rows take, per byte of the file: half floats become floats twice, and their rows are divided
/// into frames.
const ARRAY: u64 = 6;

/// The arrays of a cache.
#[derive(Default)]
struct Arrays {
    points: Option<Array>,
    counts: Option<Array>,
    widths: Option<Array>,
    uvs: Option<Array>,
    colors: Option<Array>,
    times: Option<Array>,
}

/// The strands of an NPY file with the points alone.
///
/// # Errors
/// If it is no array of points. The text is a sentence.
pub fn of_array(file: &[u8]) -> Result<Strands, String> {
    strands(Arrays { points: Some(Array::parse(file)?), ..Arrays::default() })
}

/// The strands of an NPZ file. `take` is called with the size of each array before it is allocated.
///
/// # Errors
/// If it is no archive of arrays, if arrays do not fit each other, or if `take` fails. The text is a sentence.
pub fn of_archive(file: &[u8], take: &dyn Fn(u64) -> Result<(), String>) -> Result<Strands, String> {
    let mut arrays = Arrays::default();
    for (name, content) in zip::entries(file, take)? {
        let place = match name.strip_suffix(".npy").unwrap_or(&name) {
            "points" => &mut arrays.points,
            "counts" => &mut arrays.counts,
            "widths" => &mut arrays.widths,
            "uvs" => &mut arrays.uvs,
            "colors" => &mut arrays.colors,
            "times" => &mut arrays.times,
            _ => continue,
        };
        take((content.len() as u64).saturating_mul(ARRAY))?;
        *place = Some(Array::parse(&content).map_err(|cause| format!("`{name}`: {cause}"))?);
    }
    strands(arrays)
}

fn strands(arrays: Arrays) -> Result<Strands, String> {
    let points = arrays.points.ok_or("the archive has no array `points`: add it")?;
    let counts = arrays.counts.map(|counts| checked_counts(&counts)).transpose()?;
    let (frames, counts) = layout(&points, counts)?;
    let total = counts.iter().map(|&count| count as usize).sum::<usize>();
    let rows = points.rows::<3>().unwrap_or_default();
    if frames == 0 || total == 0 {
        return Ok(Strands::default());
    }
    let out = Strands { frames: rows.chunks(total).map(<[_]>::to_vec).collect(), counts, ..Strands::default() };
    with_values(out, arrays.widths, arrays.uvs, arrays.colors, arrays.times)
}

fn checked_counts(counts: &Array) -> Result<Vec<u32>, String> {
    let whole =
        |&count: &f64| (count >= 0.0 && count < f64::from(u32::MAX) && count.fract() == 0.0).then_some(count as u32);
    let all = counts.doubles().iter().map(whole).collect::<Option<Vec<u32>>>();
    all.filter(|_| counts.shape.len() == 1).ok_or_else(|| "`counts` is no list of numbers of points".to_owned())
}

/// Number of frames, and of points of each strand.
fn layout(points: &Array, counts: Option<Vec<u32>>) -> Result<(usize, Vec<u32>), String> {
    if points.len() == 0 {
        return Ok((0, Vec::new()));
    }
    let (frames, counts) = match (&points.shape[..], counts) {
        ([_, 3], Some(counts)) => (1, counts),
        ([frames, _, 3], Some(counts)) => (*frames, counts),
        ([strands, n, 3], None) => (1, vec![*n as u32; *strands]),
        ([frames, strands, n, 3], None) => (*frames, vec![*n as u32; *strands]),
        (shape, _) => return Err(format!("the shape of the points is {shape:?}: {SHAPES}")),
    };
    let total = counts.iter().map(|&count| u64::from(count)).sum::<u64>().saturating_mul(frames as u64);
    let found = points.len() as u64 / 3;
    if total != found {
        return Err(format!(
            "`counts` needs {total} points in {frames} frames, but there are {found}: write all counts"
        ));
    }
    Ok((frames, counts))
}

fn with_values(
    mut out: Strands,
    widths: Option<Array>,
    uvs: Option<Array>,
    colors: Option<Array>,
    times: Option<Array>,
) -> Result<Strands, String> {
    let (points, strands) = (out.points(), out.counts.len());
    let unfit = |name: &str, found: &Array| {
        format!(
            "`{name}` has the shape {:?}: write one row for each of {points} points, for each of {strands} strands, or for all",
            found.shape
        )
    };
    if let Some(array) = widths {
        out.widths = Some(primvar(array.singles(), points, strands).ok_or_else(|| unfit("widths", &array))?);
    }
    if let Some(array) = uvs {
        let values = array.rows::<2>().and_then(|rows| primvar(rows, points, strands));
        out.uvs = Some(values.ok_or_else(|| unfit("uvs", &array))?);
    }
    if let Some(array) = colors {
        let with_alpha = array.rows::<4>();
        let opaque = || array.rows::<3>();
        let rows =
            with_alpha.clone().map(|rows| rows.into_iter().map(|[r, g, b, _]| [r, g, b]).collect()).or_else(opaque);
        let values = rows.and_then(|rows| primvar(rows, points, strands));
        out.colors = Some(values.ok_or_else(|| unfit("colors", &array))?);
        let alphas = with_alpha.map(|rows| rows.into_iter().map(|[.., alpha]| alpha).collect());
        out.opacities = alphas.and_then(|alphas| primvar(alphas, points, strands));
    }
    if let Some(array) = times {
        let times = array.doubles();
        let ascends = times.windows(2).all(|pair| pair[0] < pair[1]);
        if times.len() != out.frames.len() || !ascends || times.iter().any(|time| !time.is_finite()) {
            return Err(format!("`times` must be {} ascending numbers, one for each frame", out.frames.len()));
        }
        out.times = Some(times);
    }
    Ok(out)
}

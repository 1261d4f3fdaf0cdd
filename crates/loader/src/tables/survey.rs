//! A sample of a table's frames, from which a load gets what it needs of the whole: a pose of each instance, faults, and a hash.

use super::Rows;
use throng_scene::{RowFormat, RowLayout, RowPose};
use xxhash_rust::xxh3::Xxh3;

/// Bytes that are read of a large table. Smaller tables are read completely.
const MOST_BYTES: u64 = 64 << 20;
/// Number of frames that are read of every table that has as many.
const LEAST_FRAMES: u64 = 16;

/// What a load needs of a table.
pub struct Survey {
    /// The first pose of each instance in the sample; None if it is not there.
    pub first: Vec<Option<RowPose>>,
    /// A hash of the sample and of the shape.
    pub content: u64,
}

/// Reads a sample of frames at equal steps, the first and the last included.
///
/// # Errors
/// If a frame cannot be read, if a matrix is no transform, or if the sample is the whole table and nothing in it is there. The text is a
/// sentence.
pub fn survey(rows: &Rows) -> Result<Survey, String> {
    let (count, format) = (rows.instances as usize, &rows.format);
    let mut bytes = vec![0; count * format.bytes()];
    let mut first: Vec<Option<RowPose>> = vec![None; count];
    let mut hash = Xxh3::new();
    hash.update(format!("{:?}", (rows.frames, rows.instances, format)).as_bytes());
    let sampled = sampled(rows.frames, bytes.len() as u64);
    for &frame in &sampled {
        rows.source.read(frame, &mut bytes)?;
        hash.update(&bytes);
        for (instance, (row, pose)) in bytes.chunks_exact(format.bytes()).zip(&mut first).enumerate() {
            check(format, row).map_err(|fault| format!("frame {frame}, instance {instance}: {fault}"))?;
            *pose = pose.or_else(|| format.pose(row));
        }
    }
    if sampled.len() == rows.frames as usize && first.iter().all(Option::is_none) {
        let fault = "no instance is there in any frame: every row has a number that is not finite, a quaternion of zeros or a matrix \
            without an inverse";
        return Err(format!("{fault}: correct the numbers"));
    }
    Ok(Survey { first, content: hash.digest() })
}

/// Numbers of the frames of a sample, ascending.
fn sampled(frames: u32, bytes: u64) -> Vec<u32> {
    let most = (MOST_BYTES / bytes.max(1)).max(LEAST_FRAMES).min(frames.into());
    let last = u64::from(frames) - 1;
    let step = |index: u64| (index * last / (most - 1).max(1)) as u32;
    (0..most).map(step).collect()
}

/// Checks that a matrix of four rows is a transform.
fn check(format: &RowFormat, row: &[u8]) -> Result<(), String> {
    let RowLayout::Matrix { rows: 4 } = format.layout else { return Ok(()) };
    let Some([.., a, b, c, d]) = format.read(row) else { return Ok(()) };
    if [a, b, c, d] == [0.0, 0.0, 0.0, 1.0] || [a, b, c, d] == [0.0; 4] {
        Ok(())
    } else {
        Err(format!(
            "the last row of the matrix is ({a}, {b}, {c}, {d}) instead of (0, 0, 0, 1): transpose the matrices"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_both_ends_and_are_limited_by_size_alone() {
        assert_eq!(sampled(1, 100), [0]);
        assert_eq!(sampled(5, 100), [0, 1, 2, 3, 4]);
        let large = sampled(10_000, 2_800_000);
        assert_eq!((large.len(), large[0], large[large.len() - 1]), (23, 0, 9_999));
        assert_eq!(sampled(100, 1 << 40).len(), 16);
        assert_eq!(sampled(u32::MAX, 1 << 40).last(), Some(&(u32::MAX - 1)));
    }
}

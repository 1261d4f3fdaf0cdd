//! Pictures in tiles (UDIM), joined to one picture.

use crate::{LoadError, enlarge::enlarged, image};
use std::path::PathBuf;
use throng_scene::{Rgba, TexelImage, Texels};

/// Column and row of a tile with a number from 1001 on. Row 0 is at the bottom.
pub fn cell(number: u32) -> (u32, u32) {
    let index = number.saturating_sub(1001);
    (index % 10, index / 10)
}

/// Number of columns and rows of the picture that joins tiles in these cells; None without tiles.
pub fn size(cells: &[(u32, u32)]) -> Option<(u32, u32)> {
    let size = cells.iter().fold((0, 0), |size, cell| (size.0.max(cell.0 + 1), size.1.max(cell.1 + 1)));
    (!cells.is_empty()).then_some(size)
}

/// Joins the pictures of tiles. All cells have the size of the largest one, to which smaller tiles are enlarged. Cells without a tile are black.
///
/// # Errors
/// If a picture is damaged, or if the whole is too large.
pub fn joined(tiles: &[(u32, PathBuf)]) -> Result<TexelImage, LoadError> {
    let pictures = tiles.iter().map(|(number, path)| Ok((cell(*number), image::load(path)?)));
    let pictures: Vec<((u32, u32), TexelImage)> = pictures.collect::<Result<_, LoadError>>()?;
    let cells: Vec<(u32, u32)> = pictures.iter().map(|(cell, _)| *cell).collect();
    let (columns, rows) = size(&cells).unwrap_or((1, 1));
    let width = pictures.iter().map(|(_, picture)| picture.width).max().unwrap_or(1);
    let height = pictures.iter().map(|(_, picture)| picture.height).max().unwrap_or(1);
    let whole = (columns * width, rows * height);
    if whole.0 > image::MAX_SIDE || whole.1 > image::MAX_SIDE {
        let message = format!(
            "its {} tiles join to {}x{} pixels, which are too many: scale them to at most {} a side in all",
            tiles.len(),
            whole.0,
            whole.1,
            image::MAX_SIDE
        );
        return Err(LoadError::file(&tiles[0].1, message));
    }
    let pictures = pictures
        .into_iter()
        .map(|(cell, TexelImage { width, height, texels })| (cell, (width, height), texels.into_rgba(width, height)));
    let pictures: Vec<_> = pictures.collect();
    let is_float = pictures.iter().any(|(.., channels)| matches!(channels, Rgba::Floats(_)));
    let count = whole.0 as usize * whole.1 as usize;
    let mut floats = vec![[0.0; 4]; if is_float { count } else { 0 }];
    let mut bytes = vec![[0u8; 4]; if is_float { 0 } else { count }];
    for ((column, row), from, channels) in pictures {
        let to = (width, height);
        let channels = match channels {
            Rgba::Floats(texels) => Rgba::Floats(enlarged(texels.into_owned(), from, to).into()),
            Rgba::Bytes(texels) => Rgba::Bytes(enlarged(texels.into_owned(), from, to).into()),
        };
        for y in 0..height {
            let own = (y * width) as usize..((y + 1) * width) as usize;
            let start = ((rows - 1 - row) * height + y) as usize * whole.0 as usize + (column * width) as usize;
            let place = start..start + width as usize;
            match &channels {
                Rgba::Floats(texels) => floats[place].copy_from_slice(&texels[own]),
                Rgba::Bytes(texels) if is_float => {
                    let float = |texel: &[u8; 4]| texel.map(|x| f32::from(x) / 255.0);
                    floats[place].iter_mut().zip(&texels[own]).for_each(|(to, texel)| *to = float(texel));
                }
                Rgba::Bytes(texels) => bytes[place].copy_from_slice(&texels[own]),
            }
        }
    }
    let texels = if is_float { Texels::Linear(floats) } else { Texels::Srgb8(bytes) };
    Ok(TexelImage { width: whole.0, height: whole.1, texels })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_ten_to_a_row_from_the_bottom() {
        assert_eq!([1001, 1002, 1010, 1011, 7].map(cell), [(0, 0), (1, 0), (9, 0), (0, 1), (0, 0)]);
        assert_eq!((size(&[]), size(&[(1, 0), (0, 2)])), (None, Some((2, 3))));
    }

    #[test]
    fn tiles_become_one_picture() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let tile = |number: u32, grey: u8, side: u32| {
            let path = folder.path().join(format!("{number}.png"));
            ::image::GrayImage::from_pixel(side, side, ::image::Luma([grey])).save(&path).map(|()| (number, path))
        };
        let joined = joined(&[tile(1001, 10, 1)?, tile(1012, 20, 2)?])?;
        assert_eq!((joined.width, joined.height), (4, 4));
        let Texels::Srgb8(texels) = &joined.texels else { panic!("bytes") };
        let grey: Vec<u8> = texels.iter().map(|texel| texel[0]).collect();
        assert_eq!(grey, [0, 0, 20, 20, 0, 0, 20, 20, 10, 10, 0, 0, 10, 10, 0, 0]);
        Ok(())
    }
}

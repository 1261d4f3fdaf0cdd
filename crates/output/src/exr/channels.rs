//! The channels of a picture, and the location of their values in memory.

use crate::{EncodeError, Picture, Pixels};
use throng_picture::aov::channels::{ChannelPlace, FileRows};

/// One channel of the file.
pub struct Channel<'a> {
    pub place: ChannelPlace,
    /// Values of all channels of the AOV, interleaved by pixel.
    pub values: &'a [f32],
}

/// Returns all channels of `picture`, in the order of the file.
///
/// # Errors
/// If pixels are not floats, or if the number of values of an AOV does not match the picture's size.
pub fn of<'a>(picture: &'a Picture, rows: &FileRows) -> Result<Vec<Channel<'a>>, EncodeError> {
    let Pixels::F32(beauty) = &picture.pixels else {
        return Err(EncodeError::Kind(picture.pixels.kind()));
    };
    let pixels = picture.width as usize * picture.height as usize;
    let channel = |place: ChannelPlace| {
        let values = match place.aov {
            None => beauty,
            Some(aov) => {
                let image = picture.aovs.iter().find(|image| image.aov == aov);
                image.map_or(&[][..], |image| &image.values)
            }
        };
        if values.len() == pixels * place.stride {
            Ok(Channel { place, values })
        } else {
            Err(EncodeError::Size { width: picture.width, height: picture.height, values: values.len() })
        }
    };
    rows.channels().into_iter().map(channel).collect()
}

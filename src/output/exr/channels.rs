//! The channels of a picture: where in memory their values are.

use crate::{
    layers::channels::{ChannelPlace, FileRows},
    output::{EncodeError, Picture, Pixels},
};

/// One channel of the file.
pub struct Channel<'a> {
    pub place: ChannelPlace,
    /// Those of all channels of the layer, pixel by pixel.
    pub values: &'a [f32],
}

/// Everything in `picture`, in the order of the file.
pub fn of<'a>(picture: &'a Picture, rows: &FileRows) -> Result<Vec<Channel<'a>>, EncodeError> {
    let Pixels::F32(beauty) = &picture.pixels else {
        return Err(EncodeError::Kind(picture.pixels.kind()));
    };
    let pixels = picture.width as usize * picture.height as usize;
    let channel = |place: ChannelPlace| {
        let values = match place.layer {
            None => beauty,
            Some(layer) => {
                let image = picture.layers.iter().find(|image| image.layer == layer);
                image.map_or(&[][..], |image| &image.values)
            }
        };
        match values.len() == pixels * place.stride {
            true => Ok(Channel { place, values }),
            false => Err(EncodeError::Size {
                width: picture.width,
                height: picture.height,
                values: values.len(),
            }),
        }
    };
    rows.channels().into_iter().map(channel).collect()
}

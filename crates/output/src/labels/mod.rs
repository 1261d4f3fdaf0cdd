//! Labels of frames: which there are (`kind`), and the encoders of their files. All take rows from the top, and values interleaved by pixel.

mod flow;
mod kind;
mod maps;
mod npy;
mod rle;

pub use flow::{encode_flo, encode_kitti};
pub use kind::{Categories, Label, LabelError, MapFormat, MapKind};
pub use maps::{encode_depth_exr, encode_gray_png};
pub use npy::{NpyArray, encode_npy};
pub use rle::{Runs, mask_in, runs_by_number};

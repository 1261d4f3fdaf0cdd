//! Output of finished frames: file names, encodings, and atomic writing, so that no reader sees an incomplete file.

mod backdrop;
mod checkpoint;
mod encoding;
mod error;
mod exif;
mod exr;
mod files;
mod film;
mod format;
mod in_order;
mod ink;
mod labels;
mod npz;
mod picture;
mod png;
mod read_back;
mod sheet;
mod video;
mod web;

pub use backdrop::Backdrop;
pub use checkpoint::{CheckpointError, CheckpointIdentity, checkpoint_path, read_checkpoint};
pub use encoding::{ColorDepth, EncodeError, Encoding, ExrCompression};
pub use error::OutputError;
pub use exr::BandFile;
pub use files::{
    Claims, Destination, FrameFiles, PartialFile, Pattern, PatternError, Planned, Stream, fill_atomically, is_writing,
    prepare_distinct, prepare_folder, remove_stale_claim, write_atomically,
};
pub use film::{FilmFile, FilmHeader, FilmPicture, FilmWriter, PackedRows, write_film};
pub use format::FileFormat;
pub use in_order::{Existing, InOrder, Sink};
pub use ink::{draw_edges, tint};
pub use labels::{
    Categories, Label, LabelError, MapFormat, MapKind, NpyArray, Runs, encode_depth_exr, encode_flo, encode_gray_png,
    encode_kitti, encode_npy, mask_in, runs_by_number,
};
pub use picture::{Calibration, CameraMatrices, Manifests, Metadata, Picture, Pixels, Texts, Windows};
pub use png::{StreamWriter, begin as begin_png, rows as png_rows};
pub use read_back::read_back;
pub use sheet::{SheetLayout, SheetRow, SheetRows, choose, open_sheet, parse_sheet};
pub use video::{VideoFormat, VideoName, VideoSettings, open_video};

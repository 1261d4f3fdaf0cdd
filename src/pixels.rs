//! What the pixels of a finished frame are made of.

use crate::abi;

/// The type of a colour of a finished pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PixelType {
    /// Display-ready, 0 to 255.
    #[default]
    U8,
    /// Display-ready, 0 to 65,535, in native byte order.
    U16,
    /// Radiance as it is, without exposure and tone curve; display values of debugging views. In native byte order.
    F32,
}

impl PixelType {
    /// Bytes of one colour.
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::F32 => 4,
        }
    }

    /// As kernels name it.
    pub fn code(self) -> u32 {
        match self {
            Self::U8 => abi::PIXELS_U8,
            Self::U16 => abi::PIXELS_U16,
            Self::F32 => abi::PIXELS_F32,
        }
    }
}

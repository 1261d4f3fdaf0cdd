//! Types of the pixels of a finished frame, and the memory that holds them.

use bytes::Bytes;
use std::ops::Deref;
use throng_abi as abi;

/// The type of a colour channel of a finished pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PixelType {
    /// Display values from 0 to 255.
    #[default]
    U8,
    /// Display values from 0 to 65,535, in native byte order.
    U16,
    /// Radiance without exposure and tone curve, or the display values of debugging views, in native byte order.
    F32,
}

impl PixelType {
    /// Bytes of one colour channel.
    #[inline]
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::F32 => 4,
        }
    }

    /// The kernels' constant for the type.
    pub fn code(self) -> u32 {
        match self {
            Self::U8 => abi::PIXELS_U8,
            Self::U16 => abi::PIXELS_U16,
            Self::F32 => abi::PIXELS_F32,
        }
    }
}

/// Floats of a finished picture, in any kind of memory, which avoids copies at high frame rates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Floats(Bytes);

impl Floats {
    /// Wraps floats in native byte order. Copies them only if they are not aligned. An incomplete float at the end is dropped.
    pub fn from_bytes(bytes: Bytes) -> Self {
        let bytes = bytes.slice(..bytes.len() - bytes.len() % size_of::<f32>());
        match bytemuck::try_cast_slice::<u8, f32>(&bytes) {
            Ok(_) => Self(bytes),
            Err(_) => bytemuck::pod_collect_to_vec(&bytes).into(),
        }
    }

    /// Returns the underlying bytes, without a copy.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl From<Vec<f32>> for Floats {
    fn from(values: Vec<f32>) -> Self {
        struct Owner(Vec<f32>);
        impl AsRef<[u8]> for Owner {
            fn as_ref(&self) -> &[u8] {
                bytemuck::cast_slice(&self.0)
            }
        }
        Self(Bytes::from_owner(Owner(values)))
    }
}

impl Deref for Floats {
    type Target = [f32];

    #[inline]
    fn deref(&self) -> &[f32] {
        // Empty bytes may have any alignment.
        bytemuck::try_cast_slice(&self.0).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_the_same_wherever_their_bytes_lie() {
        let values = [1.5f32, -2.0, 1e-30];
        let floats = Floats::from(values.to_vec());
        assert_eq!(floats[..], values);
        let bytes = floats.clone().into_bytes();
        assert!(std::ptr::eq(Floats::from_bytes(bytes.clone()).as_ptr(), floats.as_ptr()));
        let shifted = [&[9], &bytes[..], &[7, 7]].concat();
        let shifted = Bytes::from(shifted).slice(1..);
        assert_eq!(Floats::from_bytes(shifted)[..], values);
        assert!(Floats::default().is_empty());
    }
}

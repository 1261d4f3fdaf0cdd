//! NumPy arrays in memory, with numbers of any type as floats.

use crate::tables::{AnyHeader, parse_any};
use half::f16;

/// An array in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
}

impl Array {
    /// Parses an NPY file.
    ///
    /// # Errors
    /// If it is no array of numbers in C order, or if its length differs from its shape. The text is a sentence.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let (AnyHeader { descr, is_fortran, shape }, start) = parse_any(bytes)?;
        let data = bytes.get(start as usize..).unwrap_or_default();
        let (size, decode) = decoder(&descr)?;
        let count = shape.iter().try_fold(1_u64, |product, side| product.checked_mul(*side));
        let expected = count.and_then(|count| count.checked_mul(size as u64));
        if expected != Some(data.len() as u64) {
            let found = data.len();
            return Err(format!(
                "the shape {shape:?} of `{descr}` does not fit {found} bytes of numbers: save it again"
            ));
        }
        let sides = shape.iter().filter(|&&side| side > 1).count();
        if is_fortran && sides > 1 {
            return Err("the array is in Fortran order: save numpy.ascontiguousarray of it".to_owned());
        }
        let shape = shape.into_iter().map(|side| side as usize).collect();
        Ok(Self { shape, values: data.chunks_exact(size).map(decode).collect() })
    }

    /// The numbers as rows of `N`, whatever the other sides are. `None` unless the last side is `N`.
    pub fn rows<const N: usize>(&self) -> Option<Vec<[f32; N]>> {
        (self.shape.last() == Some(&N)).then(|| {
            let rows = self.values.chunks_exact(N);
            rows.map(|row| std::array::from_fn(|i| row[i] as f32)).collect()
        })
    }
}

type Decode = fn(&[u8]) -> f64;

macro_rules! decode {
    ($type:ty, $read:ident) => {
        |bytes: &[u8]| f64::from(<$type>::$read(bytes.try_into().unwrap_or_default()))
    };
}

/// Bytes per number of a type, and how they are read.
fn decoder(descr: &str) -> Result<(usize, Decode), String> {
    Ok(match descr {
        "<f2" => (2, decode!(f16, from_le_bytes)),
        "<f4" => (4, decode!(f32, from_le_bytes)),
        ">f4" => (4, decode!(f32, from_be_bytes)),
        "<f8" => (8, decode!(f64, from_le_bytes)),
        ">f8" => (8, decode!(f64, from_be_bytes)),
        "|u1" => (1, decode!(u8, from_le_bytes)),
        "|i1" => (1, decode!(i8, from_le_bytes)),
        "<u2" => (2, decode!(u16, from_le_bytes)),
        "<i2" => (2, decode!(i16, from_le_bytes)),
        "<u4" => (4, decode!(u32, from_le_bytes)),
        "<i4" => (4, decode!(i32, from_le_bytes)),
        "<i8" => (8, |bytes| i64::from_le_bytes(bytes.try_into().unwrap_or_default()) as f64),
        "<u8" => (8, |bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()) as f64),
        other => {
            let name = other.escape_default();
            return Err(format!("the array is of `{name}`: convert it with .astype(numpy.float32) or int32"));
        }
    })
}

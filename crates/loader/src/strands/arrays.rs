//! NumPy arrays in memory, with numbers of any type as floats of the precision that they need.

use crate::tables::{AnyHeader, parse_any};
use half::f16;

/// An array in C order.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub shape: Vec<usize>,
    values: Numbers,
}

/// The numbers of an array. Types with at most 24 bits of precision are stored in half of the memory of others.
#[derive(Clone, Debug, PartialEq)]
enum Numbers {
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Array {
    /// Parses an NPY file.
    ///
    /// # Errors
    /// If it is no array of numbers in C order, or if its length differs from its shape. The text is a sentence.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let (AnyHeader { descr, is_fortran, shape }, start) = parse_any(bytes)?;
        let data = bytes.get(start as usize..).unwrap_or_default();
        let decoder = decoder(&descr)?;
        let size = decoder.size();
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
        let values = match decoder {
            Decoder::Single(_, decode) => Numbers::Single(data.chunks_exact(size).map(decode).collect()),
            Decoder::Double(_, decode) => Numbers::Double(data.chunks_exact(size).map(decode).collect()),
        };
        Ok(Self { shape, values })
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        match &self.values {
            Numbers::Single(values) => values.len(),
            Numbers::Double(values) => values.len(),
        }
    }

    /// The numbers in double precision.
    pub fn doubles(&self) -> Vec<f64> {
        match &self.values {
            Numbers::Single(values) => values.iter().copied().map(f64::from).collect(),
            Numbers::Double(values) => values.clone(),
        }
    }

    /// The numbers in single precision.
    pub fn singles(&self) -> Vec<f32> {
        match &self.values {
            Numbers::Single(values) => values.clone(),
            Numbers::Double(values) => values.iter().map(|&x| x as f32).collect(),
        }
    }

    /// The numbers as rows of `N`, whatever the other sides are. `None` unless the last side is `N`.
    pub fn rows<const N: usize>(&self) -> Option<Vec<[f32; N]>> {
        (self.shape.last() == Some(&N)).then(|| match &self.values {
            Numbers::Single(values) => values.as_chunks().0.to_vec(),
            Numbers::Double(values) => values.as_chunks().0.iter().map(|row| row.map(|x| x as f32)).collect(),
        })
    }
}

/// Bytes per number of a type, and how they are read.
enum Decoder {
    Single(usize, fn(&[u8]) -> f32),
    Double(usize, fn(&[u8]) -> f64),
}

impl Decoder {
    fn size(&self) -> usize {
        match *self {
            Self::Single(size, _) | Self::Double(size, _) => size,
        }
    }
}

macro_rules! decode {
    ($float:ty, $type:ty, $read:ident) => {
        |bytes: &[u8]| <$float>::from(<$type>::$read(bytes.try_into().unwrap_or_default()))
    };
}

fn decoder(descr: &str) -> Result<Decoder, String> {
    use Decoder::{Double, Single};
    Ok(match descr {
        "<f2" => Single(2, decode!(f32, f16, from_le_bytes)),
        "<f4" => Single(4, decode!(f32, f32, from_le_bytes)),
        ">f4" => Single(4, decode!(f32, f32, from_be_bytes)),
        "<f8" => Double(8, decode!(f64, f64, from_le_bytes)),
        ">f8" => Double(8, decode!(f64, f64, from_be_bytes)),
        "|u1" => Single(1, decode!(f32, u8, from_le_bytes)),
        "|i1" => Single(1, decode!(f32, i8, from_le_bytes)),
        "<u2" => Single(2, decode!(f32, u16, from_le_bytes)),
        "<i2" => Single(2, decode!(f32, i16, from_le_bytes)),
        "<u4" => Double(4, decode!(f64, u32, from_le_bytes)),
        "<i4" => Double(4, decode!(f64, i32, from_le_bytes)),
        "<i8" => Double(8, |bytes| i64::from_le_bytes(bytes.try_into().unwrap_or_default()) as f64),
        "<u8" => Double(8, |bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()) as f64),
        other => {
            let name = other.escape_default();
            return Err(format!("the array is of `{name}`: convert it with .astype(numpy.float32) or int32"));
        }
    })
}

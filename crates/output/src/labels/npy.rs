//! Arrays in numpy's format NPY (version 1.0, "A simple file format for NumPy arrays").

/// First bytes of every file, with the version of the format.
const MAGIC: [u8; 8] = *b"\x93NUMPY\x01\x00";
/// Alignment of the values in a file.
const ALIGNMENT: usize = 64;

/// An array in row-major order.
#[derive(Clone, Copy, Debug)]
pub enum NpyArray<'a> {
    /// numpy's float32.
    F32(&'a [f32]),
    /// numpy's float64.
    F64(&'a [f64]),
    /// numpy's int32.
    I32(&'a [i32]),
    /// numpy's uint8.
    U8(&'a [u8]),
    /// numpy's uint16.
    U16(&'a [u16]),
}

/// Encodes an array of this shape, whose product is the number of values.
pub fn encode_npy(shape: &[usize], array: NpyArray) -> Vec<u8> {
    let (kind, bytes): (&str, &[u8]) = match array {
        NpyArray::F32(values) => ("f4", bytemuck::cast_slice(values)),
        NpyArray::F64(values) => ("f8", bytemuck::cast_slice(values)),
        NpyArray::I32(values) => ("i4", bytemuck::cast_slice(values)),
        NpyArray::U8(values) => ("u1", values),
        NpyArray::U16(values) => ("u2", bytemuck::cast_slice(values)),
    };
    // A tuple with one entry needs the comma.
    let sides: String = shape.iter().map(|side| format!("{side}, ")).collect();
    let order = if cfg!(target_endian = "little") { '<' } else { '>' };
    let header = format!("{{'descr': '{order}{kind}', 'fortran_order': False, 'shape': ({}), }}", sides.trim_end());
    let end = (MAGIC.len() + 2 + header.len() + 1).next_multiple_of(ALIGNMENT);
    let length = end - MAGIC.len() - 2;
    let mut file = Vec::with_capacity(end + bytes.len());
    file.extend(MAGIC);
    file.extend((length as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.resize(end - 1, b' ');
    file.push(b'\n');
    file.extend(bytes);
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_padded_and_end_with_a_line_break() {
        let file = encode_npy(&[2, 3], NpyArray::I32(&[1, -1, 3, 4, 5, 6]));
        assert_eq!(file.len(), 128 + 24);
        assert_eq!(file[8..10], 118u16.to_le_bytes());
        let header = std::str::from_utf8(&file[10..128]).unwrap();
        assert!(header.starts_with("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3,), }   "), "{header}");
        assert!(header.ends_with(" \n"));
        assert_eq!(file[132..136], (-1i32).to_ne_bytes());
        let flat = encode_npy(&[1], NpyArray::F32(&[f32::INFINITY]));
        assert_eq!(flat[128..], f32::INFINITY.to_ne_bytes());
    }
}

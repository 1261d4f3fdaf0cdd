//! Arrays of Python and of throng.

use numpy::{PyArray, PyArray1, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods, ndarray::Dimension};
use pyo3::{exceptions::PyValueError, prelude::*};

/// Rows of `N` numbers, copied from an array of shape (n, N). The array may have any strides.
///
/// # Errors
/// If the array has another shape, or numbers that are not finite.
pub fn rows<const N: usize>(name: &str, array: &PyReadonlyArrayDyn<'_, f32>) -> PyResult<Vec<[f32; N]>> {
    let rows = any_rows(name, array)?;
    match rows.iter().position(|row| row.iter().any(|value| !value.is_finite())) {
        Some(index) => Err(PyValueError::new_err(format!("{name}[{index}] is not finite: every number must be"))),
        None => Ok(rows),
    }
}

/// Rows of `N` values, copied from an array of shape (n, N).
///
/// # Errors
/// If the array has another shape.
pub fn any_rows<T: numpy::Element + Copy, const N: usize>(
    name: &str,
    array: &PyReadonlyArrayDyn<'_, T>,
) -> PyResult<Vec<[T; N]>> {
    let shape = array.shape().to_vec();
    if shape.len() != 2 || shape[1] != N {
        return Err(PyValueError::new_err(format!("{name} has the shape {shape:?}: it must be (n, {N})")));
    }
    let view = array.as_array();
    let row = |index: usize| std::array::from_fn(|column| view[[index, column]]);
    Ok((0..shape[0]).map(row).collect())
}

/// An array of shape (n, N) with these rows.
pub fn table<'py, T: numpy::Element, const N: usize>(
    py: Python<'py>,
    rows: Vec<[T; N]>,
) -> PyResult<Bound<'py, PyAny>> {
    let count = rows.len();
    shaped(&PyArray1::from_vec(py, rows.into_flattened()), [count, N])
}

/// An array that owns `values`, of shape (height, width, channels), or (height, width) for one channel.
pub fn image<'py, T: numpy::Element>(
    py: Python<'py>,
    values: Vec<T>,
    (width, height, channels): (u32, u32, usize),
) -> PyResult<Bound<'py, PyAny>> {
    of_shape(py, values, image_shape((width, height), channels))
}

/// The shape of an image: (height, width, channels), or (height, width) for one channel.
pub fn image_shape((width, height): (u32, u32), channels: usize) -> Vec<usize> {
    let (width, height) = (width as usize, height as usize);
    if channels == 1 { vec![height, width] } else { vec![height, width, channels] }
}

/// An array that owns `values`.
pub fn of_shape<T: numpy::Element>(py: Python<'_>, values: Vec<T>, shape: Vec<usize>) -> PyResult<Bound<'_, PyAny>> {
    shaped(&PyArray1::from_vec(py, values), shape)
}

fn shaped<'py, T: numpy::Element, D>(flat: &Bound<'py, PyArray1<T>>, shape: D) -> PyResult<Bound<'py, PyAny>>
where
    D: numpy::ndarray::IntoDimension,
    D::Dim: Dimension,
{
    let array: Bound<'py, PyArray<T, D::Dim>> = flat.reshape(shape)?;
    Ok(array.into_any())
}

//! Arrays in the memory of a GPU, for other libraries: DLPack (PyTorch, JAX, CuPy, TensorFlow) and the CUDA array interface (Numba, CuPy).

use crate::{arrays, raised};
use pyo3::{
    exceptions::{PyBufferError, PyMemoryError},
    ffi,
    prelude::*,
    types::{PyAny, PyDict, PyTuple},
};
use std::{
    ffi::{CStr, c_char, c_void},
    ptr,
    sync::Arc,
};
use throng_device::{KeptImage, KeptMemory, ValueType};

/// DLPack's number of CUDA devices.
const DL_CUDA: i32 = 2;
/// DLPack's numbers of types.
const DL_INT: u8 = 0;
const DL_UINT: u8 = 1;
const DL_FLOAT: u8 = 2;
/// Names of a capsule before and after its tensor is taken.
const FRESH: &CStr = c"dltensor";
/// CUDA's legacy default stream, by the numbers of DLPack.
const LEGACY_STREAM: i64 = 1;

/// `DLTensor` of DLPack 0.8 (dlpack.h).
#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor` of DLPack 0.8.
#[repr(C)]
struct DlManagedTensor {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: unsafe extern "C" fn(*mut DlManagedTensor),
}

/// A managed tensor with the data that it points to. The tensor is first, so that its address is that of the whole.
#[repr(C)]
struct Owner {
    managed: DlManagedTensor,
    shape: Vec<i64>,
    _memory: Arc<dyn KeptMemory>,
}

/// An array on a GPU: rows from the top, without gaps.
#[pyclass(frozen)]
pub struct GpuArray {
    image: KeptImage,
    /// Lengths of the axes: frames if there are several, rows, columns, and channels if there are several.
    shape: Vec<usize>,
}

impl GpuArray {
    /// An image of frames of this size; `frames` is their number if the array has an axis for them.
    pub fn of(image: KeptImage, frames: Option<usize>, size: (u32, u32)) -> Self {
        let of_frame = arrays::image_shape(size, image.format().channels);
        Self { shape: frames.into_iter().chain(of_frame).collect(), image }
    }

    fn values(&self) -> ValueType {
        self.image.format().values
    }

    fn ordinal(&self) -> u32 {
        self.image.memory().ordinal()
    }
}

#[pymethods]
impl GpuArray {
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        match self.values() {
            ValueType::U8 => "uint8",
            ValueType::I32 => "int32",
            ValueType::F32 => "float32",
        }
    }

    /// A copy in host memory.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pixels = self.shape.iter().product::<usize>() / self.image.format().channels;
        let bytes = py.detach(|| self.image.read(pixels)).map_err(raised)?;
        let shape = self.shape.clone();
        match self.values() {
            ValueType::U8 => arrays::of_shape(py, bytes, shape),
            ValueType::I32 => arrays::of_shape::<i32>(py, bytemuck::pod_collect_to_vec(&bytes), shape),
            ValueType::F32 => arrays::of_shape::<f32>(py, bytemuck::pod_collect_to_vec(&bytes), shape),
        }
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        (DL_CUDA, self.ordinal() as i32)
    }

    /// A capsule with the array, which shares its memory.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Consumers of version 1 take unversioned capsules, too.
        let _ = max_version;
        if dl_device.is_some_and(|device| device != self.__dlpack_device__()) || copy == Some(true) {
            return Err(PyBufferError::new_err(
                "this array is shared where it is: copy it by numpy(), or after it is taken",
            ));
        }
        self.image.memory().read_by_stream(stream.is_none_or(|stream| stream == LEGACY_STREAM));
        let owner = Box::into_raw(Box::new(self.owner()));
        // SAFETY: `owner` is valid until its deleter is called, here or by the capsule's consumer.
        unsafe {
            (*owner).managed.tensor.shape = (*owner).shape.as_mut_ptr();
            let capsule = ffi::PyCapsule_New(owner.cast(), FRESH.as_ptr(), Some(drop_capsule));
            if capsule.is_null() {
                drop(Box::from_raw(owner));
                return Err(PyErr::take(py).unwrap_or_else(|| PyMemoryError::new_err("no memory for a capsule")));
            }
            Ok(Bound::from_owned_ptr(py, capsule))
        }
    }

    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        // Its readers do not name their streams.
        self.image.memory().read_by_stream(false);
        let out = PyDict::new(py);
        out.set_item("shape", self.shape(py)?)?;
        let typestr = match self.values() {
            ValueType::U8 => "|u1",
            ValueType::I32 => "<i4",
            ValueType::F32 => "<f4",
        };
        out.set_item("typestr", typestr)?;
        out.set_item("data", (self.image.address(), false))?;
        out.set_item("strides", py.None())?;
        out.set_item("version", 3)?;
        Ok(out)
    }

    fn __repr__(&self) -> String {
        format!("GpuArray(shape={:?}, dtype={}, device=cuda:{})", self.shape, self.dtype(), self.ordinal())
    }
}

impl GpuArray {
    /// The tensor, without the address of its shape.
    fn owner(&self) -> Owner {
        let values = self.values();
        let tensor = DlTensor {
            data: self.image.address() as *mut c_void,
            device_type: DL_CUDA,
            device_id: self.ordinal() as i32,
            ndim: self.shape.len() as i32,
            code: match values {
                ValueType::U8 => DL_UINT,
                ValueType::I32 => DL_INT,
                ValueType::F32 => DL_FLOAT,
            },
            bits: 8 * values.bytes() as u8,
            lanes: 1,
            shape: ptr::null_mut(),
            // Row-major without gaps.
            strides: ptr::null_mut(),
            byte_offset: 0,
        };
        let managed = DlManagedTensor { tensor, context: ptr::null_mut(), deleter: delete };
        let shape = self.shape.iter().map(|&length| length as i64).collect();
        Owner { managed, shape, _memory: self.image.memory().clone() }
    }
}

/// Frees a tensor; called by its consumer, on any thread.
unsafe extern "C" fn delete(tensor: *mut DlManagedTensor) {
    // SAFETY: every tensor is the first field of an owner from `Box::into_raw`, and is deleted once.
    drop(unsafe { Box::from_raw(tensor.cast::<Owner>()) });
}

/// Frees the tensor of a capsule whose tensor nobody has taken. A consumer renames the capsule.
unsafe extern "C" fn drop_capsule(capsule: *mut ffi::PyObject) {
    let name: *const c_char = FRESH.as_ptr();
    // SAFETY: the interpreter calls this with a capsule of `__dlpack__`, whose pointer is valid under its first name.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, name) == 1 {
            let tensor: *mut DlManagedTensor = ffi::PyCapsule_GetPointer(capsule, name).cast();
            ((*tensor).deleter)(tensor);
        }
    }
}

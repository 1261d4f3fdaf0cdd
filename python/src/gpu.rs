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
use throng::GpuImage;
use throng_device::{KeptPicture, Plane};

/// DLPack's number of CUDA devices.
const DL_CUDA: i32 = 2;
/// DLPack's numbers of types.
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
    shape: [i64; 3],
    _picture: Arc<dyn KeptPicture>,
}

/// An array on a GPU: rows from the top, without gaps.
#[pyclass(frozen)]
pub struct GpuArray {
    picture: Arc<dyn KeptPicture>,
    plane: Plane,
    size: (u32, u32),
}

impl GpuArray {
    /// An image of a frame. None if the frame lacks it.
    pub fn of(image: &GpuImage, plane: Plane) -> Option<Self> {
        let picture = image.picture();
        picture.address(plane)?;
        Some(Self { picture: picture.clone(), plane, size: image.size() })
    }

    fn address(&self) -> u64 {
        self.picture.address(self.plane).unwrap_or_default()
    }

    fn is_bytes(&self) -> bool {
        self.plane == Plane::Display
    }

    /// Lengths of the axes, of which the last is left out for one channel.
    fn lengths(&self) -> ([i64; 3], usize) {
        let (width, height) = self.size;
        let channels = self.plane.channels();
        ([height.into(), width.into(), channels as i64], if channels == 1 { 2 } else { 3 })
    }
}

#[pymethods]
impl GpuArray {
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (lengths, axes) = self.lengths();
        PyTuple::new(py, &lengths[..axes])
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        if self.is_bytes() { "uint8" } else { "float32" }
    }

    /// A copy in host memory.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = py.detach(|| self.picture.read(self.plane)).map_err(raised)?;
        let shape = (self.size.0, self.size.1, self.plane.channels());
        if self.is_bytes() {
            return arrays::image(py, bytes, shape);
        }
        arrays::image::<f32>(py, bytemuck::pod_collect_to_vec(&bytes), shape)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        (DL_CUDA, self.picture.ordinal() as i32)
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
        self.picture.read_by_stream(stream.is_none_or(|stream| stream == LEGACY_STREAM));
        let owner = Box::into_raw(Box::new(self.owner()));
        // SAFETY: `owner` is valid until its deleter is called, here or by the capsule's consumer.
        unsafe {
            let (lengths, _) = self.lengths();
            (*owner).shape = lengths;
            (*owner).managed.tensor.shape = (&raw mut (*owner).shape).cast();
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
        self.picture.read_by_stream(false);
        let out = PyDict::new(py);
        out.set_item("shape", self.shape(py)?)?;
        out.set_item("typestr", if self.is_bytes() { "|u1" } else { "<f4" })?;
        out.set_item("data", (self.address(), false))?;
        out.set_item("strides", py.None())?;
        out.set_item("version", 3)?;
        Ok(out)
    }

    fn __repr__(&self) -> String {
        let (lengths, axes) = self.lengths();
        let (dtype, ordinal) = (self.dtype(), self.picture.ordinal());
        format!("GpuArray(shape={:?}, dtype={dtype}, device=cuda:{ordinal})", &lengths[..axes])
    }
}

impl GpuArray {
    /// The tensor, without the address of its shape.
    fn owner(&self) -> Owner {
        let (_, axes) = self.lengths();
        let tensor = DlTensor {
            data: self.address() as *mut c_void,
            device_type: DL_CUDA,
            device_id: self.picture.ordinal() as i32,
            ndim: axes as i32,
            code: if self.is_bytes() { DL_UINT } else { DL_FLOAT },
            bits: if self.is_bytes() { 8 } else { 32 },
            lanes: 1,
            shape: ptr::null_mut(),
            // Row-major without gaps.
            strides: ptr::null_mut(),
            byte_offset: 0,
        };
        let managed = DlManagedTensor { tensor, context: ptr::null_mut(), deleter: delete };
        Owner { managed, shape: [0; 3], _picture: self.picture.clone() }
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

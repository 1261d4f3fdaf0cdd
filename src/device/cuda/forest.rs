//! The BLASes of all meshes on the GPU.

use super::memory::{Array, bytes_of};
use crate::{abi::Params, accel::Blas, device::pool::Pool};
use cust::error::CudaResult;
use std::sync::Arc;

#[derive(Default)]
pub struct Forest {
    units: Array,
    triangles: Array,
    /// Whose trees these are.
    blas: Option<Arc<Vec<Arc<Blas>>>>,
}

impl Forest {
    /// Whether these trees are uploaded.
    pub fn holds(&self, blas: &Arc<Vec<Arc<Blas>>>) -> bool {
        self.blas.as_ref().is_some_and(|own| Arc::ptr_eq(own, blas))
    }

    /// Replaces the trees and waits. Nothing on the GPU may use them meanwhile.
    pub fn upload(&mut self, blas: &Arc<Vec<Arc<Blas>>>) -> CudaResult<()> {
        let pool = Pool::new(blas);
        let (units, triangles) = (bytes_of(&pool.units), bytes_of(&pool.triangles));
        self.blas = None;
        self.units.reserve(units.len())?;
        self.triangles.reserve(triangles.len())?;
        self.units.write(0, units)?;
        self.triangles.write(0, triangles)?;
        self.blas = Some(blas.clone());
        Ok(())
    }

    pub fn apply(&self, params: &mut Params) {
        params.blas_units = self.units.at(0);
        params.triangles = self.triangles.at(0);
    }
}

//! The device that runs the kernels on one GPU.

use crate::{
    abi::{Hit, Ray},
    accel::NodeLayout,
    device::{Device, DeviceError, Frame, FrameSettings, RayKind, Rendered, Stop},
    scene::Scene,
};
use std::{convert::Infallible, sync::Arc, time::Duration};

pub struct CudaDevice {
    never: Infallible,
}

impl CudaDevice {
    /// `ordinal` is one of [`super::gpus`].
    pub fn open(ordinal: u32) -> Result<Self, DeviceError> {
        Err(DeviceError::Failed(format!(
            "cuda:{ordinal}: rendering on GPUs is not supported yet"
        )))
    }
}

impl Device for CudaDevice {
    fn describe(&self) -> String {
        match self.never {}
    }

    fn threads(&self) -> usize {
        match self.never {}
    }

    fn node_layout(&self) -> NodeLayout {
        match self.never {}
    }

    fn queue_depth(&self) -> usize {
        match self.never {}
    }

    fn load(&mut self, _: Arc<Scene>) -> Result<(), DeviceError> {
        match self.never {}
    }

    fn submit(&mut self, _: Frame, _: &FrameSettings) -> Result<(), DeviceError> {
        match self.never {}
    }

    fn collect(&mut self, _: &Stop) -> Result<Rendered, DeviceError> {
        match self.never {}
    }

    fn trace(
        &mut self,
        _: &Frame,
        _: RayKind,
        _: &[Ray],
        _: &mut [Hit],
    ) -> Result<Duration, DeviceError> {
        match self.never {}
    }
}

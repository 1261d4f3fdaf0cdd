//! Scene values that are animated by keys in the scene file.

use crate::{Camera, Environment, Fog, Light, Material, Shutter};
use glam::Vec3;
use std::{fmt::Debug, sync::Arc};

/// A scene file with animated values. The scene itself contains the values at the first frame.
#[doc(hidden)]
pub trait Timeline: Debug + Send + Sync {
    /// Differences from the scene at `time`, in seconds: a pure function of time.
    fn at(&self, time: f64) -> Changes;

    /// The camera with this number at `time`, in seconds. None without keys. 0 is [`crate::Scene::camera`]; the cameras of
    /// [`crate::Scene::cuts`] follow.
    fn camera(&self, number: usize, time: f64) -> Option<Camera>;

    /// The shutter of a frame at `time`, in seconds. None without keys.
    fn shutter(&self, time: f64) -> Option<Shutter>;

    /// Exposure in stops at `time`, in seconds. None without keys.
    fn exposure(&self, time: f64) -> Option<f32>;

    /// Colour temperature of light that appears white at `time`, in seconds. None without keys.
    fn white_balance(&self, time: f64) -> Option<f32>;

    /// Whether lights or the environment are animated.
    fn changes_lights(&self) -> bool;

    /// Whether there is animated fog.
    fn changes_fog(&self) -> bool;

    /// The animated materials, with their rows, at the times of all keys.
    fn materials_at_keys(&self) -> Vec<(u32, Material)>;
}

/// Tables at a time. None or empty means unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
#[doc(hidden)]
pub struct Changes {
    /// The environment. Remains one object while its values are constant.
    pub environment: Option<Arc<Environment>>,
    /// The suns and moons of the environment, if it is animated.
    pub suns: Option<Vec<Light>>,
    /// The other lights.
    pub lights: Option<Vec<Light>>,
    /// Emission of visible lights, by the rows of their materials.
    pub lamps: Vec<(u32, Vec3)>,
    /// The fog, if it is animated.
    pub fog: Option<Fog>,
    /// Materials by row.
    pub materials: Vec<(u32, Material)>,
}

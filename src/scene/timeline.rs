//! What of a scene changes because its file has keys for it.

use super::{Camera, Environment, Fog, Light, Material, Shutter};
use glam::Vec3;
use std::{fmt::Debug, sync::Arc};

/// A scene file whose values change over time. The scene holds what its values are at the first frame.
pub trait Timeline: Debug + Send + Sync {
    /// What differs from the scene at `time`, in seconds: a pure function of it.
    fn at(&self, time: f64) -> Changes;

    /// The camera of this number at `time`, in seconds, if it has keys: 0 is [`super::Scene::camera`], and then come those of
    /// [`super::Scene::cuts`].
    fn camera(&self, number: usize, time: f64) -> Option<Camera>;

    /// The shutter of a frame at `time`, in seconds, if it has keys.
    fn shutter(&self, time: f64) -> Option<Shutter>;

    /// Exposure in stops at `time`, in seconds, if it has keys.
    fn exposure(&self, time: f64) -> Option<f32>;

    /// Colour temperature of the light that appears white at `time`, in seconds, if it has keys.
    fn white_balance(&self, time: f64) -> Option<f32>;

    /// Whether lights or the environment change.
    fn changes_lights(&self) -> bool;

    /// Whether there is fog that changes.
    fn changes_fog(&self) -> bool;

    /// The materials that change, with their rows, at the times of all keys.
    fn materials_at_keys(&self) -> Vec<(u32, Material)>;
}

/// Tables at a time. What is None or empty is as in the scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The same one as long as nothing about it changes.
    pub environment: Option<Arc<Environment>>,
    /// The suns and moons that belong to the environment, if that changes.
    pub suns: Option<Vec<Light>>,
    /// The other lights.
    pub lights: Option<Vec<Light>>,
    /// Emission of lights that are seen, by the rows of their materials.
    pub lamps: Vec<(u32, Vec3)>,
    pub fog: Option<Fog>,
    /// Rows of materials, by their index.
    pub materials: Vec<(u32, Material)>,
}

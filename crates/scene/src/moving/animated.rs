//! Values of materials, lights and cameras that clips animate (KHR_animation_pointer), and their base values.
//!
//! Tracks refer to objects by their index in the model's file; [`Animated`] maps these to rows of the scene's tables.

pub use crate::shading::material_values::{MapUse, MaterialValue, VAST};
use crate::{Light, rig::Interpolation};
use glam::{Affine2, Affine3A, Mat2, Vec2, Vec3};
use std::f32::consts::{FRAC_PI_2, PI};

/// The keys of one animated value, which has one to four components.
#[derive(Clone, Debug)]
pub struct Track {
    pub target: Target,
    pub interpolation: Interpolation,
    /// Times of the keys, as in [`crate::rig::Channel`].
    pub times: Vec<f32>,
    /// [`Target::components`] floats per key, or three times as many, as in [`crate::rig::Channel`].
    pub values: Vec<f32>,
}

/// The value that a track animates. Indices refer to the model's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    Material {
        material: u32,
        value: MaterialValue,
    },
    /// The offset, rotation or scale of a material's texture (KHR_texture_transform).
    Place {
        material: u32,
        map: MapUse,
        value: PlaceValue,
    },
    Light {
        light: u32,
        value: LightValue,
    },
    Camera {
        camera: u32,
        value: CameraValue,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlaceValue {
    Offset,
    Rotation,
    Scale,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LightValue {
    Color,
    Intensity,
    Range,
    InnerConeAngle,
    OuterConeAngle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CameraValue {
    /// Vertical field of view in radians.
    FovY,
    /// Half the height of an orthographic view.
    HalfHeight,
}

impl Target {
    /// Number of components of the value, 1 to 4.
    pub fn components(self) -> usize {
        match self {
            Self::Material { value, .. } => value.components(),
            Self::Place { value, .. } => match value {
                PlaceValue::Offset | PlaceValue::Scale => 2,
                PlaceValue::Rotation => 1,
            },
            Self::Light { value, .. } => match value {
                LightValue::Color => 3,
                _ => 1,
            },
            Self::Camera { .. } => 1,
        }
    }

    /// `x` clamped to the range that the specifications permit for a component.
    pub fn clamp(self, x: f32) -> f32 {
        match self {
            Self::Material { value, .. } => value.clamp(x),
            Self::Place { .. } => x.clamp(-VAST, VAST),
            Self::Light { value, .. } => match value {
                LightValue::Color | LightValue::Intensity => x.clamp(0.0, VAST),
                LightValue::Range => x.clamp(f32::MIN_POSITIVE, VAST),
                LightValue::InnerConeAngle | LightValue::OuterConeAngle => x.clamp(0.0, FRAC_PI_2),
            },
            Self::Camera { value, .. } => match value {
                CameraValue::FovY => x.clamp(1e-4, PI - 1e-4),
                CameraValue::HalfHeight => x.clamp(-VAST, VAST),
            },
        }
    }
}

/// The materials, lights and camera of the scene that an actor's tracks animate.
#[derive(Clone, Debug, Default)]
pub struct Animated {
    /// Index into [`crate::Scene::actors`].
    pub actor: u32,
    /// Animated materials, in file order. A material may have several rows.
    pub materials: Vec<AnimatedMaterial>,
    /// Animated lights, in file order. A light may be placed at several nodes.
    pub lights: Vec<AnimatedLight>,
    /// Index in the file of the scene's camera, if it is animated.
    pub camera: Option<u32>,
}

impl Animated {
    /// Whether anything is animated.
    pub fn any(&self) -> bool {
        !self.materials.is_empty() || !self.lights.is_empty() || self.camera.is_some()
    }

    /// Whether the scene contains the target of a track.
    pub fn has(&self, target: Target) -> bool {
        match target {
            Target::Material { material, .. } | Target::Place { material, .. } => {
                let all = &self.materials;
                all.binary_search_by_key(&material, |m| m.base.material).is_ok()
            }
            Target::Light { light, .. } => {
                let all = &self.lights;
                all.binary_search_by_key(&light, |l| l.light).is_ok()
            }
            Target::Camera { camera, .. } => self.camera == Some(camera),
        }
    }
}

#[derive(Clone, Debug)]
pub struct AnimatedMaterial {
    /// Index into [`crate::Scene::materials`]. This row is used only here, and so are its maps with animated transforms.
    pub row: u32,
    pub base: MaterialBase,
}

/// Base values of an animated material that its row does not contain.
#[derive(Clone, Debug, PartialEq)]
pub struct MaterialBase {
    /// Index of the material in the file.
    pub material: u32,
    pub emissive: Vec3,
    pub emissive_strength: f32,
    pub attenuation_color: Vec3,
    /// Attenuation distance in scene units. Infinite without absorption.
    pub attenuation_distance: f32,
    /// Colour of a deep layer of a scattering medium. Black without scattering.
    pub multiscatter_color: Vec3,
    /// Base transforms of the textures that tracks animate.
    pub places: Vec<(MapUse, TexturePlace)>,
}

impl Default for MaterialBase {
    fn default() -> Self {
        Self {
            material: 0,
            emissive: Vec3::ZERO,
            emissive_strength: 1.0,
            attenuation_color: Vec3::ONE,
            attenuation_distance: f32::INFINITY,
            multiscatter_color: Vec3::ZERO,
            places: Vec::new(),
        }
    }
}

/// A light at a node of the actor's rig.
#[derive(Clone, Debug)]
pub struct AnimatedLight {
    /// Index of the light in the file.
    pub light: u32,
    /// Index into [`crate::Scene::lights`].
    pub row: u32,
    /// Index into the rig's nodes.
    pub node: u32,
    pub base: PunctualLight,
}

/// A light of KHR_lights_punctual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PunctualLight {
    /// Linear RGB.
    pub color: Vec3,
    /// Candela for points and spots, lux for directional lights.
    pub intensity: f32,
    /// Distance at which the light ends. None: no limit.
    pub range: Option<f32>,
    pub shape: PunctualShape,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PunctualShape {
    /// Light at infinite distance, along -Z of the node.
    Directional,
    Point,
    /// A cone along -Z of the node; angles from the axis in radians.
    Spot {
        inner: f32,
        outer: f32,
    },
}

impl PunctualLight {
    /// Converts it to a light of the scene at a node with this transform.
    pub fn at(&self, world_from_node: &Affine3A) -> Light {
        let power = self.color * self.intensity;
        match self.shape {
            PunctualShape::Directional => {
                let towards = world_from_node.transform_vector3(Vec3::Z);
                Light::Sun { direction: towards.normalize_or(Vec3::Z), irradiance: power, angular_radius: 0.0 }
            }
            PunctualShape::Point => {
                let position = world_from_node.translation.into();
                Light::Point { position, intensity: power, range: self.range }
            }
            PunctualShape::Spot { inner, outer } => Light::Spot {
                position: world_from_node.translation.into(),
                direction: world_from_node.transform_vector3(Vec3::NEG_Z).normalize_or(Vec3::NEG_Z),
                intensity: power,
                inner,
                outer,
                radius: 0.0,
                range: self.range,
            },
        }
    }
}

/// Offset, rotation and scale of a texture, as in KHR_texture_transform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TexturePlace {
    pub offset: Vec2,
    /// Radians, counter-clockwise.
    pub rotation: f32,
    pub scale: Vec2,
}

impl Default for TexturePlace {
    fn default() -> Self {
        Self { offset: Vec2::ZERO, rotation: 0.0, scale: Vec2::ONE }
    }
}

impl TexturePlace {
    /// `texture_uv = matrix · mesh_uv` for v that grows upwards: v is flipped before and after the extension's matrix.
    pub fn matrix(&self) -> Affine2 {
        let (sin, cos) = self.rotation.sin_cos();
        let rotation = Mat2::from_cols(Vec2::new(cos, -sin), Vec2::new(sin, cos));
        let linear = rotation * Mat2::from_diagonal(self.scale);
        let down = Affine2::from_mat2_translation(linear, self.offset);
        let flip = Affine2::from_cols(Vec2::X, Vec2::NEG_Y, Vec2::Y);
        flip * down * flip
    }
}

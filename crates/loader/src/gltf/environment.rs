//! Image-based lighting of a scene (EXT_lights_image_based): a cube map or spherical harmonics, converted to a latitude-longitude image.

use super::{
    fault::{Fault, fault},
    file::{
        document::{Document, out_of_range},
        extensions,
    },
    material::textures,
    nodes::unit_quaternion,
};
use crate::image::{MAX_RADIANCE, MAX_SIDE};
use glam::{Quat, Vec2, Vec3};
use image::{DynamicImage, Rgba32FImage};
use rayon::prelude::*;
use serde::Deserialize;
use std::f32::consts::{PI, TAU};
use throng_base::math::linear_from_srgb;
use throng_scene::FloatImage;

/// Number of rows of an image of spherical harmonics, which are smooth.
const HARMONIC_ROWS: u32 = 32;

#[derive(Deserialize)]
struct Lights {
    #[serde(default)]
    lights: Vec<Light>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Light {
    rotation: Option<[f32; 4]>,
    intensity: Option<f32>,
    irradiance_coefficients: Option<[[f32; 3]; 9]>,
    /// Images of the faces. The first set is sharp; the others are increasingly blurred, for renderers without ray tracing.
    #[serde(default)]
    specular_images: Vec<[usize; 6]>,
}

#[derive(Deserialize)]
struct LightIndex {
    light: usize,
}

/// The image-based light of `scene`, rotated by `rotation` as its nodes are. None if the scene has none.
///
/// # Errors
/// If the light does not exist, if its numbers are not finite, or if its images are missing, damaged, not square or too large.
pub fn read(document: &Document, scene: Option<usize>, rotation: Quat) -> Result<Option<FloatImage>, Fault> {
    let Some(scene) = scene else { return Ok(None) };
    let others = document.root.scenes[scene].extensions.as_ref().map(|e| &e.others);
    let path = format!("/scenes/{scene}");
    let Some(LightIndex { light: index }) = extensions::read(others, extensions::IMAGE_LIGHTS, &path)? else {
        return Ok(None);
    };
    let others = document.root.extensions.as_ref().map(|e| &e.others);
    let lights = extensions::read::<Lights>(others, extensions::IMAGE_LIGHTS, "")?.map_or_else(Vec::new, |l| l.lights);
    let light = lights.get(index).ok_or_else(|| {
        let path = format!("{path}/extensions/{}/light", extensions::IMAGE_LIGHTS);
        fault(path, out_of_range("image-based light", index, lights.len()))
    })?;
    picture(document, light, rotation, &format!("/extensions/{}/lights/{index}", extensions::IMAGE_LIGHTS)).map(Some)
}

fn picture(document: &Document, light: &Light, rotation: Quat, path: &str) -> Result<FloatImage, Fault> {
    let intensity = light.intensity.unwrap_or(1.0);
    if !(intensity.is_finite() && intensity >= 0.0) {
        return Err(fault(format!("{path}/intensity"), "the intensity must be finite and not negative"));
    }
    let own = unit_quaternion(light.rotation.unwrap_or(Quat::IDENTITY.to_array()));
    let own = own.ok_or_else(|| fault(format!("{path}/rotation"), "the rotation has no direction: correct it"))?;
    let light_from_world = (rotation * own).inverse();
    match (light.specular_images.first(), &light.irradiance_coefficients) {
        (Some(images), _) => {
            let cube = Cube::read(document, images, &format!("{path}/specularImages/0"))?;
            let rows = (2 * cube.size).min(MAX_SIDE / 2);
            panorama(document, rows, path, |d| cube.radiance(light_from_world * d) * intensity)
        }
        (None, Some(coefficients)) => {
            if coefficients.as_flattened().iter().any(|x| !x.is_finite()) {
                return Err(fault(format!("{path}/irradianceCoefficients"), "numbers must be finite"));
            }
            let message = "there are no specularImages; its light is computed from its irradianceCoefficients";
            document.warnings.add(path, message);
            panorama(document, HARMONIC_ROWS, path, |d| harmonics(coefficients, light_from_world * d) * intensity)
        }
        (None, None) => Err(fault(path, "the light has no specularImages: export the file again")),
    }
}

/// The image of `radiance` over all directions, in the layout of an unrotated [`throng_scene::Environment::Image`].
fn panorama(
    document: &Document,
    rows: u32,
    path: &str,
    radiance: impl Fn(Vec3) -> Vec3 + Sync,
) -> Result<FloatImage, Fault> {
    let (width, height) = (2 * rows as usize, rows as usize);
    let room = document.budget.take_array(width * height, size_of::<[f32; 3]>());
    room.map_err(|lack| fault(path, format!("the light's picture {lack}")))?;
    let pixel = |index: usize| {
        let (sin_polar, up) = (((index / width) as f32 + 0.5) / height as f32 * PI).sin_cos();
        let (z, x) = ((((index % width) as f32 + 0.5) / width as f32 - 0.5) * TAU).sin_cos();
        let radiance = radiance(Vec3::new(x * sin_polar, up, z * sin_polar));
        radiance.clamp(Vec3::ZERO, Vec3::splat(MAX_RADIANCE)).to_array()
    };
    let data = (0..width * height).into_par_iter().map(pixel).collect();
    Ok(FloatImage { width: width as u32, height: height as u32, data })
}

/// A cube map of linear radiance.
struct Cube {
    /// Width and height of a face, in pixels.
    size: u32,
    /// The faces towards +X, -X, +Y, -Y, +Z and -Z, as seen from inside. The first row is at the top; for the side faces, +Y is up.
    faces: Vec<Rgba32FImage>,
}

impl Cube {
    fn read(document: &Document, images: &[usize; 6], path: &str) -> Result<Self, Fault> {
        let face = |(place, &index): (usize, &usize)| {
            let path = format!("{path}/{place}");
            let count = document.root.images.len();
            if index >= count {
                return Err(fault(path, out_of_range("image", index, count)));
            }
            let image = textures::decode_image(document, index)?;
            let (width, height) = (image.width(), image.height());
            let room = document.budget.take_array(width as usize * height as usize, size_of::<[f32; 4]>());
            room.map_err(|lack| fault(&path, format!("its face {lack}")))?;
            if width == height {
                Ok(linear(image))
            } else {
                Err(fault(path, format!("a face of {width}x{height} pixels is not square: export it again")))
            }
        };
        let faces: Vec<_> = images.par_iter().enumerate().map(face).collect::<Result<_, _>>()?;
        let size = faces[0].width();
        match faces.iter().position(|face| face.width() != size) {
            None => Ok(Self { size, faces }),
            Some(place) => {
                let other = faces[place].width();
                let message = format!("the face has {other} pixels a side, and the first has {size}: make them alike");
                Err(fault(format!("{path}/{place}"), message))
            }
        }
    }

    /// Radiance from a direction, interpolated within a face.
    fn radiance(&self, direction: Vec3) -> Vec3 {
        let (face, place) = on_face(direction);
        let texel = place * self.size as f32 - 0.5;
        let (first, share) = (texel.floor(), texel - texel.floor());
        let at = |x: f32, y: f32| {
            let [x, y] = [x, y].map(|i| (i.max(0.0) as u32).min(self.size - 1));
            let [r, g, b, _] = self.faces[face].get_pixel(x, y).0;
            Vec3::new(r, g, b)
        };
        let row = |y: f32| at(first.x, y).lerp(at(first.x + 1.0, y), share.x);
        row(first.y).lerp(row(first.y + 1.0), share.y)
    }
}

/// The face hit by a direction, and the position in its image, from (0, 0) at the top left to (1, 1). Faces have the orientations of
/// OpenGL's cube maps (OpenGL 4.6, 8.13), each "flipped about its vertical axis", as the extension specifies. Images are therefore seen
/// from inside, without mirroring, in glTF's right-handed space.
fn on_face(d: Vec3) -> (usize, Vec2) {
    let size = d.abs();
    let (face, right, down, depth) = match size.max_element() {
        most if most == size.x && d.x > 0.0 => (0, d.z, -d.y, size.x),
        most if most == size.x => (1, -d.z, -d.y, size.x),
        most if most == size.y && d.y > 0.0 => (2, -d.x, d.z, size.y),
        most if most == size.y => (3, -d.x, -d.z, size.y),
        _ if d.z > 0.0 => (4, -d.x, -d.y, size.z),
        _ => (5, d.x, -d.y, size.z),
    };
    (face, (Vec2::new(right, down) / depth + 1.0) * 0.5)
}

/// Linear radiance of a face. Eight-bit colours are sRGB, and are divided by alpha if there is any (RGBD), following the software of the
/// extension's authors.
fn linear(image: DynamicImage) -> Rgba32FImage {
    if matches!(image, DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_)) {
        return image.into_rgba32f();
    }
    let mut texels = image.into_rgba32f();
    texels.par_chunks_exact_mut(4).for_each(|texel| {
        let divisor = texel[3].max(1.0 / 255.0);
        texel[..3].iter_mut().for_each(|x| *x = linear_from_srgb(*x) / divisor);
    });
    texels
}

/// Radiance of spherical harmonics, with the order and signs of Ramamoorthi and Hanrahan 2001, to which the extension refers. Their formula
/// then gives irradiance.
fn harmonics(coefficients: &[[f32; 3]; 9], d: Vec3) -> Vec3 {
    let basis = [
        0.282_095,
        0.488_603 * d.y,
        0.488_603 * d.z,
        0.488_603 * d.x,
        1.092_548 * d.x * d.y,
        1.092_548 * d.y * d.z,
        0.315_392 * (3.0 * d.z * d.z - 1.0),
        1.092_548 * d.x * d.z,
        0.546_274 * (d.x * d.x - d.y * d.y),
    ];
    coefficients.iter().zip(basis).map(|(c, b)| Vec3::from(*c) * b).sum()
}

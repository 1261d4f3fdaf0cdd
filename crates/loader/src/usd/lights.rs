//! Lights of a stage (UsdLux). Lights with an extent are emissive meshes.
//!
//! The brightness of a light is a luminance. It stays as it is if the stage's unit is not a metre, because sizes and distances change alike.

use super::{
    contents::{self, Converter},
    materials,
};
use crate::{geometry::shapes, image, materials::Materials};
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use std::{
    f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI},
    path::Path,
};
use throng_scene::{Environment, FloatImage, Light, Material, NONE, Shape as SceneShape, Stars, TextureMap};
use throng_usd::{self as usd, Content, LightKind, PolygonMesh, ShapeKind, Stage};

/// Segments around round lights.
const SEGMENTS: u32 = 64;
/// Half angle of a cone in degrees that is a half space.
const WIDE: f32 = 90.0;
/// Half angle in degrees from which on a flat light keeps its shape and loses its cone.
const FLAT: f32 = 60.0;
/// Half angle in degrees by which programs mean no cone.
const EVERYWHERE: f32 = 179.0;

/// The light of a stage without geometry.
#[derive(Default)]
pub struct Lit {
    pub lights: Vec<Light>,
    /// Radiance from all directions.
    pub environment: Option<Environment>,
    pub warnings: Vec<String>,
}

/// Converts all lights. Those with an extent become meshes of `converter`. `outer` leads from the stage's world to the scene's.
pub fn convert<'a>(stage: &'a Stage, file: &Path, converter: &mut Converter<'a>, outer: &DAffine3) -> Lit {
    let mut lit = Lit::default();
    for light in &stage.lights {
        if light.shown.all(|shown| !shown) {
            continue;
        }
        let place = *outer * *light.world_from_light.first();
        if !place.is_finite() {
            continue;
        }
        let mut add = Adding { stage, file, light, place, lit: &mut lit };
        add.convert(converter);
    }
    lit
}

struct Adding<'a, 'b> {
    stage: &'a Stage,
    file: &'b Path,
    light: &'a usd::Light,
    /// `scene_from_light`.
    place: DAffine3,
    lit: &'b mut Lit,
}

impl<'a> Adding<'a, '_> {
    fn convert(&mut self, converter: &mut Converter<'a>) {
        let light = self.light;
        if light.radiance.moves() {
            self.warn("its brightness changes over time; the first one is shown");
        }
        let radiance = Vec3::from(*light.radiance.first());
        let moves = light.world_from_light.moves() || light.shown.moves();
        match light.kind {
            LightKind::Dome { picture, pole_is_z } => self.dome(radiance, picture, pole_is_z),
            LightKind::Distant { angle } => {
                self.warn_if(moves, "a distant light that moves keeps its first direction");
                self.distant(radiance, angle);
            }
            LightKind::Geometry => converter.emit(&light.name, radiance / self.divisor()),
            _ => {
                if let Some(shaping) = self.cone() {
                    self.warn_if(moves, "a spot light that moves keeps its first place");
                    self.spot(radiance, &shaping);
                } else if self.is_point() {
                    self.warn_if(moves, "a point light that moves keeps its first place");
                    let intensity = radiance * self.projected_area();
                    let position = self.place.translation.as_vec3();
                    self.lit.lights.push(Light::Point { position, intensity, range: None });
                } else {
                    let radiance = radiance / self.divisor();
                    self.lamp(radiance, converter);
                }
            }
        }
    }

    fn warn(&mut self, message: &str) {
        self.lit.warnings.push(format!("{}: {}: {message}", self.file.display(), self.light.name));
    }

    fn warn_if(&mut self, holds: bool, message: &str) {
        if holds {
            self.warn(message);
        }
    }

    /// The cone of a light that is shown as a spot light. A flat light shines into a half space anyway, and its cosine makes a wide cone
    /// look like none.
    fn cone(&mut self) -> Option<usd::Shaping> {
        let shaping = self.light.shaping?;
        let is_flat = matches!(self.light.kind, LightKind::Disk { .. } | LightKind::Rect { .. });
        match (is_flat, shaping.angle) {
            (true, angle) if angle >= WIDE => None,
            (true, angle) if angle >= FLAT => {
                self.warn("its cone is left out, because the light is flat and the cone wide");
                None
            }
            (false, angle) if angle > WIDE => {
                self.warn_if(angle < EVERYWHERE, "its cone is left out, because it is wider than a half space");
                None
            }
            _ => {
                self.warn_if(
                    is_flat || matches!(self.light.kind, LightKind::Cylinder { .. }),
                    "it shines into a cone, so it is shown as a round spot light",
                );
                Some(shaping)
            }
        }
    }

    fn is_point(&self) -> bool {
        matches!(self.light.kind, LightKind::Sphere { radius: 0.0 } | LightKind::Cylinder { radius: 0.0, .. })
    }

    /// Lengths of the light's axes in the stage's world.
    fn axes(&self) -> DVec3 {
        let m = self.light.world_from_light.first().matrix3;
        DVec3::new(m.x_axis.length(), m.y_axis.length(), m.z_axis.length())
    }

    /// The surface of the light in the stage's world, and the part of it that is seen from its front.
    fn areas(&self) -> (f32, f32) {
        let axes = self.axes();
        let pi = f64::from(PI);
        let (all, front) = match self.light.kind {
            LightKind::Sphere { radius } => {
                let radius = radius * axes.max_element();
                (4.0 * pi * radius * radius, pi * radius * radius)
            }
            LightKind::Disk { radius } => {
                let area = pi * radius * radius * axes.x * axes.y;
                (area, area)
            }
            LightKind::Rect { size: [width, height], .. } => {
                let area = width * height * axes.x * axes.y;
                (area, area)
            }
            LightKind::Cylinder { radius, length } => {
                let (radius, length) = (radius * axes.y.max(axes.z), length * axes.x);
                (2.0 * pi * radius * length, 2.0 * radius * length)
            }
            LightKind::Geometry => {
                let area = self.area_of_shape();
                (area, area)
            }
            LightKind::Dome { .. } | LightKind::Distant { .. } => (1.0, 1.0),
        };
        (all as f32, front as f32)
    }

    /// What the radiance is divided by.
    fn divisor(&mut self) -> f32 {
        if !self.light.normalize {
            return 1.0;
        }
        let area = self.areas().0;
        self.warn_if(area <= 0.0, "it has no mesh in the world, so `normalize` is ignored");
        if area > 0.0 { area } else { 1.0 }
    }

    /// The surface of the mesh that emits, in the stage's world at the first time. 0 if it is no mesh there.
    fn area_of_shape(&self) -> f64 {
        let items = self.stage.groups.first().map_or(&[][..], |world| &world.items);
        let item = items.iter().find(|item| item.name == self.light.name);
        let Some(usd::Item { content: Content::Shape { shape, .. }, group_from_item, .. }) = item else { return 0.0 };
        match &self.stage.shapes[*shape as usize].kind {
            ShapeKind::Mesh(mesh) => area_of_mesh(mesh, group_from_item.first()),
            _ => 0.0,
        }
    }

    /// Radiant intensity of a light that is far away, per radiance: in units of the scene.
    fn projected_area(&self) -> f32 {
        let scale = self.place.matrix3.x_axis.length() / self.axes().x;
        let front = match (self.light.normalize, self.areas()) {
            // The intensity of a normalised light does not depend on its size.
            (true, (0.0, _)) => 0.25,
            (true, (all, front)) => front / all,
            (false, (_, 0.0)) => 1.0,
            (false, (_, front)) => front,
        };
        front * (scale * scale) as f32
    }

    /// Unit vector along which the light shines.
    fn direction(&self) -> Vec3 {
        self.place.matrix3.z_axis.normalize_or(DVec3::Z).as_vec3() * -1.0
    }

    fn distant(&mut self, radiance: Vec3, angle: f64) {
        let angular_radius = (0.5 * angle).to_radians().clamp(0.0, f64::from(FRAC_PI_2)) as f32;
        // The disc has the same radiance everywhere, and an irradiance of `flux` per radiance. Suns spread theirs over the solid angle.
        let flux = PI * angular_radius.sin().powi(2);
        let solid_angle = 4.0 * PI * (0.5 * angular_radius).sin().powi(2);
        let irradiance = match self.light.normalize {
            _ if flux == 0.0 => radiance,
            true => radiance * (solid_angle / flux),
            false => radiance * solid_angle,
        };
        self.lit.lights.push(Light::Sun { direction: -self.direction(), irradiance, angular_radius });
    }

    fn spot(&mut self, radiance: Vec3, shaping: &usd::Shaping) {
        if shaping.focus > 0.0 {
            self.warn("`shaping:focus` is not supported: the light is the same all over its cone");
        }
        let outer = shaping.angle.to_radians().clamp(1e-4, FRAC_PI_2);
        let softness = shaping.softness.clamp(0.0, 1.0);
        // USD's falloff is half in the middle of the soft part of the angle; that of `Light::Spot` is half where its cosine has passed
        // the square root of a half of the way.
        let middle = (outer * (1.0 - 0.5 * softness)).cos();
        let inner = (outer.cos() + (middle - outer.cos()) / FRAC_1_SQRT_2).min(1.0).acos();
        // The mean of a flat light's cosine over its cone.
        let is_flat = matches!(self.light.kind, LightKind::Disk { .. } | LightKind::Rect { .. });
        let mean = if is_flat { 0.5 * (1.0 + outer.cos()) } else { 1.0 };
        let (_, front) = self.areas();
        let scale = (self.place.matrix3.x_axis.length() / self.axes().x) as f32;
        self.lit.lights.push(Light::Spot {
            position: self.place.translation.as_vec3(),
            direction: self.direction(),
            intensity: radiance * self.projected_area() * mean,
            inner: inner.min(outer),
            outer,
            radius: (front / PI).sqrt() * scale,
            range: None,
        });
    }

    /// An emissive mesh.
    fn lamp(&mut self, radiance: Vec3, converter: &mut Converter<'a>) {
        let (shape, from_mesh, emission_map, one_sided) = match self.light.kind {
            LightKind::Sphere { radius } => {
                (SceneShape::Sphere, DAffine3::from_scale(DVec3::splat(radius)), NONE, false)
            }
            LightKind::Disk { radius } => {
                let disc = SceneShape::Triangles(shapes::disc(1.0, SEGMENTS));
                (disc, facing_back(radius, radius), NONE, true)
            }
            LightKind::Rect { size: [width, height], picture } => {
                let map = self.picture(picture, converter.table);
                (SceneShape::Triangles(shapes::quad(1.0)), facing_back(width, height), map, true)
            }
            LightKind::Cylinder { radius, length } => {
                let tube = SceneShape::Triangles(shapes::cylinder(radius as f32, length as f32, SEGMENTS, false));
                // Without ends, light from its inside would be seen.
                (tube, DAffine3::from_quat(DQuat::from_rotation_z(-std::f64::consts::FRAC_PI_2)), NONE, true)
            }
            LightKind::Dome { .. } | LightKind::Distant { .. } | LightKind::Geometry => return,
        };
        let material = Material {
            color: Vec3::ZERO,
            emission: radiance,
            emission_map,
            one_sided,
            double_sided: !one_sided,
            ..Material::default()
        };
        let row = converter.table.add(&self.light.name, material);
        let source = contents::lamp(&self.light.name, shape, row);
        let place = self.light.world_from_light.map(|place| *place * from_mesh);
        converter.add_lamp(source, &place, &self.light.shown);
    }

    fn picture(&self, picture: u32, table: &mut Materials) -> u32 {
        let Some(asset) = self.stage.pictures.get(picture as usize) else { return NONE };
        let place = format!("{}: {}", self.file.display(), self.light.name);
        let texture = table.picture(materials::optional(asset, place));
        table.map(TextureMap::plain(texture))
    }

    fn dome(&mut self, radiance: Vec3, picture: u32, pole_is_z: bool) {
        if self.lit.environment.is_some() {
            return self.warn("there are several dome lights; only the first one is used");
        }
        if let Some(colors) = self.light.sky.gradient {
            let [zenith, horizon, nadir] = colors.map(|color| Vec3::from(color) * radiance);
            self.lit.environment = Some(Environment::Gradient { zenith, horizon, nadir });
            return;
        }
        let Some(asset) = self.stage.pictures.get(picture as usize) else {
            self.lit.environment = Some(Environment::Constant { radiance });
            return;
        };
        let loaded = match &asset.bytes {
            Some(bytes) => image::of_bytes(&asset.path, bytes).map(|(picture, _)| picture),
            None => image::load(&asset.path),
        };
        let mut pixels = match loaded {
            Ok(picture) => image::radiance(&picture, 1.0),
            Err(error) => {
                self.lit.environment = Some(Environment::Constant { radiance });
                return self.warn(&format!("the picture of the dome light is left out: {}", error.message()));
            }
        };
        pixels.data.iter_mut().for_each(|texel| *texel = (Vec3::from(*texel) * radiance).to_array());
        let turned = if pole_is_z { DMat3::from_rotation_x(std::f64::consts::FRAC_PI_2) } else { DMat3::IDENTITY };
        let m = self.place.matrix3 * turned;
        let rotation =
            DMat3::from_cols(m.x_axis.normalize_or_zero(), m.y_axis.normalize_or_zero(), m.z_axis.normalize_or_zero());
        let (pixels, rotation) = oriented(pixels, &rotation);
        let stars = self.light.sky.stars.map_or_else(Stars::default, |[faintest, dimming, turn]| Stars {
            faintest,
            dimming,
            turn,
        });
        self.lit.environment = Some(Environment::Image { pixels, rotation, stars });
    }
}

/// The area of all faces but holes.
fn area_of_mesh(mesh: &PolygonMesh, place: &DAffine3) -> f64 {
    let points = mesh.points.first();
    let point = |id: &u32| place.transform_point3(DVec3::from(points[*id as usize].map(f64::from)));
    let mut rest = &mesh.corners[..];
    let mut area = 0.0;
    for (face, &size) in (0..).zip(&mesh.face_sizes) {
        let corners;
        (corners, rest) = rest.split_at(size as usize);
        let Some(first) = corners.first().map(point).filter(|_| mesh.holes.binary_search(&face).is_err()) else {
            continue;
        };
        let doubled = |pair: &[u32]| (point(&pair[0]) - first).cross(point(&pair[1]) - first);
        area += 0.5 * corners.windows(2).map(doubled).sum::<DVec3>().length();
    }
    area
}

/// The transform from a square or disc in the XZ plane, which faces +Y, to one in the XY plane that faces -Z.
fn facing_back(width: f64, height: f64) -> DAffine3 {
    let matrix = DMat3::from_cols(DVec3::NEG_X * width, DVec3::NEG_Z, DVec3::NEG_Y * height);
    DAffine3::from_mat3(matrix)
}

/// A picture by longitude and latitude as OpenEXR and USD define it, with the directions of `rotation`, which leads from the picture's space to
/// the world. Returns the picture, and its rotation about +Y as environments have it. Only rotations that tilt the pole need another picture.
fn oriented(pixels: FloatImage, rotation: &DMat3) -> (FloatImage, f32) {
    // USD has +Z in the middle and +X to the left of it; environments have +X in the middle and +Z to the right of it.
    let quarter = -FRAC_PI_2;
    if rotation.y_axis.y > 1.0 - 1e-9 && rotation.determinant() > 0.0 {
        let angle = rotation.z_axis.x.atan2(rotation.z_axis.z) as f32;
        return (pixels, quarter + angle);
    }
    let (width, height) = (pixels.width, pixels.height);
    let to_picture = rotation.transpose();
    let texel = |index: u64| {
        let (x, y) = (index % u64::from(width), index / u64::from(width));
        let longitude = (0.5 - (x as f64 + 0.5) / f64::from(width)) * std::f64::consts::TAU;
        let latitude = (0.5 - (y as f64 + 0.5) / f64::from(height)) * std::f64::consts::PI;
        let direction = DVec3::new(longitude.sin() * latitude.cos(), latitude.sin(), longitude.cos() * latitude.cos());
        sample(&pixels, to_picture * direction)
    };
    let data = (0..u64::from(width) * u64::from(height)).map(texel).collect();
    (FloatImage { width, height, data }, quarter)
}

/// The bilinear sample of a picture in a direction, in USD's orientation.
fn sample(pixels: &FloatImage, direction: DVec3) -> [f32; 3] {
    let u = 0.5 - direction.x.atan2(direction.z) / std::f64::consts::TAU;
    let v = 0.5 - direction.y.clamp(-1.0, 1.0).asin() / std::f64::consts::PI;
    let (x, y) = (u * f64::from(pixels.width) - 0.5, v * f64::from(pixels.height) - 0.5);
    let texel = |x: f64, y: f64| {
        let x = (x as i64).rem_euclid(i64::from(pixels.width)) as usize;
        let y = (y as i64).clamp(0, i64::from(pixels.height) - 1) as usize;
        Vec3::from(pixels.data[y * pixels.width as usize + x])
    };
    let (left, top) = (x.floor(), y.floor());
    let (across, down) = ((x - left) as f32, (y - top) as f32);
    let upper = texel(left, top).lerp(texel(left + 1.0, top), across);
    let lower = texel(left, top + 1.0).lerp(texel(left + 1.0, top + 1.0), across);
    upper.lerp(lower, down).to_array()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture whose texels are their directions.
    fn directions(width: u32) -> FloatImage {
        let height = width / 2;
        let texel = |index: u32| {
            let (x, y) = (index % width, index / width);
            let longitude = (0.5 - (x as f32 + 0.5) / width as f32) * 2.0 * PI;
            let latitude = (0.5 - (y as f32 + 0.5) / height as f32) * PI;
            [longitude.sin() * latitude.cos(), latitude.sin(), longitude.cos() * latitude.cos()]
        };
        FloatImage { width, height, data: (0..width * height).map(texel).collect() }
    }

    /// The texel of an environment in a direction of the world.
    fn seen((pixels, rotation): &(FloatImage, f32), d: Vec3) -> Vec3 {
        let u = (0.5 + d.z.atan2(d.x) / (2.0 * PI) + rotation / (2.0 * PI)).rem_euclid(1.0);
        let v = d.y.acos() / PI;
        let x = ((u * pixels.width as f32) as u32).min(pixels.width - 1);
        let y = ((v * pixels.height as f32) as u32).min(pixels.height - 1);
        Vec3::from(pixels.data[(y * pixels.width + x) as usize])
    }

    #[test]
    fn the_area_of_a_mesh_counts_concave_faces_once_and_holes_never() {
        let arrow = vec![[0., 0., 0.], [2., 0., 0.], [0.5, 0.5, 0.], [0., 2., 0.], [2., 2., 0.]];
        let mesh = PolygonMesh {
            points: usd::Sampled::Still(arrow),
            face_sizes: vec![4, 3, 0],
            corners: vec![1, 2, 3, 0, 1, 4, 3],
            holes: vec![1],
            ..PolygonMesh::default()
        };
        let area = area_of_mesh(&mesh, &DAffine3::from_scale(DVec3::new(2.0, 1.0, 1.0)));
        assert!((area - 2.0).abs() < 1e-12, "{area}");
    }

    #[test]
    fn domes_show_the_directions_of_usd_however_they_are_turned() {
        let any = DMat3::from_quat(DQuat::from_euler(glam::EulerRot::XYZ, 0.4, 1.1, -0.7));
        let mirror = DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
        for rotation in [DMat3::IDENTITY, DMat3::from_rotation_y(2.0), DMat3::from_rotation_x(1.57), any, mirror] {
            let turned = oriented(directions(512), &rotation);
            for d in [Vec3::new(0.6, 0.64, 0.48), Vec3::new(-0.36, -0.48, 0.8), Vec3::new(0.0, 0.28, -0.96)] {
                let expected = (rotation.transpose() * d.as_dvec3()).as_vec3();
                assert!(seen(&turned, d).distance(expected) < 0.02, "{rotation}: {d}");
            }
        }
    }
}

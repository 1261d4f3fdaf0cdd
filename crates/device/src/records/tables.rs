//! The flat tables that kernels read, built once per scene: meshes, materials, textures, lights, environment.

use super::{
    attributes::{self, Needs},
    material_tables,
    mips::{Meaning, float_mips, level_count, meanings, mips},
};
use crate::light::{Emitters, SkyTable, emission_weights, gradient_fluence, light_records};
use glam::{Mat3, Vec3};
use rayon::prelude::*;
use std::{
    f32::consts::FRAC_1_SQRT_2,
    sync::{Arc, OnceLock},
};
use throng_abi::{
    self as abi, CornerRecord, EnvironmentRecord, LightRecord, LobesRecord, MapRecord, MaterialRecord, MeshRecord,
    NO_INDEX, TextureRecord, VertexAttributes, VertexRecord,
};
use throng_accel::shape_of;
use throng_base::math::linear_from_srgb8;
use throng_picture::aov::cryptomatte;
use throng_scene::anim::Deformed;
use throng_scene::{CompactFormat, Environment, FloatImage, Mesh, Scene, Shape, Texels, Texture, TriangleMesh, Wrap};

/// [`SkyTable::unevenness`] below which the light of an image counts as uniform.
const EVEN: f32 = 4.0;

/// Axis of the stars' rotation. As the sun's azimuth grows, stars move from +X over +Z to -X, like the sun.
const CELESTIAL_POLE: Vec3 = Vec3::new(0.0, FRAC_1_SQRT_2, -FRAC_1_SQRT_2);

/// Size of the low-passed environment image from which diffuse light is sampled.
const DIFFUSE_SKY: (u32, u32) = (32, 16);

/// The tables of one scene. Their pointers refer to the scene, which they keep alive, or to other tables in this struct.
pub struct Tables {
    pub meshes: Vec<MeshRecord>,
    /// The arrays that `meshes` point to.
    #[cfg_attr(not(throng_cuda), expect(dead_code, reason = "the CPU follows the pointers"))]
    pub attributes: Vec<Attributes>,
    /// For each mesh, the optional attributes that it has records of.
    pub needs: Vec<Needs>,
    pub materials: Vec<MaterialRecord>,
    pub lobes: Vec<LobesRecord>,
    pub maps: Vec<MapRecord>,
    pub textures: Vec<TextureRecord>,
    /// Smaller levels of the scene's textures.
    #[cfg_attr(not(throng_cuda), expect(dead_code, reason = "the CPU follows the pointers"))]
    pub mips: Vec<Texels>,
    /// Lights, suns first.
    pub lights: Vec<LightRecord>,
    pub sky: Sky,
    pub emitters: Arc<Emitters>,
    pub srgb: [f32; 256],
    pub scene: Arc<Scene>,
    /// IDs of the names of instances and materials, created on first use.
    ids: OnceLock<NameIds>,
}

/// An environment in the layout that kernels read.
pub struct Sky {
    pub environment: EnvironmentRecord,
    /// The cells of an environment image, for importance sampling.
    pub table: SkyTable,
    /// The image and its low-passed copy, which follow the scene's textures; empty for environments without an image.
    pub textures: Vec<TextureRecord>,
    /// The texels of `textures`, and of their smaller levels.
    pub texels: Vec<[Vec<[f32; 4]>; 2]>,
}

// SAFETY: the pointers refer to memory that the sky owns and that is not written to.
unsafe impl Send for Sky {}
// SAFETY: as above.
unsafe impl Sync for Sky {}

/// The shading data of a mesh in the layout that kernels read. Takes as much memory again as the mesh in the scene. Empty for a sphere; of curves,
/// only optional attributes.
#[derive(Default)]
pub struct Attributes {
    pub vertices: Vec<VertexRecord>,
    pub corners: Vec<CornerRecord>,
    /// Optional attributes; empty for most meshes.
    pub attributes: Vec<VertexAttributes>,
}

// SAFETY: the pointers refer to memory that the tables own or share and that is not written to.
unsafe impl Send for Tables {}

impl Tables {
    pub fn new(scene: Arc<Scene>) -> Self {
        let meanings = meanings(&scene);
        let mips: Vec<Texels> =
            scene.textures.iter().zip(&meanings).map(|(texture, &meaning)| mips(texture, meaning)).collect();
        let records = scene.textures.iter().zip(&meanings).zip(&mips);
        let records = records.map(|((texture, &meaning), mips)| texture_record(texture, meaning, mips));
        let mut textures: Vec<TextureRecord> = records.collect();
        let sky = Sky::new(&scene.environment, textures.len() as u32);
        textures.extend(&sky.textures);
        let needs = attributes::needs(&scene);
        let attributes = scene.meshes.par_iter().zip(&needs);
        let attributes: Vec<_> = attributes.map(|(mesh, &needs)| Attributes::new(mesh, needs)).collect();
        let meshes = scene.meshes.iter().zip(attributes.iter().zip(&needs));
        let weights = emission_weights(&scene, &scene.materials);
        let (materials, lobes) = material_tables::material_records(&scene.materials, &weights);
        Self {
            meshes: meshes.map(|(mesh, (attributes, needs))| mesh_record(mesh, attributes, *needs)).collect(),
            attributes,
            needs,
            materials,
            lobes,
            maps: scene.maps.iter().map(material_tables::map_record).collect(),
            textures,
            mips,
            lights: light_records(&scene.lights),
            sky,
            emitters: Arc::new(Emitters::new(scene.clone(), weights)),
            srgb: *linear_from_srgb8(),
            scene,
            ids: OnceLock::new(),
        }
    }
}

impl Tables {
    /// The texels of each of `textures`, and of its smaller levels.
    #[cfg(throng_cuda)]
    pub fn texels(&self) -> impl Iterator<Item = [&[u8]; 2]> {
        let own = self.scene.textures.iter().zip(&self.mips);
        let own = own.map(|(texture, mips)| [texture.texels.bytes(), mips.bytes()]);
        let skies = self.sky.texels.iter().map(|levels| levels.each_ref().map(|texels| bytemuck::cast_slice(texels)));
        own.chain(skies)
    }

    /// Whether some texture has mip maps.
    pub fn has_mips(&self) -> bool {
        self.textures.iter().any(|texture| texture.levels > 1)
    }

    /// The scene's textures, with the textures of `sky` in place of its own.
    pub fn textures_with(&self, sky: &Sky) -> Vec<TextureRecord> {
        [&self.textures[..self.scene.textures.len()], &sky.textures[..]].concat()
    }

    /// IDs of the names of instances and materials, for mattes.
    pub fn name_ids(&self) -> &NameIds {
        self.ids.get_or_init(|| NameIds::new(&self.scene))
    }
}

impl Sky {
    /// The tables of `environment`. Its image, if any, uses textures `first` and `first` + 1.
    pub fn new(environment: &Environment, first: u32) -> Self {
        let mut sky = Self {
            environment: environment_record(environment),
            table: SkyTable::default(),
            textures: Vec::new(),
            texels: Vec::new(),
        };
        if let Environment::Image { pixels, .. } = environment {
            (sky.environment.image, sky.environment.diffuse_image) = (first, first + 1);
            for (image, is_filtered) in [(pixels, true), (&low_pass(pixels), false)] {
                let texels: Vec<[f32; 4]> = image.data.iter().map(|&[r, g, b]| [r, g, b, 1.0]).collect();
                let size = [image.width, image.height];
                let mips = if is_filtered { float_mips(&texels, size, Meaning::Plain) } else { Vec::new() };
                sky.textures.push(TextureRecord {
                    texels: texels.as_ptr().cast(),
                    mips: mips.as_ptr().cast(),
                    width: image.width,
                    height: image.height,
                    format: abi::TEXELS_FLOAT,
                    mip_format: abi::TEXELS_FLOAT,
                    wrap: [abi::WRAP_REPEAT, abi::WRAP_CLAMP],
                    levels: if is_filtered { level_count(image.width, image.height) } else { 1 },
                    flags: 0,
                });
                sky.texels.push([texels, mips]);
            }
            sky.table = SkyTable::new(pixels);
            (sky.environment.columns, sky.environment.rows) = (sky.table.columns, sky.table.rows.len() as u32);
            sky.environment.fluence = sky.table.fluence;
            sky.environment.even = (sky.table.unevenness < EVEN).into();
        }
        sky
    }
}

/// Cryptomatte IDs of a scene's instances and rows of materials.
pub struct NameIds {
    pub instances: Vec<u32>,
    pub materials: Vec<u32>,
}

impl NameIds {
    pub fn new(scene: &Scene) -> Self {
        Self { instances: cryptomatte::instance_table(scene), materials: cryptomatte::material_ids(scene) }
    }
}

impl Attributes {
    fn new(mesh: &Mesh, needs: Needs) -> Self {
        match &mesh.shape {
            Shape::Sphere => Self::default(),
            Shape::Curves(curves) => Self { attributes: attributes::of_curves(curves, needs), ..Self::default() },
            Shape::Triangles(m) => Self {
                vertices: (0..m.positions.len()).into_par_iter().map(|i| vertex_record(m, i)).collect(),
                corners: (0..m.triangles.len()).into_par_iter().map(|i| corner_record(m, i)).collect(),
                attributes: attributes::records(m, needs),
            },
        }
    }
}

/// Writes the vertices of `mesh` in its shape of a frame to `out`, which must have one element per vertex.
pub fn write_shape(mesh: &TriangleMesh, shape: &Deformed, out: &mut [VertexRecord]) {
    let places = out.par_iter_mut().enumerate().with_min_len(4096);
    places.for_each(|(index, out)| {
        *out = VertexRecord {
            position: shape.positions.get(index).copied().unwrap_or_default(),
            normal: shape.normals.get(index).copied().unwrap_or_default(),
            ..vertex_record(mesh, index)
        };
    });
}

fn vertex_record(mesh: &TriangleMesh, index: usize) -> VertexRecord {
    let [u, v] = mesh.uvs.get(index).copied().unwrap_or_default();
    VertexRecord { position: mesh.positions[index], u, normal: mesh.normals.get(index).copied().unwrap_or_default(), v }
}

fn corner_record(mesh: &TriangleMesh, index: usize) -> CornerRecord {
    CornerRecord { vertices: mesh.triangles[index], slot: mesh.slots.get(index).copied().unwrap_or_default() }
}

fn mesh_record(mesh: &Mesh, arrays: &Attributes, needs: Needs) -> MeshRecord {
    let (shape, smooth, vertices) = match &mesh.shape {
        Shape::Sphere => (abi::SHAPE_SPHERE, false, std::ptr::null()),
        Shape::Curves(curves) => (shape_of(curves.profile), false, curves.points.as_ptr().cast()),
        Shape::Triangles(m) => (abi::SHAPE_TRIANGLES, !m.normals.is_empty(), arrays.vertices.as_ptr()),
    };
    MeshRecord {
        vertices,
        corners: arrays.corners.as_ptr(),
        attributes: match &arrays.attributes[..] {
            [] => std::ptr::null(),
            attributes => attributes.as_ptr(),
        },
        shape,
        flags: needs.flags() | if smooth { abi::MESH_SMOOTH } else { 0 },
    }
}

fn texel_format(texels: &Texels) -> u32 {
    match texels {
        Texels::Srgb8(_) | Texels::Linear8(_) => abi::TEXELS_RGBA8,
        Texels::Linear(_) => abi::TEXELS_FLOAT,
        Texels::Compact(compact) => match compact.format {
            CompactFormat::Grey => abi::TEXELS_GREY8,
            CompactFormat::Bc1 => abi::TEXELS_BC1,
            CompactFormat::Bc1Opaque => abi::TEXELS_BC1_OPAQUE,
            CompactFormat::Bc3 => abi::TEXELS_BC3,
            CompactFormat::Bc4 => abi::TEXELS_BC4,
            CompactFormat::Bc5 => abi::TEXELS_BC5,
            CompactFormat::Bc7 => abi::TEXELS_BC7,
        },
    }
}

fn texture_record(texture: &Texture, meaning: Meaning, mips: &Texels) -> TextureRecord {
    let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
    let wrap = texture.wrap.map(|wrap| match wrap {
        Wrap::Repeat => abi::WRAP_REPEAT,
        Wrap::Clamp => abi::WRAP_CLAMP,
        Wrap::Mirror => abi::WRAP_MIRROR,
    });
    TextureRecord {
        texels: texture.texels.bytes().as_ptr(),
        mips: mips.bytes().as_ptr(),
        width: texture.width,
        height: texture.height,
        format: texel_format(&texture.texels),
        mip_format: texel_format(mips),
        wrap,
        levels: if mips.bytes().is_empty() { 1 } else { level_count(texture.width, texture.height) },
        flags: flag(texture.nearest, abi::TEXTURE_NEAREST)
            | flag(meaning == Meaning::Normal, abi::TEXTURE_NORMALS)
            | flag(texture.texels.is_srgb(), abi::TEXTURE_SRGB),
    }
}

fn environment_record(environment: &Environment) -> EnvironmentRecord {
    let gradient = |zenith: Vec3, horizon: Vec3, nadir: Vec3| EnvironmentRecord {
        zenith: zenith.into(),
        kind: abi::ENVIRONMENT_GRADIENT,
        horizon: horizon.into(),
        image: NO_INDEX,
        nadir: nadir.into(),
        diffuse_image: NO_INDEX,
        rotation: 0.0,
        columns: 0,
        rows: 0,
        fluence: gradient_fluence(zenith, horizon, nadir),
        even: 1,
        faintest_star: 0.0,
        star_dimming: 0.0,
        star_turn: [0.0; 9],
    };
    match *environment {
        Environment::Constant { radiance } => gradient(radiance, radiance, radiance),
        Environment::Gradient { zenith, horizon, nadir } => gradient(zenith, horizon, nadir),
        Environment::Image { rotation, stars, .. } => EnvironmentRecord {
            kind: abi::ENVIRONMENT_IMAGE,
            rotation: rotation / std::f32::consts::TAU,
            faintest_star: stars.faintest,
            star_dimming: stars.dimming,
            // The columns of a rotation matrix are the rows of its inverse.
            star_turn: Mat3::from_axis_angle(CELESTIAL_POLE, -stars.turn).to_cols_array(),
            ..gradient(Vec3::ZERO, Vec3::ZERO, Vec3::ZERO)
        },
    }
}

/// Averages blocks of a latitude-longitude image, weighted by solid angle, so that its total light stays the same.
fn low_pass(image: &FloatImage) -> FloatImage {
    let (width, height) = (DIFFUSE_SKY.0.min(image.width), DIFFUSE_SKY.1.min(image.height));
    let cells = |index: u32, count: u32, size: u32| {
        let at = |i: u32| (u64::from(i) * u64::from(size) / u64::from(count)) as u32;
        at(index)..at(index + 1)
    };
    let mean = |x: u32, y: u32| {
        let (mut sum, mut weights) = (Vec3::ZERO, 0.0);
        for row in cells(y, height, image.height) {
            let weight = ((row as f32 + 0.5) * std::f32::consts::PI / image.height as f32).sin();
            for column in cells(x, width, image.width) {
                sum += Vec3::from(image.data[(row * image.width + column) as usize]) * weight;
                weights += weight;
            }
        }
        <[f32; 3]>::from(sum / weights)
    };
    let data = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| mean(x, y)).collect();
    FloatImage { width, height, data }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_low_passed_sky_keeps_the_total_light() {
        let (width, height) = (200, 100);
        let data = (0..width * height).map(|i| [(i % 7) as f32, (i / width) as f32, 1.0]).collect();
        let total = |image: &FloatImage| {
            let cell = |i: usize| ((i as u32 / image.width) as f32 + 0.5) * std::f32::consts::PI / image.height as f32;
            let light: Vec3 = image.data.iter().enumerate().map(|(i, &c)| Vec3::from(c) * cell(i).sin()).sum();
            light / (image.width * image.height) as f32
        };
        let image = FloatImage { width, height, data };
        let (before, after) = (total(&image), total(&low_pass(&image)));
        assert!((before - after).abs().max_element() < 0.01 * before.max_element(), "{before} {after}");
    }
}

//! Conversion of glTF materials, with files built here.

use super::ModelMaterials;
use crate::{gltf::tests::builder::*, materials::Materials};
use glam::{Affine2, Vec2, Vec3};
use serde_json::{Value, json};
use throng_scene::{Alpha, Material, MaterialKind, NONE, Texels, Texture, TextureMap, TriangleMesh, Wrap};

/// A material of the scene, with its maps and textures.
struct Loaded {
    material: Material,
    maps: Vec<TextureMap>,
    textures: Vec<Texture>,
    mesh: TriangleMesh,
}

impl Loaded {
    /// The material `json` of a file with one texture, on a mesh with tangents.
    fn of(json: Value) -> Self {
        let mut b = Builder::new();
        b.texture(&png(1, 1, [10, 20, 30]));
        b.json["materials"] = json!([json]);
        let model = b.load();
        let (mut materials, mut table) = (ModelMaterials::new(&model.materials, model.textures), Materials::default());
        let mut mesh = TriangleMesh { tangents: vec![[1.0, 0.0, 0.0, 1.0]], ..TriangleMesh::default() };
        let row = materials.material(&mut table, 0, &mut mesh);
        Self {
            material: table.rows[row as usize],
            textures: table.decode_textures().expect("decodes").0,
            maps: table.maps,
            mesh,
        }
    }

    /// The mark of a map (see [`info`]), and whether its texture has data rather than colours.
    fn read(&self, map: u32) -> (u32, bool) {
        let map = self.maps[map as usize];
        let mark = map.transform.translation.x as u32;
        assert_eq!(map.uv_set, mark % 2, "map {mark}");
        let texels = &self.textures[map.texture as usize].texels;
        (mark, matches!(texels, Texels::Linear8(_)))
    }
}

/// A reference to the texture, with a mark that distinguishes it from others.
fn info(mark: u32) -> Value {
    json!({"index": 0, "texCoord": mark % 2, "scale": 0.5,
        "extensions": {"KHR_texture_transform": {"offset": [mark, 0]}}})
}

const COLOR: bool = false;
const DATA: bool = true;

#[test]
fn the_core_of_a_material_arrives_with_its_maps() {
    let loaded = Loaded::of(json!({
        "pbrMetallicRoughness": {"baseColorFactor": [0.1, 0.2, 0.3, 0.4], "baseColorTexture": info(1),
            "metallicFactor": 0.5, "roughnessFactor": 0.6, "metallicRoughnessTexture": info(2)},
        "normalTexture": info(3), "emissiveTexture": info(4), "emissiveFactor": [1, 0.5, 0],
        "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 3},
            "KHR_materials_ior": {"ior": 1.4}, "KHR_materials_dispersion": {"dispersion": 0.2}},
    }));
    let (m, l) = (&loaded.material, &loaded.material.lobes);
    assert_eq!(m.kind, MaterialKind::Layered);
    assert_eq!(m.color, Vec3::new(0.1, 0.2, 0.3));
    assert_eq!(m.emission, Vec3::new(3.0, 1.5, 0.0));
    assert_eq!((l.metallic, l.roughness, l.normal_scale), (0.5, 0.6, 0.5));
    assert_eq!((l.ior, l.dispersion), (1.4, 0.2));
    assert_eq!((m.alpha, m.opacity), (Alpha::Opaque, 1.0));
    assert!(!m.double_sided && !m.unlit && !loaded.mesh.tangents.is_empty());
    let maps = [m.color_map, l.metallic_roughness_map, l.normal_map, m.emission_map];
    assert_eq!(maps.map(|map| loaded.read(map)), [(1, COLOR), (2, DATA), (3, DATA), (4, COLOR)]);
    assert_eq!(loaded.textures.len(), 2, "one for each colour space");
}

#[test]
fn what_changes_the_base_arrives_with_its_maps() {
    let loaded = Loaded::of(json!({"extensions": {
        "KHR_materials_specular": {"specularFactor": 0.5, "specularTexture": info(1), "specularColorFactor": [2, 1, 0],
            "specularColorTexture": info(2)},
        "KHR_materials_transmission": {"transmissionFactor": 0.9, "transmissionTexture": info(3)},
        "KHR_materials_diffuse_transmission": {"diffuseTransmissionFactor": 0.3, "diffuseTransmissionTexture": info(4),
            "diffuseTransmissionColorFactor": [1, 0, 0.5], "diffuseTransmissionColorTexture": info(5)},
        "KHR_materials_anisotropy": {"anisotropyStrength": 0.6, "anisotropyRotation": 1.5, "anisotropyTexture": info(6)},
    }}));
    let l = &loaded.material.lobes;
    assert_eq!((l.specular, l.specular_color), (0.5, [2.0, 1.0, 0.0]));
    assert_eq!((l.transmission, l.diffuse_transmission), (0.9, 0.3));
    assert_eq!(l.diffuse_transmission_color, [1.0, 0.0, 0.5]);
    assert_eq!((l.anisotropy, l.anisotropy_rotation), (0.6, 1.5));
    let maps = [
        l.specular_map,
        l.specular_color_map,
        l.transmission_map,
        l.diffuse_transmission_map,
        l.diffuse_transmission_color_map,
        l.anisotropy_map,
    ];
    let expected = [(1, DATA), (2, COLOR), (3, DATA), (4, DATA), (5, COLOR), (6, DATA)];
    assert_eq!(maps.map(|map| loaded.read(map)), expected);
    assert!(!loaded.mesh.tangents.is_empty(), "for the anisotropy");
}

#[test]
fn what_lies_on_top_arrives_with_its_maps() {
    let loaded = Loaded::of(json!({"extensions": {
        "KHR_materials_clearcoat": {"clearcoatFactor": 0.8, "clearcoatTexture": info(1), "clearcoatRoughnessFactor": 0.1,
            "clearcoatRoughnessTexture": info(2), "clearcoatNormalTexture": info(3)},
        "KHR_materials_sheen": {"sheenColorFactor": [0.1, 0.2, 0.3], "sheenColorTexture": info(4),
            "sheenRoughnessFactor": 0.4, "sheenRoughnessTexture": info(5)},
        "KHR_materials_iridescence": {"iridescenceFactor": 0.7, "iridescenceTexture": info(6), "iridescenceIor": 1.8,
            "iridescenceThicknessMinimum": 50, "iridescenceThicknessMaximum": 500, "iridescenceThicknessTexture": info(7)},
    }}));
    let l = &loaded.material.lobes;
    assert_eq!((l.clearcoat, l.clearcoat_roughness), (0.8, 0.1));
    assert_eq!(l.clearcoat_normal_scale, 0.5);
    assert_eq!((l.sheen_color, l.sheen_roughness), ([0.1, 0.2, 0.3], 0.4));
    assert_eq!((l.iridescence, l.iridescence_ior), (0.7, 1.8));
    assert_eq!(l.iridescence_thickness, [50.0, 500.0]);
    let maps = [
        l.clearcoat_map,
        l.clearcoat_roughness_map,
        l.clearcoat_normal_map,
        l.sheen_color_map,
        l.sheen_roughness_map,
        l.iridescence_map,
        l.iridescence_thickness_map,
    ];
    let expected = [(1, DATA), (2, DATA), (3, DATA), (4, COLOR), (5, DATA), (6, DATA), (7, DATA)];
    assert_eq!(maps.map(|map| loaded.read(map)), expected);
}

#[test]
fn a_volume_absorbs_what_its_attenuation_says_and_a_thin_wall_nothing() {
    let volume = |json: Value| Loaded::of(json!({"extensions": {"KHR_materials_volume": json}})).material.lobes;
    let glass = volume(json!({"thicknessFactor": 2, "attenuationDistance": 3, "attenuationColor": [0.5, 1, 0]}));
    let absorption = Vec3::from(glass.extinction);
    let left = (absorption * -3.0).exp();
    assert!(glass.thin == 0 && left.abs_diff_eq(Vec3::new(0.5, 1.0, 0.0), 1e-6));
    assert!(absorption.is_finite());
    let clear = volume(json!({"thicknessFactor": 1, "attenuationColor": [0.5, 1, 0]}));
    assert_eq!((clear.thin, clear.extinction), (0, [0.0; 3]));
    let wall = volume(json!({"attenuationDistance": 3, "attenuationColor": [0.5, 1, 0]}));
    assert_eq!((wall.thin, wall.extinction), (1, [0.0; 3]));
    assert_eq!(Loaded::of(json!({})).material.lobes.thin, 1);
}

#[test]
fn alpha_counts_where_the_mode_says_so() {
    let alpha = |mode: &str| {
        let color = json!({"baseColorFactor": [1, 1, 1, 0.25]});
        let loaded = Loaded::of(json!({"alphaMode": mode, "pbrMetallicRoughness": color,
            "doubleSided": true, "alphaCutoff": 0.75}));
        assert!(loaded.material.double_sided);
        (loaded.material.alpha, loaded.material.opacity)
    };
    assert_eq!(alpha("BLEND"), (Alpha::Blend, 0.25));
    assert_eq!(alpha("MASK"), (Alpha::Mask(0.75), 0.25));
}

#[test]
fn unlit_colours_shine_and_keep_their_alpha() {
    let unlit = |mode: &str| {
        let color = json!({"baseColorFactor": [0.5, 1, 1, 0.25], "baseColorTexture": info(1)});
        let loaded = Loaded::of(json!({"alphaMode": mode, "pbrMetallicRoughness": color,
            "extensions": {"KHR_materials_unlit": {}}}));
        assert!(loaded.material.unlit && loaded.mesh.tangents.is_empty());
        loaded.material
    };
    let m = unlit("BLEND");
    assert_eq!((m.kind, m.color), (MaterialKind::Diffuse, Vec3::ZERO));
    assert_eq!(m.emission, Vec3::new(0.5, 1.0, 1.0));
    assert_eq!((m.opacity, m.color_map), (0.25, m.emission_map));
    assert_eq!(unlit("OPAQUE").color_map, NONE);
}

#[test]
fn samplers_wrap_each_axis_and_keep_texels_square() {
    let mut b = Builder::new();
    b.texture(&png(1, 1, [1, 2, 3]));
    b.add("samplers", json!({"wrapS": 33071, "wrapT": 33648, "magFilter": 9728}));
    b.json["textures"][0]["sampler"] = json!(0);
    b.json["materials"] = json!([{"normalTexture": {"index": 0}}]);
    let model = b.load();
    let (mut materials, mut table) = (ModelMaterials::new(&model.materials, model.textures), Materials::default());
    materials.material(&mut table, 0, &mut TriangleMesh::default());
    let textures = table.decode_textures().expect("decodes").0;
    assert_eq!(textures[0].texels, Texels::Linear8(vec![[1, 2, 3, 255]]));
    assert_eq!(textures[0].wrap, [Wrap::Clamp, Wrap::Mirror]);
    assert!(textures[0].nearest);
}

#[test]
fn a_texture_keeps_its_transform_and_the_mesh_its_coordinates() {
    let transform = json!({"offset": [0.25, 0.5], "scale": [2, 4]});
    let texture = json!({"index": 0, "extensions": {"KHR_texture_transform": transform}});
    let loaded = Loaded::of(json!({"pbrMetallicRoughness": {"baseColorTexture": texture}}));
    let map = loaded.maps[loaded.material.color_map as usize];
    // Here, v increases from the bottom; in the file, from the top.
    let expected = Affine2::from_scale_angle_translation(Vec2::new(2.0, 4.0), 0.0, Vec2::new(0.25, -3.5));
    assert!(map.transform.abs_diff_eq(expected, 1e-6), "{map:?}");
    assert!(loaded.mesh.uvs.is_empty());
}

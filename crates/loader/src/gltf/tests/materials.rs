//! Tests of materials, variants, textures and their files.

use super::builder::*;
use crate::gltf::{GltfOptions, TextureRef, load_model};
use glam::{Vec2, Vec3};
use image::ImageFormat;
use serde_json::{Value, json};
use throng_scene::{Alpha, NONE, Rgba, Texels, Texture, Wrap, absorption, animated::TexturePlace, scatter_albedo};

fn material(b: &mut Builder, json: Value) -> crate::gltf::PbrMaterial {
    b.json["materials"] = json!([json]);
    b.load().materials.swap_remove(0)
}

/// The texels of a picture with eight bits per channel.
fn rgba(texture: &Texture) -> Vec<[u8; 4]> {
    match texture.texels.rgba(texture.width, texture.height) {
        Rgba::Bytes(texels) => texels.into_owned(),
        Rgba::Floats(_) => panic!("floats"),
    }
}

#[test]
fn materials_default_to_what_the_specification_says() {
    let m = material(&mut Builder::new(), json!({}));
    let expected = crate::gltf::PbrMaterial { name: "material 0".to_owned(), ..Default::default() };
    assert_eq!(m, expected);
    let lobes = m.material.lobes;
    assert_eq!((lobes.metallic, lobes.roughness, lobes.ior), (1.0, 1.0, 1.5));
    assert!(!m.material.double_sided);
}

#[test]
fn the_core_of_a_material_is_read() {
    let mut b = Builder::new();
    let texture = b.texture(&png(2, 1, [9, 9, 8]));
    let m = material(
        &mut b,
        json!({"name": "paint", "doubleSided": true, "alphaMode": "MASK", "alphaCutoff": 0.25,
        "emissiveFactor": [0, 0.5, 1], "emissiveTexture": {"index": texture},
        "occlusionTexture": {"index": texture, "strength": 0.5, "texCoord": 1},
        "normalTexture": {"index": texture, "scale": -2},
        "pbrMetallicRoughness": {"baseColorFactor": [0.1, 0.2, 0.3, 0.4], "metallicFactor": 0.5,
            "roughnessFactor": 0.75, "baseColorTexture": {"index": texture, "extensions":
                {"KHR_texture_transform": {"offset": [0.5, 0], "texCoord": 1}}},
            "metallicRoughnessTexture": {"index": texture}},
        "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 4}}}),
    );
    let (shown, lobes) = (&m.material, &m.material.lobes);
    assert_eq!((shown.color, shown.opacity), (Vec3::new(0.1, 0.2, 0.3), 0.4));
    assert_eq!((lobes.metallic, lobes.roughness, lobes.normal_scale), (0.5, 0.75, -2.0));
    assert_eq!((shown.alpha, shown.double_sided), (Alpha::Mask(0.25), true));
    assert_eq!(shown.emission, Vec3::new(0.0, 2.0, 4.0));
    let reference = |texture, uv_set, offset| {
        let place = TexturePlace { offset, ..TexturePlace::default() };
        TextureRef { texture, uv_set, place }
    };
    let moved = reference(0, 1, Vec2::new(0.5, 0.0));
    let read = |map: u32| m.textures[map as usize];
    assert_eq!(read(shown.color_map), moved);
    assert_eq!(read(shown.emission_map), reference(0, 0, Vec2::ZERO));
    for map in [lobes.metallic_roughness_map, lobes.normal_map] {
        assert_eq!(read(map), reference(1, 0, Vec2::ZERO));
    }
    assert_eq!(
        m.features,
        [
            "base colour texture",
            "metal and roughness texture",
            "normal map",
            "occlusion texture",
            "emission",
            "alpha mask",
            "double-sided"
        ]
    );
    let textures = b.load().textures;
    assert_eq!(textures.len(), 2, "one for each colour space");
    assert_eq!([0, 1].map(|index: usize| textures[index].texels.is_srgb()), [true, false]);
}

#[test]
fn every_material_extension_is_read() {
    let mut b = Builder::new();
    let t = json!({"index": b.texture(&png(1, 1, [0, 0, 1])), "scale": 0.5});
    let m = material(
        &mut b,
        json!({"extensions": {
        "KHR_materials_ior": {"ior": 1.33}, "KHR_materials_dispersion": {"dispersion": 0.1},
        "KHR_materials_specular": {"specularFactor": 0.5, "specularTexture": t, "specularColorFactor": [2, 1, 0], "specularColorTexture": t},
        "KHR_materials_transmission": {"transmissionFactor": 0.9, "transmissionTexture": t},
        "KHR_materials_diffuse_transmission": {"diffuseTransmissionFactor": 0.3, "diffuseTransmissionTexture": t, "diffuseTransmissionColorFactor": [1, 0, 0], "diffuseTransmissionColorTexture": t},
        "KHR_materials_volume": {"thicknessFactor": 2, "thicknessTexture": t, "attenuationDistance": 3, "attenuationColor": [0, 1, 0]},
        "KHR_materials_volume_scatter": {"multiscatterColor": [0, 0.5, 1], "scatterAnisotropy": -2},
        "KHR_materials_clearcoat": {"clearcoatFactor": 0.8, "clearcoatTexture": t, "clearcoatRoughnessFactor": 0.1, "clearcoatRoughnessTexture": t, "clearcoatNormalTexture": t},
        "KHR_materials_sheen": {"sheenColorFactor": [0.1, 0.2, 0.3], "sheenColorTexture": t, "sheenRoughnessFactor": 0.4, "sheenRoughnessTexture": t},
        "KHR_materials_iridescence": {"iridescenceFactor": 1, "iridescenceTexture": t, "iridescenceIor": 1.8, "iridescenceThicknessMinimum": 50, "iridescenceThicknessMaximum": 500, "iridescenceThicknessTexture": t},
        "KHR_materials_anisotropy": {"anisotropyStrength": 0.6, "anisotropyRotation": 1.5, "anisotropyTexture": t}}}),
    );
    let l = m.material.lobes;
    assert_eq!((l.ior, l.dispersion), (1.33, 0.1));
    assert_eq!(m.textures.len(), 13);
    assert_eq!((l.specular, l.specular_color), (0.5, [2.0, 1.0, 0.0]));
    assert_eq!(l.transmission, 0.9);
    assert_eq!((l.diffuse_transmission, l.diffuse_transmission_color), (0.3, [1.0, 0.0, 0.0]));
    let volume = absorption(Vec3::Y, 3.0);
    assert_eq!((l.thin, l.extinction), (0, volume.into()));
    let albedo = scatter_albedo(Vec3::new(0.0, 0.5, 1.0), 0.0);
    assert_eq!((l.scatter_anisotropy, l.scatter_albedo), (-0.99, albedo.into()));
    assert!(albedo.x == 0.0 && (0.5..1.0).contains(&albedo.y) && albedo.z > 0.999, "{albedo}");
    assert_eq!((l.clearcoat, l.clearcoat_roughness, l.clearcoat_normal_scale), (0.8, 0.1, 0.5));
    assert_eq!((l.sheen_color, l.sheen_roughness), ([0.1, 0.2, 0.3], 0.4));
    assert_eq!((l.iridescence, l.iridescence_ior, l.iridescence_thickness), (1.0, 1.8, [50.0, 500.0]));
    assert_eq!((l.anisotropy, l.anisotropy_rotation), (0.6, 1.5));
    let of_lobes = m.material.maps()[2..].to_vec();
    assert_eq!(of_lobes.iter().filter(|&&map| map != NONE).count(), 13);
    assert_eq!(
        m.features[2..].join(", "),
        "specular, transmission, diffuse transmission, volume, volume scatter, clearcoat, sheen, iridescence, anisotropy"
    );
    let empty = json!({"extensions": {"KHR_materials_volume": {}, "KHR_materials_iridescence": {}}});
    let m = material(&mut Builder::new(), empty);
    assert_eq!((m.material.lobes.thin, m.material.lobes.iridescence_ior), (1, 1.3));
    assert_eq!(m.base.attenuation_distance, f32::INFINITY);
    assert_eq!(m.features, ["volume", "iridescence"]);
}

#[test]
fn an_unlit_material_shines_in_its_base_colour_alone() {
    let mut b = Builder::new();
    let texture = b.texture(&png(2, 1, [9, 9, 9]));
    let m = material(
        &mut b,
        json!({"alphaMode": "BLEND", "emissiveFactor": [1, 1, 1], "emissiveTexture": {"index": texture},
        "normalTexture": {"index": texture}, "pbrMetallicRoughness":
            {"baseColorFactor": [0.1, 0.2, 0.3, 0.4], "baseColorTexture": {"index": texture}},
        "extensions": {"KHR_materials_unlit": {}}}),
    );
    let shown = m.material;
    assert_eq!((shown.color, shown.emission, shown.opacity), (Vec3::ZERO, Vec3::new(0.1, 0.2, 0.3), 0.4));
    assert_eq!((shown.color_map, shown.emission_map, m.textures.len()), (0, 0, 1));
    assert!(shown.unlit && m.features.contains(&"unlit".to_owned()));
}

#[test]
fn numbers_out_of_range_are_clamped_and_wrong_types_ignored() {
    let mut b = Builder::new();
    b.json["materials"] = json!([{"pbrMetallicRoughness": {"metallicFactor": 7}}]);
    let model = b.load();
    assert_eq!(model.materials[0].material.lobes.metallic, 1.0);
    assert_eq!(model.warnings, ["/materials/0/pbrMetallicRoughness/metallicFactor: 7 is out of range; 1 is used"]);
    for (json, expected) in [
        (
            json!({"extensions": {"KHR_materials_sheen": {"sheenRoughnessFactor": "much"}}}),
            "/materials/0/extensions/KHR_materials_sheen/sheenRoughnessFactor: invalid type",
        ),
        (
            json!({"extensions": {"KHR_materials_clearcoat": {"clearcoatTexture": {"index": 3}}}}),
            "/materials/0/extensions/KHR_materials_clearcoat/clearcoatTexture: there is no texture 3",
        ),
        (
            json!({"extensions": {"KHR_materials_ior": {"ior": 1e39}}}),
            "/materials/0/extensions/KHR_materials_ior/ior: the number must be finite",
        ),
        (json!({"alphaMode": "GHOST"}), "/materials/0/alphaMode: unknown mode; OPAQUE is taken"),
        (json!({"doubleSided": 1}), "/materials/0/doubleSided: invalid type"),
        (json!({"normalTexture": {}}), "/materials/0/normalTexture: missing field `index`"),
        (
            json!({"emissiveTexture": {"index": 0, "extensions": {"KHR_texture_transform": {"scale": [1e39, 1]}}}}),
            "/materials/0/emissiveTexture",
        ),
    ] {
        b.json["materials"] = json!([json]);
        let m = b.warned(expected).materials.swap_remove(0);
        assert_eq!(m.material.lobes.ior, 1.5);
        assert!(m.textures.is_empty(), "{expected}");
    }
}

#[test]
fn samplers_of_unknown_modes_or_that_are_not_there_repeat() {
    let mut b = Builder::new();
    let texture = b.texture(&png(1, 1, [1, 2, 3]));
    b.json["materials"] = json!([{"emissiveTexture": {"index": texture}}]);
    b.json["textures"][texture]["sampler"] = json!(0);
    assert_eq!(b.warned("/textures/0/sampler: there is no sampler 0").textures[0].wrap[0], Wrap::Repeat);
    b.json["samplers"] = json!([{"wrapS": 7, "magFilter": 7}]);
    let model = b.warned("/samplers/0/wrapS: unknown mode; the texture repeats");
    assert_eq!((model.textures[0].wrap[0], model.textures[0].nearest), (Wrap::Repeat, false));
    assert_eq!(model.warnings[0], "/samplers/0/magFilter: unknown filter; LINEAR is taken");
}

#[test]
fn textures_without_a_picture_are_left_out_and_the_others_keep_their_places() {
    let mut b = Builder::new();
    let gone = b.add("images", json!({"uri": "gone.png"}));
    let gone = b.add("textures", json!({"source": gone}));
    let here = b.texture(&png(1, 1, [1, 2, 3]));
    b.json["materials"] = json!([
        {"pbrMetallicRoughness": {"baseColorFactor": [0, 1, 0, 1], "baseColorTexture": {"index": gone}},
            "emissiveTexture": {"index": here}, "normalTexture": {"index": gone}},
        {"extensions": {"KHR_materials_pbrSpecularGlossiness":
            {"glossinessFactor": 0.75, "specularGlossinessTexture": {"index": gone}}}},
    ]);
    let model = b.warned("/images/0/uri: `gone.png`");
    assert_eq!(model.warnings.len(), 1, "once for all textures: {:?}", model.warnings);
    let shown = &model.materials[0];
    assert_eq!(
        (shown.material.color, shown.material.color_map, shown.material.lobes.normal_map),
        (Vec3::Y, NONE, NONE)
    );
    assert_eq!((shown.material.emission_map, shown.textures.len(), shown.textures[0].texture), (0, 1, 0));
    assert_eq!(rgba(&model.textures[0]), [[1, 2, 3, 255]]);
    let (glossy, lobes) = (&model.materials[1], &model.materials[1].material.lobes);
    let rough = &model.textures[glossy.textures[lobes.metallic_roughness_map as usize].texture as usize];
    assert_eq!((rgba(rough)[0][1], lobes.specular_color_map), (64, NONE), "the factor alone");
}

#[test]
fn a_grey_normal_map_is_a_bump_map_and_ignored() {
    let mut b = Builder::new();
    let grey = b.texture(&png(2, 2, [90; 3]));
    let flat = b.texture(&png(2, 2, [128, 128, 255]));
    b.json["materials"] = json!([
        {"normalTexture": {"index": grey}, "pbrMetallicRoughness": {"metallicRoughnessTexture": {"index": grey}},
            "extensions": {"KHR_materials_clearcoat": {"clearcoatNormalTexture": {"index": grey}}}},
        {"normalTexture": {"index": flat}},
    ]);
    let model = b.warned("/materials/0/normalTexture: all pixels of the picture are grey, as in a bump map");
    assert!(
        model.warnings[0].starts_with("/materials/0/extensions/KHR_materials_clearcoat/clearcoatNormalTexture: all")
    );
    let lobes = model.materials[0].material.lobes;
    assert_eq!((lobes.normal_map, lobes.clearcoat_normal_map), (NONE, NONE));
    assert_eq!(model.materials[0].textures[lobes.metallic_roughness_map as usize].texture, 0, "other uses stay");
    assert_ne!(model.materials[1].material.lobes.normal_map, NONE);
}

/// A triangle with four sets of texture coordinates, set n with u = n, and a material of two textures.
fn with_uv_sets(base: u32, emissive: u32) -> Builder {
    let mut b = Builder::triangle();
    let texture = b.texture(&png(1, 1, [0; 3]));
    for set in 0..4 {
        let uvs = b.floats(&[[set as f32, 1.0]; 3]);
        b.primitive()["attributes"][format!("TEXCOORD_{set}")] = json!(uvs);
    }
    b.primitive()["material"] = json!(0);
    b.json["materials"] = json!([{
        "pbrMetallicRoughness": {"baseColorTexture": {"index": texture, "texCoord": base}},
        "emissiveTexture": {"index": texture, "texCoord": emissive},
    }]);
    b
}

#[test]
fn a_mesh_keeps_the_texture_coordinates_that_its_material_uses() {
    // Sets of the textures, sets of the mesh, and the resulting indices of the textures' sets.
    for (used, kept, places) in [
        ([0, 0], [0, 1], [0, 0]),
        ([1, 0], [0, 1], [1, 0]),
        ([2, 2], [2, 1], [0, 0]),
        ([0, 3], [0, 3], [0, 1]),
        ([3, 1], [3, 1], [0, 1]),
        ([3, 2], [2, 3], [1, 0]),
    ] {
        let model = with_uv_sets(used[0], used[1]).load();
        let (m, mesh) = (&model.materials[0], &model.meshes[0].mesh);
        assert_eq!(m.uv_sets, kept, "{used:?}");
        let u = [mesh.uvs[0][0], mesh.uvs1[0][0]];
        assert_eq!(u, kept.map(|set| set as f32), "{used:?}");
        let textures: Vec<u32> = m.textures.iter().map(|t| t.uv_set).collect();
        assert_eq!(textures, places, "{used:?}");
        assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    }
}

#[test]
fn textures_that_are_not_read_take_no_coordinates_and_are_not_decoded() {
    let mut b = with_uv_sets(0, 3);
    let unread = b.texture(&png(2, 2, [0; 3]));
    b.json["materials"][0]["occlusionTexture"] = json!({"index": unread, "texCoord": 1});
    b.json["materials"][0]["extensions"] = json!({"KHR_materials_volume":
        {"thicknessFactor": 1, "thicknessTexture": {"index": unread, "texCoord": 2}}});
    let model = b.load();
    let m = &model.materials[0];
    assert_eq!(m.uv_sets, [0, 3]);
    assert!(m.features.contains(&"occlusion texture".to_owned()));
    assert_eq!(model.textures.len(), 1);
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    b.json["materials"][0]["occlusionTexture"]["index"] = json!(9);
    b.warned("/materials/0/occlusionTexture: there is no texture 9: the file has 2; nothing reads it");
}

#[test]
fn more_than_two_sets_of_texture_coordinates_are_a_warning() {
    let mut b = with_uv_sets(1, 2);
    let normals = b.texture(&png(1, 1, [128, 128, 255]));
    b.json["materials"][0]["normalTexture"] = json!({"index": normals, "texCoord": 3});
    let model = b.load();
    assert_eq!(model.materials[0].uv_sets, [1, 2]);
    let normals = model.materials[0].material.lobes.normal_map as usize;
    assert_eq!(model.materials[0].textures[normals].uv_set, 0);
    let told = &model.warnings[0];
    assert!(told.starts_with("/materials/0: its textures use 3 sets"), "{told}");
}

#[test]
fn variants_with_other_texture_coordinates_are_a_warning() {
    let mut b = with_uv_sets(0, 0);
    let mut other = b.json["materials"][0].clone();
    other["emissiveTexture"]["texCoord"] = json!(3);
    b.add("materials", other);
    b.json["extensions"] = json!({"KHR_materials_variants": {"variants": [{"name": "other"}]}});
    b.primitive()["extensions"] = json!({"KHR_materials_variants": {"mappings": [{"material": 1, "variants": [0]}]}});
    assert!(b.load().warnings[0].starts_with("/meshes/0/primitives/0: materials of variants"));
    let chosen = GltfOptions { variant: Some("other".to_owned()), ..GltfOptions::default() };
    let model = b.load_with(&chosen);
    assert_eq!(model.meshes[0].mesh.uvs1[0], [3.0, 0.0]);
}

#[test]
fn variants_change_materials_when_chosen() {
    let mut b = Builder::triangle();
    b.json["extensions"] = json!({"KHR_materials_variants": {"variants": [{"name": "red"}, {"name": "blue"}]}});
    b.json["materials"] = json!([{}, {}, {}]);
    b.primitive()["material"] = json!(0);
    b.primitive()["extensions"] = json!({"KHR_materials_variants": {"mappings": [
        {"material": 2, "variants": [1]}, {"material": 1, "variants": [0]}]}});
    let choose = |name: &str| GltfOptions { variant: Some(name.to_owned()), ..GltfOptions::default() };
    let model = b.load();
    assert_eq!((model.variants.len(), model.meshes[0].material), (2, 0));
    assert_eq!(model.meshes[0].variants, [(1, 2), (0, 1)]);
    assert_eq!(b.load_with(&choose("blue")).meshes[0].material, 2);
    let error = b.error_with(&choose("blu"));
    assert!(error.ends_with("there is no variant `blu`: did you mean `blue`?"), "{error}");
    b.primitive()["extensions"]["KHR_materials_variants"]["mappings"][0]["material"] = json!(3);
    let place = "/meshes/0/primitives/0/extensions/KHR_materials_variants";
    let model = b.warned(&format!("{place}: there is no variant 1 or no material 3; it has no variants"));
    assert_eq!((model.meshes[0].material, model.meshes[0].variants.len()), (0, 0));
}

#[test]
fn textures_are_shared_by_picture_sampling_and_colour_space() {
    let mut b = Builder::new();
    let first = b.texture(&png(3, 2, [10, 20, 30]));
    b.add("samplers", json!({"wrapS": 33071, "wrapT": 33648, "magFilter": 9728, "minFilter": 9728}));
    let clamped = b.add("textures", json!({"source": 0, "sampler": 0}));
    let again = b.add("textures", json!({"source": 0}));
    let base = |t: usize| json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": t}}});
    b.json["materials"] = json!([base(first), base(clamped), base(again)]);
    let model = b.load();
    let used: Vec<_> = model.materials.iter().map(|m| m.textures[m.material.color_map as usize].texture).collect();
    assert_eq!(used, [0, 1, 0]);
    let t = &model.textures[1];
    assert_eq!((t.wrap, t.nearest, t.filtered), ([Wrap::Clamp, Wrap::Mirror], true, false));
    assert!(model.textures[0].filtered);
    assert_eq!((t.width, t.height, t.texels.count()), (3, 2, 6));
    assert_eq!(model.textures[0].texels, Texels::Srgb8(vec![[10, 20, 30, 255]; 6]));
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
}

#[test]
fn jpeg_and_webp_are_told_by_content() {
    for format in [ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Png] {
        let mut b = Builder::new();
        let texture = b.texture(&encoded(8, 8, [200, 200, 200], format));
        b.json["materials"] = json!([{"emissiveTexture": {"index": texture}}]);
        let t = &b.load().textures[0];
        assert!(rgba(t)[0][..3].iter().all(|x| x.abs_diff(200) < 4), "{format:?}");
    }
}

#[test]
fn pictures_for_gpus_are_read_where_there_is_no_other() {
    use crate::image::{gpu_formats::tests::dds_file, ktx2::tests::uastc_file};
    let mut b = Builder::new();
    let view = b.view(&uastc_file([9, 80, 200, 77]));
    let ktx = b.add("images", json!({"bufferView": view, "mimeType": "image/ktx2"}));
    let view = b.view(&dds_file());
    let dds = b.add("images", json!({"bufferView": view, "mimeType": "image/vnd-ms.dds"}));
    let texture = b.add("textures", json!({"extensions": {"MSFT_texture_dds": {"source": dds}}}));
    b.json["materials"] = json!([{"emissiveTexture": {"index": texture}}]);
    b.json["extensionsRequired"] = json!(["KHR_texture_basisu", "MSFT_texture_dds"]);
    assert_eq!(rgba(&b.load().textures[0]), [[255, 0, 0, 255]; 16]);
    b.json["textures"][texture] = json!({"extensions": {"KHR_texture_basisu": {"source": ktx}}});
    if cfg!(feature = "ktx2") {
        assert_eq!(rgba(&b.load().textures[0]), [[9, 80, 200, 77]; 16])
    } else {
        assert!(b.warned("/images/0: this build reads no KTX 2 pictures with Basis Universal: ").textures.is_empty())
    }
    let other = b.texture(&png(1, 1, [1, 2, 3]));
    b.json["textures"][texture]["source"] = json!(b.json["textures"][other]["source"]);
    assert_eq!(rgba(&b.load().textures[0]), [[1, 2, 3, 255]]);
    b.json["textures"][texture] = json!({"extensions": {"EXT_texture_webp": {"source": 2}}});
    assert_eq!(rgba(&b.load().textures[0]), [[1, 2, 3, 255]]);
    b.json["textures"][texture] = json!({});
    let model = b.load();
    assert_eq!(model.materials[0].material.emission_map, NONE);
}

#[test]
fn damaged_pictures_are_left_out_and_oversized_ones_refused_by_place() {
    let mut b = Builder::new();
    let mut picture = png(64, 64, [1, 2, 3]);
    picture.truncate(60);
    let texture = b.texture(&picture);
    b.json["materials"] = json!([{"emissiveTexture": {"index": texture}}]);
    assert!(b.warned("/images/0: the picture is damaged").textures.is_empty());
    let mut b = Builder::new();
    let texture = b.texture(&png(2000, 2000, [1, 2, 3]));
    b.json["materials"] = json!([{"emissiveTexture": {"index": texture}}]);
    let options = GltfOptions { memory_limit: Some(20 << 20), ..GltfOptions::default() };
    let error = b.error_with(&options);
    assert!(error.starts_with("/images/0: the picture needs 26.7 MiB"), "{error}");
}

#[test]
fn buffers_and_pictures_are_read_from_the_files_folder_only() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(dir.path().join("model")).expect("a folder");
    let mut b = Builder::triangle();
    b.json["buffers"] = json!([{"byteLength": b.bin.len(), "uri": "my%20data.bin"}]);
    b.json["images"] = json!([{"uri": "../colour.png"}]);
    b.json["textures"] = json!([{"source": 0}]);
    b.json["materials"] = json!([{"emissiveTexture": {"index": 0}}]);
    let path = dir.path().join("model/a.gltf");
    std::fs::write(&path, b.json.to_string()).expect("writes");
    let error = |options: &GltfOptions| match load_model(&path, options) {
        Ok(_) => panic!("loading should have failed"),
        Err(e) => e.to_string(),
    };
    let strict = GltfOptions::default();
    assert!(error(&strict).ends_with("a.gltf: /buffers/0/uri: `my%20data.bin`: no such file: put it beside the model"));
    std::fs::write(dir.path().join("model/my data.bin"), &b.bin).expect("writes");
    std::fs::write(dir.path().join("colour.png"), png(1, 1, [5; 3])).expect("writes");
    let model = load_model(&path, &strict).unwrap_or_else(|e| panic!("{e}"));
    assert!(model.textures.is_empty() && model.warnings[0].starts_with("/images/0/uri: `../colour.png` leads out"));
    let open = GltfOptions { allow_dirs: vec![dir.path().to_owned()], ..GltfOptions::default() };
    let model = load_model(&path, &open).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(model.textures[0].name, "../colour.png");
    assert_eq!(model.meshes[0].mesh.triangles.len(), 1);
}

#[test]
fn an_error_is_one_line_however_odd_the_names() {
    let mut b = Builder::new();
    b.json["extensionsRequired"] = json!(["A\nB\u{1b}[2J"]);
    assert_eq!(b.error().lines().count(), 1);
    assert!(!b.error().contains('\u{1b}'));
}

#[test]
fn specular_and_glossiness_are_a_tinted_interface_and_its_roughness() {
    let mut b = Builder::new();
    let plain = material(
        &mut b,
        json!({"extensions": {"KHR_materials_pbrSpecularGlossiness": {
        "diffuseFactor": [0.1, 0.2, 0.3, 0.4], "specularFactor": [0.5, 0.6, 0.7], "glossinessFactor": 0.75}},
        "alphaMode": "BLEND", "pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1], "metallicFactor": 0.5}}),
    );
    let lobes = plain.material.lobes;
    assert_eq!((plain.material.color, plain.material.opacity), (Vec3::new(0.1, 0.2, 0.3), 0.4));
    assert_eq!((lobes.metallic, lobes.roughness, lobes.ior, lobes.specular), (0.0, 0.25, 0.0, 1.0));
    assert_eq!(
        (lobes.specular_color, plain.features),
        ([0.5, 0.6, 0.7], vec!["alpha blending".to_owned(), "specular and glossiness".to_owned()])
    );
    let shiny = material(&mut b, json!({"extensions": {"KHR_materials_pbrSpecularGlossiness": {}}}));
    assert_eq!((shiny.material.lobes.roughness, shiny.material.lobes.specular_color), (0.0, [1.0; 3]));
}

#[test]
fn the_texture_of_specular_and_glossiness_is_read_twice() {
    let mut b = Builder::new();
    let mut png = std::io::Cursor::new(Vec::new());
    image::RgbaImage::from_pixel(1, 1, image::Rgba([10, 20, 30, 200]))
        .write_to(&mut png, ImageFormat::Png)
        .expect("encodes");
    let texture = b.texture(png.get_ref());
    b.json["extensionsRequired"] = json!(["KHR_materials_pbrSpecularGlossiness"]);
    b.json["materials"] = json!([{"extensions": {"KHR_materials_pbrSpecularGlossiness": {
        "glossinessFactor": 0.5, "specularGlossinessTexture": {"index": texture}}}}]);
    let model = b.load();
    let (m, lobes) = (&model.materials[0], model.materials[0].material.lobes);
    assert_eq!(lobes.roughness, 1.0);
    let texel = |map: u32| {
        let texture = &model.textures[m.textures[map as usize].texture as usize];
        (rgba(texture)[0], texture.texels.is_srgb())
    };
    assert_eq!(texel(lobes.specular_color_map), ([10, 20, 30, 200], true));
    assert_eq!(texel(lobes.metallic_roughness_map), ([0, 155, 0, 255], false));
    b.json["materials"][0]["extensions"]["KHR_materials_pbrSpecularGlossiness"]["glossinessFactor"] = json!("much");
    let model = b.warned("/materials/0/extensions/KHR_materials_pbrSpecularGlossiness/glossinessFactor: ");
    let lobes = model.materials[0].material.lobes;
    let smooth = &model.textures[model.materials[0].textures[lobes.metallic_roughness_map as usize].texture as usize];
    assert_eq!(rgba(smooth)[0][1], 55, "the specification's factor is 1");
}

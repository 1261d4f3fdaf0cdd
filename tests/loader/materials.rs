//! The materials of scene files.

use super::*;
use throng::scene::{Alpha, Lobes, Material, NONE, ToCamera, hair_color, melanin_absorption};

/// Loads the material `text`, on a quad.
fn material(text: &str) -> Material {
    with_material(text).materials[0]
}

fn with_material(text: &str) -> Scene {
    scene(&format!(
        r#"(materials: {{"m": {text}}}, meshes: {{"a": Quad()}}, instances: [Single(of: "a", material: "m")])"#
    ))
}

fn fault(text: &str) -> String {
    error(&format!("(materials: {{\"m\": {text}}},\n {BALL})"))
}

#[test]
fn shorthands_are_layered_materials() {
    let m = material("Mirror(tint: (0.5, 0.6, 0.7), roughness: 0.2)");
    assert_eq!((m.kind, m.lobes.metallic, m.lobes.roughness), (MaterialKind::Layered, 1.0, 0.2));
    assert_eq!(m.color, Vec3::new(0.5, 0.6, 0.7));
    assert_eq!(material("Mirror()").kind, MaterialKind::Mirror);
    let m = material("Metal(color: (1, 0.75, 0.25), roughness: 0.4, anisotropy: 0.5, rotation: 90)");
    let l = m.lobes;
    assert_eq!((l.metallic, l.roughness, l.anisotropy), (1.0, 0.4, 0.5));
    assert!((l.anisotropy_rotation - std::f32::consts::FRAC_PI_2).abs() < 1e-6);
    let m = material("Glossy(color: (0.5, 0, 0), roughness: 0.25, ior: 1.6, clearcoat: 1)");
    let l = m.lobes;
    assert_eq!((l.metallic, l.roughness), (0.0, 0.25));
    assert_eq!((l.ior, l.clearcoat), (1.6, 1.0));
    let m = material("Emissive(radiance: (4, 3, 2), color: (0.5, 0.5, 0.5))");
    assert_eq!((m.color, m.emission), (Vec3::splat(0.5), Vec3::new(4.0, 3.0, 2.0)));
    assert_eq!(material("Emissive(radiance: (4, 3, 2))").color, Vec3::ZERO);
}

#[test]
fn glass_is_a_body_or_a_thin_pane() {
    let m = material("Glass(ior: 1.7, roughness: 0.1, dispersion: 0.5, absorption: (1, 2, 3))");
    let l = m.lobes;
    assert_eq!((m.kind, m.color), (MaterialKind::Layered, Vec3::ONE));
    assert_eq!((l.transmission, l.thin, l.ior), (1.0, 0, 1.7));
    assert_eq!((l.roughness, l.dispersion), (0.1, 0.5));
    assert_eq!(l.extinction, [1.0, 2.0, 3.0]);
    let l = material("Glass(attenuation: ((0.5, 1, 0), 2))").lobes;
    let left = (Vec3::from(l.extinction) * -2.0).exp();
    assert!(left.abs_diff_eq(Vec3::new(0.5, 1.0, 0.0), 1e-6), "{left}");
    assert_eq!(material("Glass(thin: true)").lobes.thin, 1);
}

#[test]
fn hair_is_coloured_by_melanin_a_colour_or_an_absorption() {
    let m = material(
        "Hair(color: (0.5, 0.25, 1), tint: (0.5, 1, 1), roughness: 0.2, azimuthal_roughness: 0.4, tilt: -3, ior: 1.5, coat: 0.1)",
    );
    let l = m.lobes;
    assert_eq!((m.kind, m.color), (MaterialKind::Hair, Vec3::new(0.25, 0.25, 1.0)));
    assert_eq!((l.roughness, l.azimuthal_roughness, l.ior, l.clearcoat), (0.2, 0.4, 1.5, 0.1));
    assert!((l.cuticle_tilt.to_degrees() + 3.0).abs() < 1e-5);
    let absorption = Vec3::new(0.1, 0.5, 2.0);
    assert_eq!(material("Hair(absorption: (0.1, 0.5, 2))").color, hair_color(absorption, 0.3));
    let melanin = material("Hair(melanin: 0.8, redness: 1)").color;
    assert_eq!(melanin, hair_color(melanin_absorption(0.8, 1.0), 0.3));
    assert_eq!(material("Hair()").color, hair_color(melanin_absorption(0.6, 0.3), 0.3));
    let textured = material("Hair(melanin: 0.2, texture: \"tex.png\")");
    assert_eq!((textured.color_map, textured.color), (0, material("Hair(melanin: 0.2)").color));
}

#[test]
fn faults_of_hair_name_the_field() {
    for (text, found) in [
        ("Hair(melanin: 0.5, color: \"red\")", "`melanin` is an alternative: remove one of them"),
        ("Hair(absorption: (1, 1, 1), redness: 0.5)", "`redness` is an alternative: remove one of them"),
        ("Hair(melanin: 1.5)", "1.5 is out of range: write 0 to 1"),
        ("Hair(ior: 4)", "4 is out of range: write 1 to 3"),
        ("Hair(tilt: 60)", "60 is out of range: write -45 to 45"),
        ("Hair(color: (2, 1, 1))", "write 0 to 1 for red, green and blue"),
        ("Hair(texture: \"none.png\")", "none.png"),
    ] {
        let e = fault(text);
        assert!(e.contains(found), "{text}: {e}");
    }
}

#[test]
fn what_cameras_do_not_see_is_matt_for_everything_else() {
    let hole = material("Holdout(color: (0.1, 0.2, 0.3))");
    assert_eq!((hole.kind, hole.to_camera), (MaterialKind::Diffuse, ToCamera::Holdout));
    assert_eq!(hole.color, Vec3::new(0.1, 0.2, 0.3));
    assert_eq!(material("ShadowCatcher()").to_camera, ToCamera::ShadowCatcher);
    assert_eq!(material("Diffuse()").to_camera, ToCamera::Visible);
}

#[test]
fn every_field_of_a_pbr_material_arrives() {
    let m = material(
        "Pbr(color: (0.1, 0.2, 0.3), metallic: 0.1, roughness: 0.2, emission: (1, 2, 3), opacity: 0.5, alpha: blend,
        double_sided: false, ior: 1.6, dispersion: 0.3, specular: 0.4, specular_color: (2, 1, 0), transmission: 0.5,
        absorption: (1, 1, 0), diffuse_transmission: 0.6, diffuse_transmission_color: (1, 0, 0), clearcoat: 0.7,
        clearcoat_roughness: 0.8, sheen_color: (0, 1, 0), sheen_roughness: 0.9, iridescence: 0.11,
        iridescence_ior: 1.2, iridescence_thickness: 300, anisotropy: 0.12, anisotropy_rotation: 180)",
    );
    let expected = Material {
        kind: MaterialKind::Layered,
        color: Vec3::new(0.1, 0.2, 0.3),
        color_map: NONE,
        emission: Vec3::new(1.0, 2.0, 3.0),
        emission_map: NONE,
        unlit: false,
        one_sided: false,
        opacity: 0.5,
        alpha: Alpha::Blend,
        double_sided: false,
        encloses: false,
        to_camera: ToCamera::Visible,
        lobes: Lobes {
            metallic: 0.1,
            roughness: 0.2,
            ior: 1.6,
            dispersion: 0.3,
            specular: 0.4,
            specular_color: [2.0, 1.0, 0.0],
            transmission: 0.5,
            thin: 0,
            extinction: [1.0, 1.0, 0.0],
            diffuse_transmission: 0.6,
            diffuse_transmission_color: [1.0, 0.0, 0.0],
            clearcoat: 0.7,
            clearcoat_roughness: 0.8,
            sheen_color: [0.0, 1.0, 0.0],
            sheen_roughness: 0.9,
            iridescence: 0.11,
            iridescence_ior: 1.2,
            iridescence_thickness: [300.0; 2],
            anisotropy: 0.12,
            anisotropy_rotation: std::f32::consts::PI,
            ..Lobes::default()
        },
    };
    assert_eq!(m, expected);
    let plain = Material {
        kind: MaterialKind::Layered,
        lobes: Lobes { roughness: 0.5, iridescence_thickness: [400.0; 2], ..Lobes::default() },
        ..Material::default()
    };
    assert_eq!(material("Pbr()"), plain);
    assert_eq!(material("Pbr(alpha: mask(0.25))").alpha, Alpha::Mask(0.25));
}

#[test]
fn pictures_are_read_as_colours_or_as_data() {
    let s = with_material(
        r#"Pbr(texture: "tex.png", metallic_roughness_texture: "tex.png", normal_texture: "tex.png",
            emission_texture: "tex.png", clearcoat_normal_texture: "tex.png", wrap: clamp)"#,
    );
    let (m, l) = (s.materials[0], s.materials[0].lobes);
    assert_eq!(s.textures.len(), 2, "one for each colour space");
    let is_data = |map: u32| {
        let texture = &s.textures[s.maps[map as usize].texture as usize];
        matches!(texture.texels, Texels::Linear8(_))
    };
    assert!(!is_data(m.color_map) && !is_data(m.emission_map));
    assert!(is_data(l.metallic_roughness_map) && is_data(l.normal_map));
    assert!(is_data(l.clearcoat_normal_map));
    assert_eq!(
        (m.color, m.emission, l.metallic, l.roughness),
        (Vec3::ONE, Vec3::ONE, 1.0, 1.0),
        "textures are shown as they are"
    );
}

#[test]
fn meshes_get_tangents_where_they_wear_a_normal_map() {
    let s = scene(
        r#"(materials: {"m": Metal(normal_texture: "tex.png"), "n": Metal()},
            meshes: {"a": Quad(), "b": Quad(), "c": Obj(file: "tri.obj"), "d": Sphere},
            instances: [Single(of: "a", material: "m"), Single(of: "b", material: "n"),
                Single(of: "c", material: "m"), Single(of: "d", material: "m")])"#,
    );
    let tangents = |mesh: usize| &s.meshes[mesh].triangles().expect("triangles").tangents[..];
    assert_eq!(tangents(0), [[1.0, 0.0, 0.0, 1.0]; 4]);
    assert!(tangents(1).is_empty());
    assert_eq!(s.warnings.len(), 1, "{:?}", s.warnings);
    assert!(
        s.warnings[0].starts_with("mesh `c` wears a normal map") && s.warnings[0].contains("no texture coordinates"),
        "{:?}",
        s.warnings
    );
}

#[test]
fn faults_name_the_field_and_what_may_stand_there() {
    for (text, expected) in [
        ("Metal(roughness: 1.5)", "s.ron:1:36: 1.5 is out of range: write 0 to 1"),
        ("Glass(ior: 0.5)", "s.ron:1:30: 0.5 is out of range: write 1 to 10"),
        ("Glossy(color: (2, 0, 0))", "s.ron:1:33: the colour is out of range: write 0 to 1"),
        (
            "Glass(absorption: (1, 1, 1), attenuation: ((1, 1, 1), 1))",
            "s.ron:1:61: `absorption` is an alternative: remove one of them",
        ),
        ("Glass(attenuation: ((1, 1, 1), 0))", "s.ron:1:38: the distance must be above 0"),
        ("Glass(thin: true, absorption: (1, 0, 0))", "s.ron:1:31: a thin pane has no volume that absorbs"),
        ("Pbr(alpha: mask(2))", "s.ron:1:30: 2 is out of range: write 0 to 1"),
        ("Pbr(alpha: blnd)", "s.ron:1:30: unknown name `blnd` in alpha: did you mean `blend`?"),
        ("Pbr(normal_texture: \"no.png\")", "s.ron:1:39: the texture no.png does not exist"),
        ("Pbr(rougness: 1)", "s.ron:1:23: unknown field `rougness` in Pbr: did you mean `roughness`?"),
        ("Glas()", "s.ron:1:19: unknown name `Glas` in materials: did you mean `Glass`?"),
    ] {
        let e = fault(text);
        assert!(e.starts_with(expected), "{text}\n  {e}\n  {expected}");
    }
}

#[test]
fn an_mtl_file_that_states_a_physically_based_material_has_one() {
    let dir = folder();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("writes");
    write(
        "m.obj",
        "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl a\nf 1/1 2/2 3/3\nusemtl b\nf 1/1 3/3 2/2\n",
    );
    write(
        "m.mtl",
        "newmtl a\nKd 1 0 0\nPr 0.25\nPm 1\nd 0.5\nnorm tex.png\nnewmtl b\nKd 1 0 0\nNs 100\nNi 1.4\nd 0.5\nnorm tex.png\n",
    );
    let s = load(&dir.path().join("m.obj")).unwrap_or_else(|e| panic!("{e}"));
    let [a, b] = [0, 1].map(|i| s.materials[i]);
    assert_eq!((a.kind, a.color), (MaterialKind::Layered, Vec3::X));
    assert_eq!((a.lobes.roughness, a.lobes.metallic), (0.25, 1.0));
    assert_eq!((a.alpha, a.opacity), (Alpha::Blend, 0.5));
    assert!(matches!(s.textures[0].texels, Texels::Linear8(_)));
    assert!(!s.meshes[0].triangles().expect("triangles").tangents.is_empty());
    assert_eq!((b.kind, b.alpha, b.opacity), (MaterialKind::Diffuse, Alpha::Blend, 0.5));
}

//! Shaders of MaterialX, Arnold and others.

use super::{bound_stage, normal_of, read, surface};
use crate::{Film, Input, Surface, TexelSpace, WrapMode, reader::test_stage::TestStage};
use glam::Vec2;

/// A surface of this type with these inputs, as the output `output` of `/M`, and other shaders.
fn shaded(output: &str, id: &str, inputs: &str, others: &str) -> TestStage {
    bound_stage(&format!(
        r#"
token outputs:{output}.connect = </M/Surface.outputs:out>
def Shader "Surface" {{
    uniform token info:id = "{id}"
    {inputs}
    token outputs:out
}}
{others}"#
    ))
}

fn clean(id: &str, inputs: &str, others: &str) -> Surface {
    let stage = shaded("mtlx:surface", id, inputs, others);
    let surface = surface(&stage);
    assert_eq!(stage.warnings(), Vec::<String>::new());
    surface
}

const STANDARD: &str = "ND_standard_surface_surfaceshader";
const OPEN_PBR: &str = "ND_open_pbr_surface_surfaceshader";

#[test]
fn a_standard_surface_becomes_the_nearest_preview_surface() {
    let inputs = "
        float inputs:base = 0.5
        color3f inputs:base_color = (0.2, 0.4, 0.6)
        float inputs:metalness = 0.25
        float inputs:specular_roughness = 0.35
        float inputs:specular_IOR = 1.6
        float inputs:coat = 0.75
        float inputs:coat_roughness = 0.05
        float inputs:emission = 2
        color3f inputs:emission_color = (1, 0.5, 0.25)
        color3f inputs:opacity = (0.5, 0.5, 0.5)";
    // The coat takes a part of the emission.
    let emission = clean(STANDARD, inputs, "").emissive_color;
    let below = |full: f32| full * (1.0 - 0.75 * 0.04);
    assert!(emission.value.iter().zip([2.0, 1.0, 0.5]).all(|(value, full)| (value - below(full)).abs() < 1e-5));
    let expected = Surface {
        diffuse_color: Input::of([0.1, 0.2, 0.3]),
        emissive_color: emission.clone(),
        metallic: Input::of(0.25),
        roughness: Input::of(0.35),
        clearcoat: Input::of(0.75),
        clearcoat_roughness: Input::of(0.05),
        opacity: Input::of(0.5),
        keeps_reflections: false,
        ior: 1.6,
        diffuse_transmission_color: Input::of([1.0; 3]),
        sheen_roughness: Input::of(0.3),
        film: Film { weight: Input::of(0.0), thickness: 0.0, ior: 1.5 },
        ..Surface::default()
    };
    assert_eq!(clean(STANDARD, inputs, ""), expected);
    // Arnold's shader has the same inputs.
    let stage = shaded("arnold:surface", "arnold:standard_surface", inputs, "");
    assert_eq!(surface(&stage), expected);
}

#[test]
fn a_standard_surface_without_inputs_has_the_defaults_of_materialx() {
    let surface = clean(STANDARD, "", "");
    assert_eq!(surface.diffuse_color, Input::of([0.8; 3]));
    assert_eq!((surface.roughness, surface.clearcoat_roughness), (Input::of(0.2), Input::of(0.1)));
    assert_eq!((surface.metallic, surface.ior), (Input::of(0.0), 1.5));
}

#[test]
fn glass_of_a_standard_surface_has_the_color_of_its_transmission() {
    let inputs = "
        float inputs:transmission = 1
        color3f inputs:transmission_color = (0.5, 0.75, 1)";
    let surface = clean(STANDARD, inputs, "");
    assert_eq!(surface.transmission, Input::of(1.0));
    assert_eq!(surface.diffuse_color, Input::of([0.5, 0.75, 1.0]));
}

#[test]
fn weaker_specular_reflections_are_a_weight_or_in_open_pbr_a_smaller_index_of_refraction() {
    let surface = clean(STANDARD, "float inputs:specular = 0.25", "");
    assert_eq!((surface.specular, surface.ior), (Input::of(0.25), 1.5));
    // A reflectance of 0.04 at normal incidence, a quarter of it, and the index for 0.01.
    let surface = clean(OPEN_PBR, "float inputs:specular_weight = 0.25", "");
    assert_eq!(surface.specular, Input::of(1.0));
    assert!((surface.ior - 1.1 / 0.9).abs() < 1e-5, "{}", surface.ior);
}

#[test]
fn an_open_pbr_surface_without_a_coat_keeps_its_values() {
    let inputs = "
        float inputs:base_weight = 0.5
        color3f inputs:base_color = (0.2, 0.4, 0.6)
        float inputs:specular_roughness = 0.6
        float inputs:specular_ior = 1.4
        float inputs:emission_luminance = 100
        color3f inputs:emission_color = (1, 0.5, 0)
        float inputs:fuzz_weight = 0.5
        float inputs:thin_film_weight = 0.25
        float inputs:geometry_opacity = 0.75";
    let expected = Surface {
        diffuse_color: Input::of([0.1, 0.2, 0.3]),
        emissive_color: Input::of([100.0, 50.0, 0.0]),
        roughness: Input::of(0.6),
        clearcoat_roughness: Input::of(0.0),
        opacity: Input::of(0.75),
        keeps_reflections: false,
        ior: 1.4,
        diffuse_transmission_color: Input::of([0.8; 3]),
        sheen_color: Input::of([0.5; 3]),
        sheen_roughness: Input::of(0.5),
        film: Film { weight: Input::of(0.25), thickness: 500.0, ior: 1.4 },
        ..Surface::default()
    };
    assert_eq!(clean(OPEN_PBR, inputs, ""), expected);
}

#[test]
fn a_coat_of_open_pbr_tints_darkens_and_roughens_what_is_below_it() {
    let inputs = "
        color3f inputs:base_color = (0.5, 0.5, 0.5)
        float inputs:coat_weight = 1
        color3f inputs:coat_color = (1, 0.5, 0.25)
        float inputs:coat_roughness = 0.3
        float inputs:coat_ior = 1.5";
    let surface = clean(OPEN_PBR, inputs, "");
    // K = 1 - (1 - 0.04) / 1.5², and the factor (1 - K) / (1 - 0.5 K).
    let kept = 1.0 - 0.96 / 2.25;
    let dark = (1.0 - kept) / (1.0 - 0.5 * kept);
    for (value, tint) in surface.diffuse_color.value.into_iter().zip([1.0, 0.5, 0.25]) {
        assert!((value - 0.5 * tint * dark).abs() < 1e-5, "{value}");
    }
    assert!((surface.roughness.value - (0.3_f32.powi(4) * 3.0).powf(0.25)).abs() < 1e-5);
    assert!((surface.clearcoat.value - 1.0).abs() < 1e-5);
    // The base has the coat's index of refraction, so nothing is reflected between them.
    assert_eq!(surface.ior, 1.0);
}

#[test]
fn thin_walls_of_open_pbr_let_a_part_of_the_scattered_light_pass() {
    let inputs = "
        bool inputs:geometry_thin_walled = 1
        color3f inputs:base_color = (0.2, 0.2, 0.2)
        float inputs:subsurface_weight = 0.5
        color3f inputs:subsurface_color = (0.4, 0.8, 0.4)";
    let surface = clean(OPEN_PBR, inputs, "");
    assert_eq!((surface.diffuse_transmission, surface.volume), (Input::of(0.25), None));
    assert_eq!(surface.diffuse_transmission_color, Input::of([0.4, 0.8, 0.4]));
    // Half of the light has the base colour, and a quarter the subsurface colour, of the three quarters that are reflected.
    let [r, g, _] = surface.diffuse_color.value;
    assert!((r * 0.75 - (0.1 + 0.1)).abs() < 1e-6 && (g * 0.75 - (0.1 + 0.2)).abs() < 1e-6, "{r} {g}");
}

#[test]
fn glass_of_open_pbr_is_a_volume_with_its_color_at_its_depth() {
    let inputs = "
        float inputs:transmission_weight = 1
        color3f inputs:transmission_color = (0.5, 1, 1)
        float inputs:transmission_depth = 2
        float inputs:transmission_dispersion_scale = 0.5
        float inputs:transmission_dispersion_abbe_number = 40";
    let surface = clean(OPEN_PBR, inputs, "");
    let volume = surface.volume.unwrap_or_default();
    assert!((volume.extinction[0] - 0.5_f32.ln() / -2.0).abs() < 1e-6 && volume.extinction[1] == 0.0);
    assert_eq!((surface.diffuse_color, surface.dispersion), (Input::of([1.0; 3]), 0.25));
}

#[test]
fn a_gltf_surface_becomes_the_nearest_preview_surface() {
    let inputs = "
        color3f inputs:base_color = (0.1, 0.2, 0.3)
        float inputs:metallic = 0.5
        float inputs:roughness = 0.4
        float inputs:transmission = 0.25
        float inputs:ior = 1.3
        float inputs:alpha = 0.75
        int inputs:alpha_mode = 1
        float inputs:alpha_cutoff = 0.6
        color3f inputs:emissive = (1, 2, 3)
        float inputs:emissive_strength = 2
        float inputs:clearcoat = 1
        float inputs:clearcoat_roughness = 0.125";
    let expected = Surface {
        diffuse_color: Input::of([0.1, 0.2, 0.3]),
        emissive_color: Input::of([2.0, 4.0, 6.0]),
        metallic: Input::of(0.5),
        roughness: Input::of(0.4),
        clearcoat: Input::of(1.0),
        clearcoat_roughness: Input::of(0.125),
        opacity: Input::of(0.75),
        opacity_threshold: 0.6,
        keeps_reflections: false,
        ior: 1.3,
        transmission: Input::of(0.25),
        film: Film { weight: Input::of(0.0), thickness: 100.0, ior: 1.3 },
        ..Surface::default()
    };
    assert_eq!(clean("ND_gltf_pbr_surfaceshader", inputs, ""), expected);
}

#[test]
fn materialx_has_a_preview_surface_as_well() {
    let surface = clean("ND_UsdPreviewSurface_surfaceshader", "float inputs:roughness = 0.125", "");
    assert_eq!(surface, Surface { roughness: Input::of(0.125), ..Surface::default() });
}

#[test]
fn the_universal_surface_is_preferred_and_known_shaders_to_unknown_ones() {
    let shaders = r#"
def Shader "Preview" { uniform token info:id = "UsdPreviewSurface" float inputs:roughness = 0.1 }
def Shader "Standard" { uniform token info:id = "ND_standard_surface_surfaceshader" float inputs:specular_roughness = 0.2 }
def Shader "Unknown" { uniform token info:id = "PxrSurface" }"#;
    let roughness = |outputs: &str| surface(&bound_stage(&format!("{outputs}\n{shaders}"))).roughness.value;
    let mtlx = "token outputs:mtlx:surface.connect = </M/Standard.outputs:out>";
    let universal = "token outputs:surface.connect = </M/Preview.outputs:surface>";
    let ri = "token outputs:ri:surface.connect = </M/Unknown.outputs:out>";
    assert_eq!(roughness(&format!("{mtlx}\n{universal}\n{ri}")), 0.1);
    assert_eq!(roughness(&format!("{ri}\n{mtlx}")), 0.2);
    let unknown = "token outputs:surface.connect = </M/Unknown.outputs:out>";
    assert_eq!(roughness(&format!("{unknown}\n{mtlx}")), 0.2);
}

#[test]
fn images_of_materialx_are_read_with_their_tiling() {
    let inputs = "
        color3f inputs:base_color.connect = </M/Image.outputs:out>
        float inputs:specular_roughness.connect = </M/Tiled.outputs:out>";
    let others = r#"
def Shader "Image" {
    uniform token info:id = "ND_image_color3"
    asset inputs:file = @a.png@
    color3f inputs:default = (0.5, 0.5, 0.5)
    string inputs:uaddressmode = "clamp"
    string inputs:vaddressmode = "constant"
    float2 inputs:texcoord.connect = </M/Second.outputs:out>
}
def Shader "Second" { uniform token info:id = "ND_geompropvalue_vector2" string inputs:geomprop = "UV2" }
def Shader "Tiled" {
    uniform token info:id = "ND_tiledimage_float"
    asset inputs:file = @b.png@
    float2 inputs:uvtiling = (4, 8)
    float2 inputs:uvoffset = (0.5, 0.25)
    float2 inputs:texcoord.connect = </M/First.outputs:out>
}
def Shader "First" { uniform token info:id = "ND_texcoord_vector2" }"#;
    let surface = clean(STANDARD, inputs, others);
    let color = read(&surface.diffuse_color);
    assert_eq!((color.picture, color.uvs.as_str(), color.space), (0, "UV2", TexelSpace::Auto));
    assert_eq!(color.wrap, [WrapMode::Clamp, WrapMode::Black]);
    let roughness = read(&surface.roughness);
    assert_eq!((roughness.picture, roughness.uvs.as_str(), roughness.space), (1, "", TexelSpace::Raw));
    assert_eq!(roughness.transform.transform_point2(Vec2::ONE), Vec2::new(3.5, 7.75));
}

#[test]
fn constants_change_what_an_image_gives() {
    let inputs = "color3f inputs:base_color.connect = </M/Mixed.outputs:out>";
    let others = r#"
def Shader "Mixed" {
    uniform token info:id = "ND_mix_color3"
    color3f inputs:fg.connect = </M/Product.outputs:out>
    color3f inputs:bg = (1, 1, 1)
    float inputs:mix = 0.25
}
def Shader "Product" {
    uniform token info:id = "ND_multiply_color3"
    color3f inputs:in1.connect = </M/Image.outputs:out>
    color3f inputs:in2.connect = </M/Tint.outputs:out>
}
def Shader "Tint" { uniform token info:id = "ND_constant_color3" color3f inputs:value = (0.5, 1, 2) }
def Shader "Image" { uniform token info:id = "ND_image_color3" asset inputs:file = @a.png@ }"#;
    let surface = clean(STANDARD, inputs, others);
    let color = read(&surface.diffuse_color);
    assert_eq!(color.scale[..3], [0.125, 0.25, 0.5]);
    assert_eq!(color.bias[..3], [0.75; 3]);
}

#[test]
fn single_channels_are_extracted_from_images() {
    let inputs = "
        float inputs:metalness.connect = </M/Parts.outputs:outb>
        float inputs:specular_roughness.connect = </M/Green.outputs:out>";
    let others = r#"
def Shader "Parts" { uniform token info:id = "ND_separate3_color3" color3f inputs:in.connect = </M/Image.outputs:out> }
def Shader "Green" { uniform token info:id = "ND_extract_color3" int inputs:index = 1 color3f inputs:in.connect = </M/Image.outputs:out> }
def Shader "Image" { uniform token info:id = "ND_image_color3" asset inputs:file = @a.png@ }"#;
    let surface = clean(STANDARD, inputs, others);
    assert_eq!((read(&surface.metallic).channel, read(&surface.roughness).channel), (2, 1));
}

#[test]
fn a_normal_map_of_materialx_is_scaled_and_shifted() {
    let inputs = "float3 inputs:normal.connect = </M/Map.outputs:out>";
    let others = r#"
def Shader "Map" {
    uniform token info:id = "ND_normalmap"
    float3 inputs:in.connect = </M/Image.outputs:out>
    float inputs:scale = 0.5
}
def Shader "Image" { uniform token info:id = "ND_image_vector3" asset inputs:file = @a.png@ }"#;
    let surface = clean(STANDARD, inputs, others);
    let normal = normal_of(&surface);
    assert_eq!((normal.scale[..3].to_vec(), normal.bias[..3].to_vec()), (vec![1.0, 1.0, 2.0], vec![-0.5, -0.5, -1.0]));
    assert_eq!(normal.space, TexelSpace::Raw);
}

#[test]
fn placements_of_materialx_turn_clockwise_around_their_pivot() {
    let inputs = "color3f inputs:base_color.connect = </M/Image.outputs:out>";
    let others = r#"
def Shader "Image" {
    uniform token info:id = "ND_image_color3"
    asset inputs:file = @a.png@
    float2 inputs:texcoord.connect = </M/Place.outputs:out>
}
def Shader "Place" {
    uniform token info:id = "ND_place2d_vector2"
    float2 inputs:pivot = (1, 0)
    float2 inputs:scale = (0.5, 0.25)
    float inputs:rotate = 90
    float2 inputs:offset = (10, 20)
}"#;
    let surface = clean(STANDARD, inputs, others);
    // (2, 1) - pivot = (1, 1), divided (2, 4), clockwise (4, -2), shifted (-6, -22), and the pivot again.
    let point = read(&surface.diffuse_color).transform.transform_point2(Vec2::new(2.0, 1.0));
    assert!(point.abs_diff_eq(Vec2::new(-5.0, -22.0), 1e-4), "{point}");
}

#[test]
fn images_of_arnold_are_read() {
    let inputs = "color3f inputs:base_color.connect = </M/Image.outputs:rgb>";
    let others = r#"
def Shader "Image" {
    uniform token info:id = "arnold:image"
    string inputs:filename = "a.png"
    string inputs:uvset = "UV2"
    string inputs:swrap = "black"
    float inputs:sscale = 2
    float inputs:toffset = 0.5
    color3f inputs:multiply = (0.5, 0.5, 0.5)
}"#;
    let stage = shaded("arnold:surface", "arnold:standard_surface", inputs, others);
    let surface = surface(&stage);
    let color = read(&surface.diffuse_color);
    assert_eq!((color.uvs.as_str(), color.wrap), ("UV2", [WrapMode::Black, WrapMode::Repeat]));
    assert_eq!(color.transform.transform_point2(Vec2::ONE), Vec2::new(2.0, 1.5));
    assert_eq!(color.scale[..3], [0.5; 3]);
    assert_eq!(stage.warnings(), Vec::<String>::new());
}

#[test]
fn constants_in_srgb_become_linear() {
    let inputs = "color3f inputs:base_color = (0.5, 0, 1) ( colorSpace = \"srgb_texture\" )";
    let [r, g, b] = clean(STANDARD, inputs, "").diffuse_color.value;
    assert!((r - 0.214_041).abs() < 1e-5 && g == 0.0 && (b - 1.0).abs() < 1e-6, "{r} {g} {b}");
}

#[test]
fn an_unknown_surface_gives_inputs_with_usual_names_and_one_warning_with_their_number() {
    let stage = TestStage::new(
        r#"
def Mesh "A" { rel material:binding = </M> }
def Mesh "B" { rel material:binding = </N> }
def Material "M" {
    token outputs:ri:surface.connect = </M/S.outputs:out>
    def Shader "S" {
        uniform token info:id = "PxrDisneyBsdf"
        color3f inputs:baseColor = (0.1, 0.2, 0.3)
        float inputs:roughness = 0.75
    }
}
def Material "N" (references = </M>) {}
"#,
    );
    let mut materials = super::Materials::new(&stage.values, &super::Pictures::default());
    ["/A", "/B"].iter().for_each(|path| _ = super::shown(&stage, &mut materials, path));
    let surface = materials.finish()[0].surface.clone();
    assert_eq!((surface.diffuse_color.value, surface.roughness.value), ([0.1, 0.2, 0.3], 0.75));
    let expected = "/M/S (and 1 other): surface shader PxrDisneyBsdf is not supported; similar inputs are used";
    assert_eq!(stage.warning(), expected);
}

#[test]
fn an_unknown_shader_passes_on_an_input_with_one_warning() {
    let inputs = "
        color3f inputs:base_color.connect = </M/Noise.outputs:out>
        float inputs:metalness.connect = </M/Noise.outputs:out>";
    let others = r#"
def Shader "Noise" { uniform token info:id = "ND_noise2d_color3" color3f inputs:value = (0.1, 0.2, 0.3) }"#;
    let stage = shaded("mtlx:surface", STANDARD, inputs, others);
    assert_eq!(surface(&stage).diffuse_color, Input::of([0.1, 0.2, 0.3]));
    let expected = "/M/Noise: shader ND_noise2d_color3 is not supported in full; one of its inputs is used";
    assert_eq!(stage.warning(), expected);
}

#[test]
fn parts_that_are_left_out_are_named() {
    let stage = shaded("mtlx:surface", STANDARD, "float inputs:diffuse_roughness = 0.5", "");
    surface(&stage);
    assert_eq!(stage.warning(), "/M/Surface: diffuse roughness is left out");
}

#[test]
fn omnipbr_is_read_with_its_textures() {
    let stage = bound_stage(
        r#"
token outputs:mdl:surface.connect = </M/Surface.outputs:out>
def Shader "Surface" {
    uniform token info:implementationSource = "sourceAsset"
    uniform asset info:mdl:sourceAsset = @OmniPBR.mdl@
    uniform token info:mdl:sourceAsset:subIdentifier = "OmniPBR"
    asset inputs:diffuse_texture = @a.png@ ( colorSpace = "sRGB" )
    asset inputs:normalmap_texture = @b.png@
    float inputs:reflection_roughness_constant = 0.25
    float inputs:metallic_constant = 1
    bool inputs:enable_emission = true
    color3f inputs:emissive_color = (1, 0.5, 0)
    float inputs:emissive_intensity = 10
    token outputs:out
}"#,
    );
    let surface = surface(&stage);
    let color = read(&surface.diffuse_color);
    assert_eq!((color.picture, color.space), (0, TexelSpace::Srgb));
    let normal = normal_of(&surface).clone();
    assert_eq!((surface.roughness, surface.metallic), (Input::of(0.25), Input::of(1.0)));
    assert_eq!(surface.emissive_color, Input::of([10.0, 5.0, 0.0]));
    assert_eq!((normal.picture, normal.space, normal.scale[0], normal.bias[0]), (1, TexelSpace::Raw, 2.0, -1.0));
    assert_eq!(stage.warnings(), Vec::<String>::new());
}

#[test]
fn a_surface_that_only_emits_reflects_nothing() {
    let surface = clean("ND_surface_unlit", "color3f inputs:emission_color = (1, 0.5, 0)", "");
    assert_eq!((surface.diffuse_color, surface.emissive_color), (Input::of([0.0; 3]), Input::of([1.0, 0.5, 0.0])));
    assert_eq!(surface.ior, 1.0);
}

#[test]
fn mixed_surfaces_become_the_one_in_front_with_a_warning() {
    let others = r#"
def Shader "Front" { uniform token info:id = "ND_standard_surface_surfaceshader" float inputs:specular_roughness = 0.7 }"#;
    let stage =
        shaded("mtlx:surface", "ND_mix_surfaceshader", "token inputs:fg.connect = </M/Front.outputs:out>", others);
    assert_eq!(surface(&stage).roughness, Input::of(0.7));
    let expected = "/M/Surface: surface shader ND_mix_surfaceshader is not supported; similar inputs are used";
    assert_eq!(stage.warning(), expected);
}

//! Networks of USD's own shaders.

use super::{bound_stage, material, read, surface};
use crate::{Input, Source, Surface, TexelSpace, WrapMode, reader::test_stage::TestStage};
use glam::{Affine2, Vec2};

/// A preview surface with these inputs, and other shaders of `/M`.
fn preview(inputs: &str, others: &str) -> TestStage {
    bound_stage(&format!(
        r#"
token outputs:surface.connect = </M/Surface.outputs:surface>
def Shader "Surface" {{
    uniform token info:id = "UsdPreviewSurface"
    {inputs}
    token outputs:surface
}}
{others}"#
    ))
}

/// The surface of a clean network.
fn clean(inputs: &str, others: &str) -> Surface {
    let stage = preview(inputs, others);
    let surface = surface(&stage);
    assert_eq!(stage.warnings(), Vec::<String>::new());
    surface
}

#[test]
fn a_preview_surface_without_inputs_has_the_defaults_of_its_specification() {
    assert_eq!(clean("", ""), Surface::default());
}

#[test]
fn constants_of_all_inputs_are_read() {
    let inputs = "
        color3f inputs:diffuseColor = (0.1, 0.2, 0.3)
        color3f inputs:emissiveColor = (1, 2, 3)
        int inputs:useSpecularWorkflow = 1
        color3f inputs:specularColor = (0.4, 0.5, 0.6)
        float inputs:metallic = 0.25
        float inputs:roughness = 0.75
        float inputs:clearcoat = 0.5
        float inputs:clearcoatRoughness = 0.125
        float inputs:opacity = 0.625
        float inputs:opacityThreshold = 0.375
        token inputs:opacityMode = \"presence\"
        float inputs:ior = 1.25
        normal3f inputs:normal = (0, 0, 1)";
    let expected = Surface {
        diffuse_color: Input::of([0.1, 0.2, 0.3]),
        emissive_color: Input::of([1.0, 2.0, 3.0]),
        specular_color: Some(Input::of([0.4, 0.5, 0.6])),
        metallic: Input::of(0.25),
        roughness: Input::of(0.75),
        clearcoat: Input::of(0.5),
        clearcoat_roughness: Input::of(0.125),
        opacity: Input::of(0.625),
        opacity_threshold: 0.375,
        keeps_reflections: false,
        ior: 1.25,
        ..Surface::default()
    };
    assert_eq!(clean(inputs, ""), expected);
}

const TEXTURE: &str = r#"
def Shader "Texture" {
    uniform token info:id = "UsdUVTexture"
    asset inputs:file = @a.png@
    float4 inputs:scale = (2, 3, 4, 5)
    float4 inputs:bias = (-1, -2, -3, -4)
    float4 inputs:fallback = (0.5, 0.25, 0.125, 1)
    token inputs:wrapS = "clamp"
    token inputs:wrapT = "mirror"
    token inputs:sourceColorSpace = "sRGB"
    float2 inputs:st.connect = </M/Reader.outputs:result>
    float3 outputs:rgb
    float outputs:g
}
def Shader "Reader" {
    uniform token info:id = "UsdPrimvarReader_float2"
    string inputs:varname = "map1"
    float2 outputs:result
}
"#;

#[test]
fn textures_are_read_with_all_their_settings() {
    let inputs = "
        color3f inputs:diffuseColor.connect = </M/Texture.outputs:rgb>
        float inputs:roughness.connect = </M/Texture.outputs:g>
        normal3f inputs:normal.connect = </M/Texture.outputs:rgb>";
    let surface = clean(inputs, TEXTURE);
    let color = read(&surface.diffuse_color);
    assert_eq!((color.picture, color.channel), (0, 0));
    assert_eq!(color.scale, [2.0, 3.0, 4.0, 5.0]);
    assert_eq!(color.bias, [-1.0, -2.0, -3.0, -4.0]);
    assert_eq!(color.fallback, [0.5, 0.25, 0.125, 1.0]);
    assert_eq!(color.wrap, [WrapMode::Clamp, WrapMode::Mirror]);
    assert_eq!(color.space, TexelSpace::Srgb);
    assert_eq!(color.uvs, "map1");
    assert_eq!(color.transform, Affine2::IDENTITY);
    // fallback · scale + bias
    assert_eq!(surface.diffuse_color.value, [0.0, -1.25, -2.5]);
    assert_eq!(read(&surface.roughness).channel, 1);
    assert_eq!(surface.roughness.value, -1.25);
    assert_eq!(surface.normal.as_ref(), Some(&Source::Picture(color.clone())));
}

#[test]
fn defaults_of_a_texture_are_those_of_its_specification() {
    let texture = r#"
def Shader "Texture" {
    uniform token info:id = "UsdUVTexture"
    asset inputs:file = @a.png@
}"#;
    let surface = clean("float inputs:opacity.connect = </M/Texture.outputs:a>", texture);
    let opacity = read(&surface.opacity);
    assert_eq!(opacity.channel, 3);
    assert_eq!((opacity.scale, opacity.bias), ([1.0; 4], [0.0; 4]));
    assert_eq!(opacity.wrap, [WrapMode::Repeat; 2]);
    assert_eq!((opacity.space, opacity.uvs.as_str()), (TexelSpace::Auto, ""));
}

#[test]
fn the_color_space_of_a_file_is_also_read_from_its_metadata() {
    let texture = |space: &str| {
        format!(
            r#"
def Shader "Texture" {{
    uniform token info:id = "UsdUVTexture"
    asset inputs:file = @a.png@ ( colorSpace = "{space}" )
}}"#
        )
    };
    let space = |name| {
        let surface = clean("color3f inputs:diffuseColor.connect = </M/Texture.outputs:rgb>", &texture(name));
        read(&surface.diffuse_color).space
    };
    assert_eq!(space("srgb_texture"), TexelSpace::Srgb);
    assert_eq!(space("sRGB"), TexelSpace::Srgb);
    assert_eq!(space("raw"), TexelSpace::Raw);
    assert_eq!(space("lin_rec709"), TexelSpace::Raw);
    assert_eq!(space("auto"), TexelSpace::Auto);
}

#[test]
fn transforms_of_coordinates_scale_then_turn_then_shift_and_form_chains() {
    let others = r#"
def Shader "Texture" {
    uniform token info:id = "UsdUVTexture"
    asset inputs:file = @a.png@
    float2 inputs:st.connect = </M/Outer.outputs:result>
}
def Shader "Outer" {
    uniform token info:id = "UsdTransform2d"
    float2 inputs:in.connect = </M/Inner.outputs:result>
    float2 inputs:translation = (10, 20)
}
def Shader "Inner" {
    uniform token info:id = "UsdTransform2d"
    float2 inputs:in.connect = </M/Reader.outputs:result>
    float inputs:rotation = 90
    float2 inputs:scale = (2, 3)
    float2 inputs:translation = (0.5, 0.25)
}
def Shader "Reader" {
    uniform token info:id = "UsdPrimvarReader_float2"
    token inputs:varname = "st"
}"#;
    let surface = clean("color3f inputs:diffuseColor.connect = </M/Texture.outputs:rgb>", others);
    let read = read(&surface.diffuse_color);
    assert_eq!(read.uvs, "st");
    // (1, 1) · (2, 3) = (2, 3), a quarter turn counter-clockwise gives (-3, 2), and both shifts (7.5, 22.25).
    let point = read.transform.transform_point2(Vec2::ONE);
    assert!(point.abs_diff_eq(Vec2::new(7.5, 22.25), 1e-5), "{point}");
}

#[test]
fn a_texture_with_constant_coordinates_is_read_at_one_place() {
    let texture = r#"
def Shader "Texture" {
    uniform token info:id = "UsdUVTexture"
    asset inputs:file = @a.png@
    float2 inputs:st = (0.25, 0.75)
}"#;
    let surface = clean("color3f inputs:diffuseColor.connect = </M/Texture.outputs:rgb>", texture);
    let transform = read(&surface.diffuse_color).transform;
    assert_eq!(transform.transform_point2(Vec2::new(5.0, 7.0)), Vec2::new(0.25, 0.75));
}

#[test]
fn interfaces_of_materials_and_node_graphs_are_followed() {
    let stage = bound_stage(
        r#"
float inputs:rough = 0.3
string inputs:set = "UVMap"
color3f inputs:tint = (0.1, 0.2, 0.3)
token outputs:surface.connect = </M/Graph.outputs:shaded>
def NodeGraph "Graph" {
    float inputs:inner.connect = </M.inputs:rough>
    string inputs:innerSet.connect = </M.inputs:set>
    token outputs:shaded.connect = </M/Graph/Surface.outputs:surface>
    float3 outputs:tinted.connect = </M.inputs:tint>
    def Shader "Surface" {
        uniform token info:id = "UsdPreviewSurface"
        float inputs:roughness.connect = </M/Graph.inputs:inner>
        color3f inputs:emissiveColor.connect = </M/Graph.outputs:tinted>
        color3f inputs:diffuseColor.connect = </M/Graph/Texture.outputs:rgb>
    }
    def Shader "Texture" {
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @a.png@
        float2 inputs:st.connect = </M/Graph/Reader.outputs:result>
    }
    def Shader "Reader" {
        uniform token info:id = "UsdPrimvarReader_float2"
        string inputs:varname.connect = </M/Graph.inputs:innerSet>
    }
}"#,
    );
    let surface = surface(&stage);
    assert_eq!(surface.roughness, Input::of(0.3));
    assert_eq!(surface.emissive_color, Input::of([0.1, 0.2, 0.3]));
    assert_eq!(read(&surface.diffuse_color).uvs, "UVMap");
    assert_eq!(stage.warnings(), Vec::<String>::new());
}

#[test]
fn a_missing_source_leaves_the_value_of_the_input() {
    let inputs = "
        float inputs:roughness = 0.3
        float inputs:roughness.connect = </M/Missing.outputs:g>";
    assert_eq!(clean(inputs, "").roughness, Input::of(0.3));
}

#[test]
fn colors_of_the_mesh_are_a_source() {
    let inputs = "
        color3f inputs:diffuseColor.connect = </M/Color.outputs:result>
        float inputs:opacity.connect = </M/Opacity.outputs:result>";
    let others = r#"
def Shader "Color" {
    uniform token info:id = "UsdPrimvarReader_float3"
    string inputs:varname = "displayColor"
    float3 inputs:fallback = (0.1, 0.2, 0.3)
}
def Shader "Opacity" {
    uniform token info:id = "UsdPrimvarReader_float"
    string inputs:varname = "displayOpacity"
}"#;
    let surface = clean(inputs, others);
    assert_eq!(surface.diffuse_color, Input { value: [0.1, 0.2, 0.3], source: Some(Source::display()) });
    assert_eq!(surface.opacity.source, Some(Source::display()));
}

#[test]
fn other_primvars_become_their_fallback_with_one_warning() {
    let stage = preview(
        "color3f inputs:diffuseColor.connect = </M/Color.outputs:result>",
        r#"
def Shader "Color" {
    uniform token info:id = "UsdPrimvarReader_float3"
    string inputs:varname = "heat"
    float3 inputs:fallback = (0.1, 0.2, 0.3)
}"#,
    );
    assert_eq!(surface(&stage).diffuse_color, Input::of([0.1, 0.2, 0.3]));
    assert_eq!(stage.warning(), "/M/Color: materials cannot read primvar `heat`; its fallback is used");
}

#[test]
fn circles_of_connections_end_with_a_warning() {
    let stage = preview(
        "
        float inputs:roughness.connect = </M.inputs:a>
        float inputs:metallic.connect = </M/Loop.outputs:out>",
        r#"
def Shader "Loop" {
    uniform token info:id = "ND_multiply_float"
    float inputs:in1.connect = </M/Loop.outputs:out>
    float inputs:in2.connect = </M/Loop.outputs:out>
}
float inputs:a.connect = </M.inputs:b>
float inputs:b.connect = </M.inputs:a>"#,
    );
    let surface = surface(&stage);
    assert_eq!((surface.roughness, surface.metallic), (Input::of(0.5), Input::of(0.0)));
    let warnings = stage.warnings();
    assert!(warnings[0].contains("form a circle"), "{warnings:?}");
    assert_eq!(warnings[1], "/M/Loop: the network has a circle or is too large; a default is used");
    assert_eq!(warnings.len(), 2);
}

#[test]
fn values_that_are_no_numbers_are_replaced_by_defaults() {
    let inputs = "
        float inputs:roughness = nan
        color3f inputs:diffuseColor = (inf, 0, 0)
        string inputs:metallic = \"much\"";
    let surface = surface(&preview(inputs, ""));
    assert_eq!(surface, Surface::default());
}

#[test]
fn animated_inputs_hold_their_first_value_with_one_warning() {
    let stage = preview("float inputs:roughness.timeSamples = { 1: 0.25, 2: 0.5 }", "");
    assert_eq!(surface(&stage).roughness, Input::of(0.25));
    let warning = stage.warning();
    let expected = "/M/Surface.inputs:roughness: inputs of materials cannot change over time; the first value is used";
    assert_eq!(warning, expected);
}

#[test]
fn a_material_without_a_surface_is_grey_with_a_warning() {
    let stage = bound_stage("");
    assert_eq!(material(&stage, "/Mesh").map(|material| material.surface), Some(Surface::default()));
    assert_eq!(stage.warning(), "/M: the material has no surface shader; a grey one is used");
}

#[test]
fn displacement_is_an_input_or_a_shader_of_its_own() {
    let output = "token outputs:displacement.connect = </M/Surface.outputs:displacement>";
    assert_eq!(clean("float inputs:displacement = -0.25", output).displacement, Input::of(-0.25));
    assert_eq!(clean("float inputs:displacement = 0.5", "").displacement, Input::of(0.5));
    let picture = r#"def Shader "T" {
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @a.png@
        float4 inputs:scale = (2, 3, 4, 5)
        float4 inputs:bias = (-1, -1.5, -2, 0)
        float outputs:g
    }"#;
    let surface = clean("float inputs:displacement.connect = </M/T.outputs:g>", picture);
    let height = read(&surface.displacement);
    assert_eq!((height.channel, height.scale[1], height.bias[1]), (1, 3.0, -1.5));
    let node = r#"token outputs:mtlx:displacement.connect = </M/D.outputs:out>
    def Shader "D" {
        uniform token info:id = "ND_displacement_float"
        float inputs:displacement = 0.5
        float inputs:scale = 0.25
        token outputs:out
    }"#;
    assert_eq!(clean("", node).displacement, Input::of(0.125));
    let stage = preview("", &node.replace("_float", "_vector3"));
    assert_eq!(super::surface(&stage).displacement, Input::of(0.0));
    assert!(
        stage.warnings()[0].ends_with("displacement by ND_displacement_vector3 is left out"),
        "{:?}",
        stage.warnings()
    );
}

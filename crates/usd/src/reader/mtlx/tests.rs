//! Documents as layers of a stage, with the materials that they become.

use crate::{
    Computed, Input, Material, Operation, Read, Source, StageError, StageOptions, Surface, TexelSpace,
    reader::{
        materials::{Bound, Materials},
        pictures::Pictures,
        test_stage::TestStage,
    },
};

/// A stage that references the material `M` of a document with this content, and binds it to `/Mesh`.
fn stage_of(content: &str, others: &[(&str, &[u8])]) -> TestStage {
    let document = document(content);
    let text = r#"
def Mesh "Mesh" { rel material:binding = </M> }
def "M" (references = @./m.mtlx@</MaterialX/Materials/M>) {}"#;
    let mut files: Vec<(&str, &[u8])> = vec![("stage/m.mtlx", document.as_bytes()), ("stage/tex/a.png", b"a")];
    files.extend([("stage/tex/b.png", &b"b"[..]), ("stage/tex/c.png", b"c")]);
    files.extend(others);
    TestStage::with_files(text, &files)
}

fn document(content: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<materialx version=\"1.38\" xmlns:xi=\"http://www.w3.org/2001/XInclude\">\n{content}\n</materialx>"
    )
}

fn material_of(stage: &TestStage) -> Material {
    let mut materials = Materials::new(&stage.values, &Pictures::default());
    let mesh = stage.prim("/Mesh");
    let bound = materials.bind(&mesh, &Bound::default());
    let index = materials.bound(&mesh, &bound);
    materials.finish().into_iter().nth(index as usize).expect("a material")
}

fn surface(content: &str) -> Surface {
    let stage = stage_of(content, &[]);
    let surface = material_of(&stage).surface;
    assert_eq!(stage.warnings(), Vec::<String>::new());
    surface
}

fn read<T>(input: &Input<T>) -> &Read {
    match &input.source {
        Some(Source::Picture(read)) => read,
        other => panic!("no picture: {other:?}"),
    }
}

const MATERIAL: &str = r#"<surfacematerial name="M" type="material">
  <input name="surfaceshader" type="surfaceshader" nodename="S" />
</surfacematerial>"#;

/// A standard surface with these inputs, and what is beside it.
fn standard(inputs: &str, beside: &str) -> String {
    format!("{beside}<standard_surface name=\"S\" type=\"surfaceshader\">{inputs}</standard_surface>{MATERIAL}")
}

/// The error of a stage whose root layer is the document.
fn error_of(content: &str, others: &[(&str, &str)]) -> StageError {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, content) in others {
        std::fs::write(folder.path().join(name), content).expect("a file");
    }
    let path = folder.path().join("m.mtlx");
    std::fs::write(&path, content).expect("a file");
    crate::reader::read(&path, &StageOptions::default()).expect_err("an error")
}

#[test]
fn values_of_a_surface_are_inputs_of_its_material() {
    let content = standard(
        r#"<input name="base_color" type="color3" value="0.2, 0.4, 0.6" />
        <input name="base" type="float" value="0.5" />
        <input name="specular_roughness" type="float" value="0.75" />"#,
        "",
    );
    let stage = stage_of(&content, &[]);
    let surface = material_of(&stage).surface;
    assert_eq!((surface.diffuse_color, surface.roughness), (Input::of([0.1, 0.2, 0.3]), Input::of(0.75)));
    assert!(stage.values.has(&stage.prim("/M"), "inputs:base_color"), "a stage may override it there");
}

#[test]
fn graphs_are_followed_with_prefixes_of_files_and_color_spaces() {
    let graph = r#"<nodegraph name="G" colorspace="srgb_texture" fileprefix="tex/">
        <input name="amount" type="float" value="0.5" />
        <image name="color" type="color3"><input name="file" type="filename" value="a.png" /></image>
        <image name="grey" type="float"><input name="file" type="filename" value="b.png" /></image>
        <multiply name="less" type="color3">
            <input name="in1" type="color3" nodename="color" />
            <input name="in2" type="float" interfacename="amount" />
        </multiply>
        <output name="color_out" type="color3" nodename="less" />
        <output name="grey_out" type="float" nodename="grey" />
    </nodegraph>"#;
    let inputs = r#"<input name="base_color" type="color3" nodegraph="G" output="color_out" />
        <input name="metalness" type="float" nodegraph="G" output="grey_out" />"#;
    let surface = surface(&standard(inputs, graph));
    let color = read(&surface.diffuse_color);
    assert_eq!((color.space, color.scale[..3].to_vec()), (TexelSpace::Srgb, vec![0.5; 3]));
    let metal = read(&surface.metallic);
    assert_eq!((metal.space, metal.channel), (TexelSpace::Raw, 0));
}

#[test]
fn nodes_outside_of_graphs_are_read() {
    let beside = r#"<image name="color" type="color3"><input name="file" type="filename" value="tex/a.png" /></image>
        <extract name="red" type="float"><input name="in" type="color3" nodename="color" /></extract>"#;
    let inputs = r#"<input name="specular_roughness" type="float" nodename="red" />"#;
    let surface = surface(&standard(inputs, beside));
    assert_eq!(read(&surface.roughness).channel, 0);
}

#[test]
fn combined_pictures_become_a_value_to_be_computed() {
    let graph = r#"<nodegraph name="G">
        <tiledimage name="a" type="color3"><input name="file" type="filename" value="tex/a.png" />
            <input name="uvtiling" type="vector2" value="4, 4" /></tiledimage>
        <image name="b" type="color3"><input name="file" type="filename" value="tex/b.png" /></image>
        <image name="c" type="float"><input name="file" type="filename" value="tex/c.png" /></image>
        <mix name="m" type="color3"><input name="fg" type="color3" nodename="a" />
            <input name="bg" type="color3" nodename="b" /><input name="mix" type="float" nodename="c" /></mix>
        <output name="out" type="color3" nodename="m" />
    </nodegraph>"#;
    let surface = surface(&standard(r#"<input name="base_color" type="color3" nodegraph="G" />"#, graph));
    let Some(Source::Computed(computed)) = surface.diffuse_color.source else { panic!() };
    let Computed::Apply(Operation::Mix, parts) = &*computed else { panic!("{computed:?}") };
    assert!(matches!(parts[..], [Computed::Picture(_), Computed::Picture(_), Computed::Channel(_)]), "{parts:?}");
    assert_eq!(computed.reads()[0].transform.matrix2.x_axis.x, 4.0);
}

#[test]
fn pictures_of_wide_color_spaces_are_converted() {
    let image = |space: &str| {
        let image = format!(
            r#"<image name="i" type="color3"><input name="file" type="filename" value="tex/a.png" colorspace="{space}" /></image>"#
        );
        surface(&standard(r#"<input name="base_color" type="color3" nodename="i" />"#, &image)).diffuse_color
    };
    assert_eq!(read(&image("lin_rec709")).space, TexelSpace::Raw);
    let Some(Source::Computed(computed)) = image("acescg").source else { panic!() };
    assert!(matches!(&*computed, Computed::Apply(Operation::Matrix(_), _)), "{computed:?}");
    assert_eq!(computed.reads()[0].space, TexelSpace::Raw);
}

#[test]
fn nodes_that_a_document_defines_are_their_graphs() {
    let beside = r#"<nodedef name="ND_half" node="half"><input name="x" type="float" value="0.5" /><output name="y" type="float" /></nodedef>
        <nodegraph name="NG_half" nodedef="ND_half">
            <multiply name="m" type="float"><input name="in1" type="float" interfacename="x" /><input name="in2" type="float" value="0.5" /></multiply>
            <output name="y" type="float" nodename="m" />
        </nodegraph>
        <half name="h" type="float"><input name="x" type="float" value="0.25" /></half>
        <half name="plain" type="float" />"#;
    let inputs =
        r#"<input name="metalness" type="float" nodename="h" /><input name="coat" type="float" nodename="plain" />"#;
    let surface = surface(&standard(inputs, beside));
    assert_eq!((surface.metallic, surface.clearcoat), (Input::of(0.125), Input::of(0.25)));
}

#[test]
fn nodes_that_contain_themselves_are_unknown() {
    let beside = r#"<nodedef name="ND_loop" node="loop"><output name="out" type="float" /></nodedef>
        <nodegraph name="NG_loop" nodedef="ND_loop"><loop name="m" type="float" /><output name="out" type="float" nodename="m" /></nodegraph>
        <loop name="h" type="float" />"#;
    let stage = stage_of(&standard(r#"<input name="metalness" type="float" nodename="h" />"#, beside), &[]);
    assert_eq!(material_of(&stage).surface.metallic, Input::of(0.0));
    let expected =
        "/M/NodeGraphs/h (m.mtlx:5): shader ND_loop_float is not supported in full; one of its inputs is used";
    assert_eq!(stage.warning(), expected);
}

#[test]
fn included_documents_have_their_own_folder() {
    let inner = document(
        r#"<image name="i" type="color3"><input name="file" type="filename" value="in.png" colorspace="srgb_texture" /></image>"#,
    );
    let content = format!(
        "<xi:include href=\"sub/inner.mtlx\" />{}",
        standard(r#"<input name="base_color" type="color3" nodename="i" />"#, "")
    );
    let stage = stage_of(&content, &[("stage/sub/inner.mtlx", inner.as_bytes()), ("stage/sub/in.png", b"i")]);
    assert_eq!(read(&material_of(&stage).surface.diffuse_color).space, TexelSpace::Srgb);
    assert_eq!(stage.warnings(), Vec::<String>::new());
}

#[test]
fn materials_of_old_documents_are_read() {
    let content = r#"<material name="M">
        <shaderref name="S" node="standard_surface">
            <bindinput name="metalness" type="float" value="0.5" />
        </shaderref>
    </material>"#;
    assert_eq!(surface(content).metallic, Input::of(0.5));
}

#[test]
fn errors_name_the_line_of_the_document() {
    let broken = error_of("<?xml version=\"1.0\"?>\n<materialx>\n  <image>\n</materialx>", &[]);
    assert_eq!(broken.place.map(|(line, _)| line), Some(4), "{broken}");
    assert!(broken.message.starts_with("the XML is damaged: "), "{broken}");
    let value = error_of(
        &document(
            "\n<constant name=\"c\" type=\"color3\">\n<input name=\"value\" type=\"color3\" value=\"1, 2\" /></constant>",
        ),
        &[],
    );
    assert_eq!(value.message, "`1, 2` of value is no color3: write 3 numbers with commas between them");
    assert_eq!(value.place, Some((5, 1)));
    let missing = error_of(&document("<xi:include href=\"none.mtlx\" />"), &[]);
    assert_eq!(missing.message, "the document includes none.mtlx, which does not exist");
    let other = error_of("<html></html>", &[]);
    assert_eq!(other.message, "this is no MaterialX document, whose root is `materialx`");
}

#[test]
fn documents_that_include_themselves_are_errors() {
    let b = document("<xi:include href=\"m.mtlx\" />");
    let circle = error_of(&document("<xi:include href=\"b.mtlx\" />"), &[("b.mtlx", &b)]);
    assert_eq!(circle.message, "the document includes m.mtlx, which includes it again");
    assert!(circle.file.ends_with("b.mtlx"), "{circle}");
}

#[test]
fn looks_are_left_out_with_a_remark() {
    let content = "<look name=\"l\" /><look name=\"k\" />";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("m.mtlx");
    std::fs::write(&path, document(content)).expect("a file");
    let stage = crate::reader::read(&path, &StageOptions::default()).expect("a stage");
    let expected = "m.mtlx:3: <look> of a MaterialX document is left out (2 in all); bind materials in the stage";
    assert_eq!(stage.warnings, [expected]);
}

#[test]
fn circles_of_nodes_end_with_a_warning() {
    let graph = r#"<nodegraph name="G"><add name="a" type="float"><input name="in1" type="float" nodename="b" /></add>
        <add name="b" type="float"><input name="in1" type="float" nodename="a" /></add><output name="out" type="float" nodename="a" /></nodegraph>"#;
    let stage = stage_of(&standard(r#"<input name="metalness" type="float" nodegraph="G" />"#, graph), &[]);
    assert_eq!(material_of(&stage).surface.metallic, Input::of(0.0));
    let warning = stage.warning();
    assert!(warning.ends_with("the network has a circle or is too large; a default is used"), "{warning}");
}

#[test]
fn displacement_of_a_document_is_scaled_and_vectors_are_left_out() {
    let content = |kind: &str, value: &str| {
        format!(
            r#"<image name="h" type="float"><input name="file" type="filename" value="tex/a.png" /></image>
<displacement name="D" type="displacementshader">
  <input name="displacement" type="{kind}" {value} /><input name="scale" type="float" value="0.5" />
</displacement>
<standard_surface name="S" type="surfaceshader" />
<surfacematerial name="M" type="material">
  <input name="surfaceshader" type="surfaceshader" nodename="S" />
  <input name="displacementshader" type="displacementshader" nodename="D" />
</surfacematerial>"#
        )
    };
    assert_eq!(surface(&content("float", r#"value="0.25""#)).displacement, Input::of(0.125));
    let height = surface(&content("float", r#"nodename="h""#)).displacement;
    assert_eq!((read(&height).scale, read(&height).channel), ([0.5; 4], 0));
    let stage = stage_of(&content("vector3", r#"value="0, 1, 0""#), &[]);
    assert_eq!(material_of(&stage).surface.displacement, Input::of(0.0));
    assert!(
        stage.warnings()[0].contains("displacement by ND_displacement_vector3 is left out"),
        "{:?}",
        stage.warnings()
    );
}

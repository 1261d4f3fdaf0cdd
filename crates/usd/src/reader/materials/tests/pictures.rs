//! Pictures that networks name.

use super::{bound_text, material, read, shown};
use crate::{
    Asset, NONE,
    reader::{materials::Materials, pictures::Pictures, test_stage::TestStage},
};

/// A material whose colour and roughness read these files.
fn textured(color: &str, roughness: &str) -> String {
    let texture = |name: &str, file: &str| {
        format!(
            "def Shader \"{name}\" {{\n uniform token info:id = \"UsdUVTexture\"\n asset inputs:file = @{file}@\n }}"
        )
    };
    bound_text(&format!(
        r#"
token outputs:surface.connect = </M/Surface.outputs:surface>
def Shader "Surface" {{
    uniform token info:id = "UsdPreviewSurface"
    color3f inputs:diffuseColor.connect = </M/Color.outputs:rgb>
    float inputs:roughness.connect = </M/Roughness.outputs:r>
}}
{}
{}"#,
        texture("Color", color),
        texture("Roughness", roughness)
    ))
}

/// The pictures of a stage, and the names of those that are missing.
fn pictures(stage: &TestStage) -> (Vec<Asset>, Vec<String>) {
    let pictures = Pictures::default();
    let mut materials = Materials::new(&stage.values, &pictures);
    assert_ne!(shown(stage, &mut materials, "/Mesh"), NONE);
    pictures.finish()
}

#[test]
fn a_picture_that_is_named_twice_is_one() {
    let stage = TestStage::with_files(&textured("a.png", "./a.png"), &[("stage/a.png", b"a")]);
    let (assets, missing) = pictures(&stage);
    let [asset] = &assets[..] else { panic!("{assets:?}") };
    assert!(asset.path.ends_with("stage/a.png") && asset.path.is_absolute(), "{asset:?}");
    assert_eq!((asset.bytes.clone(), asset.tiles.len(), missing.len()), (None, 0, 0));
}

#[test]
fn a_missing_picture_is_one_warning_and_leaves_defaults() {
    let stage = TestStage::new(&textured("textures/no.png", "textures/no.png"));
    let surface = material(&stage, "/Mesh").expect("a material").surface;
    assert_eq!((surface.diffuse_color.value, surface.diffuse_color.source), ([0.18; 3], None));
    assert_eq!(stage.warning(), "/M/Color.inputs:file: picture textures/no.png does not exist");
    assert_eq!(pictures(&stage).1, ["textures/no.png"]);
}

#[test]
fn the_fallback_stands_for_a_missing_picture() {
    let text =
        textured("no.png", "no.png").replacen("@no.png@", "@no.png@\n float4 inputs:fallback = (0.1, 0.2, 0.3, 1)", 1);
    let stage = TestStage::new(&text);
    let surface = material(&stage, "/Mesh").expect("a material").surface;
    assert_eq!((surface.diffuse_color.value, surface.roughness.value), ([0.1, 0.2, 0.3], 0.5));
}

#[test]
fn a_picture_outside_of_the_folder_is_left_out_and_the_warning_tells_how_to_permit_it() {
    let stage = TestStage::with_files(
        &textured("../outside/a.png", "b.png"),
        &[("outside/a.png", b"a"), ("stage/b.png", b"b")],
    );
    let (assets, missing) = pictures(&stage);
    assert_eq!((assets.len(), missing), (1, vec!["../outside/a.png".to_owned()]));
    let warning = stage.warning();
    let folder = stage.folder.path().join("outside");
    let expected = format!(
        "/M/Color.inputs:file: picture ../outside/a.png is outside of the stage's folder and left out; permit it with `--allow-dir {}`",
        folder.display()
    );
    assert_eq!(warning, expected);
    assert_eq!(stage.values.files().refused(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn tiles_of_a_picture_are_found() {
    let stage = TestStage::with_files(
        &textured("maps/skin.<UDIM>.png", "maps/none.<UDIM>.png"),
        &[
            ("stage/maps/skin.1011.png", b""),
            ("stage/maps/skin.1001.png", b""),
            ("stage/maps/skin.900.png", b""),
            ("stage/maps/skin.1001.png.bak", b""),
            ("stage/maps/other.1002.png", b""),
        ],
    );
    let (assets, missing) = pictures(&stage);
    let [asset] = &assets[..] else { panic!("{assets:?}") };
    assert!(asset.path.ends_with("stage/maps/skin.<UDIM>.png"), "{asset:?}");
    let tiles: Vec<_> =
        asset.tiles.iter().map(|(number, path)| (*number, path.file_name().unwrap_or_default())).collect();
    assert_eq!(tiles, [(1001, "skin.1001.png".as_ref()), (1011, "skin.1011.png".as_ref())]);
    assert_eq!(missing, ["maps/none.<UDIM>.png"]);
    assert_eq!(stage.warning(), "/M/Roughness.inputs:file: picture maps/none.<UDIM>.png has no tiles");
}

#[test]
fn inputs_share_a_picture_with_different_channels() {
    let stage = TestStage::with_files(&textured("a.png", "a.png"), &[("stage/a.png", b"a")]);
    let surface = material(&stage, "/Mesh").expect("a material").surface;
    assert_eq!(read(&surface.diffuse_color).picture, read(&surface.roughness).picture);
}

#[test]
fn pictures_in_a_package_come_with_their_content() {
    let text = textured("maps/a.png", "maps/no.png");
    let stage = TestStage::packaged(&text, &[("maps/a.png", b"content")]);
    let (assets, missing) = pictures(&stage);
    let [asset] = &assets[..] else { panic!("{assets:?}") };
    assert!(asset.path.ends_with("root.usdz/maps/a.png"), "{asset:?}");
    assert_eq!(asset.bytes.as_deref(), Some(&b"content"[..]));
    assert_eq!(missing, ["maps/no.png"]);
    assert_eq!(stage.warning(), "/M/Roughness.inputs:file: picture maps/no.png does not exist in its package");
}

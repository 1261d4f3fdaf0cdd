//! Which material a prim shows. Expected results are those of `UsdShadeMaterialBindingAPI::ComputeBoundMaterial` of OpenUSD 26.11.

use super::{material, shown};
use crate::{
    NONE,
    reader::{
        materials::{Bound, Materials},
        pictures::Pictures,
        test_stage::TestStage,
    },
};

/// Paths of the materials that prims show.
fn names(text: &str, paths: &[&str]) -> Vec<String> {
    let stage = TestStage::new(&format!("{text}{MATERIALS}"));
    let name = |path: &&str| material(&stage, path).map_or("none".to_owned(), |material| material.name);
    let names = paths.iter().map(name).collect();
    assert_eq!(stage.warnings(), Vec::<String>::new());
    names
}

const MATERIALS: &str = r#"
def Material "Red" {
    token outputs:surface.connect = </Red/S.outputs:surface>
    def Shader "S" { uniform token info:id = "UsdPreviewSurface" }
}
def Material "Green" {
    token outputs:surface.connect = </Green/S.outputs:surface>
    def Shader "S" { uniform token info:id = "UsdPreviewSurface" }
}
def Material "Blue" {
    token outputs:surface.connect = </Blue/S.outputs:surface>
    def Shader "S" { uniform token info:id = "UsdPreviewSurface" }
}
"#;

#[test]
fn a_prim_shows_the_nearest_binding_above_it() {
    let text = r#"
def Xform "World" {
    rel material:binding = </Red>
    def Mesh "Inherits" {}
    def Mesh "Own" { rel material:binding = </Green> }
}
def Mesh "Unbound" {}
"#;
    assert_eq!(names(text, &["/World/Inherits", "/World/Own", "/Unbound"]), ["/Red", "/Green", "none"]);
}

#[test]
fn a_binding_stronger_than_descendants_wins() {
    let text = r#"
def Xform "World" {
    rel material:binding = </Red> ( bindMaterialAs = "strongerThanDescendants" )
    def Xform "Below" {
        rel material:binding = </Green> ( bindMaterialAs = "strongerThanDescendants" )
        def Mesh "Mesh" { rel material:binding = </Blue> }
    }
}
"#;
    assert_eq!(names(text, &["/World/Below/Mesh"]), ["/Red"]);
}

#[test]
fn a_binding_for_full_quality_wins_over_all_others_and_preview_is_the_last_resort() {
    let text = r#"
def Xform "World" {
    rel material:binding:full = </Red>
    def Mesh "Mesh" {
        rel material:binding = </Green>
        rel material:binding:preview = </Blue>
    }
}
def Mesh "Preview" { rel material:binding:preview = </Blue> }
"#;
    assert_eq!(names(text, &["/World/Mesh", "/Preview"]), ["/Red", "/Blue"]);
}

#[test]
fn a_collection_binds_its_members() {
    let text = r#"
def Xform "World" (prepend apiSchemas = ["CollectionAPI:some", "MaterialBindingAPI"]) {
    uniform token collection:some:expansionRule = "expandPrims"
    rel collection:some:includes = [</World/A>, </World/B>]
    rel collection:some:excludes = </World/A/Not>
    rel material:binding = </Red>
    rel material:binding:collection:some = [</World.collection:some>, </Green>]
    def Xform "A" {
        def Mesh "Mesh" {}
        def Mesh "Not" {}
    }
    def Mesh "B" { rel material:binding = </Blue> }
    def Mesh "C" {}
}
"#;
    let paths = ["/World/A/Mesh", "/World/A/Not", "/World/B", "/World/C"];
    assert_eq!(names(text, &paths), ["/Green", "/Red", "/Blue", "/Red"]);
}

#[test]
fn a_collection_is_stronger_than_the_binding_of_its_own_prim() {
    let text = r#"
def Mesh "Mesh" (prepend apiSchemas = ["CollectionAPI:some", "MaterialBindingAPI"]) {
    rel collection:some:includes = </Mesh>
    rel material:binding = </Red>
    rel material:binding:collection:some = [</Mesh.collection:some>, </Green>]
}
"#;
    assert_eq!(names(text, &["/Mesh"]), ["/Green"]);
}

#[test]
fn a_collection_may_be_bound_for_a_purpose_and_above_stronger_bindings() {
    let text = r#"
def Xform "World" (prepend apiSchemas = ["CollectionAPI:some", "MaterialBindingAPI"]) {
    rel collection:some:includes = </World/A>
    rel material:binding:collection:full:some = [</World.collection:some>, </Green>] ( bindMaterialAs = "strongerThanDescendants" )
    def Mesh "A" { rel material:binding:full = </Blue> }
    def Mesh "B" { rel material:binding:full = </Blue> }
}
"#;
    assert_eq!(names(text, &["/World/A", "/World/B"]), ["/Green", "/Blue"]);
}

#[test]
fn the_first_collection_in_the_order_of_a_dictionary_counts() {
    let text = r#"
def Mesh "Mesh" (prepend apiSchemas = ["CollectionAPI:some", "MaterialBindingAPI"]) {
    rel collection:some:includes = </Mesh>
    rel material:binding:collection:B = [</Mesh.collection:some>, </Red>]
    rel material:binding:collection:a10 = [</Mesh.collection:some>, </Green>]
    rel material:binding:collection:a9 = [</Mesh.collection:some>, </Blue>]
}
"#;
    assert_eq!(names(text, &["/Mesh"]), ["/Blue"]);
}

#[test]
fn subsets_have_bindings_of_their_own() {
    let text = r#"
def Mesh "Mesh" {
    rel material:binding = </Red>
    def GeomSubset "Part" { rel material:binding = </Green> }
    def GeomSubset "Rest" {}
}
"#;
    assert_eq!(names(text, &["/Mesh/Part", "/Mesh/Rest"]), ["/Green", "/Red"]);
}

#[test]
fn a_binding_to_nothing_or_to_no_material_is_left_out_with_one_warning() {
    let stage = TestStage::new(
        r#"
def Xform "World" {
    rel material:binding = </Missing>
    def Mesh "A" {}
    def Mesh "B" { rel material:binding = </World> }
    def Mesh "C" { rel material:binding = </Off> }
}
def Material "Off" ( active = false ) {}
"#,
    );
    let mut materials = Materials::new(&stage.values, &Pictures::default());
    let paths = ["/World/A", "/World/B", "/World/C"];
    assert_eq!(paths.map(|path| shown(&stage, &mut materials, path)), [NONE; 3]);
    materials.finish();
    let expected = "/World is bound to /Missing (and 2 others): that is no material; the binding is left out";
    assert_eq!(stage.warning(), expected);
}

/// Two instances, with a collection that contains one of them or a part of it.
fn instances(member: &str) -> TestStage {
    TestStage::new(&format!(
        r#"
def Xform "World" (prepend apiSchemas = ["CollectionAPI:some", "MaterialBindingAPI"]) {{
    rel collection:some:includes = <{member}>
    rel material:binding:collection:some = [</World.collection:some>, </Green>]
    def "I1" (instanceable = true references = </Asset>) {{}}
    def "I2" (instanceable = true references = </Asset>) {{}}
    def "I3" (instanceable = true references = </Asset>) {{}}
}}
class "Asset" {{
    def Mesh "Mesh" {{}}
    def Mesh "Other" {{}}
}}
{MATERIALS}"#
    ))
}

/// Bindings at an instance, and what the two meshes of its prototype show.
fn in_instance(stage: &TestStage, materials: &mut Materials, path: &str) -> (Bound, [u32; 2]) {
    let bound = stage.line(path).iter().fold(Bound::default(), |bound, prim| materials.bind(prim, &bound));
    let root = stage.prim(path).prototype().expect("a prototype").expect("an instance").to_string();
    let bound = materials.bind(&stage.prim(&root), &bound);
    let shown = ["Mesh", "Other"].map(|name| {
        let mesh = stage.prim(&format!("{root}/{name}"));
        let bound = materials.bind(&mesh, &bound);
        materials.bound(&mesh, &bound)
    });
    (bound, shown)
}

#[test]
fn a_collection_of_whole_instances_leaves_equal_bindings_in_equal_instances() {
    let stage = instances("/World/I1");
    let mut materials = Materials::new(&stage.values, &Pictures::default());
    let [first, second, third] =
        ["I1", "I2", "I3"].map(|name| in_instance(&stage, &mut materials, &format!("/World/{name}")));
    assert_eq!(first.1, [0, 0]);
    assert_eq!(second.1, [NONE, NONE]);
    assert_eq!(second.0, third.0);
    assert_eq!(second.0, Bound::default());
}

#[test]
fn a_collection_may_contain_a_part_of_an_instance() {
    let stage = instances("/World/I1/Mesh");
    let mut materials = Materials::new(&stage.values, &Pictures::default());
    let [first, second, third] =
        ["I1", "I2", "I3"].map(|name| in_instance(&stage, &mut materials, &format!("/World/{name}")));
    assert_eq!(first.1, [0, NONE]);
    assert_eq!(second.1, [NONE, NONE]);
    assert_eq!(second.0, third.0);
}

#[test]
fn bindings_in_prototypes_lead_to_materials_in_prototypes() {
    let stage = TestStage::new(
        r#"
def "I1" (instanceable = true references = </Asset>) {}
def "I2" (instanceable = true references = </Asset>) {}
class "Asset" {
    def Mesh "Mesh" { rel material:binding = </Asset/Looks/Mat> }
    def Mesh "Other" {}
    def Scope "Looks" {
        def Material "Mat" {
            token outputs:surface.connect = </Asset/Looks/Mat/S.outputs:surface>
            def Shader "S" { uniform token info:id = "UsdPreviewSurface" float inputs:roughness = 0.25 }
        }
    }
}
"#,
    );
    let mut materials = Materials::new(&stage.values, &Pictures::default());
    assert_eq!(in_instance(&stage, &mut materials, "/I1").1, [0, NONE]);
    assert_eq!(in_instance(&stage, &mut materials, "/I2").1, [0, NONE]);
    let material = &materials.finish()[0];
    assert_eq!(material.name, "/I1/Looks/Mat");
    assert_eq!(material.surface.roughness.value, 0.25);
}

#[test]
fn equal_materials_of_the_same_name_are_one() {
    let stage = TestStage::new(
        r#"
def Xform "A" {
    def Mesh "Mesh" { rel material:binding = </A/Mat> }
    def Material "Mat" {
        token outputs:surface.connect = </A/Mat/S.outputs:surface>
        def Shader "S" { uniform token info:id = "UsdPreviewSurface" float inputs:roughness = 0.25 }
    }
}
def Xform "B" (references = </A>) {}
def Xform "C" (references = </A>) {
    over "Mat" { over "S" { float inputs:roughness = 0.5 } }
}
"#,
    );
    let mut materials = Materials::new(&stage.values, &Pictures::default());
    let indices = ["/A/Mesh", "/B/Mesh", "/C/Mesh"].map(|path| shown(&stage, &mut materials, path));
    assert_eq!(indices, [0, 0, 1]);
    let names: Vec<_> = materials.finish().into_iter().map(|material| material.name).collect();
    assert_eq!(names, ["/A/Mat", "/C/Mat"]);
}

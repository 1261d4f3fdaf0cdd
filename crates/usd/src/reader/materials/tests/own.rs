//! Tests of throng's own attributes of materials.

use super::{bound_stage, surface};
use crate::Source;

#[test]
fn all_own_attributes_are_kept_and_shaders_are_ignored() {
    let stage = bound_stage(
        r#"
        token outputs:surface.connect = </M/Preview.outputs:surface>
        custom token throng:kind = "mirror"
        custom color3f throng:color = (0.5, 0.25, 1)
        custom float3 throng:baseColorTexture.connect = </M/Picture.outputs:rgb>
        def Shader "Preview" { uniform token info:id = "UsdPreviewSurface"
            float inputs:roughness = 0.9
            token outputs:surface
        }
        def Shader "Picture" { uniform token info:id = "UsdUVTexture"
            asset inputs:file = @a.png@
            token inputs:sourceColorSpace = "raw"
            float3 outputs:rgb
        }
        "#,
    );
    let own = surface(&stage).own.expect("the own surface");
    assert_eq!(own.texts, [("kind".to_owned(), "mirror".to_owned())]);
    assert_eq!((own.numbers.len(), &own.numbers[0].1[..3]), (1, &[0.5, 0.25, 1.0][..]));
    assert!(matches!(&own.maps[..], [(name, Source::Picture(_))] if name == "baseColorTexture"), "{:?}", own.maps);
    assert!(stage.warnings().is_empty(), "{:?}", stage.warnings());
}

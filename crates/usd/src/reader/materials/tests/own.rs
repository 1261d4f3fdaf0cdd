//! Tests of throng's own surface shader.

use super::{bound_stage, surface};
use crate::Source;

#[test]
fn all_inputs_of_the_own_shader_are_kept_and_other_shaders_are_ignored() {
    let stage = bound_stage(
        r#"
        token outputs:surface.connect = </M/Preview.outputs:surface>
        token outputs:throng:surface.connect = </M/Own.outputs:surface>
        def Shader "Preview" { uniform token info:id = "UsdPreviewSurface"
            float inputs:roughness = 0.9
            token outputs:surface
        }
        def Shader "Own" { uniform token info:id = "throng:surface"
            token inputs:kind = "mirror"
            color3f inputs:color = (0.5, 0.25, 1)
            float3 inputs:baseColorTexture.connect = </M/Picture.outputs:rgb>
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

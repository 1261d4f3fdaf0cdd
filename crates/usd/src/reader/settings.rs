//! Settings of pictures (UsdRenderSettings).

use super::values::Values;
use crate::RenderSettings;
use openusd::sdf::{self, Value};

/// The settings in the prim that the stage names.
pub fn read(values: &Values) -> RenderSettings {
    let named = values.stage().stage_metadata("renderSettingsPrimPath").ok().flatten();
    let Some(Value::String(path)) = named else { return RenderSettings::default() };
    let prim = sdf::Path::new(&path).ok().and_then(|path| values.prim(&path));
    let Some(prim) = prim.filter(|prim| values.type_name(prim).as_str() == "RenderSettings") else {
        return RenderSettings::default();
    };
    let resolution = match values.value(&prim, "resolution", None) {
        Some(Value::Vec2i(size)) => u32::try_from(size.x).ok().zip(u32::try_from(size.y).ok()),
        _ => None,
    };
    let own = values.names(&prim).into_iter().filter_map(|name| {
        let short = name.as_str().strip_prefix(RenderSettings::PREFIX)?.to_owned();
        match values.value(&prim, name.as_str(), None)? {
            Value::String(text) => Some((short, text)),
            Value::Token(text) => Some((short, text.as_str().to_owned())),
            _ => None,
        }
    });
    RenderSettings {
        resolution: resolution.filter(|(width, height)| *width > 0 && *height > 0).map(Into::into),
        own: own.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::test_stage::TestStage;

    #[test]
    fn settings_are_those_of_the_prim_that_the_stage_names() {
        let text = r#"def RenderSettings "Draft" {
            int2 resolution = (320, 200)
            string throng:samples = "4"
            token throng:toneMap = "agx"
            int throng:other = 1
        }
        def RenderSettings "Final" { int2 resolution = (4096, 2160) }
        "#;
        let stage = TestStage::new(&format!("(\n    renderSettingsPrimPath = \"/Draft\"\n)\n{text}"));
        let settings = read(&stage.values);
        assert_eq!(settings.resolution, Some([320, 200]));
        let own: Vec<_> = settings.own.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(own, [("samples", "4"), ("toneMap", "agx")]);
        assert_eq!(read(&TestStage::new(text).values), RenderSettings::default());
    }
}

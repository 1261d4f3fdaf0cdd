//! Settings of pictures (UsdRender).

use crate::cameras;
use throng_scene::Scene;
use throng_usd::{LayerValue, Prim, RenderSettings};

/// Path of the settings.
pub const PATH: &str = "/Render/Settings";

/// The scope with the settings, their product and its colours. `ground` is the path of a model's ground.
pub fn prim(scene: &Scene, ground: Option<&str>) -> Prim {
    let size = LayerValue::Ints2([scene.settings.width, scene.settings.height].map(|side| side as i32));
    let mut settings = Prim::new("Settings", "RenderSettings");
    settings.set_uniform("resolution", "int2", size.clone());
    settings.relate("camera", cameras::MAIN);
    settings.relate("products", "/Render/Picture");
    let ground = ground.map(|path| ("ground", path.to_owned()));
    for (name, text) in scene.settings.named().into_iter().chain(ground) {
        let name = format!("{}{name}", RenderSettings::PREFIX);
        settings.set_uniform(name, "string", LayerValue::Text(text)).is_custom = true;
    }
    let mut product = Prim::new("Picture", "RenderProduct");
    product.set_uniform("resolution", "int2", size);
    product.set("productName", "token", LayerValue::token(format!("{}.exr", scene.name)));
    product.relate("camera", cameras::MAIN);
    product.relate("orderedVars", "/Render/Color");
    let mut color = Prim::new("Color", "RenderVar");
    color.set_uniform("dataType", "token", LayerValue::token("color3f"));
    color.set_uniform("sourceName", "string", LayerValue::Text("Ci".to_owned()));
    Prim { children: vec![settings, product, color], ..Prim::new("Render", "Scope") }
}

//! From a [`Layer`] to the bytes of a file, through `openusd`.

use crate::{Attribute, Layer, LayerFormat, LayerValue, Prim, Specifier, VariantSet};
use glam::{DAffine3, DMat4};
use openusd::{
    gf,
    sdf::{self, ChildrenKey, FieldKey, SpecData, SpecType, Value, Variability},
    usda::TextWriter,
    usdc::CrateWriter,
    usdz::ArchiveWriter,
};
use std::io::Cursor;

/// The bytes of a layer.
///
/// # Errors
/// If a path is not valid, or if memory does not suffice. The text is the end of a sentence about the file.
pub fn encode(layer: &Layer, format: LayerFormat) -> Result<Vec<u8>, String> {
    let data = data_of(layer)?;
    match format {
        LayerFormat::Text => Ok(TextWriter::write_to_string(&data).map_err(|error| error.to_string())?.into_bytes()),
        LayerFormat::Binary => {
            let mut out = Cursor::new(Vec::new());
            CrateWriter::write(&data, &mut out).map_err(|error| error.to_string())?;
            Ok(out.into_inner())
        }
    }
}

/// A package (.usdz) of files, of which the first one is the root layer. Names are relative to it.
///
/// # Errors
/// If a name is not valid. The text is the end of a sentence about the file.
pub fn package(files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, String> {
    let mut archive = ArchiveWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive.add_layer(name, bytes).map_err(|error| error.to_string())?;
    }
    Ok(archive.finish().map_err(|error| error.to_string())?.into_inner())
}

fn data_of(layer: &Layer) -> Result<sdf::Data, String> {
    let mut data = sdf::Data::new();
    let root = data.create_spec(sdf::Path::abs_root(), SpecType::PseudoRoot);
    root.add(FieldKey::DefaultPrim, Value::Token(layer.default_prim.as_str().into()));
    root.add(FieldKey::Documentation, Value::String(layer.documentation.clone()));
    root.add("metersPerUnit", Value::Double(1.0));
    root.add("upAxis", Value::Token("Y".into()));
    root.add(FieldKey::TimeCodesPerSecond, Value::Double(layer.per_second));
    root.add(FieldKey::FramesPerSecond, Value::Double(layer.per_second));
    if let Some((first, last)) = layer.time_codes {
        root.add(FieldKey::StartTimeCode, Value::Double(first));
        root.add(FieldKey::EndTimeCode, Value::Double(last));
    }
    if !layer.render_settings.is_empty() {
        root.add("renderSettingsPrimPath", Value::String(layer.render_settings.clone()));
    }
    root.add(ChildrenKey::PrimChildren, names_of(&layer.prims));
    for prim in &layer.prims {
        add_prim(&mut data, "", prim)?;
    }
    Ok(data)
}

fn names_of(prims: &[Prim]) -> Value {
    Value::TokenVec(prims.iter().map(|prim| prim.name.as_str().into()).collect())
}

fn path_of(text: &str) -> Result<sdf::Path, String> {
    sdf::Path::new(text).map_err(|error| format!("the path {text} is not valid: {error}"))
}

fn paths_of(texts: &[String]) -> Result<Value, String> {
    let paths = texts.iter().map(|text| path_of(text)).collect::<Result<Vec<_>, _>>()?;
    Ok(Value::PathListOp(sdf::ListOp::explicit(paths)))
}

/// Adds a prim below another one, or in a variant, whose path ends with a brace.
fn add_prim(data: &mut sdf::Data, parent: &str, prim: &Prim) -> Result<(), String> {
    let slash = if parent.ends_with('}') { "" } else { "/" };
    let path = format!("{parent}{slash}{}", prim.name);
    let spec = data.create_spec(path_of(&path)?, SpecType::Prim);
    set_metadata(spec, prim)?;
    for attribute in &prim.attributes {
        let own = data.create_spec(path_of(&format!("{path}.{}", attribute.name))?, SpecType::Attribute);
        set_attribute(own, attribute)?;
    }
    for (name, targets) in &prim.relationships {
        let own = data.create_spec(path_of(&format!("{path}.{name}"))?, SpecType::Relationship);
        own.add(FieldKey::Variability, Value::Variability(Variability::Uniform));
        own.add(FieldKey::TargetPaths, paths_of(targets)?);
    }
    if let Some(set) = &prim.variants {
        add_variants(data, &path, set)?;
    }
    prim.children.iter().try_for_each(|child| add_prim(data, &path, child))
}

fn add_variants(data: &mut sdf::Data, prim: &str, set: &VariantSet) -> Result<(), String> {
    let path = |variant: &str| {
        let path = path_of(prim)?.append_variant_selection(&set.name, variant);
        path.map_err(|error| format!("the variant {variant} is not valid: {error}"))
    };
    if let Some(spec) = data.spec_mut(&path_of(prim)?) {
        spec.add(ChildrenKey::VariantSetChildren, Value::TokenVec(vec![set.name.as_str().into()]));
        spec.add(FieldKey::VariantSetNames, Value::StringListOp(sdf::ListOp::prepended([set.name.clone()])));
        let selection = [(set.name.clone(), set.selected.clone())].into_iter().collect();
        spec.add(FieldKey::VariantSelection, Value::VariantSelectionMap(selection));
    }
    let names = set.variants.iter().map(|(name, _)| name.as_str().into()).collect();
    data.create_spec(path("")?, SpecType::VariantSet).add(ChildrenKey::VariantChildren, Value::TokenVec(names));
    for (name, children) in &set.variants {
        let variant = path(name)?;
        let spec = data.create_spec(variant.clone(), SpecType::Variant);
        spec.add(FieldKey::Specifier, Value::Specifier(sdf::Specifier::Over));
        spec.add(ChildrenKey::PrimChildren, names_of(children));
        children.iter().try_for_each(|child| add_prim(data, variant.as_str(), child))?;
    }
    Ok(())
}

fn set_metadata(spec: &mut SpecData, prim: &Prim) -> Result<(), String> {
    let specifier = match prim.specifier {
        Specifier::Def => sdf::Specifier::Def,
        Specifier::Class => sdf::Specifier::Class,
        Specifier::Over => sdf::Specifier::Over,
    };
    spec.add(FieldKey::Specifier, Value::Specifier(specifier));
    if !prim.type_name.is_empty() {
        spec.add(FieldKey::TypeName, Value::Token(prim.type_name.into()));
    }
    if !prim.kind.is_empty() {
        spec.add(FieldKey::Kind, Value::Token(prim.kind.into()));
    }
    if prim.instanceable {
        spec.add(FieldKey::Instanceable, Value::Bool(true));
    }
    if !prim.reference.is_empty() {
        let reference = sdf::Reference { prim_path: path_of(&prim.reference)?, ..sdf::Reference::default() };
        spec.add(FieldKey::References, Value::ReferenceListOp(sdf::ListOp::prepended([reference])));
    }
    if !prim.schemas.is_empty() {
        let schemas = sdf::ListOp::prepended(prim.schemas.iter().map(|&schema| schema.into()));
        spec.add(FieldKey::ApiSchemas, Value::TokenListOp(schemas));
    }
    let attributes = prim.attributes.iter().map(|attribute| attribute.name.as_str());
    let properties = attributes.chain(prim.relationships.iter().map(|(name, _)| name.as_str()));
    spec.add(ChildrenKey::PropertyChildren, Value::TokenVec(properties.map(Into::into).collect()));
    spec.add(ChildrenKey::PrimChildren, names_of(&prim.children));
    Ok(())
}

fn set_attribute(spec: &mut SpecData, attribute: &Attribute) -> Result<(), String> {
    spec.add(FieldKey::TypeName, Value::Token(attribute.kind.into()));
    if attribute.is_custom {
        spec.add(FieldKey::Custom, Value::Bool(true));
    }
    if attribute.is_uniform {
        spec.add(FieldKey::Variability, Value::Variability(Variability::Uniform));
    }
    if let Some(value) = &attribute.value {
        spec.add(FieldKey::Default, value_of(value));
    }
    if !attribute.samples.is_empty() {
        let samples = attribute.samples.iter().map(|(code, value)| (*code, value_of(value)));
        spec.add(FieldKey::TimeSamples, Value::TimeSamples(samples.collect()));
    }
    if !attribute.connection.is_empty() {
        spec.add(FieldKey::ConnectionPaths, paths_of(std::slice::from_ref(&attribute.connection))?);
    }
    if !attribute.interpolation.is_empty() {
        spec.add("interpolation", Value::Token(attribute.interpolation.into()));
    }
    if !attribute.color_space.is_empty() {
        spec.add(FieldKey::ColorSpace, Value::Token(attribute.color_space.into()));
    }
    Ok(())
}

fn value_of(value: &LayerValue) -> Value {
    fn each<T: Copy, U: From<T>>(values: &[T]) -> Vec<U> {
        values.iter().map(|&value| value.into()).collect()
    }
    match value {
        LayerValue::Bool(value) => Value::Bool(*value),
        LayerValue::Int(value) => Value::Int(*value),
        LayerValue::Float(value) => Value::Float(*value),
        LayerValue::Double(value) => Value::Double(*value),
        LayerValue::Token(text) => Value::Token(text.as_str().into()),
        LayerValue::Text(text) => Value::String(text.clone()),
        LayerValue::Asset(path) => Value::AssetPath(path.as_str().into()),
        LayerValue::Ints2(value) => Value::Vec2i((*value).into()),
        LayerValue::Float2(value) => Value::Vec2f((*value).into()),
        LayerValue::Float3(value) => Value::Vec3f((*value).into()),
        LayerValue::Float4(value) => Value::Vec4f((*value).into()),
        LayerValue::Matrix(place) => Value::Matrix4d(matrix_of(place)),
        LayerValue::Ints(values) => Value::IntVec(values.clone()),
        LayerValue::Longs(values) => Value::Int64Vec(values.clone()),
        LayerValue::Floats(values) => Value::FloatVec(values.clone()),
        LayerValue::Tokens(values) => Value::TokenVec(values.iter().map(|text| text.as_str().into()).collect()),
        LayerValue::Float2s(values) => Value::Vec2fVec(each(values)),
        LayerValue::Float3s(values) => Value::Vec3fVec(each(values)),
        LayerValue::Float4s(values) => Value::Vec4fVec(each(values)),
        LayerValue::HalfQuats(values) => {
            let half = |x: f32| gf::f16::from_f32(x);
            let all = values.iter().map(|q| gf::Quath { w: half(q.w), x: half(q.x), y: half(q.y), z: half(q.z) });
            Value::QuathVec(all.collect())
        }
        LayerValue::Quats(values) => {
            Value::QuatfVec(values.iter().map(|q| gf::Quatf { w: q.w, x: q.x, y: q.y, z: q.z }).collect())
        }
    }
}

/// The matrix for row vectors, row by row: the numbers of the one for column vectors, column by column.
fn matrix_of(place: &DAffine3) -> gf::Matrix4d {
    gf::Matrix4d(DMat4::from(*place).to_cols_array())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Content, StageOptions, read};
    use glam::{DVec3, dvec3};

    fn layer() -> Layer {
        let mut shape = Prim::new("Shape", "Sphere");
        shape.set("radius", "double", LayerValue::Double(2.0));
        let mut first = Prim::instance_of("A", "/World/Shapes/Ball");
        let place = |x: f64| LayerValue::Matrix(DAffine3::from_translation(dvec3(x, 2.0, 3.0)));
        first.set_over_time("xformOp:transform", "matrix4d", vec![(1.0, place(1.0)), (2.0, place(5.0))]);
        first.set_uniform("xformOpOrder", "token[]", LayerValue::Tokens(vec!["xformOp:transform".to_owned()]));
        first.bind("/World/Paint");
        let class = Prim { children: vec![shape], ..Prim::class("Ball", "Xform") };
        let shapes = Prim { children: vec![class], ..Prim::class("Shapes", "Scope") };
        let second = Prim::instance_of("B", "/World/Shapes/Ball");
        let children = vec![first, second, shapes, Prim::new("Paint", "Material")];
        Layer {
            default_prim: "World".to_owned(),
            time_codes: Some((1.0, 2.0)),
            per_second: 12.0,
            prims: vec![Prim { children, ..Prim::new("World", "Xform") }],
            ..Layer::default()
        }
    }

    #[test]
    fn a_layer_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, format) in [("a.usda", LayerFormat::Text), ("a.usdc", LayerFormat::Binary)] {
            let path = folder.path().join(name);
            std::fs::write(&path, encode(&layer(), format).expect("a layer")).expect("a file");
            let stage = read(&path, &StageOptions::default()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(stage.warnings, ["/World/Paint: the material has no surface shader; a grey one is used"]);
            assert_eq!((stage.times.range, stage.times.per_second), (Some((1.0, 2.0)), 12.0));
            assert_eq!((stage.shapes.len(), stage.materials.len(), stage.census.native_instances), (1, 1, 2));
            let items = &stage.groups[0].items;
            assert!(items.iter().all(|item| matches!(item.content, Content::Group(_))), "{items:?}");
            let (from, to, _) = items[0].group_from_item.around(1.0);
            assert_eq!((from.translation, to.translation), (dvec3(1.0, 2.0, 3.0), dvec3(5.0, 2.0, 3.0)));
            assert_eq!(items[1].group_from_item.first().translation, DVec3::ZERO);
        }
    }

    #[test]
    fn a_package_has_its_root_layer_first() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.usdz");
        let root = encode(&layer(), LayerFormat::Binary).expect("a layer");
        let whole = package(&[("a.usdc".to_owned(), root), ("textures/a.png".to_owned(), vec![1, 2, 3])]);
        std::fs::write(&path, whole.expect("a package")).expect("a file");
        let stage = read(&path, &StageOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(stage.shapes.len(), 1);
        assert!(package(&[("../a.usdc".to_owned(), Vec::new())]).is_err());
    }

    #[test]
    fn paths_that_are_not_valid_are_errors() {
        let mut layer = layer();
        layer.prims[0].name = "a b".to_owned();
        assert!(encode(&layer, LayerFormat::Text).is_err());
    }
}

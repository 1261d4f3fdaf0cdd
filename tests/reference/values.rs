//! Values with several notations, whose types have custom code to read them.

use super::source::Kind;

/// A notation of a value.
#[derive(Clone, Debug)]
pub enum Form {
    Number,
    /// An integer of at least 0.
    Whole,
    Bool,
    Text,
    /// `"#rrggbb"` or another CSS colour.
    Css,
    /// Three numbers; for colours they must be at least 0.
    Triple {
        negative: bool,
    },
    /// The notation of another type.
    Kind(Kind),
}

/// A value that is explained on the page of values: its Rust type, its name for users, and its notations.
pub struct Value {
    pub rust: &'static str,
    pub word: &'static str,
    pub forms: Vec<Form>,
}

pub fn named(name: &str) -> Kind {
    Kind::Named(name.to_owned())
}

/// All values, in the order of the page.
pub fn all() -> Vec<Value> {
    let value = |rust, word, forms: &[Form]| Value { rust, word, forms: forms.to_vec() };
    let of = |kind: Kind| Form::Kind(kind);
    let triple = Form::Triple { negative: true };
    vec![
        value("Finite", "number", &[Form::Number]),
        value("Double", "number", &[Form::Number]),
        value("f32", "number", &[Form::Number]),
        value("u32", "whole number", &[Form::Whole]),
        value("Rate", "frame rate", &[Form::Number, Form::Text]),
        value("bool", "true or false", &[Form::Bool]),
        value("String", "text", &[Form::Text]),
        value("Point", "point", std::slice::from_ref(&triple)),
        value("Color", "colour", &[Form::Triple { negative: false }, Form::Css]),
        value("Scale", "scale", &[Form::Number, triple.clone()]),
        value("BoxSize", "size", &[Form::Number, triple.clone()]),
        value("Rotation", "rotation", &[triple.clone(), of(named("AxisAngle"))]),
        value("Turns", "rotation", &[triple.clone(), of(named("AxisAngle"))]),
        value(
            "Of",
            "content",
            &[Form::Text, of(Kind::List(named("Placement").into())), of(Kind::Map(named("Finite").into()))],
        ),
        value("Aim", "place", &[triple.clone(), Form::Text, of(named("AimOn"))]),
        value("FocusDesc", "focus", &[Form::Number, triple, Form::Text]),
        value("ShutterDesc", "shutter", &[Form::Number, of(named("Times"))]),
        value("Subdivision", "level", &[Form::Whole, Form::Text]),
        value("DropDesc", "drop", &[Form::Text, of(named("DropFields"))]),
    ]
}

pub fn find(rust: &str) -> Option<Value> {
    all().into_iter().find(|value| value.rust == rust)
}

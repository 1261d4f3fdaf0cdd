//! Reads the declarations of the scene file format from its Rust sources: each type with its doc comment, and its fields or variants as
//! scene files name them.

use std::{collections::BTreeMap, fs, path::Path};
use syn::{
    Attribute, Expr, Ident, Item, Lit, LitStr, Token, Type, Visibility, braced, ext::IdentExt, parenthesized,
    parse::ParseStream,
};

/// Files outside `crates/scene/src/desc` with types of the format.
const OTHERS: [&str; 7] = [
    "moving/rig.rs",
    "path/flight.rs",
    "path/track.rs",
    "shading/texture.rs",
    "view/film.rs",
    "view/integrator.rs",
    "view/settings.rs",
];

/// A type of the format.
#[derive(Clone, Debug)]
pub struct Thing {
    pub name: String,
    pub docs: String,
    /// Its name in messages and files, if that differs from the Rust name.
    pub word: Option<String>,
    pub body: Body,
    /// The macro that adds the fields shared by several types.
    pub shared: Option<String>,
}

#[derive(Clone, Debug)]
pub enum Body {
    Fields(Vec<Field>),
    Choices(Vec<Choice>),
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    pub docs: String,
    pub kind: Kind,
    pub required: bool,
}

/// A variant of an enum.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Its name and its aliases.
    pub names: Vec<String>,
    pub docs: String,
    pub parts: Vec<Kind>,
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Named(String),
    List(Box<Kind>),
    /// `Named<T>`.
    Map(Box<Kind>),
    Tuple(Vec<Kind>),
    /// `Varying<T>`.
    Varying(Box<Kind>),
}

/// All types by Rust name, and the shared fields by macro.
#[derive(Debug, Default)]
pub struct Sources {
    pub things: BTreeMap<String, Thing>,
    pub shared: BTreeMap<String, Vec<Field>>,
}

impl Sources {
    pub fn read() -> Self {
        let scene = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/crates/scene/src"));
        let desc = fs::read_dir(scene.join("desc")).unwrap().map(|entry| entry.unwrap().path());
        let mut sources = Self::default();
        for path in OTHERS.iter().map(|name| scene.join(name)).chain(desc) {
            let text = fs::read_to_string(&path).unwrap();
            let file = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            file.items.into_iter().for_each(|item| sources.add(item));
        }
        sources
    }

    fn add(&mut self, item: Item) {
        let thing = match item {
            Item::Struct(item) => {
                let serde = Serde::of(&item.attrs);
                let fields = item.fields.iter().filter(|field| field.ident.is_some() && !Serde::of(&field.attrs).skip);
                let fields = fields.map(|field| read_field(field, serde.default)).collect();
                thing(item.ident, &item.attrs, Body::Fields(fields))
            }
            Item::Enum(item) => {
                let serde = Serde::of(&item.attrs);
                let choices = item.variants.iter().filter_map(|variant| choice(variant, serde.snake_case)).collect();
                thing(item.ident, &item.attrs, Body::Choices(choices))
            }
            Item::Macro(item) if item.mac.path.is_ident("macro_rules") => {
                let name = item.ident.unwrap().to_string();
                if ["camera", "placement"].contains(&&*name) {
                    self.shared.insert(name, item.mac.parse_body_with(shared_fields).unwrap());
                }
                return;
            }
            Item::Macro(item) if item.mac.path.is_ident("choice") => item.mac.parse_body_with(choice_macro).unwrap(),
            Item::Macro(item) => {
                let mut thing = item.mac.parse_body_with(struct_macro).unwrap();
                thing.shared = item.mac.path.get_ident().map(Ident::to_string);
                thing
            }
            _ => return,
        };
        self.things.insert(thing.name.clone(), thing);
    }
}

fn thing(name: Ident, attrs: &[Attribute], body: Body) -> Thing {
    Thing { name: name.to_string(), docs: docs(attrs), word: Serde::of(attrs).rename, body, shared: None }
}

fn read_field(field: &syn::Field, all_default: bool) -> Field {
    let serde = Serde::of(&field.attrs);
    let own_name = field.ident.as_ref().unwrap().unraw().to_string();
    let (kind, optional) = kind(&field.ty);
    Field {
        name: serde.rename.unwrap_or(own_name),
        docs: docs(&field.attrs),
        kind,
        required: !(optional || all_default || serde.default),
    }
}

fn choice(variant: &syn::Variant, snake_case: bool) -> Option<Choice> {
    let serde = Serde::of(&variant.attrs);
    let own_name = variant.ident.to_string();
    let own_name = if snake_case { to_snake_case(&own_name) } else { own_name };
    let names = [serde.rename.unwrap_or(own_name)].into_iter().chain(serde.aliases).collect();
    let parts = variant.fields.iter().map(|field| kind(&field.ty).0).collect();
    (!serde.skip).then(|| Choice { names, docs: docs(&variant.attrs), parts })
}

fn to_snake_case(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// The kind of a type's values, and whether the field is optional (`Option`).
fn kind(ty: &Type) -> (Kind, bool) {
    let (kind, optional) = match ty {
        Type::Tuple(tuple) => (Kind::Tuple(tuple.elems.iter().map(|ty| kind(ty).0).collect()), false),
        Type::Path(path) => {
            let last = path.path.segments.last().unwrap();
            let name = last.ident.to_string();
            let inner = match &last.arguments {
                syn::PathArguments::AngleBracketed(list) => match list.args.first() {
                    Some(syn::GenericArgument::Type(ty)) => Some(Box::new(kind(ty).0)),
                    _ => None,
                },
                _ => None,
            };
            match (&*name, inner) {
                ("Option", Some(inner)) => (*inner, true),
                ("Box", Some(inner)) => (*inner, false),
                ("Vec", Some(inner)) => (Kind::List(inner), false),
                ("Named", Some(inner)) => (Kind::Map(inner), false),
                ("Varying", Some(inner)) => (Kind::Varying(inner), false),
                _ => (Kind::Named(name), false),
            }
        }
        _ => (Kind::Named(String::new()), false),
    };
    (kind, optional)
}

/// The doc comment, without the leading space of each line.
fn docs(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter(|attr| attr.path().is_ident("doc")).filter_map(|attr| {
        let Expr::Lit(lit) = &attr.meta.require_name_value().ok()?.value else { return None };
        let Lit::Str(text) = &lit.lit else { return None };
        let text = text.value();
        Some(text.strip_prefix(' ').unwrap_or(&text).to_owned())
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The `#[serde(..)]` attributes of a type, field or variant.
#[derive(Default)]
struct Serde {
    rename: Option<String>,
    aliases: Vec<String>,
    snake_case: bool,
    default: bool,
    skip: bool,
}

impl Serde {
    fn of(attrs: &[Attribute]) -> Self {
        let mut serde = Self::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
            attr.parse_nested_meta(|meta| {
                let value =
                    if meta.input.peek(Token![=]) { meta.value()?.parse::<LitStr>()?.value() } else { String::new() };
                match meta.path.require_ident()?.to_string().as_str() {
                    "rename" => serde.rename = Some(value),
                    "alias" => serde.aliases.push(value),
                    "rename_all" => serde.snake_case = value == "snake_case",
                    "default" => serde.default = true,
                    "skip" => serde.skip = true,
                    "deny_unknown_fields" => (),
                    other => panic!("the reference does not know serde's `{other}`"),
                }
                Ok(())
            })
            .unwrap();
        }
        serde
    }
}

/// Parses `/// docs Name { /// docs field: Type, }`, the syntax of `camera!` and `placement!`.
fn struct_macro(input: ParseStream) -> syn::Result<Thing> {
    let attrs = input.call(Attribute::parse_outer)?;
    let name = input.parse()?;
    let body;
    braced!(body in input);
    let fields = body.parse_terminated(syn::Field::parse_named, Token![,])?;
    let fields = fields.iter().map(|field| read_field(field, false)).collect();
    Ok(thing(name, &attrs, Body::Fields(fields)))
}

/// Parses `pub enum Name = Default { Variant = "name", }`, the syntax of `choice!`.
fn choice_macro(input: ParseStream) -> syn::Result<Thing> {
    let attrs = input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    input.parse::<Token![enum]>()?;
    let name = input.parse()?;
    if input.parse::<Option<Token![=]>>()?.is_some() {
        input.parse::<Ident>()?;
    }
    let body;
    braced!(body in input);
    let mut choices = Vec::new();
    while !body.is_empty() {
        let attrs = body.call(Attribute::parse_outer)?;
        body.parse::<Ident>()?;
        body.parse::<Token![=]>()?;
        let names = vec![body.parse::<LitStr>()?.value()];
        body.parse::<Option<Token![,]>>()?;
        choices.push(Choice { names, docs: docs(&attrs), parts: Vec::new() });
    }
    Ok(thing(name, &attrs, Body::Choices(choices)))
}

/// Parses the fields that `macro_rules! { (..) => { .. struct $name { .. } .. } }` adds to its arguments.
fn shared_fields(input: ParseStream) -> syn::Result<Vec<Field>> {
    skip(input)?;
    input.parse::<Token![=>]>()?;
    let (body, fields);
    braced!(body in input);
    while !body.peek(Token![struct]) {
        skip(&body)?;
    }
    skip(&body)?;
    body.parse::<Token![$]>()?;
    body.parse::<Ident>()?;
    braced!(fields in body);
    let mut found = Vec::new();
    while !fields.is_empty() {
        if fields.parse::<Option<Token![$]>>()?.is_some() {
            let repeated;
            parenthesized!(repeated in fields);
            skip_all(&repeated)?;
            fields.parse::<Token![*]>()?;
        } else {
            found.push(read_field(&fields.call(syn::Field::parse_named)?, false));
            fields.parse::<Option<Token![,]>>()?;
        }
    }
    skip_all(&body)?;
    skip_all(input)?;
    Ok(found)
}

fn skip(input: ParseStream) -> syn::Result<()> {
    input.step(|cursor| match cursor.token_tree() {
        Some((_, rest)) => Ok(((), rest)),
        None => Err(cursor.error("more was expected")),
    })
}

fn skip_all(input: ParseStream) -> syn::Result<()> {
    while !input.is_empty() {
        skip(input)?;
    }
    Ok(())
}

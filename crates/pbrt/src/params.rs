//! Lists of parameters, such as `"float radius" 2 "rgb L" [ 1 2 3 ]`.

use crate::{
    lexer::{Fault, Kind, Lexer, LineColumn, Token},
    names,
};
use std::cell::{Cell, RefCell};

/// Types of parameters. Several names of version 3 are other names of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Bool,
    Float,
    Integer,
    /// Two numbers each.
    Pair,
    /// Three numbers each: points, vectors and normals.
    Triple,
    Spectrum,
    Rgb,
    Xyz,
    Blackbody,
    Text,
    Texture,
}

/// Names of types, those of version 3 included.
const TYPES: [(&str, Type); 11] = [
    ("bool boolean", Type::Bool),
    ("float", Type::Float),
    ("integer int", Type::Integer),
    ("point2 vector2", Type::Pair),
    ("point3 point vector3 vector normal normal3 point4", Type::Triple),
    ("spectrum", Type::Spectrum),
    ("rgb color", Type::Rgb),
    ("xyz", Type::Xyz),
    ("blackbody", Type::Blackbody),
    ("string", Type::Text),
    ("texture", Type::Texture),
];

/// Values of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    Floats(Vec<f32>),
    Integers(Vec<i32>),
    Bools(Vec<bool>),
    Texts(Vec<String>),
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    pub kind: Type,
    pub name: String,
    pub values: Values,
    pub place: LineColumn,
    /// Whether it was asked for, or needs no use.
    used: Cell<bool>,
}

/// The parameters of a directive.
#[derive(Debug, Default)]
pub struct Params {
    list: Vec<Param>,
    /// Names that were asked for, of which one may have been meant by an unknown name.
    asked: RefCell<Vec<&'static str>>,
}

impl Params {
    /// Reads all parameters that follow.
    ///
    /// # Errors
    /// If a parameter has no known type, or values of another one.
    pub fn read(lexer: &mut Lexer) -> Result<Self, Fault> {
        let mut list = Vec::new();
        while let Some(Token { kind: Kind::Text, .. }) = lexer.peek()? {
            list.push(Param::read(lexer)?);
        }
        Ok(Self { list, asked: RefCell::default() })
    }

    /// Adds parameters that count where the directive has none of the name. They need not be used.
    pub fn add_defaults(&mut self, defaults: &[Param]) {
        for param in defaults {
            if self.list.iter().all(|own| own.name != param.name) {
                param.used.set(true);
                self.list.push(param.clone());
            }
        }
    }

    /// All parameters.
    pub fn into_list(self) -> Vec<Param> {
        self.list
    }

    /// The parameters that were not asked for, completed by others. They count as used here.
    pub fn take_unused(&self, others: &[Param]) -> Option<Self> {
        let unused: Vec<Param> = self.list.iter().filter(|param| !param.used.get()).cloned().collect();
        if unused.is_empty() {
            return None;
        }
        self.list.iter().for_each(|param| param.used.set(true));
        let mut taken = Self { list: unused, asked: RefCell::default() };
        taken.add_defaults(others);
        Some(taken)
    }

    /// Marks parameters as known that have no effect on pictures here.
    pub fn ignore(&self, names: &[&'static str]) {
        for name in names {
            self.find(name, |_| true);
        }
    }

    /// Whether there is a parameter of this name, whatever its type.
    pub fn has(&self, name: &str) -> bool {
        self.list.iter().any(|param| param.name == name)
    }

    /// One line for each parameter that was not asked for, with its place.
    pub fn unused(&self, directive: &str) -> Vec<(LineColumn, String)> {
        let asked = self.asked.borrow();
        let line = |param: &Param| {
            if asked.contains(&&*param.name) {
                (param.place, format!("`{}` has the wrong type for {directive}, and is left out", param.name))
            } else {
                let hint = names::hint(&param.name, asked.iter().copied());
                let what = format!("`{}` is not a parameter of {directive}, and is left out{hint}", param.name);
                (param.place, what)
            }
        };
        self.list.iter().filter(|param| !param.used.get()).map(line).collect()
    }

    /// The first parameter of this name that is accepted.
    pub fn find(&self, name: &'static str, accepts: impl Fn(&Param) -> bool) -> Option<&Param> {
        if !self.asked.borrow().contains(&name) {
            self.asked.borrow_mut().push(name);
        }
        let found = self.list.iter().find(|param| param.name == name && accepts(param))?;
        found.used.set(true);
        Some(found)
    }

    /// All numbers of a parameter.
    pub fn floats(&self, name: &'static str) -> Option<&[f32]> {
        let found = self.find(name, |param| matches!(param.values, Values::Floats(_)))?;
        match &found.values {
            Values::Floats(values) => Some(values),
            _ => None,
        }
    }

    /// The first number of a parameter.
    pub fn float(&self, name: &'static str) -> Option<f32> {
        let is_number = |param: &Param| matches!(param.kind, Type::Float | Type::Integer);
        match &self.find(name, is_number)?.values {
            Values::Floats(values) => values.first().copied(),
            Values::Integers(values) => values.first().map(|&value| value as f32),
            _ => None,
        }
    }

    /// All integers of a parameter.
    pub fn integers(&self, name: &'static str) -> Option<&[i32]> {
        let found = self.find(name, |param| matches!(param.values, Values::Integers(_)))?;
        match &found.values {
            Values::Integers(values) => Some(values),
            _ => None,
        }
    }

    /// The first integer of a parameter, which may also be written as a float.
    pub fn integer(&self, name: &'static str) -> Option<i32> {
        let value = self.float(name)?;
        (value.fract() == 0.0 && value.abs() < 1e9).then_some(value as i32)
    }

    /// A boolean.
    pub fn bool(&self, name: &'static str) -> Option<bool> {
        match &self.find(name, |param| param.kind == Type::Bool)?.values {
            Values::Bools(values) => values.first().copied(),
            _ => None,
        }
    }

    /// All texts of a parameter.
    pub fn texts(&self, name: &'static str) -> Option<&[String]> {
        match &self.find(name, |param| param.kind == Type::Text)?.values {
            Values::Texts(values) => Some(values),
            _ => None,
        }
    }

    /// A text.
    pub fn text(&self, name: &'static str) -> Option<&str> {
        self.texts(name)?.first().map(String::as_str)
    }

    /// The name of a texture, and the place of the parameter.
    pub fn texture(&self, name: &'static str) -> Option<(&str, LineColumn)> {
        let found = self.find(name, |param| param.kind == Type::Texture)?;
        match &found.values {
            Values::Texts(values) => Some((values.first()?, found.place)),
            _ => None,
        }
    }

    /// Values of N numbers each.
    ///
    /// # Errors
    /// If the last one has less.
    pub fn groups<const N: usize>(&self, name: &'static str) -> Result<Option<Vec<[f32; N]>>, Fault> {
        let Some(found) = self.find(name, |param| matches!(param.values, Values::Floats(_))) else { return Ok(None) };
        let Values::Floats(values) = &found.values else { return Ok(None) };
        let (groups, rest) = values.as_chunks::<N>();
        match rest {
            [] => Ok(Some(groups.to_vec())),
            _ => {
                let message = format!("`{name}` has {} numbers, which is no multiple of {N}: correct it", values.len());
                Err(Fault::at(found.place, message))
            }
        }
    }

    /// A point or vector.
    ///
    /// # Errors
    /// As [`Self::groups`].
    pub fn triple(&self, name: &'static str) -> Result<Option<[f32; 3]>, Fault> {
        Ok(self.groups::<3>(name)?.and_then(|groups| groups.first().copied()))
    }
}

impl Param {
    fn read(lexer: &mut Lexer) -> Result<Self, Fault> {
        let Some(token) = lexer.next()? else { return Err(Fault::at(lexer.place(), "a parameter is missing here")) };
        let declared = lexer.text(&token);
        let mut words = declared.split_whitespace();
        let (Some(kind), Some(name), None) = (words.next(), words.next(), words.next()) else {
            let message = format!("`{declared}` declares no parameter: write \"type name\", such as \"float radius\"");
            return Err(Fault::at(token.place, message));
        };
        let Some((_, known)) = TYPES.iter().find(|(own, _)| own.split(' ').any(|own| own == kind)) else {
            let hint = names::hint(kind, TYPES.iter().flat_map(|(own, _)| own.split(' ')));
            return Err(Fault::at(token.place, format!("`{kind}` is no type of parameters{hint}")));
        };
        let name = name.to_owned();
        let values = Values::read(lexer, *known, &declared, token.place)?;
        Ok(Self { kind: *known, name, values, place: token.place, used: Cell::new(false) })
    }
}

impl Values {
    /// Reads one value, or a list of values in brackets.
    fn read(lexer: &mut Lexer, kind: Type, declared: &str, place: LineColumn) -> Result<Self, Fault> {
        let lacks = |place| Fault::at(place, format!("`{declared}` has no value: write one, or a list in brackets"));
        let first = lexer.next()?.ok_or_else(|| lacks(place))?;
        let is_list = first.kind == Kind::Open;
        let mut next = if is_list { lexer.next()?.ok_or_else(|| lacks(place))? } else { first };
        let mut values = match (kind, next.kind) {
            (Type::Bool, _) => Self::Bools(Vec::new()),
            (Type::Integer, _) => Self::Integers(Vec::new()),
            (Type::Text | Type::Texture, _) | (Type::Spectrum, Kind::Text) => Self::Texts(Vec::new()),
            _ => Self::Floats(Vec::new()),
        };
        loop {
            match next.kind {
                Kind::Close if is_list => return Ok(values),
                Kind::Open | Kind::Close => return Err(lacks(next.place)),
                Kind::Word | Kind::Text => values.push(lexer, &next, declared)?,
            }
            if !is_list {
                return Ok(values);
            }
            let end = || Fault::at(place, format!("the list of `{declared}` has no end: write `]`"));
            next = lexer.next()?.ok_or_else(end)?;
        }
    }

    fn push(&mut self, lexer: &Lexer, token: &Token, declared: &str) -> Result<(), Fault> {
        let bytes = lexer.bytes(token);
        let fail = |what: &str| {
            let text = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]);
            Err(Fault::at(token.place, format!("`{text}` in `{declared}` is no {what}")))
        };
        match (self, token.kind) {
            (Self::Floats(values), Kind::Word) => match number(bytes) {
                Some(value) => values.push(value as f32),
                None => return fail("finite number"),
            },
            (Self::Integers(values), Kind::Word) => match integer(bytes) {
                Some(value) => values.push(value),
                None => return fail("integer"),
            },
            (Self::Bools(values), _) => match bytes {
                b"true" => values.push(true),
                b"false" => values.push(false),
                _ => return fail("`true` or `false`"),
            },
            (Self::Texts(values), Kind::Text) => values.push(lexer.text(token)),
            (Self::Texts(_), _) => return fail("text in quotes"),
            _ => return fail("number"),
        }
        Ok(())
    }
}

/// A number that is finite in single precision.
pub fn number(bytes: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(bytes).ok()?;
    text.parse().ok().filter(|value: &f64| (*value as f32).is_finite())
}

fn integer(bytes: &[u8]) -> Option<i32> {
    let text = std::str::from_utf8(bytes).ok()?;
    let exact = || number(bytes).filter(|value| value.fract() == 0.0 && value.abs() < 2e9).map(|value| value as i32);
    text.parse().ok().or_else(exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str) -> Result<Params, Fault> {
        Params::read(&mut Lexer::new(text.as_bytes()))
    }

    #[test]
    fn values_are_read_by_their_types_with_the_spellings_of_both_versions() {
        let params = read(
            r#""float a" 1.5 "integer i" [ 1 -2 3.0 ] "bool b" true "bool c" "false" "string s" [ "x y" ]
               "color d" [ 1 2 3 ] "texture t" "wood" "spectrum m" "metal-Au-eta" "spectrum n" [ 400 1 700 2 ]
               "point P" [ 0 1 2 3 4 5 ] "float uv" [ 0 1 2 3 ] Shape"#,
        )
        .unwrap();
        assert_eq!((params.float("a"), params.integers("i")), (Some(1.5), Some(&[1, -2, 3][..])));
        assert_eq!((params.bool("b"), params.bool("c"), params.text("s")), (Some(true), Some(false), Some("x y")));
        assert_eq!(params.floats("d"), Some(&[1.0, 2.0, 3.0][..]));
        assert_eq!(params.texture("t").unwrap().0, "wood");
        assert_eq!(params.groups::<3>("P"), Ok(Some(vec![[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])));
        assert_eq!(params.groups::<2>("uv").unwrap().unwrap().len(), 2);
        assert_eq!(params.floats("n"), Some(&[400.0, 1.0, 700.0, 2.0][..]));
        assert_eq!(params.unused("X").len(), 1, "m");
    }

    #[test]
    fn parameters_that_nobody_reads_are_reported_with_the_nearest_name() {
        let params = read("\n \"float raduis\" 1 \"string radius\" \"a\"").unwrap();
        assert_eq!(params.float("radius"), None);
        let [first, second] = &params.unused("sphere")[..] else { panic!() };
        assert_eq!(first.0, (2, 2));
        assert_eq!(first.1, "`raduis` is not a parameter of sphere, and is left out; did you mean `radius`?");
        assert!(second.1.starts_with("`radius` has the wrong type for"), "{}", second.1);
    }

    #[test]
    fn faults_have_their_places() {
        for (text, place, part) in [
            ("\"float\" 1", (1, 1), "declares no parameter"),
            ("\"flot a\" 1", (1, 1), "did you mean `float`?"),
            ("\"float a\" [ 1 x ]", (1, 15), "is no finite number"),
            ("\"float a\" 1e99", (1, 11), "is no finite number"),
            ("\"float a\" [ 1", (1, 1), "has no end"),
            ("\"float a\"", (1, 1), "has no value"),
            ("\"float a\" ]", (1, 11), "has no value"),
            ("\"integer a\" 1.5", (1, 13), "is no integer"),
            ("\"bool a\" yes", (1, 10), "`true` or `false`"),
            ("\"string a\" b", (1, 12), "text in quotes"),
        ] {
            let fault = read(text).unwrap_err();
            assert_eq!(fault.place, Some(place), "{text}");
            assert!(fault.message.contains(part), "{text}: {}", fault.message);
        }
        assert!(read("\"point P\" [ 1 2 ]").unwrap().groups::<3>("P").is_err());
    }
}

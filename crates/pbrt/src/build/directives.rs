//! The directives, by their names.

use super::{state::*, values::LIQUID, *};
use crate::{lexer::Token, scene::Placement, spectra};
use std::rc::Rc;

/// Names of directives.
const NAMES: &str = "Accelerator ActiveTransform AreaLightSource Attribute AttributeBegin AttributeEnd Camera ColorSpace \
    ConcatTransform CoordSysTransform CoordinateSystem Film Identity Import Include Integrator LightSource \
    LookAt MakeNamedMaterial MakeNamedMedium Material MediumInterface NamedMaterial ObjectBegin ObjectEnd \
    ObjectInstance Option PixelFilter ReverseOrientation Rotate Sampler Scale Shape SurfaceIntegrator Texture \
    Transform TransformBegin TransformTimes Translate WorldBegin WorldEnd";

impl Builder {
    /// Executes a directive whose name was read.
    pub fn directive(&mut self, lexer: &mut Lexer, name: &str, place: LineColumn) -> Result<(), Stop> {
        if let Some(by) = transforms::read(lexer, name, place)? {
            self.state.apply(&by);
            return Ok(());
        }
        match name {
            "AttributeBegin" => self.begin(Block::Attribute),
            "AttributeEnd" => self.end(Block::Attribute, place)?,
            "TransformBegin" => self.begin(Block::Transform),
            "TransformEnd" => self.end(Block::Transform, place)?,
            "Shape" | "LightSource" | "AreaLightSource" | "Material" | "Camera" | "Film" | "Integrator"
            | "SurfaceIntegrator" | "Sampler" | "PixelFilter" | "Accelerator" | "VolumeIntegrator" => {
                self.typed(lexer, name, place)?
            }
            "ObjectBegin" => self.begin_object(lexer, place)?,
            "ObjectEnd" => self.end_object(place)?,
            "ObjectInstance" => self.object_instance(lexer, place)?,
            "Include" | "Import" => self.include(lexer, name, place)?,
            "Identity" => self.state.change(|_| DAffine3::IDENTITY),
            "Transform" => {
                let own = transforms::matrix(transforms::numbers(lexer, name, place)?);
                self.state.change(|_| own);
            }
            "NamedMaterial" => {
                let name = text(lexer, name, place)?;
                self.state.material = self.named.material(&name, &mut self.scene.materials, (&self.open, place));
            }
            "MakeNamedMaterial" => self.make_named_material(lexer, place)?,
            "Texture" => self.texture(lexer, place)?,
            "ReverseOrientation" => self.state.reversed = !self.state.reversed,
            "WorldBegin" => self.begin_world(),
            "WorldEnd" => self.is_version_3 = true,
            _ => self.rare(lexer, name, place)?,
        }
        Ok(())
    }

    fn rare(&mut self, lexer: &mut Lexer, name: &str, place: LineColumn) -> Result<(), Stop> {
        match name {
            "Attribute" => self.attribute(lexer, place)?,
            "CoordinateSystem" => {
                let space = text(lexer, name, place)?;
                self.named.spaces.insert(space, self.state.ctm);
            }
            "CoordSysTransform" => {
                let space = text(lexer, name, place)?;
                match self.named.spaces.get(&space) {
                    Some(&known) => self.state.ctm = known,
                    None => self.warn(place, format!("no coordinate system `{space}` was defined: nothing changes")),
                }
            }
            "ActiveTransform" => {
                let word = lexer.next()?.map(|token| lexer.text(&token)).unwrap_or_default();
                self.state.active = match word.as_str() {
                    "StartTime" => START,
                    "EndTime" => END,
                    "All" => BOTH,
                    _ => return Err(Fault::at(place, "`ActiveTransform` is StartTime, EndTime or All").into()),
                };
            }
            "TransformTimes" => {
                let [start, end] = transforms::numbers(lexer, name, place)?;
                self.scene.times = [start as f32, end as f32];
            }
            "MediumInterface" => self.medium_interface(lexer, place)?,
            "MakeNamedMedium" => self.medium(lexer, place)?,
            "ColorSpace" => {
                let space = text(lexer, name, place)?;
                match spectra::space(&space) {
                    Some(known) => self.state.space = known,
                    None => {
                        let known = spectra::space_names();
                        self.warn_of_unknown(place, ("colour space", &space), &known.join(" "), "nothing changes");
                    }
                }
            }
            "Option" => {
                Params::read(lexer)?;
                self.leave_out(name);
            }
            _ => self.unknown(lexer, name, place)?,
        }
        Ok(())
    }

    /// Directives of a type and parameters.
    fn typed(&mut self, lexer: &mut Lexer, name: &str, place: LineColumn) -> Result<(), Stop> {
        let kind = text(lexer, name, place)?;
        let mut params = Params::read(lexer)?;
        let defaults = match name {
            "Shape" => "shape",
            "LightSource" | "AreaLightSource" => "light",
            "Material" => "material",
            _ => "",
        };
        if let Some(defaults) = self.state.defaults.clone().get(defaults) {
            params.add_defaults(defaults);
        }
        match name {
            "Shape" => self.shape(&kind, &params, place)?,
            "LightSource" => self.light(&kind, &params, place)?,
            "AreaLightSource" => self.area_light(&kind, &params, place)?,
            "Material" => {
                let material = self.material(&kind, &params, place)?;
                self.state.material = self.scene.materials.len() as u32;
                self.scene.materials.push(material);
                self.keep_source(self.state.material, kind, params);
            }
            "Camera" => self.camera(&kind, &params, place)?,
            "Film" => self.film(&kind, &params, place),
            "Integrator" | "SurfaceIntegrator" => {
                if let Some(depth) = params.integer("maxdepth") {
                    self.scene.max_depth = depth.max(0) as u32;
                }
            }
            _ => self.leave_out(name),
        }
        Ok(())
    }

    /// Counts a directive that has no effect.
    pub fn leave_out(&mut self, name: &str) {
        *self.scene.left_out.entry(name.to_owned()).or_default() += 1;
    }

    /// Skips what follows an unknown word, up to the next known directive.
    fn unknown(&mut self, lexer: &mut Lexer, name: &str, place: LineColumn) -> Result<(), Stop> {
        let short: String = name.chars().take(60).collect();
        self.warn_of_unknown(place, ("directive", &short), NAMES, "it is left out");
        while let Some(token) = lexer.peek()? {
            let is_known = |word: &[u8]| NAMES.split(' ').any(|known| known.as_bytes() == word);
            if token.kind == Kind::Word && is_known(lexer.bytes(&token)) {
                return Ok(());
            }
            lexer.next()?;
        }
        Ok(())
    }

    fn begin(&mut self, block: Block) {
        self.saved.push((block, self.state.clone()));
    }

    fn end(&mut self, block: Block, place: LineColumn) -> Result<(), Fault> {
        let Some((open, state)) = self.saved.pop() else {
            return Err(Fault::at(place, format!("there is no `{}` before this `{}`", block.begin(), block.end())));
        };
        if open != block {
            let (begin, end) = (open.begin(), block.end());
            return Err(Fault::at(place, format!("`{end}` cannot end `{begin}`: write `{}` first", open.end())));
        }
        match block {
            Block::Transform => (self.state.ctm, self.state.active) = (state.ctm, state.active),
            Block::Attribute | Block::Object => self.state = state,
        }
        Ok(())
    }

    fn begin_world(&mut self) {
        self.in_world = true;
        (self.state.ctm, self.state.active) = (Placement::IDENTITY, BOTH);
        self.named.spaces.insert("world".to_owned(), Placement::IDENTITY);
    }

    fn begin_object(&mut self, lexer: &mut Lexer, place: LineColumn) -> Result<(), Fault> {
        let name = text(lexer, "ObjectBegin", place)?;
        self.begin(Block::Object);
        self.take(256, place)?;
        self.groups.push(self.scene.groups.len() as u32);
        self.scene.groups.push(Group { name, ..Group::default() });
        Ok(())
    }

    fn end_object(&mut self, place: LineColumn) -> Result<(), Fault> {
        self.end(Block::Object, place)?;
        if let Some(group) = self.groups.pop() {
            let name = self.scene.groups[group as usize].name.clone();
            let replaced = self.named.objects.insert(name, group).is_some();
            // Files that name the object now mean another one, or were not understood without it.
            self.placed.retain(|_, placed| placed.is_some() && !replaced);
        }
        Ok(())
    }

    fn object_instance(&mut self, lexer: &mut Lexer, place: LineColumn) -> Result<(), Fault> {
        let name = text(lexer, "ObjectInstance", place)?;
        match self.named.objects.get(&name) {
            Some(&group) => self.place_group(group, self.state.ctm, place),
            None => {
                let known: Vec<&str> = self.named.objects.keys().map(String::as_str).collect();
                let hint = names::hint(&name, known);
                self.warn(place, format!("no object `{name}` was defined before{hint}: it is left out"));
                Ok(())
            }
        }
    }

    fn include(&mut self, lexer: &mut Lexer, name: &str, place: LineColumn) -> Result<(), Stop> {
        let file = text(lexer, name, place)?;
        let path = self.path(&file);
        if let Some(placed) = self.placed_file(&path)? {
            self.place_group(placed.group, self.state.ctm, place)?;
            if name == "Include" {
                self.state.apply(&placed.after);
            }
            return Ok(());
        }
        self.includes += 1;
        if self.open.len() >= DEEPEST || self.open.contains(&path) {
            let message = format!("{file} includes itself, or files are nested more than {DEEPEST} deep");
            return Err(Fault::at(place, message).into());
        }
        if self.includes > MOST_INCLUDES {
            return Err(Fault::at(place, format!("there are more than {MOST_INCLUDES} inclusions of files")).into());
        }
        if !path.is_file() {
            // A missing file is a fault of the directive.
            let error = io::Error::from(io::ErrorKind::NotFound);
            return Err(Fault::at(place, format!("{name} {}: {}", path.display(), describe_io(&error))).into());
        }
        let before = (name == "Import").then(|| (self.state.clone(), self.saved.len()));
        self.run(&path)?;
        let after = Params::read(lexer)?.into_list();
        if let Some(first) = after.first() {
            let what = "parameters after an included file belong to its last directive, and are left out";
            self.warn(first.place, what);
        }
        if let Some((state, depth)) = before {
            if self.saved.len() != depth {
                return Err(Fault::at(
                    place,
                    format!("{file} opens blocks that it does not close, or the other way round"),
                )
                .into());
            }
            self.state = state;
        }
        Ok(())
    }

    /// `Attribute "shape" "float radius" 2`: defaults of parameters.
    fn attribute(&mut self, lexer: &mut Lexer, place: LineColumn) -> Result<(), Fault> {
        let target = text(lexer, "Attribute", place)?;
        let known = "shape light material medium texture";
        let params = Params::read(lexer)?.into_list();
        if !is_in(known, &target) {
            self.warn_of_unknown(place, ("target of `Attribute`", &target), known, "it is left out");
            return Ok(());
        }
        self.take(params.len() as u64 * 200, place)?;
        let of_target = Rc::make_mut(&mut self.state.defaults).entry(target).or_default();
        of_target.retain(|own| params.iter().all(|new| new.name != own.name));
        of_target.extend(params);
        Ok(())
    }

    fn medium_interface(&mut self, lexer: &mut Lexer, place: LineColumn) -> Result<(), Fault> {
        let inside = text(lexer, "MediumInterface", place)?;
        let outside = match lexer.peek()? {
            Some(Token { kind: Kind::Text, .. }) => text(lexer, "MediumInterface", place)?,
            _ => inside.clone(),
        };
        let mut index = |name: &str| match (name, self.named.media.get(name)) {
            ("", _) => NONE,
            (_, Some(&known)) => known,
            (_, None) => {
                self.warn(place, format!("no `MakeNamedMedium` before defines `{name}`: there is air"));
                NONE
            }
        };
        let (inside, outside) = (index(&inside), index(&outside));
        (self.state.inside, self.state.outside) = (inside, outside);
        Ok(())
    }

    fn medium(&mut self, lexer: &mut Lexer, place: LineColumn) -> Result<(), Fault> {
        let name = text(lexer, "MakeNamedMedium", place)?;
        let params = Params::read(lexer)?;
        let kind = params.text("type").unwrap_or("homogeneous").to_owned();
        if kind != "homogeneous" {
            self.named.media.insert(name, NONE);
            self.warn(place, format!("media of the type `{kind}` are left out"));
            return Ok(());
        }
        let usual = if self.is_version_3 { LIQUID } else { ([1.0; 3], [1.0; 3]) };
        let medium = self.coefficients(&params, usual, place)?;
        self.take(64, place)?;
        self.named.media.insert(name, self.scene.media.len() as u32);
        self.scene.media.push(medium);
        self.warn_of_unused(&params, "MakeNamedMedium");
        Ok(())
    }
}

/// The text that a directive begins with.
pub fn text(lexer: &mut Lexer, directive: &str, place: LineColumn) -> Result<String, Fault> {
    let lacks = || Fault::at(place, format!("`{directive}` needs a name in quotes"));
    let mut token = lexer.next()?.ok_or_else(lacks)?;
    let is_list = token.kind == Kind::Open;
    if is_list {
        token = lexer.next()?.ok_or_else(lacks)?;
    }
    if token.kind != Kind::Text {
        return Err(lacks());
    }
    let text = lexer.text(&token);
    if is_list {
        lexer.next()?.filter(|token| token.kind == Kind::Close).ok_or_else(lacks)?;
    }
    Ok(text)
}

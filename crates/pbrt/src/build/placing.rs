//! Copies of groups, and files that do nothing but place objects.
//!
//! Such a file is executed once and becomes a group, however often it is included. A fractal of nested files therefore takes the memory of its
//! levels instead of that of its copies.

use super::{state::BOTH, transforms, *};
use crate::{
    lexer::{Kind, Token},
    scene::{Copies, Placement},
};

/// A file that only places objects.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Index of its group.
    pub group: u32,
    /// What it multiplies the current transform by.
    pub after: DAffine3,
}

/// Bytes of memory of a copy: its transform, and later its instance.
const COPY: u64 = 128;

impl Builder {
    /// Places a group in the group that is being defined.
    pub fn place_group(&mut self, group: u32, place: Placement, at: LineColumn) -> Result<(), Fault> {
        self.take(COPY, at)?;
        let Some(&into) = self.groups.last() else { return Ok(()) };
        let copies = &mut self.scene.groups[into as usize].copies;
        let own = copies_of(copies, group);
        if place.moves() {
            own.moving.push([place.start.as_affine3(), place.end.as_affine3()])
        } else {
            own.places.push(place.start.as_affine3())
        }
        Ok(())
    }

    /// The group of a file that only places objects; None for other files.
    ///
    /// # Errors
    /// If the copies take too much memory.
    pub fn placed_file(&mut self, path: &Path) -> Result<Option<Placed>, Fault> {
        if self.state.active != BOTH {
            return Ok(None);
        }
        self.placed_inside(path, 0)
    }

    fn placed_inside(&mut self, path: &Path, depth: usize) -> Result<Option<Placed>, Fault> {
        if let Some(known) = self.placed.get(path) {
            return Ok(*known);
        }
        if depth >= DEEPEST {
            return Ok(None);
        }
        let Ok(mut lexer) = Lexer::open(path) else { return Ok(None) };
        self.hold(path);
        // A file that includes itself is an error for whoever executes it.
        self.placed.insert(path.to_owned(), None);
        let mut file = File { copies: Vec::new(), ctm: DAffine3::IDENTITY, saved: Vec::new() };
        // So are its other faults.
        let is_whole = self.run_placing(&mut lexer, &mut file, depth)?;
        if !is_whole || !file.saved.is_empty() || file.copies.is_empty() {
            return Ok(None);
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let placed = Placed { group: self.scene.groups.len() as u32, after: file.ctm };
        self.scene.groups.push(Group { name, items: Vec::new(), copies: file.copies });
        self.placed.insert(path.to_owned(), Some(placed));
        Ok(Some(placed))
    }

    /// Executes a file. Returns false if it does anything but placing objects.
    fn run_placing(&mut self, lexer: &mut Lexer, file: &mut File, depth: usize) -> Result<bool, Fault> {
        while let Ok(Some(token)) = lexer.next() {
            match lexer.bytes(&token) {
                b"AttributeBegin" | b"TransformBegin" => file.saved.push(file.ctm),
                b"AttributeEnd" | b"TransformEnd" => match file.saved.pop() {
                    Some(saved) => file.ctm = saved,
                    None => return Ok(false),
                },
                b"ObjectInstance" => {
                    let Some(name) = quoted(lexer) else { return Ok(false) };
                    let Some(&group) = self.named.objects.get(&name) else { return Ok(false) };
                    self.take(COPY, token.place)?;
                    copies_of(&mut file.copies, group).places.push(file.ctm.as_affine3());
                }
                word @ (b"Include" | b"Import") => {
                    let keeps = word == b"Include";
                    let Some(name) = quoted(lexer) else { return Ok(false) };
                    let path = self.path(&name);
                    let Some(placed) = self.placed_inside(&path, depth + 1)? else { return Ok(false) };
                    self.take(COPY, token.place)?;
                    copies_of(&mut file.copies, placed.group).places.push(file.ctm.as_affine3());
                    if keeps {
                        file.ctm *= placed.after;
                    }
                }
                _ => match transform(lexer, &token) {
                    Some(by) => file.ctm *= by,
                    None => return Ok(false),
                },
            }
        }
        // A fault ends the loop before the end of the file.
        Ok(lexer.next().is_ok_and(|token| token.is_none()))
    }
}

/// A file of which all directives so far place objects.
struct File {
    copies: Vec<Copies>,
    ctm: DAffine3,
    saved: Vec<DAffine3>,
}

fn transform(lexer: &mut Lexer, token: &Token) -> Option<DAffine3> {
    let word = lexer.bytes(token);
    let name = *transforms::NAMES.iter().find(|name| name.as_bytes() == word)?;
    transforms::read(lexer, name, token.place).ok().flatten()
}

fn quoted(lexer: &mut Lexer) -> Option<String> {
    let token = lexer.next().ok().flatten().filter(|token| token.kind == Kind::Text)?;
    Some(lexer.text(&token))
}

/// The copies of a group. Looks at the last entries only, because a scene may have many groups; one may then have several entries.
fn copies_of(all: &mut Vec<Copies>, group: u32) -> &mut Copies {
    const LOOKED_AT: usize = 64;
    let first = all.len().saturating_sub(LOOKED_AT);
    let found = all[first..].iter().rposition(|own| own.group == group).map(|index| first + index);
    let index = found.unwrap_or_else(|| {
        all.push(Copies { group, ..Copies::default() });
        all.len() - 1
    });
    &mut all[index]
}

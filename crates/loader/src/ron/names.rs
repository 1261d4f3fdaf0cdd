//! Lookup of a scene's objects by name, for cameras that follow, frame or avoid them.

mod grounds;
mod outlines;
mod solids;

use crate::subjects::{self, Found};
use glam::Vec3;
use std::{cell::RefCell, collections::HashMap, fmt, sync::Arc};
use throng_scene::{Anchor, Relief, Scene};

/// Results of lookups, kept for later times at which the scene is not available.
#[derive(Clone, Default)]
pub struct Known {
    anchors: HashMap<String, Arc<[Anchor]>>,
    outlines: HashMap<Option<String>, Arc<[Vec3]>>,
    solids: HashMap<String, Arc<[[Vec3; 3]]>>,
    grounds: HashMap<String, Relief>,
}

impl fmt::Debug for Known {
    /// Prints no content, since the results are derived from the scene.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Known")
    }
}

/// Finds objects by name, in a scene or among the results of earlier lookups.
pub enum Names<'a> {
    In(&'a Scene, RefCell<Known>),
    Found(&'a Known),
}

impl<'a> Names<'a> {
    /// Lookup in a scene, which must be complete.
    pub fn of(scene: &'a Scene) -> Self {
        Self::In(scene, RefCell::default())
    }

    /// The results of all lookups.
    pub fn known(self) -> Known {
        match self {
            Self::In(_, known) => known.into_inner(),
            Self::Found(known) => known.clone(),
        }
    }

    /// Points of the object that move with it.
    ///
    /// # Errors
    /// If nothing has this name: a sentence with a suggestion.
    pub fn anchors(&self, name: &str) -> Result<Arc<[Anchor]>, String> {
        match self {
            Self::Found(known) => known.anchors.get(name).cloned().ok_or_else(unknown),
            Self::In(scene, known) => {
                let found: Arc<[Anchor]> = subjects::find(scene, name)?.into();
                known.borrow_mut().anchors.insert(name.to_owned(), found.clone());
                Ok(found)
            }
        }
    }

    /// Points at the first frame whose convex hull approximates the object's, or the scene's if `name` is none; never empty.
    ///
    /// # Errors
    /// As [`Self::anchors`].
    pub fn outline(&self, name: Option<&str>) -> Result<Arc<[Vec3]>, String> {
        let (scene, known) = match self {
            Self::Found(known) => return known.outlines.get(&name.map(str::to_owned)).cloned().ok_or_else(unknown),
            Self::In(scene, known) => (scene, known),
        };
        let found = match name {
            Some(name) => subjects::instances(scene, name)?,
            None => Found { around: Vec::new(), instances: (0..scene.world().end as u32).collect() },
        };
        let found: Arc<[Vec3]> = outlines::of(scene, &found).into();
        known.borrow_mut().outlines.insert(name.map(str::to_owned), found.clone());
        Ok(found)
    }

    /// The triangles of the object's first copy, in world space at the first frame.
    ///
    /// # Errors
    /// As [`Self::anchors`]. Also if memory does not suffice.
    pub fn solid(&self, name: &str) -> Result<Arc<[[Vec3; 3]]>, String> {
        let (scene, known) = match self {
            Self::Found(known) => return known.solids.get(name).cloned().ok_or_else(unknown),
            Self::In(scene, known) => (scene, known),
        };
        let found =
            solids::of(scene, &subjects::instances(scene, name)?).map_err(|message| format!("`{name}` {message}"))?;
        let found: Arc<[[Vec3; 3]]> = found.into();
        known.borrow_mut().solids.insert(name.to_owned(), found.clone());
        Ok(found)
    }

    /// The heights of the object's first copy, in world space at the first frame.
    ///
    /// # Errors
    /// As [`Self::anchors`]. Also if the object has no triangles, or if memory does not suffice.
    pub fn ground(&self, name: &str) -> Result<Relief, String> {
        let (scene, known) = match self {
            Self::Found(known) => return known.grounds.get(name).cloned().ok_or_else(unknown),
            Self::In(scene, known) => (scene, known),
        };
        if let Some(known) = known.borrow().grounds.get(name) {
            return Ok(known.clone());
        }
        let ground =
            grounds::of(scene, &subjects::instances(scene, name)?).map_err(|message| format!("`{name}` {message}"))?;
        let found = Relief::new(move |point| ground.at(point).map(|found| found.height));
        known.borrow_mut().grounds.insert(name.to_owned(), found.clone());
        Ok(found)
    }
}

fn unknown() -> String {
    "nothing of that name is placed".to_owned()
}

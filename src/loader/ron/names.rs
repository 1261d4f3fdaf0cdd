//! The things of a scene by their names, for cameras that follow, fit or avoid them.

mod grounds;
mod outlines;
mod solids;

use crate::{
    loader::subjects::{self, Found},
    scene::{Anchor, Relief, Scene},
};
use glam::Vec3;
use std::{cell::RefCell, collections::HashMap, fmt, sync::Arc};

/// What was found in a scene by names, kept for later times at which the scene is not at hand.
#[derive(Clone, Default)]
pub struct Known {
    anchors: HashMap<String, Arc<[Anchor]>>,
    outlines: HashMap<Option<String>, Arc<[Vec3]>>,
    solids: HashMap<String, Arc<[[Vec3; 3]]>>,
    grounds: HashMap<String, Relief>,
}

impl fmt::Debug for Known {
    /// Names follow from the scene, and say nothing about it that it does not say itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Known")
    }
}

/// Finds things by name, in a scene or among those that were found in it before.
pub enum Names<'a> {
    In(&'a Scene, RefCell<Known>),
    Found(&'a Known),
}

impl<'a> Names<'a> {
    /// Names in a scene, in which everything is placed already.
    pub fn of(scene: &'a Scene) -> Self {
        Self::In(scene, RefCell::default())
    }

    /// Everything that was found.
    pub fn known(self) -> Known {
        match self {
            Self::In(_, known) => known.into_inner(),
            Self::Found(known) => known.clone(),
        }
    }

    /// Points of the thing that move with it.
    ///
    /// # Errors
    /// A sentence about a name that nothing has.
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

    /// Points at the first frame whose convex hull is about that of the thing, or of everything; never empty.
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

    /// The triangles of the first copy of the thing, in world space at the first frame.
    ///
    /// # Errors
    /// As [`Self::anchors`].
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

    /// The heights of the first copy of the thing, in world space at the first frame.
    ///
    /// # Errors
    /// As [`Self::anchors`].
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

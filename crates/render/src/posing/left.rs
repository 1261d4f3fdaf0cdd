//! The instances of TLASes that are left to devices.

use crate::posing::divided::Divided;
use std::sync::{Arc, Mutex};
use throng_abi::InstanceKind;
use throng_accel::TlasInput;
use throng_base::sync::lock;

/// The kinds of instances of the last TLAS. Posers of a scene share them, because devices recognise the list and do not upload it again.
#[derive(Default)]
pub struct LeftKinds(Mutex<Option<Known>>);

struct Known {
    /// The division whose instances these are; none for all instances of the scene.
    division: Option<Arc<Divided>>,
    kinds: Arc<Vec<InstanceKind>>,
}

impl LeftKinds {
    /// The kinds of the instances of `input`: the rebuilt ones of `division`, or all of the scene. `changes`: they may be others in each frame.
    pub fn of(&self, input: TlasInput<'_>, division: Option<Arc<Divided>>, changes: bool) -> Arc<Vec<InstanceKind>> {
        let address = |division: &Option<Arc<Divided>>| division.as_ref().map(Arc::as_ptr);
        let is_known = |known: &&Known| !changes && address(&known.division) == address(&division);
        let known = || lock(&self.0).as_ref().filter(is_known).map(|known| known.kinds.clone());
        if let Some(kinds) = known() {
            return kinds;
        }
        // Several posers may do this at the same time. None of them waits for another, whose threads it may be needed by.
        let kinds = Arc::new(input.kinds());
        if let Some(kinds) = known() {
            return kinds;
        }
        if !changes {
            *lock(&self.0) = Some(Known { division, kinds: kinds.clone() });
        }
        kinds
    }
}

//! The instances of TLASes that are left to devices.

use crate::posing::divided::Divided;
use std::sync::Arc;
use throng_abi::InstanceKind;
use throng_accel::TlasInput;

/// The kinds of instances of the last TLAS. Devices recognise the list, and do not upload it again.
#[derive(Default)]
pub struct LeftKinds(Option<Known>);

struct Known {
    /// The division whose instances these are; none for all instances of the scene.
    division: Option<Arc<Divided>>,
    kinds: Arc<Vec<InstanceKind>>,
}

impl LeftKinds {
    /// The kinds of the instances of `input`: the rebuilt ones of `division`, or all of the scene. `changes`: they may be others in each frame.
    pub fn of(
        &mut self,
        input: TlasInput<'_>,
        division: Option<Arc<Divided>>,
        changes: bool,
    ) -> Arc<Vec<InstanceKind>> {
        if changes {
            return Arc::new(input.kinds());
        }
        let address = |division: &Option<Arc<Divided>>| division.as_ref().map(Arc::as_ptr);
        match &self.0 {
            Some(known) if address(&known.division) == address(&division) => known.kinds.clone(),
            _ => {
                let kinds = Arc::new(input.kinds());
                self.0 = Some(Known { division, kinds: kinds.clone() });
                kinds
            }
        }
    }
}

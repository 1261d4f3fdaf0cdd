//! Changes of all units of a compressed tree over instances.

use throng_abi::{CompressedNode, InstanceUnit, Unit};

/// Changes the nodes and the instances of a tree whose root is unit 0, parents first. The children of a node are found before it is changed.
pub fn walk_units(
    units: &mut [Unit],
    mut node: impl FnMut(&mut CompressedNode),
    mut instance: impl FnMut(&mut InstanceUnit),
) {
    let mut open = if units.is_empty() { Vec::new() } else { vec![0usize] };
    while let Some(index) = open.pop() {
        let mut own: CompressedNode = bytemuck::cast(units[index]);
        let children = (0..8).filter(|slot| own.units >> slot & 1 != 0);
        for (place, slot) in children.enumerate() {
            let child = own.unit_base as usize + place;
            if own.instances >> slot & 1 == 0 {
                open.push(child);
            } else {
                let mut unit: InstanceUnit = bytemuck::cast(units[child]);
                instance(&mut unit);
                units[child] = bytemuck::cast(unit);
            }
        }
        node(&mut own);
        units[index] = bytemuck::cast(own);
    }
}

//! The node tree of a model as lines of text. Long trees are shortened.

use super::{info::NodeInfo, text::shown};

/// Deepest indented level. Without a limit, a long chain of nodes would fill the screen.
const MOST_INDENTED: usize = 32;

/// Returns one line per node, children below their parent. With a `limit`, returns at most that number of lines: the levels nearest to the
/// roots, and a count wherever nodes are left out. `note` adds to a node's line.
pub fn lines(nodes: &[NodeInfo], limit: Option<usize>, note: impl Fn(&NodeInfo) -> String) -> Vec<String> {
    let tree = Tree::new(nodes);
    let kept = limit.map_or(nodes.len(), |limit| tree.how_many_fit(limit));
    tree.print(kept, note)
}

struct Tree<'a> {
    nodes: &'a [NodeInfo],
    children: Vec<Vec<u32>>,
    roots: Vec<u32>,
    /// Number of nodes in each node's subtree, including the node.
    sizes: Vec<usize>,
}

impl<'a> Tree<'a> {
    fn new(nodes: &'a [NodeInfo]) -> Self {
        let mut tree =
            Self { nodes, children: vec![Vec::new(); nodes.len()], roots: Vec::new(), sizes: vec![1; nodes.len()] };
        for (node, index) in nodes.iter().zip(0..) {
            match node.parent {
                Some(parent) => tree.children[parent as usize].push(index),
                None => tree.roots.push(index),
            }
        }
        // Parents come before their children.
        for (index, node) in nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent {
                tree.sizes[parent as usize] += tree.sizes[index];
            }
        }
        tree
    }

    /// The greatest number of leading nodes that fit into `limit` lines, including one line for each gap.
    fn how_many_fit(&self, limit: usize) -> usize {
        let fits = |&kept: &usize| {
            let cut = |list: &Vec<u32>| list.last().is_some_and(|&last| last as usize >= kept);
            let cuts = self.children[..kept].iter().filter(|list| cut(list)).count();
            kept + cuts + usize::from(cut(&self.roots)) <= limit
        };
        let most = limit.min(self.nodes.len());
        (0..=most).rev().find(fits).unwrap_or(0)
    }

    fn print(&self, kept: usize, note: impl Fn(&NodeInfo) -> String) -> Vec<String> {
        let mut lines = Vec::new();
        let mut open = Vec::new();
        self.open(&self.roots, 0, kept, &mut open);
        while let Some((depth, entry)) = open.pop() {
            let indent = "  ".repeat(depth.min(MOST_INDENTED));
            match entry {
                Entry::Node(index) => {
                    let node = &self.nodes[index as usize];
                    lines.push(format!("{indent}{}{}", shown(&node.name), note(node)));
                    self.open(&self.children[index as usize], depth + 1, kept, &mut open);
                }
                Entry::Missing(count) => lines.push(format!("{indent}… {count} more")),
            }
        }
        lines
    }

    /// Pushes the entries of a list of siblings, in reverse order.
    fn open(&self, list: &[u32], depth: usize, kept: usize, to: &mut Vec<(usize, Entry)>) {
        let (shown, missing) = list.split_at(list.partition_point(|&i| (i as usize) < kept));
        if !missing.is_empty() {
            let count = missing.iter().map(|&i| self.sizes[i as usize]).sum();
            to.push((depth, Entry::Missing(count)));
        }
        to.extend(shown.iter().rev().map(|&i| (depth, Entry::Node(i))));
    }
}

enum Entry {
    Node(u32),
    /// Number of missing nodes, including their descendants.
    Missing(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a tree, given by the parents of its nodes. Nodes are named by their indices.
    fn drawn(parents: &[Option<u32>], limit: Option<usize>) -> Vec<String> {
        let node = |(index, parent): (usize, &Option<u32>)| NodeInfo {
            name: index.to_string(),
            parent: *parent,
            meshes: Vec::new(),
            skin: None,
            camera: None,
            light: None,
            instances: 0,
        };
        let nodes: Vec<NodeInfo> = parents.iter().enumerate().map(node).collect();
        lines(&nodes, limit, |_| String::new())
    }

    #[test]
    fn children_stand_below_their_parent() {
        let parents = [None, None, Some(0), Some(0), Some(1), Some(2)];
        let expected = ["0", "  2", "    5", "  3", "1", "  4"];
        assert_eq!(drawn(&parents, None), expected);
        assert_eq!(drawn(&parents, Some(6)), expected);
    }

    #[test]
    fn what_does_not_fit_is_counted_where_it_is() {
        let parents = [None, None, Some(0), Some(0), Some(1), Some(2)];
        assert_eq!(drawn(&parents, Some(5)), ["0", "  … 3 more", "1", "  … 1 more"]);
        let wide: Vec<_> = (0..1000).map(|i| (i > 0).then_some(0)).collect();
        assert_eq!(drawn(&wide, Some(4)), ["0", "  1", "  2", "  … 997 more"]);
        assert_eq!(drawn(&[None; 9], Some(1)), ["… 9 more"]);
    }

    #[test]
    fn a_long_chain_is_neither_recursed_into_nor_indented_forever() {
        let chain: Vec<_> = (0..100_000u32).map(|i| i.checked_sub(1)).collect();
        let lines = drawn(&chain, None);
        assert_eq!(lines.len(), chain.len());
        assert!(lines.iter().all(|l| l.len() < 100));
        assert_eq!(drawn(&chain, Some(40)).len(), 40);
    }
}

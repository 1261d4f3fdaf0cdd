//! The layer of a document, in the structure that OpenUSD's plugin gives it.

use super::{
    Layer, MATERIALS, PLACE,
    document::{Document, From, Graph, Input, Node},
    values::{identifier, quoted, usd_type},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Write,
};

const GRAPHS: &str = "/MaterialX/NodeGraphs";
/// Nodes of a graph with the graphs of its own nodes in place of these.
const MOST_NODES: u64 = 500;
/// The same for all graphs and nodes of a document.
const MOST_IN_ALL: u64 = 20_000;

/// Writes the layer.
pub fn write(document: &Document) -> Layer {
    let mut writer = Writer {
        document,
        text: String::new(),
        graphs: document.graphs.iter().map(|graph| (graph.name.as_str(), graph)).collect(),
        nodes: document.nodes.iter().map(|node| (node.name.as_str(), node)).collect(),
        sizes: HashMap::new(),
        custom: HashMap::new(),
    };
    writer.find_custom();
    writer.all();
    let remark = |(kind, (count, place)): (&String, &(u64, String))| {
        format!("{place}: <{kind}> of a MaterialX document is left out ({count} in all); bind materials in the stage")
    };
    Layer { text: writer.text, remarks: document.left_out.iter().map(remark).collect() }
}

struct Writer<'a> {
    document: &'a Document,
    text: String,
    graphs: BTreeMap<&'a str, &'a Graph>,
    /// Nodes outside of graphs.
    nodes: BTreeMap<&'a str, &'a Node>,
    /// The nodes of each graph, with those of graphs in place of its own nodes; `None` while they are counted.
    sizes: HashMap<&'a str, Option<u64>>,
    /// Graphs that implement nodes, by the category or the definition.
    custom: HashMap<&'a str, &'a Graph>,
}

/// Where nodes are: the path of the prim above them, whether it is a graph, and the nodes there.
struct Site<'a> {
    path: String,
    is_graph: bool,
    nodes: BTreeMap<&'a str, &'a Node>,
}

impl<'a> Writer<'a> {
    /// Finds the graphs that implement nodes. Those that contain themselves or too many nodes do not count.
    fn find_custom(&mut self) {
        for definition in &self.document.definitions {
            let own = |graph: &&Graph| graph.definition.as_deref() == Some(definition.name.as_str());
            let named = self.document.implementations.get(&definition.name);
            let graph = named.and_then(|name| self.graphs.get(name.as_str()).copied());
            if let Some(graph) = graph.or_else(|| self.document.graphs.iter().find(own)) {
                self.custom.insert(&definition.node, graph);
                self.custom.insert(&definition.name, graph);
            }
        }
        let all: Vec<_> = self.custom.iter().map(|(name, graph)| (*name, *graph)).collect();
        let all: Vec<_> = all.into_iter().map(|(name, graph)| (name, self.size(graph))).collect();
        for (name, size) in all {
            if size.is_none_or(|size| size > MOST_NODES) {
                self.custom.remove(name);
            }
        }
        let inner = self.document.graphs.iter().flat_map(|graph| &graph.nodes);
        let of_node =
            |node| self.implementation(node).and_then(|graph| self.sizes.get(graph.name.as_str()).copied()?);
        let added: u64 = inner.chain(&self.document.nodes).filter_map(of_node).fold(0, u64::saturating_add);
        if added > MOST_IN_ALL {
            self.custom.clear();
        }
    }

    /// The number of a graph's nodes. `None` if it contains itself.
    fn size(&mut self, graph: &'a Graph) -> Option<u64> {
        if let Some(known) = self.sizes.get(graph.name.as_str()) {
            return *known;
        }
        self.sizes.insert(&graph.name, None);
        let mut sum = 0_u64;
        for node in &graph.nodes {
            sum = sum.saturating_add(match self.implementation(node) {
                Some(inner) => self.size(inner)?,
                None => 1,
            });
        }
        self.sizes.insert(&graph.name, Some(sum));
        Some(sum)
    }

    /// The graph that implements a node.
    fn implementation(&self, node: &Node) -> Option<&'a Graph> {
        let name = node.definition.as_deref().unwrap_or(&node.category);
        self.custom.get(name).copied()
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn all(&mut self) {
        self.line("#usda 1.0\ndef \"MaterialX\" {\ndef \"Materials\" {");
        let mut seen = BTreeSet::new();
        for node in &self.document.nodes {
            if node.kind == "material" && seen.insert(identifier(&node.name)) {
                self.material(node);
            }
        }
        self.line("}\ndef \"NodeGraphs\" {");
        let loose = Site { path: GRAPHS.to_owned(), is_graph: false, nodes: self.nodes.clone() };
        let mut seen = BTreeSet::new();
        for graph in &self.document.graphs {
            if seen.insert(identifier(&graph.name)) {
                self.graph(graph, &loose);
            }
        }
        for node in &self.document.nodes {
            let is_value = node.kind != "material" && !node.kind.ends_with("shader");
            if is_value && seen.insert(identifier(&node.name)) {
                self.node(node, &loose);
            }
        }
        self.line("}\n}");
    }

    fn material(&mut self, material: &'a Node) {
        let name = identifier(&material.name);
        let path = format!("{MATERIALS}/{name}");
        let _ = writeln!(self.text, "def Material \"{name}\" {{");
        let mut shaders = Vec::new();
        let mut needs = Needs::default();
        for input in &material.inputs {
            let output = match input.kind.as_str() {
                "surfaceshader" => "mtlx:surface",
                "displacementshader" => "mtlx:displacement",
                "volumeshader" => "mtlx:volume",
                _ => continue,
            };
            let source = match &input.from {
                From::Node(node, _) if self.nodes.contains_key(node.as_str()) => {
                    shaders.push(node.as_str());
                    format!("{path}/{}.outputs:out", identifier(node))
                }
                From::Graph(graph, output) => self.of_graph(&path, graph, output, &mut needs),
                _ => continue,
            };
            let _ = writeln!(self.text, "token outputs:{output}.connect = <{source}>");
        }
        // The values of a material's only shader are inputs of the material.
        let only = shaders.first().copied().filter(|_| shaders.len() == 1);
        let inputs = only.and_then(|shader| self.nodes.get(shader)).map_or(&[][..], |node| &node.inputs);
        inputs.iter().filter(|input| input.from == From::Value).for_each(|input| self.value(input));
        let mut written = BTreeSet::new();
        while let Some(shader) = shaders.pop() {
            if let Some(node) = self.nodes.get(shader).copied().filter(|_| written.insert(identifier(shader))) {
                self.shader(node, &path, only == Some(shader), &mut shaders, &mut needs);
            }
        }
        for graph in needs.graphs.difference(&written) {
            let _ = writeln!(self.text, "def NodeGraph \"{graph}\" (prepend references = <{GRAPHS}/{graph}>) {{}}");
        }
        if needs.all && !written.contains("NodeGraphs") {
            let _ = writeln!(self.text, "def \"NodeGraphs\" (prepend references = <{GRAPHS}>) {{}}");
        }
        self.line("}");
    }

    /// A shader of a material, whose values are inputs of the material if it `shares` them. The shaders that it combines are added to `shaders`.
    fn shader(&mut self, node: &'a Node, material: &str, shares: bool, shaders: &mut Vec<&'a str>, needs: &mut Needs) {
        self.begin(node);
        for input in &node.inputs {
            let Some((kind, _)) = usd_type(&input.kind) else { continue };
            let name = identifier(&input.name);
            let source = match &input.from {
                From::Value if shares => format!("{material}.inputs:{name}"),
                From::Value | From::Interface(_) => {
                    self.value(input);
                    continue;
                }
                From::Node(other, output) => match self.nodes.get(other.as_str()) {
                    Some(node) if node.kind.ends_with("shader") => {
                        shaders.push(other);
                        format!("{material}/{}.outputs:out", identifier(other))
                    }
                    node => {
                        needs.all = true;
                        let output = self.output(node.copied(), output);
                        format!("{material}/NodeGraphs/{}.outputs:{}", identifier(other), identifier(&output))
                    }
                },
                From::Graph(graph, output) => self.of_graph(material, graph, output, needs),
            };
            if !(shares && input.from == From::Value && input.value.is_none()) {
                let _ = writeln!(self.text, "{kind} inputs:{name}.connect = <{source}>");
            }
        }
        self.line("}");
    }

    /// The path of a graph's output as a material sees it.
    fn of_graph(&self, material: &str, graph: &str, output: &str, needs: &mut Needs) -> String {
        let name = identifier(graph);
        let is_alone = self.graphs.get(graph).is_some_and(|graph| !reads_others(graph));
        // A graph without an output of this name has only one.
        let outputs = self.graphs.get(graph).map_or(&[][..], |graph| &graph.outputs);
        let output = match outputs {
            [only] => identifier(&only.name),
            _ => identifier(output),
        };
        if is_alone {
            let path = format!("{material}/{name}.outputs:{output}");
            needs.graphs.insert(name);
            return path;
        }
        needs.all = true;
        format!("{material}/NodeGraphs/{name}.outputs:{output}")
    }

    fn graph(&mut self, graph: &'a Graph, outside: &Site<'a>) {
        let name = identifier(&graph.name);
        let nodes = graph.nodes.iter().map(|node| (node.name.as_str(), node)).collect();
        let site = Site { path: format!("{GRAPHS}/{name}"), is_graph: true, nodes };
        let _ = writeln!(self.text, "def NodeGraph \"{name}\" {{");
        let definition = graph.definition.as_deref();
        let definition = self.document.definitions.iter().find(|known| Some(known.name.as_str()) == definition);
        let mut seen = BTreeSet::new();
        for input in graph.inputs.iter().chain(definition.into_iter().flat_map(|definition| &definition.inputs)) {
            if seen.insert(identifier(&input.name)) {
                self.input(input, outside);
            }
        }
        let mut seen = BTreeSet::new();
        for node in graph.nodes.iter().filter(|node| seen.insert(identifier(&node.name))) {
            self.node(node, &site);
        }
        for output in &graph.outputs {
            if let (Some((kind, _)), Some(source)) = (usd_type(&output.kind), self.source(output, &site)) {
                let _ = writeln!(self.text, "{kind} outputs:{}.connect = <{source}>", identifier(&output.name));
            }
        }
        self.line("}");
    }

    fn node(&mut self, node: &'a Node, site: &Site) {
        self.begin(node);
        for input in &node.inputs {
            self.input(input, site);
        }
        self.line("}");
    }

    /// The first lines of a shader: its name, its type and its place in the document.
    fn begin(&mut self, node: &'a Node) {
        let name = identifier(&node.name);
        match self.implementation(node) {
            Some(graph) => {
                let graph = identifier(&graph.name);
                let _ = writeln!(self.text, "def NodeGraph \"{name}\" (prepend references = <{GRAPHS}/{graph}>) {{");
            }
            None => {
                let id = node.definition.clone().unwrap_or_else(|| definition(node));
                let _ = writeln!(self.text, "def Shader \"{name}\" {{\nuniform token info:id = {}", quoted(&id));
            }
        }
        let _ = writeln!(self.text, "custom uniform string {PLACE} = {}", quoted(&node.place));
    }

    /// An input of a node or graph: its value or its source.
    fn input(&mut self, input: &Input, site: &Site) {
        match (usd_type(&input.kind), self.source(input, site)) {
            (Some((kind, _)), Some(source)) => {
                let _ = writeln!(self.text, "{kind} inputs:{}.connect = <{source}>", identifier(&input.name));
            }
            _ => self.value(input),
        }
    }

    fn value(&mut self, input: &Input) {
        let (Some((kind, _)), Some(value)) = (usd_type(&input.kind), &input.value) else { return };
        let _ = write!(self.text, "{kind} inputs:{} = {value}", identifier(&input.name));
        if let Some(space) = &input.space {
            let _ = write!(self.text, " (colorSpace = {})", quoted(space));
        }
        self.text.push('\n');
    }

    /// What an input or output is connected to.
    fn source(&self, input: &Input, site: &Site) -> Option<String> {
        Some(match &input.from {
            From::Value => return None,
            From::Interface(name) => {
                if !site.is_graph {
                    return None;
                }
                format!("{}.inputs:{}", site.path, identifier(name))
            }
            From::Node(name, output) => {
                let node = site.nodes.get(name.as_str()).copied();
                let output = self.output(node, output);
                match node {
                    // Old documents name graphs in the same way.
                    None if self.graphs.contains_key(name.as_str()) => {
                        format!("{GRAPHS}/{}.outputs:{}", identifier(name), identifier(&output))
                    }
                    _ => format!("{}/{}.outputs:{}", site.path, identifier(name), identifier(&output)),
                }
            }
            From::Graph(name, output) => format!("{GRAPHS}/{}.outputs:{}", identifier(name), identifier(output)),
        })
    }

    /// The output of a node. A graph in its place may call it otherwise.
    fn output(&self, node: Option<&Node>, output: &str) -> String {
        match node.and_then(|node| self.implementation(node)).map(|graph| &graph.outputs[..]) {
            Some([only]) => only.name.clone(),
            _ => output.to_owned(),
        }
    }
}

/// The definition of a node of the standard library.
fn definition(node: &Node) -> String {
    // Those of displacement are told apart by their input.
    let kind = match node.category.as_str() {
        "displacement" => node.inputs.iter().find(|input| input.name == "displacement").map_or("float", |i| &i.kind),
        _ => &node.kind,
    };
    format!("ND_{}_{kind}", node.category)
}

/// The graphs that a material's shaders read.
#[derive(Default)]
struct Needs {
    graphs: BTreeSet<String>,
    /// Whether all graphs and loose nodes are needed.
    all: bool,
}

/// Whether a graph is connected to nodes or graphs outside of it.
fn reads_others(graph: &Graph) -> bool {
    let inner = graph.nodes.iter().flat_map(|node| &node.inputs).chain(&graph.outputs);
    let is_outside = |input: &Input| match &input.from {
        From::Graph(..) => true,
        From::Node(name, _) => !graph.nodes.iter().any(|node| node.name == *name),
        _ => false,
    };
    graph.inputs.iter().any(|input| matches!(input.from, From::Node(..) | From::Graph(..)))
        || inner.into_iter().any(is_outside)
}

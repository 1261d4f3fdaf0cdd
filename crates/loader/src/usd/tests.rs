//! The conversion of stages that are written by hand; the reader has tests of its own.

use super::{Clock, Converter, cage, contents::Contents, deform};
use crate::{
    materials::Materials,
    model::MeshMotion,
    ron::placing::{patterns::Pattern, resolved::Target},
};
use glam::{Affine3, DAffine3, DVec3, Vec3};
use std::path::Path;
use throng_scene::{Alpha, Material, MaterialKind, NONE};
use throng_usd::{
    self as usd, ABSENT, Content, Copies, Group, Input, Item, PolygonMesh, Primvar, Read, Sampled, Scheme, Shape,
    ShapeKind, Source, Stage, Subset, Surface, Times,
};

fn shape(kind: ShapeKind) -> Shape {
    Shape { name: "/world/thing".to_owned(), kind, double_sided: true, colors: None, opacities: None }
}

fn square() -> PolygonMesh {
    PolygonMesh {
        points: Sampled::Still(vec![[0., 0., 0.], [1., 0., 0.], [1., 1., 0.], [0., 1., 0.]]),
        face_sizes: vec![4],
        corners: vec![0, 1, 2, 3],
        ..PolygonMesh::default()
    }
}

fn item(content: Content, x: f64) -> Item {
    let group_from_item = Sampled::Still(DAffine3::from_translation(DVec3::X * x));
    Item { name: "/world/item".to_owned(), content, group_from_item, shown: Sampled::Still(true) }
}

fn placed(shape: u32) -> Content {
    Content::Shape { shape, materials: vec![NONE], skeleton: NONE, color: None, opacity: None }
}

fn group(items: Vec<Item>) -> Group {
    Group { name: "/world/group".to_owned(), items }
}

fn stage(groups: Vec<Group>, shapes: Vec<Shape>) -> Stage {
    let times = Times { range: Some((10.0, 20.0)), per_second: 10.0 };
    Stage { groups, shapes, times, meters_per_unit: 1.0, ..Stage::default() }
}

fn converted(stage: &Stage) -> (Contents, Materials) {
    let mut table = Materials::default();
    let contents =
        Converter::new(stage, Path::new("a.usda"), &mut table, DAffine3::from_scale(DVec3::splat(2.0))).finish();
    (contents, table)
}

fn x(place: &Affine3) -> f32 {
    place.translation.x
}

#[test]
fn copies_of_one_shape_become_one_placement_in_the_scene_s_units() {
    let world = group(vec![item(placed(0), 1.0), item(placed(0), 3.0), item(placed(1), 5.0)]);
    let shapes = vec![shape(ShapeKind::Cube(3.0)), shape(ShapeKind::Sphere(0.5))];
    let (contents, _) = converted(&stage(vec![world], shapes));
    let [cubes, sphere] = &contents.lists[0][..] else { panic!("{}", contents.lists[0].len()) };
    assert_eq!((cubes.count(), x(&cubes.copy(1).1), sphere.count()), (2, 6.0, 1));
    assert_eq!(cubes.copy(0).1.matrix3.x_axis, Vec3::X * 6.0);
    let bounds = contents.bounds();
    assert_eq!((bounds.min.x, bounds.max.x), (-1.0, 11.0));
}

#[test]
fn groups_stay_groups_unless_they_have_one_object() {
    let world = group(vec![item(Content::Group(1), 0.0), item(Content::Group(2), 4.0), item(Content::Group(3), 0.0)]);
    let pair = group(vec![item(placed(0), 0.0), item(placed(0), 1.0)]);
    let single = group(vec![item(placed(0), 10.0)]);
    let (contents, _) =
        converted(&stage(vec![world, pair, single, group(Vec::new())], vec![shape(ShapeKind::Cube(1.0))]));
    let [list, mesh] = &contents.lists[0][..] else { panic!() };
    assert_eq!((list.target, mesh.target), (Target::List(1), Target::Mesh(0)));
    assert_eq!((x(&mesh.copy(0).1), contents.lists[1][0].count()), (28.0, 2));
}

#[test]
fn points_of_an_instancer_are_placed_by_prototype_and_absent_ones_are_hidden() {
    let at = |x: f32| Affine3::from_translation(Vec3::X * x);
    let still =
        Copies { prototypes: vec![1, 2], of: vec![0, 1, 0], places: Sampled::Still(vec![at(1.0), at(2.0), ABSENT]) };
    let moving = Copies {
        prototypes: vec![1],
        of: vec![0, 0],
        places: Sampled::Moving(vec![(10.0, vec![at(0.0), ABSENT]), (15.0, vec![at(8.0), at(1.0)])]),
    };
    let world = group(vec![item(Content::Copies(still), 0.0), item(Content::Copies(moving), 100.0)]);
    let single = |shape| group(vec![item(placed(shape), 0.0)]);
    let shapes = vec![shape(ShapeKind::Cube(1.0)), shape(ShapeKind::Sphere(1.0))];
    let (contents, _) = converted(&stage(vec![world, single(0), single(1)], shapes));
    let [cube, sphere, table] = &contents.lists[0][..] else { panic!("{}", contents.lists[0].len()) };
    assert_eq!((cube.count(), sphere.count(), table.count()), (1, 1, 2));
    let pattern = table.table().unwrap_or_else(|| panic!("no table"));
    let rows = |time: f64| {
        let position = pattern.table.position(time);
        let rows = pattern.table.rows(position.from);
        let row =
            |row: u32| Some(x(&pattern.table.pose(&rows, row)?.placed(&Affine3::IDENTITY, &Affine3::IDENTITY)?));
        (position.share, row(0), row(1))
    };
    // Time code 10 is at 0 seconds, and 15 half a second later.
    assert_eq!(rows(0.0), (0.0, Some(200.0), None));
    assert_eq!(rows(0.5), (0.0, Some(216.0), Some(202.0)));
    assert_eq!(rows(0.25).0, 0.5);
}

#[test]
fn objects_that_move_are_in_tables_and_hidden_ones_nowhere() {
    let mut moving = item(placed(0), 0.0);
    let at = |x: f64| DAffine3::from_translation(DVec3::X * x);
    moving.group_from_item = Sampled::Moving(vec![(10.0, at(0.0)), (20.0, at(1.0))]);
    let mut hidden = item(placed(0), 0.0);
    hidden.shown = Sampled::Still(false);
    let mut blinking = item(placed(0), 0.0);
    blinking.shown = Sampled::Moving(vec![(10.0, false), (12.0, true)]);
    let (contents, _) =
        converted(&stage(vec![group(vec![moving, hidden, blinking])], vec![shape(ShapeKind::Cube(1.0))]));
    let [table, blinking] = &contents.lists[0][..] else { panic!("{}", contents.lists[0].len()) };
    assert!(matches!(&*table.pattern, Pattern::Table(_)));
    let shown = blinking.visible.as_ref().unwrap_or_else(|| panic!("always shown"));
    assert_eq!([shown.at(0.0), shown.at(0.19), shown.at(0.2)], [false, false, true]);
}

#[test]
fn points_that_move_deform_their_mesh_and_constant_ones_do_not() {
    let raised = vec![[0., 0., 0.], [1., 0., 0.], [1., 1., 4.], [0., 1., 0.]];
    let points = Sampled::Moving(vec![(12.0, square().points.first().clone()), (17.0, raised)]);
    let mesh = PolygonMesh { points, ..square() };
    let shapes = vec![shape(ShapeKind::Mesh(Box::new(mesh))), shape(ShapeKind::Mesh(Box::new(square())))];
    let world = group(vec![item(placed(0), 0.0), item(placed(1), 0.0)]);
    let (contents, _) = converted(&stage(vec![world], shapes));
    let MeshMotion::Alive { actor, deforming, .. } = &contents.sources[0].motion else { panic!("it is still") };
    assert_eq!(actor.playbacks[0].offset, -0.2, "the first sample is 0.2 seconds after the stage's start");
    assert_eq!(actor.rig.clips[0].channels[0].values, [0.0, 1.0]);
    assert_eq!(deforming.pieces[0].deformers.targets[0].positions[2], [0.0, 0.0, 4.0]);
    assert!(matches!(contents.sources[1].motion, MeshMotion::Still));
}

#[test]
fn cages_keep_their_subsets_and_orientation_and_become_triangles_of_the_chosen_level() {
    let cage = PolygonMesh {
        points: Sampled::Still(vec![
            [0., 0., 0.],
            [1., 0., 0.],
            [1., 1., 0.],
            [0., 1., 0.],
            [2., 0., 0.],
            [2., 1., 0.],
        ]),
        face_sizes: vec![4, 4, 2],
        corners: vec![0, 1, 2, 3, 1, 4, 5, 2, 0, 1],
        subsets: vec![Subset { name: "right".to_owned(), faces: vec![1] }],
        left_handed: true,
        ..PolygonMesh::default()
    };
    let made = |mesh: &PolygonMesh| {
        let made = cage::of(&shape(ShapeKind::Sphere(1.0)), mesh, &Default::default(), mesh.points.first().clone());
        made.map(|cage| cage.unwrap_or_else(|cause| panic!("{cause}")).refined(2).unwrap_or_else(|| panic!()).mesh)
    };
    let mesh = made(&cage).unwrap();
    assert_eq!((mesh.triangles.len(), mesh.slots.iter().filter(|slot| **slot == 0).count()), (64, 32));
    assert!(mesh.normals.iter().all(|normal| normal[2] < -0.999), "left-handed faces are seen from below");
    let hole = made(&PolygonMesh { holes: vec![0], ..cage.clone() }).unwrap();
    assert!(hole.triangles.len() == 32 && hole.slots.iter().all(|&slot| slot == 0));
    assert!(made(&PolygonMesh { scheme: Scheme::None, ..cage.clone() }).is_none());
    let triangulated = PolygonMesh { scheme: Scheme::Loop, ..cage };
    assert!(cage::is_triangulated(&triangulated));
    assert_eq!(made(&triangulated).unwrap().triangles.len(), 4 * 16);
}

#[test]
fn points_that_move_deform_the_cage_of_their_surface() {
    let raised = vec![[0., 0., 0.], [1., 0., 0.], [1., 1., 4.], [0., 1., 0.]];
    let points = Sampled::Moving(vec![(12.0, square().points.first().clone()), (17.0, raised)]);
    let (rest, deformers) = deform::of_cage(&PolygonMesh { points, ..square() }, None, &Clock::new(&Times::default()));
    assert_eq!(&rest, square().points.first());
    let offsets = &deformers.unwrap_or_else(|| panic!("it is still")).targets[0].positions;
    assert_eq!(offsets[..], [[0.0; 3], [0.0; 3], [0.0, 0.0, 4.0], [0.0; 3]]);
}

fn read(picture: u32, channel: u8) -> Read {
    Read {
        picture,
        channel,
        scale: [1.0; 4],
        bias: [0.0; 4],
        fallback: [0.0; 4],
        uvs: "st".to_owned(),
        transform: glam::Affine2::IDENTITY,
        wrap: Default::default(),
        space: Default::default(),
    }
}

/// The first material of a stage with this surface, on a square.
fn material(surface: Surface) -> (Material, Materials) {
    let uvs = vec![("st".to_owned(), Primvar { values: vec![[0.0; 2]], ..Primvar::default() })];
    let mesh = PolygonMesh { uvs, ..square() };
    let content = Content::Shape { shape: 0, materials: vec![0], skeleton: NONE, color: None, opacity: None };
    let mut stage = stage(vec![group(vec![item(content, 0.0)])], vec![shape(ShapeKind::Mesh(Box::new(mesh)))]);
    stage.materials = vec![usd::Material { name: "/world/paint".to_owned(), surface }];
    stage.pictures =
        ["a.png", "b.png"].map(|path| usd::Asset { path: path.into(), bytes: None, tiles: Vec::new() }).to_vec();
    let (_, table) = converted(&stage);
    (table.rows[0], table)
}

fn pictured<T: Default>(read: Read) -> Input<T> {
    Input { value: T::default(), source: Some(Source::Picture(read)) }
}

#[test]
fn preview_surfaces_keep_their_values() {
    let surface = Surface {
        diffuse_color: Input::of([0.1, 0.2, 0.3]),
        metallic: Input::of(0.5),
        roughness: Input::of(0.25),
        clearcoat: Input::of(1.0),
        opacity_threshold: 0.4,
        opacity: Input::of(0.9),
        ..Surface::default()
    };
    let (made, table) = material(surface);
    assert_eq!(
        (made.kind, made.color, made.alpha),
        (MaterialKind::Layered, Vec3::new(0.1, 0.2, 0.3), Alpha::Mask(0.4))
    );
    assert_eq!((made.lobes.metallic, made.lobes.roughness, made.lobes.clearcoat_roughness), (0.5, 0.25, 0.01));
    assert_eq!(table.names[0], "paint");
}

#[test]
fn clear_surfaces_are_panes_without_a_tint_and_others_fade() {
    let clear = Surface { opacity: Input::of(0.0), roughness: Input::of(0.0), ..Surface::default() };
    let glass = material(clear.clone()).0;
    assert_eq!((glass.alpha, glass.lobes.transmission, glass.lobes.thin), (Alpha::Opaque, 1.0, 1));
    assert_eq!(glass.color, Vec3::ONE);
    let tinted = material(Surface { opacity: Input::of(0.25), ..clear.clone() }).0;
    assert_eq!((tinted.alpha, tinted.lobes.transmission), (Alpha::Blend, 0.0));
    assert!((tinted.opacity - (0.25 + 0.75 * 0.04)).abs() < 1e-6, "the pane also reflects");
    let veil = material(Surface { opacity: Input::of(0.25), keeps_reflections: false, ..clear }).0;
    assert_eq!((veil.alpha, veil.opacity), (Alpha::Blend, 0.25));
}

#[test]
fn colours_of_a_mesh_do_not_tint_the_materials_of_its_subsets() {
    let faces = PolygonMesh {
        face_sizes: vec![3, 3],
        corners: vec![0, 1, 2, 0, 2, 3],
        subsets: vec![Subset { name: "half".to_owned(), faces: vec![0] }],
        ..square()
    };
    let whole = PolygonMesh { subsets: vec![Subset { name: "all".to_owned(), faces: vec![0, 1] }], ..faces.clone() };
    let colors = Some(Primvar {
        interpolation: usd::Interpolation::Uniform,
        values: vec![[0.5, 0.0, 0.0], [0.0, 0.5, 0.0]],
        ..Primvar::default()
    });
    let of = |mesh| Shape { colors: colors.clone(), ..shape(ShapeKind::Mesh(Box::new(mesh))) };
    let content =
        |shape| Content::Shape { shape, materials: vec![0, NONE], skeleton: NONE, color: None, opacity: None };
    let mut stage = stage(vec![group(vec![item(content(0), 0.0), item(content(1), 0.0)])], vec![of(faces), of(whole)]);
    stage.materials = vec![usd::Material { name: "/paint".to_owned(), surface: Surface::default() }];
    let (contents, _) = converted(&stage);
    let mesh = |number: usize| contents.sources[number].mesh.triangles().cloned().unwrap_or_default();
    let half = mesh(0);
    let color = |triangle: usize| half.colors[half.triangles[triangle][0] as usize];
    assert_eq!((color(0), color(1)), ([1.0; 4], [0.0, 0.5, 0.0, 1.0]));
    assert!(mesh(1).colors.is_empty(), "no face has the last material");
}

#[test]
fn display_opacities_and_the_colours_of_points_are_shown() {
    let opacities = Some(Primvar { values: vec![0.25], ..Primvar::default() });
    let plain = shape(ShapeKind::Cube(1.0));
    let faded = Shape { opacities: opacities.clone(), ..plain.clone() };
    let uniform = opacities.map(|opacities| Primvar { interpolation: usd::Interpolation::Uniform, ..opacities });
    let veil = Shape { opacities: uniform, ..shape(ShapeKind::Mesh(Box::new(square()))) };
    let colors = Primvar {
        interpolation: usd::Interpolation::Vertex,
        values: vec![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
        ..Primvar::default()
    };
    let cloud = usd::PointCloud { points: Sampled::Still(vec![[0.0; 3]; 3]), widths: vec![0.5] };
    let points = Shape { colors: Some(colors), ..shape(ShapeKind::Points(Box::new(cloud))) };
    let mut items: Vec<Item> = (0..4).map(|number| item(placed(number), 0.0)).collect();
    let inherited =
        |shape| Content::Shape { shape, materials: vec![NONE], skeleton: NONE, color: None, opacity: Some(0.75) };
    items.extend([item(inherited(0), 0.0), item(inherited(1), 0.0)]);
    let (contents, table) = converted(&stage(vec![group(items)], vec![plain, faded, veil, points]));
    let row = |number: usize| table.rows[contents.lists[0][number].materials[0] as usize];
    assert_eq!((row(0).alpha, row(1).alpha, row(1).opacity), (Alpha::Opaque, Alpha::Blend, 0.25));
    // Placements with equal materials are one.
    assert_eq!((row(4).alpha, row(4).opacity, contents.lists[0][1].count()), (Alpha::Blend, 0.75, 2));
    assert_eq!(
        (row(2).alpha, contents.sources[2].mesh.triangles().map(|mesh| mesh.colors[0][3])),
        (Alpha::Blend, Some(0.25))
    );
    let [red, green] = &contents.lists[1][..] else { panic!("{}", contents.lists[1].len()) };
    assert_eq!((red.count(), green.count()), (2, 1));
    assert_eq!(table.rows[green.materials[0] as usize].color, Vec3::Y);
}

#[test]
fn pictures_become_maps_and_channels_of_several_are_packed() {
    let (plain, table) = material(Surface { diffuse_color: pictured(read(0, 0)), ..Surface::default() });
    assert_eq!((plain.color, table.maps[plain.color_map as usize].texture), (Vec3::ONE, 0));
    let scaled = Read { scale: [0.5, 1.0, 1.0, 1.0], ..read(0, 0) };
    let tinted = material(Surface { diffuse_color: pictured(scaled), ..Surface::default() }).0;
    assert_eq!(tinted.color, Vec3::new(0.5, 1.0, 1.0));
    let rough = Surface { roughness: pictured(read(1, 0)), metallic: Input::of(0.3), ..Surface::default() };
    let made = material(rough).0;
    assert_eq!((made.lobes.roughness, made.lobes.metallic), (1.0, 0.3));
    assert!(made.lobes.metallic_roughness_map != NONE);
    let cut = Surface { diffuse_color: pictured(read(0, 0)), opacity: pictured(read(0, 3)), ..Surface::default() };
    let (cut, table) = material(cut);
    assert_eq!((cut.alpha, table.maps.len()), (Alpha::Blend, 1), "its own alpha needs no other picture");
}

#[test]
fn layers_of_surfaces_become_lobes() {
    let surface = Surface {
        sheen_color: Input::of([0.5, 0.25, 0.0]),
        sheen_roughness: Input::of(0.75),
        film: usd::Film { weight: Input::of(0.5), thickness: 300.0, ior: 1.6 },
        anisotropy: (0.5, 1.0),
        specular: Input::of(0.25),
        transmission: Input::of(1.0),
        volume: Some(usd::Volume { extinction: [4.0, 0.0, 2.0], albedo: [0.5; 3], anisotropy: 0.25 }),
        dispersion: 0.5,
        ..Surface::default()
    };
    let lobes = material(surface).0.lobes;
    assert_eq!((lobes.sheen_color, lobes.sheen_roughness), ([0.5, 0.25, 0.0], 0.75));
    assert_eq!((lobes.iridescence, lobes.iridescence_thickness, lobes.iridescence_ior), (0.5, [300.0; 2], 1.6));
    assert_eq!((lobes.anisotropy, lobes.anisotropy_rotation, lobes.specular), (0.5, 1.0, 0.25));
    // A unit of the stage is two units of the scene.
    assert_eq!((lobes.thin, lobes.extinction, lobes.dispersion), (0, [2.0, 0.0, 1.0], 0.5));
    assert_eq!((lobes.scatter_albedo, lobes.scatter_anisotropy), ([0.5; 3], 0.25));
}

#[test]
fn combined_pictures_are_one_texture_over_their_common_coordinates() {
    let tiled = |picture: u32, tiles: f32| Read {
        transform: glam::Affine2::from_scale(glam::Vec2::splat(tiles)),
        ..read(picture, 0)
    };
    let product = |tiles: [f32; 2]| {
        let parts = vec![usd::Computed::Picture(tiled(0, tiles[0])), usd::Computed::Picture(tiled(1, tiles[1]))];
        let tree = usd::Computed::Apply(usd::Operation::Multiply, parts);
        Input { value: [0.5; 3], source: Some(Source::Computed(Box::new(tree))) }
    };
    let place = |tiles| {
        let (made, table) = material(Surface { diffuse_color: product(tiles), ..Surface::default() });
        assert_eq!((made.color, table.maps.len()), (Vec3::ONE, 1));
        table.maps[made.color_map as usize].transform.matrix2.x_axis.x
    };
    assert_eq!(place([4.0, 4.0]), 4.0);
    assert_eq!(place([4.0, 1.0]), 1.0, "over the mesh's coordinates");
    // Numbers in other coordinates than the roughness are read in its coordinates.
    let number = |read| Input { value: 0.5, source: Some(Source::Picture(read)) };
    let both = Surface { roughness: number(tiled(0, 2.0)), metallic: number(tiled(1, 1.0)), ..Surface::default() };
    let (made, table) = material(both);
    assert_eq!(table.maps[made.lobes.metallic_roughness_map as usize].transform, glam::Affine2::IDENTITY);
}

#[test]
fn colours_of_a_mesh_are_multiplied_by_a_picture() {
    let factor = Input { value: [1.0; 3], source: Some(Source::Picture(Read { scale: [0.5; 4], ..read(0, 0) })) };
    let shown = Input { value: [1.0; 3], source: Some(Source::Display(Box::new(factor))) };
    let (made, table) = material(Surface { diffuse_color: shown, ..Surface::default() });
    assert_eq!((made.color, table.maps.len()), (Material::default().color * 0.5, 1));
}

#[test]
fn subsets_have_their_materials_and_equal_meshes_are_stored_once() {
    let faces = PolygonMesh {
        face_sizes: vec![3, 3],
        corners: vec![0, 1, 2, 0, 2, 3],
        subsets: vec![Subset { name: "half".to_owned(), faces: vec![1] }],
        ..square()
    };
    let content =
        |materials: Vec<u32>| Content::Shape { shape: 0, materials, skeleton: NONE, color: None, opacity: None };
    let world = group(vec![
        item(content(vec![0, 1]), 0.0),
        item(content(vec![0, 1]), 1.0),
        item(content(vec![1, 0]), 2.0),
        item(Content::Shape { shape: 1, materials: vec![0], skeleton: NONE, color: None, opacity: None }, 3.0),
        item(Content::Shape { shape: 1, materials: vec![1], skeleton: NONE, color: None, opacity: None }, 4.0),
    ]);
    let shapes = vec![shape(ShapeKind::Mesh(Box::new(faces))), shape(ShapeKind::Mesh(Box::new(square())))];
    let mut stage = stage(vec![world], shapes);
    let paint = |name: &str, value: f32| usd::Material {
        name: name.to_owned(),
        surface: Surface { roughness: Input::of(value), ..Surface::default() },
    };
    stage.materials = vec![paint("/a", 0.1), paint("/b", 0.9)];
    let (contents, table) = converted(&stage);
    assert_eq!((contents.sources.len(), table.rows.len()), (3, 2));
    assert_eq!((&contents.sources[0].materials[..], &contents.sources[1].materials[..]), (&[0, 1][..], &[1, 0][..]));
    let rows: Vec<&[u32]> = contents.lists[0].iter().map(|item| &item.materials[..]).collect();
    assert_eq!(rows, [&[][..], &[], &[0], &[1]], "a mesh with one material is shared, whatever it is made of");
}

#[test]
fn a_mesh_with_two_displacements_is_two_meshes() {
    let content = |material: u32| Content::Shape {
        shape: 0,
        materials: vec![material],
        skeleton: NONE,
        color: None,
        opacity: None,
    };
    let count = |heights: [f32; 2]| {
        let world = group((0..3).map(|i| item(content(i % 2), f64::from(i))).collect());
        let mut stage = stage(vec![world], vec![shape(ShapeKind::Mesh(Box::new(square())))]);
        let material = |height: f32| usd::Material {
            name: format!("/{height}"),
            surface: Surface { displacement: Input::of(height), ..Surface::default() },
        };
        stage.materials = heights.map(material).to_vec();
        let contents = converted(&stage).0;
        let displaced = contents.sources.iter().filter(|source| source.displacement.is_some()).count();
        (contents.sources.len(), displaced)
    };
    assert_eq!(count([0.0, 0.0]), (1, 0));
    assert_eq!(count([0.0, 0.5]), (2, 1));
    assert_eq!(count([0.25, 0.5]), (2, 2));
}

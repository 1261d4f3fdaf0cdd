//! Tests of skeletons.

use super::{SkelBound, Skeletons, skin};
use crate::{BlendShape, JointPose, NONE, Sampled, SkeletonPose, Skin, reader::test_stage::TestStage};
use glam::{DAffine3, DMat4, DVec3, Quat, Vec3};

/// An arm of three joints. The animation has two of them in another order, and the mesh numbers them in its own order.
const ARM: &str = r#"
def SkelRoot "Root" (prepend apiSchemas = ["SkelBindingAPI"]) {
    rel skel:animationSource = </Root/Anim>
    def Skeleton "Skel" {
        uniform token[] joints = ["Hip", "Hip/Knee", "Hip/Knee/Foot"]
        uniform matrix4d[] bindTransforms = [
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 1, 0, 1)),
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (2, 1, 0, 1)),
            ((0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, 1, 0), (4, 1, 0, 1))
        ]
        uniform matrix4d[] restTransforms = [
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 1, 0, 1)),
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (2, 0, 0, 1)),
            ((0, 2, 0, 0), (-2, 0, 0, 0), (0, 0, 2, 0), (2, 0, 0, 1))
        ]
    }
    def SkelAnimation "Anim" {
        uniform token[] joints = ["Hip/Knee", "Hip"]
        float3[] translations.timeSamples = {
            1: [(2, 0, 0), (0, 1, 0)],
            3: [(2, 0, 2), (0, 3, 0)]
        }
        quatf[] rotations.timeSamples = {
            1: [(1, 0, 0, 0), (1, 0, 0, 0)],
            3: [(0, 0, 0, 1), (0.7071068, 0, 0.7071068, 0)]
        }
        half3[] scales = [(1, 1, 1), (2, 1, 1)]
        uniform token[] blendShapes = ["Bulge", "Other"]
        float[] blendShapeWeights.timeSamples = {
            1: [0, 0.25],
            3: [1, 0.25]
        }
    }
    def Mesh "Mesh" (prepend apiSchemas = ["SkelBindingAPI"]) {
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 1)]
        rel skel:skeleton = </Root/Skel>
        uniform token[] skel:joints = ["Hip/Knee/Foot", "Hip", "Hip/Knee"]
        matrix4d primvars:skel:geomBindTransform = ((2, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 5, 1))
        int[] primvars:skel:jointIndices = [1, 2, 0, 2, 1, 0, 2, 1] (
            elementSize = 2
            interpolation = "vertex"
        )
        float[] primvars:skel:jointWeights = [1, 0, 0.25, 0.75, 0.5, 0.5, 0.75, 0.25] (
            elementSize = 2
            interpolation = "vertex"
        )
        uniform token[] skel:blendShapes = ["Other", "Bulge"]
        rel skel:blendShapeTargets = [</Root/Mesh/O>, </Root/Mesh/B>]
        def BlendShape "O" {
            uniform vector3f[] offsets = [(0, 0, 4)]
            uniform int[] pointIndices = [2]
        }
        def BlendShape "B" {
            uniform vector3f[] offsets = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]
            uniform vector3f[] normalOffsets = [(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)]
            uniform vector3f[] inbetweens:Half = [(3, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0)] (
                weight = 0.5
            )
        }
    }
}
"#;

/// Points of the mesh of [`ARM`].
const POINTS: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0]];

/// What a prim follows, after a walk from the root to it.
fn bound(stage: &TestStage, skeletons: &mut Skeletons, path: &str) -> SkelBound {
    stage.line(path).iter().fold(SkelBound::default(), |bound, prim| skeletons.bind(prim, &bound))
}

/// The pose and skin of a mesh with four points.
fn read(stage: &TestStage, path: &str) -> (Option<SkeletonPose>, Option<Skin>) {
    let mut skeletons = Skeletons::new(&stage.values);
    let bound = bound(stage, &mut skeletons, path);
    let index = skeletons.pose(&bound);
    let skin = skin(&stage.values, &stage.prim(path), POINTS.len(), &bound);
    (skeletons.finish().into_iter().nth(index as usize), skin)
}

/// As [`read`], of a stage that follows without warnings.
fn read_clean(stage: &TestStage) -> (SkeletonPose, Skin) {
    let (pose, skin) = read(stage, "/Root/Mesh");
    assert_eq!(stage.warnings(), Vec::<String>::new());
    (pose.expect("a pose"), skin.expect("a skin"))
}

/// The values at a time, for samples with as many elements.
fn at<T: Clone>(sampled: &Sampled<T>, time: f64, mix: impl Fn(&T, &T, f32) -> T) -> T {
    let samples = match sampled {
        Sampled::Still(value) => return value.clone(),
        Sampled::Moving(samples) => samples,
    };
    let after = samples.partition_point(|(sample, _)| *sample <= time).clamp(1, samples.len() - 1);
    let [(from, a), (to, b)] = &samples[after - 1..=after] else { unreachable!() };
    mix(a, b, ((time - from) / (to - from)) as f32)
}

fn mix(a: &JointPose, b: &JointPose, share: f32) -> JointPose {
    JointPose {
        translation: a.translation.lerp(b.translation, share),
        rotation: a.rotation.slerp(b.rotation, share),
        scale: a.scale.lerp(b.scale, share),
    }
}

/// Offsets at a weight, between the keys around it.
fn offset(shape: &BlendShape, weight: f32, index: usize) -> Vec3 {
    let mut before = (0.0, Vec3::ZERO);
    for key in &shape.keys {
        let next = (key.weight, Vec3::from(key.offsets[index]));
        if weight <= key.weight {
            return before.1 + (next.1 - before.1) * ((weight - before.0) / (next.0 - before.0));
        }
        before = next;
    }
    before.1
}

/// Points in the skeleton's space at a time: blend shapes, then linear blend skinning.
fn skinned(pose: &SkeletonPose, skin: &Skin, time: f64) -> Vec<DVec3> {
    let mut points = POINTS.map(DVec3::from_array);
    for shape in &skin.shapes {
        let weight = pose.shape_weights.iter().find(|(name, _)| *name == shape.name);
        let weight = weight.map_or(0.0, |(_, weight)| at(weight, time, |a, b, share| a + (b - a) * share));
        let moved: Vec<u32> = if shape.points.is_empty() { (0..4).collect() } else { shape.points.clone() };
        moved.iter().enumerate().for_each(|(index, &point)| {
            points[point as usize] += offset(shape, weight, index).as_dvec3();
        });
    }
    let locals = at(&pose.pose, time, |a, b, share| a.iter().zip(b).map(|(a, b)| mix(a, b, share)).collect());
    let mut joints: Vec<DAffine3> = Vec::new();
    for (joint, local) in pose.joints.iter().zip(&locals) {
        let (scale, rotation, translation) =
            (local.scale.as_dvec3(), local.rotation.as_dquat(), local.translation.as_dvec3());
        let local = DAffine3::from_scale_rotation_translation(scale, rotation, translation);
        joints.push(if joint.parent == NONE { local } else { joints[joint.parent as usize] * local });
    }
    let per_point = skin.joints_per_point as usize;
    let skin_point = |(index, point): (usize, &DVec3)| {
        let bound = skin.skeleton_from_mesh.transform_point3(*point);
        let influences = (index * per_point..(index + 1) * per_point).map(|at| {
            let joint = skin.joints[at] as usize;
            let moved = (joints[joint] * pose.joints[joint].bind.inverse()).transform_point3(bound);
            moved * f64::from(skin.weights[at])
        });
        influences.sum()
    };
    points.iter().enumerate().map(skin_point).collect()
}

fn assert_close(found: &[DVec3], expected: [[f64; 3]; 4]) {
    let close = found.iter().zip(expected).all(|(a, b)| a.abs_diff_eq(DVec3::from_array(b), 2e-4));
    assert!(close, "{found:?}, expected {expected:?}");
}

/// Points of `UsdSkelSkinningQuery::ComputeSkinnedPoints` of OpenUSD 26.11.
#[test]
fn skinned_points_agree_with_openusd() {
    let stage = TestStage::new(ARM);
    let (pose, skin) = read_clean(&stage);
    let first = [[0.0, 0.0, 5.0], [3.0, -0.25, 6.25], [2.0, 1.0, 9.0], [0.0, 1.0, 6.0]];
    let second =
        [[12.020_81, 1.0, -4.949_75], [9.722_72, 1.5, 0.530_33], [9.545_94, 1.0, 3.889_09], [6.894_29, 0.5, 2.651_65]];
    let third = [[5.0, 2.0, -4.0], [8.25, 3.0, -5.0], [11.5, 3.0, -6.0], [8.5, 2.5, -4.0]];
    assert_close(&skinned(&pose, &skin, 1.0), first);
    assert_close(&skinned(&pose, &skin, 2.0), second);
    assert_close(&skinned(&pose, &skin, 3.0), third);
}

#[test]
fn joints_have_parents_and_bind_transforms_for_column_vectors() {
    let (pose, _) = read_clean(&TestStage::new(ARM));
    assert_eq!(pose.name, "/Root/Skel");
    let joints: Vec<_> = pose.joints.iter().map(|joint| (joint.name.as_str(), joint.parent)).collect();
    assert_eq!(joints, [("Hip", NONE), ("Hip/Knee", 0), ("Hip/Knee/Foot", 1)]);
    assert_eq!(pose.joints[1].bind, DAffine3::from_translation(DVec3::new(2.0, 1.0, 0.0)));
    // A row (0, 1, 0) of USD is where the X axis leads.
    assert_eq!(pose.joints[2].bind.transform_vector3(DVec3::X), DVec3::Y);
}

#[test]
fn animated_joints_are_mapped_by_name_and_others_rest() {
    let (pose, _) = read_clean(&TestStage::new(ARM));
    let Sampled::Moving(samples) = &pose.pose else { panic!("{:?}", pose.pose) };
    assert_eq!(samples.iter().map(|(time, _)| *time).collect::<Vec<_>>(), [1.0, 3.0]);
    let last = &samples[1].1;
    assert_eq!(last[0].translation, Vec3::new(0.0, 3.0, 0.0));
    assert_eq!(last[0].scale, Vec3::new(2.0, 1.0, 1.0));
    assert!(last[0].rotation.abs_diff_eq(Quat::from_rotation_y(std::f32::consts::FRAC_PI_2), 1e-6));
    assert_eq!(last[1].translation, Vec3::new(2.0, 0.0, 2.0));
    let foot = JointPose {
        translation: Vec3::new(2.0, 0.0, 0.0),
        rotation: Quat::from_rotation_z(std::f32::consts::FRAC_PI_2),
        scale: Vec3::splat(2.0),
    };
    assert_eq!((last[2].translation, last[2].scale), (foot.translation, foot.scale));
    assert!(last[2].rotation.abs_diff_eq(foot.rotation, 1e-6));
}

#[test]
fn weights_of_blend_shapes_are_still_where_they_do_not_change() {
    let (pose, _) = read_clean(&TestStage::new(ARM));
    let expected = [
        ("Bulge".to_owned(), Sampled::Moving(vec![(1.0, 0.0), (3.0, 1.0)])),
        ("Other".to_owned(), Sampled::Still(0.25)),
    ];
    assert_eq!(pose.shape_weights, expected);
}

#[test]
fn blend_shapes_have_their_points_and_in_between_shapes() {
    let (_, skin) = read_clean(&TestStage::new(ARM));
    let [other, bulge] = &skin.shapes[..] else { panic!("{:?}", skin.shapes) };
    assert_eq!((other.name.as_str(), &other.points[..]), ("Other", &[2][..]));
    assert_eq!(other.keys[0].offsets, [[0.0, 0.0, 4.0]]);
    assert_eq!((bulge.name.as_str(), bulge.points.len()), ("Bulge", 0));
    let weights: Vec<f32> = bulge.keys.iter().map(|key| key.weight).collect();
    assert_eq!(weights, [0.5, 1.0]);
    assert_eq!((bulge.keys[0].normals.len(), bulge.keys[1].normals.len()), (0, 4));
}

#[test]
fn indices_are_those_of_the_skeleton() {
    let (_, skin) = read_clean(&TestStage::new(ARM));
    assert_eq!(skin.joints_per_point, 2);
    assert_eq!(skin.joints, [0, 1, 2, 1, 0, 2, 1, 0]);
    assert_eq!(skin.weights, [1.0, 0.0, 0.25, 0.75, 0.5, 0.5, 0.75, 0.25]);
}

/// A skeleton with the joints `A` and `A/B`, and a mesh of four points with these attributes.
fn small(skeleton: &str, mesh: &str) -> TestStage {
    TestStage::new(&format!(
        r#"
def SkelRoot "Root" {{
    rel skel:skeleton = </Root/Skel>
    def Skeleton "Skel" {{
        {skeleton}
    }}
    def Mesh "Mesh" {{
        {mesh}
    }}
}}
"#
    ))
}

const TWO: &str = r#"
        uniform token[] joints = ["A", "A/B"]
        uniform matrix4d[] bindTransforms = [
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (1, 0, 0, 1)),
            ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (3, 0, 0, 1))
        ]"#;

const RIGID: &str = r#"
        int[] primvars:skel:jointIndices = [1] (elementSize = 1 interpolation = "constant")
        float[] primvars:skel:jointWeights = [0.5] (elementSize = 1 interpolation = "constant")"#;

#[test]
fn constant_influences_are_repeated_for_all_points_and_sum_to_one() {
    let (_, skin) = read_clean(&small(TWO, RIGID));
    assert_eq!((skin.joints_per_point, skin.joints, skin.weights), (1, vec![1; 4], vec![1.0; 4]));
}

#[test]
fn a_skeleton_without_rest_transforms_rests_where_it_was_bound() {
    let (pose, _) = read_clean(&small(TWO, RIGID));
    let translations: Vec<Vec3> = pose.pose.first().iter().map(|joint| joint.translation).collect();
    assert_eq!(translations, [Vec3::X, Vec3::new(2.0, 0.0, 0.0)]);
    assert!(!pose.pose.moves());
}

#[test]
fn a_skeleton_without_bind_transforms_was_bound_at_rest() {
    let rest = TWO.replace("bindTransforms", "restTransforms");
    let (pose, _) = read_clean(&small(&rest, RIGID));
    let places: Vec<DVec3> = pose.joints.iter().map(|joint| joint.bind.translation).collect();
    assert_eq!(places, [DVec3::X, DVec3::new(4.0, 0.0, 0.0)]);
}

#[test]
fn children_before_their_parents_are_sorted_with_what_refers_to_them() {
    let swapped = TWO.replace(r#"["A", "A/B"]"#, r#"["A/B", "A"]"#);
    let (pose, skin) = read_clean(&small(&swapped, RIGID));
    let joints: Vec<_> = pose.joints.iter().map(|joint| (joint.name.as_str(), joint.parent)).collect();
    assert_eq!(joints, [("A", NONE), ("A/B", 0)]);
    assert_eq!(pose.joints[0].bind.translation, DVec3::new(3.0, 0.0, 0.0));
    assert_eq!(skin.joints, [0; 4]);
}

#[test]
fn a_point_whose_weights_sum_to_zero_follows_its_first_joint() {
    let mesh = r#"
        int[] primvars:skel:jointIndices = [1, 0, 0, 1, 0, 1, 1, 0] (elementSize = 2 interpolation = "vertex")
        float[] primvars:skel:jointWeights = [0, 0, 1, 3, 1, 1, -1, 1] (elementSize = 2 interpolation = "vertex")"#;
    let (_, skin) = read_clean(&small(TWO, mesh));
    assert_eq!(skin.weights, [1.0, 0.0, 0.25, 0.75, 0.5, 0.5, 1.0, 0.0]);
}

#[test]
fn unused_elements_may_have_any_index() {
    let mesh = r#"
        int[] primvars:skel:jointIndices = [1, -1, 0, 99, 0, 1, 1, 0] (elementSize = 2 interpolation = "vertex")
        float[] primvars:skel:jointWeights = [1, 0, 1, 0, 1, 1, 1, 1] (elementSize = 2 interpolation = "vertex")"#;
    let (_, skin) = read_clean(&small(TWO, mesh));
    assert_eq!(skin.joints, [1, 0, 0, 0, 0, 1, 1, 0]);
}

/// The warning about a mesh whose influences are damaged, so that it has no skin.
fn damage(mesh: &str) -> String {
    let stage = small(TWO, mesh);
    assert!(read(&stage, "/Root/Mesh").1.is_none());
    stage.warning()
}

#[test]
fn damaged_influences_leave_the_mesh_as_it_is() {
    let influences = |indices: &str, weights: &str| {
        format!(
            "int[] primvars:skel:jointIndices = [{indices}] (interpolation = \"vertex\")
             float[] primvars:skel:jointWeights = [{weights}] (interpolation = \"vertex\")"
        )
    };
    let cases = [
        ("0, 1, 2, 0", "1, 1, 1, 1", "jointIndices have 2, and there are 2 joints"),
        ("0, 1, -1, 0", "1, 1, 1, 1", "jointIndices have -1, and there are 2 joints"),
        ("0, 1, 0", "1, 1, 1, 1", "jointIndices have a wrong number of elements"),
        ("0, 1, 0, 0", "1, 1, 1", "jointWeights have a wrong number of elements"),
        ("0, 1, 0, 0", "1, 1, 1, 1, 1, 1, 1, 1", "jointIndices and jointWeights have different numbers of elements"),
    ];
    for (indices, weights, expected) in cases {
        let warning = damage(&influences(indices, weights));
        assert_eq!(warning, format!("/Root/Mesh: {expected}; joints do not move it"));
    }
    let warning = damage(&influences("0, 1, 0, 0", "1, nan, 1, 1"));
    assert!(warning.contains("not finite"), "{warning}");
}

#[test]
fn a_joint_that_the_skeleton_lacks_is_left_out() {
    let mesh = format!("uniform token[] skel:joints = [\"A\", \"Z\"]{RIGID}");
    let stage = small(TWO, &mesh);
    let skin = read(&stage, "/Root/Mesh").1.expect("a skin");
    assert_eq!((skin.joints, skin.weights), (vec![0; 4], vec![1.0; 4]));
    assert_eq!(stage.warning(), "/Root/Mesh: follows joint Z, which the skeleton lacks; it is left out");
}

#[test]
fn damaged_skeletons_leave_the_mesh_as_it_is() {
    let none = r#"uniform token[] joints = ["A", "A/B"]"#;
    let short = format!(
        "{none}\nuniform matrix4d[] bindTransforms = [((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))]"
    );
    let flat = TWO.replace("(0, 1, 0, 0)", "(0, 0, 0, 0)");
    let cases = [
        (none, "/Root/Skel: has joints without transforms; meshes stay as they are"),
        (&short, "/Root/Skel.bindTransforms: has 1 matrices for 2 joints; it is left out"),
        (&flat, "/Root/Skel: a joint has a transform without an inverse; meshes stay as they are"),
    ];
    for (skeleton, expected) in cases {
        let stage = small(skeleton, RIGID);
        assert!(read(&stage, "/Root/Mesh").0.is_none());
        assert_eq!(stage.warnings()[0], expected);
    }
}

#[test]
fn damaged_blend_shapes_are_left_out() {
    let mesh = r#"
        uniform token[] skel:blendShapes = ["Far", "Short", "Gone", "Good"]
        rel skel:blendShapeTargets = [</Root/Mesh/Far>, </Root/Mesh/Short>, </Root/Mesh/Gone>, </Root/Mesh/Good>]
        def BlendShape "Far" { uniform vector3f[] offsets = [(0, 0, 4)] uniform int[] pointIndices = [4] }
        def BlendShape "Short" { uniform vector3f[] offsets = [(0, 0, 4)] }
        def BlendShape "Good" {
            uniform vector3f[] offsets = [(0, 0, 4)]
            uniform int[] pointIndices = [3]
            uniform vector3f[] inbetweens:zero = [(0, 0, 1)] ( weight = 0 )
            uniform vector3f[] inbetweens:one = [(0, 0, 1)] ( weight = 1 )
            uniform vector3f[] inbetweens:back = [(0, 0, -1)] ( weight = -1 )
        }"#;
    let stage = small(TWO, mesh);
    let skin = read(&stage, "/Root/Mesh").1.expect("a skin");
    assert_eq!((skin.joints_per_point, skin.joints.len()), (0, 0));
    let [good] = &skin.shapes[..] else { panic!("{:?}", skin.shapes) };
    assert_eq!(good.keys.iter().map(|key| key.weight).collect::<Vec<_>>(), [-1.0, 1.0]);
    let expected = [
        "/Root/Mesh/Far: pointIndices are not all among the 4 points of the mesh; the blend shape is left out",
        "/Root/Mesh/Short: has 1 offsets for 4 points; the blend shape is left out",
        "/Root/Mesh/Gone: there is no such prim; the blend shape is left out",
        "/Root/Mesh/Good.inbetweens:zero: its weight is 0; it is left out",
        "/Root/Mesh/Good.inbetweens:one: its weight 1 is in use; it is left out",
    ];
    assert_eq!(stage.warnings(), expected);
}

#[test]
fn dual_quaternions_become_linear_with_a_warning() {
    let stage = small(TWO, &format!("uniform token primvars:skel:skinningMethod = \"dualQuaternion\"{RIGID}"));
    assert!(read(&stage, "/Root/Mesh").1.is_some());
    let expected = "/Root/Mesh: skinning by dual quaternions is not supported; linear skinning is used";
    assert_eq!(stage.warning(), expected);
}

#[test]
fn skeletons_have_no_effect_outside_of_a_skel_root() {
    let stage = TestStage::new(&ARM.replace("def SkelRoot", "def Xform"));
    let (pose, skin) = read(&stage, "/Root/Mesh");
    assert!(pose.is_none() && skin.is_none());
}

/// Two instances of a character, of which the second one plays an animation of its own.
const CROWD: &str = r#"
def "Walk" (references = </Anim>) {}
def SkelRoot "One" (instanceable = true references = </Character>) { rel skel:animationSource = </Walk> }
def SkelRoot "Two" (instanceable = true references = </Character>) { rel skel:animationSource = </Run> }
def SkelRoot "Three" (instanceable = true references = </Character>) { rel skel:animationSource = </Walk> }
def SkelRoot "Still" (instanceable = true references = </Character>) {}
def "Run" (references = </Anim>) { float3[] translations = [(9, 0, 0)] }
class SkelAnimation "Anim" {
    uniform token[] joints = ["A"]
    float3[] translations = [(5, 0, 0)]
    quatf[] rotations = [(1, 0, 0, 0)]
    half3[] scales = [(1, 1, 1)]
}
class "Character" {
    def Skeleton "Skel" {
        uniform token[] joints = ["A"]
        uniform matrix4d[] bindTransforms = [((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (1, 0, 0, 1))]
    }
    def Mesh "Mesh" {
        rel skel:skeleton = </Character/Skel>
        int[] primvars:skel:jointIndices = [0] (interpolation = "constant")
        float[] primvars:skel:jointWeights = [1] (interpolation = "constant")
    }
}
"#;

#[test]
fn instances_inherit_animations_and_equal_ones_share_a_pose() {
    let stage = TestStage::new(CROWD);
    let mut skeletons = Skeletons::new(&stage.values);
    let mut pose = |name: &str| {
        let path = format!("/{name}");
        let instance = bound(&stage, &mut skeletons, &path);
        let root = stage.prim(&path).prototype().expect("a prototype").expect("an instance").to_string();
        let mesh = stage.prim(&format!("{root}/Mesh"));
        let bound = skeletons.bind(&mesh, &instance);
        assert!(skin(&stage.values, &mesh, 4, &bound).is_some());
        assert_eq!(skeletons.skeleton(&bound).map(|path| path.to_string()), Some(format!("{root}/Skel")));
        skeletons.pose(&bound)
    };
    assert_eq!(["One", "Two", "Three", "Still"].map(&mut pose), [0, 1, 0, 2]);
    let poses = skeletons.finish();
    let places: Vec<f32> = poses.iter().map(|pose| pose.pose.first()[0].translation.x).collect();
    assert_eq!(places, [5.0, 9.0, 1.0]);
    assert!(poses[0].name.ends_with("/Skel") && !poses[0].name.starts_with("/__"), "{}", poses[0].name);
    assert_eq!(stage.warnings(), Vec::<String>::new());
}

#[test]
fn an_empty_animation_source_ends_the_inheritance() {
    let stage = TestStage::new(
        &ARM.replace("def Skeleton \"Skel\" {", "def Skeleton \"Skel\" {\n rel skel:animationSource = []"),
    );
    let (pose, _) = read_clean(&stage);
    assert!(!pose.pose.moves() && pose.shape_weights.is_empty());
}

#[test]
fn an_animation_with_damaged_arrays_keeps_the_rest_of_the_skeleton() {
    let stage = TestStage::new(&ARM.replace("half3[] scales = [(1, 1, 1), (2, 1, 1)]", "half3[] scales = [(1, 1, 1)]"));
    let (pose, _) = read(&stage, "/Root/Mesh");
    let scales: Vec<Vec3> = pose.expect("a pose").pose.first().iter().map(|joint| joint.scale).collect();
    assert_eq!(scales, [Vec3::ONE, Vec3::ONE, Vec3::splat(2.0)]);
    assert_eq!(stage.warning(), "/Root/Anim.scales: has 1 values for 2 joints; they are left out");
}

#[test]
fn influences_are_inherited_from_above() {
    let stage = TestStage::new(&format!(
        r#"
def SkelRoot "Root" {{
    rel skel:skeleton = </Root/Skel>
    matrix4d primvars:skel:geomBindTransform = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 7, 1))
    {RIGID}
    def Skeleton "Skel" {{
        {TWO}
    }}
    def Mesh "Mesh" {{}}
}}
"#
    ));
    let (_, skin) = read_clean(&stage);
    assert_eq!(skin.joints, [1; 4]);
    let transform = DMat4::from_translation(DVec3::new(0.0, 0.0, 7.0));
    assert_eq!(skin.skeleton_from_mesh, DAffine3::from_mat4(transform));
}

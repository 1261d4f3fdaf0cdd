//! Loading of the files of tests.

use crate::gltf::{GltfOptions, Model, load_model_bytes};
pub use throng_testing::gltf::*;

pub trait Loading {
    fn load(&self) -> Model;

    fn load_with(&self, options: &GltfOptions) -> Model;

    /// Loads the file, and expects a warning that starts with `expected`.
    #[track_caller]
    fn warned(&self, expected: &str) -> Model;

    /// The message of the expected error.
    fn error(&self) -> String;

    fn error_with(&self, options: &GltfOptions) -> String;
}

impl Loading for Builder {
    fn load(&self) -> Model {
        self.load_with(&GltfOptions::default())
    }

    fn load_with(&self, options: &GltfOptions) -> Model {
        load_model_bytes(&self.glb(), None, options).unwrap_or_else(|e| panic!("{e}"))
    }

    #[track_caller]
    fn warned(&self, expected: &str) -> Model {
        let model = self.load();
        assert!(model.warnings.iter().any(|line| line.starts_with(expected)), "{expected}: {:?}", model.warnings);
        model
    }

    fn error(&self) -> String {
        self.error_with(&GltfOptions::default())
    }

    fn error_with(&self, options: &GltfOptions) -> String {
        match load_model_bytes(&self.glb(), None, options) {
            Ok(_) => panic!("loading should have failed"),
            Err(e) => e.message().to_owned(),
        }
    }
}

//! The command line for a viewer's current picture or animation.

use super::{Eye, state::Follow};
use crate::{
    Made, View, camera,
    command_line::{self, Optics},
    scenes::{Source, ViewerScenes},
};
use throng_base::quoting::for_user;
use throng_device::Frame;
use throng_scene::CameraPath;

impl Eye {
    /// The command line that renders the current picture, or the animation along the current path.
    pub fn command_line(&self, of: Made, source: &Source, scenes: &ViewerScenes) -> String {
        let name = throng_loader::name_of(&source.path);
        let typed = if self.choices.clips().is_some_and(|clips| clips.is_empty()) {
            command_line::at_rest(source.flags.clone())
        } else {
            source.flags.clone()
        };
        let mut flags = self.choices.flags();
        let changed = self.edits.overrides().into_iter();
        flags.extend(changed.map(|(path, value)| format!("--set {}", for_user(&format!("{path}={value}")))));
        let Some((frame, settings)) = self.current.as_ref().filter(|_| of == Made::Still) else {
            if let Some(camera) = self.named_camera(scenes) {
                flags.push(camera);
            }
            flags.push(format!("-o {}", for_user(&format!("{name}.mp4"))));
            return command_line::render(&source.path, &typed, &flags);
        };
        flags.extend(self.camera_flags(frame, scenes));
        let is_measured = self.job.as_ref().is_some_and(|job| job.auto_exposure.is_some());
        if self.follow != Follow::Scene && is_measured {
            flags.retain(|flag| !flag.starts_with("--exposure"));
            flags.push(format!("--exposure {:?}", settings.exposure));
        }
        flags.push(format!("--size {}x{}", settings.width, settings.height));
        flags.push(format!("-f {}", frame.number));
        // The usual noise target of models depends on the size.
        let noise = settings.noise.filter(|_| scenes.shown.text.is_none());
        let is_set = flags.iter().any(|flag| flag.starts_with("--noise"));
        flags.extend(noise.filter(|_| !is_set).map(|noise| format!("--noise {noise:?}")));
        let (size, shown) = ((settings.width, settings.height), &scenes.shown);
        let denoised = self.choices.denoised_options(&shown.options, size, &shown.scene.settings);
        if let Some(method) = denoised.and_then(|options| options.aovs.denoise) {
            flags.retain(|flag| !flag.starts_with("--denoise"));
            flags.push(format!("--denoise {method}"));
            flags.push("--denoise-frames 0".to_owned());
        }
        // The final picture is rendered like pictures that may get more samples.
        flags.push("--checkpoint".to_owned());
        flags.push(format!("-o {}", for_user(&format!("{name}.png"))));
        command_line::render(&source.path, &typed, &flags)
    }

    /// The flag that selects the scene's camera, if the view is through one of several.
    fn named_camera(&self, scenes: &ViewerScenes) -> Option<String> {
        let Follow::Through(index) = self.follow else { return None };
        let (name, _) = scenes.shown.scene.viewpoints.get(index)?;
        Some(format!("--camera {}", for_user(name)))
    }

    /// Flags that reproduce the current camera bit for bit.
    fn camera_flags(&self, frame: &Frame, scenes: &ViewerScenes) -> Vec<String> {
        if self.follow == Follow::Scene {
            // A single picture of a model is framed for its own view, unless the number of turns is given.
            return match scenes.shown.scene.camera.path {
                CameraPath::Orbit { turns, .. } if scenes.shown.text.is_none() => vec![format!("--turns {turns}")],
                _ => Vec::new(),
            };
        }
        if let Some(camera) = self.named_camera(scenes) {
            return vec![camera];
        }
        let pose = frame.camera();
        let asked = self.view.as_ref().filter(|_| self.follow == Follow::Free);
        let seen = camera::view(&pose);
        let view = asked.map_or_else(|| seen.clone(), View::clone);
        command_line::view_flags(&view, &Optics { pose: &pose, own: scenes.shown.scene.camera.projection })
    }
}

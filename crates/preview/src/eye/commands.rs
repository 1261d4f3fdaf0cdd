//! Commands that concern one viewer alone.

use super::{Eye, state::Follow};
use crate::{
    Answer, Command, Track, View,
    camera::{self, Flight, file_keys, own_path},
    picking::pick,
    scenes::ViewerScenes,
};
use serde_json::Value;
use std::time::Instant;
use throng_picture::pixels::PixelType;
use throng_scene::{Projection, ranges::FRAMES};

/// Maximum side of pictures, in pixels.
const LARGEST_SIDE: u32 = 8192;

impl Eye {
    /// Executes a command that concerns only this viewer.
    pub fn obey(&mut self, command: Command, scenes: &mut ViewerScenes) {
        self.is_broken = false;
        let done = match command {
            Command::Start { size } => self.resize(size),
            Command::Camera(view) => self.look(view),
            Command::Time { frame } => {
                self.clock.show(frame);
                Ok(())
            }
            Command::Play { playing, looped } => {
                self.clock.play(playing, looped, Instant::now());
                Ok(())
            }
            Command::Follow { path, camera } => self.follow(path, camera.as_deref(), scenes),
            Command::Set { name, value } => self.set(&name, &value, scenes),
            Command::Pick { at, ask } => self.pick(at, ask, scenes),
            Command::Waypoints { keys, pace } => {
                let pace = pace.and_then(|pace| pace.as_str().map(str::to_owned));
                self.waypoints = (keys, pace);
                self.fly(scenes);
                self.tell_waypoints(scenes);
                Ok(())
            }
            _ => Err("this is not possible here".to_owned()),
        };
        if let Err(message) = done {
            self.link.answer(Answer::error(message));
        }
        self.report(true);
    }

    fn resize(&mut self, size: [u32; 2]) -> Result<(), String> {
        let [width, height] = size.map(|side| side.clamp(1, LARGEST_SIDE));
        if self.size != Some((width, height)) {
            self.size = Some((width, height));
            self.job = None;
        }
        Ok(())
    }

    fn look(&mut self, view: View) -> Result<(), String> {
        camera::check(&view)?;
        self.key = view.key;
        self.follow = Follow::Free;
        self.view = Some(view);
        Ok(())
    }

    fn follow(&mut self, path: Option<Track>, camera: Option<&str>, scenes: &ViewerScenes) -> Result<(), String> {
        match path {
            Some(Track::Scene) if camera.is_some() => {
                let mut cameras = scenes.shown.scene.viewpoints.iter();
                let index = cameras.position(|(name, _)| Some(name.as_str()) == camera);
                self.follow = index.map(Follow::Through).ok_or("the scene has no camera of that name")?;
            }
            Some(Track::Scene) => self.follow = Follow::Scene,
            Some(Track::Waypoints) if self.flight.is_some() => self.follow = Follow::Waypoints,
            Some(Track::Waypoints) => return Err("a path needs two waypoints at least".to_owned()),
            None => {
                if let (true, Some((frame, _))) = (self.follow != Follow::Free, &self.current) {
                    self.view = Some(View { key: self.key, ..camera::view(&frame.camera()) });
                }
                self.follow = Follow::Free;
            }
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: &Value, scenes: &ViewerScenes) -> Result<(), String> {
        let before = self.choices.clone();
        self.choices.set(name, value)?;
        if let Some(size) = self.size
            && let Err(error) = scenes.job(&self.choices.options(&scenes.shown.options, size), PixelType::U8)
        {
            self.choices = before;
            return Err(error.to_string());
        }
        self.job = None;
        Ok(())
    }

    fn pick(&mut self, at: [f32; 2], ask: u32, scenes: &mut ViewerScenes) -> Result<(), String> {
        if !at.iter().all(|x| x.is_finite()) {
            return Err("`at` must be two numbers from 0 to 1".to_owned());
        }
        let (Some((frame, _)), Some((width, height))) = (&self.current, self.size) else {
            self.link.answer(Answer::Picked { ask, found: None });
            return Ok(());
        };
        let aspect = width as f32 / height as f32;
        scenes.make_ready().map_err(|error| error.to_string())?;
        let found = pick(&scenes.shown.scene, frame, at, aspect, scenes.device.as_mut());
        let found = found.map_err(|error| error.to_string())?.map(|(instance, mut picked)| {
            self.edits.complete(&mut picked, &scenes.shown, instance);
            picked
        });
        self.link.answer(Answer::Picked { ask, found });
        Ok(())
    }

    /// Computes the flight through the waypoints in the shown scene.
    pub fn fly(&mut self, scenes: &ViewerScenes) {
        let (keys, pace) = &self.waypoints;
        self.flight = match Flight::new(&scenes.shown.scene, keys, pace.as_deref()) {
            Ok(flight) => flight,
            Err(message) => {
                self.link.answer(Answer::error(message));
                None
            }
        };
        let settings = &scenes.shown.scene.settings;
        let last = self
            .flight
            .as_ref()
            .map_or(1, |flight| 1 + ((flight.end() - settings.start) * settings.fps).round() as u32);
        self.clock.set_end(settings.frames.max(last.min(*FRAMES.end())));
        if self.flight.is_none() && self.follow == Follow::Waypoints {
            self.follow = Follow::Free;
        }
    }

    fn tell_waypoints(&self, scenes: &ViewerScenes) {
        let points = self.flight.as_ref().map_or_else(Vec::new, |flight| flight.points(&scenes.shown.scene));
        self.link.answer(Answer::Path {
            of: Track::Waypoints,
            points,
            keys: self.waypoints.0.clone(),
            pace: self.waypoints.1.clone(),
        });
    }

    /// Sends the path of the scene's camera.
    pub fn tell_path(&self, scenes: &ViewerScenes) {
        self.link.answer(own_path(&scenes.shown.scene));
    }

    /// The camera and the frame, for viewers that follow this one.
    pub fn presented(&self) -> Option<(View, u32)> {
        let (frame, _) = self.current.as_ref()?;
        Some((View { key: 0, ..camera::view(&frame.camera()) }, frame.number))
    }

    /// Adopts the camera and the frame of another viewer.
    pub fn watch(&mut self, (view, frame): (View, u32)) {
        if self.clock.at(Instant::now()) != frame {
            self.clock.show(frame);
        }
        let view = View { key: self.key, ..view };
        if self.view.as_ref() != Some(&view) {
            self.follow = Follow::Free;
            self.link.answer(Answer::Camera(view.clone()));
            self.view = Some(view);
        }
    }

    /// The flight to be saved as the scene's camera.
    pub fn flight(&self, scenes: &ViewerScenes) -> throng_edit::Flight {
        let seen = self.current.as_ref().map(|(frame, _)| camera::view(&frame.camera())).unwrap_or_default();
        let still = self.view.as_ref().filter(|_| self.follow == Follow::Free).unwrap_or(&seen);
        let is_flat = matches!(scenes.shown.scene.camera.projection, Projection::Orthographic { .. });
        let (keys, pace) = &self.waypoints;
        let keys = file_keys(&scenes.shown.scene, keys);
        camera::flight(&keys, pace.as_deref(), still, is_flat)
    }
}

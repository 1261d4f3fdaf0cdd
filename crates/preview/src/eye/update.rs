//! The picture that a viewer needs now.

use super::{
    Eye,
    state::{Follow, Posed, Progress, Sampled},
};
use crate::{
    Answer, View, camera,
    scenes::{Shown, ViewerScenes},
};
use std::time::Instant;
use throng_device::{Frame, FrameSettings};
use throng_picture::{aov::Aov, pixels::PixelType};
use throng_render::{RenderJob, sampling};
use throng_scene::anim::{Moment, camera_pose};
use throng_settings::Error;

/// Settings for the film of a picture. If the finished picture is denoised, its variance is measured.
pub fn film_settings(settings: &FrameSettings, is_denoised: bool) -> FrameSettings {
    FrameSettings { aovs: settings.aovs.with(is_denoised.then_some(Aov::Variance)), ..settings.clone() }
}

impl Eye {
    /// Determines the current picture, and restarts it if a value that affects samples has changed.
    ///
    /// # Errors
    /// If the settings are invalid, if the device cannot load the scene, or if it fails while measuring the exposure.
    pub fn update(&mut self, scenes: &mut ViewerScenes) -> Result<(), Error> {
        let Some(size) = self.size.filter(|_| !self.is_broken) else {
            return Ok(());
        };
        if self.job.is_none() {
            self.job = Some(self.traced_job(size, scenes)?);
            self.posed = None;
            self.denoised = self.denoised_job(size, scenes);
        }
        let number = self.clock.at(Instant::now());
        self.pose(number, scenes)?;
        if let Some((frame, settings)) = self.seen(scenes) {
            self.turn_to(frame, settings, scenes.shown.generation);
        }
        Ok(())
    }

    /// The job that traces pictures of `size` with the viewer's choices.
    fn traced_job(&self, size: (u32, u32), scenes: &ViewerScenes) -> Result<RenderJob, Error> {
        let options = self.choices.options(&scenes.shown.options, size);
        let mut job = scenes.job(&options, PixelType::U8)?;
        job.settings.aovs = job.settings.aovs.with(self.choices.view);
        job.aovs = job.aovs.with(self.choices.view);
        job.delivery.unfinished_aovs = self.choices.view.is_some() || job.is_transparent();
        Ok(job)
    }

    /// Poses the frame with this number, unless it is posed already.
    fn pose(&mut self, number: u32, scenes: &mut ViewerScenes) -> Result<(), Error> {
        let Some(job) = &mut self.job else { return Ok(()) };
        let generation = scenes.shown.generation;
        if self.posed.as_ref().is_none_or(|posed| (posed.number, posed.generation) != (number, generation)) {
            job.frames = vec![number];
            scenes.make_ready()?;
            let known = (number, &mut self.measured);
            let (frame, settings) = scenes.shown.loaded.pose(job, scenes.device.as_mut(), known, &|| false)?;
            self.posed = Some(Posed { number, generation, frame, settings });
        }
        Ok(())
    }

    /// The posed frame, seen by the viewer's camera, and its settings.
    fn seen(&mut self, scenes: &mut ViewerScenes) -> Option<(Frame, FrameSettings)> {
        let posed = self.posed.as_mut()?;
        let Shown { scene, loaded, .. } = &mut scenes.shown;
        let time = scene.time_of(posed.number);
        let aspect = posed.settings.width as f32 / posed.settings.height as f32;
        let other = match (self.follow, &self.flight, &self.view) {
            (Follow::Waypoints, Some(flight), _) => Some(flight.pose(scene, time)),
            (Follow::Through(index), ..) if index < scene.viewpoints.len() => {
                Some(camera_pose(scene, &scene.viewpoints[index].1, &Moment::of(scene, time)))
            }
            (Follow::Free, _, Some(view)) => Some(camera::pose(scene, time, view, aspect)),
            _ => None,
        };
        posed.frame = loaded.close_to(posed.frame.clone(), other.map(|camera| camera.eye));
        let frame = other.map_or_else(|| posed.frame.clone(), |camera| posed.frame.seen_by(camera));
        Some((frame, posed.settings.clone()))
    }

    /// Makes a frame the current picture. The picture is restarted if a value that affects samples has changed.
    fn turn_to(&mut self, frame: Frame, settings: FrameSettings, generation: u32) {
        let film_settings = film_settings(&settings, self.denoised.is_some());
        let sampled = Sampled {
            number: frame.number,
            generation,
            camera: frame.camera(),
            is_own: self.follow == Follow::Scene,
            settings: sampling(&film_settings),
            delivery: self.job.as_ref().map(|job| job.delivery).unwrap_or_default(),
        };
        let is_new = self.sampled.as_ref() != Some(&sampled);
        if is_new && self.follow != Follow::Free && self.sampled.as_ref().map(|s| s.camera) != Some(sampled.camera) {
            self.link.answer(Answer::Camera(View { key: self.key, ..camera::view(&frame.camera()) }));
        }
        self.state.of = settings.samples;
        self.state.exposure = settings.exposure;
        self.state.frame = frame.number;
        let is_current = self.current.as_ref().is_some_and(|(_, current)| *current == settings);
        match &mut self.progress {
            _ if is_new => {
                self.progress = Progress::Changed;
                self.state.samples = 0;
            }
            Progress::Sampling(film) if film.settings != film_settings => {
                (film.settings, film.frame) = (film_settings, frame.clone());
                self.shown = None;
                (self.state.done, self.state.denoised) = (false, false);
            }
            Progress::Quick { .. } | Progress::Ended if !is_current => self.progress = Progress::Changed,
            _ => {}
        }
        if is_new {
            (self.state.done, self.state.denoised) = (false, false);
            self.sampled = Some(sampled);
        }
        self.current = Some((frame, settings));
    }

    /// The job that denoises finished pictures, if renders of the scene are denoised. None for layers, and if it is not possible.
    fn denoised_job(&self, size: (u32, u32), scenes: &ViewerScenes) -> Option<RenderJob> {
        let Shown { scene, options, .. } = &scenes.shown;
        let options = self.choices.denoised_options(options, size, &scene.settings);
        let options = options.filter(|_| self.choices.view.is_none())?;
        match scenes.job(&options, PixelType::U8) {
            Ok(job) => Some(job),
            Err(error) => {
                self.link.answer(Answer::error(error));
                None
            }
        }
    }

    /// Reports an error, and stops trying until something changes.
    pub fn give_up(&mut self, error: &Error) {
        (self.progress, self.is_broken) = (Progress::Changed, true);
        self.link.answer(Answer::error(error));
    }
}

//! Messages of the WebSocket: JSON texts in both directions, and binary pictures to the page. docs/view.md describes them.

use serde::Deserialize;
use throng_preview::Command;

/// First four bytes of a picture message: `GRHT`, which is `THRG` as a little-endian number.
pub const MAGIC: u32 = 0x5448_5247;
/// Size of a picture message's header, in bytes.
pub const HEADER_BYTES: usize = 32;
/// Flags of a picture message.
pub const FINISHED: u16 = 1;
pub const PNG: u16 = 2;

/// A message from a page.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Acknowledges that the picture with this number was shown.
    Shown(u32),
    /// A command for the preview loop.
    Command(Command),
}

impl Request {
    /// Parses a JSON message.
    ///
    /// # Errors
    /// If the text is not a valid message: a description of the fault.
    pub fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Kind<'a> {
            #[serde(rename = "do", borrow)]
            what: std::borrow::Cow<'a, str>,
        }
        #[derive(Deserialize)]
        struct Shown {
            picture: u32,
        }
        let failed = |error: serde_json::Error| format!("this message is not understood: {error}");
        let kind: Kind = serde_json::from_str(text).map_err(failed)?;
        if kind.what == "shown" {
            let Shown { picture } = serde_json::from_str(text).map_err(failed)?;
            return Ok(Self::Shown(picture));
        }
        serde_json::from_str(text).map(Self::Command).map_err(failed)
    }
}

/// The header of a picture message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PictureHeader {
    pub picture: u32,
    pub width: u16,
    pub height: u16,
    pub samples: u32,
    /// Serial number of the camera with which the picture was rendered.
    pub key: u32,
    pub stripes: u16,
    pub flags: u16,
    pub frame: u32,
}

/// A horizontal part of a picture, encoded as JPEG or PNG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripe<D> {
    pub top: u16,
    pub rows: u16,
    pub data: D,
}

impl PictureHeader {
    pub fn is_finished(&self) -> bool {
        self.flags & FINISHED != 0
    }

    pub fn is_png(&self) -> bool {
        self.flags & PNG != 0
    }
}

/// Encodes a picture message.
pub fn write_picture(header: &PictureHeader, stripes: &[Stripe<Vec<u8>>]) -> Vec<u8> {
    let bytes: usize = stripes.iter().map(|stripe| 8 + stripe.data.len()).sum();
    let mut message = Vec::with_capacity(HEADER_BYTES + bytes);
    message.extend(MAGIC.to_le_bytes());
    message.extend(header.picture.to_le_bytes());
    message.extend(header.width.to_le_bytes());
    message.extend(header.height.to_le_bytes());
    message.extend(header.samples.to_le_bytes());
    message.extend(header.key.to_le_bytes());
    message.extend(header.stripes.to_le_bytes());
    message.extend(header.flags.to_le_bytes());
    message.extend(header.frame.to_le_bytes());
    message.extend(0u32.to_le_bytes());
    for stripe in stripes {
        message.extend((stripe.data.len() as u32).to_le_bytes());
        message.extend(stripe.top.to_le_bytes());
        message.extend(stripe.rows.to_le_bytes());
        message.extend(&stripe.data);
    }
    message
}

/// Decodes a picture message. None if it is damaged.
pub fn read_picture(message: &[u8]) -> Option<(PictureHeader, Vec<Stripe<&[u8]>>)> {
    let u16_at = |at: usize| Some(u16::from_le_bytes(message.get(at..at + 2)?.try_into().ok()?));
    let u32_at = |at: usize| Some(u32::from_le_bytes(message.get(at..at + 4)?.try_into().ok()?));
    let header = PictureHeader {
        picture: u32_at(4)?,
        width: u16_at(8)?,
        height: u16_at(10)?,
        samples: u32_at(12)?,
        key: u32_at(16)?,
        stripes: u16_at(20)?,
        flags: u16_at(22)?,
        frame: u32_at(24)?,
    };
    if u32_at(0)? != MAGIC {
        return None;
    }
    let mut at = HEADER_BYTES;
    let mut stripes = Vec::new();
    for _ in 0..header.stripes {
        let (length, top, rows) = (u32_at(at)? as usize, u16_at(at + 4)?, u16_at(at + 6)?);
        at += 8;
        stripes.push(Stripe { top, rows, data: message.get(at..at.checked_add(length)?)? });
        at += length;
    }
    (at == message.len()).then_some((header, stripes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use throng_preview::View;

    proptest! {
        #[test]
        fn any_text_is_a_message_or_an_error(text in any::<String>(), name in "[a-z_]{1,9}", value in any::<String>()) {
            let _ = Request::parse(&text);
            let quoted = serde_json::Value::from(value.as_str());
            for what in ["start", "camera", "set", "pick", "waypoints", "still", "change", "place", "save", "shown"] {
                let _ = Request::parse(&format!("{{\"do\":\"{what}\",\"{name}\":{quoted}}}"));
                let _ = Request::parse(&format!("{{\"do\":\"{what}\",\"size\":{text}}}"));
            }
        }

        #[test]
        fn any_bytes_are_a_picture_or_none(mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_picture(&bytes);
            if bytes.len() >= 4 {
                bytes[..4].copy_from_slice(&MAGIC.to_le_bytes());
                let _ = read_picture(&bytes);
            }
        }
    }

    #[test]
    fn messages_are_what_the_protocol_says() {
        let parse = |text: &str| Request::parse(text).unwrap();
        assert_eq!(parse(r#"{"do":"shown","picture":7}"#), Request::Shown(7));
        let start = Command::Start { size: [960, 540] };
        assert_eq!(parse(r#"{"do":"start","size":[960,540]}"#), Request::Command(start));
        let view = View { eye: [1.0, 2.0, 3.0], up: [0.0, 1.0, 0.0], fov: Some(40.0), key: 3, ..View::default() };
        let text = r#"{"do":"camera","eye":[1,2,3],"target":[0,0,0],"fov":40,"key":3}"#;
        assert_eq!(parse(text), Request::Command(Command::Camera(view)));
        let play = Command::Play { playing: true, looped: true };
        assert_eq!(parse(r#"{"do":"play","playing":true,"loop":true}"#), Request::Command(play));
        for wrong in ["", "[]", "{}", r#"{"do":"fly"}"#, r#"{"do":"start","size":[1]}"#, r#"{"do":"time","frame":-1}"#]
        {
            assert!(Request::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn pictures_are_read_as_they_were_written() {
        let header =
            PictureHeader { picture: 5, width: 8, height: 6, samples: 2, key: 9, stripes: 2, flags: PNG, frame: 4 };
        let stripes = [Stripe { top: 0, rows: 4, data: vec![1, 2, 3] }, Stripe { top: 4, rows: 2, data: vec![] }];
        let message = write_picture(&header, &stripes);
        let (read, parts) = read_picture(&message).unwrap();
        assert_eq!((read, parts.len(), parts[0].data), (header, 2, &[1u8, 2, 3][..]));
        assert!(read.is_png() && !read.is_finished());
        assert_eq!(read_picture(&message[..message.len() - 1]), None);
    }
}

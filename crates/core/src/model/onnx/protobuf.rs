//! Protocol buffers, as far as writing needs them.
//!
//! A message is a run of fields. A field is a key, number · 8 + wire type, and its value: a varint (type 0: seven bits in a
//! byte, lowest first, the high bit says that more follow) or a length and that many bytes (type 2: texts, bytes and
//! messages). A list is a field that is repeated.
//!
//! # Source
//! Protocol Buffers, Encoding, <https://protobuf.dev/programming-guides/encoding/>.

/// A message under construction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// A whole number; negative ones take ten bytes.
    pub(super) fn int(mut self, field: u32, value: i64) -> Self {
        self.key(field, 0);
        self.varint(value as u64);
        self
    }

    /// A list of whole numbers.
    pub(super) fn ints(self, field: u32, values: &[i64]) -> Self {
        values.iter().fold(self, |message, &value| message.int(field, value))
    }

    /// A text.
    pub(super) fn text(self, field: u32, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    /// A list of texts.
    pub(super) fn texts<T: AsRef<str>>(self, field: u32, values: &[T]) -> Self {
        values.iter().fold(self, |message, value| message.text(field, value.as_ref()))
    }

    /// Bytes.
    pub(super) fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        self.key(field, 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// Numbers in double precision as bytes, lowest first.
    pub(super) fn doubles(mut self, field: u32, values: &[f64]) -> Self {
        self.key(field, 2);
        self.varint(values.len() as u64 * 8);
        self.0.reserve(values.len() * 8);
        values.iter().for_each(|x| self.0.extend_from_slice(&x.to_le_bytes()));
        self
    }

    /// A message inside.
    pub(super) fn message(self, field: u32, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }

    /// A list of messages.
    pub(super) fn messages(self, field: u32, values: &[Self]) -> Self {
        values.iter().fold(self, |message, value| message.message(field, value))
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn key(&mut self, field: u32, wire: u64) {
        self.varint(u64::from(field) << 3 | wire);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_specification() {
        assert_eq!(Message::new().int(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        let text = Message::new().text(2, "testing");
        assert_eq!(text.into_bytes(), [0x12, 0x07, b't', b'e', b's', b't', b'i', b'n', b'g']);
        let inside = Message::new().message(3, &Message::new().int(1, 150));
        assert_eq!(inside.into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
    }

    #[test]
    fn by_hand() {
        // −2 is 2⁶⁴ − 2: a low byte of 0x7e and nine more groups of seven ones
        let negative = Message::new().int(1, -2).into_bytes();
        assert_eq!(negative, [0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
        // field 20 has the key 160 = 0b1_0100000, which takes two bytes
        assert_eq!(Message::new().int(20, 7).into_bytes(), [0xa0, 0x01, 0x07]);
        assert_eq!(Message::new().ints(1, &[0, 128]).into_bytes(), [0x08, 0x00, 0x08, 0x80, 0x01]);
        assert_eq!(Message::new().texts(6, &["a", ""]).into_bytes(), [0x32, 0x01, b'a', 0x32, 0x00]);
        // 1.5 is 0x3ff8…, lowest byte first
        assert_eq!(Message::new().doubles(9, &[1.5]).into_bytes(), [0x4a, 8, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f]);
        assert_eq!(Message::new().messages(1, &[Message::new(), Message::new()]).into_bytes(), [0x0a, 0, 0x0a, 0]);
    }
}

//! A JSON object whose members stay as they were received.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, in order, those of one name included.
///
/// Two readers of one message may each take another one of two members of the same name, so a message with a
/// [`duplicate`](Self::duplicate) is refused where anyone else decides by it.
#[derive(Debug, Default)]
pub(crate) struct Object<'a> {
    pub(crate) members: Vec<(String, &'a RawValue)>,
}

/// The object cannot be read: JSON that is well-formed can still hold half of a surrogate pair, in a name.
#[derive(Debug)]
pub(crate) struct Unreadable;

impl<'a> Object<'a> {
    /// `Ok(None)`: `json` is something else.
    pub(crate) fn read(json: &'a RawValue) -> Result<Option<Self>, Unreadable> {
        if !json.get().starts_with('{') {
            return Ok(None);
        }
        serde_json::from_str(json.get()).map(Some).map_err(|_| Unreadable)
    }

    /// `None`: `json` is something else, or cannot be read.
    pub(crate) fn of(json: &'a RawValue) -> Option<Self> {
        Self::read(json).ok().flatten()
    }

    /// All members of this name.
    pub(crate) fn all<'n>(&self, name: &'n str) -> impl Iterator<Item = &'a RawValue> + use<'_, 'a, 'n> {
        self.members.iter().filter(move |(member, _)| member == name).map(|(_, json)| *json)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.all(name).last()
    }

    /// The member's text, if it is a string.
    pub(crate) fn str(&self, name: &str) -> Option<String> {
        self.get(name).and_then(|json| serde_json::from_str(json.get()).ok())
    }

    /// A name that occurs twice.
    pub(crate) fn duplicate(&self) -> Option<&str> {
        let mut names: Vec<&str> = self.members.iter().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut object = Object::default();
                while let Some(member) = map.next_entry()? {
                    object.members.push(member);
                }
                Ok(object)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_name_that_occurs_twice_is_told_however_it_is_escaped() {
        let json = raw(r#"{"a":1,"b":2,"\u0061":3}"#);
        let object = Object::of(&json).unwrap();
        assert_eq!(object.duplicate(), Some("a"));
        assert_eq!(object.all("a").map(RawValue::get).collect::<Vec<_>>(), ["1", "3"]);
        assert_eq!(object.get("b").unwrap().get(), "2");
    }

    #[test]
    fn what_is_no_object_is_told_from_what_cannot_be_read() {
        for json in ["[]", "1", "null", "\"{}\""] {
            assert!(matches!(Object::read(&raw(json)), Ok(None)), "{json}");
        }
        assert!(Object::read(&raw(r#"{"\ud800":1}"#)).is_err());
    }

    #[test]
    fn a_member_is_kept_as_it_was_received() {
        let json = raw(r#"{ "n" : 123456789012345678901234567890 }"#);
        assert_eq!(Object::of(&json).unwrap().get("n").unwrap().get(), "123456789012345678901234567890");
    }
}

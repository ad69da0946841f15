//! A JSON object whose members stay as they were received.

use std::{collections::HashMap, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object, and the first name that occurs twice.
///
/// Two readers of one message may each take another one of two members of the same name, so a message with a
/// duplicate is refused where anyone else decides by it. The last one is kept here.
#[derive(Debug, Default)]
pub(crate) struct Object<'a> {
    members: HashMap<String, &'a RawValue>,
    pub(crate) duplicate: Option<String>,
}

impl<'a> Object<'a> {
    /// `None`: `json` is no object.
    pub(crate) fn of(json: &'a RawValue) -> Option<Self> {
        serde_json::from_str(json.get()).ok()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.members.get(name).copied()
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// The member's text, if it is a string.
    pub(crate) fn str(&self, name: &str) -> Option<String> {
        self.get(name).and_then(|json| serde_json::from_str(json.get()).ok())
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
                while let Some((name, json)) = map.next_entry::<String, &RawValue>()? {
                    if object.members.contains_key(&name) {
                        object.duplicate.get_or_insert_with(|| name.clone());
                    }
                    object.members.insert(name, json);
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
        assert_eq!(object.duplicate.as_deref(), Some("a"));
        assert_eq!(object.get("b").unwrap().get(), "2");
    }

    #[test]
    fn what_is_no_object_is_none() {
        for json in ["[]", "1", "null", "\"{}\""] {
            assert!(Object::of(&raw(json)).is_none(), "{json}");
        }
    }

    #[test]
    fn a_member_is_kept_as_it_was_received() {
        let json = raw(r#"{ "n" : 123456789012345678901234567890 }"#);
        assert_eq!(Object::of(&json).unwrap().get("n").unwrap().get(), "123456789012345678901234567890");
    }
}

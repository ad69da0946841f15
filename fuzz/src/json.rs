//! JSON by hand: what the library makes of a message is judged by a reader that it does not share.
//!
//! Values stay tokens, so that an id can be compared to the letter. Nothing here recurses: depth is the fuzzer's.

use std::fmt::Write;

/// One member of an object.
pub(crate) struct Member<'a> {
    /// `None`: it cannot be read, since it has half of a surrogate pair.
    pub(crate) name: Option<String>,
    pub(crate) value: &'a str,
}

/// The one value in `text`, without the white space around it; `None`: it is no JSON.
pub(crate) fn whole(text: &[u8]) -> Option<&str> {
    let mut reader = Reader { text: std::str::from_utf8(text).ok()?, at: 0 };
    let value = reader.value()?;
    reader.space();
    (reader.at == text.len()).then_some(value)
}

/// The members of an object, in order, those of one name included; `None`: it is none.
pub(crate) fn members(token: &str) -> Option<Vec<Member<'_>>> {
    let mut reader = Reader { text: token, at: 0 };
    let mut members = Vec::new();
    reader.expect(b'{')?;
    reader.space();
    if reader.peek() == Some(b'}') {
        return Some(members);
    }
    loop {
        let name = string(reader.key()?);
        members.push(Member { name, value: reader.value()? });
        reader.space();
        match reader.next()? {
            b',' => {}
            _ => return Some(members),
        }
    }
}

/// The items of an array; `None`: it is none.
pub(crate) fn items(token: &str) -> Option<Vec<&str>> {
    let mut reader = Reader { text: token, at: 0 };
    let mut items = Vec::new();
    reader.expect(b'[')?;
    reader.space();
    if reader.peek() == Some(b']') {
        return Some(items);
    }
    loop {
        items.push(reader.value()?);
        reader.space();
        match reader.next()? {
            b',' => {}
            _ => return Some(items),
        }
    }
}

/// The text of a string; `None`: it is none, or cannot be read.
pub(crate) fn string(token: &str) -> Option<String> {
    let inside = token.strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    let mut chars = inside.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            text.push(char);
            continue;
        }
        text.push(match chars.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => match unit(&mut chars)? {
                high @ 0xd800..0xdc00 => {
                    let (Some('\\'), Some('u')) = (chars.next(), chars.next()) else { return None };
                    let low @ 0xdc00..0xe000 = unit(&mut chars)? else { return None };
                    char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))?
                }
                unit => char::from_u32(unit)?,
            },
            other => other,
        });
    }
    Some(text)
}

fn unit(chars: &mut std::str::Chars<'_>) -> Option<u32> {
    (0..4).try_fold(0, |unit, _| Some(unit * 16 + chars.next()?.to_digit(16)?))
}

/// Whether it is a number without a fraction or an exponent.
pub(crate) fn is_integer(token: &str) -> bool {
    token.starts_with(|char: char| char == '-' || char.is_ascii_digit()) && !token.contains(['.', 'e', 'E'])
}

/// The only member of this name.
///
/// # Panics
///
/// If there are several: what the library writes has each member once.
pub(crate) fn only<'a>(members: &[Member<'a>], name: &str) -> Option<&'a str> {
    let mut named = members.iter().filter(|member| member.name.as_deref() == Some(name));
    let value = named.next()?.value;
    assert!(named.next().is_none(), "`{name}` occurs twice");
    Some(value)
}

/// Whether a name occurs twice, or cannot be read.
pub(crate) fn is_ambiguous(members: &[Member<'_>]) -> bool {
    let mut names: Vec<_> = members.iter().map(|member| member.name.as_deref()).collect();
    names.sort_unstable();
    names.contains(&None) || names.windows(2).any(|pair| pair[0] == pair[1])
}

/// A string, as JSON.
pub(crate) fn quoted(text: &str) -> String {
    let mut token = String::from('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => token.extend(['\\', char]),
            '\0'..' ' => write!(token, "\\u{:04x}", u32::from(char)).expect("memory takes it"),
            _ => token.push(char),
        }
    }
    token.push('"');
    token
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Option<&'a str> {
        self.space();
        let start = self.at;
        let mut open = Vec::new();
        loop {
            self.space();
            match self.peek()? {
                bracket @ (b'[' | b'{') => {
                    self.at += 1;
                    let closer = bracket + 2;
                    self.space();
                    if self.peek()? == closer {
                        self.at += 1;
                    } else {
                        open.push(closer);
                        if closer == b'}' {
                            self.key()?;
                        }
                        continue;
                    }
                }
                b'"' => drop(self.string()?),
                b'-' | b'0'..=b'9' => self.number()?,
                _ => self.word()?,
            }
            // A value is over; so may be those around it.
            loop {
                let Some(&closer) = open.last() else { return Some(&self.text[start..self.at]) };
                self.space();
                match self.next()? {
                    b',' => {
                        if closer == b'}' {
                            self.key()?;
                        }
                        break;
                    }
                    byte if byte == closer => drop(open.pop()),
                    _ => return None,
                }
            }
        }
    }

    /// A name and its colon.
    fn key(&mut self) -> Option<&'a str> {
        self.space();
        let name = self.string()?;
        self.space();
        self.expect(b':')?;
        Some(name)
    }

    fn string(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.expect(b'"')?;
        loop {
            match self.next()? {
                b'"' => return Some(&self.text[start..self.at]),
                b'\\' => match self.next()? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                    b'u' => (0..4).try_for_each(|_| self.next()?.is_ascii_hexdigit().then_some(()))?,
                    _ => return None,
                },
                0..b' ' => return None,
                _ => {}
            }
        }
    }

    fn number(&mut self) -> Option<()> {
        if self.peek()? == b'-' {
            self.at += 1;
        }
        if self.peek()? == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn word(&mut self) -> Option<()> {
        let rest = &self.text.as_bytes()[self.at..];
        let word = ["true", "false", "null"].into_iter().find(|word| rest.starts_with(word.as_bytes()))?;
        self.at += word.len();
        Some(())
    }
}

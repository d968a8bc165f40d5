//! Values in JSON. Numbers, duplicate keys and offsets are read by hand: serde_json has no place
//! for integers beyond 64 bits beside floats, and none for a key that comes twice.

use std::collections::HashSet;

use crate::integer::Integer;
use crate::limits::Limits;
use crate::value::{quote, Budget, Malformed, Value};

/// The one value in these bytes, with space around it.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Value, Malformed> {
    let mut reader = Reader {
        bytes,
        at: 0,
        budget: Budget::new(limits),
    };
    reader.space();
    let value = reader.value()?;
    reader.space();
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.unexpected("the end of the message")),
    }
}

/// The name behind the opening brace, if the bytes get that far.
pub fn first_name(bytes: &[u8], limits: &Limits) -> Option<String> {
    let mut reader = Reader {
        bytes,
        at: 0,
        budget: Budget::new(limits),
    };
    reader.space();
    reader.take(b'{').then(|| reader.space())?;
    reader.take(b'"').then(|| reader.text().ok())?
}

pub fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend(b"null"),
        Value::Bool(true) => out.extend(b"true"),
        Value::Bool(false) => out.extend(b"false"),
        Value::Integer(integer) => out.extend(integer.digits().bytes()),
        Value::Float(float) => serde_json::to_writer(out, float).expect("finite, into memory"),
        Value::Text(text) => write_text(text, out),
        Value::List(elements) => {
            out.push(b'[');
            for (position, element) in elements.iter().enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                write(element, out);
            }
            out.push(b']');
        }
        Value::Map(members) => {
            out.push(b'{');
            for (position, (name, member)) in members.iter().enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                write_text(name, out);
                out.push(b':');
                write(member, out);
            }
            out.push(b'}');
        }
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("UTF-8, into memory");
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    budget: Budget<'a>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn unexpected(&self, expected: &str) -> Malformed {
        let found = match self.peek() {
            None => "the message ends".to_owned(),
            Some(byte) if byte.is_ascii_graphic() => format!("'{}' stands", byte as char),
            Some(byte) => format!("byte {byte:02x} stands"),
        };
        Malformed::new(self.at, format!("{found} where {expected} belongs"))
    }

    fn value(&mut self) -> Result<Value, Malformed> {
        match self.peek() {
            Some(b'{') => self.map(),
            Some(b'[') => self.list(),
            Some(b'"') => {
                self.at += 1;
                self.text().map(Value::Text)
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            _ => Err(self.unexpected("a value in JSON")),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Malformed> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.unexpected("a value in JSON"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn list(&mut self) -> Result<Value, Malformed> {
        let mut elements = Vec::new();
        self.budget.open(self.at)?;
        self.at += 1;
        self.space();
        if !self.take(b']') {
            loop {
                self.budget.item(self.at)?;
                elements.push(self.value()?);
                if self.ends(b']', "',' or ']'")? {
                    break;
                }
            }
        }
        self.budget.close();
        Ok(Value::List(elements))
    }

    fn map(&mut self) -> Result<Value, Malformed> {
        let mut members = Vec::new();
        let mut names = HashSet::new();
        self.budget.open(self.at)?;
        self.at += 1;
        self.space();
        if !self.take(b'}') {
            loop {
                let start = self.at;
                self.budget.item(start)?;
                if !self.take(b'"') {
                    return Err(self.unexpected("a key in quotes"));
                }
                let name = self.text()?;
                if !names.insert(name.clone()) {
                    return Err(Malformed::new(
                        start,
                        format!("duplicate key {}", quote(&name)),
                    ));
                }
                self.space();
                if !self.take(b':') {
                    return Err(self.unexpected("':'"));
                }
                self.space();
                members.push((name, self.value()?));
                if self.ends(b'}', "',' or '}'")? {
                    break;
                }
            }
        }
        self.budget.close();
        Ok(Value::Map(members))
    }

    /// Behind an element: whether the map or list ends here, or another one follows.
    fn ends(&mut self, closing: u8, expected: &str) -> Result<bool, Malformed> {
        self.space();
        if self.take(closing) {
            return Ok(true);
        }
        if !self.take(b',') {
            return Err(self.unexpected(expected));
        }
        self.space();
        Ok(false)
    }

    fn digits(&mut self) -> Result<(), Malformed> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.unexpected("a digit"));
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, Malformed> {
        let start = self.at;
        self.take(b'-');
        if self.take(b'0') {
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(Malformed::new(start, "a number has a leading zero"));
            }
        } else {
            self.digits()?;
        }
        let whole = self.at;
        if self.take(b'.') {
            self.digits()?;
        }
        let mantissa = &self.bytes[start..self.at];
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).expect("ASCII");
        if self.at == whole && text != "-0" {
            let most = self.budget.limits.intbits;
            return Integer::from_digits(text, most)
                .map(Value::Integer)
                .ok_or_else(|| {
                    Malformed::new(
                        start,
                        format!("an integer of more than {most} bits (intbits)"),
                    )
                });
        }
        let float: f64 = text.parse().expect("the grammar of JSON is narrower");
        if float.is_infinite()
            || float == 0.0 && mantissa.iter().any(|digit| matches!(digit, b'1'..=b'9'))
        {
            return Err(Malformed::new(
                start,
                format!("no binary64 holds {}", quote(text)),
            ));
        }
        Ok(Value::Float(float))
    }

    /// The text behind an opening quote, with its closing one.
    fn text(&mut self) -> Result<String, Malformed> {
        let opening = self.at - 1;
        let mut text = String::new();
        loop {
            let start = self.at;
            let plain = |byte: &u8| *byte != b'"' && *byte != b'\\' && *byte >= b' ';
            self.at += self.bytes[start..]
                .iter()
                .take_while(|byte| plain(byte))
                .count();
            match std::str::from_utf8(&self.bytes[start..self.at]) {
                Ok(run) => text.push_str(run),
                Err(wrong) => {
                    return Err(Malformed::new(start + wrong.valid_up_to(), "invalid UTF-8"))
                }
            }
            match self.peek() {
                None => return Err(Malformed::new(opening, "a text has no end")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(control) => {
                    return Err(Malformed::new(
                        self.at,
                        format!("a raw control, byte {control:02x}, in a text"),
                    ))
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, Malformed> {
        let start = self.at;
        let letter = self.bytes.get(start + 1);
        self.at += 2;
        Ok(match letter {
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(byte @ (b'"' | b'\\' | b'/')) => *byte as char,
            Some(b'u') => {
                let unit = self.unit(start)?;
                let mut units = vec![unit];
                if (0xd800..0xdc00).contains(&unit) && self.bytes[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    units.push(self.unit(start)?);
                }
                let mut decoded = char::decode_utf16(units);
                match (decoded.next(), decoded.next()) {
                    (Some(Ok(character)), None) => character,
                    _ => return Err(Malformed::new(start, "an escape of half a surrogate pair")),
                }
            }
            _ => return Err(Malformed::new(start, "an escape that JSON does not have")),
        })
    }

    /// The four hexadecimal digits of an escape that began at `start`.
    fn unit(&mut self, start: usize) -> Result<u16, Malformed> {
        let digits = self
            .bytes
            .get(self.at..self.at + 4)
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let digits = digits
            .ok_or_else(|| Malformed::new(start, "an escape without four hexadecimal digits"))?;
        self.at += 4;
        let digits = std::str::from_utf8(digits).expect("ASCII");
        Ok(u16::from_str_radix(digits, 16).expect("four digits"))
    }
}

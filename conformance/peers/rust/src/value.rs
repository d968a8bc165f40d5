//! The values of the wire (ENC-4), one for each meaning, whichever encoding they came in (ENC-6).

use crate::integer::Integer;
use crate::limits::{Limits, QUOTE};

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Integer(Integer),
    /// Always finite.
    Float(f64),
    Text(String),
    List(Vec<Value>),
    /// In the order it came, and no key is there twice.
    Map(Members),
}

pub type Members = Vec<(String, Value)>;

impl Value {
    pub fn text(text: impl Into<String>) -> Value {
        Value::Text(text.into())
    }

    pub fn integer(number: usize) -> Value {
        Value::Integer(Integer::from_head(false, number as u64))
    }

    /// The digits of a whole number from 0, an integer or a float such as 1.0 (SHAPE-5).
    pub fn whole(&self) -> Option<String> {
        match self {
            Value::Integer(number) if !number.is_negative() => Some(number.digits().to_owned()),
            Value::Float(float) if *float >= 0.0 && float.fract() == 0.0 => {
                Some(format!("{:.0}", float.abs()))
            }
            _ => None,
        }
    }

    /// What ENC-5 would say of this value if it were read: the limit that it is over.
    pub fn over(&self, limits: &Limits) -> Option<String> {
        self.count(&mut Budget::new(limits))
            .err()
            .map(|over| over.why)
    }

    fn count(&self, budget: &mut Budget) -> Result<(), Malformed> {
        match self {
            Value::List(elements) => {
                budget.open(0)?;
                for element in elements {
                    budget.item(0)?;
                    element.count(budget)?;
                }
            }
            Value::Map(members) => {
                budget.open(0)?;
                for (_, member) in members {
                    budget.item(0)?;
                    member.count(budget)?;
                }
            }
            _ => return Ok(()),
        }
        budget.close();
        Ok(())
    }
}

/// A rule that is broken, and the byte at which.
#[derive(Clone, Debug, PartialEq)]
pub struct Malformed {
    pub at: usize,
    pub why: String,
}

impl Malformed {
    pub fn new(at: usize, why: impl Into<String>) -> Malformed {
        Malformed {
            at,
            why: why.into(),
        }
    }
}

/// What the limits of ENC-5 leave of one message.
pub struct Budget<'a> {
    pub limits: &'a Limits,
    depth: usize,
    items: usize,
}

impl Budget<'_> {
    pub fn new(limits: &Limits) -> Budget<'_> {
        Budget {
            limits,
            depth: 0,
            items: 0,
        }
    }

    /// A map or a list opens.
    pub fn open(&mut self, at: usize) -> Result<(), Malformed> {
        if self.depth == self.limits.depth {
            return Err(Malformed::new(
                at,
                format!("more than {} maps and lists are open (depth)", self.depth),
            ));
        }
        self.depth += 1;
        Ok(())
    }

    pub fn close(&mut self) {
        self.depth -= 1;
    }

    /// One more member or element.
    pub fn item(&mut self, at: usize) -> Result<(), Malformed> {
        self.fits(1, at)?;
        self.items += 1;
        Ok(())
    }

    /// Whether as many members or elements as a head announces may still come.
    pub fn fits(&self, count: usize, at: usize) -> Result<(), Malformed> {
        if count > self.limits.items - self.items {
            let why = format!(
                "more than {} members and elements (items)",
                self.limits.items
            );
            return Err(Malformed::new(at, why));
        }
        Ok(())
    }
}

/// A member of a map. Names are compared byte by byte (SHAPE-7).
pub fn member<'a>(members: &'a Members, name: &str) -> Option<&'a Value> {
    members
        .iter()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value)
}

/// What an error text repeats of the bytes that came: no more than 64 of them, cut between
/// characters, with controls escaped (ENC-5).
pub fn quote(text: &str) -> String {
    let mut quoted = String::new();
    for (at, character) in text.char_indices() {
        if at + character.len_utf8() > QUOTE {
            quoted.push_str("...");
            break;
        }
        match character {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            control if control.is_control() => {
                quoted.push_str(&format!("\\u{:04x}", control as u32))
            }
            other => quoted.push(other),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_short_and_harmless() {
        assert_eq!(quote("a\nb\u{1b}"), "a\\nb\\u001b");
        assert_eq!(quote(&"x".repeat(64)), "x".repeat(64));
        assert_eq!(
            quote(&format!("a{}", "é".repeat(40))),
            format!("a{}...", "é".repeat(31))
        );
    }

    #[test]
    fn whole_numbers_are_whole_however_they_are_written() {
        assert_eq!(Value::Float(2.0).whole().as_deref(), Some("2"));
        assert_eq!(Value::Float(-0.0).whole().as_deref(), Some("0"));
        assert_eq!(Value::Float(0.5).whole(), None);
        assert_eq!(Value::integer(7).whole().as_deref(), Some("7"));
    }
}

//! Cases as text, to be read, kept and played again.
//!
//! One line for each thing; `#` begins a comment.
//!
//! ```text
//! limits hold-messages=2 hold-bytes=100 max-attempts=3
//! delays 1 0 2
//! stream query borrowed
//! message ["1","te"] chunked token=a1 pause=1
//! message ["xt",true,0.5,null,[],[]] stats last
//! version
//! message [[],[],null,0.5,true,"text","1"]
//! attempt after=1 inside=3 headers version=1 split metadata=again end=unavailable
//! read next times=3 polls=1
//! read pause=2
//! ```
//!
//! A long text is written as `{"cycle": "ab", "chars": 9000}`: the two letters
//! in turn, nine thousand in all.

use std::fmt;
use std::str::FromStr;

use serde_json::{Value, json};
use spanner_rows::{Code, OwnedValue};

use crate::scenario::{
    Action, Attempt, Break, Call, Limits, Metadata, Part, Plan, RowKind, Scenario, What,
};

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = &self.limits;
        if *limits != Limits::default() {
            write!(f, "limits")?;
            write_option(f, "hold-messages", limits.hold_messages)?;
            write_option(f, "hold-bytes", limits.hold_bytes)?;
            write_option(f, "max-attempts", limits.max_attempts)?;
            writeln!(f)?;
        }
        if !self.delays.is_empty() {
            let delays: Vec<_> = self.delays.iter().map(u64::to_string).collect();
            writeln!(f, "delays {}", delays.join(" "))?;
        }
        self.streams.iter().try_for_each(|plan| plan.write(f))
    }
}

/// As the script: what proptest prints can be played again.
impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl Plan {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = name_of(&CALLS, self.call);
        writeln!(f, "stream {call} {}", name_of(&ROWS, self.row))?;
        for (i, parts) in self.versions.iter().enumerate() {
            if i > 0 {
                writeln!(f, "version")?;
            }
            for part in parts {
                part.write(f)?;
            }
        }
        for attempt in &self.attempts {
            attempt.write(f)?;
        }
        for action in &self.reader {
            write!(f, "read ")?;
            match action.what {
                What::Pause(ms) => write!(f, "pause={ms}")?,
                what => write!(f, "{}", name_of(&ACTIONS, what))?,
            }
            if action.times != 1 {
                write!(f, " times={}", action.times)?;
            }
            write_option(f, "polls", action.polls)?;
            writeln!(f)?;
        }
        Ok(())
    }
}

impl Part {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<_> = self.values.iter().map(to_json).collect();
        write!(f, "message {}", Value::Array(values))?;
        write_flag(f, "chunked", self.chunked)?;
        write_option(f, "token", (!self.token.is_empty()).then_some(&self.token))?;
        write_flag(f, "stats", self.stats)?;
        write_flag(f, "last", self.last)?;
        write_option(f, "pause", (self.pause > 0).then_some(self.pause))?;
        writeln!(f)
    }
}

impl Attempt {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "attempt after={}", self.after)?;
        write_option(f, "inside", (self.inside > 0).then_some(self.inside))?;
        write_flag(f, "headers", self.headers)?;
        write_option(f, "version", (self.version > 0).then_some(self.version))?;
        write_flag(f, "split", self.split)?;
        if self.metadata != Metadata::Nothing {
            write!(f, " metadata={}", name_of(&METADATA, self.metadata))?;
        }
        write!(f, " end=")?;
        match self.end {
            Break::UnavailableDelay(ms) => write!(f, "unavailable:{ms}")?,
            Break::Exhausted(ms) => write!(f, "exhausted:{ms}")?,
            Break::ExhaustedTrailer(ms) => write!(f, "exhausted-trailer:{ms}")?,
            Break::Internal(text) => write!(f, "internal:{text}")?,
            Break::Reset(code) => write!(f, "reset:{code}")?,
            Break::Fatal(code) => write!(f, "fatal:{code}")?,
            other => write!(f, "{}", name_of(&BREAKS, other))?,
        }
        writeln!(f)
    }
}

fn write_option<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    value: Option<T>,
) -> fmt::Result {
    match value {
        Some(value) => write!(f, " {name}={value}"),
        None => Ok(()),
    }
}

fn write_flag(f: &mut fmt::Formatter<'_>, name: &str, set: bool) -> fmt::Result {
    if set { write!(f, " {name}") } else { Ok(()) }
}

const CALLS: [(&str, Call); 2] = [("query", Call::Query), ("read", Call::Read)];
const ROWS: [(&str, RowKind); 4] = [
    ("borrowed", RowKind::Borrowed),
    ("owned", RowKind::Owned),
    ("mixed", RowKind::Mixed),
    ("dynamic", RowKind::Dynamic),
];
const METADATA: [(&str, Metadata); 3] = [
    ("nothing", Metadata::Nothing),
    ("again", Metadata::Again),
    ("changed", Metadata::Changed),
];
const BREAKS: [(&str, Break); 6] = [
    ("unavailable", Break::Unavailable),
    ("no-status", Break::NoStatus),
    ("disconnect", Break::Disconnect),
    ("goaway-disconnect", Break::GoAwayDisconnect),
    ("goaway", Break::GoAway),
    ("ok", Break::Ok),
];
const ACTIONS: [(&str, What); 8] = [
    ("next", What::Next),
    ("batch", What::Batch),
    ("for_each", What::ForEach),
    ("extend", What::Extend),
    ("only", What::Only),
    ("collect", What::Collect),
    ("stream", What::Stream),
    ("stop", What::Stop),
];

fn name_of<T: Copy + PartialEq>(names: &[(&'static str, T)], value: T) -> &'static str {
    let found = names.iter().find(|(_, known)| *known == value);
    found.expect("every value has a name").0
}

fn by_name<T: Copy>(names: &[(&'static str, T)], name: &str) -> Result<T, String> {
    let found = names.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<_> = names.iter().map(|(known, _)| *known).collect();
        format!("`{name}` is none of {}", known.join(", "))
    })
}

impl FromStr for Scenario {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut scenario = Self {
            limits: Limits::default(),
            delays: Vec::new(),
            streams: Vec::new(),
        };
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                let parsed = scenario.parse_line(line);
                parsed.map_err(|what| format!("line {}: {what}: {line}", i + 1))?;
            }
        }
        scenario.check()?;
        Ok(scenario)
    }
}

impl Scenario {
    fn parse_line(&mut self, line: &str) -> Result<(), String> {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        match what {
            "limits" => {
                let mut words = Words::new(rest);
                self.limits = Limits {
                    hold_messages: words.take("hold-messages")?,
                    hold_bytes: words.take("hold-bytes")?,
                    max_attempts: words.take("max-attempts")?,
                };
                return words.end();
            }
            "delays" => {
                let delays = rest.split_whitespace().map(number);
                self.delays = delays.collect::<Result<_, _>>()?;
                return Ok(());
            }
            "stream" => {
                let (call, row) = rest.split_once(' ').ok_or("two words are missing")?;
                self.streams.push(Plan {
                    call: by_name(&CALLS, call)?,
                    row: by_name(&ROWS, row)?,
                    versions: vec![Vec::new()],
                    attempts: Vec::new(),
                    reader: Vec::new(),
                });
                return Ok(());
            }
            _ => {}
        }
        let plan = self.streams.last_mut().ok_or("it belongs to no stream")?;
        match what {
            "version" => plan.versions.push(Vec::new()),
            "message" => {
                let part = Part::parse(rest)?;
                plan.versions.last_mut().expect("there is one").push(part);
            }
            "attempt" => plan.attempts.push(Attempt::parse(rest)?),
            "read" => plan.reader.push(Action::parse(rest)?),
            _ => return Err(format!("`{what}` is no such thing")),
        }
        Ok(())
    }

    fn check(&self) -> Result<(), String> {
        for plan in &self.streams {
            if plan.versions.iter().any(Vec::is_empty) {
                return Err("a version has no message".to_owned());
            }
            let rows = plan.rows();
            for (i, parts) in plan.versions.iter().enumerate() {
                let mut again = crate::reference::Assembly::of(parts).rows;
                if i % 2 == 1 {
                    again.iter_mut().for_each(|row| row.reverse());
                }
                if again != rows {
                    return Err(format!("version {i} has other rows"));
                }
            }
        }
        Ok(())
    }
}

impl Part {
    fn parse(text: &str) -> Result<Self, String> {
        let mut json = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let values = match json.next() {
            Some(Ok(Value::Array(values))) => values,
            other => return Err(format!("no list of values: {other:?}")),
        };
        let mut words = Words::new(&text[json.byte_offset()..]);
        let part = Self {
            values: values.iter().map(from_json).collect::<Result<_, _>>()?,
            chunked: words.flag("chunked"),
            token: words.take("token")?.unwrap_or_default(),
            stats: words.flag("stats"),
            last: words.flag("last"),
            pause: words.take("pause")?.unwrap_or_default(),
        };
        words.end().map(|()| part)
    }
}

impl Attempt {
    fn parse(text: &str) -> Result<Self, String> {
        let mut words = Words::new(text);
        let end: String = words.take("end")?.ok_or("it has no end")?;
        let metadata: Option<String> = words.take("metadata")?;
        let attempt = Self {
            after: words.take("after")?.unwrap_or_default(),
            inside: words.take("inside")?.unwrap_or_default(),
            headers: words.flag("headers"),
            version: words.take("version")?.unwrap_or_default(),
            split: words.flag("split"),
            metadata: by_name(&METADATA, metadata.as_deref().unwrap_or("nothing"))?,
            end: parse_break(&end)?,
        };
        words.end().map(|()| attempt)
    }
}

fn parse_break(text: &str) -> Result<Break, String> {
    let Some((name, of)) = text.split_once(':') else {
        return by_name(&BREAKS, text);
    };
    Ok(match name {
        "unavailable" => Break::UnavailableDelay(number(of)?),
        "exhausted" => Break::Exhausted(number(of)?),
        "exhausted-trailer" => Break::ExhaustedTrailer(number(of)?),
        "internal" => Break::Internal(number(of)?),
        "reset" => Break::Reset(number(of)?),
        "fatal" => {
            let code = (1..17).map(Code::from_number);
            let code = code.into_iter().find(|code| code.to_string() == of);
            Break::Fatal(code.ok_or_else(|| format!("no code {of}"))?)
        }
        _ => return Err(format!("no end `{name}`")),
    })
}

impl Action {
    fn parse(text: &str) -> Result<Self, String> {
        let mut words = Words::new(text);
        let pause = words.take("pause")?;
        let what = match pause {
            Some(ms) => What::Pause(ms),
            None => by_name(&ACTIONS, words.first()?)?,
        };
        let action = Self {
            what,
            times: words.take("times")?.unwrap_or(1),
            polls: words.take("polls")?,
        };
        words.end().map(|()| action)
    }
}

/// What is left of a line.
struct Words<'t>(Vec<&'t str>);

impl<'t> Words<'t> {
    fn new(text: &'t str) -> Self {
        Self(text.split_whitespace().collect())
    }

    fn first(&mut self) -> Result<&'t str, String> {
        if self.0.is_empty() {
            return Err("a word is missing".to_owned());
        }
        Ok(self.0.remove(0))
    }

    fn flag(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|word| *word != name);
        self.0.len() < before
    }

    /// The value of `name=value`.
    fn take<T: FromStr>(&mut self, name: &str) -> Result<Option<T>, String> {
        let is_it = |word: &&str| word.split_once('=').is_some_and(|(it, _)| it == name);
        let Some(at) = self.0.iter().position(is_it) else {
            return Ok(None);
        };
        let (_, value) = self.0.remove(at).split_once('=').expect("just found");
        number(value).map(Some)
    }

    fn end(self) -> Result<(), String> {
        match self.0.as_slice() {
            [] => Ok(()),
            rest => Err(format!("not understood: {rest:?}")),
        }
    }
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("not a value: {text}"))
}

fn to_json(value: &OwnedValue) -> Value {
    match value {
        OwnedValue::Null => Value::Null,
        OwnedValue::Bool(value) => json!(value),
        OwnedValue::Number(value) => json!(value),
        OwnedValue::String(text) => match cycle(text) {
            Some((unit, chars)) => json!({"cycle": unit, "chars": chars}),
            None => json!(text),
        },
        OwnedValue::List(elements) => elements.iter().map(to_json).collect(),
    }
}

/// A long text that is a few letters again and again.
fn cycle(text: &str) -> Option<(String, usize)> {
    let chars: Vec<char> = text.chars().take(5).collect();
    let count = text.chars().count();
    if count < 40 {
        return None;
    }
    (1..chars.len()).find_map(|len| {
        let unit = &chars[..len];
        let same = text.chars().zip(unit.iter().cycle()).all(|(a, b)| a == *b);
        same.then(|| (unit.iter().collect(), count))
    })
}

fn from_json(json: &Value) -> Result<OwnedValue, String> {
    Ok(match json {
        Value::Null => OwnedValue::Null,
        Value::Bool(value) => OwnedValue::Bool(*value),
        Value::Number(value) => OwnedValue::Number(value.as_f64().ok_or("no number")?),
        Value::String(text) => OwnedValue::String(text.clone()),
        Value::Array(elements) => {
            OwnedValue::List(elements.iter().map(from_json).collect::<Result<_, _>>()?)
        }
        Value::Object(of) => match (of.get("cycle"), of.get("chars").and_then(Value::as_u64)) {
            (Some(Value::String(unit)), Some(chars)) if !unit.is_empty() => {
                OwnedValue::String(unit.chars().cycle().take(chars as usize).collect())
            }
            _ => return Err(format!("no value: {json}")),
        },
    })
}

//! What the command line says.

use spanner_rows::{Description, Library};

pub(crate) const USAGE: &str = "\
describe [OPTION …] --table TABLE
describe [OPTION …] SQL

  --borrowed            text and bytes lie in the buffer of the result (the default)
  --owned               rows that can be kept
  --name NAME           the name of the struct
  --not-null A,B        columns of a statement that are never NULL; elements: `Tags[]`
  --using LIBRARY       jiff, chrono or time for TIMESTAMP and DATE; uuid for UUID

The database is SPANNER_DATABASE; without it, one of this example.";

pub(crate) struct Arguments {
    pub(crate) of: Of,
    owned: bool,
    name: Option<String>,
    not_null: Vec<String>,
    using: Vec<Library>,
}

pub(crate) enum Of {
    Table(String),
    Statement(String),
    Nothing,
}

impl Arguments {
    /// `None` when help is asked for.
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut arguments = Self {
            of: Of::Nothing,
            owned: false,
            name: None,
            not_null: Vec::new(),
            using: Vec::new(),
        };
        let mut words = words;
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--help" | "-h" => return Ok(None),
                "--owned" => arguments.owned = true,
                "--borrowed" => arguments.owned = false,
                "--name" => arguments.name = Some(value()?),
                "--not-null" => arguments
                    .not_null
                    .extend(value()?.split(',').map(str::to_owned)),
                "--using" => arguments.using.push(library(&value()?)?),
                "--table" => arguments.set(Of::Table(value()?))?,
                option if option.starts_with("--") => return Err(format!("there is no {option}")),
                _ => arguments.set(Of::Statement(word))?,
            }
        }
        Ok(Some(arguments))
    }

    fn set(&mut self, of: Of) -> Result<(), String> {
        if !matches!(self.of, Of::Nothing) {
            return Err("one table or one statement at a time: quote the SQL".to_owned());
        }
        self.of = of;
        Ok(())
    }

    pub(crate) fn applied_to(self, description: Description) -> Description {
        let mut description = description.not_null(self.not_null);
        if self.owned {
            description = description.owned();
        }
        if let Some(name) = self.name {
            description = description.name(name);
        }
        self.using.into_iter().fold(description, Description::using)
    }
}

fn library(name: &str) -> Result<Library, String> {
    match name {
        "jiff" => Ok(Library::Jiff),
        "chrono" => Ok(Library::Chrono),
        "time" => Ok(Library::Time),
        "uuid" => Ok(Library::Uuid),
        _ => Err(format!("{name} is none of jiff, chrono, time and uuid")),
    }
}

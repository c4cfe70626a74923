//! The name of a database.

use crate::error::Error;

/// `projects/P/instances/I/databases/D`, checked to be of that form.
///
/// Which names exist is for the server to say; what is checked is that the
/// parts can be told apart and stand in a header.
#[derive(Clone, Debug)]
pub(super) struct DatabaseName(String);

impl DatabaseName {
    pub(super) fn parse(name: &str) -> Result<Self, Error> {
        match problem(name) {
            None => Ok(Self(name.to_owned())),
            Some(problem) => Err(Error::config(format!(
                "the database name `{name}` {problem}: write `projects/P/instances/I/databases/D`"
            ))),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

fn problem(name: &str) -> Option<String> {
    let mut parts = name.split('/');
    for collection in ["projects", "instances", "databases"] {
        if parts.next() != Some(collection) {
            return Some(format!("has no `{collection}/` in its place"));
        }
        match parts.next() {
            None | Some("") => return Some(format!("has nothing behind `{collection}/`")),
            Some(id) => {
                // A project may be of a domain: `example.com:project`.
                let odd = |c: &char| !(c.is_ascii_alphanumeric() || "-_.:".contains(*c));
                if let Some(odd) = id.chars().find(odd) {
                    return Some(format!("has the character {odd:?} in `{id}`"));
                }
            }
        }
    }
    parts
        .next()
        .map(|_| "goes on behind the database".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_can_be() {
        for name in [
            "projects/p/instances/i/databases/d",
            "projects/example.com:my-project/instances/test-1/databases/My_Db",
        ] {
            assert_eq!(DatabaseName::parse(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn names_that_cannot_be_say_why() {
        for (name, why) in [
            ("", "no `projects/`"),
            ("d", "no `projects/`"),
            ("projects", "nothing behind `projects/`"),
            (
                "projects//instances/i/databases/d",
                "nothing behind `projects/`",
            ),
            ("projects/p/instances/i", "no `databases/`"),
            ("projects/p/databases/d/instances/i", "no `instances/`"),
            (
                "projects/p/instances/i/databases/",
                "nothing behind `databases/`",
            ),
            ("projects/p/instances/i/databases/d/", "goes on"),
            ("projects/p/instances/i/databases/d/sessions/s", "goes on"),
            ("projects/p/instances/i/databases/d\n", "character '\\n'"),
            ("projects/p/instances/i/databases/d?x", "character '?'"),
            ("projects/p/instances/ü/databases/d", "character 'ü'"),
            ("projects/p /instances/i/databases/d", "character ' '"),
        ] {
            let error = DatabaseName::parse(name).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            assert!(error.ends_with("write `projects/P/instances/I/databases/D`"));
        }
    }
}

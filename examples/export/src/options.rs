//! The command line.

use std::path::PathBuf;

use crate::Failure;
use crate::columns::Resolution;

pub const HELP: &str = "\
Exports a table of Cloud Spanner to Parquet files, a file for each part, side by side.
Interrupted, the same command goes on where it stopped, at the same timestamp.

  cargo run --release -p export -- [options]

  --table NAME       the table; with a named schema `schema.table`
  --query SQL        in place of a table: a query that the server can split
  --out FOLDER       where the files go; `export` unless said
  --parallel N       parts that are read at the same time; one for each processor unless said
  --partitions N     about how many parts there are to be; as the server finds fit unless said
  --data-boost       read by Data Boost, apart from the instance's own load
  --timestamps us|ns microseconds for all years (finer digits are cut off, and counted), or
                     nanoseconds for 1677 to 2262; us unless said
  --restart          give up what was begun in the folder and begin anew
  --verify           read the files back and compare them with the table
  --help

SPANNER_DATABASE names the database, projects/P/instances/I/databases/D; SPANNER_EMULATOR_HOST
an emulator. With the second alone, a table of every type is made there and exported; with
neither, one that a fake server in this process has. EXPORT_ROWS says how many rows it has.";

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub table: Option<String>,
    pub query: Option<String>,
    pub out: Option<PathBuf>,
    pub parallel: usize,
    pub partitions: Option<u64>,
    pub data_boost: bool,
    pub timestamps: Resolution,
    pub restart: bool,
    pub verify: bool,
    pub help: bool,
}

impl Options {
    /// # Errors
    ///
    /// An option that is not known, or a value that it cannot have.
    pub fn parse(args: impl IntoIterator<Item = String>) -> Result<Self, Failure> {
        let mut options = Self {
            table: None,
            query: None,
            out: None,
            parallel: std::thread::available_parallelism().map_or(4, usize::from),
            partitions: None,
            data_boost: false,
            timestamps: Resolution::default(),
            restart: false,
            verify: false,
            help: false,
        };
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let mut value = || {
                let value = args.next();
                value.ok_or_else(|| Failure::from(format!("`{arg}` needs a value; see `--help`")))
            };
            match arg.as_str() {
                "--table" => options.table = Some(value()?),
                "--query" => options.query = Some(value()?),
                "--out" => options.out = Some(value()?.into()),
                "--parallel" => options.parallel = number(&arg, &value()?)?,
                "--partitions" => options.partitions = Some(number(&arg, &value()?)? as u64),
                "--timestamps" => {
                    options.timestamps = match value()?.as_str() {
                        "us" => Resolution::Micros,
                        "ns" => Resolution::Nanos,
                        other => {
                            return Err(format!("`--timestamps` is us or ns, not `{other}`").into());
                        }
                    }
                }
                "--data-boost" => options.data_boost = true,
                "--restart" => options.restart = true,
                "--verify" => options.verify = true,
                "--help" | "-h" => options.help = true,
                _ => return Err(format!("there is no option `{arg}`; see `--help`").into()),
            }
        }
        if options.table.is_some() && options.query.is_some() {
            return Err("`--table` or `--query`, not both".into());
        }
        Ok(options)
    }

    /// The statement that reads what is to be exported, if any was named.
    pub fn sql(&self) -> Option<String> {
        self.query
            .clone()
            .or_else(|| self.table.as_deref().map(all_of))
    }
}

/// Reads a table, in GoogleSQL.
pub fn all_of(table: &str) -> String {
    let quoted: Vec<_> = table.split('.').map(|name| format!("`{name}`")).collect();
    format!("SELECT * FROM {}", quoted.join("."))
}

fn number(option: &str, text: &str) -> Result<usize, Failure> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("`{option}` is a number from 1 on, not `{text}`").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        let args = line.split_whitespace().map(str::to_owned);
        Options::parse(args).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_said_is_done() {
        let options = parse(
            "--table app.Singers --out x --parallel 3 --timestamps ns --data-boost --partitions 9",
        )
        .unwrap();
        assert_eq!(options.sql().unwrap(), "SELECT * FROM `app`.`Singers`");
        assert_eq!((options.parallel, options.partitions), (3, Some(9)));
        assert_eq!(options.timestamps, Resolution::Nanos);
        assert!(options.data_boost && !options.restart && !options.verify);
        assert_eq!(parse("").unwrap().sql(), None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (line, words) in [
            ("--parallel 0", "from 1 on"),
            ("--parallel", "needs a value"),
            ("--tabel x", "no option `--tabel`"),
            ("--timestamps ms", "us or ns"),
            ("--table a --query b", "not both"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(words), "{line}: {error}");
        }
    }
}

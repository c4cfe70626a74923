//! Tasks of this repository, run as `cargo xtask <task>`.
#![forbid(unsafe_code)]

mod generate;

use std::error::Error;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task>

  generate           make spanner-rows/src/proto/ from proto/
  generate --check   fail if what is checked in is not what generate makes
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    match arguments {
        ["generate"] => generate::write(),
        ["generate", "--check"] => generate::check(),
        _ => Err(USAGE.into()),
    }
}

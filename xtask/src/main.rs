//! Tasks of this repository, run as `cargo xtask <task>`.
#![forbid(unsafe_code)]

mod api;
mod callgrind;
mod derive_cost;
mod generate;
mod instructions;
mod msrv;
mod package;
mod type_costs;

use std::error::Error;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task>

  generate           make spanner-rows/src/proto/ from proto/
  generate --check   fail if what is checked in is not what generate makes
  api                list the public API in spanner-rows/public-api.rs.txt
  api --check        fail if that list is not what the source says
  package            check what the published packages would have in them
  msrv               check that rust-version is the highest of the dependencies'
  derive-cost        time what SpannerRow takes to expand and to build, beside serde's Deserialize

  instructions           count the instructions per row of decoding (needs valgrind),
                         and write benches/instructions/table.tsv
  instructions SHAPE     count one shape and its variants, and write nothing
  instructions --check   fail if a count is more than 3 % above that table
  type-costs             count what a value of each type costs, and write the page of the guide
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
        ["api"] => api::write(),
        ["api", "--check"] => api::check(),
        ["package"] => package::check(),
        ["msrv"] => msrv::check(),
        ["derive-cost"] => derive_cost::measure(5),
        ["instructions"] => instructions::write(),
        ["instructions", "--check"] => instructions::check(),
        ["instructions", shape] if !shape.starts_with('-') => instructions::print(shape),
        ["type-costs"] => type_costs::write(),
        _ => Err(USAGE.into()),
    }
}

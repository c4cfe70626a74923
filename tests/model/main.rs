//! Any result, cut in any way, with tokens anywhere, that breaks in any way and
//! is read in any way: every row comes exactly once and in order, or an error
//! that says so.
//!
//! The whole way is tested, from [`Client`](spanner_rows::Client) to a server over
//! a connection. The server follows a plan; a model of the rules works out what
//! has to come of it (rows, the requests with their tokens, the end).
//!
//! | file | what it has |
//! |---|---|
//! | `scenario` | a case as a plain value |
//! | `generate` | cases at random |
//! | `script` | cases as text |
//! | `reference` | what has to come out |
//! | `server` | answers, and writes down what it was asked |
//! | `rows`, `reader` | reads, in all ways |
//! | `run` | plays a case and compares |
//!
//! A case that fails is printed as a script. To play it again, put it into a file:
//! `MODEL_SCRIPT=file cargo test --test model replay`. Those in `scripts/` are
//! always played. `MODEL_CASES=20000` asks for a longer run.

mod generate;
mod reader;
mod reference;
mod rows;
mod run;
mod scenario;
mod script;
mod server;

use std::fs;
use std::path::Path;

use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

use scenario::Scenario;

/// What takes some twenty seconds.
const CASES: u32 = 1_000;

#[test]
fn rows_come_exactly_once() {
    let mut config = Config {
        max_shrink_iters: 4_000,
        failure_persistence: None,
        ..Config::default()
    };
    let asked = ["MODEL_CASES", "PROPTEST_CASES"];
    let asked = asked.iter().find_map(|name| std::env::var(name).ok());
    config.cases = asked.map_or(CASES, |cases| cases.parse().expect("a number of cases"));
    let mut runner = TestRunner::new(config);
    let result = runner.run(&generate::scenarios(), |scenario| {
        let again: Result<Scenario, _> = scenario.to_string().parse();
        if again.as_ref() != Ok(&scenario) {
            return Err(TestCaseError::fail(format!("as a script: {again:?}")));
        }
        run::run(&scenario).map_err(TestCaseError::fail)
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(what, scenario)) => {
            panic!("{what}\nthe script of the smallest such case:\n\n{scenario}\n")
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn scripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model/scripts");
    let mut played = 0;
    for entry in fs::read_dir(&folder).expect("the folder of scripts") {
        play(&entry.expect("an entry of the folder").path());
        played += 1;
    }
    assert!(played > 0, "no scripts in {}", folder.display());
}

/// Plays the script that `MODEL_SCRIPT` names, ten times.
#[test]
fn replay() {
    if let Some(path) = std::env::var_os("MODEL_SCRIPT") {
        for _ in 0..10 {
            play(Path::new(&path));
        }
    }
}

fn play(path: &Path) {
    let what = path.display();
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{what}: {error}"));
    let scenario: Scenario = text
        .parse()
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    if let Err(error) = run::run(&scenario) {
        panic!("{what}: {error}");
    }
}

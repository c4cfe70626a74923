//! A whole run: a server and one client per arm for each case, and the clients take turns.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::de::DeserializeOwned;

use crate::Result;
use crate::arms::{Arm as _, NAMES, floor::Floor};
use crate::cases::{Case, cases};
use crate::chart;
use crate::client::{CHECK, Contents, ROUND, Round};
use crate::report::{self, Measured};

/// The server's core; the clients have another.
const SERVER_CORE: &str = "1";

pub(crate) struct Options {
    /// How often every arm has its turn.
    rounds: usize,
    /// Only cases whose name contains this.
    shape: String,
    /// Where the JSON and the chart go.
    out: PathBuf,
}

impl Options {
    pub(crate) fn parse(arguments: &[&str]) -> Result<Self> {
        let mut options = Self {
            rounds: 9,
            shape: String::new(),
            out: PathBuf::from("target/compare"),
        };
        for pair in arguments.chunks(2) {
            match *pair {
                ["--rounds", rounds] => options.rounds = rounds.parse()?,
                ["--shape", shape] => shape.clone_into(&mut options.shape),
                ["--out", folder] => options.out = PathBuf::from(folder),
                _ => {
                    let usage = "usage: compare [--rounds 9] [--shape PART_OF_A_NAME] [--out target/compare], \
                                 or compare side-by-side";
                    return Err(usage.into());
                }
            }
        }
        Ok(options)
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut measured = Vec::new();
    for case in cases() {
        if case.name().contains(&options.shape) {
            let case = compare(&case, options.rounds)?;
            print!("{}", report::table(&case));
            measured.push(case);
        }
    }
    std::fs::create_dir_all(&options.out)?;
    let (json, svg) = (
        options.out.join("compare.json"),
        options.out.join("compare.svg"),
    );
    std::fs::write(&json, serde_json::to_string_pretty(&measured)?)?;
    std::fs::write(&svg, chart::draw(&measured))?;
    println!("\nwritten: {}, {}", json.display(), svg.display());
    Ok(())
}

fn compare(case: &Case, rounds: usize) -> Result<Measured> {
    let server = Server::start(case, SERVER_CORE)?;
    let mut clients = Vec::new();
    for arm in NAMES {
        clients.push(Client::start(arm, case, &server.address)?);
    }
    check(case, &mut clients)?;
    // The first is not counted: buffers grow to their size.
    let mut measured: Vec<Vec<Round>> = vec![Vec::new(); clients.len()];
    for round in 0..=rounds {
        for (client, measured) in clients.iter_mut().zip(&mut measured) {
            let result = client.tell(ROUND)?;
            if round > 0 {
                measured.push(result);
            }
        }
    }
    let arms = NAMES.into_iter().zip(measured);
    Ok(Measured::new(case, arms))
}

/// Every arm reads the same, in every column.
fn check(case: &Case, clients: &mut [Client]) -> Result<()> {
    let mut expected: Option<Contents> = None;
    for client in clients
        .iter_mut()
        .filter(|client| client.arm != Floor::NAME)
    {
        let contents: Contents = client.tell(CHECK)?;
        let expected = expected.get_or_insert(Contents {
            rows: case.rows,
            columns: contents.columns.clone(),
        });
        if *expected != contents {
            let (case, arm) = (case.name(), client.arm);
            return Err(
                format!("{case}: {arm} reads {contents:?}, and another {expected:?}").into(),
            );
        }
    }
    Ok(())
}

/// A server process, ended when it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(case: &Case, cores: &str) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["server", &case.name(), cores])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        let output = child.stdout.take().ok_or("the server has no output")?;
        BufReader::new(output).read_line(&mut address)?;
        let address = address.trim().to_owned();
        if address.is_empty() {
            return Err("the server did not start".into());
        }
        Ok(Self { child, address })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client process, ended when it is dropped.
struct Client {
    arm: &'static str,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(arm: &'static str, case: &Case, address: &str) -> Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["client", arm, &case.name(), address])
            .env("SPANNER_EMULATOR_HOST", address)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("the client has no input")?;
        let output = child.stdout.take().ok_or("the client has no output")?;
        Ok(Self {
            arm,
            child,
            input,
            output: BufReader::new(output),
        })
    }

    fn tell<T: DeserializeOwned>(&mut self, what: &str) -> Result<T> {
        writeln!(self.input, "{what}")?;
        self.input.flush()?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        if answer.is_empty() {
            return Err(format!("{} ended when told to {what}", self.arm).into());
        }
        Ok(serde_json::from_str(&answer)?)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

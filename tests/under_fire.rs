//! Writers on a server that aborts, loses sessions, transactions and answers, and breaks
//! connections, all at random: what was committed is what the program was told.
//!
//! The server's side of the truth is kept by the handler that decides what becomes of each call
//! (`Server`). It does only what the service may do: a transaction that is committed is never
//! said to be aborted, and answers its commit again.
//!
//! `FIRE_SEED=7 FIRE_OPERATIONS=500 cargo test --test under_fire` plays another course, and a
//! longer one. Which task comes first is up to the machine, but what becomes of the n-th call
//! of an operation follows from the seed.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use spanner_rows::testing::{Failure, FakeSpanner, Request, RequestTransaction, Rows, Step};
use spanner_rows::{Client, Code, Error, Mutation, OwnedValue, RetrySettings, Transaction};

const SELECT: &str = "SELECT n FROM Numbers";
const UPDATE: &str = "UPDATE Numbers SET n = 1 WHERE TRUE";
const TASKS: u64 = 8;

/// What the server knows.
#[derive(Default)]
struct Server {
    seed: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How many calls each operation has made.
    calls: HashMap<String, u64>,
    /// How often each transaction was to be committed.
    commits: HashMap<Vec<u8>, u32>,
    committed: HashSet<Vec<u8>>,
    /// Those that can never be: a request that comes late changes nothing.
    ended: HashSet<Vec<u8>>,
    operations: HashMap<String, Vec<Commit>>,
    /// How often each thing was done to a call.
    done: HashMap<&'static str, u32>,
}

/// What an operation committed: the number of the run that did, and the transaction.
#[derive(Clone, Debug)]
struct Commit {
    run: i64,
    transaction: Vec<u8>,
}

/// Spreads numbers evenly ("splitmix64").
fn mix(mut n: u64) -> u64 {
    n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

fn hash(seed: u64, name: &str, n: u64) -> u64 {
    let name = name
        .bytes()
        .fold(seed, |sum, byte| mix(sum ^ u64::from(byte)));
    mix(name ^ n)
}

impl Server {
    /// What becomes of a call.
    fn decide(&self, request: &Request) -> Vec<Step> {
        let tag = request.transaction_tag().to_owned();
        let mut state = self.state.lock().unwrap();
        let calls = state.calls.entry(tag.clone()).or_default();
        *calls += 1;
        let dice = hash(self.seed, &tag, *calls) % 100;
        let (name, step) = match request.method() {
            "Commit" => state.commit(request, &tag, dice),
            "BeginTransaction" | "ExecuteStreamingSql" | "StreamingRead" | "ExecuteBatchDml" => {
                let begun = matches!(request.transaction(), RequestTransaction::Id(_));
                statement(dice, begun)
            }
            "CreateSession" if dice < 20 => ("no session", Step::Fail(busy())),
            "Rollback" if dice < 20 => ("no rollback", Step::Fail(busy())),
            _ => return Vec::new(),
        };
        *state.done.entry(name).or_default() += 1;
        match name {
            "goes well" => Vec::new(),
            _ => vec![step],
        }
    }
}

fn busy() -> Failure {
    Failure::unavailable("busy")
}

fn aborted() -> Failure {
    Failure::aborted("conflict").retry_after(Duration::from_millis(1))
}

fn statement(dice: u64, begun: bool) -> (&'static str, Step) {
    match dice {
        0..8 => ("aborted", Step::Fail(aborted())),
        8..14 => ("busy", Step::Fail(busy())),
        14..17 => ("connection breaks", Step::Disconnect),
        17..20 => ("answer lost", Step::LoseAnswer),
        20..24 => ("session lost", Step::Fail(Failure::session_not_found("s"))),
        24..27 if begun => ("transaction lost", Step::Fail(lost())),
        27..29 => ("takes long", Step::Delay(Duration::from_millis(15))),
        29..31 => ("stream reset", Step::Reset(2)),
        _ => ("goes well", Step::End),
    }
}

fn lost() -> Failure {
    Failure::not_found("Transaction not found: 7")
}

impl State {
    fn commit(&mut self, request: &Request, tag: &str, dice: u64) -> (&'static str, Step) {
        let id = request.transaction_id().to_vec();
        let refused = |name, failure| (name, Step::Fail(failure));
        *self.commits.entry(id.clone()).or_default() += 1;
        if self.ended.contains(&id) {
            return refused("commit of one that has ended", lost());
        }
        if self.committed.contains(&id) {
            return match dice {
                0..15 => ("commit's answer lost again", Step::LoseAnswer),
                15..25 => refused("busy after the commit", busy()),
                25..35 => refused(
                    "session lost after the commit",
                    Failure::session_not_found("s"),
                ),
                35..45 => refused("transaction lost after the commit", lost()),
                _ => ("goes well", Step::End),
            };
        }
        let (name, step) = match dice {
            0..12 => ("commit aborted", Step::Fail(aborted())),
            12..18 => return refused("busy at the commit", busy()),
            18..22 => return ("connection breaks at the commit", Step::Disconnect),
            22..26 => {
                let failure = Failure::session_not_found("s");
                ("session lost at the commit", Step::Fail(failure))
            }
            26..30 => ("transaction lost at the commit", Step::Fail(lost())),
            30..33 => {
                let failure = Failure::failed_precondition("constraint");
                ("commit refused", Step::Fail(failure))
            }
            33..55 => ("commit's answer lost", Step::LoseAnswer),
            55..58 => ("commit takes long", Step::Delay(Duration::from_millis(30))),
            _ => ("goes well", Step::End),
        };
        if matches!(step, Step::Fail(_)) {
            self.ended.insert(id);
            return (name, step);
        }
        self.committed.insert(id.clone());
        let run = match &request.mutations()[0].rows[0][1] {
            OwnedValue::String(run) => run.parse().unwrap(),
            other => panic!("{other:?}"),
        };
        let commits = self.operations.entry(tag.to_owned()).or_default();
        commits.push(Commit {
            run,
            transaction: id,
        });
        (name, step)
    }
}

async fn statements(tx: &Transaction, dice: u64) -> Result<(), Error> {
    for kind in [dice % 4, dice / 4 % 5] {
        match kind {
            0 => {
                let mut rows = tx.query(SELECT).rows::<(i64,)>().await?;
                let rows: Vec<(i64,)> = rows.try_collect().await?;
                assert_eq!(rows, [(1,), (2,), (3,)]);
            }
            1 => assert_eq!(tx.dml(UPDATE).execute().await?, 3),
            2 => {
                let counts = tx.batch_dml([tx.dml(UPDATE), tx.dml(UPDATE)]).await?;
                assert_eq!(counts, [3, 3]);
            }
            3 => {
                let read = tx.read::<(i64,)>("Numbers").columns(["n"]).all();
                read.rows().await?.for_each(|_| {}).await?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// What the program was told of one operation.
#[derive(Debug)]
enum Told {
    /// Committed, by this run.
    Done(i64),
    Failed(Error),
    /// The closure did not want it.
    Refused,
    /// Nothing: the future was dropped.
    Dropped,
}

async fn operation(client: &Client, seed: u64, tag: &str) -> Told {
    let dice = hash(seed, tag, u64::MAX);
    let row = |run: i64| Mutation::insert("T").set("Tag", tag).set("Run", run);
    // A few have hardly any time.
    let time = match dice % 16 {
        0 => Duration::from_millis(dice / 16 % 30),
        _ => Duration::from_secs(30),
    };
    let work = async {
        if (dice / 512).is_multiple_of(4) {
            let write = client.write([row(0)]).transaction_tag(tag).timeout(time);
            return match write.await {
                Ok(_) => Told::Done(0),
                Err(error) => Told::Failed(error),
            };
        }
        let refuses = (dice / 2048).is_multiple_of(10);
        let mut runs = 0;
        let run = client
            .transaction()
            .transaction_tag(tag)
            .timeout(time)
            .run(|tx| {
                runs += 1;
                let (run, row) = (runs, row(runs));
                async move {
                    tx.buffer([row])?;
                    statements(&tx, dice / 32).await?;
                    match refuses {
                        true => Err(Closure::Refused),
                        false => Ok(run),
                    }
                }
            });
        match run.await {
            Ok(run) => Told::Done(run),
            Err(Closure::Refused) => Told::Refused,
            Err(Closure::Failed(error)) => Told::Failed(error),
        }
    };
    // Some are dropped.
    let patience = match dice / 65_536 % 16 {
        0 => Duration::from_millis(dice / 1_048_576 % 30),
        _ => Duration::from_secs(60),
    };
    let told = tokio::time::timeout(patience, work).await;
    told.unwrap_or(Told::Dropped)
}

enum Closure {
    Refused,
    Failed(Error),
}

impl From<Error> for Closure {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Compares what was told with what was done.
fn check(told: &Told, commits: &[Commit], times: u32) -> Result<(), &'static str> {
    if commits.len() > 1 {
        return Err("committed twice");
    }
    let committed = commits.first();
    match told {
        Told::Done(run) => match committed {
            None => Err("told that it was committed, and it was not"),
            Some(commit) if commit.run != *run => Err("another run was committed"),
            Some(_) => Ok(()),
        },
        Told::Refused if committed.is_some() => Err("committed, and the closure refused it"),
        // Nobody knows what became of a commit whose answer never came.
        Told::Failed(error) if committed.is_some() => match error.code() {
            Code::DeadlineExceeded => Ok(()),
            _ if times > 1 => Ok(()),
            _ => Err("told that it failed, and the answer to its commit was there"),
        },
        Told::Failed(_) | Told::Refused | Told::Dropped => Ok(()),
    }
}

async fn play(seed: u64, operations: u64) -> Arc<Server> {
    let fake = FakeSpanner::start().await;
    let rows = Rows::new(["n"], [(1_i64,), (2,), (3,)]).message_size(1);
    let rows = (1..5000).step_by(11).fold(rows, |rows, call| {
        let rows = rows.interrupt(call, 1, Step::Disconnect);
        let rows = rows.interrupt(call + 3, 2, Step::Fail(aborted()));
        rows.interrupt(call + 6, 1, Step::Fail(busy()))
    });
    fake.on_query(SELECT, rows.token_every(1));
    fake.on_query(UPDATE, Rows::changed(3));
    fake.on_read("Numbers", Rows::new(["n"], [(1_i64,), (2,)]));
    let server = Arc::new(Server {
        seed,
        ..Server::default()
    });
    let settings = RetrySettings::new()
        .initial_delay(Duration::from_millis(1))
        .max_delay(Duration::from_millis(5));
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.retry(settings).connect().await.unwrap();
    let decider = server.clone();
    fake.before_each(move |request| decider.decide(request));

    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..TASKS {
        let client = client.clone();
        tasks.spawn(async move {
            let mut told = Vec::new();
            for i in 0..operations {
                let tag = format!("{task}-{i}");
                let outcome = operation(&client, seed, &tag).await;
                told.push((tag, outcome));
            }
            told
        });
    }
    let mut told = Vec::new();
    while let Some(of_task) = tasks.join_next().await {
        told.extend(of_task.unwrap());
    }
    // What is rolled back in the background, and a commit that was on its way.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let state = server.state.lock().unwrap();
    for (tag, told) in &told {
        let commits = state.operations.get(tag).cloned().unwrap_or_default();
        let times = commits.iter().map(|it| state.commits[&it.transaction]);
        let times = times.max().unwrap_or_default();
        if let Err(wrong) = check(told, &commits, times) {
            panic!("seed {seed}, operation {tag}: {wrong}: {told:?}, {commits:?}, {times} times");
        }
    }
    let done = told
        .iter()
        .filter(|it| matches!(it.1, Told::Done(_)))
        .count() as u64;
    let all = TASKS * operations;
    assert!(
        done * 2 > all,
        "seed {seed}: only {done} of {all} were committed"
    );
    drop(state);
    server
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_told_is_what_was_done() {
    let number = |name: &str| Some(std::env::var(name).ok()?.parse::<u64>().unwrap());
    let operations = number("FIRE_OPERATIONS").unwrap_or(40);
    let seeds = number("FIRE_SEED").map_or_else(|| vec![1, 2, 3], |seed| vec![seed]);
    let mut seen = HashMap::new();
    for seed in seeds {
        let server = play(seed, operations).await;
        for (name, count) in &server.state.lock().unwrap().done {
            *seen.entry(*name).or_insert(0) += count;
        }
    }
    // Everything that can happen did.
    for name in [
        "aborted",
        "busy",
        "connection breaks",
        "answer lost",
        "session lost",
        "transaction lost",
        "takes long",
        "stream reset",
        "commit aborted",
        "busy at the commit",
        "connection breaks at the commit",
        "session lost at the commit",
        "transaction lost at the commit",
        "commit refused",
        "commit's answer lost",
        "commit takes long",
        "commit's answer lost again",
        "session lost after the commit",
        "transaction lost after the commit",
    ] {
        assert!(seen.contains_key(name), "{name} never happened: {seen:?}");
    }
}

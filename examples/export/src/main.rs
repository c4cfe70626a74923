//! Exports a table of Cloud Spanner to Parquet, side by side and resumable.
//!
//! ```sh
//! cargo run --release --manifest-path examples/Cargo.toml -p export
//! cargo run --release --manifest-path examples/Cargo.toml -p export -- --help
//! ```

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use export::Failure;
use export::export::{Export, Progress, Report};
use export::options::{HELP, Options, all_of};
use export::source::{Source, TABLE};
use export::verify::verify;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Failure> {
    let options = Options::parse(std::env::args().skip(1))?;
    if options.help {
        println!("{HELP}");
        return Ok(());
    }
    let source = Source::from_environment().await?;
    let sql = match options.sql() {
        Some(sql) => sql,
        None if source.made => all_of(TABLE),
        None => {
            return Err("`--table` or `--query` says what is to be exported; see `--help`".into());
        }
    };
    let folder = options
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("export"));
    let export = Export {
        sql,
        parallel: options.parallel,
        // The fake server makes as many as it is asked for, and one where it is not asked.
        partitions: options.partitions.or_else(|| source.made.then_some(10)),
        data_boost: options.data_boost,
        timestamps: options.timestamps,
        // A database that was made for this run is not the one of an earlier run.
        restart: options.restart || source.made,
        folder,
    };
    println!("exporting `{}` from {}", export.sql, source.name);

    let progress = Arc::new(Progress::default());
    let bar = draw(progress.clone())?;
    let started = Instant::now();
    let ended = export.run(&source.client, progress).await;
    bar.finish_and_clear();
    let report = ended?;
    print(&report, &export.folder, started.elapsed());

    if options.verify {
        let sum = verify(
            &source.client,
            &report.manifest,
            &export.folder,
            &report.parts,
        )
        .await?;
        println!(
            "verified: the files have the {} rows of the table, checksum {:016x}",
            HumanCount(sum.rows),
            sum.checksum
        );
    }
    Ok(())
}

/// Draws how far the export is, on standard error where that is a terminal.
fn draw(progress: Arc<Progress>) -> Result<ProgressBar, Failure> {
    let bar = ProgressBar::new(0);
    let style = "{elapsed_precise} {bar:30} {pos}/{len} parts, {msg}";
    bar.set_style(ProgressStyle::with_template(style)?);
    let drawn = bar.clone();
    tokio::spawn(async move {
        let started = Instant::now();
        while !drawn.is_finished() {
            drawn.set_length(progress.parts.load(Ordering::Relaxed));
            drawn.set_position(progress.parts_done.load(Ordering::Relaxed));
            let rows = progress.rows.load(Ordering::Relaxed);
            let rate = rows as f64 / started.elapsed().as_secs_f64().max(0.001);
            drawn.set_message(format!(
                "{} rows, {} rows/s",
                HumanCount(rows),
                HumanCount(rate as u64)
            ));
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    Ok(bar)
}

fn print(report: &Report, folder: &Path, time: Duration) {
    println!(
        "{} rows in {} files of together {} in `{}`, as they were at {}, in {:.1} s",
        HumanCount(report.rows()),
        report.parts.len(),
        HumanBytes(report.bytes()),
        folder.display(),
        report.manifest.read_timestamp,
        time.as_secs_f64(),
    );
    if report.taken_over > 0 {
        println!(
            "{} of the files were complete from an earlier run",
            report.taken_over
        );
    }
    if report.cut() > 0 {
        println!(
            "{} timestamps lost digits behind the microsecond; `--timestamps ns` keeps them, for the years 1677 to 2262",
            HumanCount(report.cut())
        );
    }
}

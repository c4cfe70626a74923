//! The page of the documentation that says what a value of each type costs.

use std::error::Error;
use std::fmt::Write as _;

use crate::callgrind::{self, root};

const FILE: &str = "spanner-rows/src/guide/costs.md";

const BEGINNING: &str = "\
What a value of each type costs.

Instructions and allocations for one value, in rows of ten columns of the type, read in a loop with
[`next`](crate::RowStream::next): everything from the received message to the field, a tenth of the row included. Counted by
callgrind; `cargo xtask type-costs` makes this page from `benches/types`.

Memory is allocated only where a type does so by nature. `0` is what a `String` or `Vec` in a struct without a lifetime shows: it uses the memory
of the row before.

";

/// Counts, and writes the page.
pub(crate) fn write() -> Result<(), Box<dyn Error>> {
    let counts = callgrind::run("types", "types::counted", "")?;
    let mut page = BEGINNING.to_owned();
    let environment = callgrind::environment()?;
    let versions: Vec<_> = environment.iter().map(|(_, version)| &**version).collect();
    writeln!(
        page,
        "With {}; CPU features {}.\n",
        versions.join("; "),
        counts.cpu
    )?;
    page += "| Spanner | value | Rust | instructions | allocations |\n|---|---|---|---:|---:|\n";
    for (line, total) in counts.lines {
        let [column, rust, example, values, allocations] = &line[..] else {
            return Err(format!("the benchmark printed {line:?}").into());
        };
        let each = total as f64 / values.parse::<f64>()?;
        let allocations = allocations.trim_end_matches('0').trim_end_matches('.');
        let allocations = if allocations.is_empty() {
            "0"
        } else {
            allocations
        };
        let rust = rust.replace("& 'row", "&'row");
        writeln!(
            page,
            "| `{column}` | {example} | `{rust}` | {each:.0} | {allocations} |"
        )?;
    }
    print!("{page}");
    std::fs::write(root().join(FILE), page)?;
    println!("written to {FILE}");
    Ok(())
}

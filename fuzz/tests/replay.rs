//! Every target over the inputs in `corpus/<target>/`, on any toolchain.

use std::path::{Path, PathBuf};

#[test]
fn every_input_of_every_corpus() {
    for (name, entry) in spanner_rows_fuzz::TARGETS {
        let inputs = inputs(name);
        assert!(inputs.len() >= 10, "{name} has {} inputs", inputs.len());
        for path in inputs {
            // Shown when one fails.
            println!("{}", path.display());
            entry(&std::fs::read(path).unwrap());
        }
    }
}

/// What is cut off or damaged is hostile, too, and this needs no fuzzer.
#[test]
fn every_input_cut_and_damaged() {
    for (name, entry) in spanner_rows_fuzz::TARGETS {
        for path in inputs(name) {
            println!("{}", path.display());
            let input = std::fs::read(path).unwrap();
            let step = input.len() / 16 + 1;
            for at in (0..input.len()).step_by(step) {
                entry(&input[..at]);
                for bit in [0x01, 0x80] {
                    let mut damaged = input.clone();
                    damaged[at] ^= bit;
                    entry(&damaged);
                }
            }
        }
    }
}

fn inputs(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target);
    let mut inputs: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    inputs.sort();
    inputs
}

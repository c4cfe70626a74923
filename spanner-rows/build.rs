//! Tells the crate which compiler builds it, for the header `x-goog-api-client`.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = compiler_version().unwrap_or_else(|| env!("CARGO_PKG_RUST_VERSION").to_owned());
    println!("cargo::rustc-env=SPANNER_ROWS_RUSTC_VERSION={version}");
}

/// `1.95.0` of `rustc 1.95.0 (0123456789 2026-01-01)`.
fn compiler_version() -> Option<String> {
    let output = Command::new(std::env::var_os("RUSTC")?)
        .arg("--version")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.split(' ')
        .nth(1)
        .map(|version| version.trim().to_owned())
}

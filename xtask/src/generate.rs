//! Makes the checked-in protocol code in `spanner-rows/src/proto/` from `proto/`.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use prost_build::{Config, Module};

/// Where each protocol package lives in spanner-rows.
const PACKAGES: &[(&str, &str)] = &[
    ("google.rpc", "crate::proto::rpc"),
    ("google.spanner.v1", "crate::proto::spanner"),
    ("google.longrunning", "crate::proto::longrunning"),
    (
        "google.spanner.admin.instance.v1",
        "crate::proto::admin_instance",
    ),
    (
        "google.spanner.admin.database.v1",
        "crate::proto::admin_database",
    ),
];

/// The files to make. A file has one job so that `mod.rs` can put it behind
/// a feature as a whole.
const OUTPUTS: &[Output] = &[
    Output {
        file: "rpc.rs",
        package: "google.rpc",
        half: Half::Client,
    },
    Output {
        file: "spanner.rs",
        package: "google.spanner.v1",
        half: Half::Client,
    },
    Output {
        file: "spanner_server.rs",
        package: "google.spanner.v1",
        half: Half::Server,
    },
    Output {
        file: "longrunning.rs",
        package: "google.longrunning",
        half: Half::Client,
    },
    Output {
        file: "admin_instance.rs",
        package: "google.spanner.admin.instance.v1",
        half: Half::Client,
    },
    Output {
        file: "admin_database.rs",
        package: "google.spanner.admin.database.v1",
        half: Half::Client,
    },
];

struct Output {
    file: &'static str,
    package: &'static str,
    half: Half,
}

#[derive(Clone, Copy, PartialEq)]
enum Half {
    /// The messages and the clients of the services.
    Client,
    /// The servers of the services only.
    Server,
}

/// Writes the generated files.
pub(crate) fn write() -> Result<(), Box<dyn Error>> {
    for (path, text) in generate()? {
        fs::write(path, text)?;
    }
    Ok(())
}

/// Fails if a checked-in file is not what [`write()`] would write.
pub(crate) fn check() -> Result<(), Box<dyn Error>> {
    for (path, text) in generate()? {
        let found = fs::read_to_string(&path).unwrap_or_default();
        if found != text {
            return Err(format!(
                "{} is not what proto/ says: run `cargo xtask generate`",
                path.display()
            )
            .into());
        }
    }
    Ok(())
}

fn generate() -> Result<Vec<(PathBuf, String)>, Box<dyn Error>> {
    // xtask is run in place, so the path it was built at is its repository.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let source_folder = root.join("proto");
    let output_folder = root.join("spanner-rows").join("src").join("proto");

    let sources = [
        "spanner.proto",
        "admin_instance.proto",
        "admin_database.proto",
    ];
    // With what they import: the generator wants to see every message once.
    let files: Vec<_> = protox::compile(sources, [source_folder])?
        .file
        .into_iter()
        .map(|file| (Module::from_protobuf_package_name(file.package()), file))
        .collect();

    OUTPUTS
        .iter()
        .map(|output| {
            let module = Module::from_protobuf_package_name(output.package);
            let code = config(output)
                .generate(files.clone())?
                .remove(&module)
                .ok_or_else(|| format!("nothing was generated for {}", output.file))?;
            let text =
                format!("// Made by `cargo xtask generate` from proto/: do not edit.\n{code}");
            Ok((output_folder.join(output.file), text))
        })
        .collect()
}

fn config(output: &Output) -> Config {
    let services = tonic_prost_build::configure()
        .build_client(output.half == Half::Client)
        .build_server(output.half == Half::Server)
        // A server implements what it answers; the rest is UNIMPLEMENTED.
        .generate_default_stubs(true)
        // Channels are made by the transport layer, not by generated code.
        .build_transport(false);

    let mut config = Config::new();
    config
        .bytes(["."])
        // Ordered, so that the same request is the same bytes.
        .btree_map(["."])
        .service_generator(services.service_generator());
    for (package, path) in PACKAGES {
        // The server half takes its messages from the file of the client half.
        if *package != output.package || output.half == Half::Server {
            config.extern_path(format!(".{package}"), *path);
        }
    }
    config
}

#[cfg(test)]
mod tests {
    #[test]
    fn checked_in_code_is_what_proto_says() {
        super::check().unwrap();
    }
}

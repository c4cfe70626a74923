//! Where the emulator's program may be.

use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

const PROGRAM: &str = "emulator_main";

/// The emulator's program, by the environment of this process.
pub(super) fn program() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let sdk = env::var_os("CLOUDSDK_ROOT_DIR").map(PathBuf::from);
    program_in(&path, sdk.as_deref())
}

fn program_in(path: &OsStr, sdk: Option<&Path>) -> Option<PathBuf> {
    in_path(path, PROGRAM)
        .or_else(|| in_sdk(&sdk?.join("bin")))
        .or_else(|| {
            // The SDK's `gcloud` is usually linked to from a folder of PATH.
            let gcloud = in_path(path, "gcloud")?.canonicalize().ok()?;
            in_sdk(gcloud.parent()?)
        })
}

fn in_path(path: &OsStr, program: &str) -> Option<PathBuf> {
    let program = format!("{program}{EXE_SUFFIX}");
    env::split_paths(path)
        // An empty entry would be the current folder.
        .filter(|folder| !folder.as_os_str().is_empty())
        .map(|folder| folder.join(&program))
        .find(|file| file.is_file())
}

fn in_sdk(bin: &Path) -> Option<PathBuf> {
    let file = bin
        .join("cloud_spanner_emulator")
        .join(format!("{PROGRAM}{EXE_SUFFIX}"));
    file.is_file().then_some(file)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder that is removed afterwards.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("spanner-rows-find-{name}-{}", std::process::id());
            let folder = env::temp_dir().join(name);
            fs::create_dir_all(&folder).unwrap();
            Self(folder.canonicalize().unwrap())
        }

        fn file(&self, name: &str) -> PathBuf {
            let file = self.0.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "").unwrap();
            file
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn nothing_is_nowhere() {
        let folder = Folder::new("nothing");
        assert_eq!(program_in(folder.0.as_os_str(), Some(&folder.0)), None);
        assert_eq!(program_in(OsStr::new(""), None), None);
    }

    #[test]
    fn path_goes_before_the_sdk() {
        let folder = Folder::new("path");
        let in_path = folder.file("a/emulator_main");
        let in_sdk = folder.file("sdk/bin/cloud_spanner_emulator/emulator_main");
        let path = env::join_paths([folder.0.join("none"), folder.0.join("a")]).unwrap();
        let sdk = folder.0.join("sdk");
        assert_eq!(program_in(&path, Some(&sdk)), Some(in_path));
        assert_eq!(program_in(OsStr::new(""), Some(&sdk)), Some(in_sdk));
    }

    #[test]
    fn the_sdk_is_where_gcloud_leads() {
        let folder = Folder::new("link");
        let gcloud = folder.file("lib/sdk/bin/gcloud");
        let emulator = folder.file("lib/sdk/bin/cloud_spanner_emulator/emulator_main");
        fs::create_dir_all(folder.0.join("bin")).unwrap();
        fs::create_dir_all(folder.0.join("more")).unwrap();
        symlink("../lib/sdk/bin/gcloud", folder.0.join("more/gcloud")).unwrap();
        symlink("../more/gcloud", folder.0.join("bin/gcloud")).unwrap();
        assert!(gcloud.is_file());
        let path = folder.0.join("bin");
        assert_eq!(program_in(path.as_os_str(), None), Some(emulator));
    }
}

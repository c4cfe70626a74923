//! Structs that `describe` writes: the text is compared with a file, and that file is
//! compiled here and read with.
//!
//! After a change that is meant to change the text, `DESCRIBE=overwrite cargo test --test
//! describe` writes the files, and the next run compiles and reads with them.
//!
//! | file | whose columns |
//! |---|---|
//! | `fake` | the fake server's: every type, also such as nobody has; awkward names |
//! | `tables` | which table a name stands for |
//! | `google`, `postgres` | the emulator's, in its two dialects |

mod fake;
mod google;
mod postgres;
mod tables;

use std::path::Path;

use spanner_rows::Description;

/// Makes a module of a generated file. Its `read` gives all rows of a query, as `Debug`
/// shows them.
#[macro_export]
macro_rules! generated {
    ($module:ident, $row:ident) => {
        mod $module {
            include!(concat!("generated/", stringify!($module), ".rs"));

            pub(super) fn is(description: &spanner_rows::Description) {
                let text = include_str!(concat!("generated/", stringify!($module), ".rs"));
                $crate::compare(stringify!($module), text, description);
            }

            pub(super) async fn read(query: spanner_rows::Query) -> Vec<String> {
                let mut rows = query.rows::<$row>().await.expect(stringify!($module));
                let mut read = Vec::new();
                while let Some(row) = rows.next().await.expect(stringify!($module)) {
                    read.push(format!("{row:?}"));
                }
                read
            }
        }
    };
}

/// Compares a description with what was compiled.
pub(crate) fn compare(module: &str, compiled: &str, description: &Description) {
    let text = description.to_string();
    if std::env::var_os("DESCRIBE").is_some_and(|value| value == "overwrite") {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let file = root.join(format!("tests/describe/generated/{module}.rs"));
        std::fs::write(file, text).expect("the folder is there");
    } else if text != compiled {
        panic!("tests/describe/generated/{module}.rs is not what is written now:\n{text}");
    }
}

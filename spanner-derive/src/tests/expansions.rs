//! What is emitted, with what it was made of in the same snapshot.

use proc_macro2::TokenStream;

use super::{derive, derive_encode, derive_enum, pretty};

/// Compares the expansion of a struct with the snapshot called `name`.
fn check(name: &str, input: &str) {
    compare(name, input, derive);
}

/// The same for an enum.
fn check_enum(name: &str, input: &str) {
    compare(name, input, derive_enum);
}

fn compare(name: &str, input: &str, derive: fn(&str) -> TokenStream) {
    let input = pretty(input.parse().expect("the test gives Rust"));
    let output = pretty(derive(&input));
    let both = format!("{input}\n// ---- becomes ----\n\n{output}");
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, both);
    });
}

#[test]
fn borrowed() {
    check(
        "borrowed",
        r#"
        #[spanner(rename_all = "PascalCase")]
        pub struct Singer<'a> {
            singer_id: i64,
            #[spanner(rename = "Name")]
            first_name: Cow<'a, str>,
        }
        "#,
    );
}

#[test]
fn owned() {
    check(
        "owned",
        "struct Count {
            name: String,
            n: i64,
        }",
    );
}

/// `Self` is the struct wherever it stands, not the type for which code is emitted.
#[test]
fn its_own_type() {
    check(
        "its_own_type",
        "struct Tree<'a, T> {
            name: &'a str,
            value: T,
            key: [u8; Self::LENGTH],
            below: Vec<Self>,
        }",
    );
}

#[test]
fn tuple_struct() {
    check("tuple_struct", "struct Pair<'row>(&'row str, Vec<String>);");
}

#[test]
fn by_index_with_a_path_to_the_runtime() {
    check(
        "by_index_with_a_path_to_the_runtime",
        r#"
        #[spanner(match_by = "index", crate = "facade::spanner")]
        struct Row {
            r#type: i64,
        }
        "#,
    );
}

#[test]
fn generics() {
    check(
        "generics",
        "struct Page<'a, T: Clone = i64, const N: usize = 3>
        where
            T: Default,
        {
            id: &'a str,
            items: Vec<T>,
            last: Option<T>,
        }",
    );
}

#[test]
fn flatten() {
    check(
        "flatten",
        r#"
        struct Customer<'row> {
            id: i64,
            #[spanner(flatten)]
            address: Address<'row>,
        }
        "#,
    );
}

#[test]
fn flatten_option() {
    check(
        "flatten_option",
        r#"
        struct Versioned<T> {
            #[spanner(flatten(prefix = "now_"))]
            now: T,
            #[spanner(flatten(prefix = "before_"))]
            before: Option<T>,
        }
        "#,
    );
}

#[test]
fn converted() {
    check(
        "converted",
        r#"
        struct Song<'a> {
            #[spanner(with = "read")]
            title: &'a str,
            #[spanner(with(module = "crate::cents"))]
            price: f64,
            #[spanner(from = "&'a str")]
            label: Label<'a>,
            #[spanner(try_from = "i64")]
            plays: Option<u32>,
        }
        "#,
    );
}

#[test]
fn defaults() {
    check(
        "defaults",
        r#"
        #[spanner(default, deny_unknown_columns)]
        struct Settings {
            retries: i64,
            #[spanner(default, null_default = "none")]
            label: String,
            #[spanner(skip = "Vec::new")]
            cache: Vec<Cache>,
        }
        "#,
    );
}

#[test]
fn transparent() {
    check(
        "transparent",
        r#"
        #[spanner(transparent)]
        struct Id<T> {
            value: String,
            #[spanner(skip)]
            marker: PhantomData<T>,
        }
        "#,
    );
}

#[test]
fn enum_of_text() {
    check_enum(
        "enum_of_text",
        r#"
        #[spanner(rename_all = "lowercase")]
        enum Genre<'a> {
            Rock,
            #[spanner(rename = "jazz", alias = "Jazz")]
            Jazz,
            #[spanner(other)]
            Other(&'a str),
        }
        "#,
    );
}

#[test]
fn enum_of_numbers() {
    check_enum(
        "enum_of_numbers",
        "enum Level {
            Low = 1,
            High,
        }",
    );
}

#[test]
fn encode() {
    let input = r#"
        #[spanner(rename_all = "PascalCase")]
        struct Singer<'a, T> {
            singer_id: i64,
            name: &'a str,
            #[spanner(read_only)]
            name_length: i64,
            #[spanner(try_from = "i64")]
            age: Option<u8>,
            #[spanner(flatten(prefix = "Home"))]
            home: Option<Address>,
            #[spanner(with(module = "cents"))]
            price: f64,
            #[spanner(json)]
            notes: Notes,
            tags: Vec<T>,
        }
    "#;
    compare("encode", input, derive_encode);
}

#[test]
fn encode_fallback() {
    let input = r#"
        struct Singer<'a, T> {
            #[spanner(raname = "x")]
            tags: &'a [T],
        }
    "#;
    compare("encode_fallback", input, derive_encode);
}

#[test]
fn fallback() {
    check(
        "fallback",
        "struct Two<'a, 'b, T> {
            a: &'a str,
            b: &'b T,
        }",
    );
}

#[test]
fn lifetimes_of_the_struct_are_not_declared_again() {
    let output = derive("struct S<'row, 'row_> { f: fn(for<'any> fn(&'any str)), a: &'row_ str }");
    let output = output.to_string();
    assert!(output.contains("type Row < 'row__ >"), "{output}");
    let output = derive("struct S<T> { f: Wrapper<for<'row> fn(&'row T)> }").to_string();
    assert!(output.contains("type Row < 'row_ >"), "{output}");
}

#[test]
fn paths_of_crates_are_made_absolute() {
    for (given, used) in [
        ("facade", "use :: facade as"),
        ("facade::rows", "use :: facade :: rows as"),
        ("::facade", "use :: facade as"),
        ("crate", "use crate as"),
        ("crate::rows", "use crate :: rows as"),
        ("self::rows", "use self :: rows as"),
        ("super::rows", "use super :: rows as"),
        // Which cannot be imported.
        ("self", "impl self :: SpannerRow"),
        ("super::super", "impl super :: super :: SpannerRow"),
    ] {
        let input = format!("#[spanner(crate = \"{given}\")] struct S {{ a: i64 }}");
        let output = derive(&input).to_string();
        assert!(output.contains(used), "{given}: {output}");
        assert!(!output.contains(":: spanner_rows"), "{given}: {output}");
    }
}

#[test]
fn nothing_is_taken_from_the_prelude() {
    let output = derive("struct S<'a, T> { a: &'a str, b: T, c: Option<Vec<T>> }").to_string();
    for name in [
        "Ok", "Err", "Some", "None", "Default", "Send", "Result", "bool",
    ] {
        for (at, _) in output.match_indices(&format!(" {name} ")) {
            assert!(
                output[..at].ends_with("::"),
                "`{name}` is used without its path in {output}"
            );
        }
    }
}

#[test]
fn two_hundred_fields() {
    let fields: String = (0..200).map(|i| format!("f{i}: i64,")).collect();
    let output = derive(&format!("struct S {{ {fields} }}")).to_string();
    assert!(output.contains("\"f199\""));
}

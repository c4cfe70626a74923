//! What is said about structs that cannot be rows. Where the compiler points is
//! tested by `tests/ui`.

use quote::ToTokens as _;
use syn::{File, Item, Macro};

use super::derive;

/// The messages in the output for a struct.
fn messages(input: &str) -> Vec<String> {
    let output: File = syn::parse2(derive(input)).expect("the output is Rust");
    let message = |item: Item| match item {
        Item::Macro(item) => Some(text(&item.mac)),
        _ => None,
    };
    output.items.into_iter().filter_map(message).collect()
}

fn text(compile_error: &Macro) -> String {
    assert_eq!(
        compile_error.path.to_token_stream().to_string(),
        ":: core :: compile_error"
    );
    let text: syn::LitStr = compile_error.parse_body().expect("one literal");
    text.value()
}

/// The messages about attributes of a struct.
fn about_struct(attributes: &str) -> Vec<String> {
    messages(&format!("#[spanner({attributes})] struct S {{ a: i64 }}"))
}

/// The messages about attributes of a field.
fn about_field(attributes: &str) -> Vec<String> {
    messages(&format!(
        "struct S {{ #[spanner({attributes})] a: i64, z: i64 }}"
    ))
}

/// What is listed for a field.
const OF_FIELD: &str = "a field takes `rename`, `alias`, `index`, `flatten`, `skip`, `default`, \
                        `null_default`, `from`, `try_from`, `with`, `json`, `read_only`";

#[test]
fn good_structs_get_none() {
    assert_eq!(about_struct("rename_all = \"PascalCase\",").len(), 0);
    assert_eq!(about_struct("").len(), 0);
    assert_eq!(about_field("rename = \"A\"").len(), 0);
    assert_eq!(about_struct("match_by = \"name\"").len(), 0);
}

#[test]
fn only_structs_with_fields() {
    for (input, found) in [
        ("enum E { A }", "an enum"),
        ("union U { a: i64 }", "a union"),
        ("struct S;", "a struct without fields"),
        ("struct S {}", "a struct without fields"),
        ("struct S();", "a struct without fields"),
    ] {
        assert_eq!(
            messages(input),
            [format!(
                "`SpannerRow` can be derived only for a struct with fields; this is {found}"
            )]
        );
    }
}

#[test]
fn unknown_words() {
    assert_eq!(
        about_field("renam = \"A\""),
        [format!(
            "unknown `spanner` attribute `renam`; did you mean `rename`? ({OF_FIELD})"
        )]
    );
    assert_eq!(
        about_struct("zzz"),
        [
            "unknown `spanner` attribute `zzz`; the struct takes `rename_all`, `match_by`, \
             `deny_unknown_columns`, `default`, `transparent`, `bound`, `crate`"
        ]
    );
    assert_eq!(
        about_field("renameall = \"x\""),
        [
            "unknown `spanner` attribute `renameall`; did you mean `rename_all`, which belongs on \
             the struct?"
        ]
    );
    assert!(about_field("borrow")[0].contains("leave `borrow` out"));
    assert!(about_field("column_name = \"x\"")[0].contains("`rename`"));
}

#[test]
fn words_at_the_wrong_level() {
    assert_eq!(
        about_field("rename_all = \"PascalCase\""),
        ["`rename_all` belongs on the struct, not on a field"]
    );
    assert_eq!(
        about_struct("rename = \"A\""),
        ["`rename` belongs on a field, not on the struct"]
    );
}

#[test]
fn forms_of_values() {
    for (bad, said) in [
        (
            "skip = 3",
            "`skip` takes a string literal or nothing: `skip` or",
        ),
        (
            "default(x)",
            "`default` takes a string literal or nothing: `default` or",
        ),
        (
            "null_default = a",
            "`null_default` takes a string literal or nothing",
        ),
        ("json = \"x\"", "`json` takes no value: `json`"),
        (
            "flatten = \"x\"",
            "`flatten` takes no value: `flatten` or `flatten(prefix",
        ),
        (
            "flatten()",
            "`flatten` takes `prefix = \"…\"`: `flatten` or",
        ),
        ("flatten(prefx = \"a\")", "`flatten` takes `prefix = \"…\"`"),
        ("flatten(prefix)", "`flatten` takes `prefix = \"…\"`"),
        ("flatten(prefix = 3)", "`flatten` takes `prefix = \"…\"`"),
        (
            "flatten(prefix = \"a\", x)",
            "`flatten` takes `prefix = \"…\"`",
        ),
        ("flatten[prefix = \"a\"]", "`flatten` takes no value"),
        ("with", "`with` takes a string literal: `with = "),
        ("with(modul = \"a\")", "`with` takes `module = \"…\"`"),
        ("with(module = \"a b\")", "expected the path of a module"),
        ("with = \"a b\"", "expected the path of a function"),
        ("with = \"|x| x\"", "expected the path of a function"),
        ("with = \"\"", "expected the path of a function"),
        ("default = \"1\"", "expected the path of a function"),
        ("skip = \"f()\"", "expected the path of a function"),
        ("from", "`from` takes a string literal: `from = \"Type\"`"),
        (
            "from = \"\"",
            "expected the type that the column is read into",
        ),
        (
            "try_from = \"Vec<\"",
            "expected the type that the column is read into",
        ),
        (
            "index",
            "`index` takes a number that is not negative: `index = 0`",
        ),
        (
            "index = \"1\"",
            "`index` takes a number that is not negative: `index = 0`",
        ),
        (
            "index = -1",
            "`index` takes a number that is not negative: `index = 0`",
        ),
        ("index = 1u8", "`1u8` is not a position"),
        ("index = 99999999999", "`99999999999` is not a position"),
        ("alias = \"\"", "a column name cannot be empty"),
    ] {
        let messages = about_field(bad);
        assert_eq!(messages.len(), 1, "{bad}: {messages:?}");
        assert!(messages[0].starts_with(said), "{bad}: {messages:?}");
    }
    for bad in [
        "rename",
        "rename = 3",
        "rename = A",
        "rename(\"A\")",
        "rename = b\"A\"",
    ] {
        assert_eq!(
            about_field(bad),
            ["`rename` takes a string literal: `rename = \"column\"`"],
            "{bad}"
        );
    }
    assert_eq!(
        about_field("rename ="),
        ["a value is missing after `=`: `rename = \"column\"`"]
    );
    assert_eq!(about_field("rename = \"A\" \"B\""), ["expected a comma"]);
    assert_eq!(
        about_field("rename: \"A\""),
        ["expected a value or a comma after `rename`: `rename = \"column\"`"]
    );
    assert_eq!(
        about_field("\"A\""),
        [format!("expected the name of an attribute: {OF_FIELD}")]
    );
    assert_eq!(
        about_field(", rename = \"A\""),
        ["an attribute is missing before this comma"]
    );
    for bad in ["#[spanner] a: i64", "#[spanner = \"A\"] a: i64"] {
        assert_eq!(
            messages(&format!("struct S {{ {bad} }}")),
            ["`spanner` takes a list: `#[spanner(...)]`"]
        );
    }
}

#[test]
fn values() {
    let unknown = &about_struct("rename_all = \"pascalcase\"")[0];
    assert!(
        unknown.starts_with(
            "unknown rule \"pascalcase\" in `rename_all`; did you mean \"PascalCase\"? The rules \
             are \"PascalCase\", \"camelCase\""
        ),
        "{unknown}"
    );
    assert_eq!(
        about_struct("match_by = \"position\""),
        ["columns are matched by \"name\" or by \"index\", not by \"position\""]
    );
    assert_eq!(
        about_struct("crate = \"not a path\""),
        ["expected the path of a module, such as \"my_crate::spanner_rows\""]
    );
    assert!(about_field("rename = \"\"")[0].starts_with("a column name cannot be empty"));
    assert_eq!(
        messages("#[spanner(rename_all = \"PascalCase\")] struct S { __: i64 }"),
        ["`rename_all` leaves nothing of the name `__`: use `rename`"]
    );
}

#[test]
fn twice_names_both_places() {
    let twice = ["`rename` is given twice", "`rename` is given here first"];
    assert_eq!(about_field("rename = \"A\", rename = \"B\""), twice);
    assert_eq!(
        messages("struct S { #[spanner(rename = \"A\")] #[spanner(rename = \"B\")] a: i64 }"),
        twice
    );
}

#[test]
fn names_where_the_position_decides() {
    assert_eq!(
        messages(
            "#[spanner(match_by = \"index\", rename_all = \"PascalCase\")]
            struct S { #[spanner(rename = \"A\")] a: i64 }"
        ),
        [
            "`rename_all` has no effect when columns are matched by index: leave it or `match_by` \
             out",
            "`rename` has no effect when columns are matched by index: leave it or `match_by` out",
            "columns are matched by index because of this",
        ]
    );
    assert_eq!(
        messages("#[spanner(match_by = \"name\")] struct S(#[spanner(rename = \"A\")] i64);"),
        [
            "the fields of a tuple struct are matched by position: leave `rename` out",
            "the fields of a tuple struct have no names to match columns by: name them, or leave \
             `match_by` out",
        ]
    );
    assert_eq!(
        messages("#[spanner(match_by = \"index\")] struct S(i64);").len(),
        0
    );
}

#[test]
fn one_column_for_two_fields() {
    assert_eq!(
        messages("struct S { r#type: i64, #[spanner(rename = \"type\")] b: i64 }"),
        [
            "the fields `type` and `b` both read the column `type`",
            "the column `type` is read here first",
        ]
    );
    let same_case = "#[spanner(rename_all = \"PascalCase\")] struct S { a_1: i64, a1: i64 }";
    assert_eq!(messages(same_case).len(), 2);
    let other_case = "struct S { a: i64, #[spanner(rename = \"A\")] b: i64 }";
    assert_eq!(messages(other_case).len(), 0);
}

#[test]
fn one_column_for_two_fields_by_alias_and_position() {
    assert_eq!(
        messages("struct S { #[spanner(alias = \"c\", alias = \"b\")] a: i64, b: i64 }"),
        [
            "the fields `a` and `b` both read the column `b`",
            "the column `b` is read here first",
        ]
    );
    assert_eq!(
        messages("struct S { #[spanner(alias = \"a\", alias = \"b\", alias = \"b\")] a: i64 }"),
        ["`a` is read as `a` anyway", "`a` is read as `b` anyway"]
    );
    assert_eq!(
        messages("struct S { #[spanner(index = 1)] a: i64, #[spanner(index = 1)] b: i64 }"),
        [
            "the fields `a` and `b` both read the column at position 1",
            "the column at position 1 is read here first",
        ]
    );
    assert_eq!(
        messages("struct S(i64, #[spanner(skip)] i64, i64, #[spanner(index = 1)] i64);").len(),
        2
    );
    assert_eq!(
        messages("struct S(i64, #[spanner(index = 2)] i64, #[spanner(index = 1)] i64);").len(),
        0
    );
}

#[test]
fn attributes_that_exclude_each_other() {
    for (given, said) in [
        (
            "skip, rename = \"a\"",
            "a field with `skip` reads no column, so `rename` has no effect",
        ),
        (
            "default, skip",
            "a field with `skip` reads no column, so `default` has no effect",
        ),
        (
            "flatten, rename = \"x\"",
            "a row with `flatten` has columns of its own, so `rename`",
        ),
        (
            "index = 1, flatten",
            "a row with `flatten` has columns of its own, so `index`",
        ),
        (
            "flatten, default",
            "a row with `flatten` has columns of its own, so `default`",
        ),
        (
            "flatten, with = \"f\"",
            "`with` converts one column and `flatten` reads several",
        ),
        (
            "index = 1, rename = \"x\"",
            "`index` finds the column by its position, so `rename`",
        ),
        (
            "alias = \"x\", index = 1",
            "`index` finds the column by its position, so `alias`",
        ),
        (
            "with = \"f\", from = \"i64\"",
            "`with` decides alone how the column is read, so `from`",
        ),
        (
            "json, try_from = \"i64\"",
            "`json` decides alone how the column is read, so `try_from`",
        ),
        (
            "from = \"i64\", try_from = \"i64\"",
            "a value is converted by `try_from` or by `from`",
        ),
    ] {
        let messages = about_field(given);
        assert_eq!(messages.len(), 1, "{given}: {messages:?}");
        assert!(messages[0].starts_with(said), "{given}: {messages:?}");
    }
    let nullable = messages("struct S { #[spanner(null_default)] a: Option<i64> }");
    assert!(
        nullable[0].starts_with("an `Option` reads NULL as `None`"),
        "{nullable:?}"
    );
    let path = messages("struct S { #[spanner(null_default)] a: ::std::option::Option<i64> }");
    assert_eq!(path, nullable);
    let hidden = messages("struct S { #[spanner(null_default)] a: Maybe<i64> }");
    assert_eq!(hidden.len(), 0);
}

#[test]
fn transparent_structs() {
    let one = "leave `transparent` out";
    for (input, said) in [
        ("struct S(i64, i64);", one),
        ("struct S { a: i64, b: i64 }", one),
        (
            "struct S(#[spanner(skip)] i64);",
            "leave one field without `skip`",
        ),
        (
            "struct S(#[spanner(rename = \"a\")] i64);",
            "so `rename` has no effect",
        ),
        (
            "struct S(#[spanner(flatten)] i64);",
            "so `flatten` has no effect",
        ),
    ] {
        let messages = messages(&format!("#[spanner(transparent)] {input}"));
        assert_eq!(messages.len(), 1, "{input}: {messages:?}");
        assert!(messages[0].contains(said), "{input}: {messages:?}");
    }
    for attribute in [
        "rename_all = \"camelCase\"",
        "default",
        "match_by = \"name\"",
    ] {
        let messages = about_struct(&format!("transparent, {attribute}"));
        assert!(messages[0].starts_with("a `transparent` struct stands for one column"));
    }
    assert_eq!(about_struct("transparent").len(), 0);
}

#[test]
fn rows_without_columns_and_wrong_bounds() {
    assert_eq!(
        messages("struct S { #[spanner(skip)] a: i64 }"),
        ["a row needs a field that reads a column: all fields have `skip`"]
    );
    assert!(about_struct("bound = \"T\"")[0].starts_with("expected bounds as they stand"));
    assert!(about_struct("bound")[0].starts_with("`bound` takes a string literal"));
    assert!(about_struct("default = \"x\"")[0].starts_with("`default` takes no value"));
    assert_eq!(about_struct("bound = \"\"").len(), 0);
}

#[test]
fn references_to_what_no_buffer_holds() {
    for (ty, said) in [
        (
            "&'a [i64]",
            "slice, so there is nothing to borrow: use `Vec<i64>`",
        ),
        ("Option<&'a [&'a str]>", "use `Vec<&'a str>`"),
        (
            "&'a String",
            "in the buffer as `String`, so there is nothing to borrow: use `&str` or",
        ),
        ("&'a i64", "so there is nothing to borrow: use `i64`"),
        (
            "&'a Vec<u8>",
            "so there is nothing to borrow: use `Vec<u8>`",
        ),
    ] {
        let messages = messages(&format!(
            "struct S<'a> {{ a: {ty}, b: &'a [u8], c: &'a str }}"
        ));
        assert_eq!(messages.len(), 1, "{ty}: {messages:?}");
        assert!(messages[0].contains(said), "{ty}: {messages:?}");
    }
    let skipped = "struct S<'a> { #[spanner(skip)] a: &'static [i64], b: &'a str }";
    assert_eq!(messages(skipped).len(), 0);
}

#[test]
fn lifetimes() {
    assert_eq!(
        messages("struct S<'a, 'b, 'c> { a: &'a str, b: &'b str, c: &'c str }"),
        [
            "a row borrows from one buffer and has one lifetime: use `'a` in place of `'b`",
            "a row borrows from one buffer and has one lifetime: use `'a` in place of `'c`",
        ]
    );
    let in_borrowed = messages("struct S<'a> { a: &'a str, b: Option<&'static str> }");
    assert_eq!(
        in_borrowed,
        [
            "a `'static` reference would outlive the row and the buffer behind it: use `'a`, or \
             an owned type such as `String`"
        ]
    );
    let in_owned = messages("struct S { b: (&'static [u8], [Vec<&'static str>; 2]) }");
    assert_eq!(in_owned.len(), 2);
    assert!(in_owned[0].contains("`struct Row<'row>`"), "{in_owned:?}");
    let not_a_column = "struct S { f: Wrapper<fn(&'static str)> }";
    assert_eq!(messages(not_a_column).len(), 0);
}

#[test]
fn what_the_compiler_reports_itself_is_left_to_it() {
    let output = derive("struct S<'a> { a: &'a str, b: &str }").to_string();
    assert!(output.contains("unreachable"), "a fallback: {output}");
    assert!(!output.contains("compile_error"), "{output}");
}

#[test]
fn all_at_once_beside_implementations() {
    let input = "
        #[spanner(renam_all = \"PascalCase\", match_by = \"x\")]
        struct S<'a, 'b> {
            #[spanner(rename = \"\")]
            a: &'static str,
            #[spanner(rename_all = \"PascalCase\", flatten = 1)]
            b: i64,
        }";
    assert_eq!(messages(input).len(), 7);
    let output = derive(input).to_string();
    for name in ["SpannerRow", "ColumnType", "FromColumn"] {
        assert!(output.contains(&format!(":: {name}")), "{name}: {output}");
    }
}

#[test]
fn no_implementations_when_the_runtime_is_unknown() {
    let output = derive("#[spanner(crate = 3)] struct S { a: i64 }").to_string();
    assert!(!output.contains("impl"), "{output}");
}

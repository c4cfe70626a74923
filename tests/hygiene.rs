//! Generated code depends on nothing that stands around it: not on the prelude,
//! not on what names mean there, not on how fields and lifetimes are called.
#![no_implicit_prelude]
#![allow(dead_code, reason = "what is derived has to compile, not more")]

use ::spanner_rows::{SpannerEncode, SpannerEnum, SpannerRow};

fn is_row<T: ::spanner_rows::SpannerRow>() {}
fn is_owned<T: ::spanner_rows::OwnedRow>() {}
fn is_sent<T: ::spanner_rows::SpannerEncode + ::spanner_rows::ToColumn>() {}
fn is_column<T: for<'row> ::spanner_rows::FromColumn<'row>>() {}

#[derive(SpannerRow)]
struct Borrowed<'a> {
    a: &'a str,
    b: ::std::option::Option<::std::borrow::Cow<'a, str>>,
    c: ::std::vec::Vec<::std::string::String>,
}

#[derive(SpannerRow)]
struct Owned {
    a: i64,
}

#[derive(SpannerRow)]
struct Tuple<'a>(i64, &'a str);

#[derive(SpannerRow)]
struct Generic<T> {
    a: T,
}

/// Every attribute that adds code.
#[derive(SpannerRow)]
#[spanner(default, deny_unknown_columns)]
struct Attributes<'a> {
    #[spanner(alias = "x")]
    a: i64,
    #[spanner(index = 1)]
    b: i64,
    #[spanner(flatten(prefix = "c_"))]
    c: Borrowed<'a>,
    #[spanner(flatten(prefix = "d_"))]
    d: ::std::option::Option<Owned>,
    #[spanner(skip)]
    e: i64,
    #[spanner(skip = "one")]
    f: i64,
    #[spanner(default)]
    g: ::std::string::String,
    #[spanner(null_default, default = "one")]
    h: i64,
    #[spanner(null_default = "one")]
    i: i64,
    #[spanner(from = "&'a str")]
    j: ::std::string::String,
    #[spanner(try_from = "i64")]
    k: ::std::option::Option<u8>,
    #[spanner(with = "read")]
    l: i64,
    #[spanner(with(module = "module"))]
    m: i64,
    n: Kind<'a>,
    o: Number,
    p: Transparent<::std::string::String>,
}

impl ::core::default::Default for Attributes<'_> {
    fn default() -> Self {
        ::std::unreachable!()
    }
}

#[derive(SpannerRow)]
#[spanner(transparent)]
struct Transparent<T> {
    value: T,
    #[spanner(skip)]
    marker: ::core::marker::PhantomData<fn() -> T>,
}

#[derive(SpannerEnum)]
#[spanner(rename_all = "lowercase")]
enum Kind<'a> {
    A,
    #[spanner(other)]
    Other(&'a str),
}

#[derive(SpannerEnum)]
enum Number {
    A = 1,
    B,
}

/// Every attribute that means something to a row that is sent.
#[derive(SpannerEncode)]
struct Sent<'a, T> {
    a: &'a str,
    b: ::std::option::Option<::std::borrow::Cow<'a, str>>,
    c: ::std::vec::Vec<::std::string::String>,
    #[spanner(flatten(prefix = "d_"))]
    d: SentOwned,
    #[spanner(flatten(prefix = "e_"))]
    e: ::std::option::Option<SentOwned>,
    #[spanner(skip)]
    f: ::core::marker::PhantomData<fn() -> T>,
    #[spanner(read_only)]
    g: u8,
    #[spanner(from = "i64")]
    h: Small,
    #[spanner(from = "i64")]
    i: ::std::option::Option<Small>,
    #[spanner(with(module = "module"))]
    j: i64,
    k: T,
    n: Kind<'a>,
    o: Number,
    p: Transparent<::std::string::String>,
    q: SentOwned,
}

#[derive(SpannerEncode)]
struct SentOwned {
    #[spanner(rename = "x")]
    a: i64,
}

#[derive(SpannerEncode)]
struct SentTuple<'a>(i64, &'a str);

#[derive(Clone)]
struct Small(u8);

impl ::core::convert::From<i64> for Small {
    fn from(number: i64) -> Self {
        Self(number as u8)
    }
}

impl ::core::convert::From<Small> for i64 {
    fn from(small: Small) -> Self {
        small.0 as Self
    }
}

fn one() -> i64 {
    1
}

fn read(
    _: ::spanner_rows::Column<'_, '_>,
) -> ::core::result::Result<i64, ::spanner_rows::DecodeError> {
    ::core::result::Result::Ok(1)
}

fn write(value: &i64) -> i64 {
    *value
}

mod module {
    pub(super) use super::{read as decode, write as encode};
}

#[::core::prelude::v1::test]
fn without_a_prelude() {
    is_sent::<Sent<'_, i64>>();
    is_sent::<SentTuple<'_>>();
    is_row::<Attributes<'_>>();
    is_column::<Number>();
    is_row::<Borrowed<'_>>();
    is_row::<Tuple<'_>>();
    is_owned::<Owned>();
    is_owned::<Generic<i64>>();
    is_column::<Generic<::std::string::String>>();
}

/// What generated code uses, under the same names and meaning something else.
mod shadowed {
    use ::spanner_rows::SpannerRow as Derived;

    struct Option;
    struct Result;
    struct String;
    struct Vec;
    struct Default;
    struct Send;
    struct Self_;
    struct ColumnType;
    struct FromColumn;
    struct OwnedRow;
    struct SpannerRow;
    struct Binder;
    struct Binding;
    struct Column;
    struct DecodeError;
    struct Mode;
    struct Type;
    struct RowType;
    struct If;
    struct Or;
    #[expect(non_camel_case_types)]
    struct bool;
    #[expect(non_snake_case)]
    fn Ok() {}
    #[expect(non_snake_case)]
    fn Some() {}
    #[expect(non_upper_case_globals)]
    const None: i64 = 0;
    #[expect(non_upper_case_globals)]
    const cursor: i64 = 0;
    #[expect(non_upper_case_globals)]
    const spare: i64 = 0;
    #[expect(non_upper_case_globals)]
    const row: i64 = 0;
    #[expect(non_upper_case_globals)]
    static row_type: i64 = 0;
    mod core {}
    mod std {}
    mod spanner_rows {}
    mod identity {}

    #[derive(Derived)]
    struct Row<'a> {
        a: &'a ::core::primitive::str,
        b: ::std::string::String,
    }

    use ::spanner_rows::SpannerEncode as Encode;

    #[derive(Encode)]
    struct Sent<'a> {
        a: &'a ::core::primitive::str,
        #[spanner(flatten(prefix = "b"))]
        b: SentCount,
        #[spanner(flatten(prefix = "c"))]
        c: ::std::option::Option<SentCount>,
        #[spanner(from = "i64")]
        d: super::Small,
        #[spanner(from = "i64")]
        e: ::std::option::Option<super::Small>,
        #[spanner(with(module = "module"))]
        f: i64,
        g: Kind,
    }

    #[derive(Encode)]
    struct SentCount {
        n: i64,
    }

    #[derive(Derived)]
    struct Count {
        n: i64,
    }

    struct ToColumn;
    struct SpannerEncode;
    struct EncodeFlattened;
    struct ListWriter;
    struct Field;
    struct Columns;
    struct Clone;
    #[expect(non_camel_case_types)]
    struct str;
    #[expect(non_camel_case_types)]
    struct usize;
    #[expect(non_upper_case_globals)]
    const out: i64 = 0;
    #[expect(non_upper_case_globals)]
    const prefix: i64 = 0;
    #[expect(non_upper_case_globals)]
    const columns: i64 = 0;
    #[expect(non_upper_case_globals)]
    const value: i64 = 0;
    fn push_column() {}
    fn prefixed() {}
    struct TypeCode;
    struct ValueWriter;
    struct Flatten;
    struct Defaulted;
    struct ColumnSpec;
    struct From;
    struct TryFrom;
    fn bind() {}
    fn decode() {}
    fn identity() {}

    #[derive(Derived)]
    struct Attributes {
        #[spanner(flatten(prefix = "a"))]
        a: Count,
        #[spanner(flatten(prefix = "b"))]
        b: ::std::option::Option<Count>,
        #[spanner(default)]
        c: i64,
        #[spanner(null_default)]
        d: i64,
        #[spanner(try_from = "i64")]
        e: u8,
        #[spanner(with(module = "module"))]
        f: i64,
        #[spanner(skip)]
        g: i64,
        h: Kind,
    }

    #[derive(::spanner_rows::SpannerEnum)]
    enum Kind {
        Ok,
        #[spanner(other)]
        Err(::std::string::String),
    }

    #[derive(::spanner_rows::SpannerEnum)]
    enum Number {
        None = 1,
    }

    #[derive(Derived)]
    #[spanner(transparent)]
    struct Transparent(i64);

    mod module {
        pub(super) use super::super::{read as decode, write as encode};
    }

    #[::core::prelude::v1::test]
    fn names_are_paths() {
        super::is_sent::<Sent<'_>>();
        super::is_row::<Row<'_>>();
        super::is_owned::<Count>();
        super::is_owned::<Attributes>();
        super::is_column::<Number>();
        super::is_column::<Transparent>();
    }
}

/// Fields called like locals of generated code.
#[derive(SpannerRow)]
struct Locals<'a> {
    cursor: &'a str,
    spare: i64,
    row: i64,
    home: i64,
    binder: i64,
    row_type: i64,
    column: i64,
    ty: i64,
    decode: i64,
    r#self_: i64,
    #[spanner(flatten(prefix = "a"))]
    bound: Home,
    #[spanner(flatten(prefix = "b"))]
    __bound: ::std::option::Option<Home>,
    #[spanner(default)]
    __cursor: i64,
    #[spanner(null_default)]
    __spare: i64,
    #[spanner(try_from = "i64")]
    __row: u8,
}

#[derive(SpannerEncode)]
struct SentLocals<'__out> {
    out: &'__out str,
    value: i64,
    prefix: i64,
    columns: i64,
    __out: i64,
    __value: i64,
    #[spanner(from = "i64")]
    __prefix: Small,
    #[spanner(from = "i64")]
    __columns: ::std::option::Option<Small>,
    #[spanner(flatten(prefix = "a"))]
    write: SentOwned,
    r#type: i64,
}

#[derive(SpannerRow, SpannerEncode)]
struct Raw {
    r#type: i64,
    r#fn: i64,
    r#mut: ::std::option::Option<i64>,
}

#[derive(SpannerRow)]
#[allow(non_camel_case_types)]
struct r#struct {
    a: i64,
}

/// Lifetimes called like those of generated code.
#[derive(SpannerRow)]
struct Lifetime<'row> {
    a: &'row str,
}

#[derive(SpannerRow)]
struct Any<'any, T> {
    a: &'any str,
    b: T,
}

#[derive(SpannerRow)]
struct OwnLifetime<'__row>(&'__row str);

/// Types called like those of generated code.
#[derive(SpannerRow)]
struct Home {
    a: i64,
}

#[derive(SpannerRow)]
struct HomeSpare {
    home: Home,
}

#[::core::prelude::v1::test]
fn names_of_the_user_stay_the_users() {
    is_row::<Locals<'_>>();
    is_owned::<Raw>();
    is_sent::<Raw>();
    is_sent::<SentLocals<'_>>();
    is_owned::<r#struct>();
    is_row::<Lifetime<'_>>();
    is_row::<Any<'_, i64>>();
    is_row::<OwnLifetime<'_>>();
    is_owned::<HomeSpare>();
}

/// The runtime under other names.
mod facade {
    pub(crate) mod inner {
        pub(crate) use ::spanner_rows::*;
    }
}

mod renamed {
    use super::facade::inner::SpannerRow;

    #[derive(SpannerRow)]
    #[spanner(crate = "crate::facade::inner")]
    #[derive(::core::default::Default)]
    struct ByCrate {
        a: i64,
    }

    #[derive(super::facade::inner::SpannerEncode)]
    #[spanner(crate = "super::facade::inner")]
    struct Sent<'a> {
        #[spanner(flatten(prefix = "a"))]
        a: SentCount,
        #[spanner(flatten(prefix = "b"))]
        b: ::std::option::Option<SentCount>,
        #[spanner(from = "i64")]
        c: super::Small,
        #[spanner(with(module = "module"))]
        d: i64,
        e: &'a str,
        f: ::std::option::Option<Kind>,
        g: Id,
    }

    #[derive(super::facade::inner::SpannerEncode)]
    #[spanner(crate = "self::here")]
    struct SentCount {
        n: i64,
    }

    #[derive(SpannerRow)]
    #[spanner(crate = "super::facade::inner")]
    struct BySuper<'a> {
        a: &'a str,
    }

    #[derive(SpannerRow)]
    #[spanner(crate = "self::here")]
    struct BySelf<T> {
        a: T,
    }

    #[derive(SpannerRow)]
    #[spanner(crate = "crate::facade::inner", default, deny_unknown_columns)]
    #[derive(::core::default::Default)]
    struct Everything {
        #[spanner(flatten(prefix = "a"))]
        a: ByCrate,
        #[spanner(flatten(prefix = "b"))]
        b: ::std::option::Option<ByCrate>,
        #[spanner(default, null_default)]
        c: i64,
        #[spanner(try_from = "i64")]
        d: u8,
        #[spanner(with(module = "module"))]
        e: i64,
        f: ::std::option::Option<Kind>,
        g: Id,
    }

    #[derive(::core::default::Default, SpannerRow)]
    #[spanner(crate = "super::facade::inner", transparent)]
    struct Id(i64);

    #[derive(super::facade::inner::SpannerEnum)]
    #[spanner(crate = "super::facade::inner")]
    enum Kind {
        A,
        #[spanner(other)]
        Other(::std::string::String),
    }

    mod module {
        pub(super) use super::super::{read as decode, write as encode};
    }

    mod here {
        pub(super) use ::spanner_rows::*;

        /// The module itself.
        #[derive(super::SpannerRow)]
        #[spanner(crate = "self")]
        pub(super) struct BySelfAlone {
            a: i64,
        }

        pub(super) mod deeper {
            #[derive(super::super::SpannerRow)]
            #[spanner(crate = "super")]
            pub(in super::super) struct BySuperAlone {
                a: i64,
            }
        }
    }

    mod spanner_rows {}

    #[derive(SpannerRow)]
    #[spanner(crate = "spanner_rows")]
    struct ByName {
        a: i64,
    }

    #[::core::prelude::v1::test]
    fn paths_hold() {
        super::is_owned::<ByCrate>();
        super::is_owned::<Everything>();
        super::is_row::<BySuper<'_>>();
        super::is_owned::<BySelf<i64>>();
        super::is_owned::<ByName>();
        super::is_owned::<here::BySelfAlone>();
        super::is_owned::<here::deeper::BySuperAlone>();
        super::is_sent::<Sent<'_>>();
    }

    /// Paths start at the module around the function.
    #[::core::prelude::v1::test]
    fn paths_hold_in_functions() {
        #[derive(SpannerRow)]
        #[spanner(crate = "self::here")]
        struct Inside {
            a: i64,
        }

        #[derive(super::facade::inner::SpannerEncode)]
        #[spanner(crate = "super::facade::inner")]
        struct SentInside {
            a: i64,
        }

        super::is_owned::<Inside>();
        super::is_sent::<SentInside>();
    }
}

/// A struct made by a macro of the user.
macro_rules! make {
    ($name:ident, $lifetime:lifetime, $field:ident: $ty:ty, $column:literal) => {
        #[derive(SpannerRow)]
        struct $name<$lifetime> {
            #[spanner(rename = $column)]
            $field: $ty,
            own: &$lifetime str,
        }
    };
}

macro_rules! make_sent {
    ($name:ident, $lifetime:lifetime, $field:ident: $ty:ty, $column:literal, $runtime:literal) => {
        #[derive(SpannerEncode)]
        #[spanner(crate = $runtime)]
        struct $name<$lifetime> {
            #[spanner(rename = $column)]
            $field: $ty,
            own: &$lifetime str,
        }
    };
}

make_sent!(MadeSent, 'x, field: ::std::option::Option<&'x str>, "Column", "crate::facade::inner");
make!(Made, 'x, field: ::std::option::Option<&'x str>, "Column");

#[::core::prelude::v1::test]
fn macros_make_rows() {
    is_row::<Made<'_>>();
    is_sent::<MadeSent<'_>>();
}

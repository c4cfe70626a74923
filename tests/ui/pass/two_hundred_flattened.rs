//! Comparing names stays quick where there are many.

use spanner_rows::SpannerRow;

macro_rules! wide {
    ($name:ident: $($field:ident)*) => {
        #[derive(SpannerRow)]
        struct $name {
            $($field: i64,)*
        }
    };
}

wide!(Wide:
    a_column_with_a_long_name_00 a_column_with_a_long_name_01 a_column_with_a_long_name_02
    a_column_with_a_long_name_03 a_column_with_a_long_name_04 a_column_with_a_long_name_05
    a_column_with_a_long_name_06 a_column_with_a_long_name_07 a_column_with_a_long_name_08
    a_column_with_a_long_name_09 a_column_with_a_long_name_10 a_column_with_a_long_name_11
    a_column_with_a_long_name_12 a_column_with_a_long_name_13 a_column_with_a_long_name_14
    a_column_with_a_long_name_15 a_column_with_a_long_name_16 a_column_with_a_long_name_17
    a_column_with_a_long_name_18 a_column_with_a_long_name_19 a_column_with_a_long_name_20
    a_column_with_a_long_name_21 a_column_with_a_long_name_22 a_column_with_a_long_name_23
    a_column_with_a_long_name_24 a_column_with_a_long_name_25 a_column_with_a_long_name_26
    a_column_with_a_long_name_27 a_column_with_a_long_name_28 a_column_with_a_long_name_29
    a_column_with_a_long_name_30 a_column_with_a_long_name_31 a_column_with_a_long_name_32
    a_column_with_a_long_name_33 a_column_with_a_long_name_34 a_column_with_a_long_name_35
    a_column_with_a_long_name_36 a_column_with_a_long_name_37 a_column_with_a_long_name_38
    a_column_with_a_long_name_39
);

#[derive(SpannerRow)]
struct Outer {
    #[spanner(flatten(prefix = "a"))]
    a: Wide,
    #[spanner(flatten(prefix = "b"))]
    b: Option<Wide>,
    #[spanner(flatten(prefix = "c"))]
    c: Wide,
    #[spanner(flatten(prefix = "d"))]
    d: Wide,
    #[spanner(flatten(prefix = "e"))]
    e: Wide,
}

fn main() {}

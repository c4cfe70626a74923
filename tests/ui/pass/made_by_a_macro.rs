use spanner_rows::{SpannerEnum, SpannerRow};

macro_rules! row {
    ($name:ident, $inner:ident, $ty:ty, $column:literal, $default:literal) => {
        #[derive(SpannerRow)]
        struct $inner {
            n: $ty,
        }

        #[derive(SpannerRow)]
        struct $name<'row> {
            #[spanner(rename = $column, alias = "x", default = $default)]
            value: i64,
            #[spanner(flatten(prefix = $column))]
            inner: $inner,
            #[spanner(flatten)]
            maybe: Option<$inner>,
            #[spanner(try_from = "i64")]
            small: u8,
            #[spanner(with = "read")]
            text: &'row str,
        }
    };
}

row!(Outer, Inner, i64, "Column", "seven");

fn seven() -> i64 {
    7
}

fn read<'row>(
    column: spanner_rows::Column<'_, 'row>,
) -> Result<&'row str, spanner_rows::DecodeError> {
    column.text()
}

macro_rules! genre {
    ($name:ident { $($variant:ident = $text:literal),* }) => {
        #[derive(SpannerEnum)]
        enum $name {
            $(#[spanner(rename = $text)] $variant,)*
        }
    };
}

genre!(Genre { Rock = "rock", Jazz = "jazz" });

fn main() {}

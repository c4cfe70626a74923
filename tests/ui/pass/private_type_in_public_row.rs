//! The STRUCT columns of a public row may have types that are not public.

pub mod rows {
    use spanner_rows::SpannerRow;

    #[derive(SpannerRow)]
    struct Line<'a> {
        product: &'a str,
    }

    #[derive(SpannerRow)]
    struct Total {
        amount: i64,
    }

    #[derive(SpannerRow)]
    pub struct Order<'a> {
        pub id: i64,
        lines: Vec<Line<'a>>,
        total: Option<Total>,
    }

    #[derive(SpannerRow)]
    pub struct Archived {
        pub id: i64,
        total: Total,
    }
}

fn is_row<T: spanner_rows::SpannerRow>() {}

fn main() {
    is_row::<rows::Order>();
    is_row::<rows::Archived>();
}

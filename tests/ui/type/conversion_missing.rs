use spanner_rows::SpannerRow;

struct Even(i64);
struct Word<'a>(&'a str);

#[derive(SpannerRow)]
struct Singer<'a> {
    id: &'a str,
    #[spanner(from = "i64")]
    even: Even,
    #[spanner(try_from = "i64")]
    maybe: Option<Even>,
    #[spanner(try_from = "&'a str")]
    word: Word<'a>,
}

fn main() {}

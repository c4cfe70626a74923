use spanner_rows::SpannerRow;

struct Label;

impl From<Label> for String {
    fn from(_: Label) -> Self {
        Self::new()
    }
}

#[derive(SpannerRow)]
struct Singer {
    #[spanner(from = "u16")]
    plays: i64,
    #[spanner(from = "Label")]
    name: String,
}

fn main() {}

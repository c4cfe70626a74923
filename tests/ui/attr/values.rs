use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
#[spanner(rename_all = "Pascalcase", match_by = "position")]
struct Singer {
    #[spanner(rename = "")]
    id: i64,
    #[spanner(rename = 3)]
    name: String,
    #[spanner(rename)]
    last_name: String,
    #[spanner(rename =)]
    born: i64,
    #[spanner(rename("Died"))]
    died: i64,
}

#[derive(SpannerRow)]
#[spanner(crate = "not a path")]
struct Album {
    id: i64,
}

fn main() {}

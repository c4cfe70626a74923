use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Singer {
    #[spanner(alias = "Name", alias = "Title")]
    full_name: String,
    name: String,
    #[spanner(rename = "r#type", alias = "Title")]
    r#type: String,
    #[spanner(alias = "Born", alias = "Died", alias = "Died")]
    born: i64,
}

fn main() {}

use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
#[spanner]
struct Singer {
    #[spanner = "SingerId"]
    id: i64,
    #[spanner("Name")]
    name: String,
    #[spanner(, rename = "Surname")]
    last_name: String,
    #[spanner(rename = "Born" "Year")]
    born: i64,
    #[spanner(rename: "Died")]
    died: i64,
}

fn main() {}

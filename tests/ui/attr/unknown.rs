use spanner_rows::SpannerRow;

#[derive(SpannerRow)]
#[spanner(renameall = "PascalCase", chunky)]
struct Singer {
    #[spanner(renam = "SingerId")]
    id: i64,
    #[spanner(borrow)]
    name: String,
    #[spanner(column_name = "Surname")]
    last_name: String,
    #[spanner(rename_al = "PascalCase")]
    born: i64,
}

fn main() {}

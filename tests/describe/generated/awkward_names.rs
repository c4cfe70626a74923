#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = "camelCase")]
struct SelfRow {
    r#type: i64,
    #[spanner(rename = "Self")]
    self_: i64,
    #[spanner(rename = "self")]
    self_2: i64,
    crate_: i64,
    _1st: i64,
    #[spanner(rename = "a b")]
    a_b: i64,
    #[spanner(rename = "a_b")]
    a_b_2: i64,
    #[spanner(rename = "A B")]
    a_b_3: i64,
    #[spanner(rename = "ünï")]
    ünï: i64,
    #[spanner(rename = "U\u{308}n")]
    u_n: i64,
    #[spanner(index = 10)]
    column_10: i64,
    #[spanner(index = 11)]
    twice: i64,
    #[spanner(index = 12)]
    twice_2: i64,
    #[spanner(rename = "__private")]
    private: i64,
    #[spanner(rename = "private")]
    private_2: i64,
    #[spanner(rename = "'row")]
    row: i64,
    #[spanner(rename = "\"\\")]
    column_16: i64,
    #[spanner(rename = "x\ny")]
    x_y: i64,
    #[spanner(rename = "spanner_rows")]
    spanner_rows: i64,
    #[spanner(rename = "Option")]
    option: i64,
    r#gen: i64,
    #[spanner(rename = "_")]
    column_21: i64,
    #[spanner(rename = "HTTPServer2")]
    http_server2: i64,
    #[spanner(rename = "r#type")]
    r_type: i64,
    core: i64,
    #[spanner(rename = "Some")]
    some: i64,
}

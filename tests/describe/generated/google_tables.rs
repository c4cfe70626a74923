/// A row of `INFORMATION_SCHEMA.TABLES`; its primary key is `TABLE_CATALOG`, `TABLE_SCHEMA`, `TABLE_NAME`.
#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = "SCREAMING_SNAKE_CASE")]
struct Table<'row> {
    table_catalog: &'row str,
    table_schema: &'row str,
    table_name: &'row str,
    parent_table_name: Option<&'row str>,
    on_delete_action: Option<&'row str>,
    table_type: &'row str,
    spanner_state: Option<&'row str>,
    interleave_type: Option<&'row str>,
    row_deletion_policy_expression: Option<&'row str>,
}

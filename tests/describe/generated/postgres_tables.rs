/// A row of `information_schema.tables`.
#[derive(Debug, spanner_rows::SpannerRow)]
struct Table<'row> {
    table_catalog: Option<&'row str>,
    table_schema: Option<&'row str>,
    table_name: Option<&'row str>,
    table_type: Option<&'row str>,
    self_referencing_column_name: Option<&'row str>,
    reference_generation: Option<&'row str>,
    user_defined_type_catalog: Option<&'row str>,
    user_defined_type_schema: Option<&'row str>,
    user_defined_type_name: Option<&'row str>,
    is_insertable_into: Option<&'row str>,
    is_typed: Option<&'row str>,
    commit_action: Option<&'row str>,
    parent_table_name: Option<&'row str>,
    on_delete_action: Option<&'row str>,
    spanner_state: Option<&'row str>,
    interleave_type: Option<&'row str>,
    row_deletion_policy_expression: Option<&'row str>,
}

// Needs the crate `jiff`, and the feature of that name.
// A result does not tell which columns can be NULL: take `Option` off those that cannot.
// Arrays can hold NULL, whatever the schema says: take `Option` off the elements if yours do not.
#[derive(Debug, spanner_rows::SpannerRow)]
#[spanner(rename_all = "PascalCase")]
struct Change<'row> {
    change_record: Option<Vec<ChangeRecord<'row>>>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
struct ChangeRecord<'row> {
    data_change_record: Option<Vec<DataChangeRecord<'row>>>,
    heartbeat_record: Option<Vec<HeartbeatRecord>>,
    child_partitions_record: Option<Vec<ChildPartitionsRecord<'row>>>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
struct DataChangeRecord<'row> {
    commit_timestamp: Option<jiff::Timestamp>,
    record_sequence: Option<&'row str>,
    server_transaction_id: Option<&'row str>,
    is_last_record_in_transaction_in_partition: Option<bool>,
    table_name: Option<&'row str>,
    column_types: Option<Vec<ColumnType<'row>>>,
    mods: Option<Vec<Mod<'row>>>,
    mod_type: Option<&'row str>,
    value_capture_type: Option<&'row str>,
    number_of_records_in_transaction: Option<i64>,
    number_of_partitions_in_transaction: Option<i64>,
    transaction_tag: Option<&'row str>,
    is_system_transaction: Option<bool>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
struct ColumnType<'row> {
    name: Option<&'row str>,
    // JSON: `spanner_rows::Json<T>` reads any type that serde deserialises
    r#type: Option<&'row str>,
    is_primary_key: Option<bool>,
    ordinal_position: Option<i64>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
struct Mod<'row> {
    // JSON: `spanner_rows::Json<T>` reads any type that serde deserialises
    keys: Option<&'row str>,
    // JSON: `spanner_rows::Json<T>` reads any type that serde deserialises
    new_values: Option<&'row str>,
    // JSON: `spanner_rows::Json<T>` reads any type that serde deserialises
    old_values: Option<&'row str>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
struct HeartbeatRecord {
    timestamp: Option<jiff::Timestamp>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
struct ChildPartitionsRecord<'row> {
    start_timestamp: Option<jiff::Timestamp>,
    record_sequence: Option<&'row str>,
    child_partitions: Option<Vec<ChildPartition<'row>>>,
}

#[derive(Debug, spanner_rows::SpannerRow)]
struct ChildPartition<'row> {
    token: Option<&'row str>,
    parent_partition_tokens: Option<Vec<Option<&'row str>>>,
}

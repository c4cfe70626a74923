//! Compares our messages with a published crate generated from the service's own definition.
//!
//! Each sample is written once and expanded twice, for our types and for theirs. Every field of ours is filled (a field left out does not compile),
//! each with a value of its own, so that a wrong name, number or type shows. Flags and the choice within a oneof change with the variant `n`.

use std::fmt::Debug;

use prost::Message;

/// How many variants of each sample there are.
const VARIANTS: u8 = 6;

/// Encodes with one, decodes with the other, both ways.
fn check<Ours, Theirs>(ours: &Ours, theirs: &Theirs)
where
    Ours: Message + Default + PartialEq + Debug,
    Theirs: Message + Default + PartialEq + Debug,
{
    let from_ours = Theirs::decode(&ours.encode_to_vec()[..]).unwrap();
    assert_eq!(&from_ours, theirs, "what we send is read differently");
    let from_theirs = Ours::decode(&theirs.encode_to_vec()[..]).unwrap();
    assert_eq!(&from_theirs, ours, "what is sent is read differently by us");
}

macro_rules! samples {
    // `$rest` fills the fields that only their messages have.
    ($($rest:tt)*) => {
        // What both halves build values from.
        fn text(text: &str) -> String {
            text.to_owned()
        }

        fn token(content: &'static str) -> Bytes {
            Bytes::from_static(content.as_bytes())
        }

        fn timestamp(seconds: i64) -> Option<prost_types::Timestamp> {
            Some(prost_types::Timestamp { seconds, nanos: 7 })
        }

        fn duration(seconds: i64) -> Option<prost_types::Duration> {
            Some(prost_types::Duration { seconds, nanos: 8 })
        }

        pub(super) fn field(n: u8) -> struct_type::Field {
            struct_type::Field { name: text("column"), r#type: Some(type_(n)) }
        }

        pub(super) fn struct_type(n: u8) -> StructType {
            let unnamed = struct_type::Field { name: text(""), r#type: Some(scalar(n)) };
            StructType { fields: vec![unnamed, field(n)] }
        }

        fn scalar(n: u8) -> Type {
            Type {
                code: 10 + i32::from(n),
                array_element_type: None,
                struct_type: None,
                type_annotation: 4,
                proto_type_fqn: text("of.Element"),
            }
        }

        pub(super) fn type_(n: u8) -> Type {
            let fields = vec![struct_type::Field { name: text("inner"), r#type: Some(scalar(n)) }];
            Type {
                code: TypeCode::Array.into(),
                array_element_type: Some(Box::new(scalar(n))),
                struct_type: Some(StructType { fields }),
                type_annotation: TypeAnnotationCode::PgJsonb.into(),
                proto_type_fqn: text("some.Message"),
            }
        }

        pub(super) fn key_range(n: u8) -> KeyRange {
            use key_range::{EndKeyType, StartKeyType};
            KeyRange {
                start_key_type: Some(match n % 2 {
                    0 => StartKeyType::StartClosed(list("start closed")),
                    _ => StartKeyType::StartOpen(list("start open")),
                }),
                end_key_type: Some(match n % 3 {
                    0 => EndKeyType::EndClosed(list("end closed")),
                    _ => EndKeyType::EndOpen(list("end open")),
                }),
            }
        }

        pub(super) fn key_set(n: u8) -> KeySet {
            KeySet {
                keys: vec![list("first"), list("second"), no_list()],
                ranges: vec![key_range(n), key_range(n + 1)],
                all: n % 2 == 1,
            }
        }

        fn write(table: &str) -> mutation::Write {
            mutation::Write {
                table: text(table),
                columns: vec![text("a"), text("b")],
                values: vec![list("row 1"), list("row 2")],
            }
        }

        pub(super) fn mutation(n: u8) -> Mutation {
            use mutation::Operation;
            Mutation {
                operation: Some(match n {
                    0 => Operation::Insert(write("insert")),
                    1 => Operation::Update(write("update")),
                    2 => Operation::InsertOrUpdate(write("insert or update")),
                    3 => Operation::Replace(write("replace")),
                    _ => Operation::Delete(mutation::Delete {
                        table: text("delete"),
                        key_set: Some(key_set(n)),
                    }),
                }),
            }
        }

        pub(super) fn options(n: u8) -> TransactionOptions {
            use transaction_options::{Mode, ReadOnly, ReadWrite, read_only::TimestampBound};
            let bound = match n {
                0 => Some(TimestampBound::Strong(true)),
                1 => timestamp(11).map(TimestampBound::MinReadTimestamp),
                2 => duration(12).map(TimestampBound::MaxStaleness),
                3 => timestamp(13).map(TimestampBound::ReadTimestamp),
                _ => duration(14).map(TimestampBound::ExactStaleness),
            };
            TransactionOptions {
                exclude_txn_from_change_streams: n % 2 == 1,
                isolation_level: 2,
                mode: Some(match n {
                    4 => Mode::PartitionedDml(transaction_options::PartitionedDml {}),
                    5 => Mode::ReadWrite(ReadWrite {
                        read_lock_mode: 2,
                        multiplexed_session_previous_transaction_id: token("previous"),
                    }),
                    _ => Mode::ReadOnly(ReadOnly {
                        return_read_timestamp: n % 2 == 0,
                        timestamp_bound: bound,
                    }),
                }),
            }
        }

        /// No bound, and the one bound that `options` leaves out.
        pub(super) fn read_only(n: u8) -> transaction_options::ReadOnly {
            use transaction_options::{ReadOnly, read_only::TimestampBound};
            ReadOnly {
                return_read_timestamp: n % 2 == 1,
                timestamp_bound: if n < 4 {
                    None
                } else {
                    duration(14).map(TimestampBound::ExactStaleness)
                },
            }
        }

        pub(super) fn selector(n: u8) -> TransactionSelector {
            use transaction_selector::Selector;
            TransactionSelector {
                selector: Some(match n % 3 {
                    0 => Selector::SingleUse(options(n)),
                    1 => Selector::Id(token("id")),
                    _ => Selector::Begin(options(n)),
                }),
            }
        }

        pub(super) fn precommit_token() -> MultiplexedSessionPrecommitToken {
            MultiplexedSessionPrecommitToken { precommit_token: token("precommit"), seq_num: 77 }
        }

        pub(super) fn transaction() -> Transaction {
            Transaction {
                id: token("transaction"),
                read_timestamp: timestamp(21),
                precommit_token: Some(precommit_token()),
                $($rest)*
            }
        }

        pub(super) fn metadata(n: u8) -> ResultSetMetadata {
            ResultSetMetadata {
                row_type: Some(struct_type(n)),
                transaction: Some(transaction()),
                undeclared_parameters: Some(StructType { fields: vec![field(n + 1)] }),
            }
        }

        pub(super) fn query_plan() -> QueryPlan {
            let node = PlanNode {
                index: 31,
                kind: 2,
                display_name: text("display name"),
                child_links: vec![plan_node::ChildLink {
                    child_index: 32,
                    r#type: text("link type"),
                    variable: text("variable"),
                }],
                short_representation: Some(plan_node::ShortRepresentation {
                    description: text("description"),
                    subqueries: [(text("subquery"), 33)].into(),
                }),
                metadata: structure("plan metadata"),
                execution_stats: structure("execution stats"),
            };
            QueryPlan {
                plan_nodes: vec![node],
                query_advice: Some(QueryAdvisorResult {
                    index_advice: vec![query_advisor_result::IndexAdvice {
                        ddl: vec![text("ddl")],
                        improvement_factor: 1.5,
                    }],
                }),
            }
        }

        pub(super) fn stats(n: u8) -> ResultSetStats {
            use result_set_stats::RowCount;
            ResultSetStats {
                query_plan: Some(query_plan()),
                query_stats: structure("query stats"),
                row_count: Some(match n % 2 {
                    0 => RowCount::RowCountExact(41),
                    _ => RowCount::RowCountLowerBound(42),
                }),
            }
        }

        pub(super) fn result_set(n: u8) -> ResultSet {
            ResultSet {
                metadata: Some(metadata(n)),
                rows: vec![list("row"), no_list(), list("another row")],
                stats: Some(stats(n)),
                precommit_token: Some(precommit_token()),
                $($rest)*
            }
        }

        pub(super) fn partial_result_set(n: u8) -> PartialResultSet {
            PartialResultSet {
                metadata: Some(metadata(n)),
                values: values(),
                chunked_value: n % 2 == 1,
                resume_token: token("resume"),
                stats: Some(stats(n)),
                precommit_token: Some(precommit_token()),
                last: n % 3 == 1,
                $($rest)*
            }
        }

        pub(super) fn session(n: u8) -> Session {
            Session {
                name: text("session name"),
                labels: [(text("label"), text("label value"))].into(),
                create_time: timestamp(51),
                approximate_last_use_time: timestamp(52),
                creator_role: text("role"),
                multiplexed: n % 2 == 1,
            }
        }

        pub(super) fn create_session(n: u8) -> CreateSessionRequest {
            CreateSessionRequest { database: text("database"), session: Some(session(n)) }
        }

        pub(super) fn get_session() -> GetSessionRequest {
            GetSessionRequest { name: text("which session") }
        }

        fn request_options() -> RequestOptions {
            RequestOptions {
                priority: 2,
                request_tag: text("request tag"),
                transaction_tag: text("transaction tag"),
                $($rest)*
            }
        }

        pub(super) fn directed_read(n: u8) -> DirectedReadOptions {
            use directed_read_options::{
                ExcludeReplicas, IncludeReplicas, ReplicaSelection, Replicas,
            };
            let replica_selections = vec![ReplicaSelection { location: text("here"), r#type: 2 }];
            DirectedReadOptions {
                replicas: Some(match n % 2 {
                    0 => Replicas::ExcludeReplicas(ExcludeReplicas { replica_selections }),
                    _ => Replicas::IncludeReplicas(IncludeReplicas {
                        replica_selections,
                        auto_failover_disabled: true,
                    }),
                }),
            }
        }

        pub(super) fn execute_sql(n: u8) -> ExecuteSqlRequest {
            ExecuteSqlRequest {
                session: text("session"),
                transaction: Some(selector(n)),
                sql: text("SELECT 1"),
                params: structure("params"),
                param_types: [(text("p"), type_(n)), (text("q"), scalar(n))].into(),
                resume_token: token("resume"),
                query_mode: 3,
                partition_token: token("partition"),
                seqno: 61,
                query_options: Some(execute_sql_request::QueryOptions {
                    optimizer_version: text("version"),
                    optimizer_statistics_package: text("package"),
                }),
                request_options: Some(request_options()),
                directed_read_options: Some(directed_read(n)),
                data_boost_enabled: n % 2 == 1,
                last_statement: n % 3 == 1,
                $($rest)*
            }
        }

        pub(super) fn batch_dml(n: u8) -> ExecuteBatchDmlRequest {
            ExecuteBatchDmlRequest {
                session: text("session"),
                transaction: Some(selector(n)),
                statements: vec![execute_batch_dml_request::Statement {
                    sql: text("UPDATE"),
                    params: structure("params"),
                    param_types: [(text("p"), type_(n))].into(),
                }],
                seqno: 62,
                request_options: Some(request_options()),
                last_statements: n % 2 == 1,
            }
        }

        pub(super) fn batch_dml_response(n: u8) -> ExecuteBatchDmlResponse {
            ExecuteBatchDmlResponse {
                result_sets: vec![result_set(n)],
                status: Some(status()),
                precommit_token: Some(precommit_token()),
            }
        }

        pub(super) fn read(n: u8) -> ReadRequest {
            ReadRequest {
                session: text("session"),
                transaction: Some(selector(n)),
                table: text("table"),
                index: text("index"),
                columns: vec![text("a"), text("b")],
                key_set: Some(key_set(n)),
                limit: 63,
                resume_token: token("resume"),
                partition_token: token("partition"),
                request_options: Some(request_options()),
                directed_read_options: Some(directed_read(n)),
                data_boost_enabled: n % 2 == 1,
                order_by: 2,
                lock_hint: 1,
                $($rest)*
            }
        }

        pub(super) fn begin(n: u8) -> BeginTransactionRequest {
            BeginTransactionRequest {
                session: text("session"),
                options: Some(options(n)),
                request_options: Some(request_options()),
                mutation_key: Some(mutation(n)),
                $($rest)*
            }
        }

        pub(super) fn commit(n: u8) -> CommitRequest {
            use commit_request::Transaction;
            CommitRequest {
                session: text("session"),
                mutations: vec![mutation(n), mutation(n + 1)],
                return_commit_stats: n % 2 == 1,
                max_commit_delay: duration(64),
                request_options: Some(request_options()),
                precommit_token: Some(precommit_token()),
                transaction: Some(match n % 3 {
                    0 => Transaction::TransactionId(token("transaction")),
                    _ => Transaction::SingleUseTransaction(options(n)),
                }),
                $($rest)*
            }
        }

        pub(super) fn commit_response() -> CommitResponse {
            use commit_response::{CommitStats, MultiplexedSessionRetry};
            CommitResponse {
                commit_timestamp: timestamp(65),
                commit_stats: Some(CommitStats { mutation_count: 66 }),
                snapshot_timestamp: timestamp(67),
                multiplexed_session_retry: Some(MultiplexedSessionRetry::PrecommitToken(
                    precommit_token(),
                )),
                $($rest)*
            }
        }

        pub(super) fn rollback() -> RollbackRequest {
            RollbackRequest { session: text("session"), transaction_id: token("transaction") }
        }

        pub(super) fn batch_write(n: u8) -> BatchWriteRequest {
            BatchWriteRequest {
                session: text("session"),
                request_options: Some(request_options()),
                mutation_groups: vec![
                    batch_write_request::MutationGroup { mutations: vec![mutation(n)] },
                    batch_write_request::MutationGroup { mutations: vec![] },
                ],
                exclude_txn_from_change_streams: n % 2 == 1,
            }
        }

        pub(super) fn batch_write_response() -> BatchWriteResponse {
            BatchWriteResponse {
                indexes: vec![0, 70, 1],
                status: Some(status()),
                commit_timestamp: timestamp(72),
            }
        }

        fn partition_options() -> PartitionOptions {
            PartitionOptions { partition_size_bytes: 68, max_partitions: 69 }
        }

        pub(super) fn partition_query(n: u8) -> PartitionQueryRequest {
            PartitionQueryRequest {
                session: text("session"),
                transaction: Some(selector(n)),
                sql: text("SELECT 2"),
                params: structure("params"),
                param_types: [(text("p"), type_(n))].into(),
                partition_options: Some(partition_options()),
            }
        }

        pub(super) fn partition_read(n: u8) -> PartitionReadRequest {
            PartitionReadRequest {
                session: text("session"),
                transaction: Some(selector(n)),
                table: text("table"),
                index: text("index"),
                columns: vec![text("a"), text("b")],
                key_set: Some(key_set(n)),
                partition_options: Some(partition_options()),
            }
        }

        pub(super) fn partitions() -> PartitionResponse {
            PartitionResponse {
                partitions: vec![Partition { partition_token: token("partition") }],
                transaction: Some(transaction()),
            }
        }

        pub(super) fn status() -> rpc::Status {
            let detail = prost_types::Any { type_url: text("url"), value: vec![1, 2, 3] };
            rpc::Status { code: 5, message: text("message"), details: vec![detail] }
        }

        pub(super) fn retry_info() -> rpc::RetryInfo {
            rpc::RetryInfo { retry_delay: duration(71) }
        }

        pub(super) fn resource_info() -> rpc::ResourceInfo {
            rpc::ResourceInfo {
                resource_type: text("type"),
                resource_name: text("name"),
                owner: text("owner"),
                description: text("description"),
            }
        }
    };
}

/// The values in both samples, in the form their messages hold them.
mod content {
    use prost_types::value::Kind;
    use prost_types::{ListValue, Struct, Value};

    pub(super) fn list(content: &str) -> ListValue {
        let mut values = values();
        values.push(Kind::StringValue(content.to_owned()).into());
        ListValue { values }
    }

    pub(super) fn structure(content: &str) -> Struct {
        Struct {
            fields: [(content.to_owned(), Value::from(list(content).values))].into(),
        }
    }

    pub(super) fn values() -> Vec<Value> {
        let inner = Struct {
            fields: [("k".to_owned(), Value::from("v"))].into(),
        };
        vec![
            Value::from(Kind::NullValue(0)),
            true.into(),
            1.25.into(),
            "text".into(),
            Value::from(vec![Value::from("element"), Value::from(-0.0)]),
            Value::from(Kind::StructValue(inner)),
        ]
    }
}

mod ours {
    use bytes::Bytes;
    use prost::Message;

    use super::content;
    use crate::proto::rpc;
    use crate::proto::spanner::*;

    samples! {}

    fn list(text: &str) -> Bytes {
        content::list(text).encode_to_vec().into()
    }

    fn no_list() -> Bytes {
        Bytes::new()
    }

    fn structure(text: &str) -> Bytes {
        content::structure(text).encode_to_vec().into()
    }

    fn values() -> Vec<Bytes> {
        let values = content::values().into_iter();
        values.map(|value| value.encode_to_vec().into()).collect()
    }
}

mod theirs {
    use bytes::Bytes;
    use googleapis_tonic_google_rpc::google::rpc;
    use googleapis_tonic_google_spanner_v1::google::spanner::v1::*;
    use prost_types::{ListValue, Struct};

    use super::content::{self, list, values};

    samples! { ..Default::default() }

    fn no_list() -> ListValue {
        ListValue::default()
    }

    fn structure(text: &str) -> Option<Struct> {
        Some(content::structure(text))
    }
}

macro_rules! check_each {
    ($n:expr; $($sample:ident),* $(,)?) => {
        $( check(&ours::$sample($n), &theirs::$sample($n)); )*
    };
    ($($sample:ident),* $(,)?) => {
        $( check(&ours::$sample(), &theirs::$sample()); )*
    };
}

#[test]
fn types_and_results() {
    check_each!(query_plan);
    for n in 0..VARIANTS {
        check_each!(n; field, struct_type, type_, metadata, stats, result_set, partial_result_set);
    }
}

#[test]
fn keys_and_mutations() {
    for n in 0..VARIANTS {
        check_each!(n; key_range, key_set, mutation);
    }
}

#[test]
fn sessions_and_transactions() {
    check_each!(
        get_session,
        precommit_token,
        transaction,
        commit_response,
        rollback,
        batch_write_response
    );
    for n in 0..VARIANTS {
        check_each!(n; create_session, session, options, read_only, selector, begin, commit, batch_write);
    }
}

#[test]
fn statements_reads_and_partitions() {
    check_each!(partitions);
    for n in 0..VARIANTS {
        check_each!(
            n; directed_read, execute_sql, batch_dml, batch_dml_response, read, partition_query,
            partition_read,
        );
    }
}

#[test]
fn failures() {
    check_each!(status, retry_info, resource_info);
}

#[test]
fn enums() {
    use googleapis_tonic_google_spanner_v1::google::spanner::v1 as theirs;

    use crate::proto::spanner as ours;

    macro_rules! check_enums {
        ($($($path:ident)::+),* $(,)?) => { $(
            for number in -1..100 {
                let ours = ours::$($path)::+::try_from(number).map(|code| code.as_str_name());
                let theirs = theirs::$($path)::+::try_from(number).map(|code| code.as_str_name());
                assert_eq!(ours.ok(), theirs.ok(), "{} {number}", stringify!($($path)::+));
            }
        )* };
    }

    check_enums!(
        TypeCode,
        TypeAnnotationCode,
        transaction_options::IsolationLevel,
        transaction_options::read_write::ReadLockMode,
        plan_node::Kind,
        request_options::Priority,
        directed_read_options::replica_selection::Type,
        execute_sql_request::QueryMode,
        read_request::OrderBy,
        read_request::LockHint,
    );
}

/// Paths of the methods are compared as text: they are strings in generated code.
#[test]
fn methods() {
    let methods = |code: &'static str| -> Vec<&str> {
        let mut methods: Vec<_> = code
            .split('"')
            .filter(|text| text.starts_with("/google.spanner.v1.Spanner/"))
            .collect();
        methods.sort_unstable();
        methods.dedup();
        methods
    };
    let client = methods(include_str!("spanner.rs"));
    assert_eq!(client, methods(include_str!("spanner_server.rs")));
    let names: Vec<_> = client
        .iter()
        .filter_map(|path| path.rsplit('/').next())
        .collect();
    assert_eq!(
        names,
        [
            "BatchWrite",
            "BeginTransaction",
            "Commit",
            "CreateSession",
            "ExecuteBatchDml",
            "ExecuteSql",
            "ExecuteStreamingSql",
            "GetSession",
            "PartitionQuery",
            "PartitionRead",
            "Rollback",
            "StreamingRead",
        ]
    );
}

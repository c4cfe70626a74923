//! Query modes: rows, plans and figures, at the end of the stream; and what the server
//! is asked for.

use spanner_rows::testing::{Answer, FakeSpanner, Message, Rows, Step};
use spanner_rows::{
    Client, DirectedReads, LockHint, OrderBy, OwnedValue, PlanLink, PlanNode, PlanNodeKind,
    PlanValue, Priority, QueryMode, QueryPlan, ReplicaType, Replicas, Row, RowCount, TypeCode,
};

const SQL: &str = "SELECT n FROM Numbers WHERE n > @from";

async fn server() -> (FakeSpanner, Client) {
    let fake = FakeSpanner::start().await;
    let client = Client::builder(fake.database()).endpoint(fake.endpoint());
    let client = client.connect().await.expect("every client is taken");
    (fake, client)
}

fn plan() -> QueryPlan {
    let mut root = PlanNode::new(0, PlanNodeKind::Relational, "Distributed Union");
    root.children = vec![PlanLink::new(1), PlanLink::new(2)];
    let mut scan = PlanNode::new(1, PlanNodeKind::Relational, "Table Scan");
    let text = |text: &str| PlanValue::String(text.to_owned());
    scan.metadata = vec![("scan_target".to_owned(), text("Numbers"))];
    let rows = vec![("total".to_owned(), text("3"))];
    scan.execution_stats = vec![("rows".to_owned(), PlanValue::Object(rows))];
    let constant = PlanNode::new(2, PlanNodeKind::Scalar, "Constant");
    let mut plan = QueryPlan::default();
    plan.nodes = vec![root, scan, constant];
    plan
}

fn numbers() -> Rows {
    Rows::new(["n"], [(1_i64,), (2,), (3,)])
        .query_plan(&plan())
        .query_stats([("rows_returned", "3")])
}

#[tokio::test]
async fn a_profile_comes_at_the_end_of_the_rows() {
    let (fake, client) = server().await;
    fake.on_query(SQL, numbers().message_size(1));
    let query = client.query(SQL).mode(QueryMode::Profile);
    let mut rows = query.rows::<(i64,)>().await.unwrap();
    for n in 1..=3 {
        assert!(rows.stats().is_none());
        assert_eq!(rows.next().await.unwrap(), Some((n,)));
    }
    assert_eq!(rows.next().await.unwrap(), None);
    let stats = rows.stats().expect("the result has ended");
    let returned = OwnedValue::String("3".to_owned());
    assert_eq!(stats.query_stat("rows_returned"), Some(&returned));
    assert_eq!(stats.row_count(), None);
    let found = stats.query_plan().unwrap().unwrap();
    assert_eq!(found, plan());
    assert_eq!(found.to_string(), "Distributed Union\n  Table Scan");
    let scan = &found.nodes[1];
    let total = scan.execution_stat("rows").unwrap().get("total");
    assert_eq!(total.and_then(PlanValue::as_str), Some("3"));
    assert_eq!(fake.requests()[1].query_mode(), QueryMode::Profile);
}

/// Some servers send the figures with the first message: they are final at the end only.
#[tokio::test]
async fn figures_that_come_first_are_told_last() {
    let (fake, client) = server().await;
    let first = Message::new()
        .columns([("n", TypeCode::Int64)])
        .value(1_i64)
        .query_plan(&plan())
        .query_stats([("rows_returned", "2")])
        .resume_token("one");
    let second = Message::new().value(2_i64);
    fake.on_query(
        SQL,
        Answer::script([Step::Message(first), Step::Message(second)]),
    );
    let mut rows = client.query(SQL).rows::<(i64,)>().await.unwrap();
    assert_eq!(rows.next().await.unwrap(), Some((1,)));
    assert!(rows.stats().is_none());
    assert_eq!(rows.next().await.unwrap(), Some((2,)));
    assert_eq!(rows.next().await.unwrap(), None);
    let stats = rows.stats().unwrap();
    assert_eq!(stats.query_plan().unwrap(), Some(plan()));
}

#[tokio::test]
async fn a_plan_alone_has_no_rows() {
    let (fake, client) = server().await;
    fake.on_query(SQL, numbers());
    let query = client.query(SQL).mode(QueryMode::Plan);
    let mut rows = query.rows::<Row>().await.unwrap();
    assert!(rows.next().await.unwrap().is_none());
    assert_eq!(rows.row_type().position("n"), Some(0));
    let found = rows.stats().unwrap().query_plan().unwrap();
    assert_eq!(found, Some(plan()));

    let message = Message::new()
        .columns([("n", TypeCode::Int64)])
        .undeclared_parameters([("from", TypeCode::Int64)])
        .query_plan(&plan());
    fake.on_query(SQL, message);
    let query = client.query(SQL).mode(QueryMode::Plan);
    let mut rows = query.rows::<Row>().await.unwrap();
    assert!(rows.next().await.unwrap().is_none());
    let parameters = rows.metadata().unwrap().undeclared_parameters();
    assert_eq!(parameters.fields()[0].name(), "from");
}

#[tokio::test]
async fn without_a_plan_there_is_none() {
    let (fake, client) = server().await;
    fake.on_query(SQL, Rows::changed(7));
    let mut rows = client.query(SQL).rows::<Row>().await.unwrap();
    assert!(rows.next().await.unwrap().is_none());
    let stats = rows.stats().unwrap();
    assert_eq!(stats.query_plan().unwrap(), None);
    assert_eq!(stats.row_count(), Some(RowCount::Exact(7)));
}

/// What a test of a program can ask about its requests.
#[tokio::test]
async fn options_as_the_server_sees_them() {
    let (fake, client) = server().await;
    fake.on_query(SQL, numbers());
    fake.on_read("Numbers", numbers());
    let replicas = DirectedReads::include([
        Replicas::at("us-east1"),
        Replicas::any().of_type(ReplicaType::ReadOnly),
    ]);
    let query = client.query(SQL).priority(Priority::Low).request_tag("tag");
    let query = query
        .directed_reads(replicas.clone().without_failover())
        .optimizer_version("4")
        .optimizer_statistics_package("p");
    query.rows::<(i64,)>().await.unwrap();
    let read = client.read::<(i64,)>("Numbers").columns(["n"]).all();
    let read = read
        .priority(Priority::High)
        .order_by(OrderBy::NoOrder)
        .lock_hint(LockHint::Shared)
        .directed_reads(DirectedReads::exclude([Replicas::at("x")]))
        .data_boost(true);
    read.rows().await.unwrap();

    let requests = fake.requests();
    let [_, query, read] = &*requests else {
        panic!("{requests:?}")
    };
    assert_eq!(query.priority(), Some(Priority::Low));
    assert_eq!(query.request_tag(), "tag");
    assert_eq!(query.directed_reads(), Some(replicas.without_failover()));
    assert_eq!(query.optimizer_version(), "4");
    assert_eq!(query.optimizer_statistics_package(), "p");
    assert_eq!(query.query_mode(), QueryMode::Normal);
    assert!(!query.data_boost());
    assert_eq!((query.order_by(), query.lock_hint()), (None, None));
    assert_eq!(read.priority(), Some(Priority::High));
    assert_eq!(read.request_tag(), "");
    assert_eq!(read.order_by(), Some(OrderBy::NoOrder));
    assert_eq!(read.lock_hint(), Some(LockHint::Shared));
    let excluded = DirectedReads::exclude([Replicas::at("x")]);
    assert_eq!(read.directed_reads(), Some(excluded));
    assert!(read.data_boost());
}

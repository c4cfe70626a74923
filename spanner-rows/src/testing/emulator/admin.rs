//! Makes the instance and databases.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use tonic::transport::Channel;

use super::Dialect;
use super::error::EmulatorError;
use crate::Code;
use crate::proto::admin_database::database_admin_client::DatabaseAdminClient;
use crate::proto::admin_database::{
    CreateDatabaseRequest, DatabaseDialect, UpdateDatabaseDdlRequest,
};
use crate::proto::admin_instance::instance_admin_client::InstanceAdminClient;
use crate::proto::admin_instance::{CreateInstanceRequest, Instance};
use crate::proto::longrunning::operations_client::OperationsClient;
use crate::proto::longrunning::{GetOperationRequest, Operation, operation};

/// The emulator takes any project; instance and databases are ours.
const PROJECT: &str = "projects/spanner-rows";
const INSTANCE_ID: &str = "testing";
const INSTANCE: &str = "projects/spanner-rows/instances/testing";

/// How often to ask whether an operation is done.
const ASK_EVERY: Duration = Duration::from_millis(10);

/// Makes the instance, unless it is there.
pub(super) async fn create_instance(channel: &Channel) -> Result<(), EmulatorError> {
    let request = CreateInstanceRequest {
        parent: PROJECT.to_owned(),
        instance_id: INSTANCE_ID.to_owned(),
        instance: Some(Instance {
            name: INSTANCE.to_owned(),
            config: format!("{PROJECT}/instanceConfigs/emulator-config"),
            display_name: "spanner-rows testing".to_owned(),
            node_count: 1,
        }),
    };
    let mut client = InstanceAdminClient::new(channel.clone());
    let created = match client.create_instance(request).await {
        Ok(operation) => done(channel, operation.into_inner()).await,
        Err(status) => Err(status.into()),
    };
    match created {
        Err(error) if error.has_code(Code::AlreadyExists) => Ok(()),
        result => result,
    }
}

/// What a database is to begin with.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    pub(super) dialect: Dialect,
    pub(super) ddl: Vec<String>,
    pub(super) proto_descriptors: Bytes,
}

/// Makes a database and answers its name.
pub(super) async fn create_database(
    channel: &Channel,
    wanted: Wanted,
) -> Result<String, EmulatorError> {
    let id = database_id();
    let name = format!("{INSTANCE}/databases/{id}");
    let mut request = CreateDatabaseRequest {
        parent: INSTANCE.to_owned(),
        ..CreateDatabaseRequest::default()
    };
    let mut later = None;
    match wanted.dialect {
        Dialect::GoogleSql => {
            request.create_statement = format!("CREATE DATABASE `{id}`");
            request.set_database_dialect(DatabaseDialect::GoogleStandardSql);
            request.extra_statements = wanted.ddl;
            request.proto_descriptors = wanted.proto_descriptors.clone();
        }
        Dialect::PostgreSql => {
            request.create_statement = format!("CREATE DATABASE \"{id}\"");
            request.set_database_dialect(DatabaseDialect::Postgresql);
            // Refused together with the creation, and so is a change of nothing.
            later = Some(wanted.ddl).filter(|ddl| !ddl.is_empty());
        }
    }
    let mut client = DatabaseAdminClient::new(channel.clone());
    let operation = client.create_database(request).await?;
    done(channel, operation.into_inner()).await?;
    if let Some(ddl) = later {
        update_ddl(channel, &name, ddl, wanted.proto_descriptors).await?;
    }
    Ok(name)
}

/// Runs DDL on a database.
pub(super) async fn update_ddl(
    channel: &Channel,
    database: &str,
    ddl: Vec<String>,
    proto_descriptors: Bytes,
) -> Result<(), EmulatorError> {
    let request = UpdateDatabaseDdlRequest {
        database: database.to_owned(),
        statements: ddl,
        proto_descriptors,
    };
    let mut client = DatabaseAdminClient::new(channel.clone());
    let operation = client.update_database_ddl(request).await?;
    done(channel, operation.into_inner()).await
}

/// Waits for the end of an operation.
async fn done(channel: &Channel, mut operation: Operation) -> Result<(), EmulatorError> {
    let mut client = OperationsClient::new(channel.clone());
    while !operation.done {
        tokio::time::sleep(ASK_EVERY).await;
        let request = GetOperationRequest {
            name: operation.name,
        };
        operation = client.get_operation(request).await?.into_inner();
    }
    match operation.result {
        Some(operation::Result::Error(status)) => {
            Err(EmulatorError::refused(status.code, &status.message))
        }
        Some(operation::Result::Response(_)) | None => Ok(()),
    }
}

/// A name that no other test and no other process has: an emulator that runs on
/// may be used by several, one after another or at once.
fn database_id() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since_epoch.map_or(0, |time| time.as_millis() as u64);
    // At most 30 characters.
    format!("t{millis:x}_{:x}_{count:x}", std::process::id())
}

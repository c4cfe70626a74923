//! The emulator's process, shared by all who use it.

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tonic::transport::Endpoint;

use super::error::EmulatorError;
use super::find;
use crate::proto::longrunning::GetOperationRequest;
use crate::proto::longrunning::operations_client::OperationsClient;

/// How long it may take until the emulator answers.
const START_LIMIT: Duration = Duration::from_secs(30);
/// How often to ask.
const ASK_EVERY: Duration = Duration::from_millis(20);
/// Another program may take the port before the emulator does.
const ATTEMPTS: usize = 3;

/// A running emulator.
#[derive(Debug)]
pub(super) struct Server {
    host: String,
    /// Only if it was started here.
    child: Option<Mutex<Child>>,
}

/// What runs, as long as somebody uses it.
static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());

/// Answers the emulator that runs or is named by the environment, or starts one.
pub(super) async fn start_or_share() -> Result<Arc<Server>, EmulatorError> {
    let mut result = Err(EmulatorError::failed("it did not start"));
    for _ in 0..ATTEMPTS {
        let server = running()?;
        result = match server.answers().await {
            Ok(()) => return Ok(server),
            Err(error) if server.has_exited() => {
                forget(&server);
                Err(error)
            }
            Err(error) => return Err(error),
        };
    }
    result
}

fn running() -> Result<Arc<Server>, EmulatorError> {
    // Held while the process is spawned, so that two tests do not start two.
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(server) = shared.upgrade() {
        return Ok(server);
    }
    let server = Arc::new(Server::new()?);
    *shared = Arc::downgrade(&server);
    Ok(server)
}

/// Lets the next one start a new process.
fn forget(server: &Arc<Server>) {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if shared.as_ptr() == Arc::as_ptr(server) {
        *shared = Weak::new();
    }
}

impl Server {
    fn new() -> Result<Self, EmulatorError> {
        if let Ok(host) = std::env::var("SPANNER_EMULATOR_HOST")
            && !host.is_empty()
        {
            return Ok(Self {
                host: without_scheme(&host).to_owned(),
                child: None,
            });
        }
        let program = find::program().ok_or_else(EmulatorError::absent)?;
        let port = free_port()
            .map_err(|error| EmulatorError::failed(format!("no port is free: {error}")))?;
        let host = format!("localhost:{port}");
        let child = Command::new(&program)
            .args(["--host_port", &host])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| {
                let program = program.display();
                EmulatorError::failed(format!("{program} cannot be run: {error}"))
            })?;
        Ok(Self {
            host,
            child: Some(Mutex::new(child)),
        })
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn endpoint(&self) -> String {
        format!("http://{}", self.host)
    }

    /// Waits until it answers a call.
    async fn answers(&self) -> Result<(), EmulatorError> {
        let endpoint = self.endpoint();
        let endpoint = Endpoint::from_shared(endpoint.clone())
            .map_err(|error| EmulatorError::failed(format!("{endpoint}: {error}")))?
            .connect_timeout(START_LIMIT);
        let start = Instant::now();
        loop {
            // Any answer will do; an emulator knows nothing of this operation.
            let name = String::from("projects/p/instances/i/operations/o");
            if let Ok(channel) = endpoint.connect().await {
                let request = GetOperationRequest { name };
                match OperationsClient::new(channel).get_operation(request).await {
                    Err(status) if status.code() == tonic::Code::Unavailable => {}
                    _ => return Ok(()),
                }
            }
            if self.has_exited() {
                return Err(EmulatorError::failed("its process ended at once"));
            }
            if start.elapsed() > START_LIMIT {
                let seconds = START_LIMIT.as_secs();
                return Err(EmulatorError::failed(format!(
                    "it did not answer at {} within {seconds} seconds",
                    self.host
                )));
            }
            tokio::time::sleep(ASK_EVERY).await;
        }
    }

    fn has_exited(&self) -> bool {
        let Some(child) = &self.child else {
            return false;
        };
        let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
        !matches!(child.try_wait(), Ok(None))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let child = child.get_mut().unwrap_or_else(PoisonError::into_inner);
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn free_port() -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

/// The variable is meant to hold `host:port`; some write more.
fn without_scheme(host: &str) -> &str {
    let schemes = ["http://", "https://", "passthrough:///"];
    let rest = schemes.iter().find_map(|scheme| host.strip_prefix(scheme));
    rest.unwrap_or(host).trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_process_started_here_ends_with_its_last_user() {
        let server = match Server::new() {
            Ok(server) if server.child.is_some() => server,
            // Whether that is right is checked where the emulator is used.
            _ => return,
        };
        server.answers().await.unwrap();
        let host = server.host().to_owned();
        tokio::net::TcpStream::connect(&host).await.unwrap();

        drop(server);
        assert!(tokio::net::TcpStream::connect(&host).await.is_err());
    }

    #[tokio::test]
    async fn a_process_that_ends_is_noticed() {
        let Ok(mut server) = Server::new() else {
            return;
        };
        let Some(child) = &mut server.child else {
            return;
        };
        child.get_mut().unwrap().kill().unwrap();
        child.get_mut().unwrap().wait().unwrap();
        let start = Instant::now();
        let error = server.answers().await.unwrap_err();
        assert!(error.to_string().contains("ended at once"), "{error}");
        assert!(!error.is_absent());
        assert!(start.elapsed() < START_LIMIT / 2);
    }

    #[test]
    fn hosts_may_come_with_a_scheme() {
        for host in [
            "localhost:9010",
            "http://localhost:9010/",
            "passthrough:///localhost:9010",
        ] {
            assert_eq!(without_scheme(host), "localhost:9010");
        }
    }
}

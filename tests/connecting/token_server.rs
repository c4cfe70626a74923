//! A server that gives access tokens over HTTP, as the one of OAuth 2.0 does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

pub(super) struct TokenServer {
    pub(super) uri: String,
    asked: Arc<AtomicUsize>,
}

impl TokenServer {
    /// Answers each request with this status; a good one gives the token
    /// `from-the-server`, good for an hour.
    pub(super) async fn start(status: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("http://{}/token", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(async move {
                    let mut request = vec![0; 16 << 10];
                    let _ = socket.read(&mut request).await;
                    let body = r#"{"access_token":"from-the-server","expires_in":3600,"token_type":"Bearer"}"#;
                    let answer = format!(
                        "HTTP/1.1 {status} So\r\ncontent-type: application/json\r\n\
                         content-length: {}\r\nconnection: close\r\n\r\n{body}",
                        body.len(),
                    );
                    let _ = socket.write_all(answer.as_bytes()).await;
                    let _ = socket.shutdown().await;
                });
            }
        });
        Self { uri, asked }
    }

    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// The file that `gcloud auth application-default login` writes, but for this server.
    pub(super) fn user(&self) -> serde_json::Value {
        serde_json::json!({
            "type": "authorized_user",
            "client_id": "test",
            "client_secret": "not-to-be-seen",
            "refresh_token": "nor-this-one",
            "quota_project_id": "payer",
            "token_uri": self.uri,
        })
    }
}

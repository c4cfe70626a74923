//! Certificates, and a server that speaks TLS before one that does not.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use spanner_rows::testing::FakeSpanner;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

/// One who signs certificates.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its own certificate.
    pub(super) pem: String,
}

/// A certificate and its key, in PEM form.
pub(super) struct Identity {
    pub(super) chain: String,
    pub(super) key: String,
}

impl Authority {
    /// One with a name of its own.
    pub(super) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(1);
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        Self::of_name(&format!("authority {number}"))
    }

    pub(super) fn of_name(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        Self { issuer, pem }
    }

    pub(super) fn server(&self, name: &str) -> Identity {
        self.sign(name, ExtendedKeyUsagePurpose::ServerAuth, |_| {})
    }

    pub(super) fn expired_server(&self, name: &str) -> Identity {
        self.sign(name, ExtendedKeyUsagePurpose::ServerAuth, |params| {
            params.not_before = rcgen::date_time_ymd(2019, 1, 1);
            params.not_after = rcgen::date_time_ymd(2020, 1, 1);
        })
    }

    pub(super) fn client(&self) -> Identity {
        self.sign("client", ExtendedKeyUsagePurpose::ClientAuth, |_| {})
    }

    fn sign(
        &self,
        name: &str,
        usage: ExtendedKeyUsagePurpose,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Identity {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.extended_key_usages = vec![usage];
        change(&mut params);
        Identity {
            chain: params.signed_by(&key, &self.issuer).unwrap().pem(),
            key: key.serialize_pem(),
        }
    }
}

/// How the server speaks TLS.
pub(super) struct Manner<'a> {
    pub(super) identity: Identity,
    /// Who may vouch for clients; when nobody, they are not asked.
    pub(super) clients: Option<&'a Authority>,
    pub(super) alpn: &'a [&'a str],
}

impl Manner<'_> {
    pub(super) const fn usual(identity: Identity) -> Self {
        Self {
            identity,
            clients: None,
            alpn: &["h2"],
        }
    }
}

/// A server that speaks TLS and hands all that comes to another one.
pub(super) struct Front {
    port: u16,
    connections: Arc<AtomicUsize>,
    /// The first bytes of the last connection, in clear.
    preface: Arc<Mutex<Vec<u8>>>,
}

impl Front {
    pub(super) async fn start(fake: &FakeSpanner, manner: Manner<'_>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let front = Self {
            port: listener.local_addr().unwrap().port(),
            connections: Arc::default(),
            preface: Arc::default(),
        };
        let acceptor = TlsAcceptor::from(Arc::new(config(manner)));
        let (connections, preface) = (front.connections.clone(), front.preface.clone());
        let server = fake.address();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                connections.fetch_add(1, Ordering::SeqCst);
                let (acceptor, preface) = (acceptor.clone(), preface.clone());
                tokio::spawn(async move {
                    let mut client = match acceptor.accept(socket).into_fallible().await {
                        Ok(client) => client,
                        Err((_, socket)) => return linger(socket).await,
                    };
                    let mut server = TcpStream::connect(server).await.unwrap();
                    let mut first = vec![0; 1024];
                    let len = client.read(&mut first).await.unwrap_or(0);
                    preface.lock().unwrap().splice(.., first[..len].to_vec());
                    let _ = server.write_all(&first[..len]).await;
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                });
            }
        });
        front
    }

    pub(super) fn endpoint(&self) -> String {
        format!("https://localhost:{}", self.port)
    }

    /// The same server by its number, which no certificate here is for.
    pub(super) fn endpoint_by_number(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(super) fn preface(&self) -> Vec<u8> {
        self.preface.lock().unwrap().clone()
    }
}

/// Why it was refused reaches the client only if the connection is not reset
/// first, which it is when what the client sends is not read.
async fn linger(mut socket: TcpStream) {
    let mut block = [0; 1024];
    let drain = async { while let Ok(1..) = socket.read(&mut block).await {} };
    let _ = tokio::time::timeout(Duration::from_secs(5), drain).await;
}

fn config(manner: Manner<'_>) -> ServerConfig {
    let provider = Arc::new(default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match manner.clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(certificate(&authority.pem)).unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.unwrap())
        }
    };
    let key = PrivateKeyDer::from_pem_slice(manner.identity.key.as_bytes()).unwrap();
    let chain = vec![certificate(&manner.identity.chain)];
    let mut config = builder.with_single_cert(chain, key).unwrap();
    let protocols = manner.alpn.iter();
    config.alpn_protocols = protocols.map(|name| name.as_bytes().to_vec()).collect();
    config
}

fn certificate(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

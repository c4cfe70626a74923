//! A fake Spanner on a thread of its own, whose memory is counted apart.

use std::sync::Arc;

use spanner_rows::testing::FakeSpanner;

use super::heap::this_thread_is_the_server;

pub(crate) struct ServerThread {
    pub(crate) fake: Arc<FakeSpanner>,
    _stop: tokio::sync::oneshot::Sender<()>,
}

impl ServerThread {
    /// Starts the server; `prepare` gives it its answers, on its thread.
    pub(crate) fn start(prepare: impl FnOnce(&Arc<FakeSpanner>) + Send + 'static) -> Self {
        let (started, fake) = std::sync::mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        std::thread::spawn(move || {
            this_thread_is_the_server();
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async move {
                let fake = Arc::new(FakeSpanner::start().await);
                prepare(&fake);
                started
                    .send(Arc::clone(&fake))
                    .expect("the test waits for it");
                let _ = stopped.await;
            });
        });
        Self {
            fake: fake.recv().expect("a fake Spanner"),
            _stop: stop,
        }
    }
}

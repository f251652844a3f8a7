//! The server: its routes, how it listens, and how it ends.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use axum::{Extension, Router};
use axum_server::Handle;
use axum_server::accept::NoDelayAcceptor;
use memory::Memory;
use memory::store::time::Stopwatch;
use metrics_exporter_prometheus::PrometheusHandle;
use socket2::SockRef;
use tokio::task::JoinHandle;

use crate::access::Tokens;
use crate::app::App;
use crate::config::Config;
use crate::figures;
use crate::gate;
use crate::method;
use crate::observe::observe;
use crate::problem::Problem;
use crate::routes::{health, page};
use crate::table;
#[cfg(feature = "tls")]
use crate::tls::Certificate;

/// How long work that was cut off is waited for.
const MOMENT: Duration = Duration::from_millis(300);

/// How many connections may wait to be taken, if the system allows as many. With [`TcpListener::bind`] it is 128: where more come at
/// once, the rest try again a second later.
const WAITING: i32 = 1_024;

/// How often the file of tokens is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// A memory behind HTTP and MCP.
///
/// ```
/// use memory::Timestamp;
/// use memory_server::{Config, Grant, Rights, Server, Token, Tokens};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let memory = memory::open("memory:").await?.build().await?;
/// let token = Token::fresh()?;
/// let tokens = Tokens::default().with(Grant::new(&token, "acme", "ada", Rights::all(), memory.now())?);
/// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
/// let stop = async {}; // or a signal
/// Server::new(memory, tokens, Config::default()).serve(listener, stop).await?;
/// # Ok(())
/// # }
/// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Server {
    app: Arc<App>,
    figures: Option<Arc<TcpListener>>,
    #[cfg(feature = "tls")]
    certificate: Option<Certificate>,
}

impl Server {
    /// Puts `memory` behind `tokens`.
    pub fn new(memory: Memory, tokens: Tokens, config: Config) -> Self {
        Self {
            app: Arc::new(App::new(memory, tokens, config)),
            figures: None,
            #[cfg(feature = "tls")]
            certificate: None,
        }
    }

    /// Encrypts what is sent, but for figures. Without it, and beyond this machine, a proxy has to do that.
    ///
    /// ```
    /// # async fn example(server: memory_server::Server) -> std::io::Result<memory_server::Server> {
    /// use memory_server::Certificate;
    ///
    /// let certificate = Certificate::read("/etc/memory/fullchain.pem", "/etc/memory/privkey.pem").await?;
    /// # Ok(
    /// server.with_certificate(certificate)
    /// # )
    /// # }
    /// ```
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn with_certificate(mut self, certificate: Certificate) -> Self {
        self.certificate = Some(certificate);
        self
    }

    /// Tells figures, in the text form of Prometheus, at `/metrics` of a listener of their own. They need no token, and name no
    /// owner.
    #[must_use]
    pub fn with_metrics(mut self, listener: TcpListener) -> Self {
        self.figures = Some(Arc::new(listener));
        self
    }

    /// Returns the routes, for a program that serves them itself. Then upkeep, closing and a new look at the file of tokens are
    /// that program's too.
    pub fn router(&self) -> Router {
        let (operations, document) = table::operations(&self.app);
        let open = Router::new().route("/health", get(health::health)).route("/ready", get(health::ready));
        open.merge(page::files())
            .merge(operations)
            .fallback(|| async { Problem::absent("page") })
            .method_not_allowed_fallback(method::refuse)
            .layer(Extension(Arc::new(document)))
            .layer(from_fn_with_state(Arc::clone(&self.app), gate::address))
            .layer(from_fn(observe))
            .with_state(Arc::clone(&self.app))
    }

    /// Serves until `stop` comes to its end or the listener fails, then lets requests under way end within [`Config::drain`], and closes the memory:
    /// a file of SQLite is one file again.
    ///
    /// # Errors
    /// [`Agents::check`](crate::Agents::check) refuses what agents are offered, the listener cannot be used, or the memory cannot be
    /// closed.
    pub async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()> + Send) -> io::Result<()> {
        self.app.config.agents.check().map_err(io::Error::other)?;
        let app = Arc::clone(&self.app);
        let handle = Handle::new();
        let metrics = match &self.figures {
            Some(own) => Some(self.listen_in_clear(own.try_clone()?, figures::router(&app), &handle)?),
            None => None,
        };
        figures::keeper();
        let mut serving = self.listen(listener, self.router(), &handle)?;
        let upkeep = app.memory.upkeep();
        let looking = tokio::spawn(look(app.tokens.clone()));
        #[cfg(feature = "tls")]
        let renewing = self.certificate.clone().map(|certificate| tokio::spawn(certificate.renew()));
        let failed = tokio::select! {
            biased;
            () = stop => None,
            served = &mut serving => Some(served),
        };
        let (watch, drain) = (Stopwatch::start(), app.config.drain);
        app.drain();
        handle.graceful_shutdown(Some(drain));
        let served = match failed {
            Some(served) => served,
            None => serving.await,
        };
        // What is done for clients that went away has the rest of the time, and a moment to see that they did.
        app.idle(drain.saturating_sub(watch.elapsed()).max(MOMENT)).await;
        looking.abort();
        #[cfg(feature = "tls")]
        renewing.iter().for_each(JoinHandle::abort);
        metrics.iter().for_each(JoinHandle::abort);
        upkeep.stop().await;
        app.memory.close().await.map_err(io::Error::other)?;
        served.map_err(io::Error::other)?
    }

    /// Serves `router` as a task, until the handle says otherwise.
    fn listen(
        &self,
        listener: TcpListener,
        router: Router,
        handle: &Handle<SocketAddr>,
    ) -> io::Result<JoinHandle<io::Result<()>>> {
        SockRef::from(&listener).listen(WAITING)?;
        #[cfg(feature = "tls")]
        if let Some(certificate) = &self.certificate {
            let patience = self.app.config.header_timeout;
            let server = axum_server::from_tcp(listener)?.handle(handle.clone());
            let server = of_one_version(server.acceptor(certificate.acceptor(patience)), patience);
            return Ok(tokio::spawn(server.serve(router.into_make_service())));
        }
        self.listen_in_clear(listener, router, handle)
    }

    fn listen_in_clear(
        &self,
        listener: TcpListener,
        router: Router,
        handle: &Handle<SocketAddr>,
    ) -> io::Result<JoinHandle<io::Result<()>>> {
        // The end of an answer is sent at once, also before its beginning is acknowledged.
        let server = axum_server::from_tcp(listener)?.handle(handle.clone()).acceptor(NoDelayAcceptor::new());
        let server = of_one_version(server, self.app.config.header_timeout);
        Ok(tokio::spawn(server.serve(router.into_make_service())))
    }
}

/// Lets a server speak HTTP/1 only, and gives each client so long for the headers of a request. A server that speaks two versions
/// waits without a bound for the bytes that tell which.
fn of_one_version<A>(
    server: axum_server::Server<SocketAddr, A>,
    patience: Duration,
) -> axum_server::Server<SocketAddr, A> {
    let mut server = server.http1_only();
    server.http_builder().http1().header_read_timeout(patience);
    server
}

/// Looks at the file of tokens again and again, so that a change counts without a new start, and sums up figures.
async fn look(tokens: Tokens) {
    loop {
        tokio::time::sleep(LOOK).await;
        tokens.refresh();
        figures::keeper().into_iter().for_each(PrometheusHandle::run_upkeep);
    }
}

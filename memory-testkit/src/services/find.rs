//! Finds a server: the one that the environment names, or else a container.

use std::future::Future;

use memory_core::Result;

use super::answer::Answer;
use super::container::{Container, ContainerOrder};
use super::missing::Missing;
use super::own::OwnServer;
use super::ready::{self, Probe};
use super::server::Server;
use super::service::Service;
use crate::environment::Wishes;

impl Service {
    /// Returns a server that answers: the one of `MEMORY_TEST_X_URL`, else a container of `MEMORY_TEST_X_IMAGE` or of the
    /// official image. It is removed when the value is dropped, unless `MEMORY_TEST_REUSE` is 1.
    ///
    /// For benches and tests outside of a suite. `probe` connects to a URL and returns the server's version.
    ///
    /// # Errors
    /// `Absent` if there is none, `Broken` if it does not answer.
    pub async fn find<F, R, A>(self, probe: F) -> std::result::Result<Server, Missing>
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<A>> + Send + 'static,
        A: Into<Answer>,
    {
        self.look_up(&ready::probe(probe), &Wishes::about(self.name)).await
    }

    /// Returns a server of the caller's own, to be configured and started: always a container.
    ///
    /// # Errors
    /// `Absent` if there is no engine or no image.
    pub async fn own<F, R, A>(self, probe: F) -> std::result::Result<OwnServer, Missing>
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<A>> + Send + 'static,
        A: Into<Answer>,
    {
        let wishes = Wishes::about(self.name);
        let image = self.image(&wishes).await?;
        Ok(OwnServer::new(self, image, ready::probe(probe), wishes))
    }

    /// Returns the image to start, which the engine has.
    pub(super) async fn image(&self, wishes: &Wishes) -> std::result::Result<String, Missing> {
        let image = wishes.image.clone().unwrap_or_else(|| self.official.to_owned());
        Container::ensure_image(&image).await.map_err(Missing::Absent)?;
        Ok(image)
    }

    pub(super) async fn look_up(&self, probe: &Probe, wishes: &Wishes) -> std::result::Result<Server, Missing> {
        if let Some(url) = &wishes.url {
            if wishes.containers_only {
                return Err(Missing::Broken(format!("CI accepts containers only, unset the URL of {}", self.name)));
            }
            let answer = ready::wait(url, probe, None).await.map_err(Missing::Broken)?;
            return Ok(Server::running(url.clone(), answer, probe.clone()));
        }
        let image = self.image(wishes).await?;
        let order = ContainerOrder {
            tmpfs: self.data.iter().map(|&(path, options)| (path.to_owned(), options.to_owned())).collect(),
            reuse: wishes.reuse.then(|| self.name_of_reused(&image)),
            ..self.order(image, wishes, &[])
        };
        Server::start(self, order, probe.clone()).await.map_err(Missing::Broken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_url_is_no_container_and_ci_refuses_it() {
        let wishes = Wishes { url: Some("redis://127.0.0.1:1".to_owned()), containers_only: true, ..Wishes::default() };
        let probe = ready::probe(|_| async { Ok("1".to_owned()) });
        let found = Service::redis().look_up(&probe, &wishes).await;
        assert!(matches!(found, Err(Missing::Broken(why)) if why.contains("containers only")));
        let found = Service::redis().look_up(&probe, &Wishes { containers_only: false, ..wishes }).await.unwrap();
        assert_eq!((found.url(), found.answer().version.as_str()), ("redis://127.0.0.1:1", "1"));
    }
}

//! The one table of operations: of it are made the routes, their OpenAPI document, and the list that the test of access walks.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Components, Info, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::gate;
use crate::input;
use crate::mcp;
use crate::routes::{context, forget, items, messages, openapi, records, search, sessions, status, transfer};

/// Returns the routes under a token, and their document.
pub(crate) fn operations(app: &Arc<App>) -> (Router<Arc<App>>, OpenApi) {
    let quick = OpenApiRouter::new()
        .routes(routes!(sessions::list))
        .routes(routes!(sessions::state, sessions::delete))
        .routes(routes!(messages::read, messages::append))
        .routes(routes!(context::assemble))
        .routes(routes!(search::search))
        .routes(routes!(items::items))
        .routes(routes!(records::list::list, records::remember::remember))
        .routes(routes!(records::one::get, records::one::put))
        .routes(routes!(records::remember::supersede))
        .routes(routes!(records::one::history))
        .routes(routes!(forget::forget))
        .routes(routes!(status::status))
        .routes(routes!(openapi::document));
    let long = OpenApiRouter::new().routes(routes!(transfer::export)).routes(routes!(transfer::import));
    let (quick, mut document) = quick.split_for_parts();
    let (long, of_long) = long.split_for_parts();
    document.merge(of_long);
    context::describe(&mut document, app.config.answer_bytes);
    let guarded = |router: Router<Arc<App>>, deadline: Duration| {
        let app = Arc::clone(app);
        router.route_layer(from_fn(move |request: Request, next: Next| {
            gate::enter(Arc::clone(&app), deadline, request, next)
        }))
    };
    let agents = Router::new().route_service("/mcp", mcp::service(app.config.agents.clone(), app.config.body_bytes));
    // What serves agents would wait for a body without a bound.
    let agents =
        agents.route_layer(from_fn_with_state(Arc::clone(app), input::whole)).route_layer(from_fn(mcp::problems));
    let quick = guarded(quick.merge(agents), app.config.deadline);
    let routes = quick.merge(guarded(long, app.config.transfer_deadline));
    (routes, described(document))
}

/// Returns the document with what is said once: what it is of, and how a token is sent.
fn described(mut document: OpenApi) -> OpenApi {
    document.info = Info::new("memory", env!("CARGO_PKG_VERSION"));
    document.info.description = Some("A memory of owners. The token names the owner; nothing else does.".to_owned());
    let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    let components = document.components.get_or_insert_with(Components::new);
    components.add_security_scheme("token", SecurityScheme::Http(bearer));
    document
}

//! Which database the messages of a journal are meant for.

/// What a URL says of a connection and not of the database: who logs in, how, and how long is waited.
const TUNING: [&str; 12] = [
    "pool",
    "deadline",
    "user",
    "password",
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "sslcert",
    "sslkey",
    "statement-cache-capacity",
    "application_name",
];

/// Returns which database a name means: a URL without what is [`TUNING`], its other parameters in order; any other name as it is.
pub(super) fn place(name: &str) -> String {
    let Some((scheme, rest)) = name.split_once("://") else { return name.to_owned() };
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (hosts, path) = place.split_at(place.find('/').unwrap_or(place.len()));
    let hosts = hosts.rsplit_once('@').map_or(hosts, |(_, hosts)| hosts);
    let is_tuning = |pair: &&str| TUNING.contains(&pair.split('=').next().unwrap_or_default());
    let mut query: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && !is_tuning(pair)).collect();
    query.sort_unstable();
    format!("{scheme}://{hosts}{path}?{}", query.join("&"))
}

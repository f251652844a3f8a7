use super::*;

fn remedy(error: &Error) -> &'static str {
    match error {
        Error::Backend { transience: Transience::Late, .. } => "wait, being late",
        Error::Backend { .. } if error.is_retryable() => "wait",
        Error::Backend { .. } => "permanent",
        Error::Corrupt { .. } => "restore",
        Error::Overloaded => "slow down",
        Error::Invalid { .. } => "fix the call",
        _ => "something else",
    }
}

/// Returns the error that the driver makes of a server's line.
fn answered(line: &str) -> RedisError {
    let value = redis::parse_redis_value(format!("-{line}\r\n").as_bytes()).unwrap();
    value.extract_error().unwrap_err()
}

#[test]
fn each_answer_of_a_server_has_its_remedy() {
    let table = [
        ("OOM command not allowed when used memory > 'maxmemory'.", "wait"),
        ("MISCONF Errors writing to the AOF file: No space left on device", "wait"),
        ("READONLY You can't write against a read only replica.", "wait"),
        ("LOADING Redis is loading the dataset in memory", "wait"),
        ("BUSY Redis is busy running a script.", "wait"),
        ("MOVED 3999 127.0.0.1:6381", "wait"),
        ("ASK 3999 127.0.0.1:6381", "wait"),
        ("TRYAGAIN Multiple keys request during rehashing of slot", "wait"),
        ("CLUSTERDOWN The cluster is down", "wait"),
        ("MASTERDOWN Link with MASTER is down", "wait"),
        ("NOREPLICAS Not enough good replicas to write.", "wait"),
        ("NOSCRIPT No matching script. Please use EVAL.", "wait"),
        ("ERR Error running script (call to f_x): @user_script:1: -OOM command not allowed", "wait"),
        ("ERR Error running script (call to f_x): @user_script:1: -READONLY You can't write", "wait"),
        ("ERR max number of clients reached", "slow down"),
        ("NOAUTH Authentication required.", "permanent"),
        ("WRONGPASS invalid username-password pair or user is disabled.", "permanent"),
        ("NOPERM this user has no permissions to run the 'evalsha' command", "permanent"),
        ("CROSSSLOT Keys in request don't hash to the same slot", "permanent"),
        ("ERR unknown command 'EVALSHA'", "permanent"),
        ("EXECABORT Transaction discarded because of previous errors.", "permanent"),
        ("WRONGTYPE Operation against a key holding the wrong kind of value", "restore"),
    ];
    for (line, expected) in table {
        assert_eq!(remedy(&classify(answered(line), "test")), expected, "{line}");
    }
}

#[test]
fn each_fault_of_the_driver_has_its_remedy() {
    let io = |kind: io::ErrorKind| RedisError::from(io::Error::from(kind));
    let table = [
        (io(io::ErrorKind::TimedOut), "wait, being late"),
        (unasked(io(io::ErrorKind::TimedOut)), "wait"), // no connection stood
        (unasked(io(io::ErrorKind::ConnectionRefused)), "wait"),
        (io(io::ErrorKind::ConnectionRefused), "wait"),
        (io(io::ErrorKind::ConnectionReset), "wait"),
        (io(io::ErrorKind::BrokenPipe), "wait"),
        (io(io::ErrorKind::UnexpectedEof), "wait"),
        (io(io::ErrorKind::InvalidData), "permanent"), // a certificate that is not trusted
        (RedisError::from((ErrorKind::Io, "dropped")), "wait"),
        (RedisError::from((ErrorKind::Parse, "nonsense")), "wait"),
        (RedisError::from((ErrorKind::ClusterConnectionNotFound, "no node")), "wait"),
        (RedisError::from((ErrorKind::AuthenticationFailed, "wrong password")), "permanent"),
        (RedisError::from((ErrorKind::UnexpectedReturnType, "a list")), "permanent"),
        (RedisError::from((ErrorKind::InvalidClientConfig, "no URL")), "fix the call"),
    ];
    for (driver, expected) in table {
        let shown = driver.to_string();
        assert_eq!(remedy(&classify(driver, "test")), expected, "{shown}");
    }
}

#[test]
fn tells_a_replica_and_an_unknown_script() {
    assert!(is_read_only(&answered("READONLY You can't write against a read only replica.")));
    assert!(is_read_only(&answered("ERR Error running script (call to f_x): @user_script:1: -READONLY You can't")));
    assert!(!is_read_only(&answered("ERR no")));
    assert!(is_unknown_script(&answered("NOSCRIPT No matching script.")));
    assert!(!is_unknown_script(&answered("ERR no")));
}

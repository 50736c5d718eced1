//! `TokenBucket\client_address()`, `TokenBucket\client_network()` and `TokenBucket\in_network()`.

use super::engine::call::{Call, handler};
use super::engine::declare::{Method, Type, function, optional, required};
use super::engine::exceptions::{Thrown, argument_type_error, value_error};
use super::engine::php_array::values;
use super::events::{LOG_NOTICE, log};
use super::likely_mistakes::{Mistake, claim};
use crate::address::{Network, Proxy, UNIX_SOCKET, UNKNOWN, client, is_private, is_proxy, network};
use crate::dsn::sanitize;
use ext_php_rs::types::{ZendHashTable, ZendStr, Zval};
use std::borrow::Cow;

/// The keys in `$_SERVER` of the headers by which proxies pass on a client's address, and the headers' names.
const FORWARDED: [(&str, &str); 4] = [
    (FORWARDED_FOR, "X-Forwarded-For"),
    ("HTTP_FORWARDED", "Forwarded"),
    ("HTTP_X_REAL_IP", "X-Real-IP"),
    ("HTTP_CF_CONNECTING_IP", "CF-Connecting-IP"),
];
/// The one that is read if no other is named.
const FORWARDED_FOR: &str = "HTTP_X_FORWARDED_FOR";

pub const CLIENT_ADDRESS: Method = function(
    c"TokenBucket\\client_address",
    handler!(client_address),
    &[
        required(c"server", Type::ARRAY),
        optional(c"trustedProxies", Type::ARRAY, c"[]"),
        optional(c"header", Type::STRING, c"'X-Forwarded-For'"),
    ],
    Type::STRING,
);
pub const CLIENT_NETWORK: Method = function(
    c"TokenBucket\\client_network",
    handler!(client_network),
    &[
        required(c"address", Type::STRING),
        optional(c"ipv6Bits", Type::INT, c"64"),
        optional(c"ipv4Bits", Type::INT, c"32"),
    ],
    Type::STRING,
);

pub const IN_NETWORK: Method = function(
    c"TokenBucket\\in_network",
    handler!(in_network),
    &[required(c"address", Type::STRING), required(c"networks", Type::STRING.or(Type::ARRAY))],
    Type::BOOL,
);

fn client_address(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(1, 3)?;
    let server = call.array(1)?;
    let proxies = match call.is_passed(2) {
        true => parse_proxies(call.array(2)?)?,
        false => Vec::new(),
    };
    let (header, key) = match call.is_passed(3) {
        true => named_header(call.string(3)?.as_bytes())?,
        false => ("X-Forwarded-For", Cow::Borrowed(FORWARDED_FOR)),
    };
    let remote = string_at(server, "REMOTE_ADDR");
    let forwarded = string_at(server, &key).unwrap_or_default();
    if proxies.is_empty() {
        note_forgotten_proxy(server, remote.unwrap_or_default());
    } else if forwarded.is_empty() && is_proxy(remote, &proxies) {
        note_other_header(server, header, remote.unwrap_or_default());
    }
    call.return_string(client(remote, forwarded, &proxies))
}

fn client_network(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(1, 3)?;
    let address = call.string(1)?;
    let (ipv6_bits, ipv4_bits) = (bits(call, 2, 64, 128)?, bits(call, 3, 32, 32)?);
    let network = network(address.as_bytes(), ipv6_bits, ipv4_bits);
    if network.is_none() {
        note_unknown(address.as_bytes());
    }
    call.return_string(network.as_deref().unwrap_or(UNKNOWN).as_bytes())
}

fn in_network(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(2, 2)?;
    let client = Network::of_client(call.string(1)?.as_bytes());
    let networks = match call.non_null(2).and_then(Zval::array) {
        Some(list) => values(list).map(parse_network).collect::<Result<Vec<_>, Thrown>>()?,
        None => {
            let text = call.string(2)?.as_bytes();
            let words = text.split(|byte| b", \t\r\n".contains(byte)).filter(|it| !it.is_empty());
            words.map(network_of).collect::<Result<Vec<_>, Thrown>>()?
        }
    };
    let is_in = client.is_some_and(|client| networks.iter().any(|network| network.holds(&client)));
    call.return_bool(is_in)
}

fn parse_network(value: &Zval) -> Result<Network, Thrown> {
    network_of(text_of(value, "must be a string or a list of strings")?)
}

fn network_of(text: &[u8]) -> Result<Network, Thrown> {
    parse(text, Network::parse, "addresses and networks like 10.0.0.0/8")
}

/// The text of an entry of argument 2.
fn text_of<'a>(entry: &'a Zval, what_is_right: &str) -> Result<&'a [u8], Thrown> {
    let text = entry.zend_str().map(ZendStr::as_bytes);
    text.ok_or_else(|| argument_type_error(2, what_is_right))
}

/// Reads an entry of argument 2, which must contain `what`. A mistake is reported, whether the entry is needed or not.
fn parse<T>(text: &[u8], read: impl Fn(&[u8]) -> Option<T>, what: &str) -> Result<T, Thrown> {
    read(text).ok_or_else(|| {
        let text = String::from_utf8_lossy(text);
        let text = text.escape_debug();
        value_error(2, format!("must contain {what}, \"{text}\" given"))
    })
}

/// Says once in a process, in its log, that a client has no address. A client may have written the text, so no exception and
/// no handler of the application comes of it.
#[cold]
fn note_unknown(address: &[u8]) {
    if !claim(Mistake::UnknownClient) {
        return;
    }
    let address = String::from_utf8_lossy(address);
    log(
        &format!(
            "TokenBucket\\client_network(): \"{}\" is not an address, so the client shares the identifier \"unknown\" with all \
             others without one. If a proxy reaches the web server by a unix socket, name \"unix:\" among the trusted \
             proxies of client_address()",
            sanitize(&address)
        ),
        LOG_NOTICE,
    );
}

/// Says once in a process, in its log, that the request has passed a proxy and none is named.
fn note_forgotten_proxy(server: &ZendHashTable, remote: &[u8]) {
    let Some((key, header)) = FORWARDED.iter().find(|(key, _)| string_at(server, key).is_some())
    else {
        return;
    };
    let is_socket = remote.is_empty() || remote == UNIX_SOCKET;
    if !(is_socket || is_private(remote)) || !claim(Mistake::ForgottenProxy) {
        return;
    }
    let remote = String::from_utf8_lossy(remote);
    let (what, proxy) = match is_socket {
        true => ("has no address".to_owned(), "unix:"),
        false => (format!("is {remote}, a private address"), &*remote),
    };
    let header_to_send =
        if *key == FORWARDED_FOR { "" } else { ", and have it send X-Forwarded-For" };
    log(
        &format!(
            "TokenBucket\\client_address(): REMOTE_ADDR {what}, and the request has {header}, but no proxy is named, so \
             all clients of that proxy count as one. Name it: client_address($_SERVER, ['{proxy}']){header_to_send}"
        ),
        LOG_NOTICE,
    );
}

/// Says once in a process, in its log, that a trusted proxy sends another header than the one that is read.
#[cold]
fn note_other_header(server: &ZendHashTable, header: &str, remote: &[u8]) {
    let has = |key| string_at(server, key).is_some_and(|value| !value.is_empty());
    let Some((_, other)) = FORWARDED.iter().find(|(key, _)| has(key)) else { return };
    if !claim(Mistake::ForgottenProxy) {
        return;
    }
    let or = match *other {
        "Forwarded" => String::new(),
        "X-Forwarded-For" => ", or name no header".to_owned(),
        _ => format!(
            ", or, if it replaces {other} in every request, name that: client_address($_SERVER, [...], '{other}')"
        ),
    };
    let proxy = String::from_utf8_lossy(if remote.is_empty() { UNIX_SOCKET } else { remote });
    log(
        &format!(
            "TokenBucket\\client_address(): the proxy {proxy} sends {other} and not {header}, so all its clients count as \
             one. Have it send {header}{or}"
        ),
        LOG_NOTICE,
    );
}

/// Argument 3, a header that has nothing but addresses, and its key in `$_SERVER`.
fn named_header(name: &[u8]) -> Result<(&str, Cow<'static, str>), Thrown> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let is_name =
        !name.is_empty() && name.iter().all(is_part) && !name.eq_ignore_ascii_case(b"Forwarded");
    let name = std::str::from_utf8(name)
        .ok()
        .filter(|_| is_name)
        .ok_or_else(|| value_error(3, "must name a header of addresses, such as X-Real-IP"))?;
    Ok((name, format!("HTTP_{}", name.to_ascii_uppercase().replace('-', "_")).into()))
}

fn bits(call: &Call, n: u32, default: u32, most: u32) -> Result<u32, Thrown> {
    let bits = u32::try_from(call.int(n, default.into())?).ok();
    bits.filter(|bits| (1..=most).contains(bits))
        .ok_or_else(|| value_error(n, format!("must be between 1 and {most}")))
}

/// A proxy that is not recognised would make all its clients share one bucket.
fn parse_proxies(list: &ZendHashTable) -> Result<Vec<Proxy>, Thrown> {
    const WHAT: &str = "addresses, networks like 10.0.0.0/8, and \"unix:\"";
    let proxy = |entry| parse(text_of(entry, "must be a list of strings")?, Proxy::parse, WHAT);
    values(list).map(proxy).collect()
}

/// A string in `$_SERVER`.
fn string_at<'a>(server: &'a ZendHashTable, key: &str) -> Option<&'a [u8]> {
    server.get(key).and_then(Zval::zend_str).map(ZendStr::as_bytes)
}

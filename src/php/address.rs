//! `TokenBucket\client_address()` and `TokenBucket\client_network()`.

use super::engine::call::{Call, handler};
use super::engine::declare::{Method, Type, function, optional, required};
use super::engine::exceptions::{Thrown, argument_type_error, value_error};
use crate::address::{Network, client, network};
use ext_php_rs::types::{ZendHashTable, ZendStr, Zval};

/// The network of what is no address: all those clients share one bucket.
const UNKNOWN: &str = "unknown";

pub const CLIENT_ADDRESS: Method = function(
    c"TokenBucket\\client_address",
    handler!(client_address),
    &[required(c"server", Type::ARRAY), optional(c"trustedProxies", Type::ARRAY, c"[]")],
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

fn client_address(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(1, 2)?;
    let server = call.array(1)?;
    let proxies = match call.is_passed(2) {
        true => parse_proxies(call.array(2)?)?,
        false => Vec::new(),
    };
    let remote = string_at(server, "REMOTE_ADDR");
    let forwarded = string_at(server, "HTTP_X_FORWARDED_FOR");
    call.return_string(client(remote, forwarded, &proxies))
}

fn client_network(call: &Call) -> Result<(), Thrown> {
    call.expect_arguments(1, 3)?;
    let address = call.string(1)?;
    let (ipv6_bits, ipv4_bits) = (bits(call, 2, 64, 128)?, bits(call, 3, 32, 32)?);
    let network = network(address.as_bytes(), ipv6_bits, ipv4_bits);
    call.return_string(network.as_deref().unwrap_or(UNKNOWN).as_bytes())
}

fn bits(call: &Call, n: u32, default: u32, most: u32) -> Result<u32, Thrown> {
    let bits = u32::try_from(call.int(n, default.into())?).ok();
    bits.filter(|bits| (1..=most).contains(bits))
        .ok_or_else(|| value_error(n, format!("must be between 1 and {most}")))
}

/// A mistake is reported: a proxy that is not recognised would make all its clients share one bucket.
fn parse_proxies(list: &ZendHashTable) -> Result<Vec<Network>, Thrown> {
    list.values()
        .map(|proxy| {
            let text = proxy.zend_str().map(ZendStr::as_bytes);
            let text = text.ok_or_else(|| argument_type_error(2, "must be a list of strings"))?;
            Network::parse(text).ok_or_else(|| {
                let text = String::from_utf8_lossy(text);
                let text = text.escape_debug();
                value_error(
                    2,
                    format!(
                        "must contain addresses and networks like 10.0.0.0/8, \"{text}\" given"
                    ),
                )
            })
        })
        .collect()
}

/// A string in `$_SERVER`, or nothing.
fn string_at<'a>(server: &'a ZendHashTable, key: &str) -> &'a [u8] {
    server.get(key).and_then(Zval::zend_str).map(ZendStr::as_bytes).unwrap_or_default()
}

// The HTTP/1.1 client that sends deliveries: sockets by Boost.Asio, DNS by c-ares, TLS by OpenSSL.
//
// One instance per io thread; it starts no threads. Every address is checked before connecting,
// after connecting, and again when a connection is reused (P11). Every buffer, cache and wait is
// bounded (P6).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/net/address.h"
#include "ports/clock.h"
#include "ports/transport.h"

namespace postrider {

struct DnsOptions {
  std::string servers;        // `ip:port,ip:port`; empty: the servers of the system.
  Millis try_timeout{2'000};  // Of one query; c-ares doubles it for each retry.
  int tries = 2;
  Millis cache_max{300'000};     // Upper bound for the time to live of a record.
  Millis negative_cache{3'000};  // A burst of requests to an unknown name is one query.
  std::size_t cache_entries_max = 10'000;
};

struct TlsOptions {
  bool default_authorities = true;  // The system's certificate authorities.
  std::string authorities_file;     // Additional authorities: a PEM file
  std::string authorities_pem;      // or PEM text.
};

struct PoolOptions {
  std::size_t idle_per_origin_max = 128;  // More than any sensible max_in_flight.
  std::size_t idle_max = 1'024;           // Per io thread; each costs a descriptor and about 5 KiB.
  Millis idle_timeout{55'000};            // Common load balancers close after 60 s; be first.
  Millis life_max{600'000};               // Changed names and certificates are noticed by then.
};

struct TransportOptions {
  AddressPolicy addresses;
  DnsOptions dns;
  TlsOptions tls;
  PoolOptions pool;
  /// Accepts a response whose status line and headers are complete, even if the connection ends
  /// before its body does.
  bool lax_responses = false;
};

class AsioTransport : public Transport {
 public:
  /// Connections kept for reuse.
  [[nodiscard]] virtual std::size_t idle_connections() const = 0;
};

/// `io` must be run by one thread. `io` and `clock` must outlive the transport. The destructor
/// calls `stop`. Fails with: invalid (unreadable certificate authorities, malformed DNS server
/// list), unavailable.
[[nodiscard]] Result<std::unique_ptr<AsioTransport>> make_asio_transport(
    boost::asio::io_context& io, TransportOptions options, const Clock& clock);

}  // namespace postrider

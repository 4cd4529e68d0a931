// The HTTP/1.1 client that delivers: Boost.Asio sockets, c-ares names, OpenSSL.
//
// One instance per io thread; it opens no thread of its own. Every address is checked before a
// connection is made, after it is made, and again when it is reused (P11); every buffer, cache and
// wait has a limit (P6).
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
  std::string servers;        // `ip:port,ip:port`; empty: those of the system.
  Millis try_timeout{2'000};  // Of one query; c-ares doubles it from round to round.
  int tries = 2;
  Millis cache_max{300'000};     // A record's own time to live, but never longer than this.
  Millis negative_cache{3'000};  // So that a burst to a name that does not exist asks once.
  std::size_t cache_entries_max = 10'000;
};

struct TlsOptions {
  bool default_authorities = true;  // The system's certificate authorities.
  std::string authorities_file;     // Further ones: a PEM file,
  std::string authorities_pem;      // or PEM text.
};

struct PoolOptions {
  std::size_t idle_per_origin_max = 128;  // Above the largest sensible max_in_flight.
  std::size_t idle_max = 1'024;           // Per io thread; each costs a descriptor and about 5 KiB.
  Millis idle_timeout{55'000};            // Common load balancers hang up after 60 s: be first.
  Millis life_max{600'000};               // So that changed names and certificates are noticed.
};

struct TransportOptions {
  AddressPolicy addresses;
  DnsOptions dns;
  TlsOptions tls;
  PoolOptions pool;
};

class AsioTransport : public Transport {
 public:
  /// Connections kept for reuse, for metrics.
  [[nodiscard]] virtual std::size_t idle_connections() const = 0;
};

/// `io` must be run by one thread and, like `clock`, outlive the transport. The destructor stops
/// it. Fails with: invalid (authorities that cannot be read, DNS servers that cannot be parsed),
/// unavailable.
[[nodiscard]] Result<std::unique_ptr<AsioTransport>> make_asio_transport(
    boost::asio::io_context& io, TransportOptions options, const Clock& clock);

}  // namespace postrider

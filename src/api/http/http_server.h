// The HTTP listener of one io thread: strict framing, limits, deadlines; knows nothing of routes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/net/address.h"

#include "api/http/address_tally.h"
#include "api/http/http.h"
#include "api/http/tls_identity.h"

namespace postrider::api {

struct HttpServerOptions {
  std::size_t header_bytes_max = 16ul * 1024;
  std::size_t body_bytes_max = 1024ul * 1024;  // A batch's items are limited one by one as well.
  std::size_t connections_max = 10'000;  // Per listener; the next one is answered 503 and closed.
  std::chrono::milliseconds header_timeout{10'000};
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds write_timeout{30'000};
  std::chrono::milliseconds idle_timeout{75'000};
  /// Connections of one client, all listeners that share `tally` together; without a tally, or with
  /// zero, there is no such limit. Trusted proxies are not counted.
  std::uint32_t connections_per_address_max = 0;
  std::shared_ptr<AddressTally> tally;
  std::vector<Cidr> trusted_proxies;  // Whose X-Forwarded-For tells the client's address.
  TlsIdentity tls;                    // Without it connections are plain.
  bool reuse_port = true;             // Each io thread listens on the same port.

  // All bodies together, from their first byte until they are answered; beyond it new ones get 503.
  std::size_t buffered_bytes_max = 256ul * 1024 * 1024;
  // After an answer that ends the connection: how long the rest of what the client is still sending
  // is read and thrown away, so that a reset does not overtake the answer.
  std::chrono::milliseconds linger_timeout{2'000};

  /// For the Date header; without it there is none. Called a few times a second.
  std::function<Moment()> now;
  /// For requests without a usable X-Request-Id; without it the server counts.
  std::function<std::string()> make_request_id;
  /// A handler threw, and the client was answered 500: the request's id and what was thrown.
  std::function<void(std::string_view request_id, std::string_view what)> on_handler_error;
};

/// Totals since the start, except for `connections_open`.
struct HttpServerCounters {
  std::uint64_t connections_open = 0;
  std::uint64_t connections_accepted = 0;
  std::uint64_t connections_refused = 0;  // Over connections_max or its client's share.
  std::uint64_t requests_handled = 0;
  std::uint64_t requests_refused = 0;  // Malformed or too large: no handler saw them.
  std::uint64_t timeouts = 0;          // Slow headers, bodies and readers; not idle connections.
  std::uint64_t handler_errors = 0;
};

/// Owned by main; all its work, and every call to it, runs on the given io_context's single thread,
/// or while that thread does not run. Must be destroyed before the io_context.
class HttpServer {
 public:
  virtual ~HttpServer() = default;

  [[nodiscard]] virtual boost::asio::ip::tcp::endpoint local_endpoint() const = 0;
  [[nodiscard]] virtual HttpServerCounters counters() const = 0;
  /// The same as of at most a quarter of a second ago, for any thread.
  [[nodiscard]] virtual HttpServerCounters recent_counters() const = 0;

  /// Stops accepting and closes idle connections; requests under way are answered with
  /// `Connection: close`. `stopped` runs when the last connection is gone.
  virtual void drain(std::function<void()> stopped) = 0;

  /// New connections follow the new limits, proxies and certificate; open ones keep the size limits
  /// they began with.
  virtual void change(HttpServerOptions options) = 0;

  /// Closes everything at once. A handler under way goes on, but its answer reaches nobody.
  virtual void stop() = 0;
};

/// Binds and listens. `address` is `ADDR:PORT` or `[ADDR6]:PORT`; port 0 picks one.
/// Fails with: invalid (not an address), unavailable (cannot bind).
[[nodiscard]] Result<std::unique_ptr<HttpServer>> listen(boost::asio::io_context& io,
                                                         const std::string& address,
                                                         Handler handler,
                                                         HttpServerOptions options);

}  // namespace postrider::api

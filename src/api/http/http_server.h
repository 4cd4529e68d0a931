// The HTTP listener of one io thread: strict framing, limits and deadlines. It knows no routes; it
// passes every request to one handler.
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

#include "api/http/head_check.h"
#include "api/http/http.h"
#include "api/http/request_observer.h"
#include "api/http/shared_shares.h"
#include "api/http/tls_identity.h"

namespace postrider::api {

struct HttpServerOptions {
  std::size_t header_bytes_max = 16ul * 1024;
  std::size_t body_bytes_max = 1024ul * 1024;  // Each event of a batch has its own limit as well.
  std::size_t connections_max = 10'000;        // Per listener. More need a key at once.
  /// Connections over a limit, per listener. They serve clients with a valid key, by owner, so that
  /// clients without one can keep neither them nor the operator out.
  std::size_t extra_connections_max = 256;
  std::chrono::milliseconds header_timeout{10'000};
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds write_timeout{30'000};
  std::chrono::milliseconds idle_timeout{75'000};
  /// The places for connections of all listeners, by client. Null: no limit per client. Trusted
  /// proxies have no limit of their own.
  std::shared_ptr<SharedShares> connection_shares;
  std::vector<Cidr> trusted_proxies;  // Their X-Forwarded-For gives the client's address.
  TlsIdentity tls;                    // If null, connections are plain.
  bool reuse_port = true;             // Lets each io thread listen on the same port.

  // Limit of all request bodies together, each counted until its response is written, except those
  // that arrive with their header. Owners have shares of it (see BodyPermit). Requests over a share
  // get a 429, those over the limit a 503.
  std::size_t buffered_bytes_max = 256ul * 1024 * 1024;
  // How long to read and discard what the client is still sending after the last response, so that
  // the kernel does not reset the connection before the client has read the response.
  std::chrono::milliseconds linger_timeout{2'000};

  /// Decides about a request whose body has not arrived yet. If empty, every body is read.
  HeadCheck check_head;
  /// If empty, a refusal by check_head is final.
  HeadRecheck recheck_head;
  /// For the Date header. If empty, the header is omitted. Called a few times a second.
  std::function<Moment()> now;
  /// For requests without a usable X-Request-Id. If empty, ids are numbered.
  std::function<std::string()> make_request_id;
  /// Called when a handler threw and the client got a 500.
  std::function<void(std::string_view request_id, std::string_view what)> on_handler_error;
  std::shared_ptr<RequestObserver> observer;  // Told about every request. Null: nobody is.
};

/// Totals since the start, except for `connections_open`.
struct HttpServerCounters {
  std::uint64_t connections_open = 0;
  std::uint64_t connections_accepted = 0;
  std::uint64_t connections_refused = 0;  // Over connections_max or the share of the client.
  std::uint64_t accepts_failed = 0;       // Usually for want of a descriptor.
  std::uint64_t requests_handled = 0;
  std::uint64_t requests_refused = 0;  // Refused before a handler was called.
  std::uint64_t timeouts = 0;          // Slow headers, bodies and readers; not idle connections.
  std::uint64_t handler_errors = 0;
};

/// Owned by main. Unless noted, call it on the single thread of its io_context, or while that
/// thread is not running. The io_context must outlive this object.
class HttpServer {
 public:
  virtual ~HttpServer() = default;

  [[nodiscard]] virtual boost::asio::ip::tcp::endpoint local_endpoint() const = 0;
  [[nodiscard]] virtual HttpServerCounters counters() const = 0;
  /// The counters as of the last tick, at most 250 ms ago. Any thread.
  [[nodiscard]] virtual HttpServerCounters recent_counters() const = 0;

  /// Stops accepting and closes idle connections. Requests in progress are answered with
  /// `Connection: close`. Calls `stopped` when the last connection is closed.
  virtual void drain(std::function<void()> stopped) = 0;

  /// Replaces the options. Open connections keep their size limits and certificate.
  virtual void change(HttpServerOptions options) = 0;

  /// Closes all connections immediately. Running handlers continue, but their responses are lost.
  virtual void stop() = 0;
};

/// Binds and listens. `address` is `ADDR:PORT` or `[ADDR6]:PORT`; port 0 chooses a free port.
/// Fails with: invalid (not an address), unavailable (cannot bind).
[[nodiscard]] Result<std::unique_ptr<HttpServer>> listen(boost::asio::io_context& io,
                                                         const std::string& address,
                                                         Handler handler,
                                                         HttpServerOptions options);

}  // namespace postrider::api

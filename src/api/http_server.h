// The HTTP listener of one io thread: strict framing, limits, deadlines; knows nothing of routes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "api/http.h"
#include "core/result.h"

namespace postrider::api {

struct HttpServerOptions {
  std::size_t header_bytes_max = 16 * 1024;
  std::size_t body_bytes_max = 1024 * 1024;  // A batch's items are limited one by one as well.
  std::size_t connections_max = 10'000;      // Per listener; the next one is answered 503 and closed.
  std::chrono::milliseconds header_timeout{10'000};
  std::chrono::milliseconds body_timeout{30'000};
  std::chrono::milliseconds write_timeout{30'000};
  std::chrono::milliseconds idle_timeout{75'000};
  bool reuse_port = true;  // Each io thread listens on the same port.
};

/// Owned by main; all its work runs on the given io_context's single thread.
class HttpServer {
 public:
  virtual ~HttpServer() = default;

  [[nodiscard]] virtual boost::asio::ip::tcp::endpoint local_endpoint() const = 0;

  /// Stops accepting and closes idle connections; requests under way are answered with
  /// `Connection: close`. `stopped` runs when the last connection is gone.
  virtual void drain(std::function<void()> stopped) = 0;

  /// Closes everything at once.
  virtual void stop() = 0;
};

/// Binds and listens. `address` is `ADDR:PORT` or `[ADDR6]:PORT`; port 0 picks one.
[[nodiscard]] Result<std::unique_ptr<HttpServer>> listen(boost::asio::io_context& io,
                                                         const std::string& address, Handler handler,
                                                         HttpServerOptions options);

}  // namespace postrider::api

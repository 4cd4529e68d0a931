// A blocking HTTP client for the command line: one request per connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/net/target_url.h"

namespace postrider::cli {

struct ClientRequest {
  TargetUrl server;  // Its path is prepended to `path`.
  std::string method = "GET";
  std::string path = "/";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::milliseconds timeout{30'000};  // For the whole exchange.
  /// Asks first, without headers and body, whether the server is Postrider, so that no other server
  /// gets the API key.
  bool asks_first = true;
};

struct ClientResponse {
  std::uint16_t status = 0;
  std::string body;
  std::string date;  // The Date header: the server's time.
};

/// True if this is the answer of a Postrider server to `GET /healthz`. Pure.
[[nodiscard]] bool is_postrider(const ClientResponse& health);

/// Verifies TLS certificates against the system's authorities, and the host name. Does not follow
/// redirects and uses no proxy. Blocks. Fails with unavailable, or with conflict if the server is
/// not Postrider.
[[nodiscard]] Result<ClientResponse> send_request(const ClientRequest& request);

}  // namespace postrider::cli

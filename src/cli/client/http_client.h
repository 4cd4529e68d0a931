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
};

struct ClientResponse {
  std::uint16_t status = 0;
  std::string body;
  std::string date;  // The Date header: the server's time.
};

/// Verifies TLS certificates against the system's authorities, and the host name. Does not follow
/// redirects. Blocks. Fails with unavailable.
[[nodiscard]] Result<ClientResponse> send_request(const ClientRequest& request);

}  // namespace postrider::cli

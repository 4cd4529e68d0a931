// One HTTP request at a time, waiting for its answer: enough for a command line.
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
  TargetUrl server;  // Its path comes before `path`.
  std::string method = "GET";
  std::string path = "/";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::milliseconds timeout{30'000};  // For everything together.
};

struct ClientResponse {
  std::uint16_t status = 0;
  std::string body;
  std::string date;  // The header: what time it is there.
};

/// TLS certificates and host names are verified against the system's authorities. Redirects are not
/// followed. Blocks. Fails with: unavailable.
[[nodiscard]] Result<ClientResponse> send_request(const ClientRequest& request);

}  // namespace postrider::cli

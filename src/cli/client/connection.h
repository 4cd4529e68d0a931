// The server that a command connects to.
#pragma once

#include <chrono>
#include <string>

#include "core/base/secret.h"
#include "core/net/target_url.h"

namespace postrider::cli {

struct Connection {
  TargetUrl server;
  Secret<std::string> key;  // Empty: no key is sent.
  std::chrono::seconds timeout{30};
  bool json = false;  // Print the response of the server unchanged.
};

}  // namespace postrider::cli

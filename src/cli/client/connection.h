// Which server a command talks to, and how.
#pragma once

#include <chrono>
#include <string>

#include "core/base/secret.h"
#include "core/net/target_url.h"

namespace postrider::cli {

struct Connection {
  TargetUrl server;
  Secret<std::string> key;  // Empty: none is sent.
  std::chrono::seconds timeout{30};
  bool json = false;  // Print what the server answers, as it is.
};

}  // namespace postrider::cli

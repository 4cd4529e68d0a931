// The checked options of `postrider listen`.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/secret.h"

namespace postrider::cli {

struct ListenOptions {
  std::string listen_address = "127.0.0.1:8081";
  std::vector<Secret<std::string>> secrets;  // As text. Empty: signatures are not checked.
  std::chrono::seconds tolerance{300};       // Largest difference between signed time and now.
  std::uint16_t status = 200;
  std::chrono::milliseconds delay{0};
  double fail_rate = 0.0;          // The fraction of webhooks that is answered 500.
  std::uint64_t count = 0;         // Exit after this many; 0: never.
  std::vector<std::string> paths;  // Empty: every path.
  bool json = false;
};

}  // namespace postrider::cli

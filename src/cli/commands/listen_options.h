// What `postrider listen` was asked to do: flags and environment, already checked.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/secret.h"

namespace postrider::cli {

struct ListenOptions {
  std::string listen_address = "127.0.0.1:8081";
  std::vector<Secret<std::string>> secrets;  // Keys, decoded. None: signatures are not checked.
  std::chrono::seconds tolerance{300};       // How old or new a signed timestamp may be.
  std::uint16_t status = 200;
  std::chrono::milliseconds delay{0};
  double fail_rate = 0.0;          // The share of webhooks that is answered 500.
  std::uint64_t count = 0;         // Stop after that many; 0: never.
  std::vector<std::string> paths;  // None: every path.
  bool json = false;
};

}  // namespace postrider::cli

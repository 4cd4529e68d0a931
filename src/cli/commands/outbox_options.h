// The options of `postrider outbox init`. Main implements the command, because it needs a database.
#pragma once

#include <string>

#include "core/base/secret.h"

namespace postrider::cli {

struct OutboxInitOptions {
  Secret<std::string> dsn;  // Empty: not given.
  std::string table = "webhook_outbox";
  std::string mode = "cursor";
  std::string columns = "native";
  bool apply = false;  // Otherwise only print.
  bool json = false;
};

}  // namespace postrider::cli

// The flags of every command that connects to a server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"

#include "cli/client/connection.h"
#include "cli/commands/arguments.h"
#include "cli/commands/syntax.h"

namespace postrider::cli {

constexpr const char* default_server = "http://127.0.0.1:8080";

/// `--server`, `--insecure`, `--key`, `--timeout` and `--json`. Must outlive the parse, which
/// writes into it.
class ConnectionArguments {
 public:
  void add_to(Syntax syntax);

  /// Flags first, then POSTRIDER_SERVER and POSTRIDER_KEY (or POSTRIDER_ADMIN_KEY), then the
  /// default. Fails with invalid if the key would travel unencrypted to another machine.
  [[nodiscard]] Result<Connection> finish(const Environment& environment) const;

 private:
  std::optional<std::string> server_;
  std::optional<std::string> key_;
  std::uint32_t timeout_seconds_ = 30;
  bool insecure_ = false;
  bool json_ = false;
};

}  // namespace postrider::cli

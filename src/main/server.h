// The running server: store, node and listeners. Wires adapters, runtime and API together. Main
// thread only.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "core/base/result.h"

#include "api/ui/dashboard_file.h"
#include "config/load.h"

namespace postrider {

struct ServerOptions {
  config::Loaded loaded;
  /// Reads all configuration sources again, on SIGHUP. The error message is a sentence.
  std::function<Result<config::Loaded>()> reload;
  std::span<const api::DashboardFile> dashboard;  // Empty: none. Must outlive the server.
  bool accept_data_loss = false;  // Opens a store that lost its newest transactions.
  bool json = false;              // Prints JSON instead of text.
};

class Server {
 public:
  virtual ~Server() = default;

  /// Blocks until SIGTERM or SIGINT, then drains: publishing is refused, and deliveries in flight
  /// finish or are returned to the store within the deadline (P10). A second signal ends the drain.
  /// SIGHUP reloads the configuration.
  virtual void run_until_signal() = 0;
};

/// Opens the store, starts threads and listeners, and prints the address and a new admin key. The
/// error message is a sentence for the operator.
[[nodiscard]] Result<std::unique_ptr<Server>> start_server(ServerOptions options);

}  // namespace postrider

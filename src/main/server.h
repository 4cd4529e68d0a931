// The wired server: store, node and listeners, from start to the end of its drain.
#pragma once

#include <functional>
#include <memory>

#include "core/base/result.h"

#include "config/config.h"

namespace postrider {

struct ServerOptions {
  config::Config config;
  /// Reads every source again, on SIGHUP. The error is a sentence.
  std::function<Result<config::Config>()> reload;
  bool json = false;  // What is printed for people becomes JSON lines.
};

class Server {
 public:
  virtual ~Server() = default;

  /// SIGHUP reloads the configuration. Blocks until SIGTERM or SIGINT, then drains: no more
  /// publishing, what is in flight finishes or is handed back within the deadline (P10). A second
  /// signal cuts the wait short.
  virtual void run_until_signal() = 0;
};

/// Opens the store, starts the threads, listens, and prints where and with which key it can be
/// reached. The error's message is a sentence for the operator.
[[nodiscard]] Result<std::unique_ptr<Server>> start_server(ServerOptions options);

}  // namespace postrider

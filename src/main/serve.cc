#include "main/serve.h"

#include <csignal>
#include <cstdio>

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include "cli/command_line.h"
#include "main/logging.h"
#include "main/server.h"

namespace postrider {
namespace {

/// Sockets are what a delivery server runs out of first.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
  }
}

}  // namespace

int serve(const cli::ServeOptions& options) {
  set_up_logging(options.log_level);
  std::signal(SIGPIPE, SIG_IGN);  // A receiver that hangs up is an error value, not a signal.
  raise_descriptor_limit();

  Result<std::unique_ptr<Server>> server = start_server(options);
  if (!server) {
    fmt::print(stderr, "postrider: {}\n", server.error().message);
    return cli::exit_usage;
  }
  (*server)->run_until_signal();
  spdlog::shutdown();
  return cli::exit_ok;
}

}  // namespace postrider

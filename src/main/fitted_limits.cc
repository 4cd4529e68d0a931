#include "main/fitted_limits.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>

#include "adapters/asio_http/transport.h"
#include "config/descriptor_limits.h"
#include "main/from_config.h"

namespace postrider {

FittedLimits fit_limits(config::Config config, std::size_t cores, std::uint64_t descriptors) {
  const std::size_t threads_wanted = worker_count(config, cores);
  const std::size_t threads = config::io_threads_that_fit(threads_wanted, descriptors);
  const config::SocketLimits wanted{
      .in_flight = config.engine.in_flight_max,
      .idle = static_cast<std::uint32_t>(PoolOptions{}.idle_max * threads),
      .connections = config.api.connections_max};
  const config::SocketLimits fitted = config::fit_to_descriptors(wanted, threads, descriptors);
  config.io_threads = static_cast<std::uint32_t>(threads);
  config.engine.in_flight_max = fitted.in_flight;
  config.api.connections_max = fitted.connections;
  if (fitted != wanted) {
    config.api.extra_connections_max = config::extra_connections_that_fit(fitted.connections);
  }
  return {.config = std::move(config),
          .idle_per_thread = fitted.idle / threads,
          .needed = config::descriptors_needed(wanted, threads_wanted),
          .is_lowered = fitted != wanted || threads != threads_wanted};
}

std::string describe(const FittedLimits& fitted, std::uint64_t descriptors) {
  return fmt::format(
      "limits.fitted open_files={} in_flight_max={} connections_max={} idle_connections_max={} "
      "io_threads={} detail=\"The limit of open files is too low for the configured limits, so "
      "they were lowered. Raise it to at least {}, with LimitNOFILE= in the systemd unit or "
      "`ulimit -Hn` before the server starts.\"",
      descriptors, fitted.config.engine.in_flight_max, fitted.config.api.connections_max,
      fitted.idle_per_thread * fitted.config.io_threads, fitted.config.io_threads, fitted.needed);
}

std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  rlimit raised = limit;
  raised.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

}  // namespace postrider

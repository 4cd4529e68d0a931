#include "config/descriptor_limits.h"

#include <algorithm>

#include "config/config.h"

namespace postrider::config {
namespace {

constexpr std::uint64_t limit_min = 2;
// Standard streams, lock, signals, the files of the store and its readers: 18 when idle. The others
// are for archives, backups, temporary files and reloads.
constexpr std::uint64_t reserve = 24;
// An event loop has three and a listener. The others are for DNS.
constexpr std::uint64_t reserve_per_thread = 8;

std::uint64_t reserved(std::size_t io_threads) { return reserve + reserve_per_thread * io_threads; }

/// The sockets that `connections` need, including those of refused connections.
std::uint64_t sockets_of(std::uint32_t connections) {
  return std::uint64_t{connections} + extra_connections_that_fit(connections);
}

/// The most connections for which `sockets` are enough.
std::uint64_t connections_of(std::uint64_t sockets) {
  std::uint64_t connections = std::min<std::uint64_t>(sockets, UINT32_MAX);
  while (connections > 0 && sockets_of(static_cast<std::uint32_t>(connections)) > sockets) {
    connections -= std::max<std::uint64_t>(
        1, (sockets_of(static_cast<std::uint32_t>(connections)) - sockets) / 2);
  }
  return connections;
}

std::uint32_t at_least_min(std::uint64_t fitted, std::uint32_t wanted) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::max(fitted, limit_min), wanted));
}

}  // namespace

std::uint32_t extra_connections_that_fit(std::uint32_t connections) {
  return std::clamp(connections / 8, 1u, ApiConfig{}.extra_connections_max);
}

std::size_t io_threads_that_fit(std::size_t wanted, std::uint64_t descriptors) {
  const std::uint64_t fitting = descriptors / (reserve_per_thread * 4);  // A quarter of them.
  return static_cast<std::size_t>(
      std::clamp<std::uint64_t>(fitting, 1, std::max<std::size_t>(wanted, 1)));
}

std::uint64_t descriptors_needed(const SocketLimits& wanted, std::size_t io_threads) {
  return reserved(io_threads) + wanted.in_flight + wanted.idle + wanted.connections +
         ApiConfig{}.extra_connections_max;
}

SocketLimits fit_to_descriptors(const SocketLimits& wanted, std::size_t io_threads,
                                std::uint64_t descriptors) {
  if (descriptors >= descriptors_needed(wanted, io_threads)) {
    return wanted;
  }
  const std::uint64_t kept_back = reserved(io_threads);
  const std::uint64_t shared = descriptors > kept_back ? descriptors - kept_back : 0;
  const std::uint64_t webhooks_wanted = std::uint64_t{wanted.in_flight} + wanted.idle;
  const std::uint64_t clients_wanted = sockets_of(wanted.connections);
  const std::uint64_t webhooks =
      std::min(webhooks_wanted, std::max(shared / 2, shared - std::min(shared, clients_wanted)));
  const std::uint64_t clients = std::min(clients_wanted, shared - std::min(shared, webhooks));
  // What the requests do not want is left for kept connections.
  const std::uint64_t idle_share =
      std::max(webhooks / 4, webhooks - std::min<std::uint64_t>(webhooks, wanted.in_flight));
  const std::uint64_t idle = std::min<std::uint64_t>(wanted.idle, idle_share);
  return {.in_flight = at_least_min(webhooks - idle, wanted.in_flight),
          .idle = static_cast<std::uint32_t>(idle),
          .connections = at_least_min(connections_of(clients), wanted.connections)};
}

}  // namespace postrider::config

// Fits the limits on sockets to the number of files that the process may open. Without this, the
// first resource that a busy server runs out of would be missing everywhere at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace postrider::config {

/// The most sockets of each kind, over all io threads.
struct SocketLimits {
  std::uint32_t in_flight = 0;    // Requests to webhooks.
  std::uint32_t idle = 0;         // Connections to webhooks that are kept for reuse.
  std::uint32_t connections = 0;  // Of API clients.

  bool operator==(const SocketLimits&) const = default;
};

/// Connections over the limit, which serve the operator only, if descriptors are scarce.
[[nodiscard]] std::uint32_t extra_connections_that_fit(std::uint32_t connections);

/// Every io thread has a few descriptors of its own. Returns at least one.
[[nodiscard]] std::size_t io_threads_that_fit(std::size_t wanted, std::uint64_t descriptors);

/// How many descriptors are needed so that nothing has to be fitted.
[[nodiscard]] std::uint64_t descriptors_needed(const SocketLimits& wanted, std::size_t io_threads);

/// Lowers the limits until they fit. Some descriptors are set aside for the store, its readers,
/// archives, DNS and the io threads. The rest is shared by webhooks and API clients: each may have
/// half, and what the other does not want. Kept connections have at most a quarter of the share of
/// the webhooks. Every limit but `idle` stays at least 2, also if that is too much: the server then
/// works, slowly.
[[nodiscard]] SocketLimits fit_to_descriptors(const SocketLimits& wanted, std::size_t io_threads,
                                              std::uint64_t descriptors);

}  // namespace postrider::config

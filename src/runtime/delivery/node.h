// The running server without its HTTP face: io threads, store thread, readers, and the Service the
// API talks to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "ports/archive.h"
#include "ports/metric_sample.h"

#include "runtime/admin/service.h"
#include "runtime/background/retention.h"
#include "runtime/delivery/worker.h"

namespace postrider {

struct NodeOptions {
  std::size_t worker_count = 1;
  std::uint64_t seed = 0;  // From real entropy in production.
  UrlPolicy url_policy;
  std::string user_agent;
  ShardOptions shard;  // For all workers together; each gets its part.
  RetentionOptions retention = {};
  AlertLimits alerts = {};
  std::uint32_t interactive_sends_max = 32;  // Probes and tests that people wait for at once.
};

/// Made by main, which is the only place that knows which adapters these are.
struct NodeParts {
  Store store;
  std::vector<Reader> readers;
  std::unique_ptr<Clock> clock;
  MakeTransport make_transport;
  MakeSign make_sign;
  MakeSchemaCheck make_schema_check;
  std::unique_ptr<Archive> archive = nullptr;  // Null: what retention removes is not kept.
  std::function<std::string(const ExpiredEvent&)> archive_line = nullptr;
  /// Reads the keys that secrets are sealed with again. Empty: they do not change.
  std::function<Result<void>()> reload_keys = {};
};

class Node {
 public:
  virtual ~Node() = default;

  [[nodiscard]] virtual Service& service() = 0;
  [[nodiscard]] virtual std::vector<boost::asio::io_context*> io_contexts() = 0;

  /// Shown on the metrics page. Must be callable until the node is gone.
  virtual void add_samples(CollectSamples take) = 0;

  /// Starts the threads. Everything the store knows is due is already in line.
  virtual void start() = 0;

  /// Which targets are allowed from now on; webhooks that were not may be sent to, and the other
  /// way round. Any thread, after start().
  virtual void change_url_policy(UrlPolicy policy) = 0;

  /// From when on something is an alert. Any thread, after start().
  virtual void change_alert_limits(const AlertLimits& limits) = 0;

  /// How long things are kept from now on, and where they go then. Any thread, after start().
  virtual void change_retention(RetentionChange change) = 0;

  /// No more publishing; finish what is in flight. `drained` runs once, on some io thread, when
  /// that is done.
  virtual void drain(std::function<void()> drained) = 0;

  /// Hands back what is still in flight, writes down what is finished and ends the threads (P10).
  virtual void stop() = 0;
};

/// Reads webhooks, circuits, keys and the backlog's outline; does not read the backlog itself.
/// `key`, when given, is stored; it takes the place of the one with its id.
[[nodiscard]] Result<std::unique_ptr<Node>> make_node(NodeOptions options, NodeParts parts,
                                                      const std::optional<ApiKey>& key);

}  // namespace postrider

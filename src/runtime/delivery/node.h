// The running server without HTTP: io threads, store thread, readers, and the Service that the API
// calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "engine/intake/fanout_turns.h"
#include "ports/archive.h"
#include "ports/mailer.h"
#include "ports/metric_sample.h"
#include "ports/span_exporter.h"
#include "ports/store_check.h"

#include "runtime/admin/load_access.h"
#include "runtime/admin/service.h"
#include "runtime/background/retention.h"
#include "runtime/cluster/cluster.h"
#include "runtime/delivery/worker.h"
#include "runtime/notifications/message_sender.h"
#include "runtime/observability/tracer.h"
#include "runtime/sources/source_runner.h"

namespace postrider {

struct NodeOptions {
  std::size_t worker_count = 1;
  std::uint64_t seed = 0;  // From real entropy in production.
  UrlPolicy url_policy;
  std::string user_agent;
  std::string pool_id = "all";  // The label of this server's slots in metrics.
  ShardOptions shard;           // The limits hold for all workers together.
  RetentionOptions retention = {};
  AlertLimits alerts = {};
  std::uint32_t check_rows_per_second = 0;  // Of the background check of the store; 0: off.
  std::uint32_t interactive_sends_max = test_sends_at_once_max;
  /// Of a tenant without its own limit. nullopt: unlimited.
  std::optional<std::uint32_t> webhooks_per_tenant_max = std::nullopt;
  FanoutBacklogLimits fanout = {};
  NotificationOptions notifications = {};
  TracingOptions tracing = {};
  LeaseOptions lease = {};  // Used if the store is shared.
};

/// Made by main, the only place that knows the adapters.
struct NodeParts {
  Store store;
  std::vector<Reader> readers;
  std::unique_ptr<Clock> clock;
  MakeTransport make_transport;
  MakeSign make_sign;
  MakeSchemaCheck make_schema_check;
  std::unique_ptr<StoreCheck> store_check = nullptr;  // Null: nothing can be damaged.
  std::unique_ptr<Archive> archive = nullptr;         // Null: removed events are not archived.
  std::function<std::string(const ExpiredEvent&)> archive_line = nullptr;
  std::unique_ptr<Mailer> mailer = nullptr;  // Null: no mail server is configured.
  /// Reloads the keys that secrets are sealed with. Empty: they do not change.
  std::function<Result<void>()> reload_keys = {};
  std::unique_ptr<SpanExporter> span_exporter = nullptr;  // Null: tracing is off.
  Cluster::Ports cluster = {};                            // Null: no other server shares the store.
};

class Node {
 public:
  virtual ~Node() = default;

  [[nodiscard]] virtual Service& service() = 0;
  [[nodiscard]] virtual std::vector<boost::asio::io_context*> io_contexts() = 0;

  /// Adds samples to the metrics page. `take` must be callable until the node is destroyed.
  virtual void add_samples(CollectSamples take) = 0;

  /// Sets the sources of events. Call at most once, before start(). What their intakes use must be
  /// usable until stop() has returned.
  virtual void set_sources(std::vector<SourceParts> sources) = 0;

  /// Starts the threads. Deliveries that are due are attempted at once.
  virtual void start() = 0;

  /// Sets which URLs and addresses are allowed, for stored webhooks too. Any thread, after start().
  virtual void change_url_policy(UrlPolicy policy) = 0;

  /// Any thread, after start().
  virtual void change_alert_limits(const AlertLimits& limits) = 0;

  /// Any thread, after start().
  virtual void change_retention(RetentionChange change) = 0;

  /// Receives no more from sources, refuses publishes, starts no more attempts and finishes those
  /// in flight. `drained` runs once, on some io thread, when that is done.
  virtual void drain(std::function<void()> drained) = 0;

  /// Hands back what is still in flight, stores what has finished and joins the threads (P10).
  virtual void stop() = 0;
};

/// Loads webhooks, circuits, keys and the outline of the backlog, but not the backlog itself.
/// Stores what `added` contains.
[[nodiscard]] Result<std::unique_ptr<Node>> make_node(NodeOptions options, NodeParts parts,
                                                      const StartAccess& added);

}  // namespace postrider

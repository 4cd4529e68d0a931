// Opens the store that the configuration names: SQLite in the data directory, or PostgreSQL.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/lease.h"
#include "ports/metric_sample.h"
#include "ports/store.h"
#include "ports/store_check.h"
#include "ports/vault.h"

#include "adapters/postgres/waiting.h"
#include "config/config.h"
#include "runtime/cluster/cluster.h"

namespace postrider {

struct StoreOptions {
  bool accept_data_loss = false;  // See SqliteOptions.
  std::shared_ptr<const Vault> vault = nullptr;
  /// Ends waiting for a database server within seconds. Not null.
  std::shared_ptr<const postgres::Interruption> interruption;
  WallTime now;
  std::size_t readers = 1;
  // Used if the store can be shared: this server, and the previous server of the data directory,
  // which is certainly gone.
  NodeIdentity identity;
  std::optional<NodeId> predecessor = std::nullopt;
};

struct OpenedStore {
  Store store;
  std::vector<Reader> readers;
  std::unique_ptr<StoreCheck> check;  // Null: the database server checks its files itself.
  /// The size of the store. Any thread.
  std::function<std::vector<MetricSample>()> samples;
  Cluster::Ports cluster;
};

[[nodiscard]] Result<OpenedStore> open_store(const config::Config& config,
                                             const StoreOptions& options);

/// The location of the data, for logs: a directory, or an address without its password.
[[nodiscard]] std::string shown_store(const config::Config& config);

}  // namespace postrider

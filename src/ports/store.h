// A store: one object per role, all made by the same adapter.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "ports/alerts.h"
#include "ports/audit.h"
#include "ports/catalog.h"
#include "ports/event_types.h"
#include "ports/history.h"
#include "ports/ledger.h"
#include "ports/notifications.h"
#include "ports/operations.h"
#include "ports/peers.h"
#include "ports/registry.h"
#include "ports/request_keys.h"
#include "ports/retention.h"
#include "ports/source_rows.h"
#include "ports/stats.h"

namespace postrider {

/// What opening the store found, for the operator.
struct StoreIncident {
  enum class Kind : std::uint8_t {
    restored,   ///< The store is a restored backup.
    data_loss,  ///< The store lost transactions, and the operator accepted that.
  };
  Kind kind = Kind::restored;
  std::string detail;  // Sentences.
};

/// The roles that write. Store thread only.
struct Store {
  std::unique_ptr<Ledger> ledger;
  std::unique_ptr<Catalog> catalog;
  std::unique_ptr<EventTypes> event_types;
  std::unique_ptr<Registry> registry;
  std::unique_ptr<AuditWriter> audit;
  std::unique_ptr<AlertWriter> alerts;
  std::unique_ptr<NotificationWriter> notifications;
  std::unique_ptr<OperationWriter> operations;
  std::unique_ptr<RequestKeyWriter> request_keys;
  std::unique_ptr<RetentionWriter> retention;
  std::unique_ptr<SourceRowWriter> source_rows;
  std::unique_ptr<Peers> peers = nullptr;  // Null: only one node can use the store.

  /// Runs `body`, which may call any role, as one transaction. If it fails, nothing is changed. A
  /// Ledger::commit inside is durable only when this returns. A store that several nodes share runs
  /// `body` again if another node was in the way, so its effects outside of the store must be those
  /// of the last run.
  std::function<Result<void>(const std::function<Result<void>()>& body)> atomically;

  std::optional<StoreIncident> incident = std::nullopt;  // From opening it.
};

/// The roles that read, for one reader thread.
struct Reader {
  std::unique_ptr<History> history;
  std::unique_ptr<AuditReader> audit;
  std::unique_ptr<AlertReader> alerts;
  std::unique_ptr<NotificationReader> notifications;
  std::unique_ptr<OperationReader> operations;
  std::unique_ptr<RequestKeyReader> request_keys;
  std::unique_ptr<Stats> stats;
  std::unique_ptr<RetentionReader> retention;
  std::unique_ptr<SourceRowReader> source_rows;
};

}  // namespace postrider

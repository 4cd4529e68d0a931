#include "adapters/sqlite/ledger/ledger.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/assert.h"
#include "ports/dead_letter_audit.h"

#include "adapters/sql/admin/audit_writer.h"
#include "adapters/sql/admin/operation_row.h"
#include "adapters/sql/state_sql.h"
#include "adapters/sqlite/ledger/circuit_store.h"
#include "adapters/sqlite/ledger/fanout_writer.h"
#include "adapters/sqlite/ledger/lanes.h"
#include "adapters/sqlite/ledger/late_delivery_writer.h"
#include "adapters/sqlite/ledger/publish_writer.h"
#include "adapters/sqlite/ledger/reschedule_writer.h"
#include "adapters/sqlite/ledger/rows.h"
#include "adapters/sqlite/ledger/settlement_writer.h"

namespace postrider::sqlite {
namespace {

constexpr std::string_view load_event_sql =
    "SELECT " POSTRIDER_EVENT_COLUMNS " FROM event e WHERE e.id = ?1";

/// All statements of one session.
struct LedgerStatements {
  PublishWriter publishes;
  FanoutWriter fanouts;
  SettlementWriter settlements;
  LateDeliveryWriter late_deliveries;
  Lanes lanes;
  RescheduleWriter reschedules;
  CircuitStore circuits;
  Statement load_event;
};

Result<LedgerStatements> open_statements(Writer& writer) {
  POSTRIDER_TRY(PublishWriter publishes, PublishWriter::open(writer.session()));
  POSTRIDER_TRY(FanoutWriter fanouts, FanoutWriter::open(writer.session()));
  POSTRIDER_TRY(SettlementWriter settlements, SettlementWriter::open(writer.session()));
  POSTRIDER_TRY(LateDeliveryWriter late_deliveries, LateDeliveryWriter::open(writer.session()));
  POSTRIDER_TRY(Lanes lanes, Lanes::open(writer.session()));
  POSTRIDER_TRY(RescheduleWriter reschedules, RescheduleWriter::open(writer.session()));
  POSTRIDER_TRY(CircuitStore circuits, CircuitStore::open(writer.session()));
  POSTRIDER_TRY(Statement load_event, writer.database().prepare(load_event_sql));
  return LedgerStatements{std::move(publishes),       std::move(fanouts),   std::move(settlements),
                          std::move(late_deliveries), std::move(lanes),     std::move(reschedules),
                          std::move(circuits),        std::move(load_event)};
}

class SqliteLedger final : public Ledger {
 public:
  SqliteLedger(std::shared_ptr<Writer> writer, LedgerStatements statements)
      : writer_(std::move(writer)), statements_(std::move(statements)) {}

  Result<BatchReceipt> commit(const Batch& batch) override {
    return writer_->transact([this, &batch] { return perform(batch); });
  }

  Result<void> recover() override {
    statements_.reset();  // They belong to the connection that is closed.
    POSTRIDER_CHECK(writer_->reopen());
    POSTRIDER_TRY(LedgerStatements statements, open_statements(*writer_));
    statements_.emplace(std::move(statements));
    return {};
  }

  Result<LanePage> load_lane(const LoadLane& query) override {
    POSTRIDER_CHECK(usable());
    POSTRIDER_TRY(const bool needs_index, statements_->lanes.needs_order_index(query));
    if (needs_index) {
      POSTRIDER_CHECK(writer_->transact(
          [this, &query] { return statements_->lanes.build_order_index(query.webhook_id); }));
    }
    return writer_->read([this, &query] { return statements_->lanes.load(query); });
  }

  Result<std::vector<LaneBacklog>> backlog() override {
    POSTRIDER_CHECK(usable());
    POSTRIDER_TRY(std::vector<LaneBacklog> lanes, statements_->lanes.backlog());
    std::ranges::sort(lanes, {}, &LaneBacklog::webhook_id);
    return lanes;
  }

  Result<std::vector<PastCall>> recent_calls(WebhookId id, const CallsToRestore& which) override {
    POSTRIDER_CHECK(usable());
    return statements_->circuits.recent_calls(id, which);
  }

  Result<BroughtForward> bring_forward(const BringForward& order) override {
    POSTRIDER_CHECK(usable());
    return writer_->transact([this, &order] { return statements_->reschedules.step(order); });
  }

  Result<FannedOut> fan_out(const FanOutStep& step) override {
    POSTRIDER_CHECK(usable());
    return writer_->transact([this, &step] { return statements_->fanouts.step(step); });
  }

  Result<std::map<TenantId, std::uint64_t>> open_fanouts() override {
    POSTRIDER_CHECK(usable());
    return statements_->fanouts.open_fanouts();
  }

  Result<TenantCounts> count_waiting() override {
    POSTRIDER_CHECK(usable());
    return sqlite::count_waiting(writer_->database());
  }

  Result<std::vector<Event>> load_events(const std::vector<EventId>& ids) override {
    POSTRIDER_CHECK(usable());
    return writer_->read([this, &ids] { return read_events(ids); });
  }

 private:
  [[nodiscard]] Result<void> usable() const {
    POSTRIDER_CHECK(writer_->usable());
    if (!statements_) {
      return fail(Errc::unavailable, "The store is not open.");
    }
    return {};
  }

  Result<std::vector<Event>> read_events(const std::vector<EventId>& ids) {
    std::vector<Event> events;
    events.reserve(ids.size());
    for (const EventId& id : ids) {
      Query query = statements_->load_event.query(id);
      POSTRIDER_TRY(const bool found, query.next());
      if (found) {
        events.push_back(read_event(query));
      }
    }
    return events;
  }

  Result<BatchReceipt> perform(const Batch& batch) {
    POSTRIDER_CHECK(usable());
    BatchReceipt receipt;
    POSTRIDER_CHECK(statements_->publishes.store(batch.publishes, statements_->fanouts, receipt));
    for (const Settlement& settlement : batch.settlements) {
      POSTRIDER_CHECK(statements_->settlements.settle(settlement, receipt));
    }
    for (const Revive& order : batch.revivals) {
      POSTRIDER_TRY(Result<Delivery> revived, statements_->settlements.revive(order, receipt));
      receipt.revivals.push_back(std::move(revived));
    }
    for (const AddLateDelivery& order : batch.late_deliveries) {
      POSTRIDER_TRY(std::optional<Delivery> late,
                    statements_->late_deliveries.add(order, statements_->fanouts, receipt));
      receipt.late_deliveries.push_back(std::move(late));
    }
    for (const Cancel& order : batch.cancels) {
      POSTRIDER_TRY(Result<Delivery> cancelled, statements_->settlements.cancel(order, receipt));
      receipt.cancels.push_back(std::move(cancelled));
    }
    for (const SaveCircuit& circuit : batch.circuits) {
      POSTRIDER_CHECK(statements_->circuits.save(circuit));
    }
    // A store without a digest has no audit log.
    if (!receipt.new_dead_letters.empty() && writer_->digest() != nullptr) {
      POSTRIDER_CHECK(sql::append_audits(*writer_, dead_letter_entries(receipt.new_dead_letters)));
    }
    for (const BatchAudit& audit : batch.audits) {
      if (audit_applies(audit, receipt)) {
        POSTRIDER_CHECK(sql::append_audit(*writer_, audit.entry));
      }
    }
    POSTRIDER_CHECK(sql::add_to_operations(writer_->database(), receipt.outcomes));
    std::erase_if(receipt.dead_letter_changes, [](const auto& each) { return each.second == 0; });
    receipt.waiting_change.remove_zeros();
    return receipt;
  }

  std::shared_ptr<Writer> writer_;
  std::optional<LedgerStatements> statements_;  // None after a failed `recover`.
};

}  // namespace

Result<std::unique_ptr<Ledger>> open_ledger(std::shared_ptr<Writer> writer) {
  POSTRIDER_TRY(LedgerStatements statements, open_statements(*writer));
  return std::make_unique<SqliteLedger>(std::move(writer), std::move(statements));
}

}  // namespace postrider::sqlite

#include "adapters/sqlite/admin/catalog.h"

#include <utility>

#include "adapters/sqlite/admin/operation_row.h"
#include "adapters/sqlite/admin/webhook_row.h"
#include "adapters/sqlite/admin/webhook_secrets.h"
#include "adapters/sqlite/database/secure_delete.h"
#include "adapters/sqlite/database/state_sql.h"
#include "adapters/sqlite/ledger/request_shapes.h"

namespace postrider::sqlite {
namespace {

// Changes are rare, so statements are prepared each time.

constexpr auto cancel_waiting_sql = with_states(R"sql(
  UPDATE delivery SET state = {cancelled}, updated_at = ?2, completed_at = ?2
   WHERE sequence IN (SELECT sequence FROM delivery INDEXED BY delivery_due
                       WHERE lane = ?1 AND state <= {last_waiting} LIMIT ?3)
  RETURNING priority, operation
)sql");

constexpr std::string_view note_removal_sql = R"sql(
  INSERT OR REPLACE INTO removed_webhook (webhook_id, tenant_id, removed_at)
  SELECT id, tenant_id, ?2 FROM webhook WHERE id = ?1
)sql";

class SqliteCatalog final : public Catalog {
 public:
  SqliteCatalog(std::shared_ptr<Writer> writer, std::shared_ptr<const Vault> vault)
      : writer_(std::move(writer)), vault_(std::move(vault)) {}

  Result<std::vector<Webhook>> load_webhooks() override {
    POSTRIDER_CHECK(writer_->usable());
    return read_webhooks(writer_->database(), vault_.get());
  }

  Result<void> put_webhook(const Webhook& webhook) override {
    return writer_->transact([this, &webhook] {
      return with_secure_delete(
          [&] { return write_webhook(writer_->database(), webhook, vault_.get()); });
    });
  }

  Result<void> remove_webhook(WebhookId id, WallTime now) override {
    return writer_->transact(
        [this, id, now] { return with_secure_delete([&] { return remove(id, now); }); });
  }

  Result<PriorityCounts> cancel_waiting(WebhookId id, WallTime now, std::uint32_t limit) override {
    return writer_->transact([&]() -> Result<PriorityCounts> {
      PriorityCounts cancelled;
      POSTRIDER_TRY(const LaneEntry* lane, writer_->session().lanes.find(id));
      if (lane == nullptr) {
        return cancelled;
      }
      POSTRIDER_TRY(Statement cancel, writer_->database().prepare(cancel_waiting_sql));
      OutcomeChanges outcomes;
      Query query = cancel.query(lane->lane, now, limit);
      for (;;) {
        POSTRIDER_TRY(const bool found, query.next());
        if (!found) {
          break;
        }
        ++cancelled[query.as<Priority>(0)];
        if (!query.is_null(1)) {
          outcomes[query.id<OperationId>(1)].add(DeliveryState::cancelled, now);
        }
      }
      POSTRIDER_CHECK(add_to_operations(writer_->database(), outcomes));
      return cancelled;
    });
  }

  Result<void> mark_rescheduling(WebhookId id) override {
    return writer_->transact([this, id]() -> Result<void> {
      POSTRIDER_TRY(Statement mark,
                    writer_->database().prepare(
                        "INSERT OR IGNORE INTO rescheduling (webhook_id) VALUES (?1)"));
      return mark.run(id);
    });
  }

  Result<std::vector<WebhookId>> load_rescheduling() override {
    POSTRIDER_CHECK(writer_->usable());
    POSTRIDER_TRY(
        Statement statement,
        writer_->database().prepare("SELECT webhook_id FROM rescheduling ORDER BY webhook_id"));
    std::vector<WebhookId> ids;
    Query query = statement.query();
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return ids;
      }
      ids.push_back(query.id<WebhookId>(0));
    }
  }

  Result<ResealStep> reseal_webhooks(std::optional<WebhookId> after, std::uint32_t limit) override {
    if (!vault_) {
      return ResealStep{};
    }
    Result<ResealStep> step = writer_->transact([&]() -> Result<ResealStep> {
      return with_secure_delete(
          [&] { return sqlite::reseal_webhooks(writer_->database(), *vault_, after, limit); });
    });
    if (step && !step->next) {
      // The log still contains the plain text.
      POSTRIDER_CHECK(writer_->database().truncate_wal());
    }
    return step;
  }

  Result<std::map<WebhookId, CircuitRecord>> load_circuits() override {
    POSTRIDER_CHECK(writer_->usable());
    POSTRIDER_TRY(Statement statement,
                  writer_->database().prepare(
                      "SELECT webhook_id, state, openings_in_row, changed_at, open_until,"
                      " forced_until, forced_open, failing_since, counting_since, opened_at,"
                      " times_opened FROM circuit"));
    std::map<WebhookId, CircuitRecord> circuits;
    Query query = statement.query();
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return circuits;
      }
      circuits[query.id<WebhookId>(0)] = {.state = query.as<CircuitState>(1),
                                          .openings_in_row = query.as<std::uint32_t>(2),
                                          .changed_at = query.time(3),
                                          .open_until = query.time_or_null(4),
                                          .forced_until = query.time_or_null(5),
                                          .forced_open = query.integer(6) != 0,
                                          .failing_since = query.time_or_null(7),
                                          .counting_since = query.time(8),
                                          .opened_at = query.time_or_null(9),
                                          .times_opened = query.as<std::uint32_t>(10)};
    }
  }

 private:
  /// For changes of webhooks, which contain secrets.
  template <class Body>
  std::invoke_result_t<Body> with_secure_delete(Body body) {
    return sqlite::with_secure_delete(writer_->database(), std::move(body));
  }

  Result<void> remove(WebhookId id, WallTime now) {
    Database& database = writer_->database();
    Statement note_removal;
    Statement remove_webhook;
    Statement remove_circuit;
    Statement remove_mark;
    POSTRIDER_CHECK(database.prepare_all({
        {&note_removal, note_removal_sql},
        {&remove_webhook, "DELETE FROM webhook WHERE id = ?1"},
        {&remove_circuit, "DELETE FROM circuit WHERE webhook_id = ?1"},
        {&remove_mark, "DELETE FROM rescheduling WHERE webhook_id = ?1"},
    }));
    POSTRIDER_CHECK(note_removal.run(id, now));
    POSTRIDER_CHECK(remove_webhook.run(id));
    if (database.changes() == 0) {
      return fail(Errc::not_found, "There is no such webhook.");
    }
    POSTRIDER_CHECK(remove_mark.run(id));
    POSTRIDER_CHECK(remove_circuit.run(id));
    POSTRIDER_CHECK(retire_shapes(database, id, writer_->session().next_sequence));
    POSTRIDER_TRY(LaneEntry * lane, writer_->session().lanes.find(id));
    if (lane != nullptr) {
      lane->shape = nullptr;  // It was retired.
    }
    return {};
  }

  std::shared_ptr<Writer> writer_;
  std::shared_ptr<const Vault> vault_;  // Null: nothing is encrypted.
};

}  // namespace

std::unique_ptr<Catalog> make_catalog(std::shared_ptr<Writer> writer,
                                      std::shared_ptr<const Vault> vault) {
  return std::make_unique<SqliteCatalog>(std::move(writer), std::move(vault));
}

}  // namespace postrider::sqlite

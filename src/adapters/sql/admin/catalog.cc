#include "adapters/sql/admin/catalog.h"

#include <utility>

#include "adapters/sql/admin/circuit_row.h"
#include "adapters/sql/admin/webhook_row.h"
#include "adapters/sql/admin/webhook_secrets.h"

namespace postrider::sql {
namespace {

// Changes are rare, so statements are prepared each time.

constexpr std::string_view note_removal_sql = R"sql(
  INSERT INTO removed_webhook (webhook_id, tenant_id, removed_at)
  SELECT id, tenant_id, CAST(?2 AS bigint) FROM webhook WHERE id = ?1
  ON CONFLICT (webhook_id)
  DO UPDATE SET tenant_id = excluded.tenant_id, removed_at = excluded.removed_at
)sql";

constexpr std::string_view mark_rescheduling_sql =
    "INSERT INTO rescheduling (webhook_id) VALUES (?1) ON CONFLICT (webhook_id) DO NOTHING";

constexpr std::string_view circuits_sql = "SELECT " POSTRIDER_CIRCUIT_COLUMNS " FROM circuit";

class SqlCatalog final : public Catalog {
 public:
  explicit SqlCatalog(CatalogParts parts)
      : writer_(std::move(parts.writer)),
        deliveries_(std::move(parts.deliveries)),
        vault_(std::move(parts.vault)) {}

  Result<std::vector<Webhook>> load_webhooks() override {
    POSTRIDER_CHECK(writer_->usable());
    return read_webhooks(writer_->database(), vault_.get());
  }

  Result<std::optional<Webhook>> find_webhook(WebhookId id) override {
    POSTRIDER_CHECK(writer_->usable());
    return sql::find_webhook(writer_->database(), vault_.get(), id);
  }

  Result<void> put_webhook(const Webhook& webhook) override {
    return writer_->transact_repeatedly([this, &webhook] {
      return with_secure_delete(
          [&] { return write_webhook(writer_->database(), webhook, vault_.get()); });
    });
  }

  Result<void> remove_webhook(WebhookId id, WallTime now) override {
    return writer_->transact_repeatedly(
        [this, id, now] { return with_secure_delete([&] { return remove(id, now); }); });
  }

  Result<TenantCounts> cancel_waiting(WebhookId id, WallTime now, std::uint32_t limit) override {
    return writer_->transact_repeatedly(
        [&] { return deliveries_->cancel_waiting(id, now, limit); });
  }

  Result<void> mark_rescheduling(WebhookId id) override {
    return writer_->transact_repeatedly([this, id]() -> Result<void> {
      POSTRIDER_TRY(Statement mark, writer_->database().prepare(mark_rescheduling_sql));
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
    Result<ResealStep> step = writer_->transact_repeatedly([&]() -> Result<ResealStep> {
      return with_secure_delete(
          [&] { return sql::reseal_webhooks(writer_->database(), *vault_, after, limit); });
    });
    if (step && !step->next) {
      // The log still contains the plain text.
      POSTRIDER_CHECK(writer_->purge_log());
    }
    return step;
  }

  Result<std::map<WebhookId, CircuitRecord>> load_circuits() override {
    POSTRIDER_CHECK(writer_->usable());
    POSTRIDER_TRY(Statement statement, writer_->database().prepare(circuits_sql));
    std::map<WebhookId, CircuitRecord> circuits;
    Query query = statement.query();
    for (;;) {
      POSTRIDER_TRY(const bool found, query.next());
      if (!found) {
        return circuits;
      }
      circuits[query.id<WebhookId>(0)] = read_circuit(query);
    }
  }

 private:
  /// For changes of webhooks, which contain secrets.
  template <class Body>
  std::invoke_result_t<Body> with_secure_delete(Body body) {
    POSTRIDER_CHECK(writer_->set_secure_delete(true));
    auto result = body();
    POSTRIDER_CHECK(writer_->set_secure_delete(false));
    return result;
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
    return deliveries_->retire_shapes(id);
  }

  std::shared_ptr<Writer> writer_;
  std::unique_ptr<WebhookDeliveries> deliveries_;
  std::shared_ptr<const Vault> vault_;  // Null: nothing is encrypted.
};

}  // namespace

std::unique_ptr<Catalog> make_catalog(CatalogParts parts) {
  return std::make_unique<SqlCatalog>(std::move(parts));
}

}  // namespace postrider::sql

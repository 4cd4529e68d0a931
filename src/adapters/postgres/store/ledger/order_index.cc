#include "adapters/postgres/store/ledger/order_index.h"

#include <cstdint>
#include <string_view>

namespace postrider::postgres {
namespace {

// Bounds one transaction to some ten milliseconds.
constexpr std::int64_t step_max = 5'000;

constexpr std::string_view find_sql = "SELECT complete FROM ordered_lane WHERE webhook_id = $1";

// Waits for all transactions that are adding deliveries without knowing about the webhook. They
// have read this table, and this lock waits until every reader has ended.
constexpr std::string_view lock_sql = "LOCK TABLE ordered_lane IN ACCESS EXCLUSIVE MODE";

constexpr std::string_view add_sql =
    "INSERT INTO ordered_lane (webhook_id, complete) VALUES ($1, false) ON CONFLICT DO NOTHING";

// Returns the last sequence of the step.
constexpr std::string_view step_sql = R"sql(
  WITH page AS (SELECT sequence FROM waiting WHERE webhook_id = $1 AND sequence > $2
                 ORDER BY sequence LIMIT $3 FOR UPDATE),
       added AS (UPDATE waiting w SET ordered = true FROM page p
                  WHERE w.sequence = p.sequence AND NOT w.ordered)
  SELECT count(*), max(sequence) FROM page
)sql";

constexpr std::string_view complete_sql =
    "UPDATE ordered_lane SET complete = true WHERE webhook_id = $1";

Result<void> add_lane(Writer& writer, WebhookId webhook_id) {
  return writer.transact_repeatedly([&]() -> Result<void> {
    Session& session = writer.session();
    session.queue(lock_sql);
    session.queue(add_sql, Parameters::of(webhook_id));
    POSTRIDER_CHECK(writer.exchange_and_commit());
    return {};
  });
}

/// Returns the `after` of the next step. Zero: there is none.
Result<std::int64_t> add_deliveries(Writer& writer, WebhookId webhook_id, std::int64_t after) {
  return writer.transact_repeatedly([&]() -> Result<std::int64_t> {
    POSTRIDER_TRY(const Rows step,
                  writer.session().run(step_sql, Parameters::of(webhook_id, after, step_max)));
    if (step.integer(0, 0) == step_max) {
      return step.integer(0, 1);
    }
    POSTRIDER_CHECK(writer.session().run(complete_sql, Parameters::of(webhook_id)));
    return 0;
  });
}

}  // namespace

Result<void> ensure_order_index(Writer& writer, WebhookId webhook_id) {
  POSTRIDER_TRY(const Rows found, writer.session().run(find_sql, Parameters::of(webhook_id)));
  if (found.count() > 0 && found.boolean(0, 0)) {
    return {};
  }
  if (found.count() == 0) {
    POSTRIDER_CHECK(add_lane(writer, webhook_id));
  }
  for (std::int64_t after = 0;;) {
    POSTRIDER_TRY(after, add_deliveries(writer, webhook_id, after));
    if (after == 0) {
      return {};
    }
  }
}

void queue_order_index_removal(Session& session, WebhookId webhook_id) {
  session.queue("DELETE FROM ordered_lane WHERE webhook_id = $1", Parameters::of(webhook_id));
}

}  // namespace postrider::postgres

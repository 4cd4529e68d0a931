// A store in a schema of its own whose rows a test adds itself. For tests only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "core/model/delivery.h"

#include "adapters/postgres/store/database/partitions.h"
#include "adapters/postgres/store/database/writer.h"

#include "tests/support/postgres_schema.h"
#include "tests/support/test_digest.h"

namespace postrider::postgres {

struct FinalDelivery {
  DeliveryState state = DeliveryState::succeeded;
  std::optional<WallTime> completed_at = std::nullopt;
};

/// Every function fails the test on an error.
class StoreRows : public testing::Test {
 protected:
  StoreRows() : session_(open()) {
    Result<std::unique_ptr<Writer>> opened = Writer::open(options());
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    writer_ = *std::move(opened);
  }

  [[nodiscard]] PostgresOptions options() const {
    return {.connect = {.address = schema_.address(), .statement_max = Millis{60'000}},
            .digest = postrider::test::test_digest};
  }

  Session open() {
    Result<Session> opened = Session::open({.address = schema_.address()}, interruption_);
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    return *std::move(opened);
  }

  Rows run(const std::string& sql, Parameters parameters = {}) {
    Result<Rows> rows = session_.run_once(sql, std::move(parameters));
    EXPECT_TRUE(rows.has_value()) << sql << ": " << rows.error().message;
    return rows ? *std::move(rows) : Rows{};
  }

  std::int64_t count(const std::string& table) {
    return run("SELECT count(*) FROM " + table).integer(0, 0);
  }
  bool exists(const std::string& table) {
    return run("SELECT to_regclass($1) IS NOT NULL", Parameters::of(table)).boolean(0, 0);
  }

  void make_partitions(WallTime now) {
    const Result<void> made = ensure_partitions(session_, now);
    EXPECT_TRUE(made.has_value()) << made.error().message;
  }

  /// A new generator each time, because one generator never goes back in time.
  template <class SomeId>
  SomeId make_id(WallTime at) {
    return UuidGenerator{++ids_made_}.make<SomeId>(at);
  }

  EventId add_event(WallTime at) {
    const auto id = make_id<EventId>(at);
    sequences_[id] = ++sequence_;
    run("INSERT INTO event (id, sequence, tenant_id, type, priority, \"timestamp\", created_at,"
        " delivery_count, idempotency_key, metadata, data)"
        " VALUES ($1, $2, 'acme', 'a', 1, $3, $3, 0, '', '', '{}')",
        Parameters::of(id, sequence_, at));
    return id;
  }

  /// With an attempt.
  DeliveryId add_final(EventId event, WallTime at, const FinalDelivery& delivery = {}) {
    const auto id = make_id<DeliveryId>(at);
    run("INSERT INTO delivery (id, sequence, event_id, webhook_id, tenant_id, type, priority,"
        " state, trigger, due, attempt_count, budget_used, created_at, updated_at, completed_at)"
        " VALUES ($1, $2, $3, $4, 'acme', 'a', 1, $5, 0, 0, 1, 1, $6, $6, $7)",
        Parameters::of(id, ++sequence_, event, webhook_, delivery.state, at,
                       delivery.completed_at.value_or(at)));
    run("INSERT INTO attempt (delivery_id, number, id, webhook_id, tenant_id, recorded,"
        " executed_at, duration_us, trigger, scheduled_at, detail)"
        " VALUES ($1, 1, $1, $2, 'acme', $3, $4, 1, 0, 0, '')",
        Parameters::of(id, webhook_, ++sequence_, at));
    return id;
  }

  DeliveryId add_waiting(EventId event, WallTime at) {
    const auto id = make_id<DeliveryId>(at);
    run("INSERT INTO waiting (sequence, id, event_id, webhook_id, tenant_id, type, priority, state,"
        " trigger, due, attempt_count, budget_used, created_at, updated_at, ordered, shard)"
        " VALUES ($1, $2, $3, $4, 'acme', 'a', 1, 0, 0, 0, 0, 0, $5, $5, false, 0)",
        Parameters::of(++sequence_, id, event, webhook_, at));
    return id;
  }

  postrider::test::PostgresSchema schema_;
  Interruption interruption_;
  Session session_;
  std::unique_ptr<Writer> writer_;
  std::int64_t sequence_ = 0;
  std::uint64_t ids_made_ = 0;
  const WebhookId webhook_ = make_id<WebhookId>(WallTime{});
  std::map<EventId, std::int64_t> sequences_;
};

}  // namespace postrider::postgres

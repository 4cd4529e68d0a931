// A store with many rows, for the tests of its readers. Written with SQL, without the ledger.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "core/base/time.h"

#include "adapters/postgres/store/database/reader.h"

#include "tests/support/postgres_schema.h"

namespace postrider::postgres {

class HistoryData {
 public:
  /// The event and the delivery of number n are made n seconds after the epoch and have the
  /// sequence n. Most are in the month that follows.
  inline static const WallTime epoch = *parse_rfc3339("2026-01-31T22:00:00Z");

  /// The numbers up to this are final deliveries with one attempt, the others wait.
  static constexpr int final_count = 20'000;
  static constexpr int delivery_count = 25'000;
  /// A delivery belongs to the webhook number n % 50 and the tenant number n % 10.
  static constexpr int webhook_count = 50;
  static constexpr int tenant_count = 10;
  /// Multiples of this are dead letters of the type `user.born`. The others are `order.paid`.
  static constexpr int dead_step = 100;
  /// Events of numbers n % 100 == 1 count no delivery of their publish.
  static constexpr int unmatched_step = 100;
  /// Events of numbers n % 10 == 0 have the resource n % 1000.
  static constexpr int resource_step = 1'000;

  /// An empty store.
  HistoryData();

  /// Adds the deliveries.
  void fill();
  /// Gives every event a row of the source `orders`. The rows of final deliveries are settled.
  void add_source_rows();

  Rows run(const std::string& sql, Parameters parameters = {});

  [[nodiscard]] PostgresOptions options() const {
    return {.connect = {.address = schema_.address(), .statement_max = Millis{60'000}}};
  }
  [[nodiscard]] std::shared_ptr<ReadConnection> connect() const;

  [[nodiscard]] static WebhookId webhook(int number) { return WebhookId{made_id(1, number)}; }
  [[nodiscard]] static EventId event(int number) {
    return EventId{made_id(time_of(number), number)};
  }
  [[nodiscard]] static DeliveryId delivery(int number) {
    return DeliveryId{made_id(time_of(number), number)};
  }
  [[nodiscard]] static std::string tenant(int number) { return "tenant_" + std::to_string(number); }
  [[nodiscard]] static std::string resource(int number) {
    return "resource_" + std::to_string(number);
  }
  [[nodiscard]] static std::int64_t time_of(int number) {
    return to_unix_ms(epoch) + std::int64_t{1'000} * number;
  }

 private:
  [[nodiscard]] static Uuid made_id(std::int64_t time, int number);

  postrider::test::PostgresSchema schema_;
  Interruption interruption_;
  std::unique_ptr<Session> session_;
};

}  // namespace postrider::postgres

#include "adapters/sqlite/copy/attempt_order.h"

#include <string_view>

namespace postrider::sqlite {
namespace {

// A predecessor that was removed is no longer waited for.
constexpr std::string_view attempts_by_time_sql = R"sql(
  SELECT a.delivery, a.number, a.previous_delivery, a.previous_number,
         p.delivery IS NOT NULL AND
         (p.executed_at, p.delivery, p.number) > (a.executed_at, a.delivery, a.number)
    FROM attempt t INDEXED BY attempt_time
   CROSS JOIN attempt a NOT INDEXED ON a.delivery = t.delivery AND a.number = t.number
    LEFT JOIN attempt p NOT INDEXED
           ON p.delivery = a.previous_delivery AND p.number = a.previous_number
   ORDER BY t.executed_at, t.delivery, t.number
)sql";

}  // namespace

Result<void> AttemptOrder::add(const AttemptKey& key, const AttemptKey& previous,
                               bool previous_is_later) {
  if (previous_is_later || held_.contains(previous)) {
    // A damaged chain can name a predecessor twice.
    if (successors_.try_emplace(previous, key).second) {
      held_.insert(key);
      return {};
    }
  }
  return take(key);
}

Result<void> AttemptOrder::take(AttemptKey key) {
  for (;;) {
    POSTRIDER_CHECK(take_(key));
    const auto successor = successors_.find(key);
    if (successor == successors_.end()) {
      return {};
    }
    key = successor->second;
    held_.erase(key);
    successors_.erase(successor);
  }
}

Result<void> AttemptOrder::finish() {
  for (const AttemptKey& key : held_) {
    POSTRIDER_CHECK(take_(key));
  }
  held_.clear();
  successors_.clear();
  return {};
}

Result<void> for_each_recorded_attempt(Database& database, const TakeAttempt& take) {
  POSTRIDER_TRY(Statement statement, database.prepare(attempts_by_time_sql));
  AttemptOrder order{take};
  Query query = statement.query();
  for (;;) {
    POSTRIDER_TRY(const bool found, query.next());
    if (!found) {
      return order.finish();
    }
    POSTRIDER_CHECK(order.add({query.integer(0), query.integer(1)},
                              {query.integer(2), query.integer(3)}, query.integer(4) != 0));
  }
}

}  // namespace postrider::sqlite

#include "adapters/sqlite/ledger/reschedule_writer.h"

#include <algorithm>
#include <utility>

#include "adapters/sql/state_sql.h"
#include "adapters/sqlite/ledger/rows.h"

namespace postrider::sqlite {
namespace {

constexpr auto page_sql = sql::with_states("SELECT " POSTRIDER_DELIVERY_COLUMNS R"sql(
    FROM delivery d INDEXED BY delivery_due
   WHERE d.lane = ?1 AND d.priority = ?2 AND d.state <= {last_waiting}
     AND (d.due, d.sequence) > (?3, ?4)
   ORDER BY d.due, d.sequence LIMIT ?5
)sql");

constexpr std::string_view move_sql = "UPDATE delivery SET due = ?2 WHERE sequence = ?1";

constexpr std::string_view unmark_sql = "DELETE FROM rescheduling WHERE webhook_id = ?1";

}  // namespace

Result<RescheduleWriter> RescheduleWriter::open(Writer::Session& session) {
  RescheduleWriter writer{session};
  POSTRIDER_CHECK(session.database.prepare_all({
      {&writer.page_, page_sql},
      {&writer.move_, move_sql},
      {&writer.unmark_, unmark_sql},
  }));
  return writer;
}

Result<BroughtForward> RescheduleWriter::step(const BringForward& order) {
  POSTRIDER_TRY(const LaneEntry* lane, session_->lanes.find(order.webhook_id));
  std::vector<Delivery> waiting;
  if (lane != nullptr) {
    POSTRIDER_TRY(waiting, page(lane->lane, order));
  }
  BroughtForward step;
  if (waiting.size() > order.limit) {
    waiting.resize(order.limit);
    step.next = {waiting.back().priority, waiting.back().due, waiting.back().sequence};
  } else {
    POSTRIDER_CHECK(unmark_.run(order.webhook_id));
  }
  for (Delivery& delivery : waiting) {
    const WallTime due = due_under(order.policy, delivery, order.now);
    if (due < delivery.due) {
      POSTRIDER_CHECK(move_.run(delivery.sequence, due));
      delivery.due = due;
      step.moved.push_back(std::move(delivery));
    }
  }
  return step;
}

/// One more than the step's limit, if there are as many.
Result<std::vector<Delivery>> RescheduleWriter::page(std::int64_t lane, const BringForward& order) {
  std::vector<Delivery> found;
  LaneCursor after = order.after.value_or(LaneCursor{.due = order.now});
  for (auto priority = static_cast<std::size_t>(after.priority);
       priority < priority_count && found.size() <= order.limit; ++priority) {
    if (priority != static_cast<std::size_t>(after.priority)) {
      after = {.priority = static_cast<Priority>(priority), .due = order.now, .sequence = 0};
    }
    // Skip deliveries that have become due since the first step.
    const WallTime from = std::max(after.due, order.now);
    const std::int64_t room = std::int64_t{order.limit} + 1 - std::ssize(found);
    Query rows = page_.query(lane, priority, from, from == after.due ? after.sequence : 0, room);
    for (;;) {
      POSTRIDER_TRY(const bool more, rows.next());
      if (!more) {
        break;
      }
      found.push_back(read_delivery(rows));
    }
  }
  return found;
}

std::vector<std::string_view> rescheduling_queries() { return {page_sql}; }

}  // namespace postrider::sqlite

#include "adapters/postgres/store/ledger/reschedule_writer.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "adapters/postgres/store/ledger/rows.h"
#include "adapters/postgres/store/peers/shard_fence.h"

namespace postrider::postgres {
namespace {

// $2: now. $3, $4, $5: the priority, due time and sequence after which to begin. The deliveries of
// the later priorities begin with the first that is due after now.
constexpr std::string_view page_sql = "SELECT " POSTRIDER_DELIVERY_COLUMNS R"sql(
    FROM (SELECT 0::smallint AS priority UNION ALL SELECT 1 UNION ALL SELECT 2) p
   CROSS JOIN LATERAL (SELECT w.* FROM waiting w
                        WHERE w.webhook_id = $1 AND w.priority = p.priority AND w.due > $2
                          AND (w.due, w.sequence) >
                              (CASE WHEN p.priority = $3 THEN $4 ELSE $2 END,
                               CASE WHEN p.priority = $3 THEN $5 ELSE 0 END)
                        ORDER BY w.due, w.sequence LIMIT $6) d
   WHERE p.priority >= $3
   ORDER BY d.priority, d.due, d.sequence LIMIT $6
)sql";

// The ids are sorted, so the rows are locked in their order.
constexpr std::string_view lock_sql =
    "SELECT " POSTRIDER_DELIVERY_COLUMNS
    " FROM (SELECT unnest($1::uuid[]) AS id) k JOIN waiting d ON d.id = k.id FOR UPDATE OF d";

constexpr std::string_view move_sql = R"sql(
  UPDATE waiting w SET due = m.due
    FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::bigint[]) AS due) m WHERE w.id = m.id
)sql";

constexpr std::string_view unmark_sql = "DELETE FROM rescheduling WHERE webhook_id = $1";

std::tuple<Priority, WallTime, std::int64_t> place_of(const Delivery& delivery) {
  return {delivery.priority, delivery.due, delivery.sequence};
}

std::vector<Delivery> read_all(const Rows& rows) {
  std::vector<Delivery> deliveries;
  deliveries.reserve(static_cast<std::size_t>(rows.count()));
  for (int row = 0; row < rows.count(); ++row) {
    deliveries.push_back(read_delivery(rows, row));
  }
  return deliveries;
}

/// One more than the step's limit, if there are as many. Not locked.
Result<std::vector<Delivery>> read_page(Session& session, const BringForward& order) {
  const LaneCursor after = order.after.value_or(LaneCursor{.due = order.now});
  POSTRIDER_TRY(
      const Rows rows,
      session.run(page_sql, Parameters::of(order.webhook_id, order.now, after.priority, after.due,
                                           after.sequence, std::int64_t{order.limit} + 1)));
  return read_all(rows);
}

/// The deliveries as they are now. Those that no longer wait are left out.
Result<std::vector<Delivery>> lock(Session& session, const std::vector<Delivery>& page) {
  std::vector<DeliveryId> ids;
  for (const Delivery& delivery : page) {
    ids.push_back(delivery.id);
  }
  std::ranges::sort(ids);
  Array sorted{ElementType::uuid};
  for (const DeliveryId& id : ids) {
    sorted.add(id);
  }
  POSTRIDER_TRY(const Rows rows, session.run(lock_sql, Parameters::of(std::move(sorted))));
  std::vector<Delivery> deliveries = read_all(rows);
  std::ranges::sort(deliveries, {}, place_of);
  return deliveries;
}

}  // namespace

Result<BroughtForward> bring_forward(Writer& writer, const HeldShards& held,
                                     const BringForward& order) {
  Session& session = writer.session();
  ShardFence fence{held};
  fence.add(shard_of(order.webhook_id));
  POSTRIDER_CHECK(fence.check(session));
  if (!fence.allows(shard_of(order.webhook_id))) {
    return fail(Errc::conflict, "Another node works this webhook.");
  }
  POSTRIDER_TRY(std::vector<Delivery> page, read_page(session, order));
  BroughtForward step;
  if (page.size() > order.limit) {
    page.resize(order.limit);
    step.next = {page.back().priority, page.back().due, page.back().sequence};
  }
  POSTRIDER_TRY(const std::vector<Delivery> waiting, lock(session, page));
  Array ids{ElementType::uuid};
  Array dues{ElementType::int8};
  for (const Delivery& stored : waiting) {
    const WallTime due = due_under(order.policy, stored, order.now);
    if (due < stored.due) {
      ids.add(stored.id);
      dues.add(due);
      step.moved.push_back(stored);
      step.moved.back().due = due;
    }
  }
  if (ids.size() > 0) {
    session.queue(move_sql, Parameters::of(std::move(ids), std::move(dues)));
  }
  if (!step.next) {
    session.queue(unmark_sql, Parameters::of(order.webhook_id));
  }
  POSTRIDER_CHECK(writer.exchange_and_commit());
  return step;
}

std::vector<std::string_view> rescheduling_queries() { return {page_sql}; }

}  // namespace postrider::postgres

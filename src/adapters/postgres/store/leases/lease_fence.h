// Keeps a transaction from storing what a node decided under a lease that another node has taken
// since (P8). Used in one transaction, before it changes anything:
//
//   LeaseFence fence;
//   fence.add("", {.shard = 7, .epoch = 3});
//   const std::size_t answer = fence.queue(session);
//   POSTRIDER_TRY(const std::vector<Rows> answers, session.exchange());
//   const std::vector<std::size_t> lost = LeaseFence::lost(answers[answer]);
//
// The shards that are not lost cannot be taken until the transaction ends: the rows are locked, and
// a turn that wants one leaves it for a later turn. Renewals do not wait for these locks. A lease
// that has expired but was not taken is not lost.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/model/lease.h"

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

/// The queries of a WITH clause with the parameters of LeaseFence. The last one, `lost`, has the
/// column `place`.
///
/// FOR KEY SHARE is the weakest lock that a turn respects: it takes a shard with FOR UPDATE, and
/// renews a lease without touching a key. A turn never waits for it, so the order of the locks does
/// not matter. LATERAL finds each lease by its key; a join may compare all with all.
#define POSTRIDER_FENCE                                                              \
  "named AS MATERIALIZED ("                                                          \
  " SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])"                    \
  "  WITH ORDINALITY AS n (pool, shard, epoch, place)),"                             \
  " held AS MATERIALIZED ("                                                          \
  " SELECT named.place FROM named"                                                   \
  "  CROSS JOIN LATERAL (SELECT 1 FROM shard_lease l"                                \
  "   WHERE l.pool = named.pool AND l.shard = named.shard AND l.epoch = named.epoch" \
  "   AND l.owner IS NOT NULL FOR KEY SHARE OF l) AS valid),"                        \
  " lost AS (SELECT place - 1 AS place FROM named"                                   \
  "  WHERE place NOT IN (SELECT place FROM held))"

class LeaseFence {
 public:
  void add(std::string_view pool, ShardEpoch lease);
  [[nodiscard]] std::size_t size() const { return shards_.size(); }
  [[nodiscard]] Parameters parameters() const { return Parameters::of(pools_, shards_, epochs_); }

  /// Adds the statement to the session's next exchange. Returns its index in the answer.
  [[nodiscard]] std::size_t queue(Session& session);

  /// The leases that were taken or released: the indexes of their calls of `add`, ascending.
  [[nodiscard]] static std::vector<std::size_t> lost(const Rows& answer);

 private:
  Array pools_{ElementType::text};
  Array shards_{ElementType::int8};
  Array epochs_{ElementType::int8};
};

}  // namespace postrider::postgres

#include "adapters/postgres/store/ledger/batch_opening.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace postrider::postgres {
namespace {

/// What the second column of a row is. The numbers are in the statement.
enum class Fact : std::uint8_t { lost_lease = 0, version = 1, block = 2 };

constexpr std::string_view opening_sql =
    "WITH " POSTRIDER_FENCE
    " SELECT 0, place FROM lost"
    " UNION ALL SELECT 1, version FROM catalog_version WHERE $4"
    " UNION ALL SELECT 2, nextval('sequence_block') FROM generate_series(1, $5)";

}  // namespace

void BatchOpening::queue(Session& session, ShardFence& fence, const Wanted& wanted) {
  version_wanted_ = wanted.version;
  const LeaseFence leases = fence.start();
  if (leases.size() == 0 && !wanted.version && wanted.sequences == 0) {
    return;
  }
  Parameters parameters = leases.parameters();
  parameters.add(wanted.version).add(Sequences::blocks_for(wanted.sequences));
  answer_ = session.queue(opening_sql, std::move(parameters));
}

Result<void> BatchOpening::take(const std::vector<Rows>& answers, ShardFence& fence) {
  if (!answer_) {
    return {};
  }
  const Rows& rows = answers[*answer_];
  std::vector<std::size_t> lost;
  std::vector<std::int64_t> blocks;
  for (int row = 0; row < rows.count(); ++row) {
    switch (rows.as<Fact>(row, 0)) {
      case Fact::lost_lease:
        lost.push_back(rows.as<std::size_t>(row, 1));
        break;
      case Fact::version:
        version_ = rows.integer(row, 1);
        break;
      case Fact::block:
        blocks.push_back(rows.integer(row, 1));
        break;
    }
  }
  if (version_wanted_ && !version_) {
    return fail(Errc::corrupt, "The version of the catalogue is missing.");
  }
  std::ranges::sort(blocks);
  sequences_ = Sequences{std::move(blocks)};
  fence.finish(lost);
  return {};
}

}  // namespace postrider::postgres

// The first statement of a batch: it checks the leases of the node and reads the version of the
// catalogue and new sequences. One object per transaction. Store thread only.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/model/catalog_version.h"

#include "adapters/postgres/store/database/session.h"
#include "adapters/postgres/store/ledger/sequences.h"
#include "adapters/postgres/store/peers/shard_fence.h"

namespace postrider::postgres {

class BatchOpening {
 public:
  struct Wanted {
    bool version = false;
    std::size_t sequences = 0;
  };

  /// Adds the statement to the session's next exchange, if there is something to ask for. What the
  /// statements after it read is read under the leases.
  void queue(Session& session, ShardFence& fence, const Wanted& wanted);
  [[nodiscard]] Result<void> take(const std::vector<Rows>& answers, ShardFence& fence);

  /// Empty unless wanted.
  [[nodiscard]] std::optional<CatalogVersion> version() const { return version_; }
  [[nodiscard]] const Sequences& sequences() const { return sequences_; }

 private:
  bool version_wanted_ = false;
  std::optional<std::size_t> answer_;
  std::optional<CatalogVersion> version_;
  Sequences sequences_;
};

}  // namespace postrider::postgres

// The sequences that a transaction gives to its events, deliveries and attempts.
//
// A transaction takes blocks of numbers from the database, so that no two transactions have the
// same numbers, and a later transaction has higher ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/assert.h"

#include "adapters/postgres/store/database/session.h"

namespace postrider::postgres {

class Sequences {
 public:
  static constexpr std::int64_t block_size = 1'024;

  Sequences() = default;
  /// `blocks`: the answer of the query below.
  explicit Sequences(const Rows& blocks) {
    blocks_.reserve(static_cast<std::size_t>(blocks.count()));
    for (int row = 0; row < blocks.count(); ++row) {
      blocks_.push_back(blocks.integer(row, 0));
    }
  }

  /// In ascending order.
  explicit Sequences(std::vector<std::int64_t> blocks) : blocks_(std::move(blocks)) {}

  /// The number of blocks with `count` sequences.
  [[nodiscard]] static std::int64_t blocks_for(std::size_t count) {
    return (static_cast<std::int64_t>(count) + block_size - 1) / block_size;
  }
  /// Queues the query for enough blocks. `count` must not be zero.
  static std::size_t queue(Session& session, std::size_t count) {
    return session.queue("SELECT nextval('sequence_block') FROM generate_series(1, $1)",
                         Parameters::of(blocks_for(count)));
  }

  /// Each is higher than the one before.
  [[nodiscard]] std::int64_t next() {
    const auto block = static_cast<std::size_t>(used_ / block_size);
    POSTRIDER_ASSERT(block < blocks_.size());
    return blocks_[block] * block_size + used_++ % block_size;
  }

 private:
  std::vector<std::int64_t> blocks_;
  std::int64_t used_ = 0;
};

}  // namespace postrider::postgres

// The commands of a consumer group of a stream.
//
// Redis remembers which entries were delivered to which consumer and are not acknowledged: they are
// *pending* for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"
#include "ports/event_source.h"

#include "adapters/redis/connection.h"
#include "adapters/redis/reply.h"

namespace postrider::redis {

/// Errors: unavailable, with a sentence.
struct ConsumerGroup {
  std::string stream;
  std::string name;
  std::string consumer;

  /// Creates the group if it does not exist, and checks that entries can be read.
  Result<void> open(Connection& connection) const;

  /// Creates the group if `reply` says that it is gone, as after Redis has lost its data. Returns
  /// false if it does not. Fails if the reply is another error.
  Result<bool> restore(Connection& connection, const Reply& reply) const;

  /// Reads the entries that are pending for this consumer. Does not block.
  Result<Reply> read_own(Connection& connection, std::size_t count_max) const;
  /// Waits for new entries. Returns nullopt if it was interrupted.
  Result<std::optional<Reply>> read_new(Connection& connection, const ReceiveOptions& options,
                                        const Signal& interrupt) const;
  /// Takes over entries that have been pending for `idle_min`.
  Result<Reply> claim(Connection& connection, Millis idle_min, std::string_view cursor,
                      std::size_t count_max) const;

  Result<void> acknowledge(Connection& connection, const std::vector<std::string_view>& ids) const;

  /// Removes entries that every group of the stream has acknowledged.
  Result<void> trim(Connection& connection) const;

  Result<SourceLag> lag(Connection& connection) const;

 private:
  Result<void> create(Connection& connection) const;
};

}  // namespace postrider::redis

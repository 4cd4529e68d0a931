// Decides which entries of the stream come next: first what is pending for this consumer, then what
// a consumer that died left behind, then new entries.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"
#include "ports/event_source.h"

#include "adapters/redis/connection.h"
#include "adapters/redis/consumer_group.h"
#include "adapters/redis/stream_entries.h"
#include "adapters/redis/wake_up.h"

namespace postrider::redis {

/// One thread. Errors: unavailable.
class EntryReader {
 public:
  struct Options {
    std::string json_field;
    Millis claim_after;
  };
  /// `group` must outlive this object.
  EntryReader(const ConsumerGroup& group, Options options);

  /// Call after every connect.
  void start();

  /// Call if entries were received and not acknowledged: they are read again.
  void expect_own_pending() { has_own_pending_ = true; }

  /// As EventSource::receive.
  Result<std::vector<SourceRecord>> read(Connection& connection, const ReceiveOptions& options,
                                         const Signal& interrupt);

  /// The entry of the last batch that was too large to be read.
  [[nodiscard]] const std::optional<std::string>& oversize_id() const { return oversize_id_; }

 private:
  Result<std::vector<SourceRecord>> read_own(Connection& connection, std::size_t count_max);
  Result<std::vector<SourceRecord>> claim(Connection& connection, std::size_t count_max);
  Result<std::vector<SourceRecord>> read_new(Connection& connection, const ReceiveOptions& options,
                                             const Signal& interrupt);
  std::vector<SourceRecord> take(EntryBatch batch);

  const ConsumerGroup& group_;
  Options options_;
  bool has_own_pending_ = true;
  Timer claim_timer_;
  std::string claim_cursor_ = "0-0";
  std::size_t count_max_;  // Of a batch. Reduced if entries are large.
  std::optional<std::string> oversize_id_;
};

}  // namespace postrider::redis

#include "adapters/redis/entry_reader.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace postrider::redis {
namespace {

constexpr Millis claim_interval_min{100};
constexpr Millis claim_interval_max{15'000};
constexpr std::size_t batch_entries_max = 100'000;
constexpr std::string_view first_cursor = "0-0";

}  // namespace

EntryReader::EntryReader(const ConsumerGroup& group, Options options)
    : group_(group), options_(std::move(options)), count_max_(batch_entries_max) {}

void EntryReader::start() {
  has_own_pending_ = true;
  claim_cursor_ = first_cursor;
  claim_timer_.start(Millis{0});
}

Result<std::vector<SourceRecord>> EntryReader::read(Connection& connection,
                                                    const ReceiveOptions& options,
                                                    const Signal& interrupt) {
  oversize_id_.reset();
  const std::size_t count_max = std::min(options.records_max, count_max_);
  if (has_own_pending_) {
    POSTRIDER_TRY(std::vector<SourceRecord> records, read_own(connection, count_max));
    if (!records.empty()) {
      return records;
    }
  }
  if (connection.is_usable() && claim_timer_.has_passed()) {
    POSTRIDER_TRY(std::vector<SourceRecord> records, claim(connection, count_max));
    if (!records.empty()) {
      return records;
    }
  }
  if (!connection.is_usable()) {
    return std::vector<SourceRecord>{};
  }
  return read_new(connection, {count_max, options.wait_max}, interrupt);
}

Result<std::vector<SourceRecord>> EntryReader::read_own(Connection& connection,
                                                        std::size_t count_max) {
  Result<Reply> reply = group_.read_own(connection, count_max);
  if (connection.has_overflowed()) {
    return take(read_entries(entries_of_read(connection.take_partial()), true));
  }
  if (!reply) {
    return tl::make_unexpected(std::move(reply).error());
  }
  POSTRIDER_CHECK(group_.restore(connection, *reply));
  EntryBatch batch = read_entries(entries_of_read(*std::move(reply)));
  has_own_pending_ = !batch.entries.empty();
  return take(std::move(batch));
}

Result<std::vector<SourceRecord>> EntryReader::claim(Connection& connection,
                                                     std::size_t count_max) {
  Result<Reply> reply = group_.claim(connection, options_.claim_after, claim_cursor_, count_max);
  if (connection.has_overflowed()) {
    return take(read_entries(read_claim(connection.take_partial()).entries, true));
  }
  if (!reply) {
    return tl::make_unexpected(std::move(reply).error());
  }
  POSTRIDER_CHECK(group_.restore(connection, *reply));
  ClaimReply claimed = read_claim(*std::move(reply));
  claim_cursor_ = std::move(claimed.next_cursor);
  if (claim_cursor_ == first_cursor) {
    claim_timer_.start(
        std::clamp(options_.claim_after / 4, claim_interval_min, claim_interval_max));
  }
  EntryBatch batch = read_entries(std::move(claimed.entries));
  for (std::string& id : claimed.deleted_ids) {
    batch.entries.push_back({std::move(id), std::nullopt});
  }
  return take(std::move(batch));
}

Result<std::vector<SourceRecord>> EntryReader::read_new(Connection& connection,
                                                        const ReceiveOptions& options,
                                                        const Signal& interrupt) {
  Result<std::optional<Reply>> reply = group_.read_new(connection, options, interrupt);
  if (connection.has_overflowed()) {
    return take(read_entries(entries_of_read(connection.take_partial()), true));
  }
  if (!reply) {
    return tl::make_unexpected(std::move(reply).error());
  }
  if (!*reply) {
    return std::vector<SourceRecord>{};
  }
  POSTRIDER_CHECK(group_.restore(connection, **reply));
  return take(read_entries(entries_of_read(**std::move(reply))));
}

/// What is missing of a batch that was cut is pending for this consumer.
std::vector<SourceRecord> EntryReader::take(EntryBatch batch) {
  if (!batch.is_cut) {
    count_max_ = std::min(count_max_ * 2, batch_entries_max);
  } else {
    has_own_pending_ = true;
    count_max_ = std::max<std::size_t>(batch.entries.size(), 1);
  }
  std::vector<SourceRecord> records;
  records.reserve(batch.entries.size());
  for (StreamEntry& entry : batch.entries) {
    records.push_back(to_record(std::move(entry), options_.json_field));
  }
  if (records.empty() && !batch.cut_id.empty()) {
    oversize_id_ = batch.cut_id;
    records.push_back({.receipt = std::move(batch.cut_id),
                       .problem = fmt::format("The entry needs more than {} MiB of memory.",
                                              reply_bytes_max >> 20)});
  }
  return records;
}

}  // namespace postrider::redis

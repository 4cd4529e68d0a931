#include "adapters/redis/redis_source.h"

#include <utility>

#include "core/base/overloaded.h"

#include "adapters/redis/connection.h"
#include "adapters/redis/consumer_group.h"
#include "adapters/redis/entry_reader.h"
#include "adapters/redis/parking.h"
#include "adapters/redis/redis_address.h"
#include "adapters/redis/wake_up.h"

namespace postrider {
namespace {

constexpr Millis trim_interval{1'000};

/// Redis remembers what was received and not acknowledged, so nothing is remembered here: after a
/// failure it is read again.
class RedisSource final : public EventSource {
 public:
  explicit RedisSource(RedisOptions options)
      : options_(std::move(options)),
        group_{options_.stream, options_.group, options_.consumer},
        reader_(group_, {options_.json_field, options_.claim_after}) {}

  Result<void> connect() override;
  Result<std::vector<SourceRecord>> receive(const ReceiveOptions& options) override;
  Result<void> settle(const std::vector<SettledRecord>& records) override;
  Result<SourceLag> lag() override;
  void interrupt() override { interrupt_.set(); }

 private:
  /// Connects unless there is a connection that can be used.
  Result<void> ensure_connected();
  Result<void> trim_if_due();

  const RedisOptions options_;
  const redis::ConsumerGroup group_;
  redis::EntryReader reader_;
  redis::Signal interrupt_;
  std::unique_ptr<redis::Connection> connection_;  // nullptr before the first connect.
  redis::Timer trim_timer_;
  bool has_acknowledged_ = false;  // Since the stream was trimmed.
};

Result<void> RedisSource::connect() {
  connection_.reset();
  const Result<redis::RedisAddress> address = redis::parse_redis_address(options_.address.reveal());
  if (!address) {
    return fail(Errc::unavailable, address.error().message);
  }
  POSTRIDER_TRY(connection_, redis::Connection::open(*address, options_.ca_file));
  reader_.start();
  trim_timer_.start(trim_interval);
  return group_.open(*connection_);
}

Result<void> RedisSource::ensure_connected() {
  return connection_ && connection_->is_usable() ? Result<void>{} : connect();
}

Result<std::vector<SourceRecord>> RedisSource::receive(const ReceiveOptions& options) {
  if (interrupt_.take()) {
    return std::vector<SourceRecord>{};
  }
  POSTRIDER_CHECK(ensure_connected());
  POSTRIDER_CHECK(trim_if_due());
  POSTRIDER_TRY(std::vector<SourceRecord> records, reader_.read(*connection_, options, interrupt_));
  if (records.empty()) {
    static_cast<void>(interrupt_.take());
  }
  return records;
}

Result<void> RedisSource::settle(const std::vector<SettledRecord>& records) {
  POSTRIDER_CHECK(ensure_connected());
  std::vector<std::string_view> stored_ids;
  std::vector<std::string_view> rejected_ids;
  std::vector<redis::RejectedEntry> rejected;
  for (const SettledRecord& record : records) {
    const std::string& id = record.receipt;
    std::visit(Overloaded{
                   [&](const RecordStored&) { stored_ids.push_back(id); },
                   [&](const RecordRejected& outcome) {
                     rejected_ids.push_back(id);
                     rejected.push_back({id, outcome.reason, reader_.oversize_id() != id});
                   },
                   [&](const RecordDeferred&) { reader_.expect_own_pending(); },
               },
               record.outcome);
  }
  POSTRIDER_CHECK(group_.acknowledge(*connection_, stored_ids));
  POSTRIDER_CHECK(
      redis::park_entries(*connection_, options_.stream, options_.parking_stream, rejected));
  POSTRIDER_CHECK(group_.acknowledge(*connection_, rejected_ids));
  has_acknowledged_ = true;
  return {};
}

Result<void> RedisSource::trim_if_due() {
  if (!options_.trims || !has_acknowledged_ || !trim_timer_.has_passed()) {
    return {};
  }
  has_acknowledged_ = false;
  trim_timer_.start(trim_interval);
  return group_.trim(*connection_);
}

Result<SourceLag> RedisSource::lag() {
  POSTRIDER_CHECK(ensure_connected());
  Result<SourceLag> lag = group_.lag(*connection_);
  // The next entry is too large to be looked at. It will be received and rejected.
  return !lag && connection_->has_overflowed() ? SourceLag{} : std::move(lag);
}

}  // namespace

std::unique_ptr<EventSource> make_redis_source(RedisOptions options) {
  return std::make_unique<RedisSource>(std::move(options));
}

}  // namespace postrider

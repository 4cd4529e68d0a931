#include "adapters/memory/memory_source.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace postrider {

void MemoryQueue::add(std::vector<SourceField> fields) {
  add_record(SourceRecord{.receipt = {}, .fields = std::move(fields)});
}

void MemoryQueue::add_record(SourceRecord record) {
  const std::scoped_lock lock{mutex_};
  record.receipt = fmt::format("{}", ++last_number_);
  waiting_.push_back({.record = std::move(record), .number = last_number_});
  changed_.notify_all();
}

std::vector<MemoryRejected> MemoryQueue::rejected() const {
  const std::scoped_lock lock{mutex_};
  return rejected_;
}

std::size_t MemoryQueue::size() const {
  const std::scoped_lock lock{mutex_};
  return waiting_.size();
}

void MemoryQueue::set_reachable(bool reachable) {
  const std::scoped_lock lock{mutex_};
  reachable_ = reachable;
  changed_.notify_all();
}

void MemoryQueue::inject(std::function<SourceFault(SourceCall)> faults) {
  const std::scoped_lock lock{mutex_};
  faults_ = std::move(faults);
}

void MemoryQueue::set_taken(bool taken) {
  const std::scoped_lock lock{mutex_};
  taken_ = taken;
}

SourceFault MemoryQueue::fault_of(SourceCall call) {
  if (!reachable_) {
    return SourceFault::not_performed;
  }
  return faults_ ? faults_(call) : SourceFault::none;
}

class MemorySource final : public EventSource {
 public:
  explicit MemorySource(MemoryQueue& queue) : queue_(queue) {}

  Result<void> connect() override;
  Result<std::vector<SourceRecord>> receive(const ReceiveOptions& options) override;
  Result<void> settle(const std::vector<SettledRecord>& records) override;
  Result<SourceLag> lag() override;
  [[nodiscard]] bool is_standby() const override;
  void interrupt() override;

 private:
  static tl::unexpected<Error> unreachable() {
    return fail(Errc::unavailable, "The queue in memory is not reachable.");
  }
  [[nodiscard]] bool has_waiting() const {
    return !queue_.taken_ &&
           std::ranges::any_of(queue_.waiting_, [](const auto& each) { return !each.received; });
  }
  void settle_one(const SettledRecord& settled);

  MemoryQueue& queue_;
  bool connected_ = false;  // Guarded by the queue's mutex, as is `interrupted_`.
  bool interrupted_ = false;
};

Result<void> MemorySource::connect() {
  const std::scoped_lock lock{queue_.mutex_};
  const SourceFault fault = queue_.fault_of(SourceCall::connect);
  connected_ = fault == SourceFault::none;
  if (fault != SourceFault::not_performed) {
    std::ranges::for_each(queue_.waiting_, [](auto& each) { each.received = false; });
  }
  return connected_ ? Result<void>{} : unreachable();
}

Result<std::vector<SourceRecord>> MemorySource::receive(const ReceiveOptions& options) {
  std::unique_lock lock{queue_.mutex_};
  queue_.changed_.wait_for(lock, options.wait_max, [this] {
    return interrupted_ || has_waiting() || !queue_.reachable_ || !connected_;
  });
  const SourceFault fault = queue_.fault_of(SourceCall::receive);
  connected_ = connected_ && fault == SourceFault::none;
  if (!connected_ && fault != SourceFault::performed) {
    return unreachable();
  }
  std::vector<SourceRecord> records;
  if (std::exchange(interrupted_, false) || queue_.taken_) {
    return records;
  }
  for (auto& each : queue_.waiting_) {
    if (!each.received && records.size() < options.records_max) {
      each.received = true;
      records.push_back(each.record);
    }
  }
  return connected_ ? Result<std::vector<SourceRecord>>{std::move(records)} : unreachable();
}

void MemorySource::settle_one(const SettledRecord& settled) {
  const auto found = std::ranges::find_if(queue_.waiting_, [&](const auto& each) {
    return each.received && each.record.receipt == settled.receipt;
  });
  if (found == queue_.waiting_.end()) {
    return;
  }
  if (std::holds_alternative<RecordDeferred>(settled.outcome)) {
    found->received = false;
    return;
  }
  if (const auto* rejected = std::get_if<RecordRejected>(&settled.outcome)) {
    queue_.rejected_.push_back({std::move(found->record.fields), rejected->reason});
  }
  queue_.waiting_.erase(found);
}

Result<void> MemorySource::settle(const std::vector<SettledRecord>& records) {
  const std::scoped_lock lock{queue_.mutex_};
  const SourceFault fault = queue_.fault_of(SourceCall::settle);
  const bool was_connected = std::exchange(connected_, connected_ && fault == SourceFault::none);
  if (was_connected && fault != SourceFault::not_performed) {
    std::ranges::for_each(records, [this](const auto& each) { settle_one(each); });
  }
  return connected_ ? Result<void>{} : unreachable();
}

Result<SourceLag> MemorySource::lag() {
  const std::scoped_lock lock{queue_.mutex_};
  if (!connected_ || queue_.fault_of(SourceCall::lag) != SourceFault::none) {
    return unreachable();
  }
  const auto count =
      std::ranges::count_if(queue_.waiting_, [](const auto& each) { return !each.received; });
  return SourceLag{.messages = static_cast<std::uint64_t>(count)};
}

bool MemorySource::is_standby() const {
  const std::scoped_lock lock{queue_.mutex_};
  return queue_.taken_;
}

void MemorySource::interrupt() {
  const std::scoped_lock lock{queue_.mutex_};
  interrupted_ = true;
  queue_.changed_.notify_all();
}

std::unique_ptr<EventSource> make_memory_source(MemoryQueue& queue) {
  return std::make_unique<MemorySource>(queue);
}

}  // namespace postrider

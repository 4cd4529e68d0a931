#include "adapters/amqp/amqp_source.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.h"

#include "adapters/amqp/amqp_address.h"
#include "adapters/amqp/amqp_link.h"
#include "adapters/amqp/message_fields.h"
#include "adapters/amqp/parking.h"
#include "adapters/amqp/queue_message.h"
#include "adapters/amqp/waiting.h"

namespace postrider {
namespace {

using amqp::Link;
using amqp::Parking;
using amqp::QueueMessage;

/// Messages that have arrived and are not settled use about this much memory, or one message. The
/// others stay in the buffers of the connection, and the server waits.
constexpr std::size_t held_bytes_max = 8 << 20;
/// A batch ends if no message arrives for this time, or if messages have arrived for this time.
constexpr Millis batch_gap_max{2};
constexpr Millis batch_time_max{20};
constexpr Millis echo_time_max{10'000};
/// Heartbeats are sent at least this often while nothing arrives.
constexpr Millis pause_max{1'000};

/// Two connections: the server stops reading from a connection that publishes while it is short of
/// memory or disk space, and must still read acknowledgements.
class AmqpSource final : public EventSource {
 public:
  AmqpSource(AmqpOptions options, amqp::Address address)
      : options_(std::move(options)), address_(std::move(address)) {}

  Result<void> connect() override;
  Result<std::vector<SourceRecord>> receive(const ReceiveOptions& options) override;
  Result<void> settle(const std::vector<SettledRecord>& records) override;
  Result<SourceLag> lag() override;
  void interrupt() override { wake_up_.set(); }

 private:
  void disconnect();
  [[nodiscard]] Result<void> ensure_queue(const std::string& queue);
  [[nodiscard]] Result<void> check_connected() const;
  [[nodiscard]] bool holds_enough() const { return arrived_bytes_ >= held_bytes_max; }
  /// Waits for a frame of the consumer. Returns whether one came.
  [[nodiscard]] Result<bool> take_frame(Millis wait);
  /// Takes all messages that have arrived, unless they are too large. Returns whether there were
  /// any.
  [[nodiscard]] Result<bool> take_arrived(std::size_t records_max);
  /// Sends what becomes of each message of the batch.
  [[nodiscard]] Result<void> send_outcomes(const std::vector<SettledRecord>& records,
                                           bool rejected_are_parked);
  /// Waits until the server has processed the outcomes.
  [[nodiscard]] Result<void> await_outcomes();
  [[nodiscard]] Result<void> serve_control();
  [[nodiscard]] std::vector<SourceRecord> hand_out(std::size_t records_max);
  [[nodiscard]] Result<void> park_rejected(const std::vector<SettledRecord>& records);

  AmqpOptions options_;
  amqp::Address address_;
  amqp::WakeUp wake_up_;
  std::unique_ptr<Link> control_;  // Declares, counts and publishes.
  std::unique_ptr<Link> consumer_;
  std::optional<Parking> parking_;
  amqp::MessageReader reader_;
  std::deque<QueueMessage> arrived_;  // Not handed out yet.
  std::vector<QueueMessage> batch_;   // Handed out and not settled.
  std::size_t arrived_bytes_ = 0;
  std::uint64_t echoes_missing_ = 0;
};

void AmqpSource::disconnect() {
  parking_.reset();
  consumer_.reset();
  control_.reset();
  reader_ = {};
  arrived_.clear();
  batch_.clear();
  arrived_bytes_ = 0;
  echoes_missing_ = 0;
}

Result<void> AmqpSource::ensure_queue(const std::string& queue) {
  POSTRIDER_TRY(const std::optional<std::uint32_t> found, control_->message_count(queue));
  if (found) {
    return {};  // Of any type and with any arguments.
  }
  if (!options_.declares) {
    return fail(Errc::unavailable, fmt::format("RabbitMQ has no queue `{}`.", queue));
  }
  return control_->declare_durable(queue);
}

Result<void> AmqpSource::connect() {
  disconnect();
  const amqp::LinkOptions link{
      .address = address_, .ca_file = options_.ca_file, .queue = options_.queue};
  Result<void> connected = [&]() -> Result<void> {
    POSTRIDER_TRY(control_, Link::open(link));
    POSTRIDER_CHECK(ensure_queue(options_.queue));
    POSTRIDER_CHECK(ensure_queue(options_.parking_queue));
    POSTRIDER_CHECK(control_->select_confirms());
    POSTRIDER_TRY(consumer_, Link::open(link));
    const auto prefetch = std::clamp<std::uint32_t>(options_.prefetch, 1, 65'535);
    return consumer_->consume(options_.queue, static_cast<std::uint16_t>(prefetch));
  }();
  if (!connected) {
    disconnect();
    return connected;
  }
  parking_.emplace(
      amqp::ParkingOptions{.source_queue = options_.queue, .parking_queue = options_.parking_queue},
      *control_);
  return {};
}

Result<void> AmqpSource::check_connected() const {
  if (parking_) {
    return {};
  }
  return fail(Errc::unavailable, "There is no connection to RabbitMQ.");
}

Result<bool> AmqpSource::take_frame(Millis wait) {
  POSTRIDER_TRY(const std::optional<amqp_frame_t> frame, consumer_->next_frame(wait));
  if (!frame) {
    return false;
  }
  if (frame->frame_type == AMQP_FRAME_METHOD &&
      frame->payload.method.id == AMQP_BASIC_QOS_OK_METHOD && echoes_missing_ > 0) {
    --echoes_missing_;
  }
  if (std::optional<QueueMessage> message = reader_.add(*frame)) {
    arrived_bytes_ += message->bytes();
    arrived_.push_back(*std::move(message));
  }
  return true;
}

Result<bool> AmqpSource::take_arrived(std::size_t records_max) {
  const std::size_t before = arrived_.size();
  while (arrived_.size() < records_max && !holds_enough()) {
    POSTRIDER_TRY(const bool taken, take_frame(Millis{0}));
    if (!taken) {
      break;
    }
  }
  return arrived_.size() > before;
}

Result<void> AmqpSource::serve_control() {
  // Answers heartbeats. Nothing else is expected: confirms are awaited where they are caused.
  POSTRIDER_CHECK(control_->next_frame(Millis{0}));
  return {};
}

std::vector<SourceRecord> AmqpSource::hand_out(std::size_t records_max) {
  std::vector<SourceRecord> records;
  while (!arrived_.empty() && records.size() < records_max) {
    const QueueMessage& message = batch_.emplace_back(std::move(arrived_.front()));
    arrived_.pop_front();
    arrived_bytes_ -= message.bytes();
    records.push_back(amqp::to_record(message, options_.body_is_envelope));
  }
  return records;
}

Result<std::vector<SourceRecord>> AmqpSource::receive(const ReceiveOptions& options) {
  POSTRIDER_CHECK(check_connected());
  POSTRIDER_ASSERT(batch_.empty());
  amqp::Deadline end{options.wait_max};
  bool begun = false;
  while (true) {
    POSTRIDER_CHECK(serve_control());
    POSTRIDER_TRY(const bool any, take_arrived(options.records_max));
    const bool full = arrived_.size() >= options.records_max || holds_enough();
    if (full || (begun && !any)) {
      break;
    }
    if (!begun && !arrived_.empty()) {
      begun = true;
      end.restart(batch_time_max);
    }
    const Millis left = end.left();
    if (left == Millis{0}) {
      break;
    }
    if (wake_up_.wait(consumer_->descriptor(), std::min(left, begun ? batch_gap_max : pause_max))) {
      break;
    }
  }
  return hand_out(options.records_max);
}

Result<void> AmqpSource::park_rejected(const std::vector<SettledRecord>& records) {
  for (std::size_t index = 0; index < records.size(); ++index) {
    if (const auto* rejected = std::get_if<RecordRejected>(&records[index].outcome)) {
      POSTRIDER_CHECK(parking_->publish(batch_[index], rejected->reason));
    }
  }
  return parking_->await_confirms();
}

Result<void> AmqpSource::send_outcomes(const std::vector<SettledRecord>& records,
                                       bool rejected_are_parked) {
  enum class Action : std::uint8_t { acknowledge, requeue, nothing };
  const auto action_of = [&](const SettledRecord& record) {
    if (std::holds_alternative<RecordDeferred>(record.outcome)) {
      return Action::requeue;
    }
    const bool rejected = std::holds_alternative<RecordRejected>(record.outcome);
    return rejected && !rejected_are_parked ? Action::nothing : Action::acknowledge;
  };
  // One call settles a run of messages, as long as no message before it stays unsettled.
  bool complete = true;
  for (std::size_t index = 0; index < records.size(); ++index) {
    const Action action = action_of(records[index]);
    complete = complete && action != Action::nothing;
    const bool run_goes_on =
        complete && index + 1 < records.size() && action_of(records[index + 1]) == action;
    if (action == Action::nothing || run_goes_on) {
      continue;
    }
    const Link::Tags tags{.tag = batch_[index].tag, .multiple = complete};
    POSTRIDER_CHECK(action == Action::requeue ? consumer_->requeue(tags)
                                              : consumer_->acknowledge(tags));
  }
  return {};
}

Result<void> AmqpSource::await_outcomes() {
  POSTRIDER_CHECK(consumer_->request_echo());
  ++echoes_missing_;
  const amqp::Deadline end{echo_time_max};
  // The echo comes behind the messages under way. They are held, unless they are too large: then
  // the echo is left for later. If the connection ends before the server has read the outcomes, the
  // keys of the events make their repetition harmless.
  while (echoes_missing_ > 0 && !holds_enough()) {
    POSTRIDER_TRY(const bool taken, take_frame(pause_max));
    if (!taken && end.is_over()) {
      return fail(Errc::unavailable, "RabbitMQ does not answer acknowledgements.");
    }
  }
  return {};
}

Result<void> AmqpSource::settle(const std::vector<SettledRecord>& records) {
  POSTRIDER_CHECK(check_connected());
  POSTRIDER_ASSERT(records.size() == batch_.size());
  Result<void> parked = park_rejected(records);
  POSTRIDER_CHECK(send_outcomes(records, parked.has_value()));
  POSTRIDER_CHECK(await_outcomes());
  batch_.clear();
  return parked;
}

Result<SourceLag> AmqpSource::lag() {
  POSTRIDER_CHECK(check_connected());
  POSTRIDER_CHECK(take_arrived(options_.prefetch));
  POSTRIDER_TRY(const std::optional<std::uint32_t> waiting,
                control_->message_count(options_.queue));
  if (!waiting) {
    return fail(Errc::unavailable, fmt::format("The queue `{}` was deleted.", options_.queue));
  }
  return SourceLag{.messages = *waiting + arrived_.size(), .oldest_age = std::nullopt};
}

}  // namespace

Result<std::unique_ptr<EventSource>> make_amqp_source(AmqpOptions options) {
  POSTRIDER_TRY(amqp::Address address, amqp::parse_address(options.address.reveal()));
  return std::make_unique<AmqpSource>(std::move(options), std::move(address));
}

}  // namespace postrider

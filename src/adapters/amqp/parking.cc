#include "adapters/amqp/parking.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <amqp_framing.h>
#include <fmt/format.h>

#include "adapters/amqp/amqp_errors.h"
#include "adapters/amqp/waiting.h"

namespace postrider::amqp {
namespace {

constexpr Millis confirm_time_max{30'000};
constexpr Millis frame_time_max{1'000};
constexpr std::size_t reason_bytes_max = 1'000;
/// Room in the frame of the properties for the headers that are added.
constexpr std::size_t added_bytes_max = 4'096;

amqp_table_entry_t text_header(const char* name, std::string_view text) {
  amqp_table_entry_t entry{};
  entry.key = amqp_cstring_bytes(name);
  entry.value.kind = AMQP_FIELD_KIND_UTF8;
  entry.value.value.bytes = bytes(text);
  return entry;
}

class ParkedProperties {
 public:
  ParkedProperties(const amqp_basic_properties_t& original, bool keeps_headers)
      : properties_(original) {
    if (keeps_headers && (original._flags & AMQP_BASIC_HEADERS_FLAG) != 0) {
      for (int index = 0; index < original.headers.num_entries; ++index) {
        keep(original.headers.entries[index]);
      }
    }
    properties_.delivery_mode = AMQP_DELIVERY_PERSISTENT;
    properties_._flags |= AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_HEADERS_FLAG;
  }

  void add(const char* name, std::string_view text) { headers_.push_back(text_header(name, text)); }

  /// The server refuses a foreign user, removes expired messages, and answers to `reply_to`.
  void move_to_header(amqp_flags_t flag, const char* name, amqp_bytes_t value) {
    if ((properties_._flags & flag) != 0) {
      properties_._flags &= ~flag;
      add(name, view(value));
    }
  }

  [[nodiscard]] const amqp_basic_properties_t& finished() {
    properties_.headers = {.num_entries = static_cast<int>(headers_.size()),
                           .entries = headers_.data()};
    return properties_;
  }

 private:
  void keep(amqp_table_entry_t header) {
    const std::string_view name = view(header.key);
    if (name.starts_with("x-postrider-")) {
      return;  // Of an earlier rejection.
    }
    // The server also routes to the queues that these headers name.
    if (name == "CC" || name == "BCC") {
      header.key = amqp_cstring_bytes(name == "CC" ? "x-postrider-cc" : "x-postrider-bcc");
    }
    headers_.push_back(header);
  }

  amqp_basic_properties_t properties_;
  std::vector<amqp_table_entry_t> headers_;
};

}  // namespace

Parking::Parking(ParkingOptions options, Link& link) : options_(std::move(options)), link_(link) {}

Result<void> Parking::publish(const QueueMessage& message, const std::string& reason) {
  POSTRIDER_CHECK(check_accepted());
  const MessageProperties decoded{message};
  const amqp_basic_properties_t& original = decoded.get();
  const bool keeps_headers = message.properties.size() + added_bytes_max <= link_.frame_bytes_max();
  ParkedProperties parked{original, keeps_headers};
  parked.add(reason_header, std::string_view{reason}.substr(0, reason_bytes_max));
  parked.add("x-postrider-queue", options_.source_queue);
  parked.add("x-postrider-exchange", message.exchange);
  parked.add("x-postrider-routing-key", message.routing_key);
  if (!keeps_headers) {
    parked.add("x-postrider-note", "The headers were too long to be kept.");
  }
  parked.move_to_header(AMQP_BASIC_USER_ID_FLAG, "x-postrider-user-id", original.user_id);
  parked.move_to_header(AMQP_BASIC_EXPIRATION_FLAG, "x-postrider-expiration", original.expiration);
  parked.move_to_header(AMQP_BASIC_REPLY_TO_FLAG, "x-postrider-reply-to", original.reply_to);
  POSTRIDER_CHECK(link_.publish(options_.parking_queue, parked.finished(), message.body));
  unconfirmed_.insert(++published_);
  return {};
}

Result<void> Parking::await_confirms() {
  const Deadline end{confirm_time_max};
  while (!unconfirmed_.empty()) {
    POSTRIDER_TRY(const std::optional<amqp_frame_t> frame, link_.next_frame(frame_time_max));
    POSTRIDER_CHECK(check_accepted());
    if (frame && frame->frame_type == AMQP_FRAME_METHOD) {
      POSTRIDER_CHECK(handle(frame->payload.method));
    }
    if (!unconfirmed_.empty() && end.is_over()) {
      return fail(Errc::unavailable,
                  fmt::format("RabbitMQ did not confirm messages for the parking queue `{}`.",
                              options_.parking_queue));
    }
  }
  return {};
}

Result<void> Parking::handle(const amqp_method_t& method) {
  if (method.id == AMQP_BASIC_RETURN_METHOD) {
    return fail(Errc::unavailable,
                fmt::format("The parking queue `{}` does not exist.", options_.parking_queue));
  }
  if (method.id == AMQP_BASIC_NACK_METHOD) {
    return fail(Errc::unavailable, fmt::format("RabbitMQ refused a message for the parking queue "
                                               "`{}`; it may be full.",
                                               options_.parking_queue));
  }
  if (method.id == AMQP_BASIC_ACK_METHOD) {
    const auto& ack = *static_cast<const amqp_basic_ack_t*>(method.decoded);
    const auto first =
        ack.multiple != 0 ? unconfirmed_.begin() : unconfirmed_.lower_bound(ack.delivery_tag);
    unconfirmed_.erase(first, unconfirmed_.upper_bound(ack.delivery_tag));
  }
  return {};
}

Result<void> Parking::check_accepted() const {
  if (!link_.blocked()) {
    return {};
  }
  return fail(Errc::unavailable,
              fmt::format("RabbitMQ accepts no messages for the parking queue `{}`: {}.",
                          options_.parking_queue, printable(*link_.blocked())));
}

}  // namespace postrider::amqp

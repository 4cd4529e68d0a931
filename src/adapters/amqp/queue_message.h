// One message of a queue, copied out of the library's buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <amqp.h>

namespace postrider::amqp {

struct QueueMessage {
  std::uint64_t tag = 0;  // Names the message in acknowledgements on its channel.
  std::string exchange;
  std::string routing_key;
  std::string properties;  // As they were sent, undecoded.
  std::string body;

  [[nodiscard]] std::size_t bytes() const { return properties.size() + body.size(); }
};

/// The decoded properties of a message, which must outlive them and not change.
class MessageProperties {
 public:
  explicit MessageProperties(const QueueMessage& message);
  ~MessageProperties();
  MessageProperties(const MessageProperties&) = delete;
  MessageProperties& operator=(const MessageProperties&) = delete;

  [[nodiscard]] const amqp_basic_properties_t& get() const { return *decoded_; }

 private:
  amqp_pool_t pool_{};
  amqp_basic_properties_t none_{};  // If they cannot be decoded.
  const amqp_basic_properties_t* decoded_ = &none_;
};

/// Puts messages together from frames.
class MessageReader {
 public:
  /// Returns the message that `frame` completes.
  [[nodiscard]] std::optional<QueueMessage> add(const amqp_frame_t& frame);

 private:
  QueueMessage message_;
  std::uint64_t body_bytes_left_ = 0;
};

}  // namespace postrider::amqp

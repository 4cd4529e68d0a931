#include "adapters/amqp/queue_message.h"

#include <algorithm>
#include <utility>

#include <amqp_framing.h>

#include "adapters/amqp/amqp_errors.h"

namespace postrider::amqp {
namespace {

constexpr std::size_t pool_page_bytes = 4'096;
/// Memory for larger bodies is taken as they arrive.
constexpr std::uint64_t reserved_bytes_max = 1 << 20;

}  // namespace

MessageProperties::MessageProperties(const QueueMessage& message) {
  init_amqp_pool(&pool_, pool_page_bytes);
  void* decoded = nullptr;
  if (amqp_decode_properties(AMQP_BASIC_CLASS, &pool_, amqp::bytes(message.properties), &decoded) ==
      AMQP_STATUS_OK) {
    decoded_ = static_cast<const amqp_basic_properties_t*>(decoded);
  }
}

MessageProperties::~MessageProperties() { empty_amqp_pool(&pool_); }

std::optional<QueueMessage> MessageReader::add(const amqp_frame_t& frame) {
  switch (frame.frame_type) {
    case AMQP_FRAME_METHOD: {
      if (frame.payload.method.id != AMQP_BASIC_DELIVER_METHOD) {
        return std::nullopt;
      }
      const auto& deliver = *static_cast<const amqp_basic_deliver_t*>(frame.payload.method.decoded);
      message_ = {.tag = deliver.delivery_tag,
                  .exchange = std::string{view(deliver.exchange)},
                  .routing_key = std::string{view(deliver.routing_key)},
                  .properties = {},
                  .body = {}};
      return std::nullopt;
    }
    case AMQP_FRAME_HEADER:
      message_.properties = view(frame.payload.properties.raw);
      body_bytes_left_ = frame.payload.properties.body_size;
      message_.body.reserve(std::min(body_bytes_left_, reserved_bytes_max));
      break;
    case AMQP_FRAME_BODY:
      message_.body += view(frame.payload.body_fragment);
      body_bytes_left_ -=
          std::min<std::uint64_t>(body_bytes_left_, frame.payload.body_fragment.len);
      break;
    default:
      return std::nullopt;
  }
  if (body_bytes_left_ > 0) {
    return std::nullopt;
  }
  return std::exchange(message_, {});
}

}  // namespace postrider::amqp

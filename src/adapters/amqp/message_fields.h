// From a message of a queue to the fields that an event is made of. Pure.
//
// The fields are `body`, `message_id`, `type`, `priority` (low, normal or high), `timestamp`
// (RFC 3339), `routing_key`, `exchange`, `app_id`, `correlation_id`, `user_id`, `content_type`,
// `headers` (a JSON object) and `headers.<name>` for each header. A property that the message does
// not have is not a field; without a priority, it is normal. If the body is an envelope, its
// members are fields instead of `body`, and take precedence over properties of the same name.
#pragma once

#include <string_view>

#include "core/source/source_record.h"

#include "adapters/amqp/queue_message.h"

namespace postrider::amqp {

[[nodiscard]] SourceRecord to_record(const QueueMessage& message, bool body_is_envelope);

/// 0 to 3 low, 4 to 6 normal, 7 and above high.
[[nodiscard]] std::string_view priority_word(std::uint8_t priority);

}  // namespace postrider::amqp

// The headers of a message as JSON. Every type of RabbitMQ's tables has a form in JSON; nothing is
// refused. Pure.
#pragma once

#include <string>

#include <amqp.h>

namespace postrider::amqp {

/// Deeper values become null: they would be too deep for an event.
constexpr int header_depth_max = 32;

/// Times become RFC 3339 text, numbers that are not finite become null. Of members with the same
/// name, the first counts.
void append_json(std::string& json, const amqp_field_value_t& value, int depth = 0);
void append_json(std::string& json, const amqp_table_t& table, int depth = 0);

/// A message's time in seconds since 1970 as RFC 3339 text. Some publishers send milliseconds: a
/// number beyond the year 5138 is understood so.
[[nodiscard]] std::string time_text(std::uint64_t seconds);

}  // namespace postrider::amqp

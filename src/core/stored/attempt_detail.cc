#include "core/stored/attempt_detail.h"

#include <cstdint>
#include <optional>

#include "core/stored/packing.h"

namespace postrider::stored {
namespace {

// The first byte. A new layout gets the next number; these must stay readable forever. The first
// layout had no shape.
constexpr std::uint64_t layout_without_shape = 1;
constexpr std::uint64_t layout = 2;

constexpr const char* damaged = "The record of an attempt is damaged.";

/// Reads the layout and the number of the shape. Returns nullopt if the layout is unknown.
std::optional<std::uint32_t> read_layout_and_shape(Unpacker& unpacker) {
  const std::uint64_t stored = unpacker.number();
  if (stored == layout_without_shape) {
    return 0;
  }
  if (stored != layout) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(unpacker.number());
}

Headers read_headers(Unpacker& unpacker) {
  Headers headers;
  const std::uint64_t count = unpacker.number();
  for (std::uint64_t i = 0; i < count && unpacker.intact(); ++i) {
    std::string name = unpacker.text();
    headers.emplace_back(std::move(name), unpacker.text());
  }
  return headers;
}

Micros read_micros(Unpacker& unpacker) {
  return Micros{static_cast<std::int64_t>(unpacker.number())};
}

void put_micros(Micros duration, std::string& out) {
  put_number(static_cast<std::uint64_t>(duration.count()), out);
}

/// Optional values are stored as value + 1; zero is nullopt.
template <class Value>
std::uint64_t plus_one(const std::optional<Value>& value) {
  return value ? static_cast<std::uint64_t>(*value) + 1 : 0;
}

/// Reads the fields before the response sample. False if the layout is unknown.
bool unpack_head(Unpacker& unpacker, Outcome& outcome) {
  const bool known_layout = read_layout_and_shape(unpacker).has_value();
  if (const std::uint64_t failure = unpacker.number(); failure != 0) {
    outcome.failure = static_cast<FailureCategory>(failure - 1);
  }
  const bool asked_to_wait = unpacker.number() != 0;
  const Millis retry_after{static_cast<std::int64_t>(unpacker.number())};
  if (asked_to_wait) {
    outcome.retry_after = retry_after;
  }
  outcome.timings.dns = read_micros(unpacker);
  outcome.timings.connect = read_micros(unpacker);
  outcome.timings.tls = read_micros(unpacker);
  outcome.timings.first_byte = read_micros(unpacker);
  outcome.remote_ip = unpacker.text();
  outcome.error_message = unpacker.text();
  return known_layout;
}

}  // namespace

void pack_headers(const Headers& headers, std::string& out) {
  put_number(headers.size(), out);
  for (const auto& [name, value] : headers) {
    put_text(name, out);
    put_text(value, out);
  }
}

Result<Headers> unpack_headers(std::string_view packed) {
  Unpacker unpacker{packed};
  Headers headers = read_headers(unpacker);
  if (!unpacker.finished()) {
    return fail(Errc::corrupt, "Stored headers are damaged.");
  }
  return headers;
}

void pack_detail(const Outcome& outcome, std::uint32_t shape, std::string& out) {
  put_number(layout, out);
  put_number(shape, out);
  put_number(plus_one(outcome.failure), out);
  put_number(outcome.retry_after ? 1 : 0, out);
  put_number(static_cast<std::uint64_t>(outcome.retry_after.value_or(Millis{0}).count()), out);
  put_micros(outcome.timings.dns, out);
  put_micros(outcome.timings.connect, out);
  put_micros(outcome.timings.tls, out);
  put_micros(outcome.timings.first_byte, out);
  put_text(outcome.remote_ip, out);
  put_text(outcome.error_message, out);
  put_text(outcome.response_sample, out);
  pack_headers(outcome.response_headers, out);
}

Result<std::uint32_t> unpack_shape_number(std::string_view detail) {
  Unpacker unpacker{detail};
  const std::optional<std::uint32_t> shape = read_layout_and_shape(unpacker);
  if (!shape || !unpacker.intact()) {
    return fail(Errc::corrupt, damaged);
  }
  return *shape;
}

Result<void> unpack_detail(std::string_view detail, Outcome& outcome) {
  Unpacker unpacker{detail};
  const bool known_layout = unpack_head(unpacker, outcome);
  outcome.response_sample = unpacker.text();
  outcome.response_headers = read_headers(unpacker);
  if (!known_layout || !unpacker.finished()) {
    return fail(Errc::corrupt, damaged);
  }
  return {};
}

Result<std::string> unpack_error_message(std::string_view detail) {
  Unpacker unpacker{detail};
  Outcome outcome;
  if (!unpack_head(unpacker, outcome) || !unpacker.intact()) {
    return fail(Errc::corrupt, damaged);
  }
  return std::move(outcome.error_message);
}

}  // namespace postrider::stored

#include "core/trace/span_ids.h"

#include <cstddef>
#include <initializer_list>
#include <span>

#include "core/base/random.h"

namespace postrider {
namespace {

enum class Purpose : std::uint64_t { publish = 1, commit, attempt, given_up, part };

/// Never all zero, which is not a valid id.
SpanId mix(Purpose purpose, std::initializer_list<std::uint64_t> parts) {
  std::uint64_t hash = static_cast<std::uint64_t>(purpose);
  for (const std::uint64_t part : parts) {
    std::uint64_t state = hash ^ part;
    hash = splitmix64(state);
  }
  hash = hash == 0 ? 1 : hash;
  SpanId id;
  for (std::uint8_t& byte : id.bytes) {
    byte = static_cast<std::uint8_t>(hash >> 56);
    hash <<= 8;
  }
  return id;
}

std::uint64_t number_of(std::span<const std::uint8_t, 8> bytes) {
  std::uint64_t number = 0;
  for (const std::uint8_t byte : bytes) {
    number = number << 8 | byte;
  }
  return number;
}

std::uint64_t half_of(const Uuid& uuid, std::size_t half) {
  return number_of(std::span{uuid}.subspan(half * 8).first<8>());
}

}  // namespace

SpanId publish_span_id(EventId id) {
  return mix(Purpose::publish, {half_of(id.bytes, 0), half_of(id.bytes, 1)});
}

SpanId commit_span_id(EventId id) {
  return mix(Purpose::commit, {half_of(id.bytes, 0), half_of(id.bytes, 1)});
}

SpanId attempt_span_id(DeliveryId id, std::uint32_t number, WallTime executed_at) {
  return mix(Purpose::attempt, {half_of(id.bytes, 0), half_of(id.bytes, 1), number,
                                static_cast<std::uint64_t>(to_unix_ms(executed_at))});
}

SpanId given_up_span_id(DeliveryId id, std::uint32_t attempts) {
  return mix(Purpose::given_up, {half_of(id.bytes, 0), half_of(id.bytes, 1), attempts});
}

SpanId part_span_id(const SpanId& whole, std::uint32_t index) {
  return mix(Purpose::part, {number_of(whole.bytes), index});
}

}  // namespace postrider

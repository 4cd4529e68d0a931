// Decides what the answer to a batch means for its events. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/time.h"

namespace postrider::client {

struct HttpAnswer {
  std::uint16_t status = 0;
  std::optional<std::string> retry_after = std::nullopt;  // The header.
  std::string body;
};

struct EventStored {
  std::uint16_t status = 0;
  std::string id;
  bool duplicate = false;

  bool operator==(const EventStored&) const = default;
};
struct EventRejected {
  std::uint16_t status = 0;
  std::string code;
  std::string message;

  bool operator==(const EventRejected&) const = default;
};
/// A limit of the event's tenant; other events are not concerned.
struct EventPostponed {
  std::uint16_t status = 0;

  bool operator==(const EventPostponed&) const = default;
};
/// The answer does not say what became of the event.
struct EventUnclear {
  std::uint16_t status = 0;

  bool operator==(const EventUnclear&) const = default;
};
using EventVerdict = std::variant<EventStored, EventRejected, EventPostponed, EventUnclear>;

/// Nothing is known to be stored. Send the same batch again.
struct RepeatBatch {
  std::optional<Millis> retry_after = std::nullopt;
  std::string reason;  // A sentence.

  bool operator==(const RepeatBatch&) const = default;
};
/// The server refuses the batch as a whole, and one event may be the cause. Send each half alone.
struct SplitBatch {
  bool operator==(const SplitBatch&) const = default;
};
using BatchVerdict = std::variant<std::vector<EventVerdict>, RepeatBatch, SplitBatch>;

/// `now` is for a `Retry-After` that is a date.
[[nodiscard]] BatchVerdict judge_answer(const HttpAnswer& answer, std::size_t events, WallTime now);

}  // namespace postrider::client

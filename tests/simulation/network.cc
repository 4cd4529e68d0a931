#include "tests/simulation/network.h"

namespace postrider::sim {
namespace {

Reply status(std::uint16_t code, Micros delay) {
  Reply reply{.outcome = {}, .delay = delay, .accepted = code < 300};
  reply.outcome.http_status = code;
  return reply;
}

Reply failure(FailureCategory category, Micros delay, bool accepted) {
  Reply reply{.outcome = {}, .delay = delay, .accepted = accepted};
  reply.outcome.failure = category;
  return reply;
}

}  // namespace

Outcome not_sent(SplitMix64& random) {
  Outcome outcome;
  outcome.shortage = random.below(2) == 0 ? Shortage::server : Shortage::destination;
  return outcome;
}

Reply reply_of(Behavior behavior, Millis timeout, SplitMix64& random) {
  const Micros soon{static_cast<std::int64_t>(1'000 + random.below(100'000))};
  switch (behavior) {
    case Behavior::healthy:
      return status(200, soon);
    case Behavior::flaky:
      return status(random.below(2) == 0 ? 500 : 200, soon);
    case Behavior::slow: {
      const Micros late{static_cast<std::int64_t>(
          random.below(static_cast<std::uint64_t>(Micros{timeout}.count()) * 2))};
      return late < timeout ? status(200, late)
                            : failure(FailureCategory::timeout, timeout, random.below(2) == 0);
    }
    case Behavior::loses_answers:
      return random.below(2) == 0 ? failure(FailureCategory::network, soon, true)
                                  : status(200, soon);
    case Behavior::hanging:
      return failure(FailureCategory::timeout, timeout, false);
    case Behavior::refusing:
      return status(random.below(20) == 0 ? 410 : 404, soon);
    case Behavior::throttling: {
      Reply reply = status(random.below(3) == 0 ? 429 : 200, soon);
      if (!reply.accepted) {
        reply.outcome.retry_after = Millis{static_cast<std::int64_t>(random.below(120'000))};
      }
      return reply;
    }
    case Behavior::trickling: {
      const Micros late = Micros{timeout} * static_cast<std::int64_t>(90 + random.below(10)) / 100;
      return random.below(2) == 0 ? status(200, late)
                                  : failure(FailureCategory::protocol, late, false);
    }
  }
  return status(200, soon);
}

}  // namespace postrider::sim

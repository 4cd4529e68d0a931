// Turns accepted events into what must be stored: the events and one delivery per matching webhook,
// or a note of the webhooks if they are many. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/time.h"
#include "engine/intake/directory.h"
#include "engine/intake/publish.h"

namespace postrider {

/// What is stored in the transaction of a publish. The deliveries of other events are made later,
/// from a note.
struct FanoutLimits {
  std::uint32_t event_max = 100;      // Deliveries of one event.
  std::uint32_t request_max = 1'000;  // Deliveries of all events of one request.
};

/// The effort of one step of a planner: a few milliseconds. A single comparison of a large event
/// with a filter of many rules may exceed it; it takes up to about 20 ms.
constexpr std::uint64_t planning_effort_max = 30'000;
/// The effort that a publish takes at once, without waiting for its turn: less than a millisecond.
constexpr std::uint64_t planning_effort_quick = 5'000;

/// Plans the publishes of one request. Matching is done in steps, so that a request with many
/// events, webhooks and filters does not hold its thread.
class PublishPlanner {
 public:
  /// `publishes` have their events and claims.
  PublishPlanner(std::shared_ptr<const Directory> directory, std::vector<Publish> publishes,
                 const FanoutLimits& limits = {});

  /// Compares events with webhooks while the effort stays within `effort_max`: 1 is the comparison
  /// without a filter. Returns true if all is compared.
  [[nodiscard]] bool begin(std::uint64_t effort_max);
  /// Like `begin`, but makes at least one comparison, however much effort it is.
  [[nodiscard]] bool advance(std::uint64_t effort_max);

  /// Call when `advance` has returned true. `due` is the steady time: an event's own created_at may
  /// be ahead of it after a clock jump, and a new event must not wait for it (P9).
  [[nodiscard]] std::vector<Publish> finish(UuidGenerator& ids, WallTime due) &&;

 private:
  /// The webhooks that match one event. `chosen` is used if there are many candidates.
  struct Match {
    const std::vector<WebhookRef>* webhooks = nullptr;  // Of the tenant.
    std::vector<std::uint32_t> places;                  // In `webhooks`.
    std::string chosen;                                 // See Fanout.
    std::uint32_t count = 0;
    bool ordered = false;
  };

  enum class AtLeast : std::uint8_t { nothing, one };
  [[nodiscard]] bool compare(std::uint64_t effort_max, AtLeast at_least);
  void begin_event();
  static void choose_only(WebhookId id, Match& match);
  void end_event();
  void examine(std::uint32_t place);
  static void add_deliveries(Publish& publish, const Match& match, UuidGenerator& ids,
                             WallTime due);
  void add_fanouts(const std::vector<std::size_t>& fanned_out, WallTime due);

  std::shared_ptr<const Directory> directory_;
  std::vector<Publish> publishes_;
  FanoutLimits limits_;
  std::vector<Match> matches_;  // Of the events that are compared; the last one may be unfinished.
  std::optional<MatchCandidates> candidates_;  // Of the event that is being compared.
  std::size_t next_candidate_ = 0;
};

}  // namespace postrider

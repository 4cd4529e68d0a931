// Drives a Shard in tests: a manual clock, helpers for common inputs, and a list of the commands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/ids.h"
#include "core/policy/steady_wall.h"
#include "engine/shard/shard.h"

namespace postrider::test {

/// 2026-01-01T00:00:00Z.
constexpr WallTime epoch = wall_from_unix_ms(1'767'225'600'000);

[[nodiscard]] Outcome answered(std::uint16_t http_status);
[[nodiscard]] Outcome failed(FailureCategory category);

/// One line per command, to compare runs.
[[nodiscard]] std::string print(const Command& command);

class ShardDriver {
 public:
  using Tweak = std::function<void(Webhook&)>;

  explicit ShardDriver(ShardOptions options = {}, std::uint64_t seed = 1);

  // ------------------------------------------------------------ time

  [[nodiscard]] Moment now() const { return now_; }
  [[nodiscard]] WallTime wall() const { return now_.wall; }
  void pass(Micros by);            // Both clocks, without a step.
  void jump_wall(Millis by);       // Only the wall clock.
  void ring_after(Micros by);      // Passes time, then sends AlarmRang.
  [[nodiscard]] bool ring_next();  // Passes time until the alarm. Returns false if none is set.

  // ------------------------------------------------------------ inputs

  void feed(Input input);
  WebhookId add_webhook(const Tweak& tweak = {});
  void change_webhook(WebhookId id, const Tweak& tweak);
  [[nodiscard]] std::shared_ptr<const Webhook> webhook(WebhookId id) const;
  /// A new delivery with the next sequence, due now; `shape` may change it.
  Delivery make(WebhookId webhook, const std::function<void(Delivery&)>& shape = {});
  Delivery admit(WebhookId webhook, const std::function<void(Delivery&)>& shape = {});
  std::vector<Delivery> admit_many(WebhookId webhook, std::size_t count);
  void finish(const StartAttempt& start, Outcome outcome);
  void finish_and_settle(const StartAttempt& start, Outcome outcome);
  void settled(const Settlement& settlement);
  void store_failed(const Settlement& settlement);
  void load(WebhookId webhook, std::vector<Delivery> rows,
            std::optional<WallTime> rest_due = std::nullopt);

  // ------------------------------------------------------------ outputs

  /// Removes and returns all commands of one kind.
  template <class Kind>
  std::vector<Kind> take() {
    std::vector<Kind> taken;
    Commands others;
    for (Command& command : commands_) {
      if (auto* one = std::get_if<Kind>(&command)) {
        taken.push_back(std::move(*one));
      } else {
        others.push_back(std::move(command));
      }
    }
    commands_ = std::move(others);
    return taken;
  }
  /// Whether there are commands of one kind.
  template <class Kind>
  [[nodiscard]] bool has() const {
    return std::ranges::any_of(
        commands_, [](const Command& command) { return std::holds_alternative<Kind>(command); });
  }
  [[nodiscard]] std::vector<DeliveryId> take_started();
  [[nodiscard]] const std::vector<std::string>& log() const { return log_; }

  [[nodiscard]] bool has_lane(WebhookId webhook) const { return shard_.has_lane(webhook); }
  [[nodiscard]] LaneView view(WebhookId webhook) const { return *shard_.view(webhook, now_); }
  [[nodiscard]] ShardView totals() const { return shard_.view(); }
  [[nodiscard]] Shard& shard() { return shard_; }
  [[nodiscard]] std::optional<MonoTime> alarm() const { return alarm_; }

 private:
  Moment now_{epoch, MonoTime{Micros{1'000'000'000}}};
  SteadyWall steady_wall_;
  Shard shard_;
  UuidGenerator ids_{99};
  std::int64_t sequence_ = 0;
  std::vector<std::shared_ptr<const Webhook>> webhooks_;
  Commands commands_;
  std::vector<std::string> log_;
  std::optional<MonoTime> alarm_;
};

}  // namespace postrider::test

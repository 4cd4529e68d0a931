// When a webhook's attempts are worth a person's attention: too many dead letters in an hour, or a
// name that does not resolve. Says what begins and what is over; keeps and sends nothing.
//
// Pure: fed with what happened and when. One per io thread, for the webhooks that thread owns. All
// times are steady wall times.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/alert.h"
#include "core/attempt.h"
#include "core/time.h"

namespace postrider {

struct AlertLimits {
  Millis dead_letters_window = std::chrono::hours{1};
  std::uint32_t dead_letters_max = 10;  // More than this in the window.
  Millis dns_window = std::chrono::minutes{10};
  double dns_failures_max = 80;  // Per cent of the attempts in the window; more than this.
  std::uint32_t dns_attempts_min = 3;
};

/// What becomes of an alert.
struct AlertChange {
  AlertSubject subject;
  bool active = true;  // Raised; or else resolved.
  std::string detail;  // Only when raised.

  bool operator==(const AlertChange&) const = default;
};

/// One attempt that ended.
struct AttemptNote {
  WebhookId webhook_id;
  bool dns_failed = false;
  bool dead = false;      // The delivery was given up.
  bool attempted = true;  // False: without an attempt.
};

/// How many of the latest attempts failed to resolve, by the minute.
class DnsWindow {
 public:
  void note(bool failed, WallTime now, Millis window);
  [[nodiscard]] bool failing(const AlertLimits& limits, WallTime now) const;
  [[nodiscard]] bool empty(const AlertLimits& limits, WallTime now) const;

 private:
  static constexpr std::size_t bucket_count = 10;
  struct Bucket {
    std::int64_t number = -1;  // Of its slice of time.
    std::uint32_t attempts = 0;
    std::uint32_t failed = 0;
  };
  [[nodiscard]] Bucket sum(Millis window, WallTime now) const;

  std::array<Bucket, bucket_count> buckets_{};
};

class AlertRules {
 public:
  explicit AlertRules(AlertLimits limits = {}) : limits_(limits) {}

  [[nodiscard]] std::vector<AlertChange> attempted(const AttemptNote& note, WallTime now);

  /// What has calmed down by itself. To be asked now and then.
  [[nodiscard]] std::vector<AlertChange> calmed(WallTime now);

  /// This one was active when the server started.
  void restore(const AlertSubject& subject);
  void forget(WebhookId webhook_id) { webhooks_.erase(webhook_id); }

 private:
  struct Facts {
    std::vector<WallTime> deaths;  // The latest, oldest first: one more than is allowed.
    DnsWindow dns;
    bool many_deaths = false;  // Raised.
    bool dns_failing = false;  // Raised.
  };

  [[nodiscard]] bool many_deaths(const Facts& facts, WallTime now) const;
  void note_death(Facts& facts, WallTime now) const;

  AlertLimits limits_;
  std::unordered_map<WebhookId, Facts> webhooks_;  // Only those with something to watch.
};

}  // namespace postrider

#include "engine/alert_rules.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/assert.h"

namespace postrider {
namespace {

std::int64_t slice_of(WallTime time, Millis window, std::size_t count) {
  return to_unix_ms(time) / (window.count() / static_cast<std::int64_t>(count));
}

}  // namespace

void DnsWindow::note(bool failed, WallTime now, Millis window) {
  const std::int64_t number = slice_of(now, window, bucket_count);
  POSTRIDER_ASSERT(number >= 0);
  Bucket& bucket = buckets_[static_cast<std::size_t>(number) % bucket_count];
  if (bucket.number != number) {
    bucket = Bucket{.number = number};
  }
  ++bucket.attempts;
  bucket.failed += failed ? 1 : 0;
}

DnsWindow::Bucket DnsWindow::sum(Millis window, WallTime now) const {
  const std::int64_t newest = slice_of(now, window, bucket_count);
  Bucket sum{.number = newest};
  for (const Bucket& bucket : buckets_) {
    if (bucket.number > newest - static_cast<std::int64_t>(bucket_count)) {
      sum.attempts += bucket.attempts;
      sum.failed += bucket.failed;
    }
  }
  return sum;
}

bool DnsWindow::failing(const AlertLimits& limits, WallTime now) const {
  const Bucket all = sum(limits.dns_window, now);
  return all.attempts >= limits.dns_attempts_min &&
         all.failed * 100.0 > limits.dns_failures_max * all.attempts;
}

bool DnsWindow::empty(const AlertLimits& limits, WallTime now) const {
  return sum(limits.dns_window, now).attempts == 0;
}

bool AlertRules::many_deaths(const Facts& facts, WallTime now) const {
  return facts.deaths.size() > limits_.dead_letters_max &&
         now - facts.deaths.front() < limits_.dead_letters_window;
}

void AlertRules::note_death(Facts& facts, WallTime now) const {
  if (facts.deaths.size() > limits_.dead_letters_max) {
    facts.deaths.erase(facts.deaths.begin());
  }
  facts.deaths.push_back(now);
}

std::vector<AlertChange> AlertRules::attempted(const AttemptNote& note, WallTime now) {
  Facts& facts = webhooks_[note.webhook_id];
  if (note.attempted) {
    facts.dns.note(note.dns_failed, now, limits_.dns_window);
  }
  std::vector<AlertChange> changes;
  if (note.dead) {
    note_death(facts, now);
    if (!facts.many_deaths && many_deaths(facts, now)) {
      facts.many_deaths = true;
      changes.push_back({.subject = {AlertKind::dead_letters, note.webhook_id},
                         .detail = fmt::format("More than {} deliveries became dead letters "
                                               "within {} minutes.",
                                               limits_.dead_letters_max,
                                               limits_.dead_letters_window / Millis{60'000})});
    }
  }
  const bool failing = facts.dns.failing(limits_, now);
  if (failing != facts.dns_failing) {
    facts.dns_failing = failing;
    changes.push_back(
        {.subject = {AlertKind::dns_failing, note.webhook_id},
         .active = failing,
         .detail = failing
                       ? fmt::format("More than {} % of the attempts of {} minutes "
                                     "failed because the host's name did not "
                                     "resolve.",
                                     limits_.dns_failures_max, limits_.dns_window / Millis{60'000})
                       : std::string{}});
  }
  return changes;
}

std::vector<AlertChange> AlertRules::calmed(WallTime now) {
  std::vector<AlertChange> changes;
  for (auto& [webhook_id, facts] : webhooks_) {
    if (facts.many_deaths && !many_deaths(facts, now)) {
      facts.many_deaths = false;
      changes.push_back(
          {.subject = {AlertKind::dead_letters, webhook_id}, .active = false, .detail = {}});
    }
    if (facts.dns_failing && !facts.dns.failing(limits_, now)) {
      facts.dns_failing = false;
      changes.push_back(
          {.subject = {AlertKind::dns_failing, webhook_id}, .active = false, .detail = {}});
    }
  }
  std::erase_if(webhooks_, [&](const auto& entry) {
    const Facts& facts = entry.second;
    const bool deaths_over =
        facts.deaths.empty() || now - facts.deaths.back() >= limits_.dead_letters_window;
    return deaths_over && facts.dns.empty(limits_, now);
  });
  // The map has no order of its own, and the same facts must always give the same changes.
  std::ranges::sort(changes, {}, &AlertChange::subject);
  return changes;
}

void AlertRules::restore(const AlertSubject& subject) {
  if (!subject.webhook_id) {
    return;
  }
  if (subject.kind == AlertKind::dead_letters) {
    webhooks_[*subject.webhook_id].many_deaths = true;
  } else if (subject.kind == AlertKind::dns_failing) {
    webhooks_[*subject.webhook_id].dns_failing = true;
  }
}

}  // namespace postrider

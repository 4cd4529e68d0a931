#include "core/model/delivery_tally.h"

namespace postrider {
namespace {

std::optional<double> part(std::uint64_t some, std::uint64_t all) {
  return all == 0 ? std::nullopt
                  : std::optional{static_cast<double>(some) / static_cast<double>(all)};
}

std::uint64_t* settled_count(DeliveryTally& tally, DeliveryState state) {
  switch (state) {
    case DeliveryState::succeeded:
      return &tally.now_succeeded;
    case DeliveryState::dead_letter:
      return &tally.now_dead_letter;
    default:
      return nullptr;
  }
}

}  // namespace

void DeliveryTally::add(const Attempt& attempt) {
  ++attempts;
  retries += attempt.number > 1 ? 1 : 0;
  if (attempt.failure_category) {
    ++failures[static_cast<std::size_t>(*attempt.failure_category)];
  } else {
    ++succeeded;
  }
  duration_total += attempt.outcome.duration;
  durations.add(attempt.outcome.duration);
}

void DeliveryTally::add_settled(DeliveryState state) {
  if (std::uint64_t* const count = settled_count(*this, state)) {
    ++*count;
  }
}

bool DeliveryTally::remove_settled(DeliveryState state) {
  std::uint64_t* const count = settled_count(*this, state);
  if (count == nullptr || *count == 0) {
    return false;
  }
  --*count;
  return true;
}

std::optional<double> DeliveryTally::attempt_success_rate() const {
  return part(succeeded, attempts);
}

std::optional<double> DeliveryTally::delivery_success_rate() const {
  return part(now_succeeded, now_succeeded + now_dead_letter);
}

void DeliveryTally::add(const DeliveryTally& other) {
  published += other.published;
  deliveries += other.deliveries;
  attempts += other.attempts;
  succeeded += other.succeeded;
  retries += other.retries;
  dead_letters += other.dead_letters;
  now_succeeded += other.now_succeeded;
  now_dead_letter += other.now_dead_letter;
  for (std::size_t category = 0; category < failures.size(); ++category) {
    failures[category] += other.failures[category];
  }
  duration_total += other.duration_total;
  durations.add(other.durations);
}

}  // namespace postrider

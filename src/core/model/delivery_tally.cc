#include "core/model/delivery_tally.h"

namespace postrider {

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

void DeliveryTally::add(const DeliveryTally& other) {
  published += other.published;
  deliveries += other.deliveries;
  attempts += other.attempts;
  succeeded += other.succeeded;
  retries += other.retries;
  dead_letters += other.dead_letters;
  for (std::size_t category = 0; category < failures.size(); ++category) {
    failures[category] += other.failures[category];
  }
  duration_total += other.duration_total;
  durations.add(other.durations);
}

}  // namespace postrider

#include "api/json/tally_json.h"

namespace postrider::api {
namespace {

double to_shown_ms(Micros duration) { return static_cast<double>(duration.count()) / 1000.0; }

void write_durations(JsonWriter& writer, const DeliveryTally& tally) {
  writer.key("duration_ms");
  if (tally.attempts == 0) {
    writer.value(nullptr);
    return;
  }
  writer.open_object();
  writer.member("average", to_shown_ms(tally.duration_total / tally.attempts));
  writer.member("p50", to_shown_ms(tally.durations.percentile(50)));
  writer.member("p95", to_shown_ms(tally.durations.percentile(95)));
  writer.member("p99", to_shown_ms(tally.durations.percentile(99)));
  writer.close_object();
}

}  // namespace

void write_tally(JsonWriter& writer, const DeliveryTally& tally) {
  writer.member("published", tally.published);
  writer.member("deliveries", tally.deliveries);
  writer.member("attempts", tally.attempts);
  writer.member("succeeded", tally.succeeded);
  writer.member("failed", tally.failed());
  writer.member("retries", tally.retries);
  writer.member("dead_letters", tally.dead_letters);
  writer.member("deliveries_succeeded", tally.now_succeeded);
  writer.member("deliveries_failed", tally.now_dead_letter);
  writer.member("success_rate", tally.attempt_success_rate());
  writer.member("delivery_success_rate", tally.delivery_success_rate());
  writer.key("failures");
  writer.open_object();
  for (std::size_t category = 0; category < tally.failures.size(); ++category) {
    if (tally.failures[category] != 0) {
      writer.member(to_string(static_cast<FailureCategory>(category)), tally.failures[category]);
    }
  }
  writer.close_object();
  write_durations(writer, tally);
}

}  // namespace postrider::api

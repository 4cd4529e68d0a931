// All metric families of the server. Private to metrics.cc.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "core/base/time.h"
#include "core/model/delivery.h"
#include "core/model/duration_histogram.h"

#include "runtime/observability/label_cap.h"
#include "runtime/observability/latency_histogram.h"

namespace postrider {

inline const prometheus::Histogram::BucketBoundaries duration_buckets{
    .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 90};
inline const prometheus::Histogram::BucketBoundaries commit_buckets{
    .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5};
inline const prometheus::Histogram::BucketBoundaries batch_buckets{1,   2,   5,   10,   20,   50,
                                                                   100, 200, 500, 1000, 2000, 5000};
inline const prometheus::Histogram::BucketBoundaries attempt_buckets{1, 2,  3,  4,  5, 6,
                                                                     8, 10, 12, 15, 20};
inline const prometheus::Histogram::BucketBoundaries retry_buckets{0, 1, 2,  3,  4, 5,
                                                                   7, 9, 11, 14, 19};

// From an idle receiver to one that was away for a day.
inline constexpr std::array<Micros, 18> delivered_bounds{
    Millis{5},         Millis{10},         Millis{25},        Millis{50},      Millis{100},
    Millis{250},       Millis{500},        Millis{1'000},     Millis{2'500},   Millis{5'000},
    Millis{10'000},    Millis{30'000},     Millis{60'000},    Millis{300'000}, Millis{900'000},
    Millis{3'600'000}, Millis{21'600'000}, Millis{86'400'000}};

constexpr std::size_t delivery_state_count = static_cast<std::size_t>(DeliveryState::cancelled) + 1;

/// A counter for each state, also for those that no delivery has entered yet.
inline std::array<prometheus::Counter*, delivery_state_count> counters_of(
    prometheus::Family<prometheus::Counter>& states) {
  std::array<prometheus::Counter*, delivery_state_count> counters{};
  for (std::size_t state = 0; state < counters.size(); ++state) {
    counters[state] =
        &states.Add({{"state", std::string{to_string(static_cast<DeliveryState>(state))}}});
  }
  return counters;
}

struct MetricFamilies {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& deliveries =
      prometheus::BuildCounter()
          .Name("webhook_deliveries_total")
          .Help("Attempts by result: success, failure or timeout")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& states =
      prometheus::BuildCounter()
          .Name("postrider_delivery_states_total")
          .Help("Deliveries that entered the state; pending: new and revived ones")
          .Register(registry);
  std::array<prometheus::Counter*, delivery_state_count> state_counters = counters_of(states);
  prometheus::Histogram& duration = prometheus::BuildHistogram()
                                        .Name("webhook_delivery_duration_seconds")
                                        .Help("How long attempts took")
                                        .Register(registry)
                                        .Add({}, duration_buckets);
  prometheus::Family<prometheus::Histogram>& attempt_number =
      prometheus::BuildHistogram()
          .Name("webhook_retry_attempt_number")
          .Help("The number of each attempt, by the state its delivery moved to")
          .Register(registry);
  prometheus::Histogram& retry_attempts =
      prometheus::BuildHistogram()
          .Name("webhook_retry_attempts")
          .Help("Retries of each delivery that succeeded or became a dead letter")
          .Register(registry)
          .Add({}, retry_buckets);
  prometheus::Family<prometheus::Gauge>& queue_depth =
      prometheus::BuildGauge()
          .Name("webhook_queue_depth")
          .Help("Deliveries that wait, in memory and in the store, without those in flight")
          .Register(registry);
  prometheus::Family<prometheus::Gauge>& in_memory =
      prometheus::BuildGauge()
          .Name("postrider_deliveries_in_memory")
          .Help("Waiting deliveries in memory, at most 128 of each webhook")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& circuit_transitions =
      prometheus::BuildCounter()
          .Name("webhook_circuit_breaker_transitions_total")
          .Help("Circuit transitions")
          .Register(registry);
  prometheus::Family<prometheus::Gauge>& circuits =
      prometheus::BuildGauge()
          .Name("postrider_circuits")
          .Help("Webhooks by the state of their circuit")
          .Register(registry);
  prometheus::Family<prometheus::Gauge>& dlq_size = prometheus::BuildGauge()
                                                        .Name("webhook_dlq_size")
                                                        .Help("Dead letters kept")
                                                        .Register(registry);
  prometheus::Counter& dlq_entries = prometheus::BuildCounter()
                                         .Name("webhook_dlq_entries_total")
                                         .Help("Deliveries that became dead letters")
                                         .Register(registry)
                                         .Add({});
  prometheus::Counter& rate_limited = prometheus::BuildCounter()
                                          .Name("webhook_rate_limited_requests_total")
                                          .Help("Times a rate limit made a webhook wait")
                                          .Register(registry)
                                          .Add({});
  prometheus::Family<prometheus::Gauge>& utilization =
      prometheus::BuildGauge()
          .Name("webhook_worker_pool_utilization")
          .Help("Attempts in flight, as a share of the limit")
          .Register(registry);
  prometheus::Family<prometheus::Gauge>& in_flight = prometheus::BuildGauge()
                                                         .Name("postrider_attempts_in_flight")
                                                         .Help("Attempts in flight")
                                                         .Register(registry);
  prometheus::Family<prometheus::Gauge>& unsettled = prometheus::BuildGauge()
                                                         .Name("postrider_settlements_waiting")
                                                         .Help("Finished attempts not yet on disk")
                                                         .Register(registry);
  prometheus::Counter& published = prometheus::BuildCounter()
                                       .Name("postrider_events_published_total")
                                       .Help("Publishes that are on disk, duplicates included")
                                       .Register(registry)
                                       .Add({});
  prometheus::Family<prometheus::Counter>& refused =
      prometheus::BuildCounter()
          .Name("postrider_publish_refused_total")
          .Help("Publishes answered 503 before anything was accepted")
          .Register(registry);
  prometheus::Histogram& commit = prometheus::BuildHistogram()
                                      .Name("postrider_store_commit_seconds")
                                      .Help("How long transactions took, fsync included")
                                      .Register(registry)
                                      .Add({}, commit_buckets);
  prometheus::Histogram& commit_batch = prometheus::BuildHistogram()
                                            .Name("postrider_store_commit_batch_size")
                                            .Help("Publishes and settlements per transaction")
                                            .Register(registry)
                                            .Add({}, batch_buckets);
  prometheus::Counter& store_failures = prometheus::BuildCounter()
                                            .Name("postrider_store_failures_total")
                                            .Help("Transactions that failed")
                                            .Register(registry)
                                            .Add({});
  prometheus::Counter& postponed = prometheus::BuildCounter()
                                       .Name("postrider_attempts_postponed_total")
                                       .Help(
                                           "Attempts that were not made at their time because "
                                           "this server lacked a descriptor, port or memory")
                                       .Register(registry)
                                       .Add({});
  prometheus::Family<prometheus::Counter>& removed =
      prometheus::BuildCounter()
          .Name("postrider_retention_removed_total")
          .Help("Events, deliveries and other records removed by retention")
          .Register(registry);
  prometheus::Counter& archive_failures = prometheus::BuildCounter()
                                              .Name("postrider_archive_failures_total")
                                              .Help("Times the archive could not be written")
                                              .Register(registry)
                                              .Add({});
  prometheus::Family<prometheus::Counter>& alerts = prometheus::BuildCounter()
                                                        .Name("postrider_alerts_total")
                                                        .Help("Alerts raised")
                                                        .Register(registry);
  prometheus::Family<prometheus::Gauge>& alerts_active = prometheus::BuildGauge()
                                                             .Name("postrider_alerts_active")
                                                             .Help("Alerts that are not resolved")
                                                             .Register(registry);
  prometheus::Gauge& waiting = prometheus::BuildGauge()
                                   .Name("postrider_deliveries_waiting")
                                   .Help("Deliveries that are not final, with those in flight")
                                   .Register(registry)
                                   .Add({});
  LatencyHistogram delivered_after{delivered_bounds};
  std::atomic<std::uint64_t> attempts{0};
  std::atomic<std::uint64_t> successes{0};
  std::atomic<std::uint64_t> postponed_count{0};
  std::atomic<std::uint64_t> ended{0};         // Deliveries that succeeded or became dead letters.
  std::atomic<std::uint64_t> dead_letters{0};  // Included in `ended`.
  std::atomic<Micros::rep> slow_over{0};       // Longer attempts are slow. 0: none is.
  std::mutex slow_mutex;                       // Guards slow.
  DurationHistogram slow;                      // Since the last facts.

  LabelCap event_types{label_values_max};
  LabelCap tenants{label_values_max};
};

}  // namespace postrider

// All metric families of the server. Private to metrics.cc.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "runtime/observability/label_cap.h"

namespace postrider {

// Tenants, event types and webhooks with a label of their own. More would make scrapes expensive.
constexpr std::size_t label_values_max = 100;

inline const prometheus::Histogram::BucketBoundaries duration_buckets{
    .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 90};
inline const prometheus::Histogram::BucketBoundaries commit_buckets{
    .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5};
inline const prometheus::Histogram::BucketBoundaries batch_buckets{1,   2,   5,   10,   20,   50,
                                                                   100, 200, 500, 1000, 2000, 5000};
inline const prometheus::Histogram::BucketBoundaries attempt_buckets{1, 2,  3,  4,  5, 6,
                                                                     8, 10, 12, 15, 20};

struct MetricFamilies {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& deliveries =
      prometheus::BuildCounter()
          .Name("webhook_deliveries_total")
          .Help("Attempts by the state their delivery moved to")
          .Register(registry);
  prometheus::Histogram& duration = prometheus::BuildHistogram()
                                        .Name("webhook_delivery_duration_seconds")
                                        .Help("How long attempts took")
                                        .Register(registry)
                                        .Add({}, duration_buckets);
  prometheus::Family<prometheus::Histogram>& attempt_number =
      prometheus::BuildHistogram()
          .Name("webhook_retry_attempt_number")
          .Help("Which attempt it was, by outcome")
          .Register(registry);
  prometheus::Family<prometheus::Gauge>& queue_depth =
      prometheus::BuildGauge()
          .Name("webhook_queue_depth")
          .Help(
              "Deliveries waiting in memory, at most 128 of each webhook; all others wait in the "
              "store only")
          .Register(registry);
  prometheus::Family<prometheus::Gauge>& circuit_state =
      prometheus::BuildGauge()
          .Name("webhook_circuit_breaker_state")
          .Help("1 for the state the circuit is in")
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
  prometheus::Gauge& rate_limited = prometheus::BuildGauge()
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
  prometheus::Family<prometheus::Counter>& removed =
      prometheus::BuildCounter()
          .Name("webhook_retention_removed_total")
          .Help("Events, deliveries and other records removed by retention")
          .Register(registry);
  prometheus::Counter& archive_failures = prometheus::BuildCounter()
                                              .Name("webhook_archive_failures_total")
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
                                   .Help("Deliveries waiting, in memory and in the store")
                                   .Register(registry)
                                   .Add({});
  std::atomic<std::uint64_t> attempts{0};
  std::atomic<std::uint64_t> successes{0};

  LabelCap event_types{label_values_max};
  LabelCap tenants{label_values_max};
};

}  // namespace postrider

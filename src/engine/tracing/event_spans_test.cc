#include "engine/tracing/event_spans.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/trace/span_ids.h"

namespace postrider {
namespace {

constexpr WallTime now = wall_from_unix_ms(1'767'225'600'000);
constexpr Micros now_us{1'767'225'600'000'000};

Publish traced_publish() {
  Publish publish;
  publish.event.id.bytes.fill(1);
  publish.event.type = "order.paid";
  publish.event.tenant_id = "acme";
  publish.event.created_at = now;
  publish.event.trace = TraceContext{
      .trace_id = {{0xaa}}, .parent = {{0xbb}}, .flags = trace_flag_sampled, .state = "rojo=1"};
  publish.deliveries.resize(2);
  return publish;
}

Settlement settled(std::uint32_t number, std::optional<FailureCategory> failure,
                   std::optional<TraceMark> trace = TraceMark{{{0xaa}}, true}) {
  Settlement settlement;
  settlement.delivery.id.bytes.fill(2);
  settlement.delivery.event_id.bytes.fill(1);
  settlement.delivery.webhook_id.bytes.fill(3);
  settlement.delivery.event_type = "order.paid";
  settlement.delivery.state = failure ? DeliveryState::retrying : DeliveryState::succeeded;
  settlement.delivery.trace = trace;
  Attempt attempt;
  attempt.number = number;
  attempt.outcome.executed_at = now;
  attempt.outcome.duration = Micros{1'000};
  attempt.outcome.http_status = failure ? 500 : 200;
  attempt.outcome.remote_ip = "192.0.2.1";
  attempt.failure_category = failure;
  settlement.attempt = attempt;
  return settlement;
}

std::optional<std::variant<std::string, std::int64_t, bool>> attribute(const Span& span,
                                                                       std::string_view name) {
  const auto found = std::ranges::find(span.attributes, name, &SpanAttribute::name);
  return found == span.attributes.end() ? std::nullopt : std::optional{found->value};
}

using Value = std::variant<std::string, std::int64_t, bool>;

// ---------------------------------------------------------------- publishes

TEST(EventSpans, APublishIsTheParentOfItsCommit) {
  const Publish publish = traced_publish();
  const std::vector<Span> spans =
      publish_spans(publish, Accepted{}, {.begun = now + Millis{3}, .duration = Micros{1'500}});
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].name, "publish");
  EXPECT_EQ(spans[0].trace_id, publish.event.trace->trace_id);
  EXPECT_EQ(spans[0].parent, publish.event.trace->parent);
  EXPECT_EQ(spans[0].state, "rojo=1");
  EXPECT_EQ(spans[0].kind, SpanKind::server);
  EXPECT_EQ(spans[0].start, now_us);
  EXPECT_EQ(spans[0].duration, Micros{4'500}) << "until it is on disk";
  EXPECT_EQ(attribute(spans[0], "postrider.event.id"), Value{publish.event.id.to_string()});
  EXPECT_EQ(attribute(spans[0], "postrider.tenant.id"), Value{"acme"});
  EXPECT_EQ(attribute(spans[0], "postrider.deliveries"), Value{std::int64_t{2}});
  EXPECT_EQ(spans[1].name, "commit");
  EXPECT_EQ(spans[1].parent, spans[0].id);
  EXPECT_EQ(spans[1].start, now_us + Micros{3'000});
  EXPECT_EQ(spans[1].duration, Micros{1'500});
  EXPECT_EQ(spans[1].error, std::nullopt);
}

TEST(EventSpans, ATraceThatBeginsHereHasNoParent) {
  Publish publish = traced_publish();
  publish.event.trace->parent = {};
  EXPECT_EQ(publish_spans(publish, Accepted{}, {.begun = now})[0].parent, std::nullopt);
}

TEST(EventSpans, AnEventOfASourceIsConsumed) {
  Publish publish = traced_publish();
  publish.event.source_id = "7";
  EXPECT_EQ(publish_spans(publish, Accepted{}, {.begun = now})[0].kind, SpanKind::consumer);
}

TEST(EventSpans, ADuplicateNamesTheFirstEvent) {
  Duplicate duplicate;
  duplicate.first_id.bytes.fill(9);
  const std::vector<Span> spans = publish_spans(traced_publish(), duplicate, {.begun = now});
  EXPECT_EQ(attribute(spans[0], "postrider.duplicate_of"), Value{duplicate.first_id.to_string()});
  EXPECT_EQ(attribute(spans[0], "postrider.deliveries"), std::nullopt);
}

TEST(EventSpans, AClockThatIsSetBackGivesNoNegativeDuration) {
  const std::vector<Span> spans = publish_spans(
      traced_publish(), Accepted{}, {.begun = now - std::chrono::hours{1}, .duration = Micros{7}});
  EXPECT_EQ(spans[0].start, spans[1].start);
  EXPECT_EQ(spans[0].duration, Micros{7});
}

TEST(EventSpans, OnlySampledPublishesAreTraced) {
  Publish publish = traced_publish();
  EXPECT_TRUE(is_traced(publish));
  publish.event.trace->flags = trace_flag_random;
  EXPECT_FALSE(is_traced(publish));
  publish.event.trace.reset();
  EXPECT_FALSE(is_traced(publish));
}

// ---------------------------------------------------------------- attempts

TEST(EventSpans, FailuresAreTracedWhetherOrNotTheyAreSampled) {
  const TraceMark unsampled{{{0xaa}}, false};
  EXPECT_TRUE(is_traced(settled(1, std::nullopt)));
  EXPECT_FALSE(is_traced(settled(1, std::nullopt, unsampled)));
  EXPECT_FALSE(is_traced(settled(1, std::nullopt, std::nullopt)));
  EXPECT_TRUE(is_traced(settled(1, FailureCategory::timeout, unsampled)));
  EXPECT_TRUE(is_traced(settled(1, FailureCategory::timeout, std::nullopt)));
  Settlement cancelled = settled(1, std::nullopt);
  cancelled.attempt.reset();
  EXPECT_FALSE(is_traced(cancelled));
  cancelled.dead = DeadReason{};
  EXPECT_TRUE(is_traced(cancelled));
}

TEST(EventSpans, AnAttemptIsAChildOfThePublish) {
  const Settlement settlement = settled(1, std::nullopt);
  const Delivery& delivery = settlement.delivery;
  const std::vector<Span> spans =
      settlement_spans(settlement, {.tenant_id = "acme", .host = "example.com", .port = 443});
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].name, "attempt");
  EXPECT_EQ(spans[0].kind, SpanKind::client);
  EXPECT_EQ(spans[0].trace_id, TraceId{{0xaa}});
  EXPECT_EQ(spans[0].parent, publish_span_id(delivery.event_id));
  EXPECT_EQ(spans[0].id, attempt_span_id(delivery.id, 1, now)) << "as in the request";
  EXPECT_EQ(spans[0].start, now_us);
  EXPECT_EQ(spans[0].duration, Micros{1'000});
  EXPECT_EQ(spans[0].error, std::nullopt);
  EXPECT_EQ(attribute(spans[0], "postrider.delivery.id"), Value{delivery.id.to_string()});
  EXPECT_EQ(attribute(spans[0], "postrider.attempt.number"), Value{std::int64_t{1}});
  EXPECT_EQ(attribute(spans[0], "http.response.status_code"), Value{std::int64_t{200}});
  EXPECT_EQ(attribute(spans[0], "server.address"), Value{"example.com"});
  EXPECT_EQ(attribute(spans[0], "server.port"), Value{std::int64_t{443}});
  EXPECT_EQ(attribute(spans[0], "network.peer.address"), Value{"192.0.2.1"});
  EXPECT_EQ(attribute(spans[0], "http.request.resend_count"), std::nullopt);
  EXPECT_EQ(attribute(spans[0], "error.type"), std::nullopt);
}

TEST(EventSpans, AFailedAttemptHasAnError) {
  Settlement settlement = settled(3, FailureCategory::server_error);
  settlement.dead = DeadReason{.reason = "max_attempts_exceeded"};
  const Span span = settlement_spans(settlement, {}).front();
  EXPECT_EQ(span.error, "The receiver answered 500.");
  EXPECT_EQ(attribute(span, "error.type"), Value{"server_error"});
  EXPECT_EQ(attribute(span, "http.request.resend_count"), Value{std::int64_t{2}});
  EXPECT_EQ(attribute(span, "postrider.dead_letter.reason"), Value{"max_attempts_exceeded"});
  EXPECT_EQ(attribute(span, "server.address"), std::nullopt) << "the webhook was removed";
  settlement.attempt->outcome.error_message = "The receiver did not answer in time.";
  EXPECT_EQ(settlement_spans(settlement, {}).front().error, "The receiver did not answer in time.");
}

TEST(EventSpans, AnEventWithoutContextHasItsOwnTrace) {
  const Settlement settlement = settled(1, FailureCategory::timeout, std::nullopt);
  EXPECT_EQ(settlement_spans(settlement, {}).front().trace_id.bytes,
            settlement.delivery.event_id.bytes);
}

TEST(EventSpans, ThePhasesOfAnAttemptFollowEachOther) {
  Settlement settlement = settled(1, std::nullopt);
  settlement.attempt->outcome.timings = {
      .dns = Micros{10}, .connect = Micros{20}, .tls = Micros{0}, .first_byte = Micros{400}};
  const std::vector<Span> spans = settlement_spans(settlement, {});
  ASSERT_EQ(spans.size(), 4u);
  const std::pair<std::string_view, Micros> expected[] = {
      {"dns", Micros{0}}, {"connect", Micros{10}}, {"first_byte", Micros{30}}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(spans[i + 1].name, expected[i].first);
    EXPECT_EQ(spans[i + 1].start, spans[0].start + expected[i].second);
    EXPECT_EQ(spans[i + 1].parent, spans[0].id);
    EXPECT_EQ(spans[i + 1].trace_id, spans[0].trace_id);
  }
  EXPECT_EQ(spans[3].duration, Micros{400});
}

TEST(EventSpans, ADeliveryThatIsGivenUpHasASpanOfItsOwn) {
  Settlement settlement = settled(1, std::nullopt);
  settlement.attempt.reset();
  settlement.delivery.due = now;
  settlement.delivery.state = DeliveryState::dead_letter;
  settlement.dead = DeadReason{.reason = "max_attempts_exceeded"};
  const std::vector<Span> spans = settlement_spans(settlement, {.tenant_id = "acme"});
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].name, "dead_letter");
  EXPECT_EQ(spans[0].error, "max_attempts_exceeded");
  EXPECT_EQ(spans[0].start, now_us);
  EXPECT_EQ(attribute(spans[0], "postrider.delivery.status"), Value{"dead_letter"});
}

}  // namespace
}  // namespace postrider

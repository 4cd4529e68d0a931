#include "core/model/trace.h"

#include <gtest/gtest.h>

#include "core/model/delivery.h"
#include "core/model/event.h"

namespace postrider {
namespace {

const TraceId trace_id{
    {0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0, 0x9c}};

TEST(Trace, IdsAreShownInHexadecimal) {
  EXPECT_EQ(to_string(trace_id), "0af7651916cd43dd8448eb211c80009c");
  EXPECT_EQ(to_string(SpanId{{0, 1, 2, 3, 4, 5, 6, 0xff}}), "00010203040506ff");
}

TEST(Trace, AnEventWithoutContextHasTheTraceIdOfItsOwnId) {
  Event event;
  event.id.bytes[0] = 1;
  event.id.bytes[15] = 0xfe;
  EXPECT_EQ(to_string(trace_id_of(event)), "010000000000000000000000000000fe");
  Delivery delivery;
  delivery.event_id = event.id;
  EXPECT_EQ(trace_id_of(delivery), trace_id_of(event));
}

TEST(Trace, AnEventWithContextAndItsDeliveriesHaveItsTraceId) {
  Event event;
  event.trace = TraceContext{.trace_id = trace_id, .parent = {{1}}, .flags = trace_flag_sampled};
  Delivery delivery;
  delivery.trace = mark_of(event.trace);
  EXPECT_EQ(trace_id_of(event), trace_id);
  EXPECT_EQ(trace_id_of(delivery), trace_id);
  EXPECT_TRUE(delivery.trace->sampled);
}

TEST(Trace, OnlyTheFlagDecidesWhetherAContextIsSampled) {
  EXPECT_EQ(mark_of(std::nullopt), std::nullopt);
  EXPECT_FALSE(mark_of(TraceContext{.trace_id = trace_id, .parent = {}})->sampled);
  EXPECT_FALSE(mark_of(TraceContext{.trace_id = trace_id, .parent = {}, .flags = trace_flag_random})
                   ->sampled);
}

}  // namespace
}  // namespace postrider

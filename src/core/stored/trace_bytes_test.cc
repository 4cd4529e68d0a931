#include "core/stored/trace_bytes.h"

#include <gtest/gtest.h>

namespace postrider::stored {
namespace {

const TraceContext trace{.trace_id = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255}},
                         .parent = {{0, 1, 0, 1, 0, 1, 0, 0}},
                         .flags = 3,
                         .state = "a=1,b=2"};

TEST(TraceBytes, RoundTrip) {
  const std::string packed = pack_trace(trace);
  EXPECT_EQ(packed.size(), 25u);
  EXPECT_EQ(unpack_trace(packed, trace.state), trace);
  for (const bool sampled : {false, true}) {
    const TraceMark mark{trace.trace_id, sampled};
    EXPECT_EQ(pack_mark(mark).size(), 17u);
    EXPECT_EQ(unpack_mark(pack_mark(mark)), mark);
  }
}

TEST(TraceBytes, NoTraceIsNoBytes) {
  EXPECT_EQ(pack_trace(std::nullopt), "");
  EXPECT_EQ(pack_mark(std::nullopt), "");
  EXPECT_FALSE(state_of(std::nullopt));
  EXPECT_FALSE(state_of(TraceContext{}));
  EXPECT_EQ(state_of(trace), "a=1,b=2");
  EXPECT_FALSE(unpack_trace({}, {}));
  EXPECT_FALSE(unpack_mark({}));
}

TEST(TraceBytes, BytesOfAnotherLengthAreNoTrace) {
  EXPECT_FALSE(unpack_trace(std::string(24, 'x'), {}));
  EXPECT_FALSE(unpack_trace(std::string(26, 'x'), {}));
  EXPECT_FALSE(unpack_mark(std::string(16, 'x')));
}

}  // namespace
}  // namespace postrider::stored

#include "core/trace/trace_header.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace postrider {
namespace {

constexpr std::string_view valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

std::string with(std::size_t at, std::string_view text) {
  std::string changed{valid};
  changed.replace(at, text.size(), text);
  return changed;
}

/// The `tracestate` that is kept.
std::string kept(std::string_view state) {
  const std::optional<TraceContext> trace = parse_trace(valid, state);
  return trace ? trace->state : "not parsed";
}

TEST(Traceparent, AValidOneIsRead) {
  const std::optional<TraceContext> trace = parse_trace(valid, "");
  ASSERT_TRUE(trace);
  EXPECT_EQ(to_string(trace->trace_id), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(to_string(trace->parent), "b7ad6b7169203331");
  EXPECT_EQ(trace->flags, trace_flag_sampled);
  EXPECT_EQ(trace->state, "");
}

TEST(Traceparent, IsWrittenWithAnotherParent) {
  const std::optional<TraceContext> trace = parse_trace(valid, "");
  ASSERT_TRUE(trace);
  EXPECT_EQ(write_traceparent(*trace, trace->parent), valid);
  EXPECT_EQ(write_traceparent(*trace, SpanId{{1, 2, 3, 4, 5, 6, 7, 8}}),
            "00-0af7651916cd43dd8448eb211c80319c-0102030405060708-01");
}

TEST(Traceparent, UnknownFlagsAreDropped) {
  EXPECT_EQ(parse_trace(with(53, "00"), "")->flags, 0);
  EXPECT_EQ(parse_trace(with(53, "02"), "")->flags, trace_flag_random);
  EXPECT_EQ(parse_trace(with(53, "fd"), "")->flags, trace_flag_sampled);
}

TEST(Traceparent, BadOnesAreIgnored) {
  const std::vector<std::string> bad = {
      "",
      "-",
      std::string{valid.substr(0, 54)},
      std::string{valid} + "0",
      std::string{valid} + "-",
      std::string{valid} + "-extra",  // Version 00 has no more fields.
      " " + std::string{valid.substr(1)},
      with(0, "ff"),
      with(0, "0g"),
      with(0, "0A"),
      with(2, "_"),
      with(35, "_"),
      with(52, "_"),
      with(3, std::string(32, '0')),
      with(36, std::string(16, '0')),
      with(3, "0AF7"),
      with(3, "0xf7"),
      with(36, "B7AD"),
      with(53, "0G"),
      with(53, "+1"),
      std::string(55, '-'),
      std::string(55, '\0'),
      std::string{valid} + "," + std::string{valid},
  };
  for (const std::string& text : bad) {
    EXPECT_FALSE(parse_trace(text, "a=1")) << text;
  }
}

TEST(Traceparent, ALaterVersionMayHaveMoreFields) {
  EXPECT_TRUE(parse_trace(with(0, "01"), ""));
  EXPECT_TRUE(parse_trace(with(0, "cc") + "-what-ever", ""));
  EXPECT_TRUE(parse_trace(with(0, "cc") + "-", ""));
  EXPECT_FALSE(parse_trace(with(0, "cc") + ".", ""));
  EXPECT_FALSE(parse_trace(with(0, "cc") + "0", ""));
}

TEST(Tracestate, IsKeptInOrder) {
  EXPECT_EQ(kept("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
            "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
  EXPECT_EQ(kept(" rojo=1 ,\t congo=2\t"), "rojo=1,congo=2");
  EXPECT_EQ(kept("rojo=1,,congo=2,"), "rojo=1,congo=2");
  EXPECT_EQ(kept("fw529a3039@dt=FfAAAAA,0tenant@sys=a b"), "fw529a3039@dt=FfAAAAA,0tenant@sys=a b");
  EXPECT_EQ(kept(",, ,"), "");
}

TEST(Tracestate, ABadOneIsIgnoredButTheTraceIsNot) {
  for (const std::string_view bad :
       {"rojo", "rojo=", "=1", "Rojo=1", "rojo=1;congo=2=3", "0rojo=1", "_rojo=1", "ro jo=1",
        "rojo@=1", "@rojo=1", "a@@b=1", "a@b@c=1", "a@0b=1", "rojo=1,rojo=2", "rojo=a=b",
        "rojo=\x7f", "rojo=caf\xc3\xa9", "rojo=1\r\nx: y", "ok=1,bad"}) {
    EXPECT_EQ(kept(bad), "") << bad;
  }
}

TEST(Tracestate, KeysAndValuesHaveLimits) {
  const auto entry = [](std::size_t key, std::size_t value) {
    return std::string(key, 'k') + "=" + std::string(value, 'v');
  };
  EXPECT_EQ(kept(entry(256, 1)), entry(256, 1));
  EXPECT_EQ(kept(entry(257, 1)), "");
  EXPECT_EQ(kept(entry(1, 256)), entry(1, 256));
  EXPECT_EQ(kept(entry(1, 257)), "");
  const std::string tenant(241, 't');
  EXPECT_EQ(kept(tenant + "@" + std::string(14, 's') + "=1"),
            tenant + "@" + std::string(14, 's') + "=1");
  EXPECT_EQ(kept(tenant + "t@s=1"), "");
  EXPECT_EQ(kept("t@" + std::string(15, 's') + "=1"), "");
}

TEST(Tracestate, HasAtMost32Entries) {
  std::string state;
  for (int i = 0; i < 32; ++i) {
    state += fmt::format("{}k{}=1", i == 0 ? "" : ",", i);
  }
  EXPECT_EQ(kept(state), state);
  EXPECT_EQ(kept(state + ",more=1"), "");
}

TEST(Tracestate, IsCutAt512Bytes) {
  const std::string longer(129, 'x');
  const std::string shorter(100, 'x');
  EXPECT_EQ(kept(fmt::format("a={0},b={1},c={0},d={1},e={0},f={1}", longer, shorter)),
            fmt::format("b={0},d={0},f={0}", shorter))
      << "long entries go first";
  EXPECT_EQ(kept(fmt::format("a={0},b={0},c={0},d={0},e={0},f={0}", shorter)),
            fmt::format("a={0},b={0},c={0},d={0}", shorter))
      << "then the last ones";
  EXPECT_EQ(kept(std::string(100'000, ',')), "");
}

}  // namespace
}  // namespace postrider

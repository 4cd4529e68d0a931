#include "core/stored/attempt_detail.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace postrider::stored {
namespace {

Outcome extreme_outcome() {
  return {.failure = FailureCategory::protocol,
          .error_message = std::string(300, 'e'),
          .response_sample = std::string("\0\x7f\x80\xff", 4),
          .response_headers = {{"a", ""}, {"", "b"}, {"a", std::string(200, 'h')}},
          .retry_after = Millis{std::numeric_limits<std::int64_t>::max()},
          .remote_ip = "::1",
          .timings = {Micros{0}, Micros{127}, Micros{128},
                      Micros{std::numeric_limits<std::int64_t>::max()}}};
}

TEST(AttemptDetail, RoundTrips) {
  for (const Outcome& outcome : {Outcome{}, extreme_outcome()}) {
    std::string packed;
    pack_detail(outcome, 4'000'000'000u, packed);
    Outcome read;
    ASSERT_TRUE(unpack_detail(packed, read).has_value());
    EXPECT_EQ(unpack_shape_number(packed).value(), 4'000'000'000u);
    EXPECT_EQ(read, outcome);
  }
}

TEST(AttemptDetail, ReadsTheFirstLayout) {
  // Two literals, because a hex escape would include the following letter.
  const std::string stored =
      "\x01\x0b\x01\x88\x27\x01\x02\x03\x80\x01\x03::1\x01"
      "e\x02ok\x01\x01h\x01v";
  Outcome read;
  ASSERT_TRUE(unpack_detail(stored, read).has_value());
  EXPECT_EQ(unpack_shape_number(stored).value(), 0u);
  EXPECT_EQ(read, (Outcome{.failure = FailureCategory::protocol,
                           .error_message = "e",
                           .response_sample = "ok",
                           .response_headers = {{"h", "v"}},
                           .retry_after = Millis{5'000},
                           .remote_ip = "::1",
                           .timings = {Micros{1}, Micros{2}, Micros{3}, Micros{128}}}));
}

TEST(AttemptDetail, EmptyOutcomeTakes13Bytes) {
  std::string packed;
  pack_detail({}, 127, packed);
  EXPECT_EQ(packed.size(), 13u);
}

TEST(AttemptDetail, TruncatedOrExtendedBytesAreCorrupt) {
  std::string packed;
  pack_detail(extreme_outcome(), 1, packed);
  for (std::size_t size = 0; size < packed.size(); ++size) {
    Outcome outcome;
    const Result<void> read = unpack_detail(std::string_view{packed}.substr(0, size), outcome);
    ASSERT_FALSE(read.has_value()) << size;
    EXPECT_EQ(read.error().code, Errc::corrupt);
  }
  Outcome outcome;
  EXPECT_FALSE(unpack_detail(packed + "x", outcome).has_value());
  packed[0] = 3;  // An unknown layout.
  EXPECT_FALSE(unpack_detail(packed, outcome).has_value());
  EXPECT_EQ(unpack_shape_number(packed).error().code, Errc::corrupt);
  EXPECT_EQ(unpack_shape_number("\x02").error().code, Errc::corrupt);
  EXPECT_EQ(unpack_shape_number("").error().code, Errc::corrupt);
}

TEST(AttemptDetail, HugeCountInDamagedHeadersIsCorrupt) {
  EXPECT_EQ(unpack_headers("\xff\xff\xff\xff\xff\xff\xff\xff\x7f").error().code, Errc::corrupt);
  EXPECT_EQ(unpack_headers("\x01\xff\xff\xff\xff\x7f").error().code, Errc::corrupt);
  EXPECT_TRUE(unpack_headers(std::string_view("\0", 1))->empty());
}

}  // namespace
}  // namespace postrider::stored

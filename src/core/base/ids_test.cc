#include "core/base/ids.h"

#include <set>

#include <gtest/gtest.h>

#include "core/base/id_time.h"

namespace postrider {
namespace {

TEST(Ids, TextRoundTripsForExtremeValues) {
  Uuid lowest{};
  Uuid highest{};
  highest.fill(0xff);
  EXPECT_EQ(to_base32(lowest), "00000000000000000000000000");
  EXPECT_EQ(to_base32(highest), "7zzzzzzzzzzzzzzzzzzzzzzzzz");
  EXPECT_EQ(parse_base32(to_base32(lowest)), lowest);
  EXPECT_EQ(parse_base32(to_base32(highest)), highest);
}

TEST(Ids, ParseAcceptsOnlyTheCanonicalForm) {
  EXPECT_FALSE(EventId::parse(""));
  EXPECT_FALSE(EventId::parse("evt_"));
  EXPECT_FALSE(EventId::parse("whk_00000000000000000000000000"));
  EXPECT_FALSE(EventId::parse("evt_0000000000000000000000000"));
  EXPECT_FALSE(EventId::parse("evt_8zzzzzzzzzzzzzzzzzzzzzzzzz")) << "more than 128 bits";
  EXPECT_FALSE(EventId::parse("evt_0000000000000000000000000O"));
  EXPECT_FALSE(EventId::parse("evt_0000000000000000000000000A")) << "upper case";
  EXPECT_TRUE(EventId::parse("evt_0000000000000000000000000a"));
}

TEST(Ids, SortByTimeAndNeverRepeat) {
  UuidGenerator maker{42};
  std::set<Uuid> seen;
  Uuid last{};
  for (int i = 0; i < 10'000; ++i) {  // The counter of one millisecond has only 4,096 values.
    const Uuid uuid = maker.next(wall_from_unix_ms(1'700'000'000'000));
    EXPECT_LT(last, uuid);
    EXPECT_TRUE(seen.insert(uuid).second);
    last = uuid;
  }
  EXPECT_LT(last, maker.next(wall_from_unix_ms(1'600'000'000'000))) << "the clock stepped back";
}

TEST(Ids, HaveTheUuidVersionAndVariant) {
  UuidGenerator maker{1};
  const Uuid uuid = maker.next(wall_from_unix_ms(1'700'000'000'000));
  EXPECT_EQ(uuid[6] >> 4, 7);
  EXPECT_EQ(uuid[8] >> 6, 2);
}

TEST(Ids, ContainTheTimeOfTheirCreation) {
  for (const std::int64_t unix_ms : {std::int64_t{0}, std::int64_t{1'767'268'800'123}}) {
    UuidGenerator maker{7};
    (void)maker.next(wall_from_unix_ms(unix_ms));
    EXPECT_EQ(created_at(maker.make<EventId>(wall_from_unix_ms(unix_ms))),
              wall_from_unix_ms(unix_ms));
  }
}

}  // namespace
}  // namespace postrider

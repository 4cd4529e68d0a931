#include "adapters/sqlite/database/store_marker.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/open_sqlite.h"

namespace postrider::sqlite {
namespace {

const Marker some{.identity = std::string(32, 'a'), .position = 17, .base = 12};

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream{file, std::ios::binary} << text;
}

TEST(StoreMarker, TextIsReadBackAndHasOneLength) {
  EXPECT_EQ(parse_marker(to_text(some)), some);
  const Marker most{.identity = std::string(32, 'f'),
                    .position = std::numeric_limits<std::int64_t>::max(),
                    .base = std::numeric_limits<std::int64_t>::max(),
                    .clean = true};
  EXPECT_EQ(parse_marker(to_text(most)), most);
  EXPECT_EQ(to_text(most).size(), to_text(some).size());
}

TEST(StoreMarker, AnyChangedOrMissingByteIsNoticed) {
  const std::string text = to_text(some);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(parse_marker(changed), std::nullopt) << i;
    EXPECT_EQ(parse_marker(text.substr(0, i)), std::nullopt) << i;
  }
  EXPECT_EQ(parse_marker(text + "\n"), std::nullopt);
  EXPECT_EQ(parse_marker(std::string(text.size(), '\0')), std::nullopt);
}

TEST(StoreMarker, AMissingMarkerIsNoErrorADamagedOneIs) {
  const test::TemporaryDirectory directory;
  EXPECT_EQ(read_marker(directory.path()).value(), std::nullopt);
  write_file(marker_file(directory.path()), "");
  EXPECT_EQ(read_marker(directory.path()).error().code, Errc::corrupt);
  write_file(marker_file(directory.path()), std::string(5'000, 'x'));
  EXPECT_EQ(read_marker(directory.path()).error().code, Errc::corrupt);
}

TEST(StoreMarker, FollowsWhatIsNoted) {
  const test::TemporaryDirectory directory;
  write_file(marker_file(directory.path()), "left by something else");
  Result<MarkerFile> file = MarkerFile::open(directory.path(), some);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(read_marker(directory.path()).value(), some);
  file->note(18, 12);
  EXPECT_EQ(read_marker(directory.path()).value()->position, 18);
  EXPECT_FALSE(read_marker(directory.path()).value()->clean);
  file->note_end(19, 19);
  EXPECT_EQ(read_marker(directory.path()).value(),
            (Marker{.identity = some.identity, .position = 19, .base = 19, .clean = true}));

  ASSERT_TRUE(MarkerFile::open(directory.path(), some).has_value());
  EXPECT_EQ(read_marker(directory.path()).value(), some);
}

}  // namespace
}  // namespace postrider::sqlite

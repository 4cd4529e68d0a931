#include "adapters/zstd/line_reader.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <zstd.h>

namespace postrider::zstd {
namespace {

std::string compress(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

struct Read {
  std::vector<std::string> lines;
  Result<void> result;
  bool at_end = false;
};

/// Feeds `data` in pieces of `piece` bytes.
Read read(const std::string& data, std::size_t piece) {
  LineReader reader;
  Read read;
  for (std::size_t at = 0; at < data.size() && read.result; at += piece) {
    read.result = reader.feed(std::string_view{data}.substr(at, piece), [&](std::string_view line) {
      read.lines.emplace_back(line);
      return Result<void>{};
    });
  }
  read.at_end = reader.at_end();
  return read;
}

TEST(LineReader, LinesDoNotDependOnThePieces) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += "{\"n\":" + std::to_string(i) + "}\n";
  }
  const std::string data = compress(text);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, data.size()}) {
    const Read got = read(data, piece);
    ASSERT_TRUE(got.result.has_value());
    EXPECT_TRUE(got.at_end);
    ASSERT_EQ(got.lines.size(), 20'000u);
    EXPECT_EQ(got.lines.front(), "{\"n\":0}");
    EXPECT_EQ(got.lines.back(), "{\"n\":19999}");
  }
}

TEST(LineReader, ReadsConcatenatedFrames) {
  const Read got = read(compress("a\n") + compress("b\n"), 3);
  EXPECT_EQ(got.lines, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(got.at_end);
}

TEST(LineReader, DetectsAMissingEnd) {
  const std::string data = compress("one\ntwo\n");
  EXPECT_FALSE(read(data.substr(0, data.size() - 1), 1).at_end);
  EXPECT_FALSE(read(compress("one\ntwo"), 1).at_end) << "no line break at the end";
  EXPECT_TRUE(read("", 1).at_end);
}

TEST(LineReader, RejectsDataThatIsNotZstandard) {
  const Read got = read("this was never compressed", 100);
  ASSERT_FALSE(got.result.has_value());
  EXPECT_EQ(got.result.error().code, Errc::corrupt);
}

TEST(LineReader, StopsIfTheCallbackFails) {
  LineReader reader;
  int seen = 0;
  const auto refuse = [&](std::string_view) -> Result<void> {
    ++seen;
    return fail(Errc::invalid, "no");
  };
  const Result<void> fed = reader.feed(compress("a\nb\n"), refuse);
  ASSERT_FALSE(fed.has_value());
  EXPECT_EQ(fed.error().message, "no");
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace postrider::zstd

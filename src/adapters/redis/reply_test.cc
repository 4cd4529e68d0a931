#include "adapters/redis/reply.h"

#include <gtest/gtest.h>

#include "core/base/random.h"

#include "adapters/redis/stream_entries.h"
#include "adapters/redis/stream_state.h"

namespace postrider::redis {
namespace {

using Kind = Reply::Kind;

/// The one reply in `bytes`, fed in pieces of `piece` bytes.
Reply read_one(std::string_view bytes, std::size_t piece = 1'000'000,
               std::size_t bytes_max = reply_bytes_max) {
  ReplyReader reader{bytes_max};
  while (!bytes.empty()) {
    EXPECT_TRUE(reader.feed(bytes.substr(0, piece)));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    Result<std::optional<Reply>> reply = reader.next();
    EXPECT_TRUE(reply);
    if (reply && *reply) {
      EXPECT_TRUE(bytes.empty());
      return **std::move(reply);
    }
  }
  ADD_FAILURE() << "the reply is incomplete";
  return {};
}

std::string bulk(std::string_view value) {
  return "$" + std::to_string(value.size()) + "\r\n" + std::string{value} + "\r\n";
}

TEST(RedisReply, EveryKindIsRead) {
  EXPECT_EQ(read_one("+OK\r\n").kind, Kind::status);
  EXPECT_EQ(read_one("$-1\r\n").kind, Kind::nil);
  EXPECT_EQ(read_one("*-1\r\n").kind, Kind::nil);
  EXPECT_EQ(read_one(":-42\r\n").integer, -42);
  EXPECT_EQ(read_one("$0\r\n\r\n").kind, Kind::text);
  EXPECT_EQ(read_one("*0\r\n").kind, Kind::array);
  const Reply error = read_one("-NOGROUP No such key\r\n");
  EXPECT_TRUE(error.is_error("NOGROUP"));
  EXPECT_FALSE(error.is_error("NO"));
  EXPECT_FALSE(read_one("+NOGROUP\r\n").is_error("NOGROUP"));
}

TEST(RedisReply, ATreeIsReadByteByByteWithBinaryValues) {
  const std::string binary{"\0\r\n\xff", 4};
  const std::string bytes = "*3\r\n" + bulk(binary) + "*2\r\n:1\r\n$-1\r\n" + bulk("last");
  for (const std::size_t piece : {1, 2, 3, 100}) {
    const Reply reply = read_one(bytes, piece);
    ASSERT_EQ(reply.items.size(), 3u);
    EXPECT_EQ(reply.items[0].text, binary);
    ASSERT_NE(reply.at(1), nullptr);
    EXPECT_EQ(reply.at(1)->at(0)->integer, 1);
    EXPECT_EQ(reply.at(1)->at(1)->kind, Kind::nil);
    EXPECT_EQ(reply.at(1)->at(2), nullptr);
    EXPECT_EQ(reply.items[2].text, "last");
  }
}

TEST(RedisReply, WhatExceedsTheBudgetIsDroppedAndTheNextReplyIsReadInFull) {
  const std::string large(1'000, 'x');
  ReplyReader reader{2'000};
  ASSERT_TRUE(reader.feed("*4\r\n" + bulk("first") + bulk(large) + bulk(large) + "*1\r\n" +
                          bulk("inside") + "+OK\r\n"));
  const Result<std::optional<Reply>> cut = reader.next();
  ASSERT_TRUE(cut && *cut);
  EXPECT_EQ((*cut)->items[0].text, "first");
  EXPECT_EQ((*cut)->items[1].text, large);
  EXPECT_EQ((*cut)->items[2].kind, Kind::dropped);
  EXPECT_EQ((*cut)->items[3].kind, Kind::dropped);
  const Result<std::optional<Reply>> next = reader.next();
  ASSERT_TRUE(next && *next);
  EXPECT_EQ((*next)->text, "OK");
}

TEST(RedisReply, ManySmallValuesExceedTheBudgetToo) {
  std::string bytes = "*1000\r\n";
  for (int count = 0; count < 1'000; ++count) {
    bytes += "$0\r\n\r\n";
  }
  EXPECT_EQ(read_one(bytes, 100, 2'000).kind, Kind::dropped);
}

TEST(RedisReply, AValueThatIsTooLargeForTheBufferOverflowsAndLeavesAPart) {
  ReplyReader reader{1'000};
  ASSERT_TRUE(reader.feed("*2\r\n" + bulk("1-1") + "$900000\r\n"));
  for (int piece = 0; piece < 5; ++piece) {
    EXPECT_FALSE(reader.is_overflowing());
    ASSERT_TRUE(reader.feed(std::string(65'536, 'x')));
    ASSERT_TRUE(reader.next());
  }
  EXPECT_TRUE(reader.is_overflowing());
  const Reply partial = reader.take_partial();
  ASSERT_EQ(partial.items.size(), 2u);
  EXPECT_EQ(partial.items[0].text, "1-1");
  EXPECT_EQ(partial.items[1].kind, Kind::nil);
}

TEST(RedisReply, OtherProtocolsAreNamedAsSuch) {
  ReplyReader reader;
  ASSERT_TRUE(reader.feed("HTTP/1.1 400 Bad Request\r\n"));
  const Result<std::optional<Reply>> reply = reader.next();
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Errc::unavailable);
  EXPECT_NE(reply.error().message.find("not the Redis protocol"), std::string::npos);
}

TEST(RedisReply, GarbageIsAnErrorOrAReplyThatCanBeRead) {
  const std::string valid = "*1\r\n*2\r\n$1\r\ns\r\n*2\r\n*2\r\n" + bulk("1-1") + "*2\r\n" +
                            bulk("a") + bulk("b") + "*2\r\n" + bulk("1-2") + "$-1\r\n";
  SplitMix64 random{7};
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = valid;
    for (std::uint64_t change = random.next() % 4; change < 4; ++change) {
      constexpr std::string_view characters = "*$:+-\r\n0123456789ab";
      bytes[random.next() % bytes.size()] = characters[random.next() % characters.size()];
    }
    ReplyReader reader{4'096};
    ASSERT_TRUE(reader.feed(bytes));
    const Result<std::optional<Reply>> next = reader.next();
    const Reply reply = next && *next ? **next : reader.take_partial();
    EXPECT_LE(read_entries(entries_of_read(reply), true).entries.size(), 2u);
    EXPECT_LE(read_entries(reply).entries.size(), bytes.size());
    EXPECT_LE(read_claim(reply).deleted_ids.size(), bytes.size());
    EXPECT_LE(read_groups(reply).size(), bytes.size());
    static_cast<void>(lowest_pending(reply));
    static_cast<void>(age_of({}, reply));
  }
}

}  // namespace
}  // namespace postrider::redis

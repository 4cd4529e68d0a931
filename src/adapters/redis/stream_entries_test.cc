#include "adapters/redis/stream_entries.h"

#include <gtest/gtest.h>

namespace postrider::redis {
namespace {

using Kind = Reply::Kind;
using Fields = std::vector<std::pair<std::string, std::string>>;

Reply text(std::string value) { return {.kind = Kind::text, .text = std::move(value)}; }

Reply array(std::vector<Reply> items) { return {.kind = Kind::array, .items = std::move(items)}; }

Reply entry(std::string id, std::vector<Reply> fields) {
  return array({text(std::move(id)), array(std::move(fields))});
}

const Reply dropped{.kind = Kind::dropped};
const Reply nil;

TEST(StreamEntries, AreReadInOrder) {
  const EntryBatch batch = read_entries(
      array({entry("1-1", {text("a"), text("b"), text("a"), text("")}), entry("1-2", {})}));
  EXPECT_FALSE(batch.is_cut);
  ASSERT_EQ(batch.entries.size(), 2u);
  EXPECT_EQ(batch.entries[0], (StreamEntry{"1-1", Fields{{"a", "b"}, {"a", ""}}}));
  EXPECT_EQ(batch.entries[1], (StreamEntry{"1-2", Fields{}}));
}

TEST(StreamEntries, AnEntryWithoutFieldsWasDeleted) {
  const EntryBatch batch = read_entries(array({array({text("1-1"), nil})}));
  ASSERT_EQ(batch.entries.size(), 1u);
  EXPECT_EQ(batch.entries[0], (StreamEntry{"1-1", std::nullopt}));
  EXPECT_TRUE(to_record(batch.entries[0], "").problem);
}

TEST(StreamEntries, ABatchEndsBeforeTheFirstEntryWithADroppedValue) {
  const EntryBatch batch =
      read_entries(array({entry("1-1", {text("a"), text("b")}), entry("1-2", {text("a"), dropped}),
                          dropped, dropped}));
  EXPECT_TRUE(batch.is_cut);
  EXPECT_EQ(batch.cut_id, "1-2");
  EXPECT_EQ(batch.entries.size(), 1u);
}

TEST(StreamEntries, WhatWasNotReadOfAPartialReplyIsMissing) {
  for (const Reply& last : {array({text("1-2"), nil}), entry("1-2", {text("a"), nil})}) {
    const EntryBatch batch =
        read_entries(array({entry("1-1", {text("a"), text("b")}), last, nil}), true);
    EXPECT_TRUE(batch.is_cut);
    EXPECT_EQ(batch.cut_id, "1-2");
    EXPECT_EQ(batch.entries.size(), 1u);
  }
}

TEST(StreamEntries, UnknownRepliesAreCutAndNeverTakenForEntries) {
  for (const Reply& item : {nil, text("x"), array({}), array({nil, nil}), dropped}) {
    const EntryBatch batch = read_entries(array({item}));
    EXPECT_TRUE(batch.is_cut);
    EXPECT_TRUE(batch.entries.empty());
    EXPECT_EQ(batch.cut_id, "");
  }
  EXPECT_FALSE(read_entries(nil).is_cut);
  EXPECT_TRUE(read_entries(dropped).is_cut);
}

TEST(StreamEntries, AreFoundInTheReplyToARead) {
  const Reply read =
      array({array({text("stream"), array({entry("1-1", {text("a"), text("b")})})})});
  EXPECT_EQ(read_entries(entries_of_read(read)).entries.size(), 1u);
  EXPECT_TRUE(read_entries(entries_of_read(nil)).entries.empty());
  EXPECT_TRUE(read_entries(entries_of_read(array({}))).entries.empty());
}

TEST(StreamEntries, AClaimHasACursorEntriesAndDeletedIds) {
  const ClaimReply claim = read_claim(
      array({text("5-0"), array({entry("1-1", {text("a"), text("b")})}), array({text("1-2")})}));
  EXPECT_EQ(claim.next_cursor, "5-0");
  EXPECT_EQ(read_entries(claim.entries).entries.size(), 1u);
  EXPECT_EQ(claim.deleted_ids, std::vector<std::string>{"1-2"});
  EXPECT_TRUE(read_claim(array({text("0-0"), array({})})).deleted_ids.empty());
}

TEST(StreamEntries, FlatFieldsBecomeTextAfterTheId) {
  const SourceRecord record =
      to_record({"7-0", Fields{{"type", "a.b"}, {"data", "{}"}, {"entry_id", "forged"}}}, "");
  EXPECT_EQ(record.receipt, "7-0");
  EXPECT_FALSE(record.problem);
  ASSERT_EQ(record.fields.size(), 4u);
  EXPECT_EQ(record.fields[0], (SourceField{"entry_id", "7-0"}));
  EXPECT_EQ(record.fields[1], (SourceField{"type", "a.b"}));
  EXPECT_EQ(record.fields[2], (SourceField{"data", "{}"}));
}

TEST(StreamEntries, MembersOfTheJsonFieldBecomeFields) {
  const SourceRecord record = to_record(
      {"7-0", Fields{{"other", "x"}, {"event", R"({"type": "a.b", "data": {"n": [1]}})"}}},
      "event");
  EXPECT_FALSE(record.problem);
  ASSERT_EQ(record.fields.size(), 3u);
  EXPECT_EQ(record.fields[0], (SourceField{"entry_id", "7-0"}));
  EXPECT_EQ(record.fields[1], (SourceField{"type", R"("a.b")", true}));
  EXPECT_EQ(record.fields[2], (SourceField{"data", R"({"n": [1]})", true}));
}

TEST(StreamEntries, AMissingOrMalformedJsonFieldIsAProblem) {
  EXPECT_EQ(to_record({"7-0", Fields{{"other", "x"}}}, "event").problem,
            "The entry has no field `event`.");
  for (const char* bad : {"", "[1]", "{", "{\"a\":1,\"a\":2}", "\xff", "{} {}"}) {
    const SourceRecord record = to_record({"7-0", Fields{{"event", bad}}}, "event");
    ASSERT_TRUE(record.problem) << bad;
    EXPECT_TRUE(record.problem->starts_with("The field `event` is not a JSON object."));
  }
}

}  // namespace
}  // namespace postrider::redis

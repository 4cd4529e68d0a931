#include "adapters/postgres/read_position.h"

#include <gtest/gtest.h>

namespace postrider::postgres {
namespace {

TEST(SnapshotText, IsParsedAndWritten) {
  for (const char* text :
       {"1:1:", "726:726:", "10:20:10,14,15", "4294967290:8589934592:4294967299"}) {
    const std::optional<Snapshot> snapshot = parse_snapshot(text);
    ASSERT_TRUE(snapshot.has_value()) << text;
    EXPECT_EQ(to_text(*snapshot), text);
  }
  EXPECT_EQ(parse_snapshot("10:20:10,14"), (Snapshot{.xmin = 10, .xmax = 20, .xip = {10, 14}}));
  for (const char* text : {"", "1", "1:", "1:2", ":2:", "1:2:x", "1:2:3x", "1:2:3;4", "-1:2:"}) {
    EXPECT_EQ(parse_snapshot(text), std::nullopt) << text;
  }
}

const Snapshot before{.xmin = 5, .xmax = 9, .xip = {5}};
const Snapshot later{.xmin = 7, .xmax = 20, .xip = {7}};
const ReadPosition start{.finished = before};
const OpenStep step{.snapshot = later, .after = 0, .until = 30};

TEST(Advance, AStepThatIsReadToItsEndIsFinished) {
  const ReadBatch batch{.step = step, .positions = {10, 20, 30}, .ends_step = true};
  EXPECT_EQ(advance(start, batch, 3), (ReadPosition{.finished = later}));
}

TEST(Advance, AStepStaysOpenBehindTheLastSettledRow) {
  const ReadBatch batch{.step = step, .positions = {10, 20, 30}, .ends_step = true};
  OpenStep open = step;
  open.after = 20;
  EXPECT_EQ(advance(start, batch, 2), (ReadPosition{.finished = before, .open = open}));

  const ReadBatch page{.step = step, .positions = {10, 20}, .ends_step = false};
  EXPECT_EQ(advance(start, page, 2), (ReadPosition{.finished = before, .open = open}));
}

TEST(Advance, NothingMovesIfTheFirstRowIsDeferred) {
  const ReadBatch batch{.step = step, .positions = {10, 20, 30}, .ends_step = true};
  EXPECT_EQ(advance(start, batch, 0), start);
  OpenStep open = step;
  open.after = 9;
  const ReadPosition inside{.finished = before, .open = open};
  EXPECT_EQ(advance(inside, {.step = open, .positions = {10}, .ends_step = true}, 0), inside);
  EXPECT_EQ(advance(inside, {.step = open, .positions = {10}, .ends_step = true}, 1),
            (ReadPosition{.finished = later}));
}

}  // namespace
}  // namespace postrider::postgres

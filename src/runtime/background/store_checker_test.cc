#include "runtime/background/store_checker.h"

#include <deque>
#include <vector>

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"

#include "tests/support/manual_loop.h"

namespace postrider {
namespace {

using namespace std::chrono_literals;

class ListSink final : public AlertSink {
 public:
  void on_alert_change(const AlertChange& change) override { changes.push_back(change); }

  std::vector<AlertChange> changes;
};

/// Returns scripted steps.
class ScriptedCheck final : public StoreCheck {
 public:
  explicit ScriptedCheck(std::deque<Result<CheckStep>> steps) : steps_(std::move(steps)) {}

  Result<CheckStep> check_some(std::uint32_t rows_max) override {
    EXPECT_EQ(rows_max, check_step_rows);
    if (steps_.empty()) {
      return CheckStep{};
    }
    Result<CheckStep> step = std::move(steps_.front());
    steps_.pop_front();
    return step;
  }

 private:
  std::deque<Result<CheckStep>> steps_;
};

const CheckStep sound{.rows = 5, .pass_ended = false, .damage = std::nullopt};
const CheckStep end{.rows = 0, .pass_ended = true, .damage = std::nullopt};
const CheckStep damage{.rows = 0, .pass_ended = false, .damage = "The table event is damaged."};

class StoreCheckerTest : public testing::Test {
 protected:
  ~StoreCheckerTest() override { readers_.stop(); }

  void run(std::deque<Result<CheckStep>> steps) {
    const std::size_t count = steps.size();
    checker_ = std::make_unique<StoreChecker>(
        StoreChecker::Parts{.check = std::make_unique<ScriptedCheck>(std::move(steps)),
                            .rows_per_second = 2 * check_step_rows,
                            .readers = &readers_,
                            .alerts = &sink_});
    checker_->start(loop_);
    for (std::size_t i = 0; i <= count; ++i) {
      ASSERT_TRUE(loop_.run_until([this] { return loop_.next_due().has_value(); }));
      EXPECT_EQ(*loop_.next_due() - clock_.now().mono, Micros{500ms});
      if (i < count) {
        clock_.advance(*loop_.next_due() - clock_.now().mono);
        loop_.fire_due();
      }
    }
  }

  test::ManualClock clock_;
  test::ManualLoop loop_{clock_};
  ListSink sink_;
  ReaderPool readers_{std::vector<Reader>(1), clock_};
  std::unique_ptr<StoreChecker> checker_;
};

TEST_F(StoreCheckerTest, DamageRaisesAnAlertThatNamesTheTable) {
  run({sound, damage});
  ASSERT_EQ(sink_.changes.size(), 1u);
  EXPECT_EQ(sink_.changes[0].subject, (AlertSubject{AlertKind::store_corrupt, std::nullopt}));
  EXPECT_TRUE(sink_.changes[0].active);
  EXPECT_EQ(sink_.changes[0].detail, "The table event is damaged.");
}

TEST_F(StoreCheckerTest, OnlyACompletePassWithoutDamageResolvesIt) {
  run({damage, sound, end, sound});
  ASSERT_EQ(sink_.changes.size(), 1u);
  run({sound, end});
  ASSERT_EQ(sink_.changes.size(), 2u);
  EXPECT_FALSE(sink_.changes[1].active);
}

TEST_F(StoreCheckerTest, AStepThatCannotBeTakenIsTriedAgain) {
  run({fail(Errc::unavailable, "There are no free descriptors."), damage});
  ASSERT_EQ(sink_.changes.size(), 1u);
}

}  // namespace
}  // namespace postrider

// Injects disk failures, a full disk and power cuts at every write and sync of a scenario.
// Afterwards every acknowledged batch must be stored (P1), and no batch may be stored partially.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/random.h"

#include "adapters/sqlite/database/data_directory.h"
#include "adapters/sqlite/database/database.h"
#include "adapters/sqlite/database/sqlite_store.h"

#include "tests/contract/store_script.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/open_sqlite.h"

namespace postrider::test {
namespace {

constexpr int batch_count = 8;
constexpr int checkpoint_pages = 12;  // Small, so that the scenario has a few checkpoints.

/// One batch: a publish, and the settlement of the publish two batches before.
struct Step {
  Publish publish;
  std::optional<Settlement> settlement;
  bool acknowledged = false;
};

struct Scenario {
  StoreScript script;
  std::vector<Step> steps;
  std::vector<Delivery> accepted;

  /// Commits one more batch. False if the store failed.
  bool commit(Ledger& ledger) {
    Step step;
    step.publish = script.publish(
        {StoreScript::webhook(1)},
        {.data = '"' + std::string(5'000, 'x') + '"', .key = "k" + std::to_string(steps.size())});
    if (accepted.size() >= 2) {
      step.settlement = script.success(accepted[accepted.size() - 2]);
    }
    Batch batch{.publishes = {step.publish}};
    if (step.settlement) {
      batch.settlements.push_back(*step.settlement);
    }
    const Result<BatchReceipt> receipt = ledger.commit(batch);
    step.acknowledged = receipt.has_value();
    steps.push_back(step);
    if (receipt) {
      accepted.push_back(std::get<Accepted>(receipt->publishes.front()).deliveries.front());
    }
    return receipt.has_value();
  }
};

void check(const Scenario& scenario, History& history) {
  for (const Step& step : scenario.steps) {
    const bool published = history.find_event(step.publish.event.id).has_value();
    if (step.acknowledged) {
      EXPECT_TRUE(published) << "an acknowledged event is lost";
    }
    if (!step.settlement) {
      continue;
    }
    const auto attempts = history.attempts_of(step.settlement->delivery.id);
    ASSERT_TRUE(attempts.has_value());
    bool settled = false;
    for (const Attempt& attempt : *attempts) {
      settled = settled || attempt.id == step.settlement->attempt->id;
    }
    EXPECT_EQ(settled, published) << "a batch is stored partially";
  }
}

void check_integrity(const std::filesystem::path& directory) {
  Result<sqlite::Database> database =
      sqlite::Database::open({.file = sqlite::database_file(directory)});
  ASSERT_TRUE(database.has_value());
  Result<sqlite::Statement> statement = database->prepare("PRAGMA integrity_check");
  ASSERT_TRUE(statement.has_value());
  sqlite::Query query = statement->query();
  ASSERT_TRUE(query.next().value_or(false));
  EXPECT_EQ(query.text(0), "ok");
}

/// Opens the directory like a restarted server and checks the contents.
void check_after_restart(const Scenario& scenario, const std::filesystem::path& directory) {
  Result<Store> store = open_sqlite_store({.directory = directory});
  ASSERT_TRUE(store.has_value()) << store.error().message;
  Result<Reader> reader = open_sqlite_reader({.directory = directory});
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  check(scenario, *reader->history);
  check_integrity(directory);
}

/// Heals the disk and recovers the store as soon as a commit fails. True if the fault fired.
bool run_with_fault(FaultyVfs::Kind kind, std::uint64_t nth) {
  FaultyVfs vfs{"faulty"};
  const TemporaryDirectory directory;
  const SqliteOptions options{
      .directory = directory.path(), .vfs = vfs.name(), .checkpoint_pages = checkpoint_pages};
  Result<Store> store = open_sqlite_store(options);
  EXPECT_TRUE(store.has_value());
  Result<Reader> reader = open_sqlite_reader(options);
  EXPECT_TRUE(reader.has_value());
  Scenario scenario;
  vfs.fail_nth(nth, kind);
  for (int i = 0; i < batch_count; ++i) {
    if (scenario.commit(*store->ledger)) {
      continue;
    }
    EXPECT_TRUE(vfs.fault_fired());
    EXPECT_EQ(store->ledger->backlog().error().code, Errc::unavailable);
    EXPECT_EQ(store->catalog->load_webhooks().error().code, Errc::unavailable);
    EXPECT_FALSE(scenario.commit(*store->ledger)) << "a broken store stays broken until recover";
    vfs.heal();
    const Result<void> recovered = store->ledger->recover();
    EXPECT_TRUE(recovered.has_value()) << recovered.error().message;
    EXPECT_TRUE(store->ledger->backlog().has_value());
  }
  check(scenario, *reader->history);
  const bool fired = vfs.fault_fired();
  vfs.heal();
  *reader = {};
  *store = {};
  check_after_restart(scenario, directory.path());
  return fired;
}

void run_with_every_fault(FaultyVfs::Kind kind) {
  std::uint64_t nth = 0;
  while (nth < 10'000) {
    SCOPED_TRACE(fmt::format("write or sync #{} fails", nth));
    if (!run_with_fault(kind, nth) || testing::Test::HasFailure()) {
      break;
    }
    ++nth;
  }
  EXPECT_GT(nth, 50u);  // The scenario has at least that many writes and syncs.
}

TEST(SqliteFaults, SurvivesAFailureOfAnyWriteOrSync) {
  run_with_every_fault(FaultyVfs::Kind::io_error);
}

TEST(SqliteFaults, SurvivesAFullDiskAtAnyWrite) {
  run_with_every_fault(FaultyVfs::Kind::disk_full);
}

TEST(SqliteFaults, CommitsFailUntilTheDiskHasSpaceAgain) {
  FaultyVfs vfs{"full"};
  const TemporaryDirectory directory;
  Result<Store> store =
      open_sqlite_store({.directory = directory.path(), .vfs = vfs.name(), .checkpoint_pages = 1});
  ASSERT_TRUE(store.has_value());
  Scenario scenario;
  ASSERT_TRUE(scenario.commit(*store->ledger));
  vfs.fail_nth(0, FaultyVfs::Kind::disk_full);
  EXPECT_FALSE(scenario.commit(*store->ledger));
  // Reopening writes nothing and may succeed, but the next commit fails again.
  for (int i = 0; i < 3; ++i) {
    [[maybe_unused]] const Result<void> recovered = store->ledger->recover();
    EXPECT_FALSE(scenario.commit(*store->ledger));
  }
  vfs.heal();
  ASSERT_TRUE(store->ledger->recover().has_value());
  EXPECT_TRUE(scenario.commit(*store->ledger));
  *store = {};
  check_after_restart(scenario, directory.path());
}

TEST(SqliteFaults, ReadErrorIsUnavailableNotCorrupt) {
  FaultyVfs vfs{"unreadable"};
  const TemporaryDirectory directory;
  const SqliteOptions options{.directory = directory.path(), .vfs = vfs.name()};
  Result<Store> store = open_sqlite_store(options);
  ASSERT_TRUE(store.has_value());
  Scenario scenario;
  for (int i = 0; i < batch_count; ++i) {
    ASSERT_TRUE(scenario.commit(*store->ledger));
  }
  std::uint64_t nth = 0;
  for (bool refused = true; refused && nth < 1'000; ++nth) {
    SCOPED_TRACE(fmt::format("read #{} is refused", nth));
    Result<Reader> reader = open_sqlite_reader(options);  // With an empty cache.
    ASSERT_TRUE(reader.has_value());
    vfs.fail_reads_from(nth);
    const EventId id = scenario.steps.front().publish.event.id;
    const Result<Event> found = reader->history->find_event(id);
    refused = vfs.fault_fired();
    ASSERT_EQ(found.has_value(), !refused);
    if (refused) {
      EXPECT_EQ(found.error().code, Errc::unavailable) << found.error().message;
    }
    vfs.heal();
    EXPECT_TRUE(reader->history->find_event(id).has_value());
  }
  EXPECT_GT(nth, 3u);
}

/// Simulates a power cut after every sync and every acknowledgement. `survives` decides for each
/// unsynced write whether it is kept.
void run_with_power_cuts(const Survives& survives) {
  FaultyVfs vfs{"powerless"};
  const TemporaryDirectory directory;
  Result<Store> store = open_sqlite_store(
      {.directory = directory.path(), .vfs = vfs.name(), .checkpoint_pages = checkpoint_pages});
  ASSERT_TRUE(store.has_value());
  Scenario scenario;
  int cuts = 0;
  const auto cut = [&] {
    ++cuts;
    SCOPED_TRACE(fmt::format("power cut {} after {} batches", cuts, scenario.steps.size()));
    const TemporaryDirectory image;
    vfs.write_crash_image(image.path(), survives);
    check_after_restart(scenario, image.path());
  };
  vfs.on_sync(cut);
  for (int i = 0; i < batch_count; ++i) {
    ASSERT_TRUE(scenario.commit(*store->ledger));
    cut();
  }
  vfs.on_sync({});
  EXPECT_GT(cuts, 2 * batch_count);  // At least one sync and one acknowledgement per batch.
}

TEST(SqlitePowerCut, NothingAcknowledgedIsLostIfNoUnsyncedWriteSurvives) {
  run_with_power_cuts([] { return false; });
}

TEST(SqlitePowerCut, NoBatchIsPartialIfAllUnsyncedWritesSurvive) {
  run_with_power_cuts([] { return true; });
}

TEST(SqlitePowerCut, NothingAcknowledgedIsLostIfUnsyncedWritesSurviveAtRandom) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SplitMix64 random{seed};
    run_with_power_cuts([&random] { return random.below(2) == 0; });
  }
}

}  // namespace
}  // namespace postrider::test

#include "adapters/memory/memory_store.h"

#include <memory>

#include <gtest/gtest.h>

#include "tests/contract/store_contract.h"
#include "tests/support/test_digest.h"

namespace postrider {
namespace {

using test::StoreScript;

class OpenMemory final : public test::OpenStore {
 public:
  OpenMemory() { store_.digest = test::test_digest; }

  Store& store() override { return roles_; }
  Reader& reader() override { return reader_; }

  /// Simulates a restart with a copy of the store.
  void reopen() override {
    const MemoryStore copy = store_;
    store_ = MemoryStore{};
    store_ = copy;
  }

 private:
  MemoryStore store_;
  Store roles_ = make_memory_store(store_);
  Reader reader_ = make_memory_reader(store_);
};

TEST(MemoryStore, CopyDoesNotSeeLaterChangesOfTheOriginal) {
  MemoryStore store;
  StoreScript script;
  const Publish before = script.publish({StoreScript::webhook(1)});
  const Publish after = script.publish({StoreScript::webhook(1)});
  ASSERT_TRUE(make_memory_ledger(store)->commit({.publishes = {before}}).has_value());

  MemoryStore crashed = store;
  ASSERT_TRUE(make_memory_ledger(store)->commit({.publishes = {after}}).has_value());
  const auto history = make_memory_history(crashed);
  EXPECT_TRUE(history->find_event(before.event.id).has_value());
  EXPECT_EQ(history->find_event(after.event.id).error().code, Errc::not_found);
}

}  // namespace

namespace test {

POSTRIDER_STORE_CONTRACT(Memory,
                         StoreFactory{"memory", [] { return std::make_unique<OpenMemory>(); }});

}  // namespace test
}  // namespace postrider

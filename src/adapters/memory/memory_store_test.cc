#include "adapters/memory/memory_store.h"

#include <memory>

#include <gtest/gtest.h>

#include "tests/contract/store_contract.h"

namespace postrider {
namespace {

using test::StoreScript;

class OpenMemory final : public test::OpenStore {
 public:
  Ledger& ledger() override { return *ledger_; }
  Catalog& catalog() override { return *catalog_; }
  History& history() override { return *history_; }

  /// What a restart leaves is a picture of the store.
  void reopen() override {
    const MemoryStore picture = store_;
    store_ = MemoryStore{};
    store_ = picture;
  }

 private:
  MemoryStore store_;
  std::unique_ptr<Ledger> ledger_ = make_memory_ledger(store_);
  std::unique_ptr<Catalog> catalog_ = make_memory_catalog(store_);
  std::unique_ptr<History> history_ = make_memory_history(store_);
};

TEST(MemoryStore, ACopyDoesNotSeeWhatHappensToTheOriginal) {
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
                         StoreMaker{"memory", [] { return std::make_unique<OpenMemory>(); }});

}  // namespace test
}  // namespace postrider

#include "adapters/memory/memory_leases.h"

#include <gtest/gtest.h>

#include "tests/contract/lease_contract.h"

namespace postrider::test {
namespace {

class MemoryLeaseBench final : public LeaseBench {
 public:
  std::unique_ptr<Leases> join(NodeIdentity identity) override {
    return make_memory_leases(table_, std::move(identity));
  }
  void pass(Millis time) override { table_.pass(time); }

 private:
  MemoryLeaseTable table_;
};

}  // namespace

POSTRIDER_LEASE_CONTRACT(Memory, LeaseBenchFactory{"memory", [] {
                                                     return std::make_unique<MemoryLeaseBench>();
                                                   }});

}  // namespace postrider::test

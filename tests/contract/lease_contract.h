// The contract of shard leases, as a test suite. The test program of each adapter links
// `postrider_lease_contract` and instantiates it with POSTRIDER_LEASE_CONTRACT and its own
// LeaseBenchFactory.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ports/leases.h"

namespace postrider::test {

/// An empty table of leases. Made anew for each test.
class LeaseBench {
 public:
  virtual ~LeaseBench() = default;

  /// A node's access to the table. Any thread may use it.
  [[nodiscard]] virtual std::unique_ptr<Leases> join(NodeIdentity identity) = 0;
  /// Lets this much of the database's time pass. It may also pass by itself, but not minutes.
  virtual void pass(Millis time) = 0;

 protected:
  LeaseBench() = default;
  LeaseBench(const LeaseBench&) = delete;
  LeaseBench& operator=(const LeaseBench&) = delete;
};

struct LeaseBenchFactory {
  std::string name;
  std::function<std::unique_ptr<LeaseBench>()> make;
};

inline void PrintTo(const LeaseBenchFactory& factory, std::ostream* out) { *out << factory.name; }

class LeaseContract : public testing::TestWithParam<LeaseBenchFactory> {
 protected:
  using Shards = std::vector<ShardNumber>;

  /// A node of the default pool.
  struct Node {
    NodeIdentity identity;
    std::unique_ptr<Leases> leases;
  };
  [[nodiscard]] Node join(int number, std::string pool = {});

  /// Takes a turn with leases of an hour. Fails the test on an error.
  ClusterView turn(Node& node, LeaseTurn turn = {});
  ClusterView take(Node& node, Shards shards);
  ClusterView release(Node& node, std::vector<ShardEpoch> shards);

  [[nodiscard]] static Lease held(const Node& node, Epoch epoch) {
    return {.owner = node.identity.id, .epoch = epoch};
  }
  [[nodiscard]] static Lease expired(const Node& node, Epoch epoch) {
    return {.owner = node.identity.id, .epoch = epoch, .expired = true};
  }
  [[nodiscard]] static Lease free_after(Epoch epoch) { return {.owner = {}, .epoch = epoch}; }

  std::unique_ptr<LeaseBench> bench_ = GetParam().make();
};

[[nodiscard]] inline std::string lease_bench_name(
    const testing::TestParamInfo<LeaseBenchFactory>& info) {
  return info.param.name;
}

/// `POSTRIDER_LEASE_CONTRACT(Memory, LeaseBenchFactory{"memory", …})`.
#define POSTRIDER_LEASE_CONTRACT(prefix, ...) \
  INSTANTIATE_TEST_SUITE_P(prefix, LeaseContract, testing::Values(__VA_ARGS__), lease_bench_name)

}  // namespace postrider::test

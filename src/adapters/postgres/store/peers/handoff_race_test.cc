// Nodes that publish to a webhook while they take its shard from each other. Whatever they do, the
// node that holds the shard at last knows every delivery that waits: from the store when it took
// the shard, from its own publishes since, or because it was handed over.
#include <random>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/postgres/store/peers/cluster_fixture.h"

namespace postrider::test {
namespace {

class HandoffRaceTest : public ClusterTest {
 protected:
  static constexpr std::size_t games = 25;
  static constexpr std::size_t rounds = 8;  // Few: each game checks only its last takeover.

  /// A node in a thread of its own.
  struct Racer {
    ClusterMember node;
    std::vector<Publish> publishes;
    std::mt19937 random;
    std::unique_ptr<postgres::Connection> clock;
    Epoch epoch = 0;  // Of its last lease.
    std::set<std::int64_t> known = {};
  };

  Racer make_racer(ClusterMember node, unsigned seed) {
    Racer racer{.node = std::move(node), .publishes = {}, .random = std::mt19937{seed}};
    for (std::size_t i = 0; i < games * rounds; ++i) {
      racer.publishes.push_back(script_.publish({webhook_}));
    }
    Result<postgres::Connection> clock =
        postgres::Connection::open(one_.options().connect, interruption_);
    EXPECT_TRUE(clock.has_value()) << clock.error().message;
    racer.clock = std::make_unique<postgres::Connection>(*std::move(clock));
    return racer;
  }

  [[nodiscard]] std::set<std::int64_t> waiting(ClusterMember& node) const {
    const Result<LanePage> page = node.ledger().load_lane({.webhook_id = webhook_,
                                                           .ordering = Ordering::strict,
                                                           .due_before = wall_time_max,
                                                           .limit = 10'000});
    EXPECT_TRUE(page.has_value()) << page.error().message;
    std::set<std::int64_t> sequences;
    for (const Delivery& delivery : page->deliveries) {
      sequences.insert(delivery.sequence);
    }
    return sequences;
  }

  /// Takes the shard, whoever has it, unless a transaction of that node is running.
  void steal(Racer& racer) const {
    EXPECT_TRUE(racer.clock->execute("UPDATE lease_clock SET steady = steady + 3600000"));
    const ShardNumber shard = shard_of(webhook_);
    const Result<ClusterView> view =
        racer.node.leases->take_turn({.length = length, .take = {shard}});
    ASSERT_TRUE(view.has_value()) << view.error().message;
    const Lease& lease = view->leases[shard];
    if (lease.owner == racer.node.identity.id && lease.epoch != racer.epoch) {
      racer.epoch = lease.epoch;
      racer.node.peers().hold({.shard = shard, .epoch = lease.epoch});
      racer.known = waiting(racer.node);
    }
  }

  /// The transaction goes on for a while after the leases were read.
  static void publish(Racer& racer, const Publish& publish) {
    BatchReceipt receipt;
    const Result<void> done = racer.node.store.atomically([&]() -> Result<void> {
      receipt = commit(racer.node, {.publishes = {publish}});
      for (int i = 0; i < 5; ++i) {
        POSTRIDER_CHECK(racer.node.peers().catalog_version());
      }
      return {};
    });
    EXPECT_TRUE(done.has_value()) << done.error().message;
    if (!receipt.handed_over) {
      racer.known.insert(std::get<Accepted>(receipt.publishes.at(0)).deliveries.at(0).sequence);
    }
  }

  static void receive_all(Racer& racer) {
    for (bool more = true; more;) {
      const HandedOver handed = receive(racer.node, 5);
      for (const Delivery& delivery : handed.deliveries) {
        racer.known.insert(delivery.sequence);
      }
      more = handed.more;
    }
  }

  void race(Racer& racer, std::size_t game) const {
    for (std::size_t i = game * rounds; i < (game + 1) * rounds; ++i) {
      publish(racer, racer.publishes[i]);
      switch (racer.random() % 4) {
        case 0:
          steal(racer);
          break;
        case 1:
          receive_all(racer);
          break;
        default:
          break;
      }
    }
  }

  postgres::Interruption interruption_;
};

TEST_F(HandoffRaceTest, TheLastHolderKnowsEveryDelivery) {
  std::vector<Racer> racers;
  racers.push_back(make_racer(std::move(a_), 1));
  racers.push_back(make_racer(std::move(b_), 2));
  racers.push_back(make_racer(std::move(c_), 3));
  steal(racers[0]);
  for (std::size_t game = 0; game < games; ++game) {
    std::vector<std::jthread> threads;
    for (Racer& racer : racers) {
      threads.emplace_back([&] { race(racer, game); });
    }
    threads.clear();
    const ClusterView view = racers[0].node.leases->take_turn({.length = length}).value();
    const Lease& lease = view.leases[shard_of(webhook_)];
    int holders = 0;
    for (Racer& racer : racers) {
      if (lease.owner != racer.node.identity.id) {
        EXPECT_EQ(receive(racer.node).taken, 0u);
        continue;
      }
      ++holders;
      EXPECT_EQ(lease.epoch, racer.epoch);
      receive_all(racer);
      ASSERT_EQ(racer.known, waiting(racer.node));
      EXPECT_EQ(racer.known.size(), (game + 1) * racers.size() * rounds);
    }
    EXPECT_EQ(holders, 1);
  }
}

}  // namespace
}  // namespace postrider::test

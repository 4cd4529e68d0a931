// Runs one seed or many.
//
//   simulate --seed S [--trace]       one run; --trace prints everything that happens
//   simulate --from S --count N       N runs, each twice; prints the seeds that fail
//   simulate --leases …               the same for the leases of a cluster
//   simulate --cluster …              the same for several servers on one database
//   simulate --crowded …              the same for more healthy receivers than slots
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/simulation/cluster_world.h"
#include "tests/simulation/lease_world.h"
#include "tests/simulation/world.h"

namespace {

using postrider::sim::LeaseRunResult;
using postrider::sim::RunResult;
using Log = std::function<void(const std::string&)>;

struct Arguments {
  std::uint64_t from = 1;
  std::uint64_t count = 1;
  bool trace = false;
  bool leases = false;
  bool cluster = false;
  bool crowded = false;
};

/// What all simulations return.
struct Run {
  std::uint64_t trace_hash = 0;
  std::vector<std::string> violations;
  std::uint64_t attempts = 0;
};

Run run(const Arguments& arguments, std::uint64_t seed, const Log& log = {}) {
  if (arguments.leases) {
    LeaseRunResult result =
        postrider::sim::run_lease_world(postrider::sim::make_lease_scenario(seed), log);
    return {result.trace_hash, std::move(result.violations), result.sends};
  }
  if (arguments.cluster) {
    RunResult result =
        postrider::sim::run_cluster_world(postrider::sim::make_cluster_scenario(seed), log);
    return {result.trace_hash, std::move(result.violations), result.attempts};
  }
  RunResult result =
      postrider::sim::run_world(arguments.crowded ? postrider::sim::make_crowded_scenario(seed)
                                                  : postrider::sim::make_scenario(seed),
                                log);
  return {result.trace_hash, std::move(result.violations), result.attempts};
}

bool read_arguments(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--trace") {
      arguments.trace = true;
    } else if (flag == "--leases") {
      arguments.leases = true;
    } else if (flag == "--cluster") {
      arguments.cluster = true;
    } else if (flag == "--crowded") {
      arguments.crowded = true;
    } else if (i + 1 < argc && (flag == "--seed" || flag == "--from")) {
      arguments.from = std::strtoull(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && flag == "--count") {
      arguments.count = std::strtoull(argv[++i], nullptr, 10);
    } else {
      fmt::print(stderr,
                 "usage: simulate [--leases | --cluster | --crowded] --seed S [--trace] | --from S "
                 "--count N\n");
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!read_arguments(argc, argv, arguments)) {
    return 2;
  }
  std::uint64_t failed = 0;
  std::uint64_t attempts = 0;
  for (std::uint64_t seed = arguments.from; seed < arguments.from + arguments.count; ++seed) {
    const auto print = [](const std::string& line) { fmt::print("{}\n", line); };
    const Run first = run(arguments, seed, arguments.trace ? Log{print} : Log{});
    const Run second = run(arguments, seed);
    attempts += first.attempts;
    for (const std::string& violation : first.violations) {
      fmt::print("seed {}: {}\n", seed, violation);
    }
    if (first.trace_hash != second.trace_hash) {
      fmt::print("seed {}: two runs differ\n", seed);
    }
    failed += !first.violations.empty() || first.trace_hash != second.trace_hash ? 1 : 0;
  }
  fmt::print("{} seeds, {} attempts, {} failed\n", arguments.count, attempts, failed);
  return failed == 0 ? 0 : 1;
}

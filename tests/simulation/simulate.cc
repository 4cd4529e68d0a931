// Runs one seed or many.
//
//   simulate --seed S [--trace]       one run; --trace prints everything that happens
//   simulate --from S --count N       N runs, each twice; prints the seeds that fail
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tests/simulation/world.h"

namespace {

using postrider::sim::make_scenario;
using postrider::sim::run_world;
using postrider::sim::RunResult;

struct Arguments {
  std::uint64_t from = 1;
  std::uint64_t count = 1;
  bool trace = false;
};

bool read_arguments(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--trace") {
      arguments.trace = true;
    } else if (i + 1 < argc && (flag == "--seed" || flag == "--from")) {
      arguments.from = std::strtoull(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && flag == "--count") {
      arguments.count = std::strtoull(argv[++i], nullptr, 10);
    } else {
      fmt::print(stderr, "usage: simulate --seed S [--trace] | --from S --count N\n");
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
    const RunResult first =
        arguments.trace ? run_world(make_scenario(seed), print) : run_world(make_scenario(seed));
    const RunResult second = run_world(make_scenario(seed));
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

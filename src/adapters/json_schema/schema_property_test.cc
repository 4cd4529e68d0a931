// Random schemas and documents: every check ends within its budget, and gives the same answer for
// documents that are equal.
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/random.h"
#include "core/json/json_text.h"

#include "adapters/json_schema/schema_check.h"

#include "tests/support/schema_generator.h"

namespace postrider {
namespace {

using Generator = test::SchemaGenerator<SplitMix64>;

struct Answer {
  bool out_of_steps;
  std::size_t faults;
};

Answer ask(const SchemaCheck& check, std::string_view json, std::uint64_t steps) {
  StepBudget budget{steps};
  const SchemaVerdict verdict = check.check(json, budget);
  return {verdict.out_of_steps, verdict.faults.size()};
}

RC_GTEST_PROP(SchemaProperty, EveryCheckEndsAndIsDeterministic, (std::uint64_t seed)) {
  Generator generator{SplitMix64{seed}};
  const std::string schema = generator.schema(3);
  RC_PRE(check_json(schema).has_value());
  const auto check = make_schema_check(schema);
  RC_PRE(check.has_value());
  const std::string json = generator.value(4);
  RC_PRE(check_json(json).has_value());
  const Answer first = ask(**check, json, request_steps_max);
  const Answer again = ask(**check, json, request_steps_max);
  RC_ASSERT(!first.out_of_steps);
  RC_ASSERT(first.faults == again.faults);
  RC_ASSERT(first.faults <= 10U);
  RC_ASSERT(ask(**check, json, 0).out_of_steps);
  // White space and the order of members do not matter.
  const Answer spaced = ask(**check, " " + json + " ", request_steps_max);
  RC_ASSERT(spaced.faults == first.faults);
}

RC_GTEST_PROP(SchemaProperty, ANegationTurnsTheAnswerAround, (std::uint64_t seed)) {
  Generator generator{SplitMix64{seed}};
  const std::string inner = generator.schema(2);
  RC_PRE(inner.find("$ref") == std::string::npos && check_json(inner).has_value());
  const auto plain = make_schema_check(inner);
  RC_PRE(plain.has_value());
  const auto negated = make_schema_check(R"({"not":)" + inner + "}");
  const auto twice = make_schema_check(R"({"not":{"not":)" + inner + "}}");
  RC_ASSERT(negated.has_value() && twice.has_value());
  const std::string json = generator.value(3);
  RC_PRE(check_json(json).has_value());
  const bool fine = ask(**plain, json, request_steps_max).faults == 0;
  RC_ASSERT((ask(**negated, json, request_steps_max).faults == 0) == !fine);
  RC_ASSERT((ask(**twice, json, request_steps_max).faults == 0) == fine);
}

}  // namespace
}  // namespace postrider

// A JSON Schema and a document: compiling and checking never crash, and end within the budget. Both
// are either in the input, separated by a zero byte, or generated from it, which gets deeper.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/json/json_text.h"

#include "adapters/json_schema/schema_check.h"

#include "tests/support/schema_generator.h"

namespace {

constexpr char generated_mark = '!';

/// Numbers from the input; zeros at its end.
struct InputNumbers {
  std::string_view rest;

  std::uint64_t below(std::uint64_t limit) {
    if (rest.empty()) {
      return 0;
    }
    const auto byte = static_cast<std::uint8_t>(rest.front());
    rest.remove_prefix(1);
    return byte % limit;
  }
};

void run(std::string_view schema, std::string_view document) {
  if (!postrider::check_json(schema) || !postrider::check_json(document)) {
    return;
  }
  const auto check = postrider::make_schema_check(schema);
  if (!check) {
    return;
  }
  postrider::StepBudget budget;
  const postrider::SchemaVerdict verdict = (*check)->check(document, budget);
  if (verdict.out_of_steps && !verdict.faults.empty()) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  if (input.starts_with(generated_mark)) {
    postrider::test::SchemaGenerator<InputNumbers> generator{{input.substr(1)}};
    const std::string schema = generator.schema(4);
    run(schema, generator.value(5));
  } else if (const std::size_t end = input.find('\0'); end != std::string_view::npos) {
    run(input.substr(0, end), input.substr(end + 1));
  }
  return 0;
}

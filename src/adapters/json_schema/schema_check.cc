#include "adapters/json_schema/schema_check.h"

#include <utility>

#include <fmt/format.h>

#include "core/json/json_text.h"

#include "adapters/json_schema/json_tree.h"
#include "adapters/json_schema/schema_reader.h"
#include "adapters/json_schema/steps.h"
#include "adapters/json_schema/validator.h"

namespace postrider {
namespace json_schema {
namespace {

constexpr std::uint64_t steps_per_node = 4;  // To read it.

class CompiledCheck final : public SchemaCheck {
 public:
  explicit CompiledCheck(SchemaSet set) : set_(std::move(set)) {}

  [[nodiscard]] SchemaVerdict check(std::string_view json, StepBudget& budget) const override {
    try {
      spend(budget, 10 + json.size() / bytes_per_step);
      const JsonTree document{json};
      spend(budget, document.size() * steps_per_node);
      return {.faults = Validator{budget}.validate(set_.schemas.front(), document.root())};
    } catch (const OutOfSteps&) {
      return {.faults = {}, .out_of_steps = true};
    }
  }

 private:
  SchemaSet set_;
};

}  // namespace
}  // namespace json_schema

Result<std::unique_ptr<const SchemaCheck>> make_schema_check(std::string_view schema) {
  if (schema.size() > schema_bytes_max) {
    return fail(Errc::invalid, fmt::format("must have at most {} bytes.", schema_bytes_max));
  }
  POSTRIDER_CHECK(check_json(schema));
  const json_schema::JsonTree tree{schema};
  POSTRIDER_TRY(json_schema::SchemaSet set, json_schema::read_schema(tree.root()));
  return std::make_unique<const json_schema::CompiledCheck>(std::move(set));
}

}  // namespace postrider

#include "adapters/json_schema/schema_check.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <optional>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "core/json/json_text.h"

#include "adapters/json_schema/counted_json.h"
#include "adapters/json_schema/schema_guard.h"
#include "adapters/json_schema/text_rules.h"

namespace postrider {
namespace json_schema {
namespace {

namespace json = boost::json;

constexpr std::size_t accesses_max = 1'000'000;  // About a tenth of a second.
constexpr std::size_t faults_max = 10;           // Keeps the response small.
constexpr std::size_t key_bytes_max = 256;       // Of keys matched by patternProperties.

// How valijson's errors about a value start whose cause is inside the value.
constexpr std::string_view summary_start = "Failed to validate";

std::optional<json::value> read_json(std::string_view text) {
  json::parse_options options;
  options.max_depth = json_depth_max + 1;
  json::error_code error;
  json::value value = json::parse(text, error, {}, options);
  return error ? std::nullopt : std::optional{std::move(value)};
}

bool has_long_key(const json::value& value) {
  if (const json::array* array = value.if_array()) {
    return std::ranges::any_of(*array, has_long_key);
  }
  const json::object* object = value.if_object();
  return object != nullptr && std::ranges::any_of(*object, [](const json::key_value_pair& member) {
           return member.key().size() > key_bytes_max || has_long_key(member.value());
         });
}

/// valijson writes both keys and indexes as `[x]`. The value itself shows which one it is.
std::string path_of(const std::vector<std::string>& context, const json::value& root) {
  std::string path;
  const json::value* here = &root;
  for (std::size_t step = 1; step < context.size(); ++step) {  // The first is `<root>`.
    const std::string_view name =
        std::string_view{context[step]}.substr(1, context[step].size() - 2);
    if (here != nullptr && here->is_array()) {
      std::size_t index = 0;
      std::from_chars(name.data(), name.data() + name.size(), index);
      path += fmt::format("[{}]", index);
      here = here->get_array().if_contains(index);
    } else {
      path += fmt::format("{}{}", path.empty() ? "" : ".", name);
      here = here != nullptr && here->is_object() ? here->get_object().if_contains(name) : nullptr;
    }
  }
  return path;
}

std::string sentence_of(std::string description) {
  if (description.starts_with("must ")) {
    return description;  // From text_rules.cc, already a sentence.
  }
  return "does not satisfy the schema: " + std::move(description);
}

/// Returns the causes. Returns summaries only if there is no cause.
std::vector<SchemaFault> faults_of(valijson::ValidationResults& results, const json::value& root) {
  std::vector<SchemaFault> causes;
  std::vector<SchemaFault> summaries;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    const bool is_summary = error.description.starts_with(summary_start);
    std::vector<SchemaFault>& faults = is_summary ? summaries : causes;
    if (faults.size() < faults_max) {
      faults.push_back({path_of(error.context, root), sentence_of(error.description)});
    }
  }
  return causes.empty() ? summaries : causes;
}

class ValijsonCheck final : public SchemaCheck {
 public:
  explicit ValijsonCheck(bool matches_keys) : matches_keys_(matches_keys) {}

  [[nodiscard]] Result<void> read(const json::value& schema) {
    try {
      valijson::SchemaParser parser;
      add_text_rules(parser);
      parser.populateSchema(CountedAdapter{schema}, schema_);
      return {};
    } catch (const std::exception& error) {
      return fail(Errc::invalid, error.what());
    }
  }

  [[nodiscard]] std::vector<SchemaFault> check(std::string_view text) const override {
    const std::optional<json::value> value = read_json(text);
    if (!value) {
      return {{"", "has a number that is too large to be checked with a schema."}};
    }
    if (matches_keys_ && has_long_key(*value)) {
      return {{"", fmt::format("has a key of more than {} bytes, which its schema cannot match.",
                               key_bytes_max)}};
    }
    Budget budget{accesses_max};
    valijson::ValidationResults results;
    try {
      valijson::Validator validator{valijson::Validator::kStrongTypes};
      if (validator.validate(schema_, CountedAdapter{CountedRef{&*value, &budget}}, &results)) {
        return {};
      }
    } catch (const BudgetExceeded&) {
      return {{"", "takes too long to check with its schema."}};
    } catch (const std::exception& error) {
      return {{"", fmt::format("cannot be checked with its schema: {}", error.what())}};
    }
    std::vector<SchemaFault> faults = faults_of(results, *value);
    if (faults.empty()) {
      faults.push_back({"", "does not satisfy the schema."});
    }
    return faults;
  }

 private:
  valijson::Schema schema_;
  bool matches_keys_;
};

}  // namespace
}  // namespace json_schema

Result<std::unique_ptr<const SchemaCheck>> make_schema_check(std::string_view schema) {
  if (schema.size() > schema_bytes_max) {
    return fail(Errc::invalid, fmt::format("must have at most {} bytes.", schema_bytes_max));
  }
  POSTRIDER_CHECK(check_json(schema));
  std::optional<boost::json::value> value = json_schema::read_json(schema);
  if (!value) {
    return fail(Errc::invalid, "has a number that is too large.");
  }
  POSTRIDER_TRY(const json_schema::GuardedSchema guarded,
                json_schema::guard_schema(*std::move(value)));
  auto check = std::make_unique<json_schema::ValijsonCheck>(guarded.matches_keys);
  POSTRIDER_CHECK(check->read(guarded.schema));
  return check;
}

}  // namespace postrider

// RFC 9457 errors: every refusal says which field or rule, in a sentence a person can act on.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

#include "api/http/http.h"

namespace postrider::api {

struct FieldError {
  std::string field;  // Dotted path, such as `retry_config.max_attempts`.
  std::string message;
};

struct Problem {
  std::uint16_t status = 500;
  std::string code;    // Stable, for programs: `invalid_json`, `unknown_field`, `not_found` …
  std::string title;   // The same for every problem of this code.
  std::string detail;  // What is wrong here and what to do about it.
  std::vector<FieldError> errors;
  std::chrono::seconds retry_after{1};  // Told with 429 and 503.
};

[[nodiscard]] HttpResponse render(const Problem& problem);

/// The problem for an error of ours: not_found 404, conflict 409, invalid 422, unavailable 503 with
/// Retry-After, corrupt 500.
[[nodiscard]] Problem to_problem(const Error& error);

}  // namespace postrider::api

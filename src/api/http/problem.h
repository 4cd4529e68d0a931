// Error responses as RFC 9457 problem documents. Each names the field or rule and says what to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/policy/shares.h"

#include "api/http/http.h"

namespace postrider::api {

struct FieldError {
  std::string field;  // Dotted path, such as `retry_config.max_attempts`.
  std::string message;
};

struct Problem {
  std::uint16_t status = 500;
  std::string code;    // Stable, for programs: `invalid_json`, `unknown_field`, `not_found` …
  std::string title;   // The same for every problem with this code.
  std::string detail;  // What is wrong and what to do about it.
  std::vector<FieldError> errors;
  std::chrono::seconds retry_after{1};  // The Retry-After header of 429 and 503.
  std::vector<std::pair<std::string, std::string>> members = {};  // Further text members.
  std::vector<std::pair<std::string, std::string>> headers = {};
};

[[nodiscard]] HttpResponse render(const Problem& problem);

/// 429: the owner holds its share of something limited. `what` completes the sentence that begins
/// with the owner: "has too many streams open. Close one.".
[[nodiscard]] Problem share_exceeded(const ShareOwner& owner, std::string_view what);

/// Maps an Error to a problem: not_found 404, conflict 409, invalid 422, unavailable 503 with
/// Retry-After, corrupt 500.
[[nodiscard]] Problem to_problem(const Error& error);

}  // namespace postrider::api

// Reads a JSON request body: checks its media type, size and JSON rules before any field is read.
#pragma once

#include <string_view>
#include <vector>

#include "core/json/json_text.h"

#include "api/resources/context.h"

namespace postrider::api {

constexpr std::size_t small_body_bytes_max = std::size_t{128} * 1024;  // All bodies except events.

/// Fails with 415 unless the body is plain `application/json` or has no Content-Type.
[[nodiscard]] Parsed<void> check_media_type(const HttpRequest& request);
/// The same, but the header must be there: a page of another site can send a body without it.
[[nodiscard]] Parsed<void> require_media_type(const HttpRequest& request);

/// The problem for a text that `core/json/json_text.h` refused: 400 `invalid_json` if it is not
/// JSON, 422 if it is JSON that breaks a stricter rule (duplicate keys, depth, Unicode, not an
/// object).
[[nodiscard]] Problem json_problem(std::string_view text, const Error& error);

/// The members of the body. They point into `request.body`, so the request must not be moved. A
/// query is an error (400), because a request with a body takes none.
[[nodiscard]] Parsed<std::vector<JsonMember>> read_body(const HttpRequest& request);

/// Like read_body(), but returns no members if the body is missing.
[[nodiscard]] Parsed<std::vector<JsonMember>> read_optional_body(const HttpRequest& request);

/// For an action without parameters: fails if there is a query, or a body other than an empty
/// object.
[[nodiscard]] Parsed<void> check_no_parameters(const HttpRequest& request);

}  // namespace postrider::api

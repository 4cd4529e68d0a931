// A request's JSON body: media type and strictness are checked before anyone looks at a field.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/json/json_text.h"

#include "api/resources/context.h"

namespace postrider::api {

constexpr std::size_t small_body_bytes_max = std::size_t{128} * 1024;  // Everything but events.

/// 415 unless the body is plain `application/json` or does not say what it is.
[[nodiscard]] std::optional<Problem> media_type_problem(const HttpRequest& request);

/// What is wrong with a text that `core/json/json_text.h` refused: 400 `invalid_json` when it is no
/// JSON, 422 when it is JSON that we do not take (duplicate keys, depth, Unicode, or not the type
/// that was asked).
[[nodiscard]] Problem json_problem(std::string_view text, const Error& error);

/// The members of the body, which point into `request.body`: keep the request where it is. 400 when
/// there is a query as well: a request with a body takes none.
[[nodiscard]] Parsed<std::vector<JsonMember>> read_body(const HttpRequest& request);

/// The same for a body that may be missing: an action without parameters.
[[nodiscard]] Parsed<std::vector<JsonMember>> read_optional_body(const HttpRequest& request);

/// What is wrong with the body or query of an action that takes no parameters: it is empty, or an
/// empty object.
[[nodiscard]] std::optional<Problem> parameter_problem(const HttpRequest& request);

}  // namespace postrider::api

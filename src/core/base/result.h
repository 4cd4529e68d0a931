// The one error type. A function that can fail returns Result<T>; nothing throws across a module.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace postrider {

/// What a caller can do about a failure. A code earns its place only when some caller branches on
/// it; everything else is message text.
enum class Errc : std::uint8_t {
  not_found,    ///< The named thing does not exist.
  conflict,     ///< It exists, in a state that forbids the request.
  invalid,      ///< The request can never succeed. Do not retry.
  unavailable,  ///< A dependency is down or busy. Retrying later may succeed.
  corrupt,      ///< Stored data broke an invariant. Tell an operator.
};

struct Error {
  Errc code;
  std::string message;  // A sentence for people. Never parsed.
  std::source_location where;
};

/// std::expected in spirit; becomes std::expected when the toolchain does.
template <class T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(
    Errc code, std::string message, std::source_location where = std::source_location::current()) {
  return tl::make_unexpected(Error{code, std::move(message), where});
}

}  // namespace postrider

#define POSTRIDER_CONCAT_INNER(a, b) a##b
#define POSTRIDER_CONCAT(a, b) POSTRIDER_CONCAT_INNER(a, b)

/// `POSTRIDER_TRY(auto value, expression);` declares `value` from a Result, or returns its error.
#define POSTRIDER_TRY(declaration, ...)                                              \
  auto POSTRIDER_CONCAT(try_, __LINE__) = (__VA_ARGS__);                             \
  if (!POSTRIDER_CONCAT(try_, __LINE__)) {                                           \
    return tl::make_unexpected(std::move(POSTRIDER_CONCAT(try_, __LINE__)).error()); \
  }                                                                                  \
  declaration = *std::move(POSTRIDER_CONCAT(try_, __LINE__))

/// The same for Result<void>.
#define POSTRIDER_CHECK(...)                                                                      \
  if (auto POSTRIDER_CONCAT(try_, __LINE__) = (__VA_ARGS__); !POSTRIDER_CONCAT(try_, __LINE__)) { \
    return tl::make_unexpected(std::move(POSTRIDER_CONCAT(try_, __LINE__)).error());              \
  }

// The only error type. A function that can fail returns Result<T>. No exception leaves a module.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace postrider {

/// Classifies a failure by what the caller can do about it. A code exists only if some caller
/// branches on it; all other detail belongs in the message.
enum class Errc : std::uint8_t {
  not_found,    ///< The named thing does not exist.
  conflict,     ///< It exists, but its state does not allow the request.
  invalid,      ///< The request can never succeed. Do not retry.
  unavailable,  ///< A dependency is down or busy. Retrying later may succeed.
  corrupt,      ///< Stored data violates an invariant. An operator must act.
};

struct Error {
  Errc code;
  std::string message;  // A sentence for a human reader. Never parsed.
};

/// Becomes std::expected when the toolchain supports it.
template <class T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(Errc code, std::string message) {
  return tl::make_unexpected(Error{code, std::move(message)});
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

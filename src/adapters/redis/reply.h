// A reply of Redis as a tree, and the reader that builds it from bytes. Memory is bounded: what
// exceeds the budget of a reply is read and dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace postrider::redis {

struct Reply {
  enum class Kind : std::uint8_t { nil, status, error, integer, text, array, dropped };

  Kind kind = Kind::nil;
  std::int64_t integer = 0;
  std::string text;  // Of a status, an error and a text.
  std::vector<Reply> items;

  /// An error whose first word is `code`.
  [[nodiscard]] bool is_error(std::string_view code) const;
  [[nodiscard]] bool is_error() const { return kind == Kind::error; }
  /// The item at `index`, or nullptr if this is not an array or has fewer items.
  [[nodiscard]] const Reply* at(std::size_t index) const;
};

/// The memory that a tree may use.
constexpr std::size_t reply_bytes_max = 16u << 20;

/// One connection, one thread.
class ReplyReader {
 public:
  explicit ReplyReader(std::size_t bytes_max = reply_bytes_max);
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  /// Fails with unavailable if hiredis is out of memory or the bytes are not the Redis protocol.
  Result<void> feed(std::string_view bytes);

  /// The next complete reply, if there is one. Fails as `feed` does.
  Result<std::optional<Reply>> next();

  /// A single value exceeds the budget. The reader cannot skip it: take `partial` and close the
  /// connection.
  [[nodiscard]] bool is_overflowing() const;

  /// What has been read of an incomplete reply; its last items may be missing (nil).
  [[nodiscard]] Reply take_partial();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace postrider::redis

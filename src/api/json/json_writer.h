// Writes JSON by appending to a string: no tree, no copies. Used for every answer.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace postrider::api {

/// Keeps the commas right; the caller keeps the nesting right. Text must be valid UTF-8 unless it
/// goes through `bytes`. One thread; `out` outlives the writer.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  void open_object() { open('{'); }
  void close_object() { close('}'); }
  void open_array() { open('['); }
  void close_array() { close(']'); }
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view{text}); }
  void value(std::nullptr_t) { raw("null"); }
  void value(double number);
  void value(WallTime time);
  template <std::same_as<bool> Boolean>
  void value(Boolean boolean) {
    raw(boolean ? "true" : "false");
  }
  template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
  void value(Integer integer) {
    raw(std::to_string(integer));
  }
  template <class Kind>
  void value(const Id<Kind>& id) {
    value(std::string_view{id.to_string()});
  }
  template <class T>
  void value(const std::optional<T>& optional) {
    if (optional) {
      value(*optional);
    } else {
      value(nullptr);
    }
  }
  void value(const std::string& text) { value(std::string_view{text}); }

  /// JSON text, verbatim.
  void raw(std::string_view json);
  /// Bytes from outside, shown as text: what is not UTF-8 becomes U+FFFD.
  void bytes(std::string_view foreign);

  template <class T>
  void member(std::string_view name, const T& content) {
    key(name);
    value(content);
  }
  void member_raw(std::string_view name, std::string_view json) {
    key(name);
    raw(json);
  }
  void member_bytes(std::string_view name, std::string_view foreign) {
    key(name);
    bytes(foreign);
  }

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();

  std::string& out_;
  bool comma_ = false;  // Something stands before the next value on this level.
};

/// The text with every byte sequence that is not UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string clean_utf8(std::string_view foreign);

/// At most `length_max` bytes of valid UTF-8, cut between characters, with `…` when something is
/// missing.
[[nodiscard]] std::string clip(std::string_view text, std::size_t length_max);

}  // namespace postrider::api

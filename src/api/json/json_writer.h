// Writes JSON by appending to a string, without building a tree. Used for all JSON responses.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/base/time.h"

namespace postrider::api {

/// Inserts the commas; the caller is responsible for the nesting. Text must be valid UTF-8 unless
/// it is written with `bytes`. `out` must outlive this object. One thread.
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

  /// Writes JSON text verbatim.
  void raw(std::string_view json);
  /// Writes a string from an untrusted source. Bytes that are not UTF-8 become U+FFFD.
  void bytes(std::string_view untrusted);

  template <class T>
  void member(std::string_view name, const T& content) {
    key(name);
    value(content);
  }
  void member_raw(std::string_view name, std::string_view json) {
    key(name);
    raw(json);
  }
  void member_bytes(std::string_view name, std::string_view untrusted) {
    key(name);
    bytes(untrusted);
  }

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();

  std::string& out_;
  bool comma_ = false;  // The next value needs a comma before it.
};

/// Replaces every byte that is not part of a valid UTF-8 sequence with U+FFFD.
[[nodiscard]] std::string clean_utf8(std::string_view untrusted);

/// Cuts valid UTF-8 to at most `length_max` bytes, between characters, and appends `…` if it was
/// longer.
[[nodiscard]] std::string clip(std::string_view text, std::size_t length_max);

}  // namespace postrider::api

// Writes to standard output and standard error, flushed after each call so that pipes see the text
// immediately.
#pragma once

#include <cstdio>
#include <string_view>

namespace postrider::cli {

// Errors are ignored: with a closed pipe there is no reader.
inline void print(std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stdout);
  (void)std::fflush(stdout);
}

inline void print_error(std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

}  // namespace postrider::cli

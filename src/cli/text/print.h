// Standard output and standard error, written and flushed line by line so that pipes see them at
// once.
#pragma once

#include <cstdio>
#include <string_view>

namespace postrider::cli {

// A closed pipe is not our failure; there is nobody left to tell.
inline void print(std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stdout);
  (void)std::fflush(stdout);
}

inline void print_error(std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

}  // namespace postrider::cli

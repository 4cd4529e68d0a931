#include "adapters/redis/failure_text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace postrider::redis {
namespace {

constexpr std::size_t shown_length_max = 200;

struct Explanation {
  std::string_view start;  // Of the error.
  std::string_view sentence;
};

constexpr std::array explanations = {
    Explanation{"WRONGPASS", "Redis rejected the user or password of the address."},
    Explanation{"ERR invalid password", "Redis rejected the password of the address."},
    Explanation{"ERR AUTH",
                "Redis has no password for its default user, but the address has one. Remove it, "
                "or name the user."},
    Explanation{"NOAUTH", "Redis requires a password. Add it to the address."},
    Explanation{"READONLY", "This Redis server is a read-only replica. Use the primary's address."},
    Explanation{"MASTERDOWN", "This Redis server is a replica that has lost its primary."},
    Explanation{"LOADING", "Redis is loading its data from disk."},
    Explanation{"OOM", "Redis has reached its memory limit (maxmemory) and refuses to write."},
    Explanation{"MISCONF", "Redis cannot save its data to disk and refuses to write."},
    Explanation{"DENIED", "Redis is in protected mode and accepts only local clients."},
    Explanation{"CLUSTERDOWN", "The Redis cluster is down."},
    Explanation{"ERR DB index", "The database number of the address does not exist."},
    Explanation{"ERR SELECT is not allowed", "A Redis cluster has only database 0."},
};

/// What Redis wrote, safe to show in a line.
std::string shown(std::string_view text) {
  std::string line{text.substr(0, shown_length_max)};
  std::ranges::replace_if(line, [](char c) { return c < ' ' || c > '~'; }, '?');
  return line;
}

std::string_view last_word(std::string_view text) {
  const std::size_t space = text.rfind(' ');
  return space == std::string_view::npos ? text : text.substr(space + 1);
}

}  // namespace

std::string explain_error(const Reply& error, std::string_view key) {
  if (error.is_error("WRONGTYPE")) {
    return fmt::format("The key `{}` of Redis is not a stream.", key);
  }
  if (error.is_error("MOVED") || error.is_error("ASK")) {
    return fmt::format(
        "The key `{}` is on another node of the Redis cluster, at {}. A source uses one server.",
        key, shown(last_word(error.text)));
  }
  if (error.is_error("NOPERM")) {
    return fmt::format("The Redis user lacks a permission for the key `{}`: {}.", key,
                       shown(error.text));
  }
  if (error.text.starts_with("ERR unknown command")) {
    return fmt::format("Redis 6.2 or later is required: {}.", shown(error.text));
  }
  const auto known = std::ranges::find_if(explanations, [&error](const Explanation& each) {
    return error.text.starts_with(each.start);
  });
  return known != explanations.end() ? std::string{known->sentence}
                                     : fmt::format("Redis refused: {}.", shown(error.text));
}

Result<Reply> expect_success(Reply reply, std::string_view key) {
  if (reply.is_error()) {
    return fail(Errc::unavailable, explain_error(reply, key));
  }
  return reply;
}

}  // namespace postrider::redis

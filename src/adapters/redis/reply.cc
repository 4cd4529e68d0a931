#include "adapters/redis/reply.h"

#include <memory>
#include <utility>

#include <fmt/format.h>
#include <hiredis/read.h>

namespace postrider::redis {
namespace {

constexpr std::size_t socket_chunk_bytes = 262'144;  // May follow the value in the buffer.

struct Budget {
  std::size_t bytes_max;
  std::size_t bytes_used = 0;

  bool take(std::size_t bytes) {
    if (bytes > bytes_max - bytes_used) {
      bytes_used = bytes_max;  // Everything after a dropped value is dropped too.
      return false;
    }
    bytes_used += bytes;
    return true;
  }
};

/// The place of a value in the tree: a new root, or an item of its parent, which is preallocated.
/// Returns nullptr if the parent was dropped.
Reply* place_of(const redisReadTask* task) noexcept {
  if (task->parent == nullptr) {
    return std::make_unique<Reply>().release();
  }
  auto* parent = static_cast<Reply*>(task->parent->obj);
  if (parent->kind == Reply::Kind::dropped) {
    return nullptr;
  }
  return &parent->items[static_cast<std::size_t>(task->idx)];
}

/// hiredis takes a null pointer for an error, so a dropped value stands for its dropped items.
void* dropped(const redisReadTask* task) { return task->parent->obj; }

Budget& budget_of(const redisReadTask* task) { return *static_cast<Budget*>(task->privdata); }

Reply::Kind kind_of(int type) {
  switch (type) {
    case REDIS_REPLY_ERROR:
      return Reply::Kind::error;
    case REDIS_REPLY_STATUS:
      return Reply::Kind::status;
    default:
      return Reply::Kind::text;
  }
}

void* create_text(const redisReadTask* task, char* bytes, std::size_t size) noexcept {
  Reply* place = place_of(task);
  if (place == nullptr) {
    return dropped(task);
  }
  if (budget_of(task).take(size)) {
    place->kind = kind_of(task->type);
    place->text.assign(bytes, size);
  } else {
    place->kind = Reply::Kind::dropped;
  }
  return place;
}

void* create_array(const redisReadTask* task, int size) noexcept {
  Reply* place = place_of(task);
  if (place == nullptr) {
    return dropped(task);
  }
  const auto count = static_cast<std::size_t>(size);
  if (budget_of(task).take(count * sizeof(Reply))) {
    place->kind = Reply::Kind::array;
    place->items.resize(count);
  } else {
    place->kind = Reply::Kind::dropped;
  }
  return place;
}

void* create_integer(const redisReadTask* task, long long value) noexcept {
  Reply* place = place_of(task);
  if (place == nullptr) {
    return dropped(task);
  }
  place->kind = Reply::Kind::integer;
  place->integer = value;
  return place;
}

void* create_nil(const redisReadTask* task) noexcept {
  Reply* place = place_of(task);
  return place == nullptr ? dropped(task) : place;
}

void free_root(void* root) noexcept { delete static_cast<Reply*>(root); }

redisReplyObjectFunctions functions = {create_text, create_array, create_integer, create_nil,
                                       free_root};

}  // namespace

bool Reply::is_error(std::string_view code) const {
  return kind == Kind::error && text.starts_with(code) &&
         (text.size() == code.size() || text[code.size()] == ' ');
}

const Reply* Reply::at(std::size_t index) const {
  return kind == Kind::array && index < items.size() ? &items[index] : nullptr;
}

struct ReplyReader::State {
  explicit State(std::size_t bytes_max)
      : budget{bytes_max}, reader(redisReaderCreateWithFunctions(&functions), redisReaderFree) {
    reader->privdata = &budget;
  }

  [[nodiscard]] tl::unexpected<Error> failure() const {
    if (reader->err == REDIS_ERR_PROTOCOL) {
      return fail(Errc::unavailable,
                  "The server's answer is not the Redis protocol. If the server expects TLS, the "
                  "address must start with rediss://.");
    }
    return fail(Errc::unavailable,
                fmt::format("The answer of Redis cannot be read: {}.", reader->errstr));
  }

  Budget budget;
  std::unique_ptr<redisReader, decltype(&redisReaderFree)> reader;
};

ReplyReader::ReplyReader(std::size_t bytes_max) : state_(std::make_unique<State>(bytes_max)) {}

ReplyReader::~ReplyReader() = default;

Result<void> ReplyReader::feed(std::string_view bytes) {
  if (redisReaderFeed(state_->reader.get(), bytes.data(), bytes.size()) != REDIS_OK) {
    return state_->failure();
  }
  return {};
}

Result<std::optional<Reply>> ReplyReader::next() {
  void* root = nullptr;
  if (redisReaderGetReply(state_->reader.get(), &root) != REDIS_OK) {
    return state_->failure();
  }
  if (root == nullptr) {
    return std::nullopt;
  }
  const std::unique_ptr<Reply> reply{static_cast<Reply*>(root)};
  state_->budget.bytes_used = 0;
  return std::move(*reply);
}

bool ReplyReader::is_overflowing() const {
  const redisReader& reader = *state_->reader;
  return reader.len - reader.pos > state_->budget.bytes_max + socket_chunk_bytes;
}

Reply ReplyReader::take_partial() {
  void* root = state_->reader->reply;
  return root == nullptr ? Reply{} : std::move(*static_cast<Reply*>(root));
}

}  // namespace postrider::redis

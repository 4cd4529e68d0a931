#include "adapters/sqlite/database/data_directory.h"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/sqlite/database/descriptor.h"

namespace postrider::sqlite {
namespace {

constexpr std::size_t rewrite_bytes = 1 << 20;

std::string reason() { return std::generic_category().message(errno); }

Result<void> make_directory(const std::filesystem::path& directory) {
  const std::filesystem::path parent =
      std::filesystem::absolute(directory / ".").parent_path().parent_path();
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (::mkdir(directory.c_str(), S_IRWXU) == 0) {
    return sync_directory(parent);
  }
  if (errno != EEXIST) {
    return fail(Errc::invalid, fmt::format("Cannot create the data directory {}: {}.",
                                           directory.string(), reason()));
  }
  if (::access(directory.c_str(), R_OK | W_OK | X_OK) != 0) {
    return fail(Errc::invalid, fmt::format("Cannot read and write the data directory {}: {}.",
                                           directory.string(), reason()));
  }
  return {};
}

std::string read_owner(int descriptor) {
  std::string text(32, '\0');
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text.substr(0, text.find('\n'));
}

bool write_owner(int descriptor) {
  const std::string text = fmt::format("{}\n", ::getpid());
  return ::ftruncate(descriptor, 0) == 0 &&
         ::pwrite(descriptor, text.data(), text.size(), 0) == std::ssize(text);
}

}  // namespace

Result<void> sync_directory(const std::filesystem::path& directory) {
  const Descriptor descriptor{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (descriptor.number() < 0 || ::fsync(descriptor.number()) != 0) {
    return fail(Errc::unavailable,
                fmt::format("Cannot sync the directory {}: {}.", directory.string(), reason()));
  }
  return {};
}

Result<DirectoryLock> DirectoryLock::acquire(const std::filesystem::path& directory) {
  POSTRIDER_CHECK(make_directory(directory));
  const std::filesystem::path file = directory / "lock";
  Descriptor descriptor{::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (descriptor.number() < 0) {
    return fail(Errc::invalid, fmt::format("Cannot lock the data directory {}: {}.",
                                           directory.string(), reason()));
  }
  if (::flock(descriptor.number(), LOCK_EX | LOCK_NB) != 0) {
    return fail(
        Errc::conflict,
        fmt::format("The data directory {} is already used by another postrider process (pid {}).",
                    directory.string(), read_owner(descriptor.number())));
  }
  // The pid is informative only, so ignore a failed write, for example on a full disk.
  [[maybe_unused]] const bool written = write_owner(descriptor.number());
  return DirectoryLock{descriptor.release()};
}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

Result<void> create_private_file(const std::filesystem::path& file) {
  // O_EXCL: an existing file must not be opened, because closing it would drop the locks that
  // SQLite holds on it for other connections of this process.
  const Descriptor descriptor{
      ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (descriptor.number() < 0 && errno != EEXIST) {
    return fail(Errc::unavailable,
                fmt::format("Cannot create the file {}: {}.", file.string(), reason()));
  }
  return {};
}

Result<void> rewrite_durably(const std::filesystem::path& file) {
  const auto failed = [&file] {
    return fail(Errc::unavailable,
                fmt::format("Cannot rewrite the file {}: {}.", file.string(), reason()));
  };
  const Descriptor descriptor{::open(file.c_str(), O_RDWR | O_CLOEXEC)};
  if (descriptor.number() < 0) {
    return errno == ENOENT ? Result<void>{} : failed();
  }
  std::vector<char> buffer(rewrite_bytes);
  off_t offset = 0;
  for (;;) {
    const ssize_t count = ::pread(descriptor.number(), buffer.data(), buffer.size(), offset);
    if (count == 0) {
      break;
    }
    if (count < 0 || ::pwrite(descriptor.number(), buffer.data(), static_cast<std::size_t>(count),
                              offset) != count) {
      return failed();
    }
    offset += count;
  }
  if (offset > 0 && ::fsync(descriptor.number()) != 0) {
    return failed();
  }
  return {};
}

}  // namespace postrider::sqlite

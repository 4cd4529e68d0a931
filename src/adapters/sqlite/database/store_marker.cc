#include "adapters/sqlite/database/store_marker.h"

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/parse_number.h"

#include "adapters/sqlite/database/data_directory.h"

namespace postrider::sqlite {
namespace {

constexpr std::string_view heading = "postrider marker 1\n";
constexpr std::size_t identity_digits = 32;

std::string reason() { return std::generic_category().message(errno); }

/// FNV-1a. Detects a torn or overwritten marker, not a forged one.
std::uint64_t checksum_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

/// Takes `name=` and the value up to the end of the line from the front of the text.
std::optional<std::string_view> take_line(std::string_view& text, std::string_view name) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with(name)) {
    return std::nullopt;
  }
  const std::string_view value = text.substr(name.size(), end - name.size());
  text.remove_prefix(end + 1);
  return value;
}

std::optional<std::int64_t> take_number(std::string_view& text, std::string_view name) {
  const std::optional<std::string_view> value = take_line(text, name);
  return value ? parse_number<std::int64_t>(*value) : std::nullopt;
}

bool write_all(int descriptor, std::string_view text) {
  return ::pwrite(descriptor, text.data(), text.size(), 0) == std::ssize(text);
}

tl::unexpected<Error> cannot_write(const std::filesystem::path& file) {
  return fail(Errc::unavailable, fmt::format("Cannot write {}: {}.", file.string(), reason()));
}

/// Replaces the file in one step, so that no crash leaves half a marker.
Result<Descriptor> create(const std::filesystem::path& directory, const std::string& text) {
  const std::filesystem::path file = marker_file(directory);
  const std::filesystem::path fresh = file.string() + ".new";
  Descriptor descriptor{
      ::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (descriptor.number() < 0 || !write_all(descriptor.number(), text) ||
      ::fsync(descriptor.number()) != 0 || ::rename(fresh.c_str(), file.c_str()) != 0) {
    return cannot_write(file);
  }
  POSTRIDER_CHECK(sync_directory(directory));
  return descriptor;
}

}  // namespace

std::string to_text(const Marker& marker) {
  std::string text =
      fmt::format("{}identity={}\nposition={:020}\nbase={:020}\nclean={}\n", heading,
                  marker.identity, marker.position, marker.base, marker.clean ? 1 : 0);
  text += fmt::format("checksum={:016x}\n", checksum_of(text));
  return text;
}

std::optional<Marker> parse_marker(std::string_view text) {
  if (!text.starts_with(heading)) {
    return std::nullopt;
  }
  std::string_view rest = text.substr(heading.size());
  const std::optional<std::string_view> identity = take_line(rest, "identity=");
  const std::optional<std::int64_t> position = take_number(rest, "position=");
  const std::optional<std::int64_t> base = take_number(rest, "base=");
  const std::optional<std::int64_t> clean = take_number(rest, "clean=");
  if (!identity || identity->size() != identity_digits || !position || !base || !clean) {
    return std::nullopt;
  }
  Marker marker{.identity = std::string{*identity},
                .position = *position,
                .base = *base,
                .clean = *clean == 1};
  return to_text(marker) == text ? std::optional{std::move(marker)} : std::nullopt;
}

Result<std::optional<Marker>> read_marker(const std::filesystem::path& directory) {
  const std::filesystem::path file = marker_file(directory);
  const Descriptor descriptor{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  if (descriptor.number() < 0 && errno == ENOENT) {
    return std::nullopt;
  }
  std::array<char, 1024> buffer{};
  const ssize_t count =
      descriptor.number() < 0 ? -1 : ::pread(descriptor.number(), buffer.data(), buffer.size(), 0);
  if (count < 0) {
    return fail(Errc::unavailable, fmt::format("Cannot read {}: {}.", file.string(), reason()));
  }
  std::optional<Marker> marker = parse_marker({buffer.data(), static_cast<std::size_t>(count)});
  if (!marker) {
    return fail(Errc::corrupt, fmt::format("The file {} is damaged.", file.string()));
  }
  return marker;
}

Result<MarkerFile> MarkerFile::open(const std::filesystem::path& directory, Marker marker) {
  const std::filesystem::path file = marker_file(directory);
  const std::string text = to_text(marker);
  Descriptor existing{::open(file.c_str(), O_RDWR | O_CLOEXEC)};
  struct stat facts{};
  if (existing.number() < 0 || ::fstat(existing.number(), &facts) != 0 ||
      facts.st_size != std::ssize(text)) {
    POSTRIDER_TRY(Descriptor fresh, create(directory, text));
    return MarkerFile{std::move(fresh), std::move(marker)};
  }
  if (!write_all(existing.number(), text) || ::fsync(existing.number()) != 0) {
    return cannot_write(file);
  }
  return MarkerFile{std::move(existing), std::move(marker)};
}

void MarkerFile::write() const {
  [[maybe_unused]] const bool written = write_all(file_.number(), to_text(marker_));
}

void MarkerFile::note(std::int64_t position, std::int64_t base) {
  marker_.position = position;
  marker_.base = base;
  write();
}

void MarkerFile::note_end(std::int64_t position, std::int64_t base) {
  marker_.clean = true;
  note(position, base);
  (void)::fsync(file_.number());
}

}  // namespace postrider::sqlite

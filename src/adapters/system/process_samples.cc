#include "adapters/system/process_samples.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace postrider {
namespace {

class SampleList {
 public:
  void add(const char* name, const char* help, std::optional<double> value) {
    if (value) {
      samples_.push_back({.name = name,
                          .help = help,
                          .is_total = std::string_view{name}.ends_with("_total"),
                          .labels = {},
                          .value = *value});
    }
  }
  [[nodiscard]] std::vector<MetricSample> take() { return std::move(samples_); }

 private:
  std::vector<MetricSample> samples_;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::optional<double> cpu_seconds() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) {
    return std::nullopt;
  }
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Memory {
  std::optional<double> virtual_bytes;
  std::optional<double> resident_bytes;
};

Memory read_memory() {
  std::ifstream file{"/proc/self/statm"};
  std::uint64_t all_pages = 0;
  std::uint64_t resident_pages = 0;
  if (!(file >> all_pages >> resident_pages)) {
    return {};
  }
  const auto page_bytes = static_cast<double>(::sysconf(_SC_PAGESIZE));
  return {.virtual_bytes = static_cast<double>(all_pages) * page_bytes,
          .resident_bytes = static_cast<double>(resident_pages) * page_bytes};
}

std::optional<double> open_files() {
  struct stat status{};
  if (::stat("/proc/self/fd", &status) == 0 && status.st_size > 0) {
    return static_cast<double>(status.st_size);  // Since Linux 6.2: the number, without a count.
  }
  std::error_code error;
  double count = -1;  // Reading the directory takes a descriptor.
  for (std::filesystem::directory_iterator entry{"/proc/self/fd", error}, end;
       !error && entry != end; entry.increment(error)) {
    ++count;
  }
  return error ? std::nullopt : std::optional{count};
}

std::optional<double> open_files_max() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return std::nullopt;
  }
  return limit.rlim_cur == RLIM_INFINITY ? std::numeric_limits<double>::infinity()
                                         : static_cast<double>(limit.rlim_cur);
}

/// The unix time at which the machine was started.
std::optional<double> boot_seconds() {
  std::ifstream file{"/proc/stat"};
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("btime ")) {
      std::istringstream text{line.substr(6)};
      double value = 0;
      return text >> value ? std::optional{value} : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<double> start_seconds() {
  std::ifstream file{"/proc/self/stat"};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  // The name of the program is in brackets and may contain spaces. The start is the twentieth
  // field after it, in ticks since the machine was started.
  constexpr int fields_before = 19;
  std::istringstream fields{text.substr(std::min(text.rfind(')') + 1, text.size()))};
  std::string skipped;
  for (int field = 0; field < fields_before; ++field) {
    fields >> skipped;
  }
  double ticks = 0;
  const std::optional<double> boot = boot_seconds();
  if (!boot || !(fields >> ticks)) {
    return std::nullopt;
  }
  return *boot + ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

std::vector<MetricSample> process_samples() {
  SampleList list;
  const Memory memory = read_memory();
  list.add("process_cpu_seconds_total", "CPU time in user and system mode", cpu_seconds());
  list.add("process_resident_memory_bytes", "Memory in use", memory.resident_bytes);
  list.add("process_virtual_memory_bytes", "Address space in use", memory.virtual_bytes);
  list.add("process_open_fds", "Open file descriptors", open_files());
  list.add("process_max_fds", "Limit of open file descriptors", open_files_max());
  list.add("process_start_time_seconds", "Start of the process, as unix time", start_seconds());
  return list.take();
}

}  // namespace postrider

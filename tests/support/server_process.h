// A server of tests/servers as a child of a test program. It ends with this object, and with the
// test program even if that is killed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace postrider::test {

class ServerProcess {
 public:
  /// Runs `tests/servers/<name>.py` and waits until it is ready. Aborts if that fails.
  explicit ServerProcess(std::string_view name, const std::vector<std::string>& arguments = {});
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  /// A member, text or number, of the line of JSON that the program printed first.
  [[nodiscard]] std::string member(std::string_view name) const;

  /// Sends a line, such as `stop` or `start`, and waits for the line that answers it.
  void command(std::string_view line);

 private:
  std::string read_line();

  std::string ready_;
  int to_child_ = -1;
  int from_child_ = -1;
  pid_t child_ = -1;
};

}  // namespace postrider::test

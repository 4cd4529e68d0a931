#include "tests/support/server_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/assert.h"

namespace postrider::test {

ServerProcess::ServerProcess(std::string_view name, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"python3",
                                 std::string{POSTRIDER_SERVERS} + "/" + std::string{name} + ".py"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  int input[2];
  int output[2];
  POSTRIDER_ASSERT(::pipe2(input, O_CLOEXEC) == 0);
  POSTRIDER_ASSERT(::pipe2(output, O_CLOEXEC) == 0);
  child_ = ::fork();
  POSTRIDER_ASSERT(child_ >= 0);
  if (child_ == 0) {
    ::dup2(input[0], STDIN_FILENO);
    ::dup2(output[1], STDOUT_FILENO);
    ::execv("/usr/bin/python3", pointers.data());
    ::_exit(127);
  }
  ::close(input[0]);
  ::close(output[1]);
  to_child_ = input[1];
  from_child_ = output[0];
  ready_ = read_line();
}

ServerProcess::~ServerProcess() {
  ::close(to_child_);
  ::waitpid(child_, nullptr, 0);
  ::close(from_child_);
}

std::string ServerProcess::member(std::string_view name) const {
  const std::string start = "\"" + std::string{name} + "\": ";
  const std::size_t at = ready_.find(start);
  POSTRIDER_ASSERT(at != std::string::npos);
  const std::size_t begin = at + start.size();
  if (ready_[begin] == '"') {
    return ready_.substr(begin + 1, ready_.find('"', begin + 1) - begin - 1);
  }
  return ready_.substr(begin, ready_.find_first_of(",}", begin) - begin);
}

void ServerProcess::command(std::string_view line) {
  const std::string text = std::string{line} + "\n";
  POSTRIDER_ASSERT(::write(to_child_, text.data(), text.size()) ==
                   static_cast<ssize_t>(text.size()));
  read_line();
}

std::string ServerProcess::read_line() {
  std::string line;
  char c = 0;
  while (::read(from_child_, &c, 1) == 1) {
    if (c == '\n') {
      return line;
    }
    line += c;
  }
  POSTRIDER_ASSERT(!"the server of a test ended");
  return line;
}

}  // namespace postrider::test

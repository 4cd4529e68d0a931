// Each argument is a directory with a recorded request: `headers` and `body`. Prints true or false.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "verify.cc"

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    const std::string directory = arguments[i];
    postrider::verify::Headers headers;
    std::ifstream lines(directory + "/headers");
    for (std::string line; std::getline(lines, line);) {
      const std::size_t colon = line.find(": ");
      headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    }
    std::ifstream file(directory + "/body", std::ios::binary);
    const std::string body(std::istreambuf_iterator<char>(file), {});
    std::cout << (verify(headers, body) ? "true\n" : "false\n");
  }
}

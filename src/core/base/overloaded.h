// One callable made of several, for std::visit: an alternative without an overload does not
// compile.
#pragma once

namespace postrider {

template <class... Overloads>
struct Overloaded : Overloads... {
  using Overloads::operator()...;
};

}  // namespace postrider

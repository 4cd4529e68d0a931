#include "adapters/json_schema/regex.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "adapters/json_schema/re2_syntax.h"
#include "adapters/json_schema/steps.h"

namespace postrider::json_schema {
namespace {

// RE2 searches with an automaton that it builds on demand and keeps in limited memory. It discards
// the automaton when the memory is used up, and if that happens too often, it simulates every
// instruction for every byte, which is hundreds of times slower. RE2 reports both through hooks.
constexpr std::int64_t memory_min = std::int64_t{256} * 1024;
constexpr std::int64_t memory_to_compile = std::int64_t{384} * 1024;
constexpr std::int64_t memory_per_instruction = 640;  // Suffices for some hundred states.

constexpr std::uint64_t bytes_per_search_step = 4;
constexpr std::uint64_t steps_per_search = 20;
constexpr std::uint64_t steps_per_state = 100;  // To build it, besides one for each instruction.

/// What RE2 did on this thread besides running an automaton that it had.
struct ExtraWork {
  std::uint64_t states_discarded = 0;
  bool simulated = false;
};
thread_local ExtraWork extra_work;

void count_discarded(const re2::hooks::DFAStateCacheReset& reset) {
  extra_work.states_discarded += reset.state_cache_size;
}
void note_simulation(const re2::hooks::DFASearchFailure&) { extra_work.simulated = true; }

void install_hooks() {
  [[maybe_unused]] static const bool installed = [] {
    re2::hooks::SetDFAStateCacheResetHook(count_discarded);
    re2::hooks::SetDFASearchFailureHook(note_simulation);
    return true;
  }();
}

std::unique_ptr<const re2::RE2> compile_with(const std::string& expression, std::int64_t memory) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(memory);
  return std::make_unique<const re2::RE2>(expression, options);
}

/// RE2 runs one of its two programs, depending on the anchors. Returns more than regex_size_max if
/// there is no reverse program for lack of memory.
std::uint64_t size_of(const re2::RE2& expression) {
  const int reverse = expression.ReverseProgramSize();
  return reverse < 0 ? regex_size_max + 1
                     : static_cast<std::uint64_t>(std::max(expression.ProgramSize(), reverse));
}

}  // namespace

Regex::Regex(std::unique_ptr<const re2::RE2> expression, std::uint64_t size)
    : expression_(std::move(expression)), size_(size) {}

Regex::~Regex() = default;

Result<std::unique_ptr<const Regex>> Regex::compile(std::string_view pattern) {
  if (pattern.size() > regex_bytes_max) {
    return fail(Errc::invalid, fmt::format("must have at most {} bytes.", regex_bytes_max));
  }
  install_hooks();
  POSTRIDER_TRY(const std::string translated, to_re2_syntax(pattern));
  // Little memory, so that a large pattern is refused soon.
  std::unique_ptr<const re2::RE2> expression = compile_with(translated, memory_to_compile);
  if (!expression->ok() && expression->error_code() != re2::RE2::ErrorPatternTooLarge) {
    return fail(Errc::invalid, fmt::format("is not a regular expression that RE2 supports ({}).",
                                           expression->error()));
  }
  const std::uint64_t size = expression->ok() ? size_of(*expression) : regex_size_max + 1;
  if (size > regex_size_max) {
    return fail(Errc::invalid,
                fmt::format("is too complex: RE2 needs more than {} instructions for it. Use "
                            "smaller repetitions and fewer classes of Unicode characters.",
                            regex_size_max));
  }
  const std::int64_t memory = static_cast<std::int64_t>(size) * memory_per_instruction;
  expression = compile_with(translated, std::max(memory, memory_min));
  return std::unique_ptr<const Regex>{new Regex{std::move(expression), size}};
}

Regex::Search Regex::search(std::string_view text) const {
  extra_work = {};
  const bool found = re2::RE2::PartialMatch({text.data(), text.size()}, *expression_);
  const std::uint64_t simulated = extra_work.simulated ? search_steps_max(text) : 0;
  return {found, steps_per_search + text.size() / bytes_per_search_step + simulated +
                     extra_work.states_discarded * (steps_per_state + size_)};
}

}  // namespace postrider::json_schema

// `postrider completion`: prints completion scripts and the manual page.
#include "cli/commands/completion.h"
#include "cli/commands/manual.h"
#include "cli/commands/subcommand.h"

namespace postrider::cli {
namespace {

constexpr const char* examples = R"(Examples:
  postrider completion bash >/etc/bash_completion.d/postrider
  postrider completion zsh >"${fpath[1]}/_postrider"
  postrider completion fish >~/.config/fish/completions/postrider.fish
  postrider completion man >/usr/local/share/man/man1/postrider.1
      Prints the manual page.)";

class CompletionArguments final : public Subcommand {
 public:
  CompletionArguments(Syntax root, Syntax syntax) : root_(root) {
    syntax.footer(examples);
    syntax.argument("SHELL", shell_, "bash, zsh or fish, or man for the manual page")
        .one_of({"bash", "zsh", "fish", "man"});
  }

  Result<Command> finish(const Environment&) override {
    const std::vector<CommandInfo> tree = command_tree(root_);
    if (shell_ == "bash") {
      return Command{HelpText{bash_completion(tree)}};
    }
    if (shell_ == "zsh") {
      return Command{HelpText{zsh_completion(tree)}};
    }
    return Command{HelpText{shell_ == "fish" ? fish_completion(tree) : manual_page(tree)}};
  }

 private:
  Syntax root_;
  std::string shell_;
};

}  // namespace

std::unique_ptr<Subcommand> add_completion(Syntax root) {
  return std::make_unique<CompletionArguments>(
      root, root.command("completion", "Print a shell completion script or the manual page"));
}

}  // namespace postrider::cli

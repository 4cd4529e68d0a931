// A mail server in memory. Accepts every mail unless it is told otherwise.
#pragma once

#include <functional>
#include <vector>

#include "ports/mailer.h"

namespace postrider::test {

class ScriptedMailer final : public Mailer {
 public:
  struct Script {
    std::vector<Mail> accepted;
    std::function<MailOutcome(const Mail&)> judge;  // Empty: all are accepted.
    bool stopped = false;
  };

  /// `script` must outlive this object.
  explicit ScriptedMailer(Script& script) : script_(script) {}

  MailOutcome send(const Mail& mail) override {
    const MailOutcome outcome = script_.judge ? script_.judge(mail) : MailOutcome{};
    if (outcome.verdict == MailVerdict::accepted) {
      script_.accepted.push_back(mail);
    }
    return outcome;
  }
  void stop() override { script_.stopped = true; }

 private:
  Script& script_;
};

}  // namespace postrider::test

#include "supervisor/imports/import_trials.hpp"

#include <system_error>
#include <utility>

#include "supervisor/conversation.hpp"
#include "supervisor/process/channel.hpp"
#include "supervisor/wire.hpp"

namespace dlbench::supervisor {
namespace {

using Names = std::vector<std::string>;

Names with(Names libraries, const std::string& last) {
  libraries.push_back(last);
  return libraries;
}

}  // namespace

std::vector<FailedImport> try_imports(Context& context, const std::string& environment,
                                      const std::vector<std::string>& libraries) {
  const auto is_broken = [&](const std::string& library, const std::string& role) {
    return context.ledger.failed_steps().has_failed_import(environment, library, role);
  };
  Loads loads(context.plan, environment, libraries, is_broken, false);
  std::vector<FailedImport> failures;
  const auto failed = [&](Failure failure, bool died) {
    const Load& load = loads.current();
    failure.data["library"] = load.library;
    failures.push_back({load.library, load.role, std::move(failure), died});
  };
  const auto died = [&](const Death& death) {
    failed(explain_death(death, describe_import(loads), context.options.timeout_s), true);
  };
  Conversation worker(context);
  try {
    worker.start(environment);
    worker.wait_for_message();
    while (!loads.is_over()) {
      worker.send(request_of(loads.current()), Activity::load);
      const nlohmann::json answer = worker.wait_for_message();
      if (answer.contains("error"))
        failed(read_error(answer["error"], Outcome::import_failed), false);
      loads.pop();
    }
  } catch (const std::system_error&) {
    return failures;  // the worker of the group reports it
  } catch (const Died& end) {
    // A worker that does not start is no evidence about a library.
    if (worker.current_work().activity == Activity::load) died(end.death);
  } catch (const ProtocolError& error) {
    died(death_of(error));
  }
  worker.dismiss();
  return failures;
}

ImportFinding find_cause(Context& context, const std::string& environment, Names before,
                         const std::string& suspect) {
  context.progress.activity("finding why " + suspect + " cannot be imported with other libraries");
  ImportFinding finding;
  finding.failures = try_imports(context, environment, {suspect});
  if (!finding.failures.empty()) return finding;
  // Failures of other libraries are not failures of the suspect.
  const auto failure_after = [&](const Names& others) -> std::optional<Failure> {
    for (FailedImport& failed : try_imports(context, environment, with(others, suspect))) {
      if (failed.library == suspect) return std::move(failed.failure);
    }
    return std::nullopt;
  };
  finding.kind = ImportFinding::Kind::again;
  if (before.size() > 1 && !failure_after(before)) return finding;
  finding.kind = ImportFinding::Kind::several;
  while (before.size() > 1) {
    const auto middle = before.begin() + static_cast<std::ptrdiff_t>(before.size() / 2);
    Names first(before.begin(), middle), second(middle, before.end());
    if (failure_after(second)) {
      before = std::move(second);
    } else if (failure_after(first)) {
      before = std::move(first);
    } else {
      return finding;
    }
  }
  std::optional<Failure> failure = failure_after(before);
  if (!failure) {
    finding.kind = ImportFinding::Kind::again;
    return finding;
  }
  finding.other = before.front();
  finding.failure = std::move(*failure);
  finding.failure.imports = {finding.other, suspect};
  const bool works_before = try_imports(context, environment, {suspect, finding.other}).empty();
  finding.kind = works_before ? ImportFinding::Kind::order : ImportFinding::Kind::apart;
  return finding;
}

}  // namespace dlbench::supervisor

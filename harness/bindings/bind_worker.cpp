#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/bind.hpp"
#include "supervisor/process/grandchildren.hpp"
#include "supervisor/process/program.hpp"
#include "supervisor/process/worker.hpp"
#include "supervisor/wire.hpp"

namespace py = pybind11;

namespace dlbench::bindings {
namespace {

using nlohmann::json;
using supervisor::Death;

// An instruction profile is one long line. Texts are not cut, because the caller decides how much
// to show.
constexpr supervisor::Limits kLimits{.line = std::size_t{64} << 20,
                                     .text = std::numeric_limits<std::size_t>::max()};

/// Waits without the GIL. A signal handler may raise an exception through it.
template <typename IsDone>
void wait_until(IsDone is_done) {
  while (true) {
    {
      const py::gil_scoped_release no_gil;
      if (is_done()) return;
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

/// A text of the operating system; pybind11 encodes it like os.fsencode().
using OsText = std::filesystem::path;

supervisor::Command command_of(const std::vector<OsText>& words,
                               const std::map<std::string, OsText>& variables) {
  supervisor::Command command;
  for (const OsText& word : words) command.words.push_back(word.native());
  for (const auto& [name, text] : variables) command.variables[name] = text.native();
  return command;
}

/// Converts a failed start to an OSError with the errno, and with the program's name if the program
/// cannot be started.
template <typename Start>
auto started(Start start) {
  audit_start();
  try {
    return start();
  } catch (const supervisor::CannotStart& error) {
    errno = error.code().value();
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, error.program.c_str());
    throw py::error_already_set();
  } catch (const std::system_error& error) {
    errno = error.code().value();
    PyErr_SetFromErrno(PyExc_OSError);
    throw py::error_already_set();
  }
}

/// Owns a worker process. Only one call at a time may wait for an answer; meanwhile signal handlers
/// and other threads can only stop the worker, and other calls raise.
class Worker {
 public:
  Worker(const supervisor::Command& command, double timeout_s)
      : worker_(started(
            [&] { return std::make_unique<supervisor::Worker>(command, timeout_s, kLimits); })) {}

  py::object receive() {
    supervisor::Worker& worker = required();
    std::optional<supervisor::Answer> answer;
    try {
      const Waiting waiting(*this);
      wait_until([&] {
        if (is_stopped_) return true;
        answer = worker.poll();
        if (!answer) {
          supervisor::Worker* const one = &worker;
          supervisor::wait({&one, 1}, supervisor::kPollInterval);
          answer = worker.poll();
        }
        return answer.has_value();
      });
    } catch (...) {  // a signal handler raised an exception, perhaps after it stopped the worker
      if (is_stopped_) stop();
      throw;
    }
    if (is_stopped_) {
      stop();
      throw std::runtime_error("the worker was stopped while a call waited for its answer");
    }
    if (const Death* death = std::get_if<Death>(&*answer)) {
      stop();
      return py::cast(*death);
    }
    return py::str(std::get<json>(*answer).dump());
  }

  py::object send_request(const std::string& request, std::optional<double> timeout_s) {
    if (timeout_s) required().set_timeout(*timeout_s);
    required().send(json::parse(request));
    return receive();
  }

  py::object finish(const std::string& request) {
    required().finish(json::parse(request));
    // The answers to earlier requests may come first.
    while (true) {
      py::object received = receive();
      if (py::isinstance<Death>(received)) return received;
    }
  }

  bool is_alive() const {
    if (is_waiting_) return !is_stopped_;
    return worker_ != nullptr && !worker_->ended();
  }

  py::object pid() const { return worker_ ? py::object(py::int_(worker_->pid())) : py::none(); }

  void stop() {
    is_stopped_ = true;
    if (is_waiting_) return;  // the waiting call ends the worker
    std::unique_ptr<supervisor::Worker> ending = std::move(worker_);
    const py::gil_scoped_release no_gil;
    ending.reset();
    grandchildren_.reset();
  }

 private:
  /// Sets `is_waiting_` while it lives.
  class Waiting {
   public:
    explicit Waiting(Worker& worker) : worker_(worker) { worker_.is_waiting_ = true; }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() { worker_.is_waiting_ = false; }

   private:
    Worker& worker_;
  };

  supervisor::Worker& required() {
    if (is_waiting_) throw std::runtime_error("another call waits for this worker's answer");
    if (!worker_) throw std::runtime_error("the worker has ended");
    return *worker_;
  }

  // A program that uses dlbench, such as pytest, may have children that dlbench does not know.
  std::optional<supervisor::Grandchildren> grandchildren_{supervisor::Grandchildren::Kill::marked};
  std::unique_ptr<supervisor::Worker> worker_;
  bool is_waiting_ = false;  // protected by the GIL
  std::atomic<bool> is_stopped_ = false;
};

std::string outcome(const Death& death) {
  return std::string(to_string(supervisor::explain_death(death, "", 0).outcome));
}

std::unique_ptr<supervisor::Program> start_logged(const std::vector<OsText>& words,
                                                  const std::map<std::string, OsText>& variables,
                                                  const OsText& log, int inherited) {
  supervisor::Command command = command_of(words, variables);
  command.log = log.native();
  command.inherited = inherited;
  return started([&] { return std::make_unique<supervisor::Program>(command); });
}

/// Waits for at most `most_s` seconds. A signal ends the wait after its handler has run.
bool wait_for(supervisor::Program& program, double most_s) {
  const bool has_ended = [&] {
    const py::gil_scoped_release no_gil;
    return program.wait(most_s);
  }();
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  return has_ended;
}

/// Runs a program to its end, or kills it at its deadline.
std::unique_ptr<supervisor::Program> run_program(const std::vector<OsText>& words,
                                                 double timeout_s) {
  const supervisor::Grandchildren grandchildren(supervisor::Grandchildren::Kill::marked);
  auto program = started(
      [&] { return std::make_unique<supervisor::Program>(command_of(words, {}), timeout_s); });
  wait_until([&] { return program->wait(supervisor::kPollInterval); });
  return program;
}

}  // namespace

void bind_worker(py::module_& module) {
  module.attr("round_ns") = supervisor::kRoundNs;
  py::class_<Death>(module, "Death", "How a worker ended.")
      .def_property_readonly("outcome", &outcome)
      .def_property_readonly("garbled",
                             [](const Death& death) { return death.kind == Death::Kind::garbled; })
      .def_readonly("how", &Death::how)
      .def_readonly("signal", &Death::signal)
      .def_readonly("exit_status", &Death::exit_status)
      .def_property_readonly(
          "step",
          [](const Death& death) { return std::string(death.step ? to_string(*death.step) : ""); })
      .def_readonly("stdout_tail", &Death::stdout_tail)
      .def_readonly("stderr_tail", &Death::stderr_tail);
  py::class_<Worker>(module, "Worker", "A child process that handles requests from descriptor 3.")
      .def(py::init([](const std::vector<OsText>& words, double timeout_s,
                       const std::map<std::string, OsText>& variables) {
             return std::make_unique<Worker>(command_of(words, variables), timeout_s);
           }),
           py::arg("command"), py::arg("timeout_s"), py::kw_only(),
           py::arg("variables") = std::map<std::string, OsText>{})
      .def("receive", &Worker::receive, "The next message, as JSON, or a Death.")
      .def("send_request", &Worker::send_request, py::arg("request"),
           py::arg("timeout_s") = py::none(), "Sends a request and receives its answer.")
      .def("finish", &Worker::finish, py::arg("request"),
           "Sends the last request and waits for the end: a Death. Earlier answers are dropped.")
      .def("stop", &Worker::stop,
           "Kills the process group. If a call waits for an answer, that call kills it and "
           "raises.")
      .def_property_readonly("is_alive", &Worker::is_alive)
      .def_property_readonly("pid", &Worker::pid);
  py::class_<supervisor::Program>(
      module, "Program",
      "A program without requests. The constructor starts one that prints to a log and has no "
      "deadline. Deleting the object kills its process group.")
      .def(py::init(&start_logged), py::arg("command"), py::kw_only(), py::arg("variables"),
           py::arg("log"), py::arg("inherited"))
      .def("wait", &wait_for, py::arg("most_s"),
           "Waits for at most that long, or until a signal. Returns whether it has ended.")
      .def_property_readonly("pid", &supervisor::Program::pid)
      .def_property_readonly("out", &supervisor::Program::out)
      .def_property_readonly("err", &supervisor::Program::err)
      .def_property_readonly("status", &supervisor::Program::status,
                             "None if it was killed at its deadline.");
  module.def("run_program", &run_program, py::arg("command"), py::arg("timeout_s"),
             "Runs a program to its end, or to its deadline.");
}

}  // namespace dlbench::bindings

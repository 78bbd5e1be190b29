#include "supervisor/process/program.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>
#include <variant>

#include "results/file.hpp"
#include "supervisor/process/worker.hpp"

namespace dlbench::supervisor {
namespace {

Command shell(const std::string& script) {
  return {{"/bin/sh", "-c", script}};
}

Answer next(Worker& worker) {
  while (true) {
    if (auto answer = worker.poll()) return *answer;
    Worker* const one = &worker;
    wait({&one, 1}, 0.05);
  }
}

constexpr const char* kGreeting = R"(echo '{"hello": {}}' >&3; )";

TEST(Program, IsRunToItsEnd) {
  Program program(shell("echo out; echo err >&2; exit 3"), 60);
  while (!program.wait(0.05)) {
  }
  EXPECT_EQ(program.out(), "out\n");
  EXPECT_EQ(program.err(), "err\n");
  EXPECT_EQ(program.status(), 3);
}

TEST(Program, IsKilledAtItsDeadline) {
  Program program(shell("echo out; sleep 600"), 0.5);
  while (!program.wait(0.05)) {
  }
  EXPECT_EQ(program.out(), "out\n");
  EXPECT_EQ(program.status(), std::nullopt);
}

TEST(Program, ThatASignalEnded) {
  Program program(shell("kill -SEGV $$"), 60);
  while (!program.wait(0.05)) {
  }
  EXPECT_EQ(program.status(), -SIGSEGV);
}

TEST(Program, HasTheVariablesOfItsCommandBesideOurs) {
  Command command = shell("echo $DLBENCH_PLANTED $PATH");
  command.variables = {{"DLBENCH_PLANTED", "so"}};
  Program program(command, 60);
  while (!program.wait(0.05)) {
  }
  EXPECT_EQ(program.out(), "so " + std::string(std::getenv("PATH")) + "\n");
}

TEST(Program, GetsNoDescriptorThatWeInherited) {
  if (::dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addclosefrom_np") == nullptr) {
    GTEST_SKIP() << "glibc 2.34 is the first that closes them";
  }
  const results::File inherited(::fcntl(STDERR_FILENO, F_DUPFD, 20));  // without FD_CLOEXEC
  ASSERT_GE(inherited.get(), 20);
  const std::string number = std::to_string(inherited.get());
  const std::string script = "if [ -e /proc/self/fd/" + number + " ]; then echo there; fi";
  EXPECT_EQ(std::system((script + " | grep -q there").c_str()), 0);
  Program program(shell(script), 60);
  while (!program.wait(0.05)) {
  }
  EXPECT_EQ(program.out(), "");
}

TEST(Program, ThatIsNotThereCannotBeStarted) {
  EXPECT_THROW(Program({{"/no/such/program"}}, 60), std::system_error);
}

TEST(Worker, EndsByItselfWhenItIsAskedTo) {
  for (const int status : {0, 3}) {
    const std::string end = "read line <&3; exec 3>&-; sleep 1.5; exit " + std::to_string(status);
    Worker worker(shell(kGreeting + end), 60);
    ASSERT_TRUE(std::holds_alternative<nlohmann::json>(next(worker)));
    worker.finish({{"do", "end"}});
    const Answer answer = next(worker);
    ASSERT_TRUE(std::holds_alternative<Death>(answer));
    EXPECT_EQ(std::get<Death>(answer).kind, Death::Kind::crashed);
    EXPECT_EQ(std::get<Death>(answer).exit_status, status);
  }
}

TEST(Worker, ThatDoesNotEndIsKilledAtItsDeadline) {
  Worker worker(shell(std::string(kGreeting) + "sleep 600"), 60);
  ASSERT_TRUE(std::holds_alternative<nlohmann::json>(next(worker)));
  worker.set_timeout(0.3);
  worker.finish({{"do", "end"}});
  const Answer answer = next(worker);
  ASSERT_TRUE(std::holds_alternative<Death>(answer));
  EXPECT_EQ(std::get<Death>(answer).kind, Death::Kind::timed_out);
}

TEST(Worker, MayHaveLongAnswersWhereItsLimitsAllowThem) {
  const std::string flood = R"(awk 'BEGIN { printf "{\"ok\": \""; for (i = 0; i < 2000000; ++i) )"
                            R"(printf "x"; print "\"}" }' >&3; sleep 600)";
  Worker strict(shell(flood), 60);
  const Answer refused = next(strict);
  ASSERT_TRUE(std::holds_alternative<Death>(refused));
  EXPECT_EQ(std::get<Death>(refused).kind, Death::Kind::garbled);
  Worker generous(shell(flood), 60, {.line = 4 << 20, .text = 3'000'000});
  const Answer taken = next(generous);
  ASSERT_TRUE(std::holds_alternative<nlohmann::json>(taken));
  EXPECT_EQ(std::get<nlohmann::json>(taken)["ok"].get<std::string>().size(), 2'000'000);
}

}  // namespace
}  // namespace dlbench::supervisor

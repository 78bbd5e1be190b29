#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "model/cell.hpp"
#include "model/names.hpp"
#include "results/records.hpp"
#include "results/schema/field_io.hpp"

/// Fields that several records have.
namespace dlbench::results {

inline const std::string kPhaseWords = joined(kPhases);
inline const std::string kClockWords = joined(kClocks);

/// Any text: the reader of entries compares the name with its axes.
inline constexpr Pattern kName{
    "^[a-z]+/producer:[^/]+/consumer:[^/]+/protocol:[^/]+/device:[^/]+/case:[^/]+/bytes:[0-9]+"
    "(/arrays:[0-9]+)?(/clock:[^/]+)?(/environment:[^/]+)?(/machine:[^/]+)?$",
    [](std::string_view text) { return !text.empty(); }, "the name that its axes form"};

/// In the order of each_axis(), which not only documents use.
inline const std::array<About, 11> kAxes{
    About{words(kPhaseWords), "The whole exchange, or one of its steps."},
    About{words(kClockWords),
          "End of the time: when the call has returned, when the data is ready, or on the device's "
          "own clock."},
    About{kAxis, "The library that exports."},
    About{kAxis, "The library that imports."},
    About{kAxis, "The requested protocol."},
    About{kAxis, "Two devices are joined by `+`."},
    About{kAxis, "The kind of array."},
    About{kCount, "Size of the array."},
    About{kCount.or_else("1"), "Number of arrays that a `call` passes; without the key 1."},
    About{kAxis, "Name of the environment; `default` is the one that dlbench ran in."},
    About{kAxis, "In a document of several machines: a key of `context.dlbench.machines`."},
};

template <typename Io, typename AnyCell>
void axis_fields(Io& io, AnyCell& cell) {
  const About* about = kAxes.data();
  each_axis(cell, [&](std::string_view key, auto& value) {
    if (key == "machine") {
      io.known(key, value, *about++);
    } else if (key == "arrays") {
      std::optional<std::uint64_t> other;
      if constexpr (std::same_as<std::remove_cvref_t<decltype(value)>, std::uint64_t>) {
        if (value != 1) other = value;
        io.known(key, other, *about++);
        if constexpr (!std::is_const_v<AnyCell>) value = other.value_or(1);
      }
    } else {
      io(key, value, *about++);
    }
  });
}

template <typename Io, typename T>
void warning_fields(Io& io, T& warning, std::string_view codes) {
  io("code", warning.code, {words(codes), "Code for programs; the reference lists the meanings."});
  io("text", warning.text, "Text for people; it may change.");
  io.known("data", warning.data, "The names and numbers in the text.");
}

struct EffectKind {
  std::string_view name;
  const char* sentence;
};
inline constexpr std::array<EffectKind, 9> kEffects{{
    {"threads", "Threads that the import started: their number and name."},
    {"signals", "Signals whose handler the import replaced."},
    {"environment", "Environment variables that the import set."},
    {"allocators", "Allocators that the import replaced."},
    {"arithmetic", "The mode of floating-point arithmetic that the import set."},
    {"thread-pools", "Shared objects with thread pools that the import loaded."},
    {"interpreter", "Settings and hooks of Python that the import changed."},
    {"functions",
     "Functions, classes and special methods of arrays that the import replaced in other "
     "packages."},
    {"processors", "The number of processors that the process may use after the import."},
}};

template <typename Io, Is<Effects> T>
void fields(Io& io, T& effects) {
  for (const EffectKind& each : kEffects) io.known_member(each.name, effects, each.sentence);
  io.only(kEffects);
}

/// What a worker reports of its environment. In a document, floors are medians over the workers.
template <typename Io, typename T>
void environment_fields(Io& io, T& facts) {
  io("libraries", facts.libraries,
     "Versions by library, and of `numpy` and `ml_dtypes`, which make the sources.");
  io("floors_ns", facts.floors_ns,
     {kNonNegative, "The overhead floors, medians over the workers."});
  io.known("import_seconds", facts.import_seconds,
           {kNonNegative,
            "Seconds that the import of each library took in the first worker that imported it, "
            "with both of its adapter files. A later import of the same worker is shorter by what "
            "it shares with earlier ones."});
  io.known("import_effects", facts.import_effects,
           "The effects of each library's import on the whole process, as observed by the first "
           "worker that observed any. A library without effects is absent.");
  io.known("copy_floors_gb_per_s", facts.copy_floors_gb_per_s,
           {kPositive,
            "Rates of a plain copy in 10^9 bytes a second: `warm` into memory that was written "
            "before, `fresh` into new pages; `cuda:0` within a device, `cuda:0+cpu pinned` from "
            "it to the host; `warm 65536`, `cuda:0 65536` for blocks of that many bytes. Copies of "
            "a device are timed by its events."});
  io.known("copy_floors_bytes", facts.copy_floors_bytes,
           "Size of the block that the copy floors of a device copied if their name has no size, "
           "by device: 512 MiB, or less if little memory was free.");
  io.known(
      "context_flags", facts.context_flags,
      "How a host thread waits in the context that all libraries of a worker share, by device, "
      "as the first worker found it that measured there: `auto`, `spin`, `yield`, `blocking-sync`, "
      "or `unknown: N`, the driver's number. A library may set it.");
}

}  // namespace dlbench::results

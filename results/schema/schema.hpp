#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "results/value.hpp"

namespace dlbench::results {

/// A JSON schema. results/schema.json and the other schemas are compiled in. Supports only the
/// keywords that they use. Unlike the standard, an integer must be written without a decimal point.
class Schema {
 public:
  /// A part of a schema, such as the target of a `$ref`.
  struct Part;

  /// The schema of results.json.
  static const Schema& of_results();
  /// The schema of the lines of a journal.
  static const Schema& of_journal();
  /// The schema of comparison.json.
  static const Schema& of_comparison();

  /// Throws std::invalid_argument for an invalid schema and for an unsupported keyword.
  explicit Schema(std::string_view text);
  ~Schema();

  /// The part at a JSON pointer such as "/$defs/context"; the whole schema for an empty one.
  const Part& part(const std::string& pointer = "") const;

 private:
  class Compiler;

  std::map<std::string, std::unique_ptr<Part>> parts_;  ///< by pointer
};

/// `partial`: keys that the schema requires may be absent.
enum class Completeness { whole, partial };

/// Throws UsageError "PLACE/key: expected ..., found ..." at the first fault.
void check(const Value& value, const Schema::Part& part, std::string_view place,
           Completeness completeness = Completeness::whole);

}  // namespace dlbench::results

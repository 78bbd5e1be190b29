#pragma once

#include <string>

#include "results/fields.hpp"
#include "results/records.hpp"
#include "results/schema/field_io.hpp"

namespace dlbench::results {

/// The JSON schema of results.json.
OrderedJson describe_document();

/// Checks a document except its entries. Throws UsageError "PLACE/key: expected ..., found ...".
void check_document(const Fields& document);

/// Checks the context of a journal, of which a document has more keys. Throws as check_document().
void check_context(const Fields& context);

}  // namespace dlbench::results

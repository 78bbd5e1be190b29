#include "model/cell.hpp"

#include <gtest/gtest.h>

#include "model/error.hpp"

namespace {

using namespace dlbench;

Cell numpy_to_torch() {
  Cell cell;
  cell.exchange.producer = "numpy";
  cell.exchange.consumer = "torch";
  cell.exchange.protocol = "dlpack";
  return cell;
}

TEST(CellName, IsTheContractsExample) {
  EXPECT_EQ(
      name(numpy_to_torch()),
      "exchange/producer:numpy/consumer:torch/protocol:dlpack/device:cpu/case:f32/bytes:4096");
}

TEST(CellName, AppendsClockAndEnvironmentOnlyWhereTheyAreUnusual) {
  Cell cell = numpy_to_torch();
  const std::string plain = name(cell);
  cell.clock = "ready";
  EXPECT_EQ(name(cell), plain + "/clock:ready");
  cell.exchange.environment = "py310";
  EXPECT_EQ(name(cell), plain + "/clock:ready/environment:py310");
  cell.exchange.arrays = 0;
  EXPECT_EQ(name(cell), plain + "/arrays:0/clock:ready/environment:py310");
}

TEST(CellName, IsReadBack) {
  Cell cell = numpy_to_torch();
  EXPECT_EQ(cell_from_name(name(cell)), cell);
  cell.phase = "import";
  cell.clock = "device";
  cell.exchange.environment = "old";
  cell.exchange.device = "cuda:0+cpu";
  cell.exchange.case_name = "f32-align4";
  cell.exchange.arrays = 20;
  cell.exchange.bytes = 18'446'744'073'709'551'615ULL;
  cell.machine = "epyc-1";
  EXPECT_EQ(cell_from_name(name(cell)), cell);
}

TEST(CellName, DiffersWhereACellDiffers) {
  const Cell cell = numpy_to_torch();
  Cell other = cell;
  other.exchange.bytes = 8192;
  EXPECT_NE(name(cell), name(other));
  EXPECT_NE(cell, other);
}

TEST(CellName, RefusesWhatIsNone) {
  const std::string good = name(numpy_to_torch());
  for (const std::string& bad :
       {std::string(), std::string("exchange"), std::string("/producer:a/consumer:b/protocol:c"),
        good + "/", good + "/color:blue", good + "/clock:", good + "/bytes:-1", good + "/bytes:12x",
        good + "/bytes:99999999999999999999", good + "/nonsense",
        std::string("exchange/producer:numpy/consumer:torch")}) {
    EXPECT_THROW(cell_from_name(bad), UsageError) << bad;
  }
}

TEST(CellName, TheComplaintNamesThePart) {
  try {
    cell_from_name("exchange/producer:a/consumer:b/protocol:c/color:blue");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("'color:blue' does not fit"), std::string::npos);
  }
}

}  // namespace

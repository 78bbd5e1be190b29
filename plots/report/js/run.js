// One run: its cells by number, and the cells of one choice of axes.

class Run {
  constructor(number, index) {
    Object.assign(this, index, { number });
    this.measured = this.median_ns.length;
    this.chunks = new Map();
    this.choices = this.group();
  }

  static async load(number) {
    return new Run(number, await unpackJson(`index-${number}`));
  }

  value(axis, cell) {
    const { levels, codes } = this.axes[axis];
    return levels[codes === null ? 0 : codes[cell]];
  }

  isMeasured(cell) {
    return cell < this.measured;
  }

  // From the median to the farther end of its interval.
  halfWidth(cell) {
    return Math.max(this.hi_ns[cell] - this.median_ns[cell], this.median_ns[cell] - this.lo_ns[cell], 0);
  }

  // The median with the digits that its interval supports.
  timeText(cell) {
    return duration(this.median_ns[cell], this.halfWidth(cell));
  }

  // The ends of the interval, rounded as the median is.
  intervalText(cell) {
    return [this.lo_ns[cell], this.hi_ns[cell]].map((end) => duration(end, this.halfWidth(cell))).join(" .. ");
  }

  // The median and the widest relative half-width, like values.widths().
  widths(cells) {
    const shares = cells.map((cell) => this.halfWidth(cell) / this.median_ns[cell]).filter((share) => share > 0)
      .sort((a, b) => a - b);
    if (shares.length === 0) return "";
    const middle = shares.length / 2;
    const median = (shares[Math.ceil(middle) - 1] + shares[Math.floor(middle)]) / 2;
    return `${spread(median)}${shares.length > 1 ? `, worst ${percent(shares.at(-1))}` : ""}`;
  }

  // The document's facts about the environment that a cell was measured in.
  environment(cell) {
    return this.environments[this.value("machine", cell)]?.[this.value("environment", cell)];
  }

  reason(cell) {
    const { levels, codes } = this.reasons;
    return levels[codes === null ? 0 : codes[cell - this.measured]];
  }

  // Groups the cells by all axes except producer and consumer.
  group() {
    const found = new Map();
    const varied = this.choice.filter((axis) => this.axes[axis].codes !== null);
    for (let cell = 0; cell < this.cells; cell += 1) {
      let key = 0;
      for (const axis of varied) {
        key = key * this.axes[axis].levels.length + this.axes[axis].codes[cell];
      }
      const group = found.get(key);
      if (group === undefined) found.set(key, [cell]);
      else group.push(cell);
    }
    return [...found.values()].map((cells) => ({
      cells,
      axes: Object.fromEntries(this.choice.map((axis) => [axis, this.value(axis, cells[0])])),
      measured: cells.filter((cell) => this.isMeasured(cell)).length,
    }));
  }

  levels(axis) {
    const { levels } = this.axes[axis];
    return typeof levels[0] === "number" ? [...levels].sort((a, b) => a - b) : [...levels];
  }

  // The values that are not in the index: samples, evidence, calls.
  async rest(cell) {
    const place = Math.floor(cell / this.chunk);
    if (!this.chunks.has(place)) {
      this.chunks.set(place, await unpackJson(`cells-${this.number}-${place}`));
    }
    return this.chunks.get(place)[cell % this.chunk];
  }

  async named(name) {
    const wanted = Object.fromEntries(name.split("/").slice(1).map((part) => {
      const colon = part.indexOf(":");
      return [part.slice(0, colon), part.slice(colon + 1)];
    }));
    wanted.phase = name.split("/")[0];
    const fits = (axes, cell) => Object.entries(wanted).every(
      ([axis, value]) => !(axis in axes) || String(this.value(axis, cell)) === value);
    for (const choice of this.choices) {
      if (!fits(choice.axes, choice.cells[0])) continue;
      for (const cell of choice.cells) {
        if (fits(this.axes, cell) && (await this.rest(cell)).name === name) return cell;
      }
    }
    return null;
  }
}

// Like native_first() of document/facts.py.
function inOrder(names) {
  return [...new Set(names)].sort((a, b) => (a !== NATIVE) - (b !== NATIVE) || (a < b ? -1 : 1));
}

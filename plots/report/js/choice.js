// The choice of a run and of one level of each axis, and its form.

const USUAL = { phase: "exchange", protocol: "dlpack", device: "cpu", case: "f32", arrays: 1, clock: "call",
  environment: "default", machine: "" };
const NAMED = { phase: "phase", protocol: "protocol", device: "device", case: "case", bytes: "size",
  arrays: "arrays", clock: "clock", environment: "environment", machine: "machine" };

class Choice {
  constructor(runs, redraw) {
    this.runs = runs;
    this.redraw = redraw;
    this.run = runs[chosen.get("run") ?? runs.length - 1] ?? runs[runs.length - 1];
    this.shown = this.first();
    const asked = this.run.choice.filter((axis) => chosen.has(axis)).map((axis) => [axis, chosen.get(axis)]);
    if (this.shown !== undefined) this.shown = this.nearest(Object.fromEntries(asked)) ?? this.shown;
  }

  first() {
    const usual = (choice) => (choice.measured > 0 ? 100 : 0)
      + Object.entries(USUAL).filter(([axis, value]) => choice.axes[axis] === value).length;
    return this.run.choices.reduce((best, choice) => {
      const more = usual(choice) - usual(best);
      return more > 0 || (more === 0 && choice.axes.bytes < best.axes.bytes) ? choice : best;
    }, this.run.choices[0]);
  }

  // The choice with these levels that is most similar to the present one.
  nearest(wanted) {
    const before = this.shown.axes;
    const alike = (choice) => Object.keys(before)
      .filter((axis) => choice.axes[axis] === before[axis]).length + (choice.measured > 0 ? 0.5 : 0);
    const fit = this.run.choices.filter((choice) => Object.entries(wanted)
      .every(([axis, value]) => String(choice.axes[axis]) === value));
    return fit.reduce((best, one) => (best && alike(best) >= alike(one) ? best : one), null);
  }

  pick(axis, value) {
    this.shown = this.nearest({ [axis]: value }) ?? this.shown;
    this.draw(axis);
    this.keep();
    this.redraw();
  }

  pickRun(number) {
    this.run = this.runs[number];
    this.shown = this.nearest({}) ?? this.first();
    this.draw("run");
    this.keep();
    this.redraw();
  }

  keep() {
    const several = (axis) => this.run.levels(axis).length > 1;
    keep({ run: this.runs.length > 1 ? this.run.number : null, ...Object.fromEntries(
      this.run.choice.map((axis) => [axis, several(axis) ? this.shown.axes[axis] : null])) });
  }

  draw(focus = null) {
    const form = byId("choice");
    form.replaceChildren();
    if (this.runs.length > 1) {
      const options = this.runs.map((run) => [String(run.number), run.label]);
      picker(form, "run", "run", options, String(this.run.number), (value) => this.pickRun(Number(value)));
    }
    for (const axis of this.run.choice) {
      const levels = this.run.levels(axis);
      if (levels.length < 2) continue;
      const options = levels.map((value) => [String(value), level(axis, value)]);
      picker(form, axis, NAMED[axis], options, String(this.shown.axes[axis]),
        (value) => this.pick(axis, value));
    }
    if (focus !== null) form.elements[focus]?.focus();
  }

  // The chosen levels as text. An axis with one level in the run is left out, except these.
  text() {
    const { axes } = this.shown;
    const always = ["device", "protocol", "case", "bytes"];
    const unusual = this.run.choice.filter((axis) => !always.includes(axis)
      && axes[axis] !== USUAL[axis] && this.run.levels(axis).length > 1);
    return [...always, ...unusual].map((axis) => level(axis, axes[axis])).join(" \u00b7 ");
  }
}

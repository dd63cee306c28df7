/* SPDX-License-Identifier: Apache-2.0 */
/* The windows as arrays, and sums over some of them. Energies are whole numbers of nJ. */

/* Names come from anybody: what turns the direction of writing or can't be seen is replaced. */
function clean(text) {
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g, '\ufffd');
}

function decodeTimes(deltas) {
  const t = new Float64Array(deltas.length + 1);
  let us = 0;
  deltas.forEach((d, i) => { us += d; t[i + 1] = us / 1e6; });
  return t;
}

/* For each window, the time for which the sum of some domains is known, in ns, and that sum. */
function sumDomains(n, domains) {
  const sum = { energy: new Float64Array(n), idle: new Float64Array(n), rest: new Float64Array(n), known: new Float64Array(n) };
  for (let w = 0; w < n; w++) {
    let watts = 0, longest = 0;
    for (const d of domains) {
      const known = d.known[w] * 1000, energy = d.energy[w] || 0;
      sum.energy[w] += energy;
      sum.idle[w] += d.idle[w] || 0;
      sum.rest[w] += d.rest[w] || 0;
      if (known > 0) watts += energy / known;
      longest = Math.max(longest, known);
    }
    /* Sensors that know different times: what makes their watts add up. */
    sum.known[w] = watts > 0 ? sum.energy[w] / watts : longest;
  }
  return sum;
}

/*
 * Stretches of time in which of the domains that are ever known some are not, or none is. A window
 * that is longer than the others was stretched by a gap: a domain that is known of its end is not
 * known of it.
 */
function findGaps(t, domains, usual_s) {
  const isKnown = (d, w) => d.known[w] > 0 && (t[w + 1] - t[w] < 2 * usual_s || d.known[w] * 2e-6 >= t[w + 1] - t[w]);
  const ever = domains.filter((d) => d.known.some((v) => v > 0)), gaps = [];
  for (let w = 0; w < t.length - 1; w++) {
    const known = ever.filter((d) => isKnown(d, w)).length;
    if (known === ever.length || t[w + 1] <= t[w]) continue; /* that is shorter than a us */
    const last = gaps[gaps.length - 1], is_all = known === 0;
    if (last && last.end_s === t[w] && last.is_all === is_all) last.end_s = t[w + 1];
    else gaps.push({ start_s: t[w], end_s: t[w + 1], is_all });
  }
  return gaps;
}

function isUser(kind) {
  return ['process', 'vm', 'exited', 'kthread', 'irq', 'softirq'].includes(kind);
}
function isKernel(kind) {
  return ['kthread', 'irq', 'softirq'].includes(kind);
}

function decodeEntity(raw, n) {
  const entity = { id: raw.id, name: clean(raw.name), comm: clean(raw.comm), kind: raw.kind, pid: raw.pid || 0, count: raw.count,
    others: !!raw.others, container: raw.container, unit: raw.unit, energy: new Float64Array(n), cpu: new Float64Array(n),
    doubt: new Float64Array(n), span: raw.s === null ? NaN : raw.s };
  let w = 0;
  for (let i = 0; i < raw.w.length; i++) {
    w += raw.w[i];
    entity.energy[w] += raw.e[i];
    entity.cpu[w] += raw.c[i] / 1e6;
    entity.doubt[w] += raw.u[i] === null ? NaN : raw.u[i];
  }
  return entity;
}

function decode(raw) {
  const n = raw.series.t.length, docs = raw.report.domains;
  const series = { n, t: decodeTimes(raw.series.t), domains: raw.series.domains };
  series.domains.forEach((d, i) => { d.doc = docs[i]; d.path = clean(d.path); });
  series.partition = series.domains.filter((d) => d.doc.is_partition);
  series.total = sumDomains(n, series.partition);
  series.gaps = findGaps(series.t, series.partition, raw.report.recording.window_s);
  series.entities = raw.series.entities.map((e) => decodeEntity(e, n));
  series.byId = new Map(raw.report.entities.filter((e) => e.id !== null).map((e) => [e.id, e]));
  series.context = raw.report.context.map((doc, i) => ({ ...doc, name: clean(doc.name), values: raw.series.context[i] }));
  series.unused = Object.fromEntries(raw.report.entities.filter((e) => e.id === null).map((e) => [e.kind, e]));
  return series;
}

function emptyRow(n, name, kind) {
  return { name, kind, pid: 0, count: 0, energy: new Float64Array(n), cpu: new Float64Array(n), doubt: new Float64Array(n), span: 0 };
}

function addTo(row, entity, sign) {
  for (let w = 0; w < row.energy.length; w++) {
    row.energy[w] += sign * entity.energy[w];
    row.cpu[w] += sign * entity.cpu[w];
    /* those that are put together may all be off the same way; what is left of some is not known */
    row.doubt[w] += sign > 0 ? entity.doubt[w] : entity.energy[w] ? NaN : 0;
  }
  row.span += sign > 0 ? entity.span : NaN;
  row.count += sign * entity.count;
}

/* The users of energy by a grouping; with idle and unattributed they are all of it. */
function groupRows(series, group) {
  const users = series.entities.filter((e) => isUser(e.kind));
  let rows;
  if (group === 'process') {
    rows = users.map((e) => ({ ...e, doc: series.byId.get(e.id) }));
  } else if (group === 'name') {
    const by = new Map();
    for (const e of users) {
      const key = (isKernel(e.kind) ? 'k ' : 'u ') + e.comm;
      if (!by.has(key)) by.set(key, emptyRow(series.n, e.comm, e.kind));
      addTo(by.get(key), e, 1);
    }
    rows = [...by.values()];
  } else {
    const kernel = emptyRow(series.n, 'kernel', 'kernel'), rest = emptyRow(series.n, 'in no ' + group, 'rest');
    for (const e of users) addTo(isKernel(e.kind) ? kernel : rest, e, 1);
    rows = series.entities.filter((e) => e.kind === group);
    for (const e of rows) addTo(rest, e, -1);
    rest.count = 0;
    rows = rows.concat([kernel, rest].filter((r) => r.energy.some((v) => v !== 0)));
  }
  const unused = [['idle', series.total.idle], ['unattributed', series.total.rest]].map(([name, energy]) =>
    ({ name, kind: name, pid: 0, count: 0, energy, cpu: null, doubt: null, span: NaN, doc: series.unused[name] }));
  return rows.concat(unused.filter((r) => r.energy.some((v) => v !== 0)));
}

function sumOf(values, first, last) {
  let sum = 0;
  for (let w = first; w < last; w++) sum += values[w] || 0;
  return sum;
}

/* The whole of some windows: its energy, mean power, and the time that makes one of the other. */
function wholeOf(series, first, last) {
  const energy = sumOf(series.total.energy, first, last);
  let watts = 0, longest = 0;
  for (const d of series.partition) {
    const known = sumOf(d.known, first, last) * 1000;
    if (known > 0) watts += sumOf(d.energy, first, last) / known;
    longest = Math.max(longest, known);
  }
  return { energy, watts: longest > 0 ? watts : NaN, known: watts > 0 ? energy / watts : longest };
}

/* J, mean and peak W, CPU s and share of a row in the windows first to before last. */
function measure(row, series, first, last, whole) {
  const total = series.total, known = whole.known;
  const energy = sumOf(row.energy, first, last);
  let peak = NaN;
  for (let w = first; w < last; w++)
    if (total.known[w] > 0) peak = Math.max(Number.isNaN(peak) ? -Infinity : peak, row.energy[w] / total.known[w]);
  const isWhole = first === 0 && last === series.n;
  /* of a part of the time: at most so much, as if the windows of it were all off the same way */
  let doubt = isWhole || !row.doubt ? row.span : 0;
  for (let w = first; w < last && !isWhole && row.doubt; w++) doubt += row.doubt[w] / 1e9;
  return { doubt, joules: energy / 1e9, nj: energy, watts: isWhole && row.doc ? row.doc.power_w : known > 0 ? energy / known : NaN, peak,
    cpu: row.cpu ? sumOf(row.cpu, first, last) : NaN, share: whole.energy > 0 ? energy / whole.energy : NaN };
}

/* Windows that lie at least half in a range of seconds: [first, last). */
function windowsIn(series, from, to) {
  let first = 0, last = series.n;
  while (first < series.n && (series.t[first] + series.t[first + 1]) / 2 < from) first++;
  while (last > first && (series.t[last - 1] + series.t[last]) / 2 > to) last--;
  if (last === first && series.n) {
    first = Math.min(first, series.n - 1);
    last = first + 1;
  }
  return [first, last];
}

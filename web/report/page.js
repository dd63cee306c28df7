/* SPDX-License-Identifier: Apache-2.0 */
/* The page: what it shows first, and what happens when somebody looks closer. */

const LAYERS = 8;
const ROWS = 100;
const GROUPS = [['process', 'process'], ['name', 'name'], ['container', 'container'], ['pod', 'pod'], ['unit', 'unit'], ['user', 'user']];

function tile(value, unit, what, exact) {
  return el('div', { class: 'tile', title: exact }, el('b', {}, value, unit ? el('small', {}, unit) : null), el('span', {}, what));
}

/* ---- sums: what is shown adds up ---- */

const ATTRIBUTED = 0, IDLE = 1, UNATTRIBUTED = 2;
const PERCENT = { unit: '%', factor: 1, digits: 4, decimals: 1 };

/* What became of a whole, with the decimals that the whole can stand. */
function sumOver(whole, idle, rest, unit, digits) {
  const exact = isNumber(whole) ? [whole - idle - rest, idle, rest] : [NaN, NaN, NaN];
  return { exact, whole: isNumber(whole) ? whole : NaN, ...tally(exact, scaleFor(whole, unit, digits)) };
}

/* Of the whole recording: in its units energy and power are shown on all of the page. */
function sumsOfPage(report, unused) {
  const total = report.total, digits = digitsOf(total.uncertainty_ratio);
  const power = (name) => (unused[name] ? unused[name].power_w : 0) || 0;
  return {
    energy: sumOver(total.energy_j, total.idle_j, total.unattributed_j, unitOf(total.energy_j, 'J'), digits),
    power: sumOver(total.power_w, power('idle'), power('unattributed'), unitOf(total.power_w, 'W'), digits),
  };
}

/* Parts of the whole, or of one of its parts. */
function within(sum, parts, part) {
  const known = parts.map((v) => (isNumber(v) ? v : NaN));
  return part === undefined ? tallyWithin(known, sum.scale, sum.whole, sum.total) : tallyWithin(known, sum.scale, sum.exact[part], sum.steps[part]);
}

/* What a quantity of the page is called in a heading: "kJ". */
function unitsOf(page) {
  return { energy: page.sums.energy.scale.unit, power: page.sums.power.scale.unit };
}

function showHead(page) {
  const r = page.report.recording;
  const start = r.start_realtime_s ? new Date(r.start_realtime_s * 1000) : null;
  const machine = [r.host, r.cpu, r.n_cpus ? r.n_cpus + ' CPUs' : null, r.memory_bytes ? Math.round(r.memory_bytes / 2 ** 30) + ' GiB' : null,
    r.kernel ? 'Linux ' + r.kernel : null].filter(Boolean).map(clean).join(' \u00b7 ');
  const title = r.command ? clean(r.command) : 'The whole machine';
  document.title = title + ' \u2013 Wattribute';
  byId('title').textContent = title;
  byId('title').title = title;
  byId('subtitle').replaceChildren(machine, machine ? el('br') : '',
    [start ? start.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' }) : 'at an unknown time', clean(r.file)].join(' \u00b7 '));
}

function originTag(total) {
  if (!total.origin) return null;
  const accuracy = total.uncertainty_ratio ? ' \u00b1' + (total.uncertainty_ratio * 100).toPrecision(2).replace(/\.0$/, '') + '\u202f%' : '';
  return el('span', { class: total.origin === 'measured' ? 'tag good' : 'tag warn' }, total.origin + accuracy);
}

function showHeadline(page) {
  const total = page.report.total, whole = total.energy_nj;
  const { energy, power } = page.sums;
  const parts = [['attributed', total.attributed_nj, 'c0', ATTRIBUTED], ['idle', total.idle_nj, 'idle', IDLE], ['unattributed', total.unattributed_nj, 'rest', UNATTRIBUTED]];
  const shares = tallyWithin(energy.exact.map((v) => v / energy.whole * 100), PERCENT, 100, 1000);
  const quantity = (steps, sum, value, what, exact) => tile(stepsText(steps, sum.scale, value), isNumber(value) ? '\u202f' + sum.scale.unit : '', what, exact);
  /* What is not known is not 0. */
  if (!total.is_baseline_ready && !total.idle_nj) parts.splice(1, 1);
  const host = byId('headline');
  /* The best measured total first, of which the sensors inside tell a part apart. */
  const outside = total.outside ? total.outside_power_w : NaN, outsideJ = outside * total.energy_j / total.power_w;
  const named = total.outside ? 'told apart' : 'energy of the machine';
  host.append(el('div', { class: 'tiles' },
    isNumber(outside) ? quantity(toSteps(outsideJ, energy.scale), energy, outsideJ, 'energy of the machine, measured (' + clean(total.outside) + ')') : null,
    isNumber(outside) ? quantity(toSteps(outside, power.scale), power, outside, 'mean power of it') : null,
    quantity(isNumber(total.energy_j) ? energy.total : NaN, energy, total.energy_j, named, nj(total.energy_nj)),
    quantity(isNumber(total.power_w) ? power.total : NaN, power, total.power_w, total.outside ? 'mean power told apart' : 'mean power', isNumber(total.power_w) ? total.power_w + ' W' : null),
    isNumber(total.command_j) ? quantity(toSteps(total.command_j, energy.scale), energy, total.command_j, 'of it, the command', nj(total.command_nj) + ' by the command and all its descendants') : null,
    tile(duration(page.report.recording.duration_s), '', 'measured'),
    tile(String(page.report.entities.filter((e) => isUser(e.kind)).reduce((s, e) => s + e.count, 0)), '', 'processes seen')));
  if (!(whole > 0)) return;
  host.append(el('div', { class: 'split', 'aria-hidden': true }, parts.map(([, v, c]) => el('i', { color: 'var(--' + c + ')', width: Math.max(0, v / whole * 100) + '%' }))));
  host.append(el('div', { class: 'legend' }, parts.map(([name, v, c, i]) => el('span', { title: nj(v) }, el('span', { class: 'dot', color: 'var(--' + c + ')' }), name + ' ', el('b', {}, energy.text(i) + '\u202f' + energy.scale.unit), ' ' + shares.text(i) + '\u202f%')),
    el('span', {}, originTag(total))));
}

function showNotices(page) {
  const r = page.report, list = [];
  const say = (text, bad) => list.push(el('p', { class: bad ? 'notice bad' : 'notice' }, text));
  if (!r.recording.windows) say('This recording ended before anything was attributed: there is nothing to show.');
  else if (!r.domains.length) say('No sensor is in this recording.');
  else if (r.total.energy_nj === null) say('No energy is known: no sensor gave two values.');
  if (r.conservation.failures + r.conservation.window_failures) say('Conservation checks failed. The numbers below are wrong somewhere: this is a bug.', true);
  if (r.total.origin === 'estimated') say('No sensor measures this machine: its power was estimated from the activity of its CPUs. Compare with it; do not bill by it.');
  if (r.total.origin === 'simulated') say('These are values of a simulation, not of a machine.');
  if (!r.recording.is_complete) say('The recording was not finished: up to its last second is missing.');
  if (r.losses.lost_s > 0) say('Of ' + duration(r.losses.lost_s) + ' nothing is in the recording; the charts are hatched there.');
  const gaps = page.series.gaps;
  if (gaps.length) say((gaps.every((g) => g.is_all) ? 'No sensor told anything for ' : 'Not all sensors told something for ') + duration(gaps.reduce((s, g) => s + g.end_s - g.start_s, 0)) + ': the charts are hatched there, and what is known of it is less than there was.');
  byId('notices').replaceChildren(...list);
}

function showDomains(page) {
  const docs = page.report.domains, ordered = [];
  const visit = (parent) => docs.filter((d) => d.parent === parent).forEach((d) => { ordered.push(d); visit(d.path); });
  visit(null);
  fillTable(byId('domains-table'), domainColumns(page, docs), ordered, 'There is no domain: nothing measured this machine.');
}

function showGpus(page) {
  const docs = page.report.domains, shown = roundDomains(page, docs), columns = gpuColumns(page), { energy, power } = page.sums;
  const gpus = docs.filter((d) => isGpu(d, docs) && d.energy_nj > 0)
    .flatMap((gpu) => [gpu, ...docs.filter((d) => d.kind === 'gpu_instance' && d.parent === gpu.path && d.energy_nj > 0)]);
  if (!gpus.length) return;
  byId('gpus').hidden = false;
  byId('gpus-table').replaceChildren(headOf(columns), ...gpus.flatMap((d) => {
    const whole = shown.get(d.path);
    const words = clean(d.path) + ': ' + stepsText(whole.energy, energy.scale, d.energy_j) + '\u202f' + energy.scale.unit + ', ' +
      stepsText(whole.watts, power.scale, d.power_w) + '\u202f' + power.scale.unit + ' on average';
    return [el('tbody', { class: 'group' }, el('tr', {}, el('th', { colspan: columns.length, scope: 'rowgroup', title: nj(d.energy_nj) }, words))),
      el('tbody', { 'data-gpu': clean(d.path) }, gpuRows(page, d, whole.energy).map((row) => rowOf(columns, row)))];
  }));
}

function showPhases(page) {
  if (!page.phases.length) return;
  byId('phases').hidden = false;
  fillTable(byId('phases-table'), phaseColumns(page), page.phases, '');
}

function showQuality(page) {
  const r = page.report, q = r.quality, c = r.conservation;
  const failures = c.failures + c.window_failures;
  const sum = (key) => r.domains.reduce((s, d) => s + d[key], 0);
  const entry = (name, text) => [el('dt', {}, name), el('dd', {}, text)];
  const some = (n, text) => (n ? text : null);
  const losses = [some(q.lost_records, q.lost_records + ' records of tasks'), some(q.lost_samples, q.lost_samples + ' readings'), some(r.losses.samples, r.losses.samples + ' readings on the way to the file'), some(r.losses.marks, r.losses.marks + ' marks'),
    some(q.unseen_cpu_s, duration(q.unseen_cpu_s) + ' of CPU time of processes that nobody saw: unattributed'), some(q.late_cpu_s, duration(q.late_cpu_s) + ' of CPU time too late')].filter(Boolean);
  const sensors = [some(sum('errors'), sum('errors') + ' readings without a value'), some(q.missed_reads, q.missed_reads + ' readings skipped'), some(sum('gaps'), sum('gaps') + ' gaps, ' + duration(sum('gap_s')) + ' in all'), some(sum('resets'), sum('resets') + ' resets of counters')].filter(Boolean);
  const ages = r.domains.filter((d) => isNumber(d.found_delay_s)).map((d) => 'what ' + clean(d.path) + ' told was ' + duration(d.found_delay_s) + ' \u00b1 ' + duration(d.found_delay_uncertainty_s) + ' old');
  const doubts = r.domains.flatMap((d) => [some(d.clamped_s, clean(d.path) + ' was cut at 0 for ' + duration(d.clamped_s)), some(d.transient_s, clean(d.path) + ' is in doubt at each instant of ' + duration(d.transient_s))]).filter(Boolean);
  byId('quality-list').replaceChildren(...[
    entry('Conservation', failures ? el('span', { class: 'tag bad' }, failures + ' checks failed') : (c.checks + c.window_checks) + ' checks, all exact to the nanojoule'),
    entry('CPU time', q.coverage_ratio ? percent(q.coverage_ratio, 2) + ' of it is accounted for, by ' + clean(r.recording.usage || 'an unknown source') : 'how much of it is accounted for is not known'),
    entry('Shared by', ((r.total.share_key || '').split(', ').filter((k) => k && k !== 'none').join(', ') || 'nothing') + (!r.total.is_baseline_ready ? '; idle power did not become known' : r.total.baseline_from === 'extrapolated' ? '; idle power is extrapolated, as the machine was never seen idle' : '')),
    entry('Lost', losses.length ? losses.join(', ') : 'nothing'),
    entry('Sensors', sensors.length ? sensors.join(', ') : 'each reading in time and with a value'),
    ages.length ? entry('Age', ages.join(', ') + ', as was found and is allowed for') : [],
    doubts.length ? entry('Rest', doubts.join(', ') + ', in which its parts changed faster than the total shows') : [],
    entry('Windows', r.recording.windows + ' of ' + duration(r.recording.window_s) + (r.recording.is_aligned && !page.series.gaps.length && !page.losses.length ? ', complete in each domain' : '')),
    q.folded_entities ? entry('Put together', q.folded_entities + ' entities that used the least are \u201call others\u201d') : [],
  ].flat());
  if (!page.losses.length) return;
  byId('losses').append(el('h3', {}, 'Gaps'), el('div', { class: 'scroll' }, el('table', { id: 'losses-table' })));
  fillTable(byId('losses-table'), [
    { title: 'from', number: true, cell: (l) => clock(l.start_s, 0.001) }, { title: 'to', number: true, cell: (l) => clock(l.end_s, 0.001) },
    { title: 'samples', number: true, cell: (l) => String(l.samples) }, { title: 'records', number: true, cell: (l) => String(l.usage_records) },
    { title: 'Why', name: true, cell: (l) => clean(l.why || '') }], page.losses, '');
}

function showComparison(page, other) {
  const c = page.report.comparison;
  if (!c) return;
  const t = c.total, host = byId('comparison-tables');
  byId('comparison').hidden = false;
  const scales = comparisonScales(page, t);
  const words = [comparisonWords(c.command, 'The command', scales), comparisonWords(t, 'The machine', scales)].filter(Boolean);
  byId('comparison-text').replaceChildren(...words.map((w) => el('b', { class: 'block' }, w)),
    'Before: ' + clean(c.file) + '. Verdicts are on energy. Intervals of 95 % are from the runs of a phase where it was there several times, else from windows: runs of the same work may differ by more. Of 20 differences that are none, one is more or less by chance.');
  const table = el('table', { id: 'comparison-table' });
  host.append(el('div', { class: 'scroll' }, table));
  const add = (title, rows) => {
    if (!rows.length) return;
    const columns = comparisonColumns(rows, title, scales);
    if (!table.tHead) table.append(headOf(columns));
    else table.append(el('tbody', { class: 'group' }, el('tr', {}, el('th', { colspan: columns.length, scope: 'rowgroup' }, title))));
    table.append(el('tbody', { 'data-list': title }, rows.map((row) => rowOf(columns, row))));
  };
  add('Whole', [t, c.command].filter(Boolean));
  add('Domain', c.domains);
  add('Phase', c.phases);
  add('Name', c.entities.slice(0, 30));
  const total = page.series.total, before = sumDomains(other.t.length, other.domains);
  page.comparisonLines = [{ name: 'before', t: decodeTimes(other.t), watts: powers(before.energy, before.known), color: 'quiet', width: 1.5 },
    { name: 'now', t: page.series.t, watts: powers(total.energy, total.known), color: 'accent', width: 1.5 }];
}

function drawComparison(page) {
  if (!page.comparisonLines) return;
  const host = byId('comparison-chart');
  if (page.comparisonLines.every((l) => l.t.length < 2)) return;
  if (page.comparisonPlot) page.comparisonPlot.destroy();
  page.comparisonPlot = drawLines(host, page, page.comparisonLines);
  host.append(el('div', { class: 'legend' }, page.comparisonLines.map((l) => el('span', {}, el('span', { class: 'dot', color: palette[l.color] }), l.name))));
}

/* ---- who used it ---- */

function entityLayers(page) {
  const series = page.series, known = series.total.known;
  const users = page.rows.filter((r) => r.kind !== 'idle' && r.kind !== 'unattributed');
  const ranked = users.map((r) => ({ r, e: sumOf(r.energy, 0, series.n) })).sort((a, b) => b.e - a.e).filter((x) => x.e > 0);
  const layers = [];
  for (const r of page.rows) r.color = r.kind === 'idle' ? 'idle' : r.kind === 'unattributed' ? 'rest' : 'other';
  ranked.slice(0, LAYERS).forEach((x, i) => { x.r.color = 'c' + i; });
  const idle = page.rows.find((r) => r.kind === 'idle'), rest = page.rows.find((r) => r.kind === 'unattributed');
  const push = (name, energy, colour, doubt) => layers.push({ name, color: colour, watts: powers(energy, known), doubt: doubt ? powers(doubt, known) : null });
  if (idle) push('idle', idle.energy, 'idle');
  ranked.slice(0, LAYERS).forEach((x) => push(x.r.name, x.r.energy, x.r.color, x.r.doubt));
  if (ranked.length > LAYERS) {
    const others = emptyRow(series.n, '', '');
    ranked.slice(LAYERS).forEach((x) => { for (let w = 0; w < series.n; w++) others.energy[w] += x.r.energy[w]; });
    push(ranked.length - LAYERS + ' others', others.energy, 'other');
  }
  if (rest) push('unattributed', rest.energy, 'rest');
  return layers;
}

/* An instance is a part of its GPU, and has its watts of the same time. */
function domainLayers(page) {
  const { domains } = page.series, docs = domains.map((d) => d.doc);
  const knownOf = (d) => (d.doc.kind === 'gpu_instance' ? domains[docs.findIndex((doc) => doc.path === d.doc.parent)] : d).known;
  const watts = domains.map((d) => powers(d.energy.map((e) => e || 0), knownOf(d).map((k) => k * 1000)));
  return stackedDomains(docs, watts).filter((layer) => layer.watts.some((v) => v !== null))
    .map((layer, i) => ({ ...layer, name: clean(layer.name), color: i < 8 ? 'c' + i : 'other' }));
}

/*
 * What is shown of rows in a range: users add up to what is attributed in it, with idle and
 * unattributed to the whole of it.
 */
function roundRows(page, measured, whole) {
  const [first, last] = page.windows, isWhole = first === 0 && last === page.series.n;
  const sum = (values) => sumOf(values, first, last) / 1e9;
  const named = (kind) => measured.findIndex((m) => m.row.kind === kind);
  const watts = (kind) => (named(kind) < 0 ? 0 : measured[named(kind)].watts);
  const { energy, power } = page.sums;
  const range = isWhole ? page.sums : {
    energy: sumOver(whole.energy / 1e9, sum(page.series.total.idle), sum(page.series.total.rest), energy.scale, energy.scale.digits),
    power: sumOver(whole.watts, watts('idle'), watts('unattributed'), power.scale, power.scale.digits),
  };
  const users = (key) => measured.map((m) => (m.row.kind === 'idle' || m.row.kind === 'unattributed' ? NaN : m[key]));
  const shares = tallyWithin(measured.map((m) => m.share * 100), PERCENT, 100, 1000);
  const joules = within(range.energy, users('joules'), ATTRIBUTED), means = within(range.power, users('watts'), ATTRIBUTED);
  measured.forEach((m, i) => {
    const part = m.row.kind === 'idle' ? IDLE : m.row.kind === 'unattributed' ? UNATTRIBUTED : -1;
    m.steps = part < 0 ? joules.steps[i] : range.energy.steps[part];
    m.shown = { joules: part < 0 ? joules.text(i) : range.energy.text(part), watts: part < 0 ? means.text(i) : range.power.text(part),
      peak: valueText(m.peak, range.power.scale), doubt: isNumber(m.doubt) ? '\u00b1\u202f' + valueText(m.doubt, range.energy.scale) : '', cpu: fixed(m.cpu, 2), share: shares.text(i) };
  });
  return range;
}

function entityColumns(page) {
  const units = unitsOf(page), hasPid = page.group === 'process';
  const number = (key, title, wide, hint) => ({ key, title, number: true, wide, hint, value: (m) => m[key], cell: (m) => m.shown[key] });
  return [
    { key: 'name', title: 'Name', name: true, value: (m) => m.row.name, exact: (m) => m.row.name, cell: (m) => el('div', {}, el('span', { class: 'dot', color: palette[m.row.color] }), m.row.name) },
    ...(hasPid ? [{ key: 'pid', title: 'PID', number: true, wide: true, value: (m) => m.row.pid || NaN, cell: (m) => (m.row.pid ? String(m.row.pid) : '') }] : []),
    { ...number('joules', units.energy), exact: (m) => nj(m.nj) },
    ...(page.rows.some((r) => isNumber(r.span)) ? [number('doubt', '\u00b1 ' + units.energy, true,
      'Standard uncertainty, by what is known of who takes how much; of a part of the time at most so much. That of the sensor comes on top')] : []),
    { ...number('watts', 'mean ' + units.power), exact: (m) => (isNumber(m.watts) ? m.watts + ' W' : null) },
    number('peak', 'peak ' + units.power, true, 'The greatest mean of a window'),
    number('cpu', 'CPU s', true),
    { key: 'share', title: 'share', number: true, value: (m) => m.share, cell: (m) => shareCell(m.share, m.shown.share) },
  ];
}

function showEntities(page) {
  const [first, last] = page.windows;
  const text = page.search.toLowerCase();
  const sums = wholeOf(page.series, first, last);
  let measured = page.rows.map((row) => ({ row, ...measure(row, page.series, first, last, sums) }))
    .filter((m) => m.nj !== 0 || m.cpu > 0);
  const whole = measured.length, range = roundRows(page, measured, sums);
  if (text) measured = measured.filter((m) => m.row.name.toLowerCase().includes(text) || String(m.row.pid) === text || (m.row.container || '').toLowerCase().includes(text) || (m.row.unit || '').toLowerCase().includes(text));
  const columns = entityColumns(page);
  const column = columns.findIndex((c) => c.key === page.sort.key);
  const sorted = sortRows(measured, columns[Math.max(0, column)], page.sort.down);
  const shown = page.isLong ? sorted : sorted.slice(0, ROWS), others = sorted.slice(shown.length);
  const onSort = (i) => {
    const key = columns[i].key;
    page.sort = { key, down: page.sort.key === key ? !page.sort.down : key !== 'name' };
    showEntities(page);
    byId('entities-table').querySelectorAll('th')[i].querySelector('button').focus();
  };
  fillTable(byId('entities-table'), columns, shown, text ? 'No name has \u201c' + page.search + '\u201d in it.' : 'Nobody used anything here.', { column, down: page.sort.down }, onSort);
  byId('entities-note').textContent = (text ? measured.length + ' of ' : '') + whole + (whole === 1 ? ' row' : ' rows') + ', ' + page.rangeText;
  byId('more').hidden = sorted.length <= ROWS;
  byId('more').textContent = page.isLong ? 'Show the first ' + ROWS : 'Show all ' + sorted.length + ': the other ' + others.length + ' have ' +
    stepsText(sumKnown(others.map((m) => m.steps)), range.energy.scale) + '\u202f' + range.energy.scale.unit + ' together';
}

function setGroup(page, group) {
  page.group = group;
  page.rows = groupRows(page.series, group);
  const layers = entityLayers(page);
  if (page.which !== 'domain') drawStack(page.charts.entity, page, layers);
  showEntities(page);
}

/* ---- the range ---- */

function updateRange(page) {
  const series = page.series, end = series.t[series.n] || 0;
  const [from, to] = page.range || [0, end];
  const isWhole = from <= 1e-9 && to >= end - 1e-9;
  page.windows = isWhole ? [0, series.n] : windowsIn(series, from, to);
  const [first, last] = page.windows, a = series.t[first], b = series.t[last] || 0;
  const { energy, watts } = wholeOf(series, first, last), sums = page.sums;
  const told = (value, sum) => quantityText(value, isWhole ? sum.scale : scaleFor(value, sum.scale, sum.scale.digits));
  page.rangeText = (isWhole ? 'all of ' : clock(a, 0.1) + ' to ' + clock(b, 0.1) + ', ') + duration(b - a);
  byId('range').replaceChildren(page.rangeText + ': ', el('b', { title: energy + ' nJ' }, isNumber(watts) ? told(energy / 1e9, sums.energy) : 'no energy is known'), isNumber(watts) ? ', ' + told(watts, sums.power) + ' on average' : '');
  showEntities(page);
}

function setRange(page, from, to, source) {
  const end = page.series.t[page.series.n];
  if (page.isSetting || !isNumber(from) || !isNumber(to)) return;
  page.isSetting = true;
  page.range = [Math.max(0, from), Math.min(end, to)];
  for (const chart of Object.values(page.charts))
    if (chart !== source && chart.plot) chart.plot.setScale('x', { min: page.range[0], max: page.range[1] });
  page.isSetting = false;
  if (page.frame) return;
  page.frame = requestAnimationFrame(() => { page.frame = 0; updateRange(page); });
}

function move(page, how) {
  const end = page.series.t[page.series.n] || 0, [from, to] = page.range || [0, end], width = to - from;
  const least = Math.min(end, 2 * (page.report.recording.window_s || 0.001));
  const clamp = (a, w) => { const b = Math.max(0, Math.min(end - w, a)); page.zoomTo(b, b + w); };
  if (!page.series.n) return;
  if (how === 'reset') page.zoomTo(0, end);
  if (how === 'left') clamp(from - width / 2, width);
  if (how === 'right') clamp(from + width / 2, width);
  if (how === 'in') clamp(from + width / 4, Math.max(least, width / 2));
  if (how === 'out') clamp(from - width / 2, Math.min(end, width * 2));
}

/* ---- theme and size ---- */

function drawCharts(page) {
  readPalette();
  const show = (name) => page.which === 'both' || page.which === name;
  for (const name of ['entity', 'domain']) {
    byId('chart-' + name).hidden = !show(name);
    byId('legend-' + name).hidden = !show(name);
  }
  const layers = entityLayers(page);
  if (show('entity')) drawStack(page.charts.entity, page, layers);
  if (show('domain')) drawStack(page.charts.domain, page, domainLayers(page));
  for (const chart of Object.values(page.charts)) if (chart.lines) drawContext(chart, page);
  drawComparison(page);
}

function setTheme(page, theme) {
  document.documentElement.dataset.theme = theme;
  byId('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
  drawCharts(page);
  showEntities(page);
}

function press(group, name, value) {
  for (const b of group.querySelectorAll('button')) b.setAttribute('aria-pressed', String(b.dataset[name] === value));
}

function listenAll(page) {
  byId('theme').addEventListener('click', () => setTheme(page, document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
  byId('search').addEventListener('input', (e) => { page.search = e.target.value.trim(); showEntities(page); });
  byId('group').addEventListener('change', (e) => setGroup(page, e.target.value));
  byId('more').addEventListener('click', () => { page.isLong = !page.isLong; showEntities(page); });
  byId('which').addEventListener('click', (e) => {
    if (!e.target.dataset.which) return;
    page.which = e.target.dataset.which;
    press(byId('which'), 'which', page.which);
    drawCharts(page);
  });
  byId('zoom').addEventListener('click', (e) => move(page, e.target.dataset.zoom));
  const keys = { ArrowLeft: 'left', ArrowRight: 'right', '+': 'in', '=': 'in', '-': 'out', 0: 'reset', Escape: 'reset' };
  for (const { id } of Object.values(page.charts))
    byId(id).addEventListener('keydown', (e) => {
      if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
      e.preventDefault();
      move(page, keys[e.key]);
    });
  let width = innerWidth, pause = 0;
  addEventListener('resize', () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(pause);
    pause = setTimeout(() => drawCharts(page), 80);
  });
  let before = null;
  addEventListener('beforeprint', () => { before = document.documentElement.dataset.theme; setTheme(page, 'light'); });
  addEventListener('afterprint', () => setTheme(page, before || 'light'));
}

function fillGroups(page) {
  const kinds = new Set(page.series.entities.map((e) => e.kind));
  for (const [value, title] of GROUPS)
    if (value === 'process' || value === 'name' || kinds.has(value)) byId('group').append(el('option', { value }, title));
}

function start() {
  const raw = JSON.parse(byId('data').textContent);
  const page = { report: raw.report, series: decode(raw), phases: raw.report.phases, losses: raw.report.losses.list, range: null, windows: [0, 0],
    sort: { key: 'joules', down: true }, search: '', group: 'process', which: 'both', isLong: false, rows: [], rangeText: '',
    charts: { entity: { id: 'chart-entity', legend: 'legend-entity', layers: [] }, domain: { id: 'chart-domain', legend: 'legend-domain', layers: [] } } };
  page.sums = sumsOfPage(raw.report, page.series.unused);
  page.setRange = (from, to, source) => setRange(page, from, to, source);
  page.zoomTo = (from, to) => setRange(page, from, to, null);
  document.documentElement.dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  byId('theme').textContent = document.documentElement.dataset.theme === 'dark' ? 'Light' : 'Dark';
  byId('chart-entity').setAttribute('aria-label', 'Power over time of each user; the table below has the numbers');
  byId('chart-domain').setAttribute('aria-label', 'Power over time of each domain; the table of domains has the numbers');
  byId('colophon').textContent = 'Made by wattribute ' + raw.report.version + ' from ' + clean(raw.report.recording.file) + '. Nothing on this page is loaded from anywhere.';
  showHead(page);
  showNotices(page);
  showHeadline(page);
  showComparison(page, raw.other);
  page.rows = groupRows(page.series, page.group);
  fillGroups(page);
  showContext(page);
  drawCharts(page);
  requestAnimationFrame(() => performance.mark('drawn'));
  showPhases(page);
  showGpus(page);
  showDomains(page);
  showQuality(page);
  updateRange(page);
  listenAll(page);
  document.documentElement.dataset.ready = 'yes';
}

start();

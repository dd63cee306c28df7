/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: those that sort, and the plain ones. */

/* columns: { title, number, wide, value(row), cell(row), hint } */
function headOf(columns, sort, onSort) {
  return el('thead', {}, el('tr', {}, columns.map((c, i) => {
    const classes = [c.number ? 'n' : '', c.wide ? 'wide' : ''].join(' ').trim() || null;
    const order = sort && sort.column === i ? (sort.down ? 'descending' : 'ascending') : null;
    return el('th', { class: classes, scope: 'col', 'aria-sort': order, title: c.hint },
      onSort && c.value ? el('button', { type: 'button', onclick: () => onSort(i) }, c.title) : c.title);
  })));
}

function rowOf(columns, row) {
  return el('tr', {}, columns.map((c) => {
    const exact = c.exact ? c.exact(row) : null;
    const classes = [c.number ? 'n' : '', c.wide ? 'wide' : '', c.name ? 'name' : ''].join(' ').trim() || null;
    return el('td', { class: classes, title: exact }, c.cell(row));
  }));
}

function fillTable(table, columns, rows, empty, sort, onSort) {
  const body = rows.length ? rows.map((row) => rowOf(columns, row)) :
    [el('tr', { class: 'empty-row' }, el('td', { colspan: columns.length }, empty))];
  table.replaceChildren(headOf(columns, sort, onSort), el('tbody', {}, body));
}

/* What is not known comes last, whichever the order. */
function sortRows(rows, column, down) {
  const known = (v) => (typeof v === 'number' ? Number.isFinite(v) : v !== null && v !== undefined && v !== '');
  return rows.slice().sort((a, b) => {
    const x = column.value(a), y = column.value(b);
    if (!known(x) || !known(y)) return known(y) - known(x);
    const order = typeof x === 'number' ? x - y : String(x).localeCompare(String(y));
    return down ? -order : order;
  });
}

function shareCell(ratio, text) {
  if (!isNumber(ratio)) return '\u2013';
  return [text + '\u202f%', el('span', { class: 'share wide' }, el('i', { width: Math.max(0, Math.min(1, ratio)) * 100 + '%' }))];
}

function nj(value) {
  return isNumber(value) ? value + ' nJ' : null;
}

/*
 * What is shown of domains, by their paths: those that make up the machine add up to what is said
 * of it, what lies in one to that, and each is the sum of its own parts.
 */
function roundDomains(page, docs) {
  const { energy, power } = page.sums, keys = ['dynamic_j', 'idle_j', 'unattributed_j'];
  const numbers = (key) => docs.map((d) => (isNumber(d[key]) ? d[key] : NaN));
  const ofPartition = (key) => numbers(key).map((v, i) => (docs[i].is_partition ? v : NaN));
  const parts = keys.map((key, part) => within(energy, ofPartition(key), part).steps);
  const wholes = tallyDomains(docs, numbers('energy_j'), docs.map((d, i) => parts.reduce((sum, steps) => sum + steps[i], 0)), energy.scale);
  const watts = tallyDomains(docs, numbers('power_w'), within(power, ofPartition('power_w')).steps, power.scale);
  return new Map(docs.map((d, i) => {
    const own = d.is_partition ? parts.map((steps) => steps[i]) : shareOut(keys.map((key) => numbers(key)[i]), energy.scale, wholes[i]).steps;
    return [d.path, { energy: wholes[i], dynamic: own[ATTRIBUTED], idle: own[IDLE], unattributed: own[UNATTRIBUTED], watts: watts[i] }];
  }));
}

/* "forbidden, less than its parts" */
function domainState(d) {
  const use = d.is_usable ? [] : [d.kind === 'residual' ? 'parts exceed it' : 'less than its parts'];
  return (d.status === 'ok' && use.length ? [] : [d.status]).concat(use).join(', ');
}

function domainColumns(page, docs) {
  const shown = roundDomains(page, docs), units = unitsOf(page), scales = { energy: page.sums.energy.scale, power: page.sums.power.scale };
  const depth = (d) => { let n = 0; for (let p = d.parent; p; p = (docs.find((o) => o.path === p) || {}).parent) n++; return n; };
  const energy = (title, key, hint, wide) => ({ title, number: true, hint, wide, cell: (d) => stepsText(shown.get(d.path)[key], scales.energy, d[key + '_j']), exact: (d) => nj(d[key + '_nj']) });
  const idle = energy('idle ' + units.energy, 'idle', 'What it takes when nothing runs; \u2013: that is not known', true);
  return [
    { title: 'Domain', name: true, cell: (d) => el('span', {}, '\u2003'.repeat(depth(d)) + clean(d.name), d.is_partition ? '' : [' ', el('span', { class: 'tag', title: 'Not added to the whole: another domain has it' }, 'inside')]) },
    energy(units.energy, 'energy'),
    { title: 'mean ' + units.power, number: true, cell: (d) => stepsText(shown.get(d.path).watts, scales.power, d.power_w) },
    { title: 'peak ' + units.power, number: true, wide: true, cell: (d) => valueText(d.peak_w, scales.power) },
    { ...idle, cell: (d) => (d.is_baseline_ready ? idle.cell(d) : '\u2013') },
    energy('dynamic ' + units.energy, 'dynamic', 'What was shared among those who ran', true),
    energy('unattributed ' + units.energy, 'unattributed', 'Measured, and no honest owner found', true),
    { title: 'Origin', wide: true, cell: (d) => el('span', { class: d.origin === 'measured' ? 'tag good' : 'tag warn' }, d.origin) },
    { title: 'At the end', cell: (d) => el('span', { class: d.status === 'ok' && d.is_usable ? 'tag' : 'tag bad' }, domainState(d)) },
  ];
}

/* A card, or the graphics in a CPU where processes are known by their time on it; not what lies in one. */
function isGpu(d, docs) {
  if (d.kind !== 'gpu' && !(d.kind === 'uncore' && d.share_key === 'gpu_time')) return false;
  for (let p = docs.find((o) => o.path === d.parent); p; p = docs.find((o) => o.path === p.parent)) if (p.kind === 'gpu') return false;
  return true;
}

/* Those who used the most of a domain, all others together, idle and nobody: as shown, they are the whole. */
const GPU_USERS = 8;

function gpuRows(page, d, whole) {
  const used = page.report.entities.filter((e) => isUser(e.kind) && e.domains_nj[d.path] > 0).sort((a, b) => b.domains_nj[d.path] - a.domains_nj[d.path]);
  const rows = used.slice(0, GPU_USERS).map((e) => ({ name: clean(e.name), pid: e.pid, nj: e.domains_nj[d.path] }));
  const rest = d.dynamic_nj - rows.reduce((sum, r) => sum + r.nj, 0), others = used.length - rows.length;
  if (rest > 0) rows.push({ name: others > 0 ? others + ' more' : 'others', nj: rest });
  if (d.idle_nj > 0) rows.push({ name: 'idle', nj: d.idle_nj });
  if (d.unattributed_nj > 0) rows.push({ name: 'unattributed', nj: d.unattributed_nj });
  const shown = shareOut(rows.map((r) => r.nj / 1e9), page.sums.energy.scale, whole);
  const parts = tallyWithin(rows.map((r) => r.nj / d.energy_nj * 100), PERCENT, 100, 1000);
  return rows.map((r, i) => ({ ...r, energy: shown.text(i), ratio: r.nj / d.energy_nj, percent: parts.text(i) }));
}

function gpuColumns(page) {
  return [
    { title: 'GPU', name: true, cell: (r) => el('div', {}, r.name) },
    { title: 'PID', number: true, wide: true, cell: (r) => (r.pid ? String(r.pid) : '') },
    { title: unitsOf(page).energy, number: true, cell: (r) => r.energy, exact: (r) => nj(r.nj) },
    { title: 'share', number: true, cell: (r) => shareCell(r.ratio, r.percent) },
  ];
}

/* All phases together are all that was recorded. */
function phaseColumns(page) {
  const { energy, power } = page.sums, units = unitsOf(page), phases = page.phases, total = page.report.total;
  const of = (key) => phases.map((p) => (p.windows && isNumber(p[key]) ? p[key] : NaN));
  const index = new Map(phases.map((p, i) => [p, i]));
  const column = (title, rounded, exact, more) => ({ title, number: true, cell: (p) => rounded.text(index.get(p)), exact, ...more });
  const command = tallyWithin(of('command_j'), energy.scale, total.command_j, toSteps(total.command_j, energy.scale));
  const shares = tallyWithin(of('energy_nj').map((v) => v / total.energy_nj * 100), PERCENT, 100, 1000);
  return [
    { title: 'Phase', name: true, cell: (p) => el('button', { type: 'button', class: 'link', onclick: () => page.zoomTo(p.start_s, p.end_s) }, p.label === null ? '(no phase)' : clean(p.label)) },
    { title: 'from', number: true, wide: true, cell: (p) => clock(p.start_s, 0.1) },
    { title: 'length', number: true, cell: (p) => (p.windows ? duration(p.duration_s) : 'too short') },
    column(units.energy, within(energy, of('energy_j')), (p) => nj(p.energy_nj)),
    { title: 'mean ' + units.power, number: true, cell: (p) => valueText(p.power_w, power.scale) },
    ...(isNumber(total.command_nj) ? [column('command ' + units.energy, command, (p) => nj(p.command_nj), { wide: true, hint: 'The command that was followed, with all its descendants' })] : []),
    column('idle ' + units.energy, within(energy, of('idle_j'), IDLE), (p) => nj(p.idle_nj), { wide: true }),
    { title: 'share', number: true, wide: true, cell: (p) => shareCell(total.energy_nj && p.windows ? p.energy_nj / total.energy_nj : NaN, shares.text(index.get(p))) },
  ];
}

/* Both recordings in the units of the page, with the decimals that the greater of them can stand. */
function comparisonScales(page, total) {
  const most = (key) => Math.max(0, ...['before', 'now'].map((w) => (total[w] && total[w][key]) || 0));
  const { energy, power } = page.sums;
  return { run_j: scaleFor(most('run_j'), energy.scale, energy.scale.digits), power_w: scaleFor(most('power_w'), power.scale, power.scale.digits),
    run_s: scaleFor(most('run_s'), { unit: 's', factor: 1 }, 4) };
}

/* Less than what is shown of it. */
function isAlike(row) {
  return Math.abs(row.energy_ratio) < 0.0005;
}

function comparisonVerdict(row) {
  if (!row.before || !row.now) return [row.now ? 'new' : 'gone', 'tag'];
  if (!isNumber(row.energy_j)) return ['not known', 'tag'];
  if (row.is_energy_significant === null && isAlike(row)) return ['no difference seen', 'tag'];
  if (row.is_energy_significant === null) return [row.energy_j ? (row.energy_j > 0 ? 'more' : 'less') + ', unsure' : 'the same', 'tag warn'];
  if (!row.is_energy_significant) return ['may be chance', 'tag'];
  return row.energy_j > 0 ? ['more', 'tag bad'] : ['less', 'tag good'];
}

/* Means of runs where a phase was there several times. */
function comparisonColumns(rows, title, scales) {
  const energy = scales.run_j.unit, power = scales.power_w.unit;
  const side = (which, key, interval) => (r) => (r[which] ? [valueText(r[which][key], scales[key]),
    interval && isNumber(r[which][interval]) ? el('span', { class: 'wide' }, '\u202f\u00b1\u202f' + valueText(r[which][interval], scales[key])) : ''] : '\u2013');
  const runs = (r) => ((r.before && r.before.runs > 1) || (r.now && r.now.runs > 1) ? ' (mean of ' + (r.before ? r.before.runs : 0) + ' and ' + (r.now ? r.now.runs : 0) + ')' : '');
  const both = (r, ratio) => (r.before && r.now ? signed(ratio) : '\u2013');
  return [
    { title, name: true, cell: (r) => clean(r.name) + runs(r) },
    { title: energy + ' before', number: true, wide: true, cell: side('before', 'run_j', 'run_ci95_j'), exact: (r) => nj(r.before && r.before.energy_nj) },
    { title: energy + ' now', number: true, wide: true, cell: side('now', 'run_j', 'run_ci95_j'), exact: (r) => nj(r.now && r.now.energy_nj) },
    { title: 'energy', number: true, cell: (r) => both(r, r.energy_ratio) + (r.before && r.now && isNumber(r.energy_ci95_ratio) ? ' \u00b1\u202f' + plain(r.energy_ci95_ratio) : '') },
    { title: '', cell: (r) => { const [text, style] = comparisonVerdict(r); return el('span', { class: style }, text); } },
    { title: 's before', number: true, wide: true, cell: side('before', 'run_s') },
    { title: 's now', number: true, wide: true, cell: side('now', 'run_s') },
    { title: power + ' before', number: true, wide: true, cell: side('before', 'power_w') },
    { title: power + ' now', number: true, wide: true, cell: side('now', 'power_w') },
    { title: 'power', number: true, wide: true, cell: (r) => both(r, r.difference_ratio) },
  ];
}

/* "used 533 J instead of 1.30 kJ: 59 % less energy, in ... instead of ..., at ..." */
function comparisonWords(row, who, scales) {
  if (!row || !row.before || !row.now) return null;
  if (!isNumber(row.energy_ratio)) return who + ': its energy is not known of both.';
  const pair = (key) => quantityText(row.now[key], scales[key]) + ' instead of ' + quantityText(row.before[key], scales[key]);
  const change = isAlike(row) ? 'as much energy' : plain(Math.abs(row.energy_ratio)) + (row.energy_ratio > 0 ? ' more' : ' less') + ' energy';
  const sure = { runs: ['no more than runs differ by chance', 'more than runs differ by chance'],
    windows: ['no more than these recordings vary within: may be chance', 'more than these recordings vary within'] }[row.energy_basis];
  return who + ' used ' + pair('run_j') + ': ' + change + ', in ' +
    duration(row.now.run_s) + ' instead of ' + duration(row.before.run_s) + ', at ' + pair('power_w') + ' on average \u2013 ' +
    (sure ? sure[Number(row.is_energy_significant)] : 'too little data to say how sure that is') + '.';
}

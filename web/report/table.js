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

function shareCell(ratio) {
  if (!isNumber(ratio)) return '\u2013';
  return [percent(ratio), el('span', { class: 'share wide' }, el('i', { width: Math.max(0, Math.min(1, ratio)) * 100 + '%' }))];
}

function nj(value) {
  return isNumber(value) ? value + ' nJ' : null;
}

function domainColumns(docs) {
  const most = Math.max(0, ...docs.map((d) => d.energy_j || 0)), mostW = Math.max(0, ...docs.map((d) => d.peak_w || 0));
  const decimals = decimalsFor(most), decimalsW = decimalsFor(mostW);
  const depth = (d) => { let n = 0; for (let p = d.parent; p; p = (docs.find((o) => o.path === p) || {}).parent) n++; return n; };
  const energy = (title, key, hint, wide) => ({ title, number: true, hint, wide, cell: (d) => fixed(d[key + '_j'], decimals), exact: (d) => nj(d[key + '_nj']) });
  const watts = (title, key, wide) => ({ title, number: true, wide, cell: (d) => fixed(d[key], decimalsW) });
  return [
    { title: 'Domain', name: true, cell: (d) => el('span', {}, '\u2003'.repeat(depth(d)) + clean(d.name), d.is_partition ? '' : [' ', el('span', { class: 'tag', title: 'Not added to the whole: another domain has it' }, 'inside')]) },
    energy('J', 'energy'),
    watts('mean W', 'power_w'), watts('peak W', 'peak_w', true),
    { title: 'idle J', number: true, wide: true, cell: (d) => (d.is_baseline_ready ? fixed(d.idle_j, decimals) : '\u2013'), exact: (d) => nj(d.idle_nj), hint: 'What it takes when nothing runs; \u2013: that is not known' },
    energy('dynamic J', 'dynamic', 'What was shared among those who ran', true),
    energy('unattributed J', 'unattributed', 'Measured, and no honest owner found', true),
    { title: 'Origin', cell: (d) => el('span', { class: d.origin === 'measured' ? 'tag good' : 'tag warn' }, d.origin) },
    { title: 'At the end', cell: (d) => el('span', { class: d.status === 'ok' ? 'tag' : 'tag bad' }, d.status) },
  ];
}

function phaseColumns(page) {
  const most = decimalsFor(Math.max(0, ...page.phases.map((p) => p.energy_j || 0)));
  const mostW = decimalsFor(Math.max(0, ...page.phases.map((p) => p.power_w || 0)));
  return [
    { title: 'Phase', name: true, cell: (p) => el('button', { type: 'button', class: 'link', onclick: () => page.zoomTo(p.start_s, p.end_s) }, p.label === null ? '(no phase)' : clean(p.label)) },
    { title: 'from', number: true, wide: true, cell: (p) => clock(p.start_s, 0.1) },
    { title: 'length', number: true, cell: (p) => (p.windows ? duration(p.duration_s) : 'too short') },
    { title: 'J', number: true, cell: (p) => fixed(p.windows ? p.energy_j : null, most), exact: (p) => nj(p.energy_nj) },
    { title: 'mean W', number: true, cell: (p) => fixed(p.power_w, mostW) },
    ...(isNumber(page.report.total.command_nj) ? [{ title: 'command J', number: true, wide: true, hint: 'The command that was followed, with all its descendants', cell: (p) => fixed(p.windows ? p.command_j : null, most), exact: (p) => nj(p.command_nj) }] : []),
    { title: 'idle J', number: true, wide: true, cell: (p) => fixed(p.windows ? p.idle_j : null, most), exact: (p) => nj(p.idle_nj) },
    { title: 'share', number: true, wide: true, cell: (p) => shareCell(page.report.total.energy_nj && p.windows ? p.energy_nj / page.report.total.energy_nj : NaN) },
  ];
}

function comparisonVerdict(row) {
  if (!row.before || !row.now) return [row.now ? 'new' : 'gone', 'tag'];
  if (!isNumber(row.energy_j)) return ['not known', 'tag'];
  if (row.is_energy_significant === null) return [row.energy_j ? (row.energy_j > 0 ? 'more' : 'less') + ', unsure' : 'the same', 'tag warn'];
  if (!row.is_energy_significant) return ['may be chance', 'tag'];
  return row.energy_j > 0 ? ['more', 'tag bad'] : ['less', 'tag good'];
}

/* Means of runs where a phase was there several times. */
function comparisonColumns(rows, title) {
  const most = (key) => decimalsFor(Math.max(0, ...rows.flatMap((r) => ['before', 'now'].map((w) => (r[w] && r[w][key]) || 0))));
  const decimals = { run_j: most('run_j'), run_s: most('run_s'), power_w: most('power_w') };
  const side = (which, key, interval) => (r) => (r[which] ? [fixed(r[which][key], decimals[key]),
    interval && isNumber(r[which][interval]) ? el('span', { class: 'wide' }, '\u202f\u00b1\u202f' + fixed(r[which][interval], decimals[key])) : ''] : '\u2013');
  const runs = (r) => ((r.before && r.before.runs > 1) || (r.now && r.now.runs > 1) ? ' (mean of ' + (r.before ? r.before.runs : 0) + ' and ' + (r.now ? r.now.runs : 0) + ')' : '');
  const both = (r, ratio) => (r.before && r.now ? signed(ratio) : '\u2013');
  return [
    { title, name: true, cell: (r) => clean(r.name) + runs(r) },
    { title: 'J before', number: true, wide: true, cell: side('before', 'run_j', 'run_ci95_j'), exact: (r) => nj(r.before && r.before.energy_nj) },
    { title: 'J now', number: true, wide: true, cell: side('now', 'run_j', 'run_ci95_j'), exact: (r) => nj(r.now && r.now.energy_nj) },
    { title: 'energy', number: true, cell: (r) => both(r, r.energy_ratio) + (r.before && r.now && isNumber(r.energy_ci95_ratio) ? ' \u00b1\u202f' + plain(r.energy_ci95_ratio) : '') },
    { title: '', cell: (r) => { const [text, style] = comparisonVerdict(r); return el('span', { class: style }, text); } },
    { title: 's before', number: true, wide: true, cell: side('before', 'run_s') },
    { title: 's now', number: true, wide: true, cell: side('now', 'run_s') },
    { title: 'W before', number: true, wide: true, cell: side('before', 'power_w') },
    { title: 'W now', number: true, wide: true, cell: side('now', 'power_w') },
    { title: 'power', number: true, wide: true, cell: (r) => both(r, r.difference_ratio) },
  ];
}

/* "used 533 J instead of 1.30 kJ: 59 % less energy, in ... instead of ..., at ..." */
function comparisonWords(row, who) {
  if (!row || !row.before || !row.now) return null;
  if (!isNumber(row.energy_ratio)) return who + ': its energy is not known of both.';
  const pair = (key, unit) => withPrefix(row.now[key], unit) + ' instead of ' + withPrefix(row.before[key], unit);
  const sure = { runs: ['no more than runs differ by chance', 'more than runs differ by chance'],
    windows: ['no more than these recordings vary within: may be chance', 'more than these recordings vary within'] }[row.energy_basis];
  return who + ' used ' + pair('run_j', 'J') + ': ' + plain(Math.abs(row.energy_ratio)) + (row.energy_ratio > 0 ? ' more' : ' less') + ' energy, in ' +
    duration(row.now.run_s) + ' instead of ' + duration(row.before.run_s) + ', at ' + pair('power_w', 'W') + ' on average \u2013 ' +
    (sure ? sure[Number(row.is_energy_significant)] : 'too little data to say how sure that is') + '.';
}

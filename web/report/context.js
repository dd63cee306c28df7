/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine was like: a chart for each quantity, of lines, because nothing of it adds up. */

const COLORS = 8;
/* What belongs on one chart, in the order in which it is shown. */
const PANELS = [
  { key: 'cpus', title: 'CPUs, how busy', has: (c) => isCpu(c) },
  { key: 'load', title: 'Loads', has: (c) => c.quantity === 'ratio' && !isCpu(c) },
  { key: 'temperature', title: 'Temperatures', has: (c) => c.quantity === 'temperature' },
  { key: 'frequency', title: 'Clocks', has: (c) => c.quantity === 'frequency' },
  { key: 'memory', title: 'Memory', has: (c) => c.quantity === 'memory' },
  { key: 'speed', title: 'Fans', has: (c) => c.quantity === 'speed' },
  { key: 'limit', title: 'Limits of power', has: (c) => c.quantity === 'limit' },
];

function isCpu(channel) {
  return channel.quantity === 'ratio' && /^[^/]+\/cpu\d+\/busy$/.test(channel.name);
}

/* "cpu-thermal" of "context/cpu-thermal/temperature", "cpu3" of "context/cpu3/busy"; else all of it. */
function shortName(channel) {
  return channel.name.split('/').slice(1).join(' ').replace(/ (temperature|clock|busy)$/, '') || channel.name;
}

function contextText(value, unit) {
  if (!isNumber(value)) return '\u2013';
  if (unit === '1') return percent(value);
  if (unit === 'C') return fixed(value, 1) + '\u202f\u00b0C';
  if (unit === 'rpm') return fixed(value, 0) + '\u202frpm';
  if (unit !== 'B') return withPrefix(value, unit);
  const power = Math.min(4, Math.max(0, Math.floor(Math.log2(Math.abs(value) || 1) / 10)));
  return (value / 2 ** (10 * power)).toPrecision(3) + '\u202f' + ['B', 'KiB', 'MiB', 'GiB', 'TiB'][power];
}

function contextLines(channels) {
  return channels.map((c, i) => ({ name: shortName(c), unit: c.unit, values: c.values, color: i < COLORS ? 'c' + i : 'other' }));
}

function meanOf(lines, w) {
  const known = lines.map((l) => l.values[w]).filter(isNumber);
  return known.length ? known.reduce((s, v) => s + v, 0) / known.length : NaN;
}

/* Many lines of 0 to 100 % hide each other: a row for each instead, the fuller the busier. */
function drawRows(u, chart, t) {
  const { ctx, bbox } = u, height = bbox.height / chart.lines.length, scale = devicePixelRatio;
  const at = (x) => Math.round(Math.max(bbox.left, Math.min(bbox.left + bbox.width, u.valToPos(x, 'x', true))));
  ctx.save();
  ctx.fillStyle = palette.c0;
  chart.lines.forEach((line, i) => {
    const top = bbox.top + i * height;
    for (let w = 0; w < line.values.length; w++) {
      const left = at(t[w]), right = at(t[w + 1]);
      if (!(line.values[w] > 0) || right <= left) continue;
      ctx.globalAlpha = Math.min(1, line.values[w]);
      ctx.fillRect(left, top, right - left, Math.max(scale, height - scale));
    }
  });
  ctx.restore();
}

function showContext(page) {
  const channels = page.series.context;
  if (!channels.length || !page.series.n) return;
  byId('context').hidden = false;
  const host = byId('context-charts');
  for (const panel of PANELS) {
    const mine = channels.filter((c) => panel.has(c) && c.values.some(isNumber));
    if (!mine.length) continue;
    const id = 'chart-context-' + panel.key;
    host.append(el('div', {}, el('h3', {}, panel.title),
      el('div', { id, class: 'chart', tabindex: '0', role: 'img', 'aria-label': panel.title + ' over time; the table below has the numbers' }),
      el('div', { id: 'legend-context-' + panel.key, class: 'legend' })));
    page.charts['context-' + panel.key] = { id, legend: 'legend-context-' + panel.key, lines: contextLines(mine), unit: mine[0].unit, isRows: panel.key === 'cpus' && mine.length > COLORS };
  }
  byId('context-summary').textContent = channels.length === 1 ? 'The channel in numbers' : 'All ' + channels.length + ' channels in numbers';
  const number = (key, title) => ({ title, number: true, cell: (c) => contextText(c[key], c.unit), exact: (c) => (isNumber(c[key]) ? c[key] + ' ' + c.unit : null) });
  fillTable(byId('context-table'), [{ title: 'Channel', name: true, cell: (c) => c.name }, number('mean', 'mean'), number('least', 'least'),
    number('greatest', 'greatest'), { title: 'at the end', cell: (c) => c.status }], channels, '');
}

/* Percents on the whole scale; temperatures where they are; all else from 0. */
function contextRange(unit) {
  if (unit === '1') return (u, min, max) => [0, Math.max(1, max || 0)];
  if (unit === 'C') return (u, min, max) => (isNumber(min) ? [min - Math.max(1, (max - min) * 0.1), max + Math.max(1, (max - min) * 0.1)] : [0, 1]);
  return (u, min, max) => [Math.min(0, min || 0), max > 0 ? max * 1.06 : 1];
}

function showContextTip(u, chart, page, event) {
  const tip = byId('tip'), t = page.series.t;
  if (u.cursor.left < 0 || !event) {
    tip.hidden = true;
    return;
  }
  const w = windowAt(t, u.posToVal(u.cursor.left, 'x'));
  const top = chart.isRows ? [{ name: 'mean of ' + chart.lines.length + ' CPUs', values: { [w]: meanOf(chart.lines, w) }, unit: '1', color: 'c0' }] : [];
  const row = Math.floor(u.cursor.top / u.over.clientHeight * chart.lines.length);
  const shown = chart.isRows ? top.concat(chart.lines.slice(Math.max(0, row), row + 1)) : chart.lines;
  tip.replaceChildren(el('div', {}, el('b', {}, clock(t[w], t[w + 1] - t[w]) + ' \u2013 ' + clock(t[w + 1], t[w + 1] - t[w]))),
    el('table', {}, el('tbody', {}, shown.map((l) => el('tr', {}, el('td', {}, el('span', { class: 'dot', color: palette[chart.isRows ? 'c0' : l.color] }), l.name),
      el('td', { class: 'n' }, contextText(l.values[w], l.unit)))))));
  placeTip(tip, event);
}

function contextAxis(chart, y) {
  const n = chart.lines.length, tick = (v) => (v === 0 ? '0' : chart.unit === '1' ? fixed(v * 100, 0) + '\u202f%' : contextText(v, chart.unit).replace(/\.0+(?=\u202f)/, ''));
  if (chart.isRows)
    return { ...y, size: 72, grid: { show: false }, splits: () => chart.lines.map((_, i) => n - i - 0.5).filter((_, i) => i % Math.ceil(n / 12) === 0),
      values: (u, splits) => splits.map((v) => chart.lines[Math.round(n - v - 0.5)].name) };
  return { ...y, size: 72, ...(chart.unit === 'B' ? { incrs: Array.from({ length: 50 }, (_, i) => 2 ** i) } : {}), values: (u, splits) => splits.map(tick) };
}

function drawContext(chart, page) {
  const host = byId(chart.id), step = (values) => values.concat([values[values.length - 1]]);
  if (chart.plot) chart.plot.destroy();
  host.replaceChildren();
  const [x, y] = axes(page), n = chart.lines.length;
  const options = {
    width: Math.max(200, host.clientWidth - 10), height: 190, padding: [page.phases.length ? LABEL_PX + 4 : 10, 26, 0, 0], legend: { show: false },
    cursor: { sync: { key: 'power' }, drag: { x: true, y: false, dist: 4 }, points: { show: false }, y: false },
    scales: { x: { time: false }, y: { range: chart.isRows ? [0, n] : contextRange(chart.unit) } },
    axes: [x, contextAxis(chart, y)],
    series: [{}].concat(chart.lines.map((l) => ({ label: l.name, show: !chart.isRows, stroke: () => palette[l.color], width: 1.5, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } }))),
    hooks: {
      draw: [(u) => { if (chart.isRows) drawRows(u, chart, page.series.t); }, (u) => drawPhases(u, page)],
      setCursor: [(u) => { if (chart.event) showContextTip(u, chart, page, chart.event); }],
      setScale: [(u, key) => { if (key === 'x') page.setRange(u.scales.x.min, u.scales.x.max, chart); }],
    },
  };
  chart.plot = new uPlot(options, [Array.from(page.series.t)].concat(chart.lines.map((l) => step(l.values))), host);
  if (page.range) chart.plot.setScale('x', { min: page.range[0], max: page.range[1] });
  listen(chart, host);
  if (chart.isRows)
    byId(chart.legend).replaceChildren(...[0.1, 0.5, 1].map((v) => el('span', {}, el('span', { class: 'dot level-' + v * 10, color: palette.c0 }), percent(v, 0) + (v === 1 ? ' busy' : ''))));
  else
    byId(chart.legend).replaceChildren(...chart.lines.map((l) => el('span', { title: l.name }, el('span', { class: 'dot', color: palette[l.color] }), l.name)));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A stack of powers over time. A window has one mean power: steps, not slopes. */

const LABEL_PX = 20;
let palette = {};

function readPalette() {
  const names = ['ink', 'quiet', 'grid', 'line', 'band', 'band-line', 'gap', 'other', 'idle', 'rest', 'accent', 'bad'];
  palette = Object.fromEntries(names.concat([0, 1, 2, 3, 4, 5, 6, 7].map((i) => 'c' + i)).map((n) => [n, color(n)]));
}

/* Mean power of each window; null: not known. */
function powers(energy, known) {
  const watts = new Array(energy.length);
  for (let w = 0; w < energy.length; w++) watts[w] = known[w] > 0 ? energy[w] / known[w] : null;
  return watts;
}

/* uPlot paints the first series first: the highest sum goes behind the lower ones. */
function stackData(t, layers) {
  const n = t.length - 1, sums = [];
  const below = new Array(n).fill(0);
  /* A layer that is not known has a gap; those above it lie on what is known. */
  for (const layer of layers)
    sums.push(below.map((v, w) => {
      if (layer.watts[w] !== null) below[w] += layer.watts[w];
      return layer.watts[w] === null ? null : v + layer.watts[w];
    }));
  const step = (values) => values.concat(n ? [values[n - 1]] : []);
  return [Array.from(t)].concat(sums.reverse().map(step));
}

/* Nobody takes what is hatched for a value: an area of a colour could be one. */
function hatch(ctx, scale) {
  const tile = document.createElement('canvas'), size = Math.round(8 * scale);
  tile.width = tile.height = size;
  const c = tile.getContext('2d');
  c.strokeStyle = palette.bad;
  c.globalAlpha = 0.5;
  c.lineWidth = scale;
  c.beginPath();
  for (const shift of [-size, 0, size]) {
    c.moveTo(shift, size);
    c.lineTo(shift + size, 0);
  }
  c.stroke();
  return ctx.createPattern(tile, 'repeat');
}

function drawPhases(u, page) {
  const { ctx, bbox } = u, scale = devicePixelRatio;
  const at = (x) => Math.max(bbox.left, Math.min(bbox.left + bbox.width, u.valToPos(x, 'x', true)));
  ctx.save();
  ctx.font = 12 * scale + 'px system-ui, sans-serif';
  ctx.textBaseline = 'middle';
  ctx.textAlign = 'left';
  page.phases.forEach((phase, i) => {
    const left = at(phase.start_s), right = at(phase.end_s);
    if (right <= left || phase.label === null) return;
    if (i % 2 === 0) {
      ctx.fillStyle = palette.band;
      ctx.fillRect(left, bbox.top - LABEL_PX * scale, right - left, bbox.height + LABEL_PX * scale);
    }
    ctx.strokeStyle = palette['band-line'];
    ctx.lineWidth = scale;
    for (const x of [left, right]) {
      ctx.beginPath();
      ctx.moveTo(x, bbox.top - LABEL_PX * scale);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    let text = clean(phase.label);
    const room = right - left - 10 * scale;
    while (text.length > 1 && ctx.measureText(text).width > room) text = text.slice(0, -2) + '\u2026';
    if (ctx.measureText(text).width > room) return;
    ctx.fillStyle = palette.quiet;
    ctx.fillText(text, left + 5 * scale, bbox.top - LABEL_PX / 2 * scale);
  });
  const lines = hatch(ctx, scale);
  for (const gap of page.series.gaps.concat(page.losses)) {
    const left = at(gap.start_s), right = Math.max(at(gap.end_s), left + scale);
    if (gap.end_s < u.scales.x.min || gap.start_s > u.scales.x.max) continue;
    for (const fill of [palette.gap, lines]) {
      ctx.fillStyle = fill;
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
    }
  }
  ctx.restore();
}

/* How unsure each layer is: a band around its upper edge, as what lies below is drawn as it is. */
function drawDoubts(u, chart, page) {
  const { ctx, bbox } = u, t = page.series.t, n = t.length - 1;
  const below = new Array(n).fill(0);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = palette.ink;
  ctx.globalAlpha = 0.3;
  for (const layer of chart.layers)
    for (let w = 0; w < n; w++) {
      below[w] += layer.watts[w] || 0;
      const doubt = layer.doubt ? layer.doubt[w] : null;
      if (!isNumber(doubt) || doubt <= 0 || t[w + 1] < u.scales.x.min || t[w] > u.scales.x.max) continue;
      const left = u.valToPos(t[w], 'x', true), top = u.valToPos(below[w] + doubt, 'y', true);
      ctx.fillRect(left, top, u.valToPos(t[w + 1], 'x', true) - left, u.valToPos(below[w] - doubt, 'y', true) - top);
    }
  ctx.restore();
}

function windowAt(t, x) {
  let low = 0, high = t.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (t[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}

function showTip(u, chart, page, event) {
  const tip = byId('tip'), t = page.series.t;
  if (u.cursor.left < 0 || !event) {
    tip.hidden = true;
    return;
  }
  const w = windowAt(t, u.posToVal(u.cursor.left, 'x'));
  const layers = chart.layers.filter((l) => l.watts[w] !== null && l.watts[w] > 0).reverse();
  const whole = chart.layers.every((l) => l.watts[w] === null) ? NaN : chart.layers.reduce((s, l) => s + (l.watts[w] || 0), 0);
  const step = t[w + 1] - t[w], phase = page.phases.find((p) => p.label !== null && t[w] >= p.start_s - 1e-6 && t[w] < p.end_s);
  const power = page.sums.power.scale, scale = scaleFor(whole, power, power.digits);
  const shown = tallyWithin(layers.map((l) => l.watts[w]), scale, whole, toSteps(whole, scale));
  const rows = layers.map((l, i) => el('tr', {}, el('td', {}, el('span', { class: 'dot', color: palette[l.color] }), l.name),
    el('td', { class: 'n' }, shown.text(i) + (l.doubt && isNumber(l.doubt[w]) ? '\u202f\u00b1\u202f' + valueText(l.doubt[w], scale) : '') + '\u202f' + scale.unit)));
  tip.replaceChildren(
    el('div', {}, el('b', {}, clock(t[w], step) + ' \u2013 ' + clock(t[w + 1], step)), phase ? ' ' + clean(phase.label) : ''),
    el('div', {}, isNumber(whole) ? quantityText(whole, scale) + ' in all' : 'not known in this window'),
    el('table', {}, el('tbody', {}, rows)));
  placeTip(tip, event);
}

function placeTip(tip, event) {
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = event.clientX + 16 + box.width > innerWidth ? event.clientX - 16 - box.width : event.clientX + 16;
  tip.style.left = Math.max(4, x) + 'px';
  tip.style.top = Math.max(4, Math.min(event.clientY + 12, innerHeight - box.height - 8)) + 'px';
}

/* Steps of an axis of time, in seconds, such that each is a round time in the digits that clock() gives. */
const TIME_STEPS = [0.001, 0.01, 0.1].flatMap((unit) => [1, 2, 5].map((n) => Number((n * unit).toFixed(3))))
  .concat([1, 2, 5, 10, 15, 30], [1, 2, 5, 10, 15, 30].map((n) => n * 60), [1, 2, 3, 6, 12].map((n) => n * 3600),
    Array.from({ length: 16 }, (_, i) => 2 ** i * 86400));

function axes(page) {
  const scale = page.sums.power.scale;
  const common = { stroke: () => palette.quiet, font: '12px system-ui, sans-serif', grid: { stroke: () => palette.grid, width: 1 },
    ticks: { stroke: () => palette.grid, width: 1, size: 4 } };
  return [
    { ...common, space: 70, size: 34, incrs: TIME_STEPS, values: (u, splits, axis, space, step) => splits.map((v) => clock(v, step)) },
    { ...common, size: 58, values: (u, splits) => splits.map((v) => (v === 0 ? '0' : Number((v / scale.factor).toPrecision(4)) + '\u202f' + scale.unit)) },
  ];
}

function chartOptions(chart, page, host) {
  return {
    width: Math.max(200, host.clientWidth - 10), height: innerWidth < 600 ? 230 : 300, padding: [page.phases.length ? LABEL_PX + 4 : 10, 26, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: 'power' }, drag: { x: true, y: false, dist: 4 }, points: { show: false }, y: false },
    scales: { x: { time: false }, y: { range: (u, min, max) => [Math.min(0, min || 0), max > 0 ? max * 1.06 : 1] } },
    axes: axes(page),
    series: [{}].concat(chart.layers.slice().reverse().map((l) => ({ label: l.name, stroke: () => palette[l.color], fill: () => palette[l.color], width: 1,
      paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } }))),
    hooks: {
      draw: [(u) => { drawDoubts(u, chart, page); drawPhases(u, page); }],
      setCursor: [(u) => { if (chart.event) showTip(u, chart, page, chart.event); }],
      setScale: [(u, key) => { if (key === 'x') page.setRange(u.scales.x.min, u.scales.x.max, chart); }],
    },
  };
}

function listen(chart, host) {
  const over = host.querySelector('.u-over');
  over.addEventListener('mousemove', (e) => { chart.event = e; }, true);
  over.addEventListener('mouseleave', () => { chart.event = null; byId('tip').hidden = true; });
}

/* Draws layers from the lowest to the highest. */
function drawStack(chart, page, layers) {
  const host = byId(chart.id);
  if (chart.plot) chart.plot.destroy();
  chart.plot = null;
  chart.layers = layers;
  host.replaceChildren();
  if (!page.series.n || !layers.length) {
    host.append(el('p', { class: 'empty' }, page.series.n ? 'No energy is known for this.' : 'There is no window to draw.'));
    return;
  }
  chart.plot = new uPlot(chartOptions(chart, page, host), stackData(page.series.t, layers), host);
  if (page.range) chart.plot.setScale('x', { min: page.range[0], max: page.range[1] });
  listen(chart, host);
  const known = layers.slice().reverse();
  const hasDoubts = layers.some((l) => l.doubt && l.doubt.some((v) => isNumber(v) && v > 0));
  byId(chart.legend).replaceChildren(...known.map((l) => el('span', { title: l.name }, el('span', { class: 'dot', color: palette[l.color] }), l.name)),
    hasDoubts ? el('span', { title: 'How far each edge may be off: one standard uncertainty, up and down' }, 'shaded: \u00b1 uncertainty') : '');
}

/* Two recordings from their beginnings on: lines, because they are not parts of anything. */
function drawLines(host, page, lines) {
  const end = Math.max(...lines.map((l) => l.t[l.t.length - 1]));
  const xs = [...new Set(lines.flatMap((l) => Array.from(l.t)))].sort((a, b) => a - b);
  const ys = lines.map((l) => xs.map((x) => {
    const n = l.t.length - 1;
    return n && x <= l.t[n] ? l.watts[windowAt(l.t, x)] : null;
  }));
  host.replaceChildren();
  return new uPlot({
    width: Math.max(200, host.clientWidth - 10), height: 220, padding: [10, 26, 0, 0], legend: { show: false },
    cursor: { drag: { x: true, y: false }, points: { show: false }, y: false },
    scales: { x: { time: false, range: (u, min, max) => [min, Math.min(max, end)] }, y: { range: (u, min, max) => [0, max > 0 ? max * 1.06 : 1] } },
    axes: axes(page),
    series: [{}].concat(lines.map((l) => ({ label: l.name, stroke: () => palette[l.color], width: l.width, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false } }))),
  }, [xs].concat(ys), host);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacked power over time. What is drawn is a list of layers, the lowest first: a name, a class and
 * watts for each of the points; a point is the mean of the time since the one before it. Where
 * nothing is known there is nothing, and no line to what comes after.
 */

const SVG = 'http://www.w3.org/2000/svg';
const BANDS = 8; /* with colours of their own */
const GAP = 3; /* usual steps that a point may be late */

function draw(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/* ---- layers ---- */

/* paths: of the values of a point, which the history has; all that is known of them, in any order. */
function layersByDomain(paths, known, points) {
  const domains = paths.map((path) => known.find((domain) => domain.path === path) ?? { path });
  const watts = paths.map((_, i) => points.map((point) => point.power_w[i] ?? NaN));
  return stackedDomains(domains, watts).map((layer, order) => ({ ...layer, className: `c${order % BANDS}` }));
}

/* Those who are shown keep their colours from one time to the next. */
const colours = new Map();

function chooseColours(names) {
  for (const name of [...colours.keys()]) if (!names.includes(name)) colours.delete(name);
  for (const name of names) {
    const used = [...colours.values()];
    if (!colours.has(name)) colours.set(name, Array.from({ length: BANDS }, (_, i) => i).find((i) => !used.includes(i)));
  }
}

/* Users of a level, what is idle below them, and above them all others and what nobody took. */
function layersByUser(names, points) {
  const known = (value) => value ?? NaN, sums = new Map();
  for (const point of points) for (const [who, watts] of point.users) sums.set(who, (sums.get(who) ?? 0) + watts);
  const most = [...sums].sort((a, b) => b[1] - a[1]).slice(0, BANDS).map(([who]) => who);
  chooseColours(most.map((who) => names[who]));
  const wattsOf = (who) => points.map((point) => (point.others_w === null ? NaN :
    point.users.find(([one]) => one === who)?.[1] ?? 0));
  const others = points.map((point) => known(point.others_w) +
    point.users.reduce((sum, [who, watts]) => sum + (most.includes(who) ? 0 : watts), 0));
  return [{ name: 'idle', className: 'idle', watts: points.map((point) => known(point.idle_w)) },
    ...most.map((who) => ({ name: names[who], className: `c${colours.get(names[who])}`, watts: wattsOf(who) })),
    { name: 'all others', className: 'others', watts: others },
    { name: 'unattributed', className: 'nobody', watts: points.map((point) => known(point.unattributed_w)) }]
    .filter(({ watts }) => watts.some((value) => value > 0));
}

/* ---- drawing ---- */

function niceMax(value) {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return [1, 2, 4, 5, 10].map((factor) => factor * power).find((top) => top >= value);
}

/* How long each point is the mean of; the first of a run is taken to be as long as most are. */
function stepsOf(times) {
  const between = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
  const usual = between[between.length >> 1] || 5;
  return times.map((time, i) => (i && time - times[i - 1] <= GAP * usual ? time - times[i - 1] : usual));
}

/* [from, to) of points that follow one another, and of which something is known. */
function runsOf(times, steps, totals) {
  const runs = [];
  totals.forEach((total, i) => {
    if (!isKnown(total)) return;
    const isNext = i && isKnown(totals[i - 1]) && times[i] - times[i - 1] <= steps[i] * 1.01;
    if (isNext) runs[runs.length - 1][1] = i + 1;
    else runs.push([i, i + 1]);
  });
  return runs;
}

function drawAxes(chart, width, height, max, begin, end, unit) {
  for (let i = 0; i <= 4; i++) {
    const y = height - 24 - (height - 34) * i / 4;
    chart.append(draw('line', { x1: 46, x2: width, y1: y, y2: y }));
    chart.append(draw('text', { x: 42, y: y + 4, 'text-anchor': 'end' }, String(+(max * i / 4 / unit.factor).toPrecision(3))));
  }
  for (const [share, anchor] of [[0, 'start'], [0.5, 'middle'], [1, 'end']]) {
    const at = new Date((begin + (end - begin) * share) * 1000);
    chart.append(draw('text', { x: 46 + (width - 46) * share, y: height - 6, 'text-anchor': anchor },
      at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })));
  }
  chart.append(draw('text', { x: 50, y: 12 }, unit.unit));
}

/* What is known of a layer's neighbours is drawn, also where it itself is not known. */
function stack(layers, n) {
  const sums = [Array.from({ length: n }, () => 0)];
  for (const { watts } of layers) {
    const below = sums[sums.length - 1];
    sums.push(below.map((sum, i) => sum + (isKnown(watts[i]) ? Math.max(0, watts[i]) : 0)));
  }
  return sums;
}

function drawLegend(legend, layers) {
  legend.replaceChildren(...layers.map(({ name, className }) => {
    const item = document.createElement('span'), key = draw('svg', { viewBox: '0 0 10 10' });
    key.append(draw('rect', { width: 10, height: 10, rx: 2, class: className }));
    item.append(key, name);
    return item;
  }));
}

function drawStack(chart, legend, { layers, times, begin, end, unit }) {
  const { width, height } = chart.getBoundingClientRect();
  const steps = stepsOf(times), sums = stack(layers, times.length);
  const isAnyKnown = times.map((_, i) => layers.some(({ watts }) => isKnown(watts[i])));
  const totals = sums[layers.length].map((sum, i) => (isAnyKnown[i] ? sum : NaN));
  const max = niceMax(Math.max(...totals.filter(isKnown), 0.001));
  const x = (t) => (46 + (width - 46) * (Math.max(t, begin) - begin) / (end - begin)).toFixed(1);
  const y = (w) => (height - 24 - (height - 34) * w / max).toFixed(1);

  chart.replaceChildren();
  chart.setAttribute('viewBox', `0 0 ${width} ${height}`);
  drawAxes(chart, width, height, max, begin, end, unit);
  for (const [from, to] of runsOf(times, steps, totals)) {
    const at = [x(times[from] - steps[from]), ...times.slice(from, to).map(x)];
    layers.forEach(({ className }, order) => {
      const edge = (values) => [values[from], ...values.slice(from, to)].map((w, i) => `${at[i]},${y(w)}`);
      chart.append(draw('polygon', { class: className,
        points: [...edge(sums[order + 1]), ...edge(sums[order]).reverse()].join(' ') }));
    });
  }
  drawLegend(legend, layers);
}

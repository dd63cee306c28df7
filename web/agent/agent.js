/* SPDX-License-Identifier: Apache-2.0 */
/* The page: asks the agent for its status, and shows it. Names are text, never markup. */
'use strict';

const SVG = 'http://www.w3.org/2000/svg';
const ROWS = 25;
const state = { span: 300, level: 'process', points: [], domains: [], status: null };

const byId = (id) => document.getElementById(id);

function make(name, text, className) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

function draw(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

/* Three digits: 12.3, 0.042, 1234. */
function digits(value) {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  if (size === 0) return '0';
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

/* One unit for each quantity of the page, with the decimals that the machine's sum can stand. */
function scales() {
  const { status } = state, parts = status.domains.filter((domain) => domain.is_partition);
  const digits = digitsOf(Math.max(0, ...parts.map((domain) => domain.uncertainty_ratio || 0)));
  return { energy: scaleFor(status.machine_j, unitOf(status.machine_j, 'J'), digits),
    power: scaleFor(status.machine_w, unitOf(status.machine_w, 'W'), digits) };
}

function time(seconds) {
  if (seconds === null) return '–';
  if (seconds < 120) return `${digits(seconds)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${digits(seconds / 3600)} h`;
}

/* ---- the chart ---- */

function niceMax(value) {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return [1, 2, 5, 10].map((factor) => factor * power).find((top) => top >= value);
}

/* Indices of the domains that make up the machine without overlap. */
function shown() {
  const parts = state.status.domains;
  return state.domains.map((path, i) => [path, i])
    .filter(([path]) => parts.some((domain) => domain.path === path && domain.is_partition))
    .map(([, i]) => i);
}

function area(points, indices, order, x, y) {
  const sum = (point, n) => indices.slice(0, n).reduce((total, i) => total + (point.power_w[i] || 0), 0);
  const top = points.map((point) => `${x(point.time_s)},${y(sum(point, order + 1))}`);
  const bottom = points.map((point) => `${x(point.time_s)},${y(sum(point, order))}`).reverse();
  return draw('polygon', { points: [...top, ...bottom].join(' '), class: `c${order % 8}` });
}

function drawAxes(chart, width, height, max, end, unit) {
  for (let i = 0; i <= 4; i++) {
    const y = height - 24 - (height - 34) * i / 4;
    chart.append(draw('line', { x1: 46, x2: width, y1: y, y2: y }));
    chart.append(draw('text', { x: 42, y: y + 4, 'text-anchor': 'end' }, digits(max * i / 4 / unit.factor)));
  }
  for (const [share, anchor] of [[0, 'start'], [0.5, 'middle'], [1, 'end']]) {
    const at = new Date((end - state.span * (1 - share)) * 1000);
    chart.append(draw('text', { x: 46 + (width - 46) * share, y: height - 6, 'text-anchor': anchor },
      at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })));
  }
  chart.append(draw('text', { x: 50, y: 12 }, unit.unit));
}

function drawChart() {
  const chart = byId('chart'), { width, height } = chart.getBoundingClientRect();
  const end = state.status.time_s, indices = shown();
  const points = state.points.filter((point) => point.time_s >= end - state.span);
  const totals = points.map((point) => indices.reduce((sum, i) => sum + (point.power_w[i] || 0), 0));
  const max = niceMax(Math.max(...totals, 0.001));
  const x = (t) => (46 + (width - 46) * (1 - (end - t) / state.span)).toFixed(1);
  const y = (w) => (height - 24 - (height - 34) * w / max).toFixed(1);

  chart.replaceChildren();
  chart.setAttribute('viewBox', `0 0 ${width} ${height}`);
  drawAxes(chart, width, height, max, end, scales().power);
  if (points.length > 1) indices.forEach((_, order) => chart.append(area(points, indices, order, x, y)));
  byId('legend').replaceChildren(...indices.map((i, order) => {
    const item = make('span'), key = draw('svg', { viewBox: '0 0 10 10' });
    key.append(draw('rect', { width: 10, height: 10, rx: 2, class: `c${order % 8}` }));
    item.append(key, state.domains[i]);
    return item;
  }));
}

/* ---- tables ---- */

function fill(id, rows) {
  byId(id).tBodies[0].replaceChildren(...rows.map((cells) => {
    const row = make('tr');
    row.append(...cells);
    return row;
  }));
}

function title(labels) {
  return labels.pod || labels.container || labels.unit || labels.user || labels.vm || labels.comm ||
    (labels.container_id || labels.pod_uid || labels.kind).slice(0, 16);
}

function detail(labels) {
  const parts = [];
  if (labels.kind !== state.level) parts.push(labels.kind);
  if (labels.pid) parts.push(`pid ${labels.pid}`);
  if (labels.namespace) parts.push(labels.namespace);
  if (labels.image) parts.push(labels.image);
  if (labels.exe) parts.push(labels.exe);
  if (labels.unit && state.level === 'process') parts.push(labels.unit);
  return parts.join(' · ');
}

function who(labels) {
  const cell = make('td', title(labels));
  const more = detail(labels);
  if (more) cell.append(make('small', more));
  cell.title = Object.entries(labels).map(([key, value]) => `${key}: ${value}`).join('\n');
  return cell;
}

function share(value, max) {
  const cell = make('td', undefined, 'share'), bar = draw('svg', { viewBox: '0 0 100 10', preserveAspectRatio: 'none' });
  bar.append(draw('rect', { width: Math.max(0, Math.min(100, 100 * value / max)), height: 10 }));
  cell.append(bar);
  return cell;
}

/*
 * What a level's users used, and what nobody of them did: as it is shown it is the machine's. What
 * is attributed otherwise by and by is told of later, and until then is a part of its own.
 */
function roundLevel(level, energy) {
  const { status } = state;
  const parts = [...level.users.map((user) => user.energy_j), level.other_j, level.ended_j, status.idle_j, status.unattributed_j]
    .map((part) => (isKnown(part) ? part : NaN));
  const held = status.machine_j - sumKnown(parts);
  const isHeld = status.machine_j !== null && Math.abs(held) > 1e-9 * Math.abs(status.machine_j);
  return tallyWithin(isHeld ? [...parts, held] : parts, energy, status.machine_j, toSteps(status.machine_j, energy));
}

function drawUsers() {
  const level = state.status.levels[state.level], { energy, power } = scales();
  const rounded = roundLevel(level, energy), n = level.users.length;
  const users = level.users.map((user, i) => ({ ...user, i })).filter((user) => !user.is_leaving).slice(0, ROWS);
  const max = Math.max(...users.map((user) => user.power_w || 0), 1e-9);
  const isShown = new Set(users.map((user) => user.i));

  byId('users-power').textContent = power.unit;
  byId('users-energy').textContent = energy.unit;
  fill('users', users.map((user) => [who(user.labels), make('td', valueText(user.power_w, power), 'n'),
    share(user.power_w || 0, max), make('td', rounded.text(user.i), 'n'),
    make('td', time(user.cpu_s), 'n')]));
  const unseen = sumKnown(rounded.steps.slice(0, n).filter((_, i) => !isShown.has(i)));
  const told = (steps, exact) => `${stepsText(steps, energy, exact)}\u202f${energy.unit}`;
  const list = ['all others', 'ended and told of no more', 'idle', 'unattributed', 'not told of yet']
    .slice(0, rounded.parts.length - n).map((name, i) => `${name}: ${told(rounded.steps[n + i], rounded.parts[n + i])}`);
  if (n > users.length) list.unshift(`${n - users.length} more, who have ended or use less: ${told(unseen)}`);
  byId('users-note').textContent = (users.length === 0 ? 'Nobody here has used energy yet. ' : '') +
    list.map((text, i) => (i ? text : text[0].toUpperCase() + text.slice(1))).join('; ') + '.';
}

function depth(domain, domains) {
  let n = 0;
  for (let at = domain; at && at.parent; n++) at = domains.find((other) => other.path === at.parent);
  return Math.min(n, 3);
}

/* Each below the one that contains it. */
function inOrder(domains, parent = null) {
  return domains.filter((domain) => domain.parent === parent)
    .flatMap((domain) => [domain, ...inOrder(domains, domain.path)]);
}

function stateCell(word) {
  return make('td', word, word === 'ok' ? 'good' : word === 'pending' ? '' : 'bad');
}

/* Of a quantity: those that make up the machine add up to it, what lies in one to that. */
function roundDomains(domains, key, scale, whole) {
  const exact = domains.map((domain) => (isKnown(domain[key]) ? domain[key] : NaN));
  const parts = exact.map((value, i) => (domains[i].is_partition ? value : NaN));
  const shown = tallyWithin(parts, scale, whole, toSteps(whole, scale)).steps;
  return tallyDomains(domains, exact, shown, scale).map((steps, i) => stepsText(steps, scale, exact[i]));
}

function drawDomains() {
  const { status } = state, domains = inOrder(status.domains), { energy, power } = scales();
  const watts = roundDomains(domains, 'power_w', power, status.machine_w);
  const idle = roundDomains(domains, 'idle_w', power, status.machine_idle_w === null ? NaN : status.machine_idle_w);
  const joules = roundDomains(domains, 'energy_j', energy, status.machine_j);
  byId('domains-power').textContent = power.unit;
  byId('domains-idle').textContent = `idle ${power.unit}`;
  byId('domains-energy').textContent = energy.unit;
  fill('domains', domains.map((domain, i) => {
    const origin = domain.uncertainty_ratio === null ? domain.origin :
      `${domain.origin} ±${digits(domain.uncertainty_ratio * 100)} %`;
    return [make('td', domain.path, `depth-${depth(domain, domains)}`),
      make('td', watts[i], 'n'), make('td', idle[i], 'n'),
      make('td', joules[i], 'n'), make('td', origin),
      make('td', domain.method.replace('_', ' ')), stateCell(domain.status)];
  }));
}

/* A source that is not open has no sensors: nobody knows yet which. */
function lateSources() {
  return state.status.sources.filter(({ status }) => status !== 'ok' && status !== 'absent')
    .map(({ name, status }) => {
      const cell = make('td', name);
      cell.append(make('small', 'not open; its sensors count from when it is'));
      return [cell, stateCell(status), ...Array.from({ length: 3 }, () => make('td', '–', 'n'))];
    });
}

function drawSensors() {
  fill('sensors', state.status.sensors.map((sensor) => {
    const name = make('td', sensor.name);
    if (!sensor.is_used) name.append(make('small', 'measures what another one does'));
    return [name, stateCell(sensor.status), make('td', time(sensor.age_s), 'n'),
      make('td', sensor.reads === null ? '–' : String(sensor.reads), 'n'),
      make('td', sensor.errors === null ? '–' : String(sensor.errors), 'n')];
  }).concat(lateSources()));
}

/* ---- tiles ---- */

/* The whole machine where its supplies measure it, of which the sum of the domains is a part. */
function drawMachine(power) {
  const { status } = state, isOutside = status.outside_w !== null;
  const watts = isOutside ? status.outside_w : status.machine_w;
  const notes = ['machine, now'];

  if (isOutside) {
    notes.push(`measured by ${status.outside}`);
    notes.push(`${quantityText(status.machine_w, power)} of it told apart`);
  }
  if (status.machine_origin !== 'measured') notes.push(status.machine_origin);
  if (status.machine_why) notes.push(status.machine_why);
  byId('machine-note').textContent = notes.join(', ');
  document.title = watts === null ? 'Watts here' : `${quantityText(watts, power)} here`;
  byId('machine-w').textContent = quantityText(watts, power);
}

function drawTiles() {
  const { status } = state, { energy, power } = scales();
  const errors = status.quality.conservation_errors, idle = status.machine_idle_w === null ? NaN : status.machine_idle_w;
  const dynamic = status.machine_w === null ? NaN : Math.max(0, status.machine_w - idle);
  const parts = tallyWithin([dynamic, idle], power, status.machine_w, toSteps(status.machine_w, power));

  drawMachine(power);
  byId('dynamic-w').textContent = isKnown(dynamic) ? `${parts.text(0)}\u202f${power.unit}` : '–';
  byId('machine-j').textContent = quantityText(status.machine_j, energy);
  byId('balance').textContent = errors === 0 ? 'exact' : `${errors} errors`;
  byId('balance').className = errors === 0 ? 'good' : 'bad';
  byId('balance-note').textContent = errors === 0 ? `${status.quality.conservation_checks} checks of sums` :
    'sums that do not add up: a bug';
  byId('version').textContent = `version ${status.version}, usage by ${status.usage}${status.usage_why ? ` (not by ${status.usage_why})` : ''}`;
}

/* ---- asking ---- */

function segments(id, names, label, get, set) {
  byId(id).replaceChildren(...names.map((name) => {
    const button = make('button', label(name));
    button.type = 'button';
    button.setAttribute('aria-pressed', String(get() === name));
    button.addEventListener('click', () => {
      set(name);
      show();
    });
    return button;
  }));
}

function show() {
  segments('spans', [300, 3600], (span) => (span === 300 ? '5 minutes' : 'an hour'), () => state.span,
    (span) => { state.span = span; });
  const levels = Object.keys(state.status.levels);
  if (!levels.includes(state.level)) [state.level] = levels;
  segments('levels', levels, (name) => name, () => state.level, (name) => { state.level = name; });
  drawTiles();
  drawChart();
  if (state.level) drawUsers();
  drawDomains();
  drawSensors();
}

async function ask(path) {
  const answer = await fetch(path, { cache: 'no-store' });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

async function refresh() {
  try {
    const [status, history] = await Promise.all([ask('/api/v1/status'), ask('/api/v1/history')]);
    Object.assign(state, { status, points: history.points, domains: history.domains });
    show();
    byId('state').textContent = `as of ${new Date(status.time_s * 1000).toLocaleTimeString()}`;
    byId('state').className = '';
    document.documentElement.dataset.ready = 'yes';
  } catch (error) {
    byId('state').textContent = `no answer: ${error.message}; what is shown is old`;
    byId('state').className = 'bad';
  }
  setTimeout(refresh, document.hidden ? 10000 : 2000);
}

addEventListener('resize', () => state.status && drawChart());
refresh();

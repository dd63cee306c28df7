/* SPDX-License-Identifier: Apache-2.0 */
/* The page: asks the agent for its status, and shows it. Names are text, never markup. */
'use strict';

const ROWS = 25;
const HISTORY_MS = 4500; /* there is nothing new in less */
const DOCTOR_MS = 60000;
const state = { span: 300, by: 'domain', level: 'process', history: null, historyAt: -Infinity, status: null,
  findings: null, findingsAt: -Infinity };

const byId = (id) => document.getElementById(id);

function make(name, text, className) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
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

function byDomain() {
  const { points, domains } = state.history;
  return [points, (shown) => layersByDomain(domains, state.status.domains, shown)];
}

function byUser() {
  const { points, users } = state.history;
  const names = users.map((labels) => (labels ? title(labels) + (labels.pid ? ` (${labels.pid})` : '') : ''));
  return [points, (shown) => layersByUser(names, shown)];
}

function drawChart() {
  const end = state.status.time_s, begin = end - state.span;
  const [points, layersOf] = state.history.level ? byUser() : byDomain();
  const shown = points.filter((point) => point.time_s > begin);

  byId('chart').setAttribute('aria-label', `Power over time, by ${state.by}`);
  drawStack(byId('chart'), byId('legend'), { layers: layersOf(shown), times: shown.map((point) => point.time_s),
    begin, end, unit: scales().power });
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

  const hasGpus = users.some((user) => isKnown(user.gpu_w));
  const gpu = (user) => (hasGpus ? [make('td', valueText(user.gpu_w, power), 'n')] : []);
  byId('users-power').textContent = power.unit;
  byId('users-gpu').textContent = `GPU ${power.unit}`;
  byId('users-gpu').hidden = !hasGpus;
  byId('users-energy').textContent = energy.unit;
  fill('users', users.map((user) => [who(user.labels), make('td', valueText(user.power_w, power), 'n'),
    share(user.power_w || 0, max), make('td', rounded.text(user.i), 'n'), ...gpu(user),
    make('td', time(user.cpu_s), 'n cpu')]));
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
    const name = make('td', domain.parent === null ? domain.path : domain.path.split('/').pop(), `depth-${depth(domain, domains)}`);
    name.title = domain.path;
    return [name,
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
    if (sensor.is_helping) name.append(make('small', 'helps to tell the power of another one'));
    else if (!sensor.is_used) name.append(make('small', 'measures what another one does'));
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

/* ---- doctor ---- */

const isNews = (finding) => finding.is_selected || (!finding.is_test && !['available', 'absent'].includes(finding.state));

/* "2 channels, measured, ±5 %, a value every 0.1 s" */
function factsOf(finding) {
  if (finding.role !== 'power' || finding.state !== 'available') return finding.summary;
  const facts = [`${finding.channels} channel${finding.channels === 1 ? '' : 's'}`, finding.origin];
  facts.push(finding.uncertainty_ratio === null ? 'accuracy unknown' : `±${digits(finding.uncertainty_ratio * 100)} %`);
  if (finding.period_s !== null) facts.push(`a value every ${time(finding.period_s)}`);
  return facts.join(', ');
}

function findingRow(finding) {
  const name = make('td', finding.source), found = make('td');
  const isUsed = finding.state === 'available' && finding.is_selected;
  name.append(make('small', { power: 'power', usage: 'who was running', meta: 'names', activity: 'who used what' }[finding.role]));
  found.append(finding.state === 'available' || !finding.why ? factsOf(finding) : finding.why);
  if (finding.hint) found.append(make('small', finding.hint));
  return [name, make('td', isUsed ? 'used' : finding.state, isUsed ? 'good' : 'bad'), found];
}

function drawDoctor() {
  const { findings } = state;
  if (!findings) return;
  const absent = [...new Set(findings.sources.filter((finding) => !finding.is_test && finding.state === 'absent')
    .map((finding) => finding.source))];
  byId('verdict').textContent = findings.verdict;
  byId('verdict').className = findings.is_measured ? 'good' : findings.is_possible ? '' : 'bad';
  fill('findings', findings.sources.filter(isNews).map(findingRow));
  byId('absent').textContent = absent.length === 0 ? '' :
    `This machine does not have: ${absent.join(', ')}.`;
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
  segments('by', ['domain', ...Object.keys(state.status.levels)], (name) => name, () => state.by, (name) => {
    state.by = name;
    state.historyAt = -Infinity;
    refreshChart();
  });
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
  drawDoctor();
}

async function ask(path) {
  const answer = await fetch(path, { cache: 'no-store' });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

/* Of who is chosen by the time it comes. */
async function askHistory() {
  if (performance.now() - state.historyAt < HISTORY_MS) return;
  const { by } = state, history = await ask(by === 'domain' ? '/api/v1/history' : `/api/v1/history?level=${by}`);
  if (by !== state.by) return;
  state.history = history;
  state.historyAt = performance.now();
}

/* Nothing waits for it, and the page is right without it. */
async function askDoctor() {
  if (performance.now() - state.findingsAt < DOCTOR_MS) return;
  const answer = await fetch('/api/v1/doctor', { cache: 'no-store' });
  if (answer.status === 200) {
    state.findings = await answer.json();
    state.findingsAt = performance.now();
    drawDoctor();
  }
}

async function refreshChart() {
  try {
    await askHistory();
    drawChart();
  } catch (error) {
    tell(error);
  }
}

function tell(error) {
  byId('state').textContent = `no answer: ${error.message}; what is shown is old`;
  byId('state').className = 'bad';
}

async function refresh() {
  try {
    [state.status] = await Promise.all([ask('/api/v1/status'), askHistory()]);
    show();
    byId('state').textContent = `as of ${new Date(state.status.time_s * 1000).toLocaleTimeString()}`;
    byId('state').className = '';
    document.documentElement.dataset.ready = 'yes';
    await askDoctor();
  } catch (error) {
    tell(error);
  }
  setTimeout(refresh, document.hidden ? 10000 : 2000);
}

addEventListener('resize', () => state.status && drawChart());
refresh();

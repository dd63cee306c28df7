/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for people, and elements made of text alone: no name ever becomes markup. */

function isNumber(v) {
  return typeof v === 'number' && Number.isFinite(v);
}

/* "12.3 kJ": three digits, four where the first is a one. */
function withPrefix(value, unit) {
  if (!isNumber(value)) return '\u2013';
  if (value === 0) return '0 ' + unit;
  const steps = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, '\u00b5'], [1e-9, 'n']];
  const size = Math.abs(value);
  const [factor, prefix] = steps.find(([f]) => size >= f * 0.9995) || steps[steps.length - 1];
  const scaled = value / factor, whole = Math.floor(Math.log10(Math.abs(scaled) * 1.0005)) + 1;
  return scaled.toFixed(Math.max(0, Math.min(3, 3 - whole))) + '\u202f' + prefix + unit;
}

function fixed(value, decimals) {
  if (!isNumber(value)) return '\u2013';
  const least = Math.pow(10, -decimals);
  if (value > 0 && value < least / 2) return '<' + least.toFixed(decimals);
  return value.toFixed(decimals).replace(/^-(0(\.0*)?)$/, '$1').replace('-', '\u2212');
}

function percent(ratio, decimals) {
  return isNumber(ratio) ? fixed(ratio * 100, decimals === undefined ? 1 : decimals) + '\u202f%' : '\u2013';
}

/* A small one keeps a digit: 0.02 %, and not 0.0. */
function plain(ratio) {
  if (!isNumber(ratio)) return '\u2013';
  const size = Math.abs(ratio * 100);
  return (ratio * 100).toFixed(size >= 100 ? 0 : size >= 1 || size === 0 ? 1 : 2).replace('-', '\u2212') + '\u202f%';
}

function signed(ratio) {
  return (ratio > 0 ? '+' : '') + plain(ratio);
}

/* "1:02:03", "2:03.4": a time of the recording. */
function clock(seconds, step) {
  const decimals = step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3;
  const rounded = Number(Math.max(0, seconds).toFixed(decimals));
  const h = Math.floor(rounded / 3600), m = Math.floor(rounded / 60) % 60;
  const s = (rounded % 60).toFixed(decimals).padStart(decimals ? decimals + 3 : 2, '0');
  return h ? h + ':' + String(m).padStart(2, '0') + ':' + s : m + ':' + s;
}

function duration(seconds) {
  if (!isNumber(seconds)) return '\u2013';
  if (seconds < 1) return withPrefix(seconds, 's');
  if (seconds < 60) return seconds.toFixed(seconds < 10 ? 2 : 1) + '\u202fs';
  const s = Math.round(seconds), h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  return (h ? h + '\u202fh ' : '') + m + '\u202fmin' + (h ? '' : ' ' + String(s % 60).padStart(2, '0') + '\u202fs');
}

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'color') node.style.background = value;
    else if (key === 'width') node.style.width = value;
    else if (key === 'onclick') node.addEventListener('click', value);
    else node.setAttribute(key, value === true ? '' : value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child);
  return node;
}

function byId(id) {
  return document.getElementById(id);
}

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that add up as they are shown, in one unit for each quantity of a page: what watt_tally
 * is for a terminal. All of a scale have the same decimals; they are counted in steps of the last
 * one, which are whole numbers. What is not known is NaN, and counts nothing.
 */

const PREFIXES = { '-9': 'n', '-6': '\u00b5', '-3': 'm', 0: '', 3: 'k', 6: 'M', 9: 'G' };

function isKnown(value) {
  return typeof value === 'number' && Number.isFinite(value);
}

/* Digits that an uncertainty leaves to a whole, and one more since its parts are less. */
function digitsOf(uncertainty) {
  if (!uncertainty) return 4;
  return uncertainty >= 0.1 ? 3 : uncertainty >= 0.002 ? 4 : 5;
}

/* Decimals that leave a value so many significant digits; one that rounds up keeps its digits. */
function decimalsOf(value, digits, most) {
  const size = Math.abs(value);
  if (!(size > 0)) return 0;
  let power = Math.floor(Math.log10(size));
  if (size >= 10 ** (power + 1) - 0.5 * 10 ** (power + 1 - digits)) power++;
  return Math.max(0, Math.min(most, digits - 1 - power));
}

/* The unit in which a whole has five digits before its point at most. */
function unitOf(whole, name) {
  const size = Math.abs(whole);
  let exponent = 0;
  while (size / 10 ** exponent >= 99999.5 && exponent < 9) exponent += 3;
  while (size > 0 && size / 10 ** exponent < 0.1 && exponent > -9) exponent -= 3;
  return { unit: PREFIXES[exponent] + name, factor: 10 ** exponent };
}

/* A unit with the decimals of a whole. */
function scaleFor(whole, unit, digits) {
  return { ...unit, digits, decimals: decimalsOf(whole / unit.factor, digits, 6) };
}

function toSteps(value, scale) {
  return isKnown(value) ? Math.round(value / scale.factor * 10 ** scale.decimals) : NaN;
}

/* "12.3"; "<0.1": more than nothing, and too little to be seen. */
function stepsText(steps, scale, exact) {
  if (!isKnown(steps)) return '\u2013';
  const step = 10 ** -scale.decimals;
  if (steps === 0 && exact > 0) return '<' + step.toFixed(scale.decimals);
  return Math.abs(steps / 10 ** scale.decimals).toFixed(scale.decimals).replace(/^/, steps < 0 ? '\u2212' : '');
}

function valueText(value, scale) {
  return stepsText(toSteps(value, scale), scale, value);
}

/* The same with its unit. */
function quantityText(value, scale) {
  return isKnown(value) ? valueText(value, scale) + '\u202f' + scale.unit : '\u2013';
}

/* All rounded down, and what is left over of the whole one by one to those that lose the most. */
function shareOut(parts, scale, whole) {
  const exact = parts.map((v) => (isKnown(v) ? v / scale.factor * 10 ** scale.decimals : NaN));
  const steps = exact.map(Math.floor);
  const order = exact.map((v, i) => [v - steps[i], i]).filter(([size]) => isKnown(size)).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  let left = whole - steps.reduce((sum, v) => sum + (isKnown(v) ? v : 0), 0);
  for (let k = 0; k < order.length && left > 0.5; k++, left--) steps[order[k][1]]++;
  for (let k = order.length - 1; k >= 0 && left < -0.5; k--, left++) steps[order[k][1]]--;
  return { scale, parts, steps, total: whole, text: (i) => stepsText(steps[i], scale, parts[i]) };
}

function sumKnown(values) {
  return values.reduce((sum, v) => sum + (isKnown(v) ? v : 0), 0);
}

function tally(parts, scale) {
  return shareOut(parts, scale, toSteps(sumKnown(parts), scale));
}

/*
 * Of what is shown as so many steps where it is `exact`. Parts that are not all of it add up to
 * what they are together.
 */
function tallyWithin(parts, scale, exact, shown) {
  const sum = sumKnown(parts), size = sumKnown(parts.map(Math.abs));
  const isWhole = isKnown(shown) && Math.abs(sum - exact) <= 1e-9 * (size + Math.abs(exact));
  return shareOut(parts, scale, isWhole ? shown : toSteps(sum, scale));
}

/*
 * What is shown of domains, in steps. shown: of those that make up the machine, what is shown
 * already; the others are filled in. Domains that are all of the one that contains them add up to
 * it, and else they and what it has beside them do.
 */
function tallyDomains(domains, exact, shown, scale) {
  const children = (path) => domains.map((d, i) => i).filter((i) => domains[i].parent === path);
  const isAbove = (i) => children(domains[i].path).some((c) => domains[c].is_partition || isAbove(c));
  const isAll = (list, i) => Math.abs(sumKnown(list.map((c) => exact[c])) - exact[i]) <= 1e-9 * Math.abs(exact[i]);

  const climb = (i) => {
    const inside = children(domains[i].path).filter((c) => domains[c].is_partition || isAbove(c));
    inside.filter((c) => !domains[c].is_partition).forEach(climb);
    shown[i] = isAll(inside, i) ? sumKnown(inside.map((c) => shown[c])) : toSteps(exact[i], scale);
  };
  const descend = (i) => {
    const below = children(domains[i].path).filter((c) => !domains[c].is_partition && !isAbove(c));
    const parts = below.map((c) => exact[c]);
    if (!isAbove(i) && isKnown(exact[i])) {
      const rest = exact[i] - sumKnown(parts);
      /* What is no rest at all must not become a step of one. */
      const all = parts.concat(Math.abs(rest) <= 1e-9 * Math.abs(exact[i]) ? [] : [rest]);
      shareOut(all, scale, shown[i]).steps.slice(0, below.length).forEach((v, k) => { shown[below[k]] = v; });
    } else {
      below.forEach((c) => { shown[c] = toSteps(exact[c], scale); });
    }
    children(domains[i].path).forEach(descend);
  };

  for (const i of children(null)) {
    if (isAbove(i)) climb(i);
    else if (!domains[i].is_partition) shown[i] = toSteps(exact[i], scale);
    descend(i);
  }
  return shown;
}

/*
 * What is stacked to the power of the machine: the domains that make it up, and of a GPU that is
 * divided its instances, with what it took outside of them, if anything. watts: of each domain, at
 * each point; an instance has none where it was not there.
 */
function stackedDomains(domains, watts) {
  return domains.flatMap((domain, i) => {
    if (!domain.is_partition) return [];
    const inside = domains.map((d, c) => c).filter((c) => domains[c].parent === domain.path &&
      domains[c].kind === 'gpu_instance' && watts[c].some((value) => value > 0));
    if (!inside.length) return [{ name: domain.path, watts: watts[i] }];
    const rest = watts[i].map((value, at) => (isKnown(value) ?
      Math.max(0, value - sumKnown(inside.map((c) => watts[c][at]))) : value));
    const isAll = rest.every((value, at) => !(value > 1e-5 * watts[i][at])); /* of floats */
    return [...(isAll ? [] : [{ name: `${domain.path}, in no instance`, watts: rest }]),
      ...inside.map((c) => ({ name: domains[c].path, watts: watts[c] }))];
  });
}

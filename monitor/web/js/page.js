/* What the pages do beyond what the server has written: local times, live refresh, timelines, acts.
 *
 * The pages work without it. It talks to the server that it came from only, and stores nothing.
 *
 * time[datetime]                text in UTC -> in the viewer's zone, UTC on hover
 * main#main[data-refresh]       seconds between refreshes; without it the page stays as it is
 * #status, #main                what a refresh replaces; elements that shall keep their state have ids
 * figure.timeline               svg -> uPlot in the same box
 *   data-history                address of the past (api/v1/history?...)
 *   data-family, data-labels    which metric of it; labels as in a query: "class=fraud&max_fpr=0.1"
 *   data-limits                 [{"name": text, "value": number}, ...]
 *   data-marks                  [{"time": epoch seconds, "kind": alert|resolved|action|version, "text": text}, ...]
 * form[data-act]                asks for an act: data-act is the address (a button's own goes first),
 *                               data-method POST or DELETE; fields by name, "matchers.alert" is nested;
 *                               input[data-token] is sent as the Bearer token; output says what came of it
 *   input[data-exact]           the text, as JSON, that its value stands for as long as nobody changes it
 */
"use strict";

const LIVE = ["status", "main"];
const LONGEST_WAIT = 60; // seconds between attempts while the server does not answer
const PATIENCE = 20_000; // milliseconds for an answer
const DONE = 10_000; // milliseconds for which it is said that something was done
const MARKS = { alert: ["--bad", "▲"], resolved: ["--good", "●"], action: ["--warn", "■"], version: ["--quiet", "◆"] };
const ROWS = 2; // of marks' texts, above the lines
const ROW = 15; // pixels

// fetch refuses addresses that carry a user's name and password, as the page's own may.
const here = location.origin + location.pathname;
const address = (relative) => new URL(relative, here).href;
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* ---- times: ISO order as on the server, so that lines keep their width and logs can be compared ---- */

const zoned = new Intl.DateTimeFormat("sv-SE", {
  year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit",
  timeZoneName: "short",
});
const written = (milliseconds) => zoned.format(milliseconds); // "2025-11-29 13:00:00 CET"

function localise(root) {
  for (const time of all("time[datetime]", root)) {
    const date = new Date(time.dateTime);
    if (time.title || Number.isNaN(date.getTime())) continue;
    time.title = time.textContent;
    time.textContent = written(date);
  }
}

/* ---- refresh ---- */

const control = (node) => node instanceof Element && node.matches("input, select, textarea");
const option = (each) => each.selected !== each.defaultSelected;

/** Whether somebody has typed or chosen something that the server does not know. */
function touched(field) {
  if (field === document.activeElement) return true;
  if (field instanceof HTMLSelectElement) return [...field.options].some(option);
  return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
}

const MORPH = {
  callbacks: {
    beforeNodeMorphed: (old) => !(old.nodeName === "OUTPUT" || (control(old) && touched(old))),
    beforeNodeRemoved: (old) => !old.classList?.contains("plot"),
    beforeAttributeUpdated: (name, node) => !(name === "open" && node.nodeName === "DETAILS"),
  },
};

/** Make the page what the server says now, and keep what somebody opened, typed or selected. */
function morph(html) {
  const next = new DOMParser().parseFromString(html, "text/html");
  if (!next.getElementById("main")) throw new Error("what answers is not the monitor");
  prepare(next);
  for (const id of LIVE) {
    const [old, fresh] = [document.getElementById(id), next.getElementById(id)];
    if (old && fresh) Idiomorph.morph(old, fresh, MORPH);
  }
  document.title = next.title;
}

function prepare(root) {
  // A parser without scripts reads their content as elements.
  all("noscript", root).forEach((each) => each.remove());
  localise(root);
}

async function page() {
  const answer = await fetch(here + location.search, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
  if (answer.status === 401) throw new Unauthorized("the token is asked for again: reload the page");
  if (!answer.ok && answer.status !== 404) throw new Error(`the monitor answers ${answer.status}`);
  return answer.text();
}

class Unauthorized extends Error {}

const refreshing = { at: Date.now(), failures: 0, timer: 0, ended: false, turn: 0 };

function period() {
  return Number(document.getElementById("main")?.dataset.refresh) || 0;
}

function schedule() {
  clearTimeout(refreshing.timer);
  if (!period() || refreshing.ended) return;
  const wait = Math.min(period() * 2 ** refreshing.failures, Math.max(LONGEST_WAIT, period()));
  refreshing.timer = setTimeout(refresh, 1000 * wait);
}

/** Fetch the page again; in a hidden tab this waits until somebody looks. */
async function refresh() {
  clearTimeout(refreshing.timer);
  if (document.hidden || refreshing.ended) return;
  const turn = (refreshing.turn += 1);
  try {
    const html = await page();
    if (turn !== refreshing.turn) return; // a later one knows more
    morph(html);
    Object.assign(refreshing, { at: Date.now(), failures: 0 });
    say("stale", "");
  } catch (error) {
    if (turn !== refreshing.turn) return;
    refreshing.failures += 1;
    refreshing.ended = error instanceof Unauthorized;
    const why = error instanceof TypeError || error.name === "TimeoutError" ? "the monitor does not answer" : error.message;
    say("stale", `Not refreshed since ${written(refreshing.at)}: ${why}.`);
  }
  await drawAll();
  schedule();
}

/** Show a remark above the page, where it moves nothing; an empty one goes away. */
function say(id, text) {
  const shown = document.getElementById(id) ?? document.createElement("p");
  Object.assign(shown, { id, className: "remark", textContent: text, hidden: !text });
  shown.setAttribute("role", "status");
  remarks().append(shown);
}

function remarks() {
  const found = document.getElementById("remarks");
  if (found) return found;
  const made = Object.assign(document.createElement("div"), { id: "remarks" });
  document.body.append(made);
  return made;
}

/* ---- timelines ---- */

const plots = new Map(); // by figure: {plot, place, marked}

/** Whether labels are those that are written as in a query. */
function same(labels, query) {
  const wanted = [...new URLSearchParams(query)];
  return wanted.length === Object.keys(labels).length && wanted.every(([name, text]) => labels[name] === text);
}

async function past(url) {
  const answer = await fetch(address(url), { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
  if (!answer.ok) throw new Error(`no history: ${answer.status}`);
  return answer.json();
}

/** Draw every timeline of the page from the past as it is now, each history fetched once. */
async function drawAll() {
  for (const figure of [...plots.keys()]) if (!figure.isConnected) remove(figure);
  const asked = new Map();
  const drawn = all("figure.timeline[data-history]").map(async (figure) => {
    const url = figure.dataset.history;
    if (!asked.has(url)) asked.set(url, past(url));
    draw(figure, await asked.get(url));
  });
  // Where there is no history, the server's picture stays.
  await Promise.allSettled(drawn);
}

function remove(figure) {
  const { plot, place } = plots.get(figure);
  plot.destroy();
  place.remove();
  sizes.unobserve(figure);
  plots.delete(figure);
}

function draw(figure, history) {
  const { family, labels = "" } = figure.dataset;
  const metric = history.metrics.find((each) => each.name === family && same(each.labels, labels));
  const svg = figure.querySelector("svg");
  if (!metric || !svg || history.timestamps.length < 2) {
    if (plots.has(figure)) remove(figure); // of what the figure was about before
    return;
  }
  const data = [history.timestamps, metric.lower, metric.upper, metric.value]; // the last one lies on top
  const known = plots.get(figure);
  if (known?.marked === marked(figure)) return update(known.plot, data);
  if (known) remove(figure); // the first marks need room
  const place = Object.assign(document.createElement("div"), { className: "plot", id: `${figure.id}-plot` });
  place.setAttribute("aria-hidden", "true"); // the picture below it, which can't be seen, has the words
  figure.append(place);
  const plot = new uPlot(options(figure, place), data, place);
  plots.set(figure, { plot, place, marked: marked(figure) });
  fit(figure);
  sizes.observe(figure);
}

function update(plot, data) {
  const { min, max } = plot.scales.x;
  const [times] = plot.data;
  const zoomed = min > times[0] || max < times[times.length - 1];
  plot.setData(data, !zoomed);
  if (zoomed) plot.setScale("x", { min, max });
}

/** Lay the plot over the server's picture, which keeps the place. */
function fit(figure) {
  const { plot, place } = plots.get(figure);
  const [outer, box] = [figure.getBoundingClientRect(), figure.querySelector("svg").getBoundingClientRect()];
  if (!box.width) return;
  place.style.left = `${box.left - outer.left}px`;
  place.style.top = `${box.top - outer.top}px`;
  if (plot.width !== Math.floor(box.width) || plot.height !== Math.floor(box.height)) {
    plot.setSize({ width: Math.floor(box.width), height: Math.floor(box.height) });
  }
}

const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => plots.has(target) && fit(target)));

const marked = (figure) => Boolean(figure.dataset.marks?.includes("{"));
const parsed = (text) => JSON.parse(text || "[]");

function options(figure, place) {
  const box = figure.querySelector("svg").getBoundingClientRect();
  const legend = Object.assign(document.createElement("div"), { className: "legend" });
  const font = "11px system-ui, sans-serif";
  const grid = { stroke: () => color("--line"), width: 1 };
  const axis = { stroke: () => color("--quiet"), grid, ticks: grid, font };
  const bound = { stroke: "transparent", width: 0, points: { show: false } };
  return {
    width: Math.floor(box.width) || 300,
    height: Math.floor(box.height) || 150,
    legend: { show: false }, // it would need a place of its own
    padding: [marked(figure) ? 6 + ROWS * ROW : null, null, null, null],
    cursor: { y: false, points: { size: 7 } },
    scales: { y: { range: (_, low, high) => range(low, high, parsed(figure.dataset.limits)) } },
    axes: [{ ...axis, values: hours, space: 60 }, { ...axis, size: 52 }],
    series: [{}, bound, bound, { stroke: () => color("--accent"), width: 2 }],
    bands: [{ series: [2, 1], fill: () => `${color("--accent")}33` }], // #rrggbb and a fifth of it
    hooks: {
      init: [() => place.append(legend)],
      draw: [(plot) => lines(plot, figure)],
      setCursor: [(plot) => (legend.textContent = told(plot, parsed(figure.dataset.marks)))],
    },
  };
}

/** Return the least range that holds the values and the limits, with some air. */
function range(low, high, limits) {
  const known = [low, high, ...limits.map((each) => each.value)].filter((each) => each !== null);
  if (!known.length) return [0, 1];
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const air = (most - least || Math.abs(most) || 1) * 0.08;
  return [least - air, most + air];
}

/** Write the hours of an axis, with the day where it begins; days or months where it is long. */
function hours(_, times, __, ___, step) {
  let before = "";
  return times.map((each) => {
    const text = written(1000 * each);
    const [day, hour] = [text.slice(5, 10), text.slice(11, step < 60 ? 19 : 16)];
    const first = day !== before;
    before = day;
    if (step >= 28 * 86_400) return text.slice(0, 7);
    return step >= 86_400 ? day : first ? `${hour}\n${day}` : hour;
  });
}

const digits = (value) => (value === null || value === undefined ? "–" : value.toFixed(4));

/** Say what is under the cursor. */
function told(plot, marks) {
  const { idx, left } = plot.cursor;
  if (idx === null || idx === undefined || left < 0) return "";
  const [times, lower, upper, values] = plot.data;
  const interval = lower[idx] === null || upper[idx] === null ? "" : ` [${digits(lower[idx])}, ${digits(upper[idx])}]`;
  const value = values[idx] === null ? "undefined" : digits(values[idx]) + interval;
  const near = marks.filter((each) => Math.abs(plot.valToPos(each.time, "x") - left) < 6).map((each) => each.text);
  return [written(1000 * times[idx]), value, ...near].join(" · ");
}

function lines(plot, figure) {
  const { ctx } = plot;
  ctx.save();
  Object.assign(ctx, { font: `${px(11)}px system-ui, sans-serif`, lineWidth: px(1), textBaseline: "alphabetic" });
  drawLimits(plot, parsed(figure.dataset.limits));
  drawMarks(plot, parsed(figure.dataset.marks).sort((a, b) => a.time - b.time));
  ctx.restore();
}

const px = (size) => size * uPlot.pxRatio;

function drawLimits({ ctx, bbox, valToPos }, limits) {
  ctx.textAlign = "right";
  const right = bbox.left + bbox.width;
  for (const { name, value } of limits) {
    const y = valToPos(value, "y", true);
    stroke(ctx, "--bad", [6, 4], [bbox.left, y], [right, y]);
    ctx.fillText(name, right - px(3), y - px(4));
  }
}

/** Draw marks down, each kind with a sign of its own, and what they say where there is room. */
function drawMarks({ ctx, bbox, valToPos }, marks) {
  ctx.textAlign = "left";
  const { left, top, height } = bbox;
  const right = left + bbox.width;
  const taken = new Array(ROWS).fill(-Infinity);
  for (const { time, kind, text } of marks) {
    const x = valToPos(time, "x", true);
    if (x < left || x > right) continue;
    const [name, sign] = MARKS[kind] ?? MARKS.version;
    stroke(ctx, name, [2, 3], [x, top], [x, top + height]);
    const wide = ctx.measureText(`${sign} ${text}  `).width;
    const start = Math.min(x - px(4), right - wide);
    const row = taken.findIndex((end) => end <= start);
    if (row >= 0) taken[row] = start + wide;
    // What finds no room is told at the cursor.
    if (row >= 0) ctx.fillText(`${sign} ${text}`, start, top - px(4 + row * ROW));
    else ctx.fillText(sign, x - px(4), top + px(11));
  }
}

function stroke(ctx, name, dashes, from, to) {
  ctx.strokeStyle = ctx.fillStyle = color(name);
  ctx.setLineDash(dashes.map(px));
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
}

/* ---- acts: approve, reject, pause, silence ---- */

/** Return the fields of a form as the API wants them: empty ones left out, "a.b" as b within a. */
function fields(form) {
  const found = {};
  for (const [name, typed] of new FormData(form)) {
    const { dataset, value, defaultValue } = form.elements[name];
    const text = dataset.exact && value === defaultValue ? JSON.parse(dataset.exact) : typed;
    if (!text.trim()) continue;
    const [first, ...rest] = name.split(".");
    if (rest.length) (found[first] ??= {})[rest.join(".")] = text;
    else found[first] = text;
  }
  return found;
}

async function ask(form, button) {
  const method = form.dataset.method ?? "POST";
  const token = form.querySelector("[data-token]");
  const headers = { Authorization: `Bearer ${token.value}` };
  token.value = "";
  const url = new URL(address(button?.dataset.act ?? form.dataset.act));
  const request = { method, headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) };
  if (method === "POST") {
    headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(fields(form));
  } else {
    url.search = new URLSearchParams(fields(form));
  }
  const answer = await fetch(url, request);
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(said.error ?? `the monitor answers ${answer.status}`);
  return said.status ? `Done: ${said.status.replaceAll("_", " ")}.` : "Done.";
}

const done = { timer: 0 };

async function act(event) {
  const form = event.target;
  if (!form.matches("form[data-act]")) return;
  event.preventDefault();
  const output = form.querySelector("output");
  const buttons = all("button", form);
  buttons.forEach((each) => (each.disabled = true));
  output.className = "";
  output.textContent = "…";
  say("done", ""); // of an act before
  try {
    const answer = await ask(form, event.submitter);
    form.reset();
    output.textContent = "";
    say("done", answer); // the form may be gone, with what it was about
    clearTimeout(done.timer);
    done.timer = setTimeout(say, DONE, "done", "");
    await refresh();
  } catch (error) {
    output.className = "bad";
    output.textContent = error instanceof TypeError ? "The monitor does not answer." : error.message;
  }
  buttons.forEach((each) => (each.disabled = false));
}

/* ---- choices ---- */

/** Go where a form leads, with line breaks in names as they are: browsers would send each as two characters. */
function choose(event) {
  const form = event.target;
  if (form.method !== "get") return;
  event.preventDefault();
  location.assign(`${form.action.split("?")[0]}?${new URLSearchParams(new FormData(form))}`);
}

/* ---- begin ---- */

prepare(document);
drawAll();
schedule();
document.addEventListener("submit", act);
document.addEventListener("submit", choose);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && period() && Date.now() - refreshing.at > 1000 * period()) refresh();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const { plot } of plots.values()) plot.redraw(false, true);
});

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens the reports that report_files.py made in headless Chromium and uses them as a person would.
//
//   node page_test.mjs CHROMIUM MODULES REPORTS [NAME…]      screenshots go to REPORTS/NAME-THEME-WIDTH.png
//                                                            and REPORTS/NAME-stream.png
//
// For each: no message on the console, nothing loaded from outside, usable after less than two seconds of work; all
// sections there; the map painted in every colouring; hover, click, keys, table, streams, phases and themes work and
// stay in step.
import assert from "node:assert/strict";
import fs from "node:fs";
import {createRequire} from "node:module";
import path from "node:path";
import {pathToFileURL} from "node:url";

const [executablePath, modules, reports, ...names] = process.argv.slice(2);
if (!fs.existsSync(path.join(modules, "installed"))) {
  console.log("skipped: this build has no page, as npm could not install its packages");
  process.exit(77);
}
const {chromium} = createRequire(path.resolve(modules, "package.json"))("playwright-core");
const browser = await chromium.launch({executablePath, args: ["--no-sandbox"]});
const canvas = ".map canvas";

async function open(name) {
  const page = await browser.newPage({viewport: {width: 1440, height: 900}, colorScheme: "light"});
  page.problems = [];
  page.on("console", (message) => page.problems.push(message.text()));
  page.on("pageerror", (error) => page.problems.push(error.stack));
  page.on("request", (request) => request.url().startsWith("file:") || page.problems.push(`loads ${request.url()}`));
  // The processor's time of the page's thread, so that others on the machine do not count.
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", {timeDomain: "threadTicks"});
  const begin = Date.now();
  await page.goto(pathToFileURL(path.join(reports, name)).href);
  await page.waitForSelector(canvas);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  page.seconds = (Date.now() - begin) / 1000;
  const {metrics} = await session.send("Performance.getMetrics");
  page.busySeconds = metrics.find((metric) => metric.name === "TaskDuration").value;
  return page;
}

// How many colours the map shows.
// What the map shows once it is drawn: the number of its colours, and a hash of all pixels.
const pictureOf = (page) =>
  page.$eval(canvas, async (element) => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const copy = new OffscreenCanvas(element.width, element.height).getContext("2d", {willReadFrequently: true});
    copy.drawImage(element, 0, 0);
    const {data} = copy.getImageData(0, 0, element.width, element.height);
    const seen = new Set();
    let hash = 0;
    for (let at = 0; at < data.length; at += 4) {
      const colour = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
      seen.add(colour);
      hash = (Math.imul(hash, 31) + colour) | 0;
    }
    return {colours: seen.size, hash};
  });
const textOf = (page, selector) => page.$eval(selector, (element) => element.textContent);

async function showsAllParts(page, report) {
  assert.equal(await page.evaluate(() => document.compatMode), "CSS1Compat");
  assert.ok(!(await textOf(page, "body")).includes("SPDX"), "a comment of the source is shown");
  const sections = await page.$$eval("main section", (elements) => elements.map(({id}) => id));
  assert.deepEqual(sections, ["figures", "bound", "floorplan", "kernels", "time", "limits", "timeline", "origin"]);
  assert.equal(
    await page.$$eval(".chart", (charts) => charts.filter((chart) => !chart.querySelector("svg")).length),
    0,
    "empty charts",
  );
  assert.equal(await page.$$eval("#kernels tbody tr", (rows) => rows.length), report.kernels.length);
  assert.ok((await textOf(page, "#bound")).includes(report.bound));
  const axis = await page.$$eval("#limits svg", (charts) => charts.map((chart) => chart.textContent).join());
  assert.ok(axis.includes("multiply-adds per cycle and core") && axis.includes("predicted cycles"), axis);
  assert.equal(
    await page.$$eval(
      "svg, canvas",
      (drawings) =>
        drawings.filter(
          (drawing) =>
            drawing.closest("main") &&
            !drawing.closest("[aria-hidden], figure") &&
            !drawing.getAttribute("aria-label"),
        ).length,
    ),
    0,
    "drawings without a label",
  );
}

async function paintsEveryColouring(page) {
  for (const view of ["sram", "fma", "slots", "links", "stalls", "kernel"]) {
    await page.check(`input[value=${view}]`, {force: true});
    assert.ok((await pictureOf(page)).colours > 4, `the map by ${view} is empty`);
    if (view !== "kernel") assert.match(await textOf(page, ".legend"), /% of/);
  }
}

async function selectsCores(page, report) {
  const box = await (await page.$(canvas)).boundingBox();
  await page.mouse.move(box.x + 60, box.y + 40);
  assert.match(await textOf(page, ".tip"), /row \d+, col \d+/);
  assert.equal(await page.$eval(".tip", (tip) => tip.hidden), false);
  await page.mouse.click(box.x + 60, box.y + 40);
  await followsKeys(page);
  const [row, col] = report.configurations[0].roles.cores[0];
  await page.fill("#place", `${row}, ${col}`);
  await page.keyboard.press("Enter");
  const core = await textOf(page, ".core");
  assert.ok(core.startsWith(`Core (${row}, ${col})`), core);
  assert.match(core, /SRAM.*runtime.*stack.*code/s);
  assert.ok(core.includes(`of ${report.machine.sram_bytes.toLocaleString("en-US")} bytes`), core);
}

async function followsKeys(page) {
  const [, row, col] = (await textOf(page, ".core h3")).match(/^Core \((\d+), (\d+)\)$/);
  await page.keyboard.press("ArrowRight");
  assert.equal(await textOf(page, ".core h3"), `Core (${row}, ${Number(col) + 1})`);
  assert.match(await textOf(page, "[aria-live]"), new RegExp(`row ${row}, col ${Number(col) + 1}`));
}

async function linksTableAndMap(page, report) {
  const before = (await pictureOf(page)).hash;
  const selected = () =>
    page.$$eval("tr[aria-selected=true] .name", (names) => names.map(({textContent}) => textContent));
  await page.click("#kernels tbody tr:first-child");
  assert.deepEqual(await selected(), [report.kernels[0].name]);
  if (report.kernels.length > 1)
    assert.notEqual((await pictureOf(page)).hash, before, "the map does not show the selection");
  await page.click("#kernels tbody tr:first-child");
  assert.deepEqual(await selected(), []);
  await page.fill("#filter", "no such kernel");
  assert.equal(await page.$$eval("#kernels tbody tr", (rows) => rows.length), 0);
  await page.fill("#filter", "");
  await page.click("#kernels th >> text=cores");
  const cores = await page.$$eval("#kernels tbody tr", (rows) =>
    rows.map((row) => Number(row.children[2].textContent.replaceAll(",", ""))),
  );
  assert.deepEqual(
    cores,
    [...cores].sort((a, b) => b - a),
    "not sorted by cores",
  );
}

async function followsStreams(page, name) {
  await page.selectOption("#net", {index: 1});
  assert.match(await textOf(page, ".legend"), /sends.*receives.*passes/);
  assert.ok((await pictureOf(page)).colours > 2, "the map does not show the stream");
  await (await page.$("#floorplan")).screenshot({path: path.join(reports, `${name}-stream.png`)});
  await page.selectOption("#net", {index: 0});
}

async function zooms(page) {
  await page.click("text=wafer");
  const whole = await page.$eval(canvas, (element) => element.toDataURL());
  await page.click("button[aria-label='Zoom in']");
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  assert.notEqual(await page.$eval(canvas, (element) => element.toDataURL()), whole);
  await page.click("text=wafer");
}

async function switchesThemes(page) {
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  const before = await theme();
  await page.click("#theme");
  assert.notEqual(await theme(), before);
  assert.ok((await pictureOf(page)).colours > 4);
  await page.click("#theme");
}

async function judge(name) {
  const report = JSON.parse(fs.readFileSync(path.join(reports, `${name}.json`), "utf8"));
  const page = await open(`${name}.html`);
  assert.ok(page.busySeconds < 2, `usable after ${page.busySeconds} s of work`);
  await showsAllParts(page, report);
  await paintsEveryColouring(page);
  await selectsCores(page, report);
  await linksTableAndMap(page, report);
  await followsStreams(page, name);
  await zooms(page);
  await switchesThemes(page);
  if (report.configurations.length > 1) {
    await page.selectOption("#phase", {index: 0});
    assert.ok((await pictureOf(page)).colours > 4);
  }
  for (const [width, theme] of [
    [1440, "light"],
    [640, "dark"],
  ]) {
    await page.setViewportSize({width, height: 900});
    await page.emulateMedia({colorScheme: theme});
    // Charts follow the width.
    await page.evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(done), 60)));
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
    assert.ok(
      await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      `wider than ${width} pixels`,
    );
    await page.screenshot({path: path.join(reports, `${name}-${theme}-${width}.png`), fullPage: true});
  }
  assert.deepEqual(page.problems, []);
  await page.close();
  console.log(
    `${name}: usable after ${page.seconds} s, of which ${page.busySeconds.toFixed(2)} s are work of the page`,
  );
}

// A page that was cut off says so.
async function tellsOfBrokenData() {
  const whole = fs.readFileSync(path.join(reports, "small.html"), "utf8");
  const broken = whole.replace(/(<script type="application\/json" id="data">[^]{200})[^]*?<\/script>/, "$1</script>");
  assert.ok(broken.length < whole.length);
  fs.writeFileSync(path.join(reports, "broken.html"), broken);
  const page = await browser.newPage();
  await page.goto(pathToFileURL(path.join(reports, "broken.html")).href);
  assert.match(await textOf(page, "[role=alert]"), /cannot be shown: its data is incomplete/);
}

try {
  for (const name of names.length ? names : ["full", "small", "phased", "defects"]) await judge(name);
  if (!names.length) await tellsOfBrokenData();
} finally {
  await browser.close();
}

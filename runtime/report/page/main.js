// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the page from the report's JSON.
import {el} from "./dom.js";
import {Explorer} from "./explorer.js";
import {Model} from "./model.js";
import {isDark} from "./palette.js";
import {redrawCharts} from "./parts.js";
import {analysis, bound, figures, origin} from "./sections.js";

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  button.setAttribute("aria-label", isDark() ? "Switch to the light theme" : "Switch to the dark theme");
  button.title = button.getAttribute("aria-label");
}

function begin() {
  const report = JSON.parse(document.getElementById("data").textContent);
  if (report.report_version !== 1) throw new Error(`version ${report.report_version}, this page shows 1`);
  const model = new Model(report);
  const name = report.model.split("/").pop();
  document.title = `${name} on ${report.target} – wsc report`;
  document.getElementById("title").replaceChildren(name, el("small", {}, `${report.target}, ${report.execution}`));
  figures(model);
  bound(model);
  const explorer = new Explorer(model);
  analysis(model);
  origin(model);
  const repaint = () => {
    explorer.table.fill();
    explorer.set({colours: true});
    redrawCharts();
  };
  document.getElementById("theme").addEventListener("click", () => {
    setTheme(isDark() ? "light" : "dark");
    repaint();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
    setTheme(event.matches ? "dark" : "light");
    repaint();
  });
}

setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
try {
  begin();
} catch (error) {
  document
    .querySelector("main")
    .replaceChildren(
      el(
        "p",
        {class: "problem", role: "alert"},
        `This report cannot be shown: its data is incomplete or of another version (${error.message}). ` +
          "Write it again with wsc-compile or wsc-run --report.",
      ),
    );
}

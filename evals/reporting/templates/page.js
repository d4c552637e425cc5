"use strict";
// Filters the list of samples and opens the one that the address names.
const form = document.getElementById("filter");
const rows = Array.from(document.querySelectorAll("details.sample"));
const count = document.getElementById("count");
const texts = new Map();

function textOf(row) {
  if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase());
  return texts.get(row);
}

function isBelow(row, measure, limit) {
  if (!measure || Number.isNaN(limit)) return true;
  const value = JSON.parse(row.dataset.values)[measure];
  return value !== undefined && value < limit;
}

function isChanged(row, wanted) {
  const change = row.dataset.change;
  return !wanted || (wanted === "any" ? change !== "" : change === wanted || change === "mixed");
}

function isWanted(row) {
  const wanted = (name) => (form.elements[name] ? form.elements[name].value : "");
  const words = wanted("text").toLowerCase().split(/\s+/).filter(Boolean);
  return (
    (!wanted("kind") || row.dataset.kind === wanted("kind").slice(1)) &&
    (!wanted("outcome") || row.dataset.outcome === wanted("outcome")) &&
    isChanged(row, wanted("change")) &&
    isBelow(row, wanted("measure"), form.elements.below.valueAsNumber) &&
    words.every((word) => textOf(row).includes(word))
  );
}

function filter() {
  let shown = 0;
  for (const row of rows) {
    row.hidden = !isWanted(row);
    shown += row.hidden ? 0 : 1;
  }
  count.textContent = `${shown} of ${rows.length} shown`;
}

function openNamed() {
  const row = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (!row || !row.matches("details.sample")) return;
  if (row.hidden) {
    form.reset();
    filter();
  }
  row.open = true;
  row.querySelector("summary").focus();
  row.scrollIntoView();
}

form.hidden = false;
form.addEventListener("input", filter);
form.addEventListener("reset", () => setTimeout(filter));
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", openNamed);
filter();
openNamed();

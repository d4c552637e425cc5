/* What HTML and CSS cannot do alone. Texts of papers are never read as HTML here: a card holds
   copies of nodes that stand in the page already. `element` and `trigger` are gradio's. */
const CARD = "card";
const one = (selector, root = document) => root.querySelector(selector);

/* --- The cited sentence in a card beside its number --- */
const card = document.createElement("div");
card.id = CARD;
card.setAttribute("role", "tooltip");
card.hidden = true;
document.body.append(card);
let cited = null, leaving = 0;

const target = (link) => document.getElementById(link.hash.slice(1));
const marks = (link, source) => {
  const chosen = [...link.classList].filter((name) => name.startsWith("at-"))
    .map((name) => document.getElementById(`${source.id}-${name.slice(3)}`)).filter(Boolean);
  return chosen.length ? chosen : [...source.querySelectorAll("mark")];
};

function show(link) {
  clearTimeout(leaving);
  const source = target(link);
  if (!source || link === cited) return;
  hide();
  cited = link;
  const title = document.createElement("p");
  title.className = "title";
  title.append(...one("h3", source).cloneNode(true).childNodes);
  card.replaceChildren(title);
  for (const mark of marks(link, source)) {
    const line = document.createElement("blockquote");
    line.append(...mark.cloneNode(true).childNodes);
    card.append(line);
  }
  const open = document.createElement("a");
  open.href = link.hash;
  open.className = "open";
  open.textContent = "Open the abstract";
  card.append(open);
  link.setAttribute("aria-describedby", CARD);
  card.hidden = false;
  place(link.getBoundingClientRect());
}

function place(at) {
  const room = document.documentElement.clientWidth, gap = 8;
  const left = Math.min(Math.max(gap, at.left - 24), room - card.offsetWidth - gap);
  const above = at.top - card.offsetHeight - gap;
  card.style.left = `${left}px`;
  card.style.top = `${above > gap ? above : at.bottom + gap}px`;
}

function hide() {
  clearTimeout(leaving);
  cited?.removeAttribute("aria-describedby");
  cited = null;
  card.hidden = true;
}

const number = (node) => node.closest?.('.cites a[href^="#source-"]');
const later = () => { clearTimeout(leaving); leaving = setTimeout(hide, 180); };
document.addEventListener("pointerover", (event) => {
  if (event.pointerType === "touch") return;
  const link = number(event.target);
  if (link) show(link);
  else if (event.target.closest?.(`#${CARD}`)) clearTimeout(leaving);
  else if (cited) later();
});
document.addEventListener("focusin", (event) => {
  const link = number(event.target);
  if (link) show(link);
  else if (!event.target.closest?.(`#${CARD}`)) hide();
});
document.addEventListener("scroll", () => cited && hide(), true);

/* --- Opening an abstract, an answer, a folded part --- */
function open(link) {
  const source = target(link);
  if (!source) return;
  const found = source.matches("article") && number(link) ? marks(link, source) : [];
  reveal(source, found[0] ?? source);
  for (const mark of found) flash(mark);
}

function reveal(node, seen = node) {
  for (let up = node; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
  document.querySelectorAll(".shown").forEach((old) => old.classList.remove("shown"));
  node.classList.add("shown");
  node.focus?.({ preventScroll: true });
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  seen.scrollIntoView({ block: "center", behavior: still ? "auto" : "smooth" });
}

function flash(mark) {
  mark.classList.remove("flash");
  void mark.offsetWidth;
  mark.classList.add("flash");
}

/* --- What the program is told --- */
const asking = new Set(["again", "ask"]);
const local = {
  copy: (button) => put(document.getElementById(`copy-${button.value}`).title, button),
  link: (button) => put(new URL(button.value, location.href).href, button),
  rename: (button) => rename(button),
  talks: () => drawer(!document.body.classList.contains("talks-open")),
};

async function put(text, button) {
  const said = button.textContent;
  await navigator.clipboard.writeText(text);
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = said; }, 1600);
}

function rename(button) {
  const talk = button.closest(".talk"), shown = one(".name", talk);
  const field = document.createElement("input");
  field.value = shown.firstChild.textContent;
  field.setAttribute("aria-label", "New name");
  field.maxLength = 80;
  one("details", talk).open = false;
  shown.hidden = true;
  talk.prepend(field);
  field.select();
  let ended = false;
  const end = (keep) => {
    if (ended) return;
    ended = true;  // removing the field blurs it
    const name = field.value.trim();
    field.remove();
    shown.hidden = false;
    if (keep && name) trigger("click", { name: "rename", value: button.value, text: name });
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") end(true);
    if (event.key === "Escape") end(false);
  });
  field.addEventListener("blur", () => end(true));
}

const drawer = (open) => {
  document.body.classList.toggle("talks-open", open);
  if (open) one("#talks input, #talks textarea")?.focus();
};

document.addEventListener("click", (event) => {
  const link = event.target.closest?.('#columns a[href^="#"], #card a');
  if (link) {
    event.preventDefault();
    const from = link.closest(`#${CARD}`) ? cited : link;
    const touched = event.pointerType === "touch" && number(link) && link !== shownOnce;
    shownOnce = link;
    if (touched) return show(link);
    hide();
    return open(from ?? link);
  }
  if (!event.target.closest?.(`#${CARD}`)) hide();
  const button = event.target.closest?.("button.do");
  if (button) act(button);
  else if (!event.target.closest?.("#talks")) drawer(false);
  for (const menu of document.querySelectorAll("details.menu[open]"))
    if (!menu.contains(event.target) || event.target.closest("a")) menu.open = false;
});
let shownOnce = null;

function act(button) {
  if (local[button.name]) return local[button.name](button);
  if (button.name === "open" || button.name === "new") drawer(false);
  wanted = button.name === "open" ? button.value.split("#")[1] : null;
  trigger(asking.has(button.name) ? "submit" : "click", { name: button.name, value: button.value });
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  hide();
  drawer(false);
  document.querySelectorAll("details.menu[open]").forEach((menu) => { menu.open = false; });
});

/* --- The address follows the conversation; a link to an answer leads to it --- */
let wanted = location.hash.startsWith("#turn-") ? location.hash.slice(1) : null;
function follow() {
  const kept = one("#kept")?.dataset.conversation;
  if (kept === undefined) return;
  const address = new URL(location.href);
  if (kept !== (address.searchParams.get("conversation") ?? "")) {
    kept ? address.searchParams.set("conversation", kept) : address.searchParams.delete("conversation");
    address.hash = wanted ?? "";
    history.replaceState(null, "", address);
  }
  const found = wanted && document.getElementById(wanted);
  if (found) { wanted = null; reveal(found); }
}
new MutationObserver(follow).observe(document.body, { childList: true, subtree: true });

/* --- What gradio gives no attributes for --- */
document.documentElement.lang ||= "en";
one("#status")?.setAttribute("aria-live", "polite");
for (const part of ["#chat", "#panel", "#talks"]) one(part)?.setAttribute("tabindex", "0");

// Pointer and keys for a topic map inside `element`. Titles are shown as text, never as markup.
const SIDE = 1000, NEAR = 14, MOST_ZOOM = 40;
const wire = (map) => {
  const points = JSON.parse(map.dataset.map);
  const [svg, tip, card] = ["svg", ".tip", ".card"].map((name) => map.querySelector(name));
  const view = { x: 0, y: 0, size: SIDE };
  let dragged = null, moved = false;

  const show = () => {
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.size} ${view.size}`);
    const side = Math.min(svg.clientWidth, svg.clientHeight) || SIDE;
    svg.style.setProperty("--unit", view.size / side);
    thin();
  };
  const thin = () => {  // of labels that lie over each other the one of the larger cluster stays
    const kept = [];
    for (const label of svg.querySelectorAll("text")) {
      label.style.visibility = "";
      const box = label.getBBox();
      const hit = kept.some((o) => box.x < o.x + o.width && o.x < box.x + box.width &&
        box.y < o.y + o.height && o.y < box.y + box.height);
      if (hit) label.style.visibility = "hidden"; else kept.push(box);
    }
  };
  const at = (event) => {
    const place = new DOMPoint(event.clientX, event.clientY);
    return place.matrixTransform(svg.getScreenCTM().inverse());
  };
  const zoom = (factor, about) => {
    const size = Math.min(SIDE, Math.max(SIDE / MOST_ZOOM, view.size * factor));
    const keep = (low, middle) => Math.min(SIDE - size,
      Math.max(0, middle - (middle - low) * size / view.size));
    Object.assign(view, { x: keep(view.x, about.x), y: keep(view.y, about.y), size });
    show();
  };
  const nearest = (event) => {
    const place = at(event), reach = NEAR / svg.getScreenCTM().a;
    let best = null, least = reach * reach;
    for (const point of points) {
      const square = (point[0] - place.x) ** 2 + (point[1] - place.y) ** 2;
      if (square < least) [best, least] = [point, square];
    }
    return best;
  };
  const hover = (point, event) => {
    tip.hidden = !point;
    svg.style.cursor = point ? "pointer" : "";
    if (!point) return;
    tip.textContent = point[4];
    const box = svg.parentElement.getBoundingClientRect();
    const left = event.clientX - box.left;
    const right = left > box.width / 2;
    Object.assign(tip.style, { top: `${event.clientY - box.top + 14}px`,
      left: right ? "" : `${left + 12}px`, right: right ? `${box.width - left + 12}px` : "" });
  };
  const choose = (point) => {
    svg.querySelector(".here").setAttribute("d", `M${point[0]} ${point[1]}h0`);
    const title = document.createElement("h3"), place = document.createElement("p");
    [title.textContent, place.textContent] = [point[4], point[5]];
    card.replaceChildren(title, place);
    if (!map.dataset.actions) return;
    for (const [action, text] of [["ask", "Ask about it"], ["open", "Open"]]) {
      const button = document.createElement("button");
      [button.type, button.textContent] = ["button", text];
      button.addEventListener("click", () => chosen(action, point[3]));
      card.append(button);
    }
  };
  const fill = (details) => {
    const list = details.querySelector("ul");
    if (list.children.length) return;
    const mine = points.filter((point) => point[2] === Number(details.dataset.cluster));
    mine.sort((a, b) => b[6] - a[6]);
    list.append(...mine.map((point) => {
      const item = document.createElement("li"), button = document.createElement("button");
      [button.type, button.textContent] = ["button", point[4]];
      button.addEventListener("click", () => choose(point));
      if (point[6]) item.className = "marked";
      item.append(button);
      return item;
    }));
  };
  const lit = (cluster) => {
    for (const path of svg.querySelectorAll(".dots")) {
      path.classList.toggle("faint", cluster !== null && path.dataset.cluster !== cluster);
    }
  };

  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, at(event));
  }, { passive: false });
  svg.addEventListener("pointerdown", (event) => {
    [dragged, moved] = [event.pointerType === "touch" ? null : at(event), false];
  });
  svg.addEventListener("pointermove", (event) => {
    if (dragged) {
      const now = at(event);
      moved = moved || Math.hypot(now.x - dragged.x, now.y - dragged.y) > view.size / 200;
      const keep = (low) => Math.min(SIDE - view.size, Math.max(0, low));
      Object.assign(view, { x: keep(view.x + dragged.x - now.x), y: keep(view.y + dragged.y - now.y) });
      show();
    } else hover(nearest(event), event);
  });
  for (const name of ["pointerup", "pointerleave"]) {
    svg.addEventListener(name, () => { dragged = null; tip.hidden = name !== "pointerup" || tip.hidden; });
  }
  svg.addEventListener("click", (event) => {
    const point = moved ? null : nearest(event);
    if (point) choose(point);
  });
  map.querySelector(".zoom").addEventListener("click", (event) => {
    const factor = { in: 0.6, out: 1.6, all: MOST_ZOOM }[event.target.dataset.zoom];
    if (factor) zoom(factor, { x: view.x + view.size / 2, y: view.y + view.size / 2 });
  });
  for (const details of map.querySelectorAll("details")) {
    details.addEventListener("toggle", () => { if (details.open) fill(details); });
    details.addEventListener("pointerenter", () => lit(details.dataset.cluster));
    details.addEventListener("pointerleave", () => lit(null));
  }
  new ResizeObserver(show).observe(svg);
  show();
};
const start = () => {
  for (const map of element.querySelectorAll(".topic-map:not([data-wired])")) {
    map.dataset.wired = "yes";
    wire(map);
  }
};
start();

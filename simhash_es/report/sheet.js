// A sheet shows one set of rows: a group (the kept row first) or the two rows of a pair near the threshold.
const sheet = (() => {
  const NARROW = window.matchMedia("(max-width: 760px)");
  const FOLD_FROM = 3; // so many unchanged paragraphs away from any change are folded
  let dialog, closed, current = null, parts, isInline = NARROW.matches, isLoose = false, atChange = 0;

  /** Set up once, before the first show(). */
  function prepare(node, onClose) {
    dialog = node;
    closed = () => {
      if (current === null) return;
      current = null;
      onClose();
    };
    dialog.addEventListener("close", closed); // the Escape key
    dialog.addEventListener("click", (event) => event.target === dialog && close());
    dialog.addEventListener("keydown", keys);
    NARROW.addEventListener("change", () => {
      isInline = NARROW.matches;
      if (current) drawDifference();
    });
  }

  function keys(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|INPUT)$/.test(event.target.tagName)) return;
    const act = {
      n: () => jump(1),
      p: () => jump(-1),
      j: () => step(1),
      k: () => step(-1),
      "]": () => current.next && (location.hash = current.next),
      "[": () => current.previous && (location.hash = current.previous),
    }[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  }

  const step = (by) => {
    const to = current.right + by;
    if (to > 0 && to < current.rows.length) choose(current.left === to ? 0 : current.left, to);
  };

  function close() {
    if (dialog.open) dialog.close();
    closed(); // at once: the event comes some time later
  }

  /** view: {title, subtitle, rows, left, right, size, previous, next, hashOf(left, right)} */
  function show(view) {
    current = view;
    const button = (label, target, text) =>
      el("button", { type: "button", class: "quiet icon", "aria-label": label, title: label, disabled: !target, on: { click: () => (location.hash = target) } }, text);
    const steps = view.previous !== undefined ? [button("Previous group ([)", view.previous, "↑"), button("Next group (])", view.next, "↓")] : [];
    const head = el(
      "header",
      { class: "sheet-head" },
      el("div", { class: "sheet-title" }, el("h2", { id: "sheet-title" }, view.title), el("p", {}, view.subtitle)),
      el("div", { class: "sheet-steps" }, ...steps,
        el("button", { type: "button", class: "quiet icon close", "aria-label": "Close (Esc)", title: "Close (Esc)", on: { click: close } }, "✕")),
    );
    parts = {
      list: el("ol", { class: "members", "aria-label": "Texts of this group" }),
      bar: el("div", { class: "compare-bar" }),
      tools: el("div", { class: "tools" }),
      difference: el("div", { class: "difference", tabindex: "0", role: "region", "aria-label": "Difference of the two texts" }),
    };
    const aside = view.rows.length > 2 ? el("aside", {}, parts.list) : null;
    const main = el("div", { class: "compare" }, parts.bar, parts.tools, parts.difference);
    dialog.replaceChildren(head, el("div", { class: aside ? "sheet-body" : "sheet-body alone" }, aside, main));
    view.rows.forEach((row, i) => parts.list.append(el("li", {}, memberButton(row, i))));
    if (view.size > view.rows.length) {
      parts.list.append(el("li", { class: "more" }, `and ${count(view.size - view.rows.length)} more, not listed in this report`));
    }
    if (!dialog.open) dialog.showModal();
    draw();
    const active = parts.list.querySelector("[aria-current]");
    if (active) active.scrollIntoView({ block: "nearest" });
    parts.difference.focus({ preventScroll: true });
  }

  function choose(left, right) {
    if (left === right) left = right === 0 ? 1 : 0;
    history.replaceState(null, "", current.hashOf(left, right));
    current.left = left;
    current.right = right;
    draw();
    const active = parts.list.querySelector('[data-row="' + right + '"]');
    if (active) active.scrollIntoView({ block: "nearest" });
  }

  function memberButton(row, i) {
    const facts = i === 0 ? [el("span", { class: "tag kept" }, "kept")] : [
      row.is_exact ? el("span", { class: "tag" }, "exact") : el("span", { class: "number" }, decimals(row.similarity)),
      el("span", { class: "bits", title: "Bits that differ from the text kept: half A · half B" }, `${bits(row)} bits`),
    ];
    return el(
      "button",
      { type: "button", class: "member", "data-row": i, on: { click: () => (i === 0 ? choose(0, current.right || 1) : choose(0, i)) } },
      el("span", { class: "member-head" }, el("bdi", { class: "id" }, row.id), ...facts),
      el("bdi", { class: "place" }, row.place),
    );
  }

  function draw() {
    for (const button of parts.list.querySelectorAll(".member")) {
      const i = Number(button.dataset.row);
      if (i === current.right) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
      button.classList.toggle("is-left", i === current.left);
    }
    drawBar();
    drawDifference();
  }

  function drawBar() {
    const name = (row, i) => `${row.id} — ${i === 0 && current.keptLabel ? current.keptLabel + ", " : ""}${row.place}`;
    const picker = (side, label, chosen) => {
      const select = el("select", { id: "pick-" + side, on: { change: () => pick(side, Number(select.value)) } });
      current.rows.forEach((row, i) => select.append(el("option", { value: i, selected: i === chosen }, name(row, i))));
      return el("div", { class: "pick " + side }, el("label", { for: "pick-" + side }, label), select);
    };
    const swap = el("button", { type: "button", class: "quiet icon swap", "aria-label": "Swap sides", title: "Swap sides", on: { click: () => choose(current.right, current.left) } }, "⇄");
    parts.bar.replaceChildren(picker("left", "Left", current.left), swap, picker("right", "Right", current.right));
  }

  const pick = (side, i) => {
    const [left, right] = side === "left" ? [i, current.right] : [current.left, i];
    if (left === right) choose(current.right, current.left);
    else choose(left, right);
  };

  function facts(left, right) {
    const row = current.left === 0 ? right : current.right === 0 ? left : null;
    if (!row) return ["Neither is the text kept, so no measured similarity"];
    const found = [];
    if (row.is_exact) found.push("Same normal form");
    if (row.similarity !== undefined) found.push(`Similarity ${decimals(row.similarity)}`);
    if (row.distance !== undefined) {
      const check = row.check_distance === undefined ? "" : `, half B ${row.check_distance}`;
      found.push(`Distance: ${check ? "half A " : ""}${row.distance}${check} ${row.distance === 1 && !check ? "bit" : "bits"}`);
    }
    return found;
  }

  function drawDifference() {
    const [left, right] = [current.rows[current.left], current.rows[current.right]];
    atChange = 0;
    const view = (label, value) => el("button", { type: "button", "aria-pressed": String(isInline === value), on: { click: () => { isInline = value; drawDifference(); } } }, label);
    const loose = el("input", { type: "checkbox", id: "loose", on: { change: () => { isLoose = loose.checked; drawDifference(); } } });
    loose.checked = isLoose;
    parts.tools.replaceChildren(
      el("p", { class: "facts" }, ...facts(left, right).map((fact) => el("span", {}, fact))),
      el("label", { class: "check", for: "loose" }, loose, "Ignore case, width and punctuation"),
      el("div", { class: "switch", role: "group", "aria-label": "Layout" }, view("Side by side", false), view("Inline", true)),
    );
    if (left.text === undefined || right.text === undefined) {
      parts.difference.replaceChildren(el("p", { class: "notice" }, "This report carries the texts of the largest groups only; these are not among them."));
      return;
    }
    const found = difference(left.text, right.text, { loose: isLoose });
    parts.difference.replaceChildren(summary(found, left, right), ...columns(found.rows, left, right));
  }

  function summary(found, left, right) {
    const line = el("div", { class: "changes", role: "status" });
    if (found.isSame) {
      const text = left.text === right.text ? "The two texts are identical, character for character." : "Only case, width, punctuation or spacing differ.";
      line.append(el("span", { class: "same-note" }, text));
    } else {
      const go = (label, by, text) => el("button", { type: "button", class: "quiet icon", "aria-label": label, title: label, on: { click: () => jump(by) } }, text);
      line.append(
        el("strong", {}, plural(found.changes, "change")),
        el("span", { class: "legend" },
          found.removed ? el("del", {}, `${plural(found.removed, "character")} only left`) : null, found.removed && found.added ? " " : null,
          found.added ? el("ins", {}, `${plural(found.added, "character")} only right`) : null),
        el("span", { class: "jumps" }, go("Previous change (p)", -1, "‹"), go("Next change (n)", 1, "›")),
      );
    }
    if (left.is_cut || right.is_cut) line.append(el("span", { class: "cut-note" }, "Long text: only its beginning is in this report."));
    return line;
  }

  function columns(rows, left, right) {
    const grid = el("div", { class: "rows" + (isInline ? " inline" : "") + (rows.some((row) => row.isChanged) ? "" : " same") });
    if (!isInline) {
      const title = (row) => el("div", { class: "cell cell-title" }, el("bdi", { class: "id" }, row.id), " ", el("bdi", { class: "where" }, row.place));
      grid.append(el("div", { class: "row row-title" }, title(left), title(right)));
    }
    const language = { left: languageOf(left.text), right: languageOf(right.text) };
    const draw = isInline ? (row) => inlineRow(row, language) : (row) => pairedRow(row, language);
    for (let i = 0; i < rows.length; ) {
      let end = i;
      while (end < rows.length && !rows[end].isChanged) end++;
      const from = i + (i > 0 ? 1 : 0);
      const to = end - (end < rows.length ? 1 : 0);
      if (to - from >= FOLD_FROM && end - i < rows.length) {
        for (let r = i; r < from; r++) grid.append(draw(rows[r]));
        grid.append(fold(rows.slice(from, to), draw));
        for (let r = to; r < end; r++) grid.append(draw(rows[r]));
      } else for (let r = i; r < end; r++) grid.append(draw(rows[r]));
      if (end < rows.length) grid.append(draw(rows[end]));
      i = end + 1;
    }
    return [grid];
  }

  function fold(rows, draw) {
    const button = el("button", { type: "button", class: "fold", on: { click: () => button.replaceWith(...rows.map(draw)) } }, `Show ${plural(rows.length, "unchanged paragraph")}`);
    return button;
  }

  function marked(name, text, change) {
    const node = el(name, { "data-change": change }, text);
    if (/^[\r\n]+$/.test(text)) node.classList.add("line-end");
    else if (!/[\p{L}\p{N}]/u.test(text)) node.classList.add("sign"); // a line through a comma would hide it
    return node;
  }

  /** Unchanged text; the line ends that close a row are not drawn, since the row ends there anyway. */
  const same = (row, i, text) => (i === row.parts.length - 1 ? text.replace(/[\r\n]+$/, "") : text);

  function pairedRow(row, language) {
    const cell = (side, name) => {
      const pieces = row.parts.map((part, i) => (part.change ? part[side] && marked(name, part[side], part.change) : same(row, i, part[side])));
      return el("div", { class: "cell " + side, lang: language[side], dir: "auto" }, ...pieces.filter(Boolean));
    };
    return el("div", { class: row.isChanged ? "row changed" : "row" }, cell("left", "del"), cell("right", "ins"));
  }

  /** Both sides in one run of text: what was cut stands before what replaced it. */
  function inlineRow(row, language) {
    const cell = el("div", { class: "cell both", lang: language.left || language.right, dir: "auto" });
    for (const [i, { left, right, change }] of row.parts.entries()) {
      if (!change) cell.append(same(row, i, right));
      else {
        if (left) cell.append(marked("del", left, change));
        if (right) cell.append(marked("ins", right, change));
      }
    }
    return el("div", { class: row.isChanged ? "row changed" : "row" }, cell);
  }

  /** Go to the next or previous change, round the end. */
  function jump(by) {
    const numbers = [...parts.difference.querySelectorAll("[data-change]")].map((mark) => Number(mark.dataset.change));
    const last = Math.max(0, ...numbers);
    if (!last) return;
    atChange = ((atChange + by - 1 + last) % last) + 1;
    for (const mark of parts.difference.querySelectorAll(".here")) mark.classList.remove("here");
    const marks = parts.difference.querySelectorAll(`[data-change="${atChange}"]`);
    for (const mark of marks) mark.classList.add("here");
    marks[0].scrollIntoView({ block: "center" });
  }

  return { prepare, show, close };
})();

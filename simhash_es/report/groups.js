// The table of groups.

/** Texts that are mostly Chinese get Chinese glyphs and line breaking. */
const languageOf = (text) => {
  const sample = (text || "").slice(0, 400);
  const chinese = (sample.match(/[\u3400-\u9fff]/g) || []).length;
  return chinese * 4 > sample.length ? "zh" : null;
};
const preview = (text, n = 160) => (text === undefined ? "" : text.slice(0, n * 2).replace(/\s+/g, " ").trim().slice(0, n));
const bits = (row) => (row.distance === undefined ? "–" : row.check_distance === undefined ? `${row.distance}` : `${row.distance} · ${row.check_distance}`);

/** A thin bar for a similarity: 0.5 and below is empty, 1 is full. */
function meter(similarity) {
  if (similarity === undefined) return null;
  const bar = el("span", { class: "meter", "aria-hidden": "true" }, el("i"));
  bar.firstChild.style.width = `${Math.max(0, (similarity - 0.5) * 200)}%`;
  return bar;
}

const groupTable = (() => {
  const PAGE = 20;
  const COLUMNS = [
    { key: "rank", label: "#", numeric: true },
    { key: "name", label: "Text kept" },
    { key: "size", label: "Texts", numeric: true },
    { key: "lowest", label: "Lowest similarity", numeric: true },
    { key: "widest", label: "Widest distance", numeric: true, title: "Bits that differ from the text kept: half A · half B" },
  ];

  function rowOf(group, i) {
    const known = group.members.filter((m) => m.similarity !== undefined).map((m) => m.similarity);
    const distances = group.members.filter((m) => m.distance !== undefined);
    const widest = distances.reduce((far, m) => (far === null || m.distance > far.distance ? m : far), null);
    const words = [group.kept, ...group.members].flatMap((m) => [m.id, m.place, m.text || ""]);
    return {
      group,
      rank: i + 1,
      name: preview(group.kept.text) || group.kept.id || "",
      size: group.size,
      lowest: known.length ? Math.min(...known) : undefined,
      widest: widest ? widest.distance : undefined,
      widestLabel: widest ? bits(widest) : "–",
      haystack: words.join("\n").toLowerCase(),
    };
  }

  function show(host, search, groups, open) {
    const rows = groups.map(rowOf);
    const state = { key: "rank", isUp: true, page: 0, query: "" };
    const status = el("p", { class: "status", role: "status", "aria-live": "polite" });
    const body = el("tbody");
    const heads = COLUMNS.map((column) => {
      const button = el("button", { type: "button", class: "sort", title: column.title, on: { click: () => sortBy(column) } }, column.label);
      return el("th", { scope: "col", class: column.numeric ? "numeric " + column.key : column.key }, button);
    });
    const pager = el("nav", { class: "pager", "aria-label": "Pages of groups" });
    const table = el("table", { class: "groups" }, el("thead", {}, el("tr", {}, ...heads)), body);
    host.append(el("div", { class: "panel flush" }, table, el("div", { class: "table-foot" }, status, pager)));

    function sortBy(column) {
      const firstUp = column.key === "rank" || column.key === "name" || column.key === "lowest";
      state.isUp = state.key === column.key ? !state.isUp : firstUp;
      state.key = column.key;
      state.page = 0;
      draw();
    }

    function chosen() {
      const query = state.query.trim().toLowerCase();
      const found = query ? rows.filter((row) => row.haystack.includes(query)) : [...rows];
      const sign = state.isUp ? 1 : -1;
      const compare = (a, b) => {
        const [x, y] = [a[state.key], b[state.key]];
        if (x === y) return a.rank - b.rank;
        if (x === undefined) return 1; // unknown values come last either way
        if (y === undefined) return -1;
        return sign * (typeof x === "string" ? x.localeCompare(y) : x - y);
      };
      return found.sort(compare);
    }

    function draw() {
      const found = chosen();
      const pages = Math.max(1, Math.ceil(found.length / PAGE));
      state.page = Math.min(state.page, pages - 1);
      const from = state.page * PAGE;
      COLUMNS.forEach((column, i) => {
        if (column.key === state.key) heads[i].setAttribute("aria-sort", state.isUp ? "ascending" : "descending");
        else heads[i].removeAttribute("aria-sort");
      });
      body.replaceChildren(...found.slice(from, from + PAGE).map(tableRow));
      if (!found.length) {
        body.append(el("tr", {}, el("td", { colspan: COLUMNS.length, class: "nothing" }, "No group matches this search.")));
      }
      status.textContent = found.length
        ? `${count(from + 1)}–${count(Math.min(from + PAGE, found.length))} of ${plural(found.length, "group")}`
        : "0 groups";
      drawPager(pages);
    }

    function drawPager(pages) {
      const go = (page) => () => {
        state.page = page;
        draw();
        const near = pager.querySelector(page ? ".previous" : ".next");
        if (near) near.focus({ preventScroll: true });
      };
      const button = (label, page, name) =>
        el("button", { type: "button", class: "quiet " + name, disabled: page < 0 || page >= pages, on: { click: go(page) } }, label);
      pager.replaceChildren();
      if (pages > 1) {
        pager.append(
          button("Previous", state.page - 1, "previous"),
          el("span", {}, `${count(state.page + 1)} / ${count(pages)}`),
          button("Next", state.page + 1, "next"),
        );
      }
    }

    function tableRow(row) {
      const { kept } = row.group;
      const link = el("a", { href: `#group=${row.rank}&pair=1`, class: "open", lang: languageOf(row.name) }, row.name || "(empty text)");
      const where = el("span", { class: "where" }, el("bdi", { class: "id" }, kept.id), " ", el("bdi", {}, kept.place));
      const cell = (key, label, ...children) => el("td", { class: "numeric " + key, "data-label": label }, ...children);
      return el(
        "tr",
        { on: { click: (event) => event.target.closest("a") || open(row.rank) } },
        cell("rank", "", String(row.rank)),
        el("td", { class: "name" }, link, where),
        cell("size", "texts", count(row.size)),
        cell("lowest", "similarity", meter(row.lowest), decimals(row.lowest)),
        cell("widest", "", row.widestLabel, el("span", { class: "unit" }, row.widest === undefined ? "" : " bits")),
      );
    }

    let timer = 0;
    search.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        state.query = search.value;
        state.page = 0;
        draw();
      }, 120);
    });
    draw();
  }

  return { show };
})();

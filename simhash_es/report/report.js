// Puts the page together from the data block and follows the address: #group=3&pair=1 shows the difference between the
// text kept of group 3 and its first copy, &against=2 compares that copy with the second one, #call=1 opens a close call.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { totals, limits, profile } = data;
  const groups = data.groups || [];
  const calls = data.closest_calls || [];
  const $ = (id) => document.getElementById(id);

  function masthead() {
    const facts = [data.created, data.generator].filter(Boolean).join(" · ");
    $("masthead").append(
      el("p", { class: "overline" }, "Near-duplicate report"),
      el("h1", {}, el("bdi", {}, data.title)),
      el("p", { class: "facts" }, facts),
      data.command ? el("pre", { class: "command", tabindex: "0", "aria-label": "Command" }, el("code", {}, data.command)) : null,
    );
  }

  function showTotals() {
    const shares = [
      ["kept", "Kept", totals.kept],
      ["near", "Near copies", totals.near_copies],
      ["exact", "Exact copies", totals.exact_copies],
      ["skipped", "Skipped", totals.skipped],
    ];
    const bar = el("div", { class: "share", role: "img", "aria-label": shares.map(([, label, n]) => `${label} ${count(n)}`).join(", ") });
    const legend = el("ul", { class: "share-legend" });
    for (const [name, label, n] of shares) {
      if (n) {
        const part = el("span", { class: name });
        part.style.flexGrow = n;
        bar.append(part);
      }
      if (n || name !== "skipped") {
        legend.append(el("li", {}, el("i", { class: name, "aria-hidden": "true" }), label, el("b", {}, count(n)), el("span", {}, percent(n, totals.read))));
      }
    }
    const headline = el(
      "div",
      { class: "headline" },
      el("p", { class: "big" }, el("strong", { id: "removed-share" }, percent(totals.removed, totals.read)), " of the texts repeat another one"),
      el("p", { class: "lead" }, `${count(totals.removed)} of ${count(totals.read)} texts can go; ${count(totals.kept)} stay.`),
      bar,
      legend,
    );
    const card = (name, label, n, note) =>
      el("div", { class: "card", "data-total": name }, el("dt", {}, label), el("dd", {}, count(n)), note ? el("p", {}, note) : null);
    const average = totals.groups ? `${(1 + totals.removed / totals.groups).toFixed(1)} texts each on average` : null;
    const cards = el(
      "dl",
      { class: "cards" },
      card("read", "Read", totals.read, "kept + removed + skipped"),
      card("kept", "Kept", totals.kept),
      card("removed", "Removed", totals.removed, "exact + near copies"),
      card("groups", "Groups", totals.groups, average),
      card("exact_copies", "Exact copies", totals.exact_copies, "same letters and digits"),
      card("near_copies", "Near copies", totals.near_copies, limits.similarity === undefined ? null : `${limits.measure} ≥ ${limits.similarity}`),
      card("empty", "Empty", totals.empty, totals.empty ? "kept, not compared" : null),
      card("short", "Short", totals.short, totals.short ? "few features" : null),
      card("skipped", "Skipped", totals.skipped, totals.skipped ? "rows that could not be read" : null),
    );
    $("totals-body").append(el("div", { class: "panel hero" }, headline, cards));
    for (const note of data.notes || []) $("totals-body").append(el("p", { class: "notice" }, note));
  }

  function showGroups() {
    const listed = groups.length < totals.groups ? `The ${count(groups.length)} largest of ${count(totals.groups)} groups.` : `${plural(groups.length, "group")}, largest first.`;
    $("groups-lead").textContent = groups.length ? `${listed} Open one to see what differs.` : "";
    if (groups.length) groupTable.show($("groups-body"), $("search"), groups, (rank) => (location.hash = `#group=${rank}&pair=1`));
    else {
      document.querySelector(".search").remove();
      $("groups-body").append(el("p", { class: "panel nothing" }, "No text repeats another one."));
    }
  }

  function showCalls() {
    if (!calls.length) return $("closest").remove();
    const list = (isAccepted, title, note) => {
      const found = calls.map((call, i) => [call, i]).filter(([call]) => Boolean(call.is_accepted) === isAccepted);
      const items = found.map(([call, i]) => el(
        "li",
        {},
        el(
          "a",
          { href: `#call=${i + 1}`, class: "call" },
          el("span", { class: "number" }, decimals(call.other.similarity)),
          el("span", { class: "call-text" },
            el("span", { class: "text", lang: languageOf(call.other.text) }, preview(call.other.text, 90) || "(no text)"),
            el("span", { class: "where" }, el("bdi", { class: "id" }, call.kept.id), " ↔ ", el("bdi", { class: "id" }, call.other.id))),
          el("span", { class: "bits" }, `${bits(call.other)} bits`),
        ),
      ));
      return found.length ? el("div", { class: "panel flush" }, el("h3", { class: isAccepted ? "accepted" : "rejected" }, title, el("small", {}, note)), el("ol", { class: "calls" }, ...items)) : null;
    };
    $("closest-body").append(el("div", { class: "two" }, ...[
      list(true, "Just accepted", "lowest similarity first"),
      list(false, "Just rejected", "highest similarity first"),
    ].filter(Boolean)));
  }

  function showDistributions() {
    const histograms = data.histograms || [];
    if (!histograms.length) return $("distributions").remove();
    $("distributions-lead").textContent = "Pairs by how far apart they are. The dashed line is the limit; pale bars lie beyond it.";
    let isLog = charts.needsLog(histograms);
    const redraw = charts.show($("distributions-body"), histograms, isLog);
    const choice = (label, value) => el("button", { type: "button", "aria-pressed": String(isLog === value), on: { click: () => set(value) } }, label);
    const buttons = [choice("Linear", false), choice("Logarithmic", true)];
    const set = (value) => {
      isLog = value;
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(isLog === Boolean(i))));
      redraw(isLog);
    };
    $("scale").append(...buttons);
  }

  function showSettings() {
    const fact = (label, value, note) => (value === undefined ? null : el("div", {}, el("dt", {}, label), el("dd", {}, value, note ? el("small", {}, note) : null)));
    const lines = (title, list) => (list && list.length ? [el("h4", {}, title), el("ul", { class: "lines" }, ...list.map((line) => el("li", {}, line)))] : []);
    const limitFacts = el(
      "dl",
      { class: "settings" },
      fact("Similarity", limits.similarity === undefined ? undefined : `${limits.measure} ≥ ${limits.similarity}`),
      fact("Expected recall", limits.recall === undefined ? undefined : `${(100 * limits.recall).toFixed(limits.recall > 0.99 ? 1 : 0)}%`),
      fact("Distance, half A", limits.distance_bits === undefined ? undefined : `≤ ${limits.distance_bits} bits`),
      fact("Distance, half B", limits.check_distance_bits === undefined ? undefined : `≤ ${limits.check_distance_bits} bits`),
    );
    const limitPanel = el("div", { class: "panel" }, el("h3", {}, "Limits"), limitFacts, ...lines("Why", limits.reasons));
    const profilePanel = el("div", { class: "panel" }, el("h3", {}, "Profile ", el("span", { class: "tag" }, profile.name)), ...lines("What it does", profile.description), el("p", { class: "digest" }, "Digest ", el("code", {}, profile.digest)));
    $("settings-body").append(el("div", { class: "two" }, limitPanel, profilePanel));
    const seconds = data.seconds || [];
    const whole = seconds.reduce((sum, [, time]) => sum + time, 0);
    if (!whole) return;
    const bars = seconds.map(([stage, time]) => {
      const bar = el("span", { class: "time-bar", "aria-hidden": "true" }, el("i"));
      bar.firstChild.style.width = `${(100 * time) / whole}%`;
      return el("tr", {}, el("th", { scope: "row" }, stage), el("td", { class: "wide" }, bar), el("td", { class: "numeric" }, duration(time)), el("td", { class: "numeric share-of" }, percent(time, whole)));
    });
    $("settings-body").append(el("div", { class: "panel" }, el("h3", {}, "Time ", el("small", {}, duration(whole))), el("table", { class: "times" }, el("tbody", {}, ...bars))));
  }

  function duration(seconds) {
    if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
    if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
    return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  }

  /** Numbers of an address such as #group=3&pair=1; null for anything else. */
  function target() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const number = (name) => (/^\d+$/.test(asked.get(name) || "") ? Number(asked.get(name)) : null);
    return { group: number("group"), pair: number("pair"), against: number("against"), call: number("call") };
  }

  function route() {
    const { group, pair, against, call } = target();
    if (group !== null && groups[group - 1]) openGroup(group, pair, against);
    else if (call !== null && calls[call - 1]) openCall(call);
    else sheet.close();
  }

  function openGroup(rank, pair, against) {
    const group = groups[rank - 1];
    const rows = [group.kept, ...group.members];
    const within = (i, fallback) => (i !== null && i < rows.length ? i : fallback);
    let right = within(pair, 1);
    const left = within(against, right === 0 ? 1 : 0);
    if (left === right) right = left === 0 ? 1 : 0;
    sheet.show({
      title: `Group ${count(rank)}`,
      subtitle: `${plural(group.size, "text")}${groups.length > 1 ? ` · group ${count(rank)} of ${count(groups.length)}` : ""}`,
      rows,
      left,
      right,
      size: group.size,
      keptLabel: "kept",
      previous: rank > 1 ? `#group=${rank - 1}&pair=1` : "",
      next: rank < groups.length ? `#group=${rank + 1}&pair=1` : "",
      hashOf: (one, other) => `#group=${rank}&pair=${other}${one === 0 ? "" : `&against=${one}`}`,
    });
  }

  function openCall(number) {
    const call = calls[number - 1];
    sheet.show({
      title: call.is_accepted ? "Just accepted" : "Just rejected",
      subtitle: `${limits.measure} ${decimals(call.other.similarity)}${limits.similarity === undefined ? "" : `, limit ${limits.similarity}`}`,
      rows: [call.kept, call.other],
      left: 0,
      right: 1,
      size: 2,
      keptLabel: "",
      hashOf: () => `#call=${number}`,
    });
  }

  masthead();
  showTotals();
  showGroups();
  showCalls();
  $("report").hidden = false; // charts need their width
  showDistributions();
  showSettings();
  $("colophon").append(el("p", {}, `${data.generator}. Everything in this file stays on this computer: it makes no request.`));
  document.title = data.title;
  sheet.prepare($("sheet"), () => {
    if (target().group !== null || target().call !== null) history.replaceState(null, "", location.pathname + location.search);
  });
  window.addEventListener("hashchange", route);
  route();
})();

// Small building blocks and the histograms. Text is only ever set as text.

/** An element with attributes and children; strings become text nodes, null children are left out. */
function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

const count = (n) => n.toLocaleString("en-US");
const plural = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;
const percent = (part, whole) => {
  if (!whole || !part) return "0%";
  const share = (100 * part) / whole;
  return share < 0.1 ? "<0.1%" : `${share.toFixed(share < 10 ? 1 : 0)}%`;
};
const decimals = (value) => (value === undefined ? "–" : value.toFixed(3));

const charts = (() => {
  const HEIGHT = 214;
  const PAD = { top: 40, right: 8, bottom: 40, left: 44 };

  /** First and last bin to show: those that count, and the threshold, with a little air. */
  function shownBins(histogram) {
    const { counts, step, start } = histogram;
    let first = counts.findIndex((n) => n > 0);
    if (first < 0) return [0, counts.length - 1];
    let last = counts.length - 1;
    while (last > first && counts[last] === 0) last--;
    if (histogram.threshold !== undefined) {
      const bin = Math.min(Math.max(Math.floor((histogram.threshold - start) / step + 1e-9), 0), counts.length - 1);
      first = Math.min(first, bin);
      last = Math.max(last, bin);
    }
    const air = Math.max(1, Math.round((last - first) * 0.08));
    return [Math.max(0, first - air), Math.min(counts.length - 1, last + air)];
  }

  function niceStep(span, wanted) {
    const raw = span / wanted;
    const power = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw - 1e-12);
  }

  function countTicks(most, isLog) {
    const ticks = [];
    if (isLog) for (let t = 1; t <= most; t *= 10) ticks.push(t);
    else {
      const step = Math.max(1, niceStep(most, 4));
      for (let t = 0; t <= most; t += step) ticks.push(t);
    }
    return ticks;
  }

  const short = (n) => (n >= 1e6 ? `${+(n / 1e6).toFixed(1)}M` : n >= 1e3 ? `${+(n / 1e3).toFixed(1)}k` : String(n));

  function draw(histogram, width, isLog) {
    const { counts, start, step, threshold } = histogram;
    const isBits = step === 1;
    const [first, last] = shownBins(histogram);
    const bins = last - first + 1;
    const most = Math.max(1, ...counts);
    const inner = { w: width - PAD.left - PAD.right, h: HEIGHT - PAD.top - PAD.bottom };
    const height = (n) => (n === 0 ? 0 : Math.max(2, inner.h * (isLog ? Math.log10(n + 1) / Math.log10(most + 1) : n / most)));
    const x = (bin) => PAD.left + ((bin - first) * inner.w) / bins;
    const base = PAD.top + inner.h;
    const label = `${histogram.title}: ${plural(counts.reduce((a, b) => a + b, 0), "pair")}`;
    const root = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label, class: "chart" });

    for (const tick of countTicks(most, isLog)) {
      const y = base - (tick === 0 ? 0 : isLog ? (inner.h * Math.log10(tick + 1)) / Math.log10(most + 1) : (inner.h * tick) / most);
      root.append(
        svg("line", { x1: PAD.left, x2: width - PAD.right, y1: y, y2: y, class: tick ? "grid" : "axis" }),
        svg("text", { x: PAD.left - 8, y: y + 4, "text-anchor": "end" }, short(tick)),
      );
    }
    root.append(
      svg("line", { x1: PAD.left, x2: width - PAD.right, y1: base, y2: base, class: "axis" }),
      svg("text", { x: 0, y: 12, class: "axis-title" }, isLog ? "Pairs (log)" : "Pairs"),
    );

    const gap = inner.w / bins > 5 ? 1.5 : 0.5;
    for (let bin = first; bin <= last; bin++) {
      const low = start + bin * step;
      const middle = low + step / 2;
      const isAccepted =
        threshold === undefined || (histogram.accepted === "above" ? middle >= threshold : low <= threshold);
      const h = height(counts[bin]);
      const range = isBits ? plural(low, "bit") : `${low.toFixed(2)} – ${(low + step).toFixed(2)}`;
      const bar = svg("g", { class: isAccepted ? "bar accepted" : "bar rejected" });
      bar.append(
        svg("title", {}, `${range}: ${plural(counts[bin], "pair")}`),
        svg("rect", { x: x(bin), y: PAD.top, width: inner.w / bins, height: inner.h, class: "hit" }),
        svg("rect", { x: x(bin) + gap / 2, y: base - h, width: Math.max(0.5, inner.w / bins - gap), height: h, class: "fill" }),
      );
      root.append(bar);
    }

    const low = start + first * step;
    const high = start + (last + 1) * step;
    const every = isBits ? Math.max(1, niceStep(bins, 8)) : niceStep(high - low, 5);
    for (let tick = Math.ceil(low / every - 1e-9) * every; tick <= high - (isBits ? 1 : 0) + 1e-9; tick += every) {
      const at = x((tick - start) / step + (isBits ? 0.5 : 0));
      root.append(svg("text", { x: at, y: base + 16, "text-anchor": "middle" }, isBits ? String(tick) : tick.toFixed(every < 0.1 ? 2 : 1)));
    }
    root.append(svg("text", { x: PAD.left + inner.w / 2, y: HEIGHT - 4, "text-anchor": "middle", class: "axis-title" }, histogram.axis));

    if (threshold !== undefined) {
      const at = x((threshold - start) / step + (histogram.accepted === "above" ? 0 : isBits ? 1 : 0));
      const isRight = at > PAD.left + inner.w * 0.6;
      const text = histogram.accepted === "above" ? `limit ≥ ${threshold}` : `limit ≤ ${threshold}`;
      root.append(
        svg("line", { x1: at, x2: at, y1: PAD.top - 12, y2: base, class: "limit" }),
        svg("text", { x: at + (isRight ? -6 : 6), y: PAD.top - 8, "text-anchor": isRight ? "end" : "start", class: "limit-label" }, text),
      );
    }
    return root;
  }

  function figures(histogram) {
    const body = el("tbody");
    histogram.counts.forEach((n, bin) => {
      const low = histogram.start + bin * histogram.step;
      const range = histogram.step === 1 ? String(low) : `${low.toFixed(2)} – ${(low + histogram.step).toFixed(2)}`;
      if (n) body.append(el("tr", {}, el("th", { scope: "row" }, range), el("td", {}, count(n))));
    });
    const head = el("thead", {}, el("tr", {}, el("th", { scope: "col" }, histogram.axis), el("th", { scope: "col" }, "Pairs")));
    return el("details", { class: "figures" }, el("summary", {}, "Figures"), el("table", {}, head, body));
  }

  /** Draw all histograms into the host, again whenever its width changes. */
  function show(host, histograms, isLog) {
    const places = histograms.map((histogram) => {
      const frame = el("div", { class: "chart-frame" });
      host.append(el("figure", { class: "panel" }, el("figcaption", {}, histogram.title), frame, figures(histogram)));
      return { histogram, frame };
    });
    const redraw = (log) => {
      isLog = log;
      for (const { histogram, frame } of places) {
        frame.replaceChildren(draw(histogram, Math.max(220, Math.round(frame.clientWidth || 340)), isLog));
      }
    };
    redraw(isLog);
    if (window.ResizeObserver) {
      const seen = new Map();
      const observer = new ResizeObserver((entries) => {
        const isNew = entries.some((entry) => Math.abs((seen.get(entry.target) || 0) - entry.contentRect.width) > 1);
        entries.forEach((entry) => seen.set(entry.target, entry.contentRect.width));
        if (isNew) requestAnimationFrame(() => redraw(isLog));
      });
      places.forEach(({ frame }) => observer.observe(frame));
    }
    return redraw;
  }

  /** Whether one bin dwarfs the others so much that a linear scale would hide them. */
  const needsLog = (histograms) =>
    histograms.some(({ counts }) => {
      const filled = counts.filter((n) => n > 0).sort((a, b) => a - b);
      return filled.length > 2 && filled[filled.length - 1] > 40 * filled[filled.length >> 1];
    });

  return { show, needsLog };
})();

"use strict";

// The difference of two texts: words in scripts that use spaces, single characters in Chinese.
// difference(left, right, {loose}) gives {rows, changes, removed, added, isSame}; a row is {parts, isChanged}, a part
// {left, right, change}: the text on either side and the number of the change, 0 where both sides are the same.
const difference = (() => {
  const MAX_EDITS = 1500; // Myers keeps about MAX_EDITS² numbers; beyond that, whole sentences are replaced
  const MANY_UNITS = 9000; // from here on sentences are compared first
  const LONG_ROW = 600; // characters after which a row may end with a sentence

  const PIECES =
    /\r\n|[\r\n]|[\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]|[^\r\n\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]+/gu;
  const PLAIN_WORDS = /[\p{L}\p{M}\p{N}_]+|\s+|[^\p{L}\p{M}\p{N}_\s]/gu;
  const CHINESE = /^[\u3400-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]$/u;
  const LETTER = /[\p{L}\p{M}\p{N}]/u;
  const LINE_END = /[\r\n]/;
  const SENTENCE_END = /[.!?。！？；]\s*$/u;

  const segmenter =
    typeof Intl === "object" && Intl.Segmenter ? new Intl.Segmenter(undefined, { granularity: "word" }) : null;

  /** Split a text into tokens whose concatenation is the text. */
  function tokens(text) {
    const found = [];
    for (const piece of text.match(PIECES) || []) {
      if (CHINESE.test(piece) || LINE_END.test(piece)) found.push(piece);
      else if (segmenter) for (const part of segmenter.segment(piece)) found.push(part.segment);
      else found.push(...piece.match(PLAIN_WORDS));
    }
    return found;
  }

  /** What is compared. Loosely: letters and digits without case and width, each with the marks that follow it. */
  function units(text, loose) {
    const parts = tokens(text);
    if (!loose) return parts.map((part) => ({ key: part, text: part }));
    const found = [];
    let before = "";
    for (const part of parts) {
      const key = part.normalize("NFKC").toLowerCase();
      if (LETTER.test(key)) {
        found.push({ key: key.replace(/[^\p{L}\p{M}\p{N}]+/gu, ""), text: before + part });
        before = "";
      } else if (found.length) found[found.length - 1].text += part;
      else before += part;
    }
    return found;
  }

  /** Shortest edit script of two number sequences (Myers 1986), or null when it needs more than `limit` edits. */
  function editScript(a, b, limit) {
    const most = Math.min(a.length + b.length, limit);
    const reach = new Int32Array(2 * most + 3);
    const trace = [];
    const middle = most + 1;
    for (let d = 0; d <= most; d++) {
      for (let k = -d; k <= d; k += 2) {
        const down = k === -d || (k !== d && reach[middle + k - 1] < reach[middle + k + 1]);
        let x = down ? reach[middle + k + 1] : reach[middle + k - 1] + 1;
        while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
        reach[middle + k] = x;
        if (x >= a.length && x - k >= b.length) return walkBack(trace, a.length, b.length, d);
      }
      trace.push(reach.slice(middle - d, middle + d + 1));
    }
    return null;
  }

  /** Equal runs [startA, startB, length], in order; trace[d] holds the diagonals -d … d after d edits. */
  function walkBack(trace, endA, endB, edits) {
    const runs = [];
    let [x, y] = [endA, endB];
    for (let d = edits; d > 0; d--) {
      const reach = (k) => (k < 1 - d || k > d - 1 ? -1 : trace[d - 1][k + d - 1]);
      const k = x - y;
      const down = k === -d || (k !== d && reach(k - 1) < reach(k + 1));
      const before = down ? reach(k + 1) : reach(k - 1);
      const from = down ? before : before + 1;
      if (x > from) runs.push([from, from - k, x - from]);
      [x, y] = [before, before - (down ? k + 1 : k - 1)];
    }
    if (x > 0) runs.push([0, 0, x]);
    return runs.reverse();
  }

  /** Give each key a number of its own: equal keys, equal numbers. */
  function numbering() {
    const numbers = new Map();
    return (key) => {
      if (!numbers.has(key)) numbers.set(key, numbers.size);
      return numbers.get(key);
    };
  }

  /** Equal runs of two unit lists; long lists are aligned by sentences first. */
  function equalRuns(left, right) {
    const number = numbering();
    const a = left.map((unit) => number(unit.key));
    const b = right.map((unit) => number(unit.key));
    const splitA = (from, to) => sentences(left, a, from, to);
    const splitB = (from, to) => sentences(right, b, from, to);
    return alignWithin(a, b, 0, a.length, 0, b.length, splitA, splitB);
  }

  /** Without splitters, sentences are not tried (again): what needs too many edits is then one change. */
  function alignWithin(a, b, a0, a1, b0, b1, splitA, splitB) {
    const runs = [];
    let start = 0;
    while (a0 + start < a1 && b0 + start < b1 && a[a0 + start] === b[b0 + start]) start++;
    let end = 0;
    while (a1 - end > a0 + start && b1 - end > b0 + start && a[a1 - end - 1] === b[b1 - end - 1]) end++;
    if (start) runs.push([a0, b0, start]);
    const [fromA, toA, fromB, toB] = [a0 + start, a1 - end, b0 + start, b1 - end];
    let inner = null;
    const size = toA - fromA + toB - fromB;
    if (fromA < toA && fromB < toB) {
      if (size <= MANY_UNITS || !splitA) inner = editScript(a.slice(fromA, toA), b.slice(fromB, toB), MAX_EDITS);
      if (inner) for (const [x, y, n] of inner) runs.push([fromA + x, fromB + y, n]);
      else if (splitA) runs.push(...alignSentences(a, b, splitA(fromA, toA), splitB(fromB, toB)));
    }
    if (end) runs.push([a1 - end, b1 - end, end]);
    return runs;
  }

  /** Align two lists of sentences {from, to, key}, then look inside what lies between equal ones. */
  function alignSentences(a, b, left, right) {
    const number = numbering();
    const script = editScript(left.map((s) => number(s.key)), right.map((s) => number(s.key)), MAX_EDITS) || [];
    const runs = [];
    let [i, j] = [0, 0];
    for (const [x, y, n] of [...script, [left.length, right.length, 0]]) {
      if (i < x && j < y) runs.push(...alignWithin(a, b, left[i].from, left[x - 1].to, right[j].from, right[y - 1].to));
      if (n) runs.push([left[x].from, right[y].from, left[x + n - 1].to - left[x].from]);
      [i, j] = [x + n, y + n];
    }
    return runs;
  }

  function sentences(list, numbers, lo, hi) {
    const found = [];
    let from = lo;
    for (let i = lo; i < hi; i++) {
      if (i + 1 === hi || LINE_END.test(list[i].text) || SENTENCE_END.test(list[i].text)) {
        found.push({ from, to: i + 1, key: numbers.slice(from, i + 1).join(" ") });
        from = i + 1;
      }
    }
    return found;
  }

  const textOf = (list, from, to) => {
    let text = "";
    for (let i = from; i < to; i++) text += list[i].text;
    return text;
  };

  /** Drop equal runs that only chop up a change: lone spaces or marks, or little text between large changes. */
  function tidy(runs, left, right) {
    const kept = [];
    let [x, y] = [0, 0];
    const gap = (toX, toY) => Math.max(textOf(left, x, toX).length, textOf(right, y, toY).length);
    for (let r = 0; r < runs.length; r++) {
      const [runX, runY, n] = runs[r];
      const before = gap(runX, runY);
      const next = r + 1 < runs.length ? runs[r + 1] : [left.length, right.length];
      const after = Math.max(
        textOf(left, runX + n, next[0]).length,
        textOf(right, runY + n, next[1]).length,
      );
      const text = textOf(left, runX, runX + n);
      const between = before > 0 && after > 0;
      const isBare = !LETTER.test(text) && !LINE_END.test(text) && text.length <= 2;
      if (between && (isBare || (text.length * 2 <= Math.min(before, after) && !LINE_END.test(text)))) continue;
      kept.push(runs[r]);
      [x, y] = [runX + n, runY + n];
    }
    return kept;
  }

  class Rows {
    constructor() {
      this.rows = [];
      this.open();
    }
    open() {
      this.row = { parts: [], isChanged: false };
      this.length = 0;
      this.isAtEnd = false; // a line has ended on both sides; further line ends still belong to this row
    }
    close() {
      if (this.row.parts.length) this.rows.push(this.row);
      this.open();
    }
    same(left, right) {
      if (this.isAtEnd && left.trim()) this.close();
      const { parts } = this.row;
      const last = parts[parts.length - 1];
      if (last && !last.change) {
        last.left += left;
        last.right += right;
      } else parts.push({ left, right, change: 0 });
      this.length += left.length;
      if (LINE_END.test(left) && LINE_END.test(right)) this.isAtEnd = true;
      else if (this.length > LONG_ROW && SENTENCE_END.test(left)) this.close();
    }
    change(left, right, number) {
      if (this.isAtEnd && (left.trim() || right.trim())) this.close();
      this.row.parts.push({ left, right, change: number });
      this.row.isChanged = true;
      this.length += Math.max(left.length, right.length);
    }
  }

  function difference(leftText, rightText, { loose = false } = {}) {
    const left = units(leftText, loose);
    const right = units(rightText, loose);
    const rows = new Rows();
    let [x, y, changes, removed, added] = [0, 0, 0, 0, 0];
    const runs = tidy(equalRuns(left, right), left, right);
    for (const [runX, runY, n] of [...runs, [left.length, right.length, 0]]) {
      const cut = textOf(left, x, runX);
      const fresh = textOf(right, y, runY);
      removed += cut.length;
      added += fresh.length;
      if (cut || fresh) rows.change(cut, fresh, ++changes);
      for (let i = 0; i < n; i++) rows.same(left[runX + i].text, right[runY + i].text);
      [x, y] = [runX + n, runY + n];
    }
    rows.close();
    return { rows: rows.rows, changes, removed, added, isSame: changes === 0 };
  }

  return difference;
})();

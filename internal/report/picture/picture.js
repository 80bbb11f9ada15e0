// Pictures of runs answer to pointer and keys. Everything here is an extra: without it the
// pictures are as they were drawn.
(() => {
'use strict';

const mostZoom = 200;
const numbers = text => (text || '').split(',').map(Number);

const start = figure => {
  const plot = figure.querySelector('.picture-plot');
  const scroll = figure.querySelector('.picture-scroll');
  const detail = figure.querySelector('.picture-detail');
  if (!plot || !scroll || !detail) return;
  const names = figure.querySelector('.picture-names');
  const controls = figure.querySelector('.picture-controls');
  const times = numbers(plot.dataset.times);
  const drawn = numbers(plot.dataset.x);
  const box = plot.viewBox.baseVal;
  const height = box.height;
  const drawnWidth = box.width;
  const last = drawn.length - 1;
  const placed = [...plot.querySelectorAll('[data-a]')].map(el => ({
    el,
    a: +el.dataset.a,
    b: el.dataset.b === undefined ? +el.dataset.a : +el.dataset.b,
    y: +(/,(-?[\d.]+)\)/.exec(el.getAttribute('transform')) || [0, 0])[1],
    wide: [...el.querySelectorAll('.w')],
    ends: [...el.querySelectorAll('.e')],
    centre: [...el.querySelectorAll('.c')],
    text: el.querySelector('.t[data-w]'),
    loose: el.querySelector('.t:not([data-w])'),
    callout: +el.dataset.w || 0,
  }));
  const marks = placed.filter(p => p.el.classList.contains('mark'));
  const rules = [...plot.querySelectorAll('.lane > .rule')];
  const smooth = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  let zoom = 1;
  let toScale = false;
  let xs = drawn;
  let pinned = null;

  // Places of all instants at this zoom.
  const places = () => {
    const left = drawn[0];
    if (!toScale) return drawn.map(x => left + (x - left) * zoom);
    const whole = times[last] - times[0] || 1;
    return times.map(t => left + (drawn[last] - left) * zoom * (t - times[0]) / whole);
  };

  // Labels of one line of a lane are shown from left to right while there is room.
  const settle = () => {
    for (const lane of plot.querySelectorAll('.lane')) {
      const ends = {};
      for (const text of lane.querySelectorAll('text.l')) {
        const mark = text.parentNode;
        if (mark.classList.contains('gone')) continue;
        const x = xs[+mark.dataset.a];
        const line = (text.getAttribute('data-row') || '0') + (mark.classList.contains('tick') ? 't' : 'c');
        const fits = !(ends[line] > x);
        text.classList.toggle('off', !fits);
        if (fits) ends[line] = x + Number(text.dataset.w) + 8;
      }
    }
    let end = -1e9;
    for (const time of plot.querySelectorAll('.time')) {
      const x = xs[+time.dataset.a];
      const fits = x - end >= 46;
      time.classList.toggle('off', !fits);
      if (fits) end = x;
    }
  };

  // The text of a bar that began left of what is seen stays in sight.
  const bars = placed.filter(p => p.text || p.loose);
  const follow = () => {
    const left = scroll.scrollLeft;
    for (const p of bars) {
      const text = p.text || p.loose;
      const w = xs[p.b] - xs[p.a];
      let long = p.loose ? p.long : Number(text.textContent === text.dataset.long ? text.dataset.w : text.dataset.s);
      if (long === undefined) long = p.long = text.getComputedTextLength();
      if (p.loose && long + 12 > w) continue;
      text.setAttribute('x', Math.max(6, Math.min(left - xs[p.a] + 6, w - long - 6)).toFixed(1));
    }
  };

  const lay = () => {
    xs = places();
    const width = Math.max(xs[last] + drawnWidth - drawn[last], 200);
    plot.setAttribute('width', width);
    plot.setAttribute('viewBox', `0 0 ${width} ${height}`);
    for (const rule of rules) rule.setAttribute('x2', width);
    for (const p of placed) {
      const w = xs[p.b] - xs[p.a];
      let x = xs[p.a];
      if (p.callout) x = Math.max(Math.min(x, width - p.callout - 8), 4);
      p.el.setAttribute('transform', `translate(${x.toFixed(1)},${p.y})`);
      if (p.callout) continue;
      for (const el of p.wide) {
        if (el.tagName === 'line') el.setAttribute('x2', Math.max(w, 1).toFixed(1));
        else el.setAttribute('width', Math.max(w, 2).toFixed(1));
      }
      for (const el of p.ends) el.setAttribute('transform', `translate(${w.toFixed(1)},0)`);
      for (const el of p.centre) el.setAttribute('x', (w / 2).toFixed(1));
      if (p.centre.length) p.el.classList.toggle('gone', toScale);
      if (p.text) {
        const d = p.text.dataset;
        p.text.textContent = Number(d.w) + 12 <= w ? d.long : Number(d.s) + 8 <= w ? d.short : '';
      }
      if (p.loose) p.loose.setAttribute('x', p.loose.getComputedTextLength() + 12 <= w ? 6 : Math.max(w, 3) + 4);
    }
    settle();
    follow();
  };

  // What is under a place of the scroll box stays there.
  const zoomTo = (next, at) => {
    const view = scroll.clientWidth - names.clientWidth;
    const pin = at === undefined ? view / 2 : at;
    const before = scroll.scrollLeft + pin;
    let i = 0;
    while (i < last && xs[i + 1] <= before) i++;
    const gap = xs[i + 1] - xs[i];
    const part = i < last && gap > 0 ? (before - xs[i]) / gap : 0;
    zoom = Math.min(Math.max(next, 0.02), mostZoom);
    lay();
    const after = i < last ? xs[i] + (xs[i + 1] - xs[i]) * part : xs[last];
    scroll.scrollLeft = after - pin;
  };

  const fit = () => {
    const span = drawn[last] - drawn[0];
    const room = scroll.clientWidth - names.clientWidth - (drawnWidth - span) - 2;
    zoomTo(span > 0 && room > 40 ? room / span : 1);
    scroll.scrollLeft = 0;
  };

  const bring = (x, gently) => {
    scroll.classList.toggle('smooth', gently && smooth);
    const view = scroll.clientWidth - names.clientWidth;
    scroll.scrollLeft = x - (view > 500 ? view / 3 : 4);
    scroll.classList.remove('smooth');
  };

  const tell = (mark, announce) => {
    const title = mark.querySelector('title');
    detail.textContent = title ? title.textContent : '';
    if (announce && mark.dataset.event !== undefined) {
      figure.dispatchEvent(new CustomEvent('lockbench:event', {detail: {index: +mark.dataset.event}, bubbles: true}));
    }
  };

  const pin = mark => {
    if (pinned) pinned.classList.remove('pinned');
    pinned = pinned === mark ? null : mark;
    if (pinned) { pinned.classList.add('pinned'); tell(pinned, true); }
  };

  const show = mark => {
    for (const other of plot.querySelectorAll('.mark.at')) other.classList.remove('at');
    mark.classList.add('at');
    bring(xs[+mark.dataset.a], true);
    tell(mark, false);
  };

  // The mark of an event: the one that it begins, or else the one that it ends.
  const markOf = index => {
    const own = marks.filter(p => p.el.dataset.event === String(index) && !p.el.classList.contains('gone'));
    const ended = marks.filter(p => p.el.dataset.last === String(index) && !p.el.classList.contains('gone'));
    const found = own.find(p => p.el.classList.contains('call')) || ended.find(p => p.el.classList.contains('call')) || own[0] || ended[0];
    return found && found.el;
  };

  const violation = which => {
    for (const el of plot.querySelectorAll('.v')) el.classList.toggle('on', el.classList.contains('v' + which));
    for (const el of plot.querySelectorAll('.mark')) el.classList.toggle('proof', el.classList.contains('w' + which));
    showViolation(false);
  };

  const showViolation = gently => {
    const hatch = plot.querySelector('.hatch.on');
    if (hatch) bring(xs[+hatch.dataset.a], gently);
  };

  // All marks are one tab stop: the one that had the focus last. Arrows go from there.
  let stop = null;
  const inOrder = () => marks.filter(p => !p.el.classList.contains('gone')).sort((p, q) => p.a - q.a || p.y - q.y);
  const stopAt = mark => {
    if (stop) stop.setAttribute('tabindex', '-1');
    stop = mark;
    if (stop) stop.setAttribute('tabindex', '0');
  };
  const stopSomewhere = () => {
    if (stop && !stop.classList.contains('gone')) return;
    const seen = inOrder();
    const first = seen.find(p => p.el.classList.contains('proof')) || seen[0];
    stopAt(first ? first.el : null);
  };

  const filter = () => {
    const off = {client: new Set(), key: new Set(), f: new Set()};
    for (const box of controls.querySelectorAll('input[data-filter]')) if (!box.checked) off[box.dataset.filter].add(box.value);
    for (const {el} of marks) {
      const d = el.dataset;
      el.classList.toggle('gone', off.client.has(d.client) || off.key.has(d.key) || off.f.has(d.f));
    }
    settle();
    stopSomewhere();
  };

  const step = (from, ahead) => {
    const seen = inOrder();
    const at = seen.findIndex(p => p.el === from);
    const next = seen[at < 0 ? (ahead ? 0 : seen.length - 1) : at + (ahead ? 1 : -1)];
    if (next) next.el.focus();
  };

  // Up and down go to the nearest mark of the lane above or below.
  const across = (from, down) => {
    const lanes = [...plot.querySelectorAll('.lane')];
    let at = lanes.indexOf(from.closest('.lane'));
    for (at += down ? 1 : -1; at >= 0 && at < lanes.length; at += down ? 1 : -1) {
      const here = [...lanes[at].querySelectorAll('.mark:not(.gone)')];
      if (!here.length) continue;
      const x = xs[+from.dataset.a];
      here.sort((p, q) => Math.abs(xs[+p.dataset.a] - x) - Math.abs(xs[+q.dataset.a] - x));
      here[0].focus();
      return;
    }
  };

  // To scale, a violation of milliseconds beside a lease of seconds would be a line: the zoom is
  // such that it can be seen.
  const scale = on => {
    toScale = on;
    zoom = 1;
    const hatch = plot.querySelector('.hatch.on');
    if (on && hatch) {
      const part = (times[+hatch.dataset.b] - times[+hatch.dataset.a]) / (times[last] - times[0]);
      const view = scroll.clientWidth - names.clientWidth;
      zoom = Math.min(Math.max(view / 3 / (part * (drawn[last] - drawn[0])), 1), mostZoom);
    }
    lay();
    showViolation(false);
  };

  const act = {
    in: () => zoomTo(zoom * 1.4),
    out: () => zoomTo(zoom / 1.4),
    fit,
    show: () => showViolation(true),
  };

  controls.hidden = false;
  controls.addEventListener('click', e => {
    const button = e.target.closest('button[data-do]');
    if (button && act[button.dataset.do]) act[button.dataset.do]();
  });
  controls.addEventListener('change', e => {
    const d = e.target.dataset;
    if (d.do === 'scale') scale(e.target.checked);
    else if (d.do === 'violation') violation(e.target.value);
    else if (d.filter) filter();
  });

  scroll.addEventListener('keydown', e => {
    const mark = e.target.closest('.mark');
    const page = scroll.clientWidth / 2;
    const keys = {
      '+': act.in, '=': act.in, '-': act.out, '0': fit,
      'ArrowRight': () => e.shiftKey ? scroll.scrollLeft += page : step(mark, true),
      'ArrowLeft': () => e.shiftKey ? scroll.scrollLeft -= page : step(mark, false),
      'ArrowDown': () => mark ? across(mark, true) : step(null, true),
      'ArrowUp': () => mark && across(mark, false),
      'Home': () => { scroll.scrollLeft = 0; },
      'End': () => { scroll.scrollLeft = scroll.scrollWidth; },
      'Enter': () => mark && pin(mark),
      ' ': () => mark && pin(mark),
      'Escape': () => pinned && pin(pinned),
    };
    if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
  });

  plot.addEventListener('focusin', e => {
    const mark = e.target.closest('.mark');
    if (!mark) return;
    stopAt(mark);
    const x = xs[+mark.dataset.a] - scroll.scrollLeft;
    if (x < 0 || x > scroll.clientWidth - names.clientWidth - 40) bring(xs[+mark.dataset.a], false);
    tell(mark, true);
  });
  plot.addEventListener('pointerover', e => {
    const mark = e.target.closest('.mark, .band');
    if (mark && !pinned) tell(mark, true);
  });
  plot.addEventListener('click', e => {
    const mark = e.target.closest('.mark');
    if (mark && !moved) pin(mark);
  });

  scroll.addEventListener('wheel', e => {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    zoomTo(zoom * Math.exp(-e.deltaY / 300), e.clientX - scroll.getBoundingClientRect().left - names.clientWidth);
  }, {passive: false});

  // A mouse drags; fingers scroll by themselves, and two of them zoom.
  const fingers = new Map();
  let grip = null;
  let moved = false;
  let spread = 0;
  const distance = () => { const [p, q] = [...fingers.values()]; return Math.abs(p - q); };
  scroll.addEventListener('pointerdown', e => {
    moved = false;
    if (e.pointerType === 'touch') {
      fingers.set(e.pointerId, e.clientX);
      if (fingers.size === 2) spread = distance();
    } else if (e.button === 0) {
      grip = {x: e.clientX, left: scroll.scrollLeft};
    }
  });
  const move = e => {
    if (fingers.has(e.pointerId)) {
      fingers.set(e.pointerId, e.clientX);
      if (fingers.size === 2 && spread > 10 && distance() > 10) { zoomTo(zoom * distance() / spread); spread = distance(); }
    } else if (grip) {
      if (Math.abs(e.clientX - grip.x) > 3) moved = true;
      if (moved) scroll.scrollLeft = grip.left - (e.clientX - grip.x);
    }
  };
  const release = e => { fingers.delete(e.pointerId); grip = null; };
  addEventListener('pointermove', move);
  addEventListener('pointerup', release);
  addEventListener('pointercancel', release);
  scroll.addEventListener('touchmove', e => { if (e.touches.length === 2) e.preventDefault(); }, {passive: false});

  document.addEventListener('lockbench:show', e => {
    const mark = e.detail && markOf(e.detail.index);
    if (mark) show(mark);
  });

  let asked = false;
  scroll.addEventListener('scroll', () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; follow(); });
  }, {passive: true});

  for (const {el} of marks) el.setAttribute('tabindex', '-1');
  stopSomewhere();
  showViolation(false);
  follow();
};

const all = () => { for (const figure of document.querySelectorAll('figure.picture')) start(figure); };
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', all);
else all();
})();

// What Audit looks at in the page. An expression: an object of functions.
({
  // Every piece of text that can be seen: its node, the element it is in, and the boxes of its
  // lines in page coordinates, cut to what scrolling and clipping ancestors show.
  texts() {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()); ) {
      const e = node.parentElement;
      if (!node.data.trim() || e.closest("script, style, noscript, title, desc, option")) continue;
      if (!this.shown(e)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const clip = this.clip(e);
      const boxes = [...range.getClientRects()].map(r => this.cut(r, clip)).filter(b => b.w > 2 && b.h > 2);
      if (boxes.length) found.push({ node, e, boxes });
    }
    return found;
  },

  // Whether people see e, and not screen readers alone. For text in a picture checkVisibility
  // does not look at display.
  shown(e) {
    if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    for (; e; e = e.parentElement) {
      const s = getComputedStyle(e);
      if (s.display === "none" || s.clipPath === "inset(50%)") return false;
    }
    return true;
  },

  // Whether e stays where it is while what is behind it scrolls.
  sticky(e) {
    for (; e; e = e.parentElement) if (["sticky", "fixed"].includes(getComputedStyle(e).position)) return true;
    return false;
  },

  // What can be seen of a child of e: the box in which no ancestor cuts anything off.
  clip(e) {
    let clip = { x: -scrollX, y: -scrollY, w: 1e6, h: 1e6 };
    for (let a = e; a && a !== document.body; a = a.parentElement) {
      const s = getComputedStyle(a);
      if (s.overflowX === "visible" && s.overflowY === "visible" && s.clip === "auto") continue;
      if (a instanceof SVGElement && !(a instanceof SVGSVGElement)) continue;
      clip = this.cut(a.getBoundingClientRect(), clip, false);
    }
    return clip;
  },

  cut(r, clip, toPage = true) {
    const w0 = r.width ?? r.w, h0 = r.height ?? r.h;
    const x = Math.max(r.x, clip.x), y = Math.max(r.y, clip.y);
    const w = Math.min(r.x + w0, clip.x + clip.w) - x, h = Math.min(r.y + h0, clip.y + clip.h) - y;
    return toPage ? { x: x + scrollX, y: y + scrollY, w, h } : { x, y, w, h };
  },

  say(e, text = e.textContent) {
    let path = e.tagName.toLowerCase();
    if (e.id) path += "#" + e.id;
    else if (e.classList.length) path += "." + [...e.classList].join(".");
    return path + " " + JSON.stringify(text.trim().slice(0, 60));
  },

  layout() {
    const faults = [], root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) {
      const wide = [...document.body.querySelectorAll("*")].filter(e => {
        const r = e.getBoundingClientRect();
        const shown = this.cut(r, this.clip(e.parentElement), false);
        return shown.w > 0 && shown.x + shown.w + scrollX > root.clientWidth + 0.5;
      });
      faults.push(`the page is ${root.scrollWidth} px wide in a window of ${root.clientWidth}: ` +
        wide.slice(0, 5).map(e => this.say(e)).join(", "));
    }

    const texts = this.texts();
    for (const { node, e } of texts) {
      const size = parseFloat(getComputedStyle(e).fontSize);
      const m = e instanceof SVGGraphicsElement ? e.getScreenCTM() : new DOMMatrix();
      const across = size * Math.hypot(m.a, m.b), down = size * Math.hypot(m.c, m.d);
      if (Math.min(across, down) < 10.99) faults.push(`text of ${Math.min(across, down).toFixed(1)} px: ${this.say(e, node.data)}`);
      if (Math.abs(across / down - 1) > 0.02) faults.push(`text stretched by ${(across / down).toFixed(2)}: ${this.say(e, node.data)}`);
    }

    // Text over other text, with some tolerance: boxes are higher than letters.
    const boxes = texts.flatMap(({ node, e, boxes }) => boxes.map(b => ({ ...b, node, e, sticky: this.sticky(e) }))).sort((a, b) => a.y - b.y);
    for (let i = 0; i < boxes.length; i++) {
      for (let j = i + 1; j < boxes.length && boxes[j].y < boxes[i].y + boxes[i].h; j++) {
        const a = boxes[i], b = boxes[j];
        const w = Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x);
        const h = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y);
        if (a.node.data !== b.node.data && a.sticky === b.sticky && w > 3 && h > 0.4 * Math.min(a.h, b.h)) {
          faults.push(`text over text: ${this.say(a.e, a.node.data)} and ${this.say(b.e, b.node.data)}`);
        }
      }
    }

    const ids = new Map();
    for (const e of document.querySelectorAll("[id]")) ids.set(e.id, (ids.get(e.id) ?? 0) + 1);
    for (const [id, n] of ids) if (n > 1) faults.push(`id ${JSON.stringify(id)} occurs ${n} times`);
    for (const name of ["for", "aria-labelledby", "aria-describedby", "aria-controls", "aria-owns", "aria-activedescendant"]) {
      for (const e of document.querySelectorAll(`[${name}]`)) {
        for (const id of e.getAttribute(name).split(/\s+/)) {
          if (id && !ids.has(id)) faults.push(`${name} refers to ${JSON.stringify(id)}, which is not there: ${this.say(e)}`);
        }
      }
    }
    for (const e of document.querySelectorAll('a[href^="#"]')) {
      const id = decodeURIComponent(e.getAttribute("href").slice(1));
      if (id && !ids.has(id)) faults.push(`a link to #${id}, which is not there: ${this.say(e)}`);
    }

    if (!root.lang) faults.push("the page does not say its language");
    if (!document.title.trim()) faults.push("the page has no title");
    const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(e => e.checkVisibility());
    if (headings.filter(e => e.tagName === "H1").length !== 1) faults.push("the page has not one h1");
    headings.reduce((last, e) => {
      const level = +e.tagName[1];
      if (level > last + 1) faults.push(`a heading of level ${level} below one of level ${last}: ${this.say(e)}`);
      return level;
    }, 0);
    return faults;
  },

  // Text becomes transparent and everything else stays, whatever its colour depends on.
  hideText() {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`* { -webkit-text-fill-color: transparent !important; text-shadow: none !important; text-decoration-color: transparent !important;
        transition: none !important; animation: none !important; caret-color: transparent !important }
      svg text, svg tspan { fill: transparent !important; }`); // a halo stays: it is behind the letters
    sheet.hidesText = true;
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    return true;
  },

  showText() {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter(s => !s.hidesText);
    return true;
  },

  // What is behind each text is looked up in a picture of the page without its text. Letters do
  // not fill their box, and a thin line that crosses them does no harm, so a tenth of what is
  // behind them is left out.
  async contrast(png) {
    const bytes = Uint8Array.from(atob(png), c => c.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(bitmap, 0, 0);
    const linear = Float64Array.from({ length: 256 }, (_, v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    const luminance = ([r, g, b]) => 0.2126 * linear[r] + 0.7152 * linear[g] + 0.0722 * linear[b];
    const paint = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const rgba = colour => {
      paint.clearRect(0, 0, 1, 1);
      paint.fillStyle = colour;
      paint.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = paint.getImageData(0, 0, 1, 1).data;
      return [r, g, b, a / 255];
    };

    const faults = [];
    for (const { node, e, boxes } of this.texts()) {
      if (e.closest(":disabled")) continue;
      const style = getComputedStyle(e), inSVG = e instanceof SVGElement;
      let [r, g, b, alpha] = rgba(inSVG ? style.fill : style.webkitTextFillColor);
      if (inSVG) alpha *= style.fillOpacity;
      for (let a = e; a; a = a.parentElement) alpha *= getComputedStyle(a).opacity;
      const ratios = [];
      for (const box of boxes) {
        const y = box.y + 0.25 * box.h, w = Math.min(box.w, bitmap.width - box.x), h = Math.min(0.65 * box.h, bitmap.height - y);
        if (w < 1 || h < 1) continue;
        const { data } = context.getImageData(box.x, y, w, h);
        const step = 4 * Math.max(1, Math.floor(data.length / 4 / 500)); // some 500 pixels will do
        for (let i = 0; i < data.length; i += step) {
          const behind = [data[i], data[i + 1], data[i + 2]];
          const ink = [r, g, b].map((v, k) => Math.round(alpha * v + (1 - alpha) * behind[k]));
          const [dark, light] = [luminance(ink), luminance(behind)].sort((p, q) => p - q);
          ratios.push((light + 0.05) / (dark + 0.05));
        }
      }
      if (!ratios.length) continue;
      const worst = ratios.sort((p, q) => p - q)[Math.floor(ratios.length / 10)];
      if (worst < 4.5) faults.push(`contrast ${worst.toFixed(2)}: ${this.say(e, node.data)}`);
    }
    return faults;
  },
})

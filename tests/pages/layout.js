// In the page: what a reader cannot see. Gives sentences; [] where all is well.
//
//   wide      the page scrolls sideways
//   cut       text, or a part of a drawing, reaches beyond a box that hides what does not fit, or beyond the window,
//             where nothing scrolls there
//   overlap   two texts lie on one another, or a text and a point of a plot
//   small     letters below 7 pixels, where nothing enlarges them
//
// Text that is meant for screen readers alone (clipped away whole, or left of the page) is left out.
() => {
  'use strict';
  const found = [];
  const say = (text) => { if (found.length < 40) found.push(text); };
  const slack = 2;
  const place = (element) => {
    const names = [];
    for (let at = element; at && at !== document.body && names.length < 4; at = at.parentElement)
      names.unshift(at.id ? `${at.localName}#${at.id}`
        : at.localName + [...at.classList].slice(0, 2).map((name) => '.' + name).join(''));
    return names.join(' > ');
  };
  const quote = (text) => '"' + text.trim().replace(/\s+/g, ' ').slice(0, 50) + '"';

  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) say(`wide: the page is ${root.scrollWidth} pixels wide in a window of ${innerWidth}`);

  // Boxes that cut, by element: "hidden" loses what does not fit, "scroll" shows it on demand.
  const styles = new Map();
  const style_of = (element) => {
    if (!styles.has(element)) styles.set(element, getComputedStyle(element));
    return styles.get(element);
  };
  const manner = (overflow) => overflow === 'visible' ? '' : overflow === 'hidden' || overflow === 'clip' ? 'hidden' : 'scroll';
  const chains = new Map();
  const boxes_of = (element) => {
    if (!element || element === root || element === document.body) return [];
    if (chains.has(element)) return chains.get(element);
    const style = style_of(element);
    let own = [];
    const is_drawing = element.localName === 'svg';
    const x = manner(style.overflowX), y = manner(style.overflowY);
    if (style.display !== 'inline' && style.display !== 'contents' && (x || y) || is_drawing && style.overflow !== 'visible')
      own = [{element, x: is_drawing ? 'hidden' : x, y: is_drawing ? 'hidden' : y}];
    const chain = style.position === 'fixed' ? own : [...own, ...boxes_of(element.parentElement)];
    chains.set(element, chain);
    return chain;
  };
  const for_readers = (element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) {
      const style = style_of(at), box = at.getBoundingClientRect();
      if (style.position === 'absolute' || style.position === 'fixed') {
        if (box.right <= 0 || box.bottom + scrollY <= 0) return true;
        if (style.clipPath.startsWith('inset(50%') || style.clip === 'rect(0px, 0px, 0px, 0px)') return true;
        if (box.width <= 1 || box.height <= 1) return true;
      }
    }
    return false;
  };
  const seen = (element) => element.checkVisibility({checkOpacity: true, checkVisibilityCSS: true});

  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || ['script', 'style', 'noscript', 'title', 'option', 'textarea'].includes(element.localName)) continue;
    if (!seen(element) || for_readers(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const in_drawing = element.ownerSVGElement != null && element.closest('foreignObject') == null;
    const matrix = in_drawing ? element.getScreenCTM() : null;
    const is_turned = matrix != null && (Math.abs(matrix.b) > 1e-3 || Math.abs(matrix.c) > 1e-3);
    const letters = parseFloat(style_of(element).fontSize) * (matrix ? Math.hypot(matrix.a, matrix.b) : 1);
    if (letters < 7 && !element.closest('.pane, .drawing, .tree')) say(`small: ${quote(node.data)} has letters of ${letters.toFixed(1)} pixels in ${place(element)}`);
    const rects = in_drawing ? [element.getBoundingClientRect()] : [...range.getClientRects()];
    for (const rect of rects) {
      if (rect.width < 1 || rect.height < 1) continue;
      let left = rect.left, right = rect.right, top = rect.top, bottom = rect.bottom, scrolls = false, is_lost = false;
      for (const box of boxes_of(element)) {
        const frame = box.element.getBoundingClientRect();
        const sides = [[box.x, frame.left - left, 'left'], [box.x, right - frame.right, 'right'],
          [box.y, frame.top - top, 'top'], [box.y, bottom - frame.bottom, 'bottom']];
        if (!scrolls) {
          for (const [how, over, side] of sides) {
            // Letters are lower than their lines: a fifth of a line says nothing.
            const least = side === 'top' || side === 'bottom' ? Math.max(slack, rect.height / 5) : slack;
            if (how === 'hidden' && over > least && style_of(box.element).textOverflow !== 'ellipsis' &&
              style_of(box.element).webkitLineClamp === 'none' && !is_turned) {
              say(`cut: ${quote(node.data)} loses ${Math.round(over)} pixels at the ${side} of ${place(box.element)}`);
              is_lost = true;
              break;
            }
          }
        }
        if (is_lost) break;
        if (box.x === 'scroll' || box.y === 'scroll') scrolls = true;
        if (box.x) { left = Math.max(left, frame.left); right = Math.min(right, frame.right); }
        if (box.y) { top = Math.max(top, frame.top); bottom = Math.min(bottom, frame.bottom); }
      }
      if (is_lost) break;
      if (!scrolls && (right > innerWidth + slack || left < -slack))
        say(`cut: ${quote(node.data)} in ${place(element)} lies beyond the window`);
      if (right - left > 1 && bottom - top > 1 && !is_turned)
        texts.push({node, element, left, right, top, bottom});
    }
  }

  // Pictures and controls beyond the window.
  for (const element of document.querySelectorAll('img, svg, input, button, select, table, pre')) {
    if (!seen(element) || for_readers(element) || element.closest('svg') !== element && element.ownerSVGElement) continue;
    const box = element.getBoundingClientRect();
    const boxes = boxes_of(element.parentElement);
    const scrolling = boxes.find((each) => each.x);
    if (!scrolling && box.right > innerWidth + slack) say(`cut: ${place(element)} lies beyond the window`);
    if (scrolling && scrolling.x === 'hidden' && box.right > scrolling.element.getBoundingClientRect().right + slack)
      say(`cut: ${place(element)} reaches beyond ${place(scrolling.element)}, which hides the rest`);
    if (element.localName === 'img' && element.complete && element.naturalWidth === 0)
      say(`cut: the picture ${element.getAttribute('src').slice(0, 80)} is not there`);
  }

  // Texts on points of plots.
  for (const {node, element, left, right, top, bottom} of texts) {
    if (!element.ownerSVGElement || !element.ownerSVGElement.classList.contains('rw-plot')) continue;
    for (const point of element.ownerSVGElement.querySelectorAll('circle')) {
      const box = point.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
      if (x > left && x < right && y > top + 2 && y < bottom - 2) say(`overlap: ${quote(node.data)} and a point of ${place(element)}`);
    }
  }

  // Texts on texts: pairs that share more than a quarter of the smaller one.
  texts.sort((a, b) => a.top - b.top);
  const told = new Set();
  for (let i = 0; i < texts.length; i += 1) {
    const a = texts[i];
    for (let j = i + 1; j < texts.length && texts[j].top < a.bottom - 1; j += 1) {
      const b = texts[j];
      if (a.node === b.node) continue;
      // What is drawn twice at one place looks like once.
      if (a.node.data === b.node.data && Math.abs(a.left - b.left) < 1 && Math.abs(a.top - b.top) < 1) continue;
      const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (width <= slack || height <= slack) continue;
      const area = (t) => (t.right - t.left) * (t.bottom - t.top);
      if (width * height < 0.25 * Math.min(area(a), area(b))) continue;
      if (style_of(a.element).position === 'fixed' || style_of(b.element).position === 'fixed') continue;
      const key = quote(a.node.data) + quote(b.node.data);
      if (told.has(key)) continue;
      told.add(key);
      say(`overlap: ${quote(a.node.data)} and ${quote(b.node.data)} in ${place(a.element)}`);
    }
  }
  return found;
}

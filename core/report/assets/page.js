// Pages that stand alone: drawings move and zoom in their frames, steps are shown one at a time. No network, no
// libraries; without this script all steps stand below each other, each drawing as large as its frame.
(() => {
  'use strict';
  const MOST_HEIGHT = 640, LEAST_HEIGHT = 180;

  const element = (name, attributes, text) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const button = (label, name, act) => {
    const made = element('button', {type: 'button', 'aria-label': name}, label);
    made.addEventListener('click', act);
    return made;
  };

  // --- frames ------------------------------------------------------------------------------------------------------

  function startFrame(frame) {
    const pane = frame.querySelector('.pane'), svg = pane.querySelector('svg');
    if (!svg) return;
    const box = svg.viewBox.baseVal;
    // Graphviz's points, as CSS pixels: letters of 12 are 12 high.
    const width = box.width, height = box.height;
    let scale = 1, x = 0, y = 0, least = 1;
    svg.setAttribute('width', width);
    svg.setAttribute('height', height);
    pane.classList.add('moves');

    const percent = element('span', {'aria-live': 'polite'});
    function put() {
      // The drawing cannot be lost: a part of it stays in the frame.
      x = Math.min(Math.max(x, 40 - width * scale), pane.clientWidth - 40);
      y = Math.min(Math.max(y, 40 - height * scale), pane.clientHeight - 40);
      svg.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
      percent.textContent = `${Math.round(scale * 100)} %`;
      pane.style.touchAction = scale > least * 1.01 ? 'none' : 'pan-y';
    }
    function fit() {
      const room = pane.clientWidth;
      if (room === 0) return;
      pane.style.height = `${Math.round(Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, height * Math.min(1.25, room / width) + 16)))}px`;
      scale = least = Math.min(1.25, (room - 12) / width, (pane.clientHeight - 12) / height);
      x = (room - width * scale) / 2;
      y = (pane.clientHeight - height * scale) / 2;
      put();
    }
    // A drawing that no one can read as a whole starts at its first change; Fit shows all of it.
    function start() {
      fit();
      const change = scale < 0.2 && svg.querySelector('.touched, .gone, .new');
      if (!change) return;
      const at = change.getBoundingClientRect(), frame = pane.getBoundingClientRect();
      zoom(0.8 / scale, {x: at.left + at.width / 2 - frame.left, y: at.top - frame.top});
      x += pane.clientWidth / 2 - (at.left + at.width / 2 - frame.left);
      y += 80 - (at.top - frame.top);
      put();
    }
    function zoom(factor, at) {
      const next = Math.min(6, Math.max(least * 0.5, scale * factor));
      const px = at ? at.x : pane.clientWidth / 2, py = at ? at.y : pane.clientHeight / 2;
      x = px - (px - x) * next / scale;
      y = py - (py - y) * next / scale;
      scale = next;
      put();
    }
    const place = (event) => {
      const at = pane.getBoundingClientRect();
      return {x: event.clientX - at.left, y: event.clientY - at.top};
    };
    const fingers = new Map();
    pane.addEventListener('pointerdown', (event) => {
      fingers.set(event.pointerId, place(event));
      if (event.pointerType === 'mouse') pane.setPointerCapture(event.pointerId);
    });
    pane.addEventListener('pointermove', (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const now = place(event);
      if (fingers.size === 2) {
        const other = [...fingers.entries()].find(([id]) => id !== event.pointerId)[1];
        const spread = (a) => Math.hypot(a.x - other.x, a.y - other.y);
        zoom(spread(now) / Math.max(spread(before), 1), {x: (now.x + other.x) / 2, y: (now.y + other.y) / 2});
      } else if (event.pointerType === 'mouse' || scale > least * 1.01) {
        x += now.x - before.x;
        y += now.y - before.y;
        put();
      }
      fingers.set(event.pointerId, now);
    });
    for (const name of ['pointerup', 'pointercancel', 'pointerleave'])
      pane.addEventListener(name, (event) => fingers.delete(event.pointerId));
    pane.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 300), place(event));
    }, {passive: false});
    pane.addEventListener('dblclick', (event) => zoom(1.6, place(event)));
    pane.addEventListener('keydown', (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const move = {ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60]}[event.key];
      if (move) { x += move[0]; y += move[1]; put(); }
      else if (event.key === '+' || event.key === '=') zoom(1.25);
      else if (event.key === '-') zoom(0.8);
      else if (event.key === '0') fit();
      else return;
      event.preventDefault();
    });
    const tools = element('div', {class: 'tools', role: 'group', 'aria-label': 'Zoom'});
    tools.append(button('\u2212', 'Smaller', () => zoom(0.8)), button('+', 'Larger', () => zoom(1.25)),
      button('Fit', 'Fit the drawing into its frame', fit), percent);
    frame.prepend(tools);
    start();
    let seen = pane.clientWidth;
    new ResizeObserver(() => {
      if (pane.clientWidth === seen) return;
      seen = pane.clientWidth;
      start();
    }).observe(pane);
  }

  // --- steps -------------------------------------------------------------------------------------------------------

  function startSteps(section) {
    const steps = [...section.querySelectorAll('.step')];
    if (steps.length === 0) return;
    const what = section.dataset.what || 'Step';
    const controls = element('div', {class: 'controls', role: 'group', 'aria-label': `${what}s`});
    const slider = element('input', {type: 'range', min: 1, max: steps.length, step: 1, value: 1, 'aria-label': what});
    const said = element('output', {'aria-live': 'polite'});
    const at = () => Number(slider.value);
    const previous = button('\u2190 Previous', `Previous ${what.toLowerCase()}`, () => go(at() - 1));
    const next = button('Next \u2192', `Next ${what.toLowerCase()}`, () => go(at() + 1));
    const label = element('label', {}, what);
    label.append(slider, said);
    const turn = element('div', {class: 'turn'});
    turn.append(previous, next);
    controls.append(turn, label);

    // From before to after: what goes fades out, what comes fades in.
    const fades = section.querySelector('svg .gone, svg .new');
    const fade = element('input', {type: 'range', min: 0, max: 100, step: 5, value: 50,
      'aria-label': 'From before to after: what goes fades out, what comes fades in'});
    function mix() {
      const share = Number(fade.value) / 100;
      const shown = (part) => Math.min(1, 2 * part);
      fade.setAttribute('aria-valuetext', share < 0.3 ? 'before' : share > 0.7 ? 'after' : 'both');
      for (const part of section.querySelectorAll('svg .gone')) part.style.opacity = shown(1 - share);
      for (const part of section.querySelectorAll('svg .new')) part.style.opacity = shown(share);
    }
    if (fades) {
      const mixing = element('label', {}, 'Before');
      mixing.append(fade, 'After');
      controls.append(mixing);
      fade.addEventListener('input', mix);
      mix();
    }

    function go(number) {
      slider.value = Math.min(steps.length, Math.max(1, number));
      steps.forEach((step, i) => { step.hidden = i + 1 !== at(); });
      said.textContent = `${at()} of ${steps.length}`;
      slider.setAttribute('aria-valuetext', `${at()} of ${steps.length}`);
      previous.disabled = at() === 1;
      next.disabled = at() === steps.length;
    }
    slider.addEventListener('input', () => go(at()));
    section.classList.add('stepping');
    steps[0].before(controls);
    const follow = () => {
      const wanted = steps.findIndex((step) => `#${step.id}` === location.hash);
      if (wanted < 0) return;
      go(wanted + 1);
      section.scrollIntoView();
    };
    window.addEventListener('hashchange', follow);
    go(1);
    follow();
  }

  // What a link leads to is open.
  function open() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const closed = target && target.closest('details:not([open])');
    if (!closed) return;
    closed.open = true;
    target.scrollIntoView();
  }

  window.addEventListener('hashchange', open);
  open();
  for (const frame of document.querySelectorAll('.frame')) startFrame(frame);
  for (const section of document.querySelectorAll('.steps')) startSteps(section);
})();

// The gallery's script: terms drawn as trees, the index searched. No network, no libraries. Names reach the page as
// text nodes only.
(() => {
  'use strict';
  const SVG = 'http://www.w3.org/2000/svg';

  // --- terms -------------------------------------------------------------------------------------------------------
  // term := name [ "[" parameters "]" ] [ "(" term { ", " term } ")" ]; every node knows where it stands in the text.

  function parseTerms(text, start = 0, end = text.length) {
    let at = start;
    const space = () => { while (at < end && text[at] === ' ') at += 1; };
    function term() {
      space();
      const node = {begin: at, name: '', params: '', operands: []};
      while (at < end && /[\w./]/.test(text[at])) at += 1;
      node.name = text.slice(node.begin, at);
      if (text[at] === '[') {
        const open = at;
        for (let depth = 0; at < end; at += 1) {
          if (text[at] === '[') depth += 1;
          if (text[at] === ']' && (depth -= 1) === 0) { at += 1; break; }
        }
        node.params = text.slice(open + 1, at - 1);
      }
      node.applied = text[at] === '(' || node.params !== '';
      if (text[at] === '(') {
        at += 1;
        space();
        if (text[at] === ')') at += 1;
        else node.operands = list(')');
      }
      node.end = at;
      return node;
    }
    function list(close) {
      const terms = [];
      while (at < end) {
        terms.push(term());
        space();
        const c = text[at];
        at += 1;
        if (c !== ',' || (close && c === close)) break;
      }
      return terms;
    }
    return list('');
  }

  // "let v0, v1 = split(x) in relu(v0), v1": a name stands for one output of its term.
  function parseSide(text) {
    const names = new Map();
    let rest = text;
    while (rest.startsWith('let ')) {
      const equals = rest.indexOf(' = '), end = rest.indexOf(' in ', equals);
      if (equals < 0 || end < 0) break;
      const bound = rest.slice(4, equals).split(', ');
      const terms = parseTerms(rest.slice(equals + 3, end)).map((term) => resolve(term, names));
      bound.forEach((name, i) => {
        if (terms.length === bound.length && bound.length > 1) names.set(name, terms[i]);
        else names.set(name, bound.length > 1 ? {...terms[0], name: `${terms[0].name}.${i}`} : terms[0]);
      });
      rest = rest.slice(end + 4);
    }
    return parseTerms(rest).map((term) => resolve(term, names));
  }

  function resolve(term, names) {
    if (!term.applied && names.has(term.name)) return names.get(term.name);
    return {...term, operands: term.operands.map((operand) => resolve(operand, names))};
  }

  // --- drawing -----------------------------------------------------------------------------------------------------
  // Operands above what takes them; every node over the middle of its own operands.

  const ROW = 50, BOX = 24, GAP = 12, MOST_PARAMS = 26;

  function make(name, attributes, text) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function measure(node) {
    node.small = node.params.length > MOST_PARAMS ? `${node.params.slice(0, MOST_PARAMS - 1)}\u2026` : node.params;
    node.own = Math.max(node.name.length * 7.1, node.small.length * 5.1) + 18;
    node.operands.forEach(measure);
    const below = node.operands.reduce((sum, operand) => sum + operand.width, 0) + GAP * Math.max(0, node.operands.length - 1);
    node.width = Math.max(node.own, below);
    node.depth = node.operands.reduce((most, operand) => Math.max(most, operand.depth + 1), 0);
    node.below = below;
  }

  function place(node, left, bottom) {
    let at = left + (node.width - node.below) / 2;
    for (const operand of node.operands) {
      place(operand, at, bottom - ROW);
      at += operand.width + GAP;
    }
    const first = node.operands[0], last = node.operands[node.operands.length - 1];
    node.x = first ? (first.x + last.x) / 2 : left + node.width / 2;
    node.x = Math.min(Math.max(node.x, left + node.own / 2), left + node.width - node.own / 2);
    node.y = bottom;
  }

  function paint(node, svg, inputs, part) {
    for (const operand of node.operands) {
      const middle = (operand.y + node.y) / 2;
      svg.append(make('path', {d: `M${operand.x} ${operand.y + 10} C${operand.x} ${middle} ${node.x} ${middle} ${node.x} ${node.y - BOX + 10}`}));
      paint(operand, svg, inputs, part);
    }
    const leaf = !node.applied;
    const group = make('g', {class: [leaf ? 'leaf' : '', part(node)].join(' ').trim()});
    const height = node.small ? BOX + 9 : BOX;
    const rect = make('rect', {x: node.x - node.own / 2, y: node.y - BOX + 10, width: node.own, height, rx: leaf ? 12 : 6});
    if (leaf) rect.style.fill = `var(--in${Math.max(0, inputs.indexOf(node.name)) % 8})`;
    group.append(rect, make('text', {x: node.x, y: node.y + 2, 'text-anchor': 'middle'}, node.name));
    if (node.small) group.append(make('text', {x: node.x, y: node.y + 14, 'text-anchor': 'middle', class: 'small'}, node.small));
    if (node.params && node.small !== node.params) group.append(make('title', {}, node.params));
    svg.append(group);
  }

  function drawTerms(terms, inputs, part = () => '') {
    terms.forEach(measure);
    const depth = Math.max(0, ...terms.map((term) => term.depth));
    let left = 4;
    for (const term of terms) {
      place(term, left, depth * ROW + BOX);
      left += term.width + 2 * GAP;
    }
    const width = Math.ceil(left - 2 * GAP + 4), height = depth * ROW + BOX + 28;
    const svg = make('svg', {width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true'});
    for (const term of terms) paint(term, svg, inputs, part);
    const box = document.createElement('div');
    box.className = 'tree';
    box.append(svg);
    return box;
  }

  // --- a rule's page -----------------------------------------------------------------------------------------------

  // Where an element's text stands in its ancestor's text.
  function rangeOf(element, root) {
    const range = document.createRange();
    range.setStart(root, 0);
    range.setEndBefore(element);
    const begin = range.toString().length;
    return [begin, begin + element.textContent.length];
  }

  function drawProof(section) {
    const inputs = [...document.querySelectorAll('#condition var')].map((name) => name.textContent);
    for (const line of section.querySelectorAll('.term')) {
      const code = line.querySelector('code');
      const ranges = (selector) => [...code.querySelectorAll(selector)].map((element) => rangeOf(element, code));
      const inside = (node, list) => list.some(([begin, end]) => node.begin >= begin && node.end <= end);
      const parts = [['part-taken', 'mark'], ['part-made', 'ins']].map(([name, tag]) =>
        ({name, whole: ranges(tag), variables: ranges(`${tag} span.${tag}`)}));
      line.append(drawTerms(parseTerms(code.textContent), inputs, (node) => parts
        .filter((part) => inside(node, part.whole) && !inside(node, part.variables))
        .map((part) => part.name).join(' ')));
    }
  }

  function startRule() {
    const section = document.querySelector('#proof');
    if (section && section.querySelector('.term')) {
      drawProof(section);
      const button = document.createElement('button');
      button.className = 'toggle';
      button.type = 'button';
      const show = (shown) => {
        button.textContent = shown ? 'Text only' : 'Draw the steps';
        button.setAttribute('aria-pressed', String(shown));
        for (const tree of section.querySelectorAll('.tree')) tree.hidden = !shown;
      };
      let shown = true;
      button.addEventListener('click', () => show(shown = !shown));
      section.prepend(button);
      show(shown);
    }
    document.addEventListener('keydown', (event) => {
      if (event.target.closest('input, select, textarea') || event.altKey || event.ctrlKey || event.metaKey) return;
      const link = {ArrowLeft: 'a[rel=prev]', ArrowRight: 'a[rel=next]'}[event.key];
      const target = link && !event.target.closest('.scroll, pre') && document.querySelector(link);
      if (target) target.click();
    });
  }

  // --- the index ---------------------------------------------------------------------------------------------------

  const PAGE = 24;
  const FIELDS = ['q', 'size', 'trust', 'verifier', 'condition', 'gain', 'order'];

  function startIndex(data) {
    const at = Object.fromEntries(data.columns.map((name, i) => [name, i]));
    const rules = data.rules;
    const haystack = rules.map((rule) =>
      [rule[at.name], rule[at.source], '=>', rule[at.target], rule[at.condition], rule[at.id]].join(' ').toLowerCase());
    const field = (name) => document.getElementById(name);
    const shown = FIELDS.filter(field);  // Of a file of rules there are fewer.
    const boxes = [...document.querySelectorAll('input[name=op]')];
    let page = 1, axiom = '';

    function readHash() {
      const hash = new URLSearchParams(location.hash.slice(1));
      for (const name of shown) field(name).value = hash.get(name) || '';
      const operators = (hash.get('op') || '').split(',');
      for (const box of boxes) box.checked = operators.includes(box.value);
      axiom = hash.get('axiom') || '';
      page = Math.max(1, parseInt(hash.get('page'), 10) || 1);
    }
    function writeHash() {
      const hash = new URLSearchParams();
      for (const name of shown) if (field(name).value) hash.set(name, field(name).value);
      const operators = boxes.filter((box) => box.checked).map((box) => box.value);
      if (operators.length) hash.set('op', operators.join(','));
      if (axiom) hash.set('axiom', axiom);
      if (page > 1) hash.set('page', page);
      history.replaceState(null, '', `#${hash}`);
    }
    function matching() {
      const words = field('q').value.toLowerCase().split(/\s+/).filter(Boolean);
      const operators = boxes.filter((box) => box.checked).map((box) => data.operators.indexOf(box.value));
      const needed = axiom ? data.axioms.indexOf(axiom) : -2;
      const [size, trust, verifier, condition, gain] = FIELDS.slice(1, 6).map((name) => (field(name) ? field(name).value : ''));
      const found = [];
      rules.forEach((rule, i) => {
        if (words.some((word) => !haystack[i].includes(word))) return;
        if (operators.some((operator) => !rule[at.operators].includes(operator))) return;
        if (needed !== -2 && !rule[at.axioms].includes(needed)) return;
        if (size && String(rule[at.size]) !== size) return;
        if (trust && rule[at.trust] !== trust) return;
        if (verifier && rule[at.verifier] !== verifier) return;
        if (condition && (rule[at.condition] === '') !== (condition === 'none')) return;
        if (gain === 'used' && rule[at.uses] === 0) return;
        if (gain === 'positive' && !(rule[at.gain] > 0)) return;
        found.push(rule);
      });
      const order = field('order').value;
      if (order === 'gain') found.sort((a, b) => b[at.gain] - a[at.gain]);
      if (order === 'size') found.sort((a, b) => a[at.size] - b[at.size]);
      if (order === 'name') found.sort((a, b) => (a[at.name] < b[at.name] ? -1 : 1));
      return found;
    }
    const element = (name, className, text) => {
      const made = document.createElement(name);
      if (className) made.className = className;
      if (text !== undefined) made.textContent = text;
      return made;
    };
    const gained = (us) => (Math.abs(us) >= 1000 ? `${(us / 1000).toPrecision(3)} ms` : `${us.toPrecision(3)} \u00b5s`);
    function card(rule) {
      const item = element('li', 'card'), link = element('a');
      link.href = `rules/${rule[at.id]}.html`;
      const inputs = rule[at.inputs].split(', ').map((input) => input.split(':')[0]);
      const picture = element('div', 'picture');
      picture.append(drawTerms(parseSide(rule[at.source]), inputs), element('span', '', '\u21d2'),
        drawTerms(parseSide(rule[at.target]), inputs));
      const badges = element('div', 'badges');
      if (rule[at.trust] === 'solver') badges.append(element('span', 'badge solver', 'a solver\u2019s word'));
      if (rule[at.trust] === 'none') badges.append(element('span', 'badge solver', 'not proved'));
      if (rule[at.condition]) badges.append(element('span', 'badge condition', `where ${rule[at.condition]}`));
      if (rule[at.uses]) badges.append(element('span', 'badge gain', `gained ${gained(rule[at.gain])}`));
      link.append(element('span', 'name', rule[at.name]), picture,
        element('code', '', `${rule[at.source]} \u21d2 ${rule[at.target]}`));
      if (badges.childNodes.length) link.append(badges);
      item.append(link);
      return item;
    }
    function show(scroll) {
      const found = matching();
      const pages = Math.max(1, Math.ceil(found.length / PAGE));
      page = Math.min(page, pages);
      field('list').replaceChildren(...found.slice((page - 1) * PAGE, page * PAGE).map(card));
      const among = axiom ? ` whose proof needs ${axiom}` : '';
      field('count').textContent = `${found.length.toLocaleString('en')} of ${rules.length.toLocaleString('en')} rules${among}`;
      if (axiom) {
        const all = element('button', 'button', 'drop the axiom');
        all.type = 'button';
        all.addEventListener('click', () => { axiom = ''; page = 1; show(); });
        field('count').append(' ', all);
      }
      const step = (label, to) => {
        const button = element('button', '', label);
        button.type = 'button';
        button.disabled = to < 1 || to > pages || to === page;
        button.addEventListener('click', () => { page = to; show(true); });
        return button;
      };
      field('pager').replaceChildren(step('\u00ab first', 1), step('\u2039 previous', page - 1),
        element('span', '', `page ${page.toLocaleString('en')} of ${pages.toLocaleString('en')}`),
        step('next \u203a', page + 1), step('last \u00bb', pages));
      writeHash();
      if (scroll) field('count').scrollIntoView();
    }

    readHash();
    show();
    let waiting = 0;
    field('filters').addEventListener('input', () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => { page = 1; show(); }, 60);
    });
    field('filters').addEventListener('submit', (event) => event.preventDefault());
    window.addEventListener('hashchange', () => { readHash(); show(); });
    document.addEventListener('keydown', (event) => {
      if (event.key === '/' && !event.target.closest('input, select')) {
        event.preventDefault();
        field('q').focus();
      }
      if (event.key === 'Escape' && event.target === field('q')) { field('q').value = ''; page = 1; show(); }
    });
  }

  if (window.REWRIGHT && document.getElementById('list')) startIndex(window.REWRIGHT);
  else startRule();
})();

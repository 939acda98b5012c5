// The report's filters: which claims are shown. The choice stands in the address, so that it can be sent to someone.
(() => {
  'use strict';
  const form = document.getElementById('filters');
  if (!form) return;
  form.classList.add('on');
  const rows = [...document.querySelectorAll('tr[data-verdict]')];
  const words = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const fields = ['verdict', 'work', 'experiment'];

  function show() {
    const wanted = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const fits = fields.every((name) => !form.elements[name].value || form.elements[name].value === row.dataset[name]) &&
        wanted.every((word) => words.get(row).includes(word));
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    for (const section of document.querySelectorAll('section.work'))
      section.hidden = !section.querySelector('tr[data-verdict]:not([hidden])');
    document.getElementById('count').textContent =
      shown === rows.length ? `All ${shown} claims` : `${shown} of ${rows.length} claims`;
    document.getElementById('all').hidden = shown === rows.length;
  }

  function read() {
    const chosen = new URLSearchParams(location.hash.slice(1));
    if (![...chosen.keys()].every((key) => fields.includes(key) || key === 'text')) return;  // A place on the page.
    for (const name of [...fields, 'text']) form.elements[name].value = chosen.get(name) || '';
    show();
  }

  function write() {
    const chosen = new URLSearchParams();
    for (const name of [...fields, 'text']) if (form.elements[name].value) chosen.set(name, form.elements[name].value);
    history.replaceState(null, '', '#' + chosen);
    show();
  }

  form.addEventListener('input', write);
  form.addEventListener('submit', (event) => event.preventDefault());
  addEventListener('hashchange', read);
  show();
  read();
})();

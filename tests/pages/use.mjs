// use.mjs OPTIMIZATION_PAGE: steps through a page of `rewright optimize --report` as a reader does, by clicks, keys and links; a line
// for each thing that does not answer as it should, and exit 1 where there is one.
import {resolve} from 'node:path';
import {pathToFileURL} from 'node:url';
import {open_browser} from './browser.mjs';

const file = process.argv[2];
if (!file) {
  console.error('use.mjs: no page was named');
  process.exit(2);
}
const address = pathToFileURL(resolve(file)).href;
const faults = [];
function expect(what, seen, expected) {
  const [a, b] = [JSON.stringify(seen), JSON.stringify(expected)];
  if (a !== b) faults.push(`${what}: ${a}, expected ${b}`);
}

const browser = await open_browser();
async function opened(hash = '', scripts = true) {
  const tab = await browser.newPage();
  await tab.setViewport({width: 1280, height: 900});
  await tab.setJavaScriptEnabled(scripts);
  await tab.goto(address + hash, {waitUntil: 'load'});
  return tab;
}
const shown = (tab) => tab.$$eval('.step', (steps) => steps.filter((s) => s.checkVisibility()).map((s) => s.id));
const slide = (tab, selector, value) => tab.$eval(selector, (range, value) => {
  range.value = value === 'most' ? range.max : value;
  range.dispatchEvent(new Event('input', {bubbles: true}));
}, value);
const turn = async (tab, which) => (await tab.$$('.turn button'))[which].click();

try {
  let tab = await opened();
  expect('one rewrite at a time', await shown(tab), ['rewrite-1']);
  const [back, next] = [0, 1];
  const is_off = (which) => tab.$$eval('.turn button', (buttons, which) => buttons[which].disabled, which);
  expect('nothing lies before the first', await is_off(back), true);
  await turn(tab, next);
  await turn(tab, next);
  expect('two steps on', await shown(tab), ['rewrite-3']);
  await turn(tab, back);
  expect('one back', await shown(tab), ['rewrite-2']);
  await slide(tab, '.steps input', 'most');
  const most = await tab.$eval('.steps input', (range) => range.max);
  expect('the slider goes to the end', await shown(tab), [`rewrite-${most}`]);
  expect('nothing lies behind the last', await is_off(next), true);
  expect('the slider says where it is', await tab.$eval('.steps input', (range) => range.getAttribute('aria-valuetext')), `${most} of ${most}`);

  tab = await opened('#rewrite-3');
  expect('a link names a rewrite', await shown(tab), ['rewrite-3']);

  tab = await opened();
  const fade = (await tab.$$('.controls input[type=range]'))[1];
  for (const [value, gone, made] of [[0, '1', '0'], [50, '1', '1'], [100, '0', '1']]) {
    await fade.evaluate((range, value) => { range.value = value; range.dispatchEvent(new Event('input', {bubbles: true})); }, value);
    const opacity = (part) => tab.$eval(`.step:not([hidden]) svg ${part}`, (e) => getComputedStyle(e).opacity);
    expect(`faded to ${value}`, [await opacity('.gone'), await opacity('.new')], [gone, made]);
  }

  tab = await opened();
  const is_inside = () => tab.$$eval('.pane', (panes) => panes.filter((pane) => pane.clientWidth > 0).every((pane) => {
    const a = pane.getBoundingClientRect(), b = pane.querySelector('svg').getBoundingClientRect();
    return b.width <= a.width + 1 && b.height <= a.height + 1 && b.left >= a.left - 1 && b.top >= a.top - 1;
  }));
  const width = () => tab.$eval('.pane svg', (drawing) => Math.round(drawing.getBoundingClientRect().width));
  expect('drawings fit their frames', await is_inside(), true);
  const first = await width();
  await tab.focus('.pane');
  await tab.keyboard.press('+');
  expect('+ enlarges', await width() > first, true);
  await tab.keyboard.press('0');
  expect('0 fits again', await width(), first);

  tab = await opened('', false);
  expect('without scripts all rewrites are there', (await shown(tab)).length, Number(most));
} finally {
  await browser.close();
}
for (const fault of faults) console.log(fault);
console.log(`${faults.length} faults`);
process.exit(faults.length > 0 ? 1 : 0);

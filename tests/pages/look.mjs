// look.mjs [--pictures FOLDER] PAGE...: opens each page in Chromium without a network, at 1280 and at 390 pixels, light and
// dark, as it is and with all that folds open; prints a line for each fault and ends with 1 where there is one.
//
//   layout      layout.js: wide, cut, overlap
//   frame       one heading of the page, ids that are there once, a link past the head to the page's matter, a language, a footer;
//               no link to the network (the book has some)
//   rules       axe-core: WCAG 2.2 A and AA, and its best practices (headings in order, landmarks, names, contrast, focus)
//   keys        Tab goes to at most 40 places, and each shows that it has the focus
//   errors      an exception of a script, an error on the console, a file that is not there, a request over the network
import {existsSync, mkdirSync, readFileSync} from 'node:fs';
import {basename, dirname, resolve} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {open_browser, require_module} from './browser.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const axe = readFileSync(require_module.resolve('axe-core/axe.min.js'), 'utf8');
const layout = readFileSync(resolve(here, 'layout.js'), 'utf8');

const pages = process.argv.slice(2);
let pictures = '';
if (pages[0] === '--pictures') {
  pages.shift();
  pictures = pages.shift();
  mkdirSync(pictures, {recursive: true});
}
const missing = pages.find((page) => !existsSync(page));
if (pages.length === 0 || missing) {
  console.error(missing ? `look.mjs: there is no page ${missing}` : 'look.mjs: no page was named');
  process.exit(2);
}

const sizes = [{name: 'desk', width: 1280, height: 900}, {name: 'phone', width: 390, height: 844}];
const schemes = ['light', 'dark'];
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const faults = new Map();  // One line a fault, with the views that show it.
function note(page, view, fault) {
  const line = `${page}: ${fault}`;
  if (!faults.has(line)) faults.set(line, new Set());
  faults.get(line).add(view);
}

async function settle(tab) {
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

// The first three windows of the page.
async function picture(tab, size, path) {
  const height = await tab.evaluate(() => document.documentElement.scrollHeight);
  await tab.screenshot({path, clip: {x: 0, y: 0, width: size.width, height: Math.min(height, 3 * size.height)}, captureBeyondViewport: true});
}

async function check_frame(tab, page, view) {
  const faults = await tab.evaluate(() => {
    const found = [];
    const all = (selector) => [...document.querySelectorAll(selector)];
    const headings = all('h1').length;
    if (headings !== 1) found.push(`${headings} headings h1, and a page has one`);
    const ids = all('[id]').map((e) => e.id);
    for (const id of new Set(ids.filter((each, i) => ids.indexOf(each) !== i))) found.push(`the id '${id}' is there more than once`);
    const matter = document.querySelector('main, [role=main]');
    const goals = all('a[href^="#"]').map((link) => document.getElementById(link.hash.slice(1)));
    if (!matter) found.push('there is no main');
    else if (!goals.some((goal) => goal && goal.contains(matter))) found.push('no link leads past the head to the main part');
    if (!document.documentElement.lang) found.push('the language is not named');
    if (!document.querySelector('meta[name=viewport]')) found.push('a phone is not told the width (viewport)');
    if (!document.querySelector('footer, .footer, [role=contentinfo]')) found.push('there is no footer');
    const is_book = document.querySelector('meta[name=generator][content*=Docutils], .sphinxsidebar, .bd-main, .sidebar-drawer');
    if (!is_book) for (const link of all('a[href^="http"], link[href^="http"]')) found.push(`it names ${link.href}`);
    for (const cell of all('h1, h2, h3, summary, th, td, svg text'))
      if (/(^|\s)\/\w[\w.-]*\/[\w./-]+/.test(cell.textContent)) found.push(`it names a file of this machine: ${cell.textContent.trim().slice(0, 80)}`);
    return [...new Set(found)];
  });
  for (const fault of faults) note(page, view, `frame: ${fault}`);
}

async function check_rules(tab, page, view) {
  const answer = await tab.evaluate(async (tags) => {
    const result = await axe.run(document, {runOnly: {type: 'tag', values: tags}, resultTypes: ['violations']});
    return result.violations.map((rule) => ({id: rule.id, help: rule.help, count: rule.nodes.length,
      first: rule.nodes[0].target.flat().join(' '), why: (rule.nodes[0].any[0] || rule.nodes[0].all[0] || {message: ''}).message}));
  }, tags);
  for (const rule of answer)
    note(page, view, `rules: ${rule.id}: ${rule.help}: ${rule.count} times, first ${rule.first}${rule.why ? ` (${rule.why})` : ''}`);
}

async function check_keys(tab, page, view) {
  await tab.evaluate(() => { window.scrollTo(0, 0); if (document.activeElement) document.activeElement.blur(); });
  for (let i = 0; i < 40; i += 1) {
    await tab.keyboard.press('Tab');
    const state = await tab.evaluate(() => {
      const at = document.activeElement;
      if (!at || at === document.body) return null;
      const style = getComputedStyle(at), box = at.getBoundingClientRect();
      const is_shown = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== 'none';
      const is_there = box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
      return {is_shown, is_there, name: `${at.localName} "${(at.textContent || at.getAttribute('aria-label') || '').trim().slice(0, 40)}"`};
    });
    if (!state) break;
    if (!state.is_shown) note(page, view, `keys: ${state.name} does not show that it has the focus`);
    if (!state.is_there) note(page, view, `keys: ${state.name} has the focus and is not in the window`);
  }
}

async function look(browser, file) {
  const page = basename(dirname(file)) + '/' + basename(file);
  for (const size of sizes) {
    for (const scheme of schemes) {
      const view = `${size.name} ${scheme}`;
      const tab = await browser.newPage();
      tab.on('pageerror', (error) => note(page, view, `errors: ${error.message}`));
      tab.on('console', (message) => { if (message.type() === 'error') note(page, view, `errors: ${message.text()}`); });
      tab.on('request', (request) => {
        if (!/^(file|data|blob):/.test(request.url())) note(page, view, `errors: it asks for ${request.url()}`);
      });
      tab.on('requestfailed', (request) => note(page, view, `errors: there is no ${request.url()}`));
      await tab.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}, {name: 'prefers-reduced-motion', value: 'reduce'}]);
      await tab.setViewport({width: size.width, height: size.height, isMobile: false});
      await tab.goto(pathToFileURL(resolve(file)).href, {waitUntil: 'load', timeout: 60_000});
      await settle(tab);
      if (pictures) await picture(tab, size, `${pictures}/${page.replace(/\W+/g, '-')}-${size.name}-${scheme}.png`);
      for (const fault of await tab.evaluate(`(${layout})()`)) note(page, view, fault);
      await check_frame(tab, page, view);
      await tab.evaluate(axe);
      await check_rules(tab, page, view);
      if (scheme === 'light') await check_keys(tab, page, view);
      const folded = await tab.evaluate(() => {
        const closed = [...document.querySelectorAll('details:not([open])')];
        for (const each of closed) each.open = true;
        return closed.length;
      });
      if (folded > 0) {
        await settle(tab);
        for (const fault of await tab.evaluate(`(${layout})()`)) note(page, view + ' open', fault);
        if (scheme === 'light') await check_rules(tab, page, view + ' open');
      }
      await tab.close();
    }
  }
}

const browser = await open_browser();
try {
  for (const file of pages) await look(browser, file);
} finally {
  await browser.close();
}
for (const [line, views] of faults) console.log(`${line} [${[...views].join(', ')}]`);
console.log(`${pages.length} pages, ${faults.size} faults`);
process.exit(faults.size > 0 ? 1 : 0);

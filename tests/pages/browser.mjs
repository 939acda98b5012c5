// Chromium, driven by the puppeteer-core that scripts/install-dependencies --tests has put into REWRIGHT_PAGES_MODULES.
import {createRequire} from 'node:module';
import {dirname, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

const modules = process.env.REWRIGHT_PAGES_MODULES || resolve(dirname(fileURLToPath(import.meta.url)), '../../.cache/pages');
export const require_module = createRequire(modules + '/');

export function open_browser() {
  return require_module('puppeteer-core').launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--allow-file-access-from-files', '--hide-scrollbars'],
  });
}

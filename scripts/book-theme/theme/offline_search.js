// Sphinx's search asks for each page that it found, to quote from it; from the disk a browser gives none. The texts are in
// excerpts.js.
(() => {
  const ask = window.fetch;
  window.fetch = (address, ...others) => {
    const page = String(address).slice(DOCUMENTATION_OPTIONS.URL_ROOT.length, -DOCUMENTATION_OPTIONS.FILE_SUFFIX.length);
    if (!(page in kPageTexts)) return ask(address, ...others);
    return Promise.resolve({text: async () => `<div role="main">${kPageTexts[page]}</div>`});
  };
})();

// Makes index.html, one file with everything in it. Usage: node build.mjs NODE_MODULES WASM OUTPUT
// Run by script/page.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';

const [modules, wasm, output] = process.argv.slice(2);
const here = new URL('.', import.meta.url).pathname;
const esbuild = createRequire(`${modules}/`)('esbuild');

/** What a script of the page needs, as one script. */
function bundled(file) {
  const { outputFiles } = esbuild.buildSync({
    entryPoints: [`${here}page/${file}`], bundle: true, minify: true, write: false, format: 'iife', target: 'es2022',
    nodePaths: [modules], legalComments: 'none', charset: 'utf8',
  });
  // The end of a script ends it also inside a text.
  return outputFiles[0].text.replaceAll('</script', '<\\/script');
}

const style = esbuild.transformSync(
  readFileSync(`${modules}/uplot/dist/uPlot.min.css`, 'utf8') + readFileSync(`${here}page/page.css`, 'utf8'),
  { loader: 'css', minify: true },
).code;
const parts = {
  '/*STYLE*/': style,
  '/*WASM*/': gzipSync(readFileSync(wasm), { level: 9 }).toString('base64'),
  '/*WORKER*/': bundled('worker.js'),
  '/*MAIN*/': bundled('main.js'),
};
let page = readFileSync(`${here}page/index.html`, 'utf8');
for (const [place, text] of Object.entries(parts)) page = page.replace(place, () => text);
writeFileSync(output, page);

const mostBytes = 700_000;
const size = Buffer.byteLength(page);
console.log(`${output}: ${size} bytes`);
if (size > mostBytes) {
  console.error(`the page has ${size} bytes; must have at most ${mostBytes}`);
  process.exit(1);
}

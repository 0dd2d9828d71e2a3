// The guides as pages, written into the folder of the service by `deploy/build/build.mjs`: Markdown to HTML happens at build time alone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked } from 'marked';

const folder = import.meta.dirname;
/** The address of the service in examples and links. A link leads to the service that shows the guide. */
const exampleUrl = 'http://127.0.0.1:8080';
const languages = { sh: 'Shell', ts: 'TypeScript', py: 'Python', js: 'JavaScript', go: 'Go', java: 'Java' };

/** The guides, in the order of their list; `name` is the last part of the path. */
const guidePages = JSON.parse(readFileSync(join(folder, 'pages.json'), 'utf8'));

/** A plugin of the bundler that writes `guides/<name>.html` and the styles. */
export function guides() {
  const sources = guidePages.map(({ name }) => join(folder, `${name}.md`));
  const style = join(folder, 'style.css');
  return {
    name: 'guides',
    buildStart() {
      for (const file of [...sources, style]) this.addWatchFile(file);
    },
    generateBundle() {
      for (const { name } of guidePages) {
        const source = renderGuide(name, readFileSync(join(folder, `${name}.md`), 'utf8'));
        this.emitFile({ type: 'asset', fileName: `guides/${name}.html`, source });
      }
      const navigation = renderNavigation('reference');
      this.emitFile({ type: 'asset', fileName: 'guides/navigation.html', source: navigation });
      this.emitFile({ type: 'asset', fileName: 'guides/style.css', source: readFileSync(style) });
    },
  };
}

/** The contents of a page; the service puts them into the frame of its pages. */
function renderGuide(name, markdown) {
  return `${renderNavigation(name)}<article class="guide-text">
${renderMarkdown(markdown)}</article>
`;
}

/** The list of the guides, with the present one marked. */
function renderNavigation(name) {
  const links = [...guidePages, { name: 'reference', title: 'Reference of all routes' }].map((page) => {
    const here = page.name === name ? ' aria-current="page"' : '';
    return `<li><a href="/docs/${page.name}"${here}>${page.title}</a></li>`;
  });
  return `<nav class="guides" aria-label="Documentation">
<ul>
${links.join('\n')}
</ul>
</nav>
`;
}

/** Headings can be linked to; what may be wider than a phone scrolls by itself, also by keyboard. */
function renderMarkdown(markdown) {
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${toAnchor(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const target = href.replace(exampleUrl, '').replace(/^(\w+)\.md/, '/docs/$1');
        return `<a href="${target}">${this.parser.parseInline(tokens)}</a>`;
      },
      code({ text, lang = '' }) {
        const [language] = lang.split(' ');
        const label = languages[language] ?? language;
        return `<figure><figcaption>${label}</figcaption><pre tabindex="0"><code>${escapeHtml(text)}</code></pre></figure>\n`;
      },
      table(token) {
        const row = (cells, tag) =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
        const body = token.rows.map((cells) => row(cells, 'td')).join('\n');
        return `<div class="wide" tabindex="0"><table>\n<thead>${row(token.header, 'th')}</thead>\n<tbody>\n${body}\n</tbody>\n</table></div>\n`;
      },
    },
  });
  return marked.parse(markdown);
}

/** As GitHub names sections, so that links work in both places. */
function toAnchor(title) {
  return title
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .trim()
    .replace(/\s+/g, '-');
}

function escapeHtml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

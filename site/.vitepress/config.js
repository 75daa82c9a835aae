import { readFileSync } from 'node:fs';
import { headingId } from '../heading-id.js';

/** Text of pages that looks like a template must stay text. */
function keepBraces(md) {
  for (const name of ['text', 'code_inline']) {
    const render = md.renderer.rules[name];
    md.renderer.rules[name] = (...args) => render(...args).replaceAll('{{', '&#123;&#123;');
  }
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="#3451b2">
<rect x="5" y="1" width="6" height="7"/><rect x="3" y="9" width="10" height="2"/><rect x="1" y="12" width="14" height="3"/></svg>`;

export default {
  title: 'Plinth',
  description: 'A cluster API server on PostgreSQL',
  lang: 'en',
  // In the page itself: browsers ask for it at once.
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  srcDir: 'content',
  rewrites: { 'decisions/README.md': 'decisions/index.md' },
  cleanUrls: false,
  lastUpdated: false,
  // build.js checks links with their anchors.
  ignoreDeadLinks: false,
  markdown: { html: false, anchor: { slugify: headingId }, config: keepBraces },
  themeConfig: {
    nav: [
      { text: 'Get started', link: '/getting-started' },
      { text: 'How to', link: '/how-to' },
      { text: 'Flags', link: '/flags' },
      { text: 'Metrics', link: '/metrics' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: JSON.parse(readFileSync(new URL('menu.json', import.meta.url), 'utf8')),
    outline: [2, 3],
    // The index is part of the site: nothing is asked of another server.
    search: { provider: 'local' },
  },
};

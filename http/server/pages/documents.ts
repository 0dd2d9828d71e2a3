import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { once } from '../../../actors/caching/once.ts';
import type { Clock } from '../../../actors/clock.ts';
import type { FrameRequest } from '../../explorer/page.ts';
import guidePages from '../../guides/pages.json' with { type: 'json' };
import { createJsonSchema, schemaNames } from '../../routes/documentation/jsonSchemas.ts';
import { robotsText, writeModelText, writeSecurityText } from '../../routes/documentation/machineTexts.ts';
import { createMessageSchema, messageSchemaNames } from '../../routes/documentation/messageSchemas.ts';
import { createOpenApiDocument } from '../../routes/documentation/openApi.ts';
import { toOpenApi30 } from '../../routes/documentation/openApi30.ts';
import { findSchemaPath } from '../../routes/route.ts';
import { memoize } from '../answers/memoize.ts';
import { type PreparedResponse, prepareDocument } from '../answers/preparedResponse.ts';
import type { Header } from '../engine/headerBlock.ts';
import { findBuiltFolder, loadExplorerBuild } from './explorerBuild.ts';
import { buildPageHeaders } from './pageHeaders.ts';
import { listRoutes } from './routeList.ts';

/** A static document (CONTRACT.md, Documents). */
interface PublicDocument {
  readonly path: string;
  /** Whether it exceeds 128 KiB, and is limited like an expensive route. */
  readonly isLarge: boolean;
  /** Builds or reads the document at the first request, then caches it. Most processes are never asked for it. */
  readonly prepare: () => PreparedResponse;
}

const cacheControl = 'public, max-age=300';
const securityTextsMax = 1;
/** Guides have no scripts. Tools that examine a page read `robots.txt` from it. */
const guideHeaders = buildPageHeaders(
  "default-src 'none'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);
/** Swagger UI styles elements inline, and its icons are data URIs. Scripts come only from this service. */
const referenceHeaders = buildPageHeaders(
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

const guideStyle = '/docs/style.css';

/**
 * Swagger UI without its warning that it does not check the dialect of schemas. Readers with a screen reader or a keyboard get
 * headings in order, names of choices, examples that can be scrolled, and no link within a button. Routes are tried out where the page is
 * read, since it may ask no other address.
 */
const start = `const dark = matchMedia('(prefers-color-scheme: dark)');
const showTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', showTheme);
showTheme();
const root = document.querySelector('#documentation');
const mend = () => {
  for (const one of root.querySelectorAll('h3, h4, h5')) one.ariaLevel = one.tagName[1] - 1;
  for (const one of root.querySelectorAll('select'))
    one.ariaLabel = one.closest('[data-param-name]')?.dataset.paramName ?? (one.id || 'example');
  for (const one of root.querySelectorAll('pre')) one.tabIndex = 0;
};
new MutationObserver(mend).observe(root, { childList: true, subtree: true });
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#documentation',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  requestInterceptor: (one) => Object.assign(one, { url: location.origin + one.url.replace(/^https?:..[^/]*/, '') }),
  syntaxHighlight: { theme: 'tomorrow-night' },
  plugins: [
    () => ({ wrapComponents: { JsonSchemaDialect: () => () => null, DeepLink: () => ({ text }) => text } }),
  ],
});
`;

/** The OpenAPI document, the reference page with its assets, JSON Schemas, guides, and texts for machines. */
export function loadDocuments(
  { securityContact, publicUrl }: Readonly<Record<'securityContact' | 'publicUrl', string | null>>,
  clock: Clock,
): PublicDocument[] {
  const document = (
    path: string,
    contentType: string,
    read: () => Buffer,
    { own = [], isLarge = false }: { readonly own?: readonly Header[]; readonly isLarge?: boolean } = {},
  ): PublicDocument => ({
    path,
    isLarge,
    prepare: once(() => prepareDocument(read(), { contentType, cacheControl, own })),
  });
  const openApi = once(() => createOpenApiDocument(publicUrl));
  const assets = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const asset = (name: string, contentType: string, mend = (bytes: Buffer) => bytes) =>
    document(`/docs/${name}`, contentType, () => mend(readFileSync(join(assets, name))), { isLarge: true });
  /** A page can have only one main part, and Swagger UI draws another one. */
  const mendMain = (script: Buffer) =>
    Buffer.from(script.toString().replace('"main",{id:"operations"', '"div",{id:"operations"'));
  const built = (name: string) => readFileSync(join(findBuiltFolder('guides', 'start.html'), name));
  const page = (
    path: string,
    write: () => Pick<FrameRequest, 'title' | 'description' | 'html' | 'styles' | 'scripts'>,
    own: readonly Header[],
  ) =>
    document(
      path,
      'text/html; charset=utf-8',
      () => {
        const { renderFrame, files } = loadExplorerBuild();
        return Buffer.from(renderFrame({ path, settings: { files, publicUrl }, ...write() }));
      },
      { own },
    );
  const guide = (path: string, { name, title }: (typeof guidePages)[number]) =>
    page(
      path,
      () => ({
        title: `${title} · Mining Activity Read Service`,
        description: `${title}: a guide to the Mining Activity Read Service.`,
        html: addressGuide(built(`${name}.html`).toString(), publicUrl),
        styles: [guideStyle],
        scripts: [],
      }),
      guideHeaders,
    );
  /** It names the day on which it expires, so it changes every day. */
  const security = (contact: string): PublicDocument => {
    const headers = { contentType: 'text/plain; charset=utf-8', cacheControl };
    const prepare = memoize((text) => prepareDocument(Buffer.from(text), headers), securityTextsMax);
    const path = '/.well-known/security.txt';
    return { path, isLarge: false, prepare: () => prepare(writeSecurityText(contact, clock.nowMs())) };
  };
  const schemaIndex = () => ({
    messages: Object.fromEntries(messageSchemaNames.map((name) => [name, findSchemaPath(name)])),
    bodies: Object.fromEntries(schemaNames.map((name) => [name, findSchemaPath(name)])),
  });
  return [
    document('/openapi.json', 'application/json', () => toJson(openApi()), { isLarge: true }),
    document('/openapi-3.0.json', 'application/json', () => toJson(toOpenApi30(openApi())), {
      isLarge: true,
    }),
    ...schemaNames.map((name) =>
      document(findSchemaPath(name), 'application/schema+json', () =>
        toJson(createJsonSchema(name, openApi().components?.schemas ?? {}, publicUrl)),
      ),
    ),
    document('/schemas', 'application/json', () => toJson(schemaIndex())),
    ...messageSchemaNames.map((name) =>
      document(findSchemaPath(name), 'application/schema+json', () =>
        toJson({
          ...(publicUrl !== null && { $id: publicUrl + findSchemaPath(name) }),
          ...createMessageSchema(name),
        }),
      ),
    ),
    document('/robots.txt', 'text/plain; charset=utf-8', () => Buffer.from(robotsText)),
    ...['/favicon.svg', '/favicon.ico'].map((path) =>
      document(path, 'image/svg+xml', () => loadExplorerBuild().readIcon()),
    ),
    ...(securityContact === null ? [] : [security(securityContact)]),
    document('/llms.txt', 'text/markdown; charset=utf-8', () => Buffer.from(writeModelText(openApi()))),
    ...guidePages.slice(0, 1).map((first) => guide('/docs', first)),
    ...guidePages.map((one) => guide(`/docs/${one.name}`, one)),
    document('/docs/style.css', 'text/css; charset=utf-8', () => built('style.css')),
    page(
      '/docs/reference',
      () => ({
        title: 'Reference · Mining Activity Read Service',
        description: 'All routes of the Mining Activity Read Service, to try out.',
        html: `${built('navigation.html')}<div id="documentation">${listRoutes(openApi())}</div>`,
        styles: ['/docs/swagger-ui.css', guideStyle],
        scripts: ['/docs/swagger-ui-bundle.js', '/docs/start.js'],
      }),
      referenceHeaders,
    ),
    document('/docs/start.js', 'text/javascript; charset=utf-8', () => Buffer.from(start)),
    asset('swagger-ui.css', 'text/css; charset=utf-8'),
    asset('swagger-ui-bundle.js', 'text/javascript; charset=utf-8', mendMain),
  ];
}

/** The examples of the guides ask this address, unless the operator has configured the public one. */
const exampleUrl = 'http://127.0.0.1:8080';

function addressGuide(html: string, publicUrl: string | null): string {
  return publicUrl === null ? html : html.replaceAll(exampleUrl, publicUrl);
}

function toJson(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

// Every generated document and page as a resource: made once at start, served as bytes.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { openApiOf } from '../../documents/openapi.ts'
import { skillPath, SKILLS_INDEX_PATH, skillsIndex } from '../../documents/skills.ts'
import { agentText, apiCatalog, llmsText, robotsText, schemaDocument } from '../../documents/texts.ts'
import { ERRORS, type ErrorCode } from '../../core/errors.ts'
import { didDocument, didPathOf } from '../../payments/did.ts'
import { sendBytes, sendJson } from '../http/reply.ts'
import type { DoorParts } from '../parts.ts'
import type { Handler, Resource } from './exchange.ts'
import { publishedKeys, verificationKeys } from './keys.ts'
import { marketPages } from './market-pages.ts'
import { sellerDocuments } from './seller-documents.ts'
import {
  capabilityPage,
  docsPage,
  docsScript,
  homePage,
  PAGE_CSP,
  type PageParts,
  problemPage,
  SITE_CSS,
} from './pages.ts'

const MAX_AGE = 'public, max-age=300'
const TEXT = 'text/plain; charset=utf-8'
const MARKDOWN = 'text/markdown; charset=utf-8'

/** The documents at fixed paths: texts, manifests, schemas, published keys, pages. */
export function documentResources(parts: DoorParts): Resource[] {
  const { registry, addresses, documents, store } = parts
  const capabilities = documents.catalogue()['tools'] as readonly Readonly<Record<string, unknown>>[]
  const agent = agentText(registry, addresses)
  const { skills = [] } = parts
  const json = (path: string, value: unknown, type = 'application/json') =>
    fixed(path, type, JSON.stringify(value))
  return [
    json('/openapi.json', openApiOf(registry, addresses)),
    ...sellerDocuments(parts),
    fixed('/agent.txt', TEXT, agent),
    fixed('/agents.txt', TEXT, agent),
    fixed('/llms.txt', TEXT, llmsText(addresses, capabilities)),
    fixed('/robots.txt', TEXT, robotsText),
    ...['/skills', '/skills/index.json', SKILLS_INDEX_PATH].map((path) =>
      json(path, skillsIndex(skills, addresses)),
    ),
    ...skills.map((skill) => fixed(skillPath(skill), MARKDOWN, skill.text)),
    fixed(
      '/.well-known/api-catalog',
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
      JSON.stringify(apiCatalog(addresses)),
      { link: `<${addresses.baseUrl}/.well-known/api-catalog>; rel="api-catalog"` },
    ),
    open('/.well-known/gateway-egress-key.json', async ({ res, context }) =>
      sendJson(res, 200, publishedKeys(await store.listPublishedKeys()), {
        'cache-control': MAX_AGE,
        'x-content-type-options': 'nosniff',
        'x-request-id': context.requestId,
      }),
    ),
    open('/.well-known/jwks.json', async ({ res, context }) =>
      sendJson(res, 200, verificationKeys(await store.listPublishedKeys()), {
        'cache-control': MAX_AGE,
        'x-content-type-options': 'nosniff',
        'x-request-id': context.requestId,
      }),
    ),
    open(didPathOf(addresses.baseUrl), async ({ res, context }) =>
      sendJson(res, 200, didDocument(addresses.baseUrl, await store.listPublishedKeys()), {
        'content-type': 'application/did+json',
        'cache-control': MAX_AGE,
        'x-content-type-options': 'nosniff',
        'x-request-id': context.requestId,
      }),
    ),
    ...registry.tools.map((entry) => json(`/schemas/${entry.portableName}.json`, schemaDocument(entry))),
    ...pageResources(parts, capabilities),
  ]
}

function pageResources(
  parts: PageParts,
  capabilities: readonly Readonly<Record<string, unknown>>[],
): Resource[] {
  const api = new URL(parts.addresses.baseUrl).origin
  const docsCsp = `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self' ${api}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  return [
    page('/', homePage(parts)),
    ...marketPages(parts),
    page('/docs', docsPage(parts), docsCsp),
    ...capabilities.map((entry) =>
      page(`/capabilities/${String(entry['id'])}`, capabilityPage(parts, entry)),
    ),
    ...(Object.keys(ERRORS) as ErrorCode[]).map((code) =>
      page(`/problems/${code}`, problemPage(parts, code)),
    ),
    fixed('/site.css', 'text/css; charset=utf-8', SITE_CSS),
    fixed('/docs/start.js', 'text/javascript; charset=utf-8', docsScript(parts)),
    packaged('/docs/swagger-ui.css', 'text/css; charset=utf-8', 'swagger-ui.css'),
    packaged('/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8', 'swagger-ui-bundle.js'),
    packaged('/favicon.ico', 'image/png', 'favicon-32x32.png'),
  ]
}

const open = (path: string, GET: Handler): Resource => ({ path, open: 'public', methods: { GET } })

function fixed(path: string, type: string, text: string, headers: Record<string, string> = {}): Resource {
  return open(path, serveBytes(type, Buffer.from(text), headers))
}

function page(path: string, text: string, csp: string = PAGE_CSP): Resource {
  const handler = serveBytes('text/html; charset=utf-8', Buffer.from(text), {
    'content-security-policy': csp,
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  })
  return { path, methods: { GET: handler } }
}

function serveBytes(type: string, bytes: Buffer, headers: Readonly<Record<string, string>>): Handler {
  const fixedHeaders = {
    'content-type': type,
    'cache-control': MAX_AGE,
    'x-content-type-options': 'nosniff',
    ...headers,
  }
  return ({ res, context }) =>
    sendBytes(res, 200, bytes, { ...fixedHeaders, 'x-request-id': context.requestId })
}

const packageFile = createRequire(import.meta.url)

/** A file of swagger-ui-dist, read when first asked for: most processes never serve it. */
function packaged(path: string, type: string, file: string): Resource {
  let bytes: Promise<Buffer> | undefined
  return open(path, async (exchange) => {
    bytes ??= readFile(join(dirname(packageFile.resolve('swagger-ui-dist/package.json')), file))
    return serveBytes(type, await bytes, {})(exchange)
  })
}

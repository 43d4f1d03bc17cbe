// Every generated document as a resource: made once, for the first who asks, and served as bytes. A start makes none of them, because
// that took a third of its time, and many a process ends before anybody reads one.
import { openApiOf } from '../../documents/openapi.ts'
import { skillPath, SKILLS_INDEX_PATH, skillsIndex } from '../../documents/skills.ts'
import { agentText } from '../../documents/agent-text.ts'
import { apiCatalog, llmsText, robotsText, schemaDocument } from '../../documents/texts.ts'
import { llmsFullText, toolsetPath, toolsetsIn, toolsetText } from '../../documents/toolset-texts.ts'
import { didDocument, didPathOf } from '../../payments/did.ts'
import { fixDocument, type FixedDocument, sendPublicText } from '../http/document.ts'
import type { DoorParts } from '../parts.ts'
import type { Handler, Resource } from '../http/resource.ts'
import { publishedKeys, verificationKeys } from '../../receipts/published-keys.ts'
import { securityText } from './security-text.ts'
import { sellerDocuments } from './seller-documents.ts'

const MAX_AGE = 'public, max-age=300'
const TEXT = 'text/plain; charset=utf-8'
const MARKDOWN = 'text/markdown; charset=utf-8'

/** The documents at fixed paths: texts, manifests, schemas, published keys, pages. */
export function documentResources(parts: DoorParts): Resource[] {
  const { registry, addresses, documents, store } = parts
  const agent = () => agentText(registry, addresses)
  const { skills = [] } = parts
  const json = (path: string, make: () => unknown) =>
    fixed(path, 'application/json', () => JSON.stringify(make()))
  return [
    json('/openapi.json', () => openApiOf(registry, addresses)),
    ...sellerDocuments(parts),
    fixed('/agent.txt', TEXT, agent),
    fixed('/agents.txt', TEXT, agent),
    fixed('/llms.txt', TEXT, () => {
      const capabilities = documents.catalogue()['tools'] as readonly Readonly<Record<string, unknown>>[]
      return llmsText(registry, addresses, capabilities)
    }),
    fixed('/llms-full.txt', TEXT, () => llmsFullText(registry, addresses)),
    ...toolsetsIn(registry).map((toolset) =>
      fixed(toolsetPath(toolset), TEXT, () => toolsetText(registry, addresses, toolset)),
    ),
    fixed('/robots.txt', TEXT, () => robotsText(addresses, parts.config.mode === 'production')),
    ...['/skills', '/skills/index.json', SKILLS_INDEX_PATH].map((path) =>
      json(path, () => skillsIndex(skills, addresses)),
    ),
    ...skills.map((skill) => fixed(skillPath(skill), MARKDOWN, () => skill.text)),
    fixed(
      '/.well-known/api-catalog',
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
      () => JSON.stringify(apiCatalog(addresses)),
      { link: `<${addresses.baseUrl}/.well-known/api-catalog>; rel="api-catalog"` },
    ),
    changing('/.well-known/gateway-egress-key.json', 'application/json', async () =>
      JSON.stringify(publishedKeys(await store.listPublishedKeys())),
    ),
    changing('/.well-known/jwks.json', 'application/json', async () =>
      JSON.stringify(verificationKeys(await store.listPublishedKeys())),
    ),
    changing(didPathOf(addresses.baseUrl), 'application/did+json', async () =>
      JSON.stringify(didDocument(addresses.baseUrl, await store.listPublishedKeys())),
    ),
    changing('/.well-known/security.txt', TEXT, async () => securityText(parts)),
    ...registry.tools.map((entry) =>
      json(`/schemas/${entry.portableName}.json`, () => schemaDocument(entry)),
    ),
  ]
}

const open = (path: string, GET: Handler): Resource => ({ path, open: 'public', methods: { GET } })

/** @param make called once, with the first request */
function fixed(
  path: string,
  type: string,
  make: () => string,
  headers: Record<string, string> = {},
): Resource {
  let document: FixedDocument | undefined
  return open(path, ({ req, res, context }) => {
    document ??= fixDocument(make(), { type, headers })
    return document.send(req, res, { 'x-request-id': context.requestId })
  })
}

/** A document that is made anew for each request, as keys are rotated and days pass. */
function changing(path: string, type: string, make: () => Promise<string>): Resource {
  return open(path, async ({ req, res, context }) =>
    sendPublicText(req, res, {
      text: await make(),
      headers: {
        'content-type': type,
        'cache-control': MAX_AGE,
        'x-content-type-options': 'nosniff',
        'x-request-id': context.requestId,
      },
      isTagged: true,
      isForEverybody: true,
    }),
  )
}

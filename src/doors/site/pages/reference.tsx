// The reference: every tool at every door, headers, errors, and the files that say the same to programs.
import type { VNode } from 'preact'
import { jobPrices, priceWords, WHO } from '../../../documents/protocols.ts'
import { TOOLSET_WORDS, toolsetPath, toolsetsIn } from '../../../documents/toolset-texts.ts'
import type { RegisteredTool } from '../../../core/registry.ts'
import { english } from '../components/document.tsx'
import { Ltr } from '../components/foreign.tsx'
import { Link } from '../components/link.tsx'
import { Scrolling } from '../components/state.tsx'
import { CODES, describeCode, linkToTool } from '../problems.ts'
import { definePage, type PageContext } from '../ports.ts'
import { referenceTexts } from '../texts/reference.ts'

const FILES = {
  openapi: '/openapi.json',
  protocols: '/v1/protocols',
  capabilities: '/v1/capabilities',
  card: '/.well-known/agent-card.json',
  llms: '/llms-full.txt',
  x402: '/.well-known/x402',
  jwks: '/.well-known/jwks.json',
} as const
type FileName = keyof typeof FILES

const HEADERS = [
  ['Authorization', 'request', 'authorization'],
  ['X-Gateway-Capability', 'request', 'capability'],
  ['Idempotency-Key', 'request', 'idempotency'],
  ['Payment-Signature', 'request', 'pay'],
  ['X-Gateway-Quote', 'both', 'quote'],
  ['Sign-In-With-X', 'request', 'sign'],
  ['Accept', 'request', 'accept'],
  ['X-Request-Id', 'answer', 'id'],
  ['RateLimit, RateLimit-Policy', 'answer', 'limit'],
  ['Retry-After', 'answer', 'retry'],
  ['Payment-Required', 'answer', 'required'],
  ['Payment-Response', 'answer', 'paid'],
  ['WWW-Authenticate', 'answer', 'www'],
  ['Allow', 'answer', 'allow'],
  ['ETag', 'answer', 'etag'],
] as const

const describe = (entry: RegisteredTool) => {
  const { tool, portableName } = entry
  const on = (door: 'rest' | 'mcp' | 'a2a') => tool.doors.includes(door)
  return {
    ...linkToTool(entry),
    routes: tool.rest.map(({ method, path, operationId }) => ({ method, path, operation_id: operationId })),
    mcp: on('mcp') ? portableName : null,
    a2a: on('a2a') ? tool.skills.map(({ id }) => id) : [],
    caller: tool.caller,
    price: jobPrices(tool) ?? priceWords(tool.price),
    schema: `/schemas/${portableName}.json`,
  }
}

export const page = definePage({
  isFixed: true,
  isWide: true,
  load: ({ site: { registry, addresses } }) => ({
    ways: {
      http: addresses.baseUrl,
      mcp: addresses.mcpUrl,
      a2a: `${addresses.baseUrl}/a2a`,
    },
    files: FILES,
    toolsets: toolsetsIn(registry).map((name) => ({
      name,
      words: TOOLSET_WORDS[name],
      text: toolsetPath(name),
      tools: registry.tools.filter(({ tool }) => tool.toolset === name).map(describe),
    })),
    headers: HEADERS.map(([name, direction]) => ({ name, in: direction })),
    errors: CODES.map(describeCode),
  }),
  title: (_data, { language }) => referenceTexts[language].title,
  description: (_data, { language }) => referenceTexts[language].description,
  View({ data, page }) {
    const t = referenceTexts[page.language]
    return (
      <>
        <h1>{t.title}</h1>
        <p class="lead">{t.lead}</p>
        <div class="reference-head">
          <section class="stack">
            <h2>{t.ways}</h2>
            <dl class="pairs">
              {(['http', 'mcp', 'a2a'] as const).map((way) => (
                <>
                  <dt>{t.way[way]}</dt>
                  <dd>
                    <Ltr class="mono">{data.ways[way]}</Ltr>
                  </dd>
                </>
              ))}
            </dl>
          </section>
          <section class="stack">
            <h2>{t.download}</h2>
            <dl class="pairs">
              {Object.entries(data.files).map(([name, path]) => (
                <>
                  <dt>{t.files[name as FileName]}</dt>
                  <dd>
                    <Link to={page.href(path)}>
                      <Ltr>{path}</Ltr>
                    </Link>
                  </dd>
                </>
              ))}
            </dl>
          </section>
        </div>
        <nav aria-label={t.tools} class="row">
          {data.toolsets.map(({ name }) => (
            <Link to={`#${name}`}>{name}</Link>
          ))}
          <Link to="#headers">{t.headers}</Link>
          <Link to="#errors">{t.errors}</Link>
        </nav>
        {data.toolsets.map((toolset) => (
          <Toolset {...toolset} page={page} />
        ))}
        <h2 id="headers">{t.headers}</h2>
        <Scrolling label={t.headers}>
          <table class="reference-table">
            <thead>
              <tr>
                <th scope="col">{t.header}</th>
                <th scope="col">{t.direction}</th>
                <th scope="col">{t.meaning}</th>
              </tr>
            </thead>
            <tbody>
              {HEADERS.map(([name, direction, words]) => (
                <tr>
                  <th scope="row">
                    <code>{name}</code>
                  </th>
                  <td>{t[direction]}</td>
                  <td>{t.header_words[words]}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scrolling>
        <h2 id="errors">{t.errors}</h2>
        <p>{t.errorsLead}</p>
        <Errors errors={data.errors} page={page} />
      </>
    )
  },
})

interface ToolsetProps {
  readonly name: string
  readonly words: string
  readonly text: string
  readonly tools: readonly ReturnType<typeof describe>[]
  readonly page: PageContext
}

function Toolset({ name, words, text, tools, page }: ToolsetProps): VNode {
  const t = referenceTexts[page.language]
  return (
    <section class="stack reference-set" id={name}>
      <h2>
        <span {...english(page)}>{name}</span>
      </h2>
      <p>
        <span {...english(page)}>{words}</span> · <Link to={page.href(text)}>{t.asText}</Link>
      </p>
      <Scrolling label={name}>
        <table class="reference-table">
          <thead>
            <tr>
              <th scope="col">{t.tool}</th>
              <th scope="col">{t.route}</th>
              <th scope="col">MCP, A2A</th>
              <th scope="col">{t.who}</th>
              <th scope="col">{t.price}</th>
            </tr>
          </thead>
          <tbody>
            {tools.map((tool) => (
              <tr>
                <th scope="row">
                  <Link to={page.href(tool.path)}>
                    <span {...english(page)}>{tool.title}</span>
                  </Link>
                </th>
                <td>
                  {tool.routes.map(({ method, path }) => (
                    <code class="reference-route" dir="ltr">
                      {method} {path}
                    </code>
                  ))}
                </td>
                <td class="small">
                  {tool.mcp !== null && <code class="reference-route">{tool.mcp}</code>}
                  {tool.a2a.length > 0 && <Ltr class="muted">{tool.a2a.join(', ')}</Ltr>}
                </td>
                <td class="small">
                  <span {...english(page)}>{WHO[tool.caller]}</span>
                </td>
                <td class="small">
                  <span {...english(page)}>{tool.price}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolling>
    </section>
  )
}

function Errors({
  errors,
  page,
}: {
  readonly errors: readonly ReturnType<typeof describeCode>[]
  readonly page: PageContext
}): VNode {
  const byStatus = [...Map.groupBy(errors, ({ status }) => status)].toSorted(([a], [b]) => a - b)
  return (
    <dl class="pairs reference-errors">
      {byStatus.map(([status, codes]) => (
        <>
          <dt>{status}</dt>
          <dd class="row">
            {codes.map(({ code }) => (
              <Link to={page.href(`/problems/${code}`)}>
                <code>{code}</code>
              </Link>
            ))}
          </dd>
        </>
      ))}
    </dl>
  )
}

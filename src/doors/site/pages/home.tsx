// The first page: what this is, a paid call that happens while one watches, the lines that connect a client, and what is behind it.
import type { VNode } from 'preact'
import { type Problem, toProblem } from '../../../core/errors.ts'
import { WEB_FETCH } from '../../../../schemas/web-fetch.ts'
import { SANDBOX_HOST } from '../../../egress/target.ts'
import { must } from '../../../lib/must.ts'
import { Code } from '../components/code.tsx'
import { Connect } from '../components/connect.tsx'
import { Foreign, Ltr } from '../components/foreign.tsx'
import type { CallToMake } from '../components/home/live.ts'
import { LiveCall } from '../components/home/live-call.tsx'
import { Picture } from '../components/home/picture.tsx'
import { Island } from '../components/island.tsx'
import { Link } from '../components/link.tsx'
import { Price, type PriceFacts } from '../components/price.tsx'
import { connectionsTo } from '../connections.ts'
import { definePage, type PageContext, type PageRequest } from '../ports.ts'
import { home, type HomeTexts } from '../texts/home.ts'
import { proof } from '../texts/proof.ts'
import { priceFacts } from '../tool-facts.ts'

/** What there is, its page, and the tool whose price stands beside it. */
const BEHIND = [
  ['credentials', '/docs/credential-broker', 'gateway.egress.fetch'],
  ['permits', '/docs/permits', 'gateway.actions.execute'],
  ['payments', '/docs/payments', undefined],
  ['outcomes', '/tools/gateway_execute', 'gateway_execute'],
  ['fetch', `/tools/${WEB_FETCH}`, WEB_FETCH],
  ['inspect', '/test', 'gateway.inspect'],
  ['edge', '/docs/edge', 'gateway.edge.forward'],
  ['email', '/docs/email', 'gateway.email.verify'],
  ['market', '/marketplace', 'gateway.marketplace.call'],
] as const satisfies readonly (readonly [keyof HomeTexts['behind']['rows'], string, string | undefined])[]

const PROOF = [
  ['security', '/docs/security'],
  ['performance', '/docs/performance'],
  ['verify', '/verify'],
  ['model', '/docs/security-model'],
] as const

type SampleAnswer = { readonly output: unknown } | { readonly problem: Problem }

interface HomeData {
  readonly name: string
  readonly about: string
  readonly environment: 'sandbox' | 'production'
  readonly base_url: string
  readonly site_url: string
  readonly mcp_url: string
  readonly agent_card_url: string
  readonly openapi_url: string
  /** Calls that anybody can make at once. */
  readonly try: {
    readonly free: CallToMake
    readonly paid: CallToMake & { readonly amount: string; readonly is_test_money: boolean }
  }
  readonly connect: readonly {
    readonly id: string
    readonly name: string
    readonly lines: readonly { readonly where: string; readonly text: string }[]
    readonly opens?: string
  }[]
  readonly behind: readonly {
    readonly id: keyof HomeTexts['behind']['rows']
    readonly path: string
    readonly tool?: string
    readonly price?: PriceFacts
  }[]
  /** What the free sample answered to a form of this page. */
  readonly answered?: SampleAnswer
}

export const page = definePage<HomeData>({
  isFixed: true,
  isWide: true,
  async load(request) {
    const { site } = request
    const { baseUrl, siteUrl, mcpUrl } = site.addresses
    const t = home[request.language]
    const isSandbox = site.config.mode === 'sandbox'
    const fetchPrice = site.registry.find(WEB_FETCH)?.tool.price
    const fetched = isSandbox ? `https://${SANDBOX_HOST}/article` : 'https://example.com/'
    return {
      name: 'Agent Gateway',
      about: t.lead,
      environment: site.config.mode,
      base_url: baseUrl,
      site_url: siteUrl,
      mcp_url: mcpUrl,
      agent_card_url: `${baseUrl}/.well-known/agent-card.json`,
      openapi_url: `${baseUrl}/openapi.json`,
      try: {
        free: FREE,
        paid: {
          method: 'POST',
          path: '/v1/tools/web.fetch',
          body: { url: fetched },
          amount: (fetchPrice && priceFacts(fetchPrice).amount)?.replace(/0+$/, '') ?? '',
          is_test_money: site.testWallet !== undefined,
        },
      },
      connect: connectionsTo(site.addresses).map(({ id, name, lines, opens }) => ({
        id,
        name,
        lines: lines.map(({ where = 'shell', text }) => ({ where, text })),
        ...(opens !== undefined && { opens }),
      })),
      behind: BEHIND.map(([id, path, name]) => {
        const tool = name === undefined ? undefined : site.registry.find(name)?.tool
        return { id, path, ...(tool && { tool: tool.name, price: priceFacts(tool.price) }) }
      }),
      ...(request.form && { answered: await runFreeSample(request) }),
    }
  },
  title: (_data, { language }) => home[language].title,
  description: (_data, { language }) => home[language].lead,
  View: ({ data, page }) => <Home data={data} page={page} />,
})

const FREE: CallToMake = { method: 'POST', path: '/v1/execute', body: { intent: 'demo' } }

/** For who has no script: the free sample through the call path of every door, in the visitor's name. */
async function runFreeSample({ site, visitor }: PageRequest): Promise<SampleAnswer> {
  const { tool } = must(site.registry.find('gateway_execute'), 'the tool of the free sample')
  const result = await site.calls.call({
    tool,
    input: FREE.body,
    door: 'rest',
    tokens: {},
    address: visitor.address,
    requestId: visitor.requestId,
    signal: visitor.signal,
    resource: { url: `${site.addresses.baseUrl}${FREE.path}`, method: FREE.method },
  })
  if (result.ok) return { output: result.output }
  return {
    problem: toProblem(result.error, { requestId: visitor.requestId, baseUrl: site.addresses.baseUrl }),
  }
}

interface PartProps {
  readonly data: HomeData
  readonly page: PageContext
}

function Home({ data, page }: PartProps): VNode {
  const t = home[page.language]
  return (
    <>
      <div class="hero">
        <div class="stack">
          <h1>{t.title}</h1>
          <p class="lead">{t.lead}</p>
          <p class="row">
            <Link to="#try" class="button primary">
              {t.tryIt}
            </Link>
            <Link to="#connect" class="button">
              {t.connect}
            </Link>
          </p>
        </div>
        <Picture page={page} texts={t.picture} />
      </div>
      <Live data={data} page={page} />
      <h2 id="connect">{t.connectHeading}</h2>
      <Connect page={page} />
      <Behind data={data} page={page} />
      <h2>{t.proof.heading}</h2>
      <dl class="proofs">
        {PROOF.map(([id, path]) => (
          <div>
            <dt>
              <Link to={page.href(path)}>{t.proof.items[id][0]}</Link>
            </dt>
            <dd>{t.proof.items[id][1]}</dd>
          </div>
        ))}
      </dl>
      <h2>{t.agents.heading}</h2>
      <p>{t.agents.about}</p>
      <dl class="pairs">
        {(
          [
            ['agent.txt', page.href('/agent.txt'), t.agents.agentTxt],
            ['llms.txt', page.href('/llms.txt'), t.agents.llmsTxt],
            ['agent-card.json', data.agent_card_url, t.agents.card],
            ['openapi.json', data.openapi_url, t.agents.openapi],
          ] as const
        ).flatMap(([name, to, about]) => [
          <dt>
            <Link to={to}>
              <bdi dir="ltr">{name}</bdi>
            </Link>
          </dt>,
          <dd>{about}</dd>,
        ])}
        <dt>
          <bdi dir="ltr">MCP</bdi>
        </dt>
        <dd>
          <code>
            <Ltr>{data.mcp_url}</Ltr>
          </code>
        </dd>
      </dl>
    </>
  )
}

function Live({ data, page }: PartProps): VNode {
  const t = home[page.language].live
  const { paid, free } = data.try
  const { answered } = data
  return (
    <>
      <h2 id="try">{paid.is_test_money ? t.heading : t.headingFree}</h2>
      <noscript>
        <form method="post" action={`${page.href('/')}#answer`} class="row">
          <span>{t.noScript}</span>
          <button class="primary">{t.runFree}</button>
        </form>
      </noscript>
      {answered && (
        <section id="answer" class="stack" aria-label={t.sampleAnswer}>
          {'output' in answered ? (
            <Code page={page} label={t.sampleAnswer} text={JSON.stringify(answered.output, undefined, 2)} />
          ) : (
            <p class="notice fails">
              <Foreign text={`${answered.problem.title}: ${answered.problem.detail}`} />
            </p>
          )}
        </section>
      )}
      <Island
        name="live-call"
        page={page}
        component={LiveCall}
        props={{
          api: page.api,
          baseUrl: page.baseUrl,
          wallet: paid.is_test_money ? page.href('/site/test-payment') : undefined,
          paid: { method: paid.method, path: paid.path, body: paid.body },
          free,
          amount: paid.amount,
          language: page.language,
          texts: t,
          proofTexts: proof[page.language],
          receiptPage: page.href('/receipts/{id}'),
          problemPage: page.href('/problems/{code}'),
        }}
      />
    </>
  )
}

function Behind({ data, page }: PartProps): VNode {
  const t = home[page.language].behind
  return (
    <>
      <h2>{t.heading}</h2>
      <table class="behind">
        <thead>
          <tr>
            <th scope="col">{t.what}</th>
            <th scope="col">{t.why}</th>
            <th scope="col">{t.price}</th>
          </tr>
        </thead>
        <tbody>
          {data.behind.map(({ id, path, price }) => (
            <tr>
              <th scope="row">
                <Link to={page.href(path)}>{t.rows[id][0]}</Link>
              </th>
              <td>{t.rows[id][1]}</td>
              <td>{price && <Price price={price} page={page} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        <Link to={page.href('/catalogue')}>{t.all}</Link>
      </p>
    </>
  )
}

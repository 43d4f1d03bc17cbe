// A receipt: verified by who looks at it, told as what happened, and everything needed to verify it elsewhere.
import type { VNode } from 'preact'
import { receiptsGet } from '../../../../tools/receipts-get.ts'
import { Code } from '../components/code.tsx'
import { Foreign, Ltr } from '../components/foreign.tsx'
import { Island } from '../components/island.tsx'
import { Link } from '../components/link.tsx'
import { Pairs } from '../components/proof/pairs.tsx'
import { Timeline } from '../components/proof/timeline.tsx'
import { State } from '../components/state.tsx'
import { transactionUrl } from '../components/transaction.tsx'
import { VerifiedReceipt } from '../components/verified-receipt.tsx'
import { definePage, type PageContext, type PageRequest } from '../ports.ts'
import { type ReceiptStory, storyOf } from '../story.ts'
import { proofKinds } from '../texts/proof-kinds.ts'
import { proof } from '../texts/proof.ts'
import { receiptTexts, type ReceiptTexts } from '../texts/receipt.ts'
import type { z } from 'zod'

type Receipt = z.infer<typeof receiptsGet.output>

interface Known extends Receipt {
  readonly environment: string
  /** Of an explorer; null where there is no transaction, or none that an explorer knows. */
  readonly transaction_url: string | null
  readonly story: ReceiptStory
}

interface Missing {
  readonly status: 404
  readonly code: 'receipt_not_found'
  readonly detail: string
  readonly receipt_id: string
}

const isMissing = (data: Known | Missing): data is Missing => data.status === 404

async function load({ site, params, visitor }: PageRequest): Promise<Known | Missing> {
  const receiptId = params['receipt_id'] ?? ''
  const called = await site.calls.call({
    tool: receiptsGet,
    input: { receipt_id: receiptId },
    door: 'rest',
    tokens: {},
    ...visitor,
  })
  if (!called.ok) {
    const { error } = called
    // An id that is too long to be one is none.
    if (error.code !== 'receipt_not_found' && error.code !== 'input_invalid') throw error
    return { status: 404, code: 'receipt_not_found', detail: error.message, receipt_id: receiptId }
  }
  const receipt = receiptsGet.output.parse(called.output)
  const { claims } = receipt
  const environment = String(claims['environment'] ?? '')
  const transaction = String(claims['transaction'] ?? '')
  return {
    ...receipt,
    environment,
    transaction_url: transactionUrl(transaction, String(claims['network'] ?? ''), environment) ?? null,
    story: storyOf(receipt),
  }
}

export const page = definePage<Known | Missing>({
  load,
  isWide: true,
  isUnlisted: true,
  status: (data) => (isMissing(data) ? 404 : 200),
  title: (data, { language }) => {
    const t = receiptTexts[language]
    return isMissing(data) ? t.notFound : headingOf(data.story, t)
  },
  description: (_data, { language }) => receiptTexts[language].description,
  View: ({ data, page }) =>
    isMissing(data) ? <NotFound data={data} page={page} /> : <ReceiptView data={data} page={page} />,
})

/** `0.001 USDC paid` */
function headingOf({ about, amount, unit }: ReceiptStory, t: ReceiptTexts): string {
  if (amount === '' && t.headings[about].includes('{')) return t.about[about]
  const shown = unit === 'credit' && amount === '1' ? t.oneCredit : `${amount} ${t.units[unit]}`
  return t.headings[about].replace('{amount}', shown)
}

function ReceiptView({ data, page }: { readonly data: Known; readonly page: PageContext }): VNode {
  const t = receiptTexts[page.language]
  const { receipt_id: id, jws, story, claims } = data
  return (
    <div class="beside">
      <header class="stack tight">
        <p class="eyebrow">
          {t.title} · {t.about[story.about]}
        </p>
        <h1>{headingOf(story, t)}</h1>
        <p class="muted">
          <Ltr class="mono">{id}</Ltr>
        </p>
      </header>

      <aside class="stack">
        <section class="panel stack" aria-label={t.verdict}>
          <Island
            name="verified-receipt"
            page={page}
            component={VerifiedReceipt}
            props={{
              jws,
              claims: t.claims,
              api: page.api,
              baseUrl: page.baseUrl,
              language: page.language,
              texts: proof[page.language],
            }}
          />
          <p class="small muted">{t.verdictHow}</p>
        </section>
        <Standing data={data} page={page} />
        <Meaning page={page} />
      </aside>

      <div class="stack">
        <h2>{t.happened}</h2>
        <p class="muted">{t.happenedHow}</p>
        <Timeline
          events={story.events}
          environment={data.environment}
          network={String(claims['network'] ?? '')}
          page={page}
          texts={t}
        />

        <h2>{t.yourself}</h2>
        <p class="muted">{t.yourselfHow}</p>
        <Code page={page} label={t.commandLine} text={cliLine(page.baseUrl, id)} />
        <Code page={page} label={t.node} text={nodeLines(page.baseUrl, id)} />

        <h2>{t.document}</h2>
        <p class="muted">{t.documentHow}</p>
        <Code page={page} label={data.typ} text={jws} />
        <details>
          <summary>{t.claims}</summary>
          <Pairs value={claims} />
        </details>
        <p>
          {t.forms}: <Link to={`${page.api}/v1/receipts/${id}`}>JSON</Link> ·{' '}
          <Link to={`${page.href(`/receipts/${id}`)}.md`}>Markdown</Link> ·{' '}
          <Link to={`${page.api}/.well-known/gateway-egress-key.json`}>JWKS</Link>
        </p>
        <p>
          <Link to={page.href('/verify')}>{t.moreProofs}</Link>
        </p>
      </div>
    </div>
  )
}

function Meaning({ page }: { readonly page: PageContext }): VNode {
  const t = receiptTexts[page.language]
  const { proves, provesNot } = proofKinds[page.language].receipt
  return (
    <section class="stack small">
      <h2 class="eyebrow">{t.proves}</h2>
      <p>{proves}</p>
      <h2 class="eyebrow">{t.provesNot}</h2>
      <p>{provesNot}</p>
    </section>
  )
}

/** What became of it since it was signed: the word of the gateway, which no signature of then can hold. */
function Standing({ data, page }: { readonly data: Known; readonly page: PageContext }): VNode | null {
  const t = receiptTexts[page.language]
  const { status, replaced_by: replacedBy, revoked_key: revoked } = data
  if (status === 'valid' && !revoked) return null
  return (
    <div class={status === 'withdrawn' ? 'notice fails' : 'notice warns'}>
      {status === 'withdrawn' && (
        <p>
          <State is="failed" page={page} words={t.events.withdrawn[0]} /> {t.standing.withdrawn}
        </p>
      )}
      {status === 'superseded' && replacedBy !== null && (
        <p>
          <State is="waiting" page={page} words={t.events.superseded[0]} /> {t.standing.superseded}{' '}
          <Link to={page.href(`/receipts/${replacedBy}`)}>
            <Ltr class="mono">{replacedBy}</Ltr>
          </Link>
        </p>
      )}
      {revoked && (
        <p>
          <State is="waiting" page={page} words={t.events.renewed[0]} /> {t.standing.renewed}
        </p>
      )}
    </div>
  )
}

function NotFound({ data, page }: { readonly data: Missing; readonly page: PageContext }): VNode {
  const t = receiptTexts[page.language]
  const id = data.receipt_id
  const isClaim = id.startsWith('clm_')
  const isOther = /^(?:qte|pmt|evd|att|rfd|cap|cred|req)_/.test(id)
  return (
    <>
      <p class="eyebrow">404</p>
      <h1>{t.notFound}</h1>
      <p class="muted">
        <Foreign text={id} max={100} class="mono" />
      </p>
      {isClaim && (
        <p class="notice">
          {t.isClaim} <Ltr class="mono">{`GET ${page.baseUrl}/v1/payments/${id.slice(0, 64)}`}</Ltr>
        </p>
      )}
      {isOther && <p class="notice">{t.isOther}</p>}
      <p>{t.notFoundWhy}</p>
      <ul class="stack">
        {t.notFoundHelp.map((help) => (
          <li>{help}</li>
        ))}
      </ul>
      <p class="small muted">{t.pending.replace('{claim}', 'clm_…')}</p>
      <p>
        {t.haveDocument} <Link to={page.href('/verify')}>{t.moreProofs}</Link>
      </p>
    </>
  )
}

/** @param baseUrl of this gateway: the receipt is read there, wherever this page was seen */
const cliLine = (baseUrl: string, id: string): string =>
  `npx agent-gateway receipts show ${id} \\\n  --url ${baseUrl} |\n  npx agent-gateway receipts verify - --url ${baseUrl}`

/** Web Crypto and nothing else; prints whether the signature fits, and what was signed. */
export const nodeLines = (baseUrl: string, id: string): string => `node --input-type=module -e "
const read = async (path) => (await fetch('${baseUrl}' + path)).json()
const { jws } = await read('/v1/receipts/${id}')
const { keys } = await read('/.well-known/jwks.json')
const [head, body, signature] = jws.split('.')
const decode = (part) => Buffer.from(part, 'base64url')
const { kid, alg } = JSON.parse(decode(head))
const { kty, crv, x } = keys.find((key) => key.kid === kid)
const key = await crypto.subtle.importKey('jwk', { kty, crv, x }, 'Ed25519', false, ['verify'])
console.log(alg === 'EdDSA' && await crypto.subtle.verify('Ed25519', key, decode(signature), Buffer.from(head + '.' + body)))
console.log(JSON.parse(decode(body)))
"`

// Verifies whatever is pasted, in the browser alone. Without a script it says which commands do.
import type { VNode } from 'preact'
import type { ProofKind } from '../browser/lib/proof.ts'
import { JWS_TYPES } from '../../../receipts/kinds.ts'
import { Code } from '../components/code.tsx'
import { Ltr } from '../components/foreign.tsx'
import { Island } from '../components/island.tsx'
import { Link } from '../components/link.tsx'
import { Verifier } from '../components/proof/verifier.tsx'
import { Scrolling } from '../components/state.tsx'
import { definePage, type PageContext } from '../ports.ts'
import { proofKinds } from '../texts/proof-kinds.ts'
import { proof } from '../texts/proof.ts'
import { verifyTexts } from '../texts/verify.ts'

/** Kinds that are handed to somebody; the others are the gateway's own letters to itself. */
const SHOWN: readonly ProofKind[] = [
  'receipt',
  'quote',
  'offer',
  'x402Receipt',
  'permit',
  'evidence',
  'call',
  'push',
  'auditHead',
  'testReport',
  'card',
]

interface Kind {
  readonly kind: ProofKind
  readonly name: string
  readonly typ: string
  readonly proves: string
  readonly proves_not: string
}
interface Data {
  readonly keys_url: string
  readonly jwks_url: string
  readonly algorithm: 'EdDSA'
  readonly command: string
  readonly kinds: readonly Kind[]
}

export const page = definePage<Data>({
  load: ({ site, language }) => {
    const { baseUrl } = site.addresses
    const keysUrl = `${baseUrl}/.well-known/gateway-egress-key.json`
    return {
      keys_url: keysUrl,
      jwks_url: `${baseUrl}/.well-known/jwks.json`,
      algorithm: 'EdDSA',
      command: `curl -s ${keysUrl} > keys.json\nnpx agent-gateway receipts verify receipt.json --keys keys.json`,
      kinds: SHOWN.map((kind) => {
        const { name, proves, provesNot } = proofKinds[language][kind]
        return { kind, name, typ: kind === 'card' ? 'JOSE' : JWS_TYPES[kind], proves, proves_not: provesNot }
      }),
    }
  },
  isFixed: true,
  isWide: true,
  title: (_data, { language }) => verifyTexts[language].title,
  description: (_data, { language }) => verifyTexts[language].description,
  View,
})

function View({ data, page }: { readonly data: Data; readonly page: PageContext }): VNode {
  const t = verifyTexts[page.language]
  return (
    <>
      <h1>{t.heading}</h1>
      <p class="lead">{t.lead}</p>
      <div class="beside">
        <div class="stack">
          <section class="notice warns without-script">
            <p>
              {t.withoutHow} <Link to="#command">{t.island.command}</Link>
            </p>
          </section>
          <Island
            name="verifier"
            page={page}
            component={Verifier}
            props={{
              api: page.api,
              baseUrl: page.baseUrl,
              language: page.language,
              here: page.href('/verify'),
              receipts: page.href('/receipts/x').replace(/x$/, ''),
              texts: t.island,
              proofTexts: proof[page.language],
              kinds: proofKinds[page.language],
            }}
          />
        </div>
        <aside class="stack small">
          <h2>{t.method}</h2>
          <ol class="stack">
            {t.steps.map((step) => (
              <li>{step}</li>
            ))}
          </ol>
          <p>
            {t.sameCode} <Link to={data.keys_url}>gateway-egress-key.json</Link> ·{' '}
            <Link to={data.jwks_url}>jwks.json</Link>
          </p>
          <h2 id="command">{t.island.command}</h2>
          <Code page={page} label="sh" text={data.command} />
        </aside>
      </div>
      <h2>{t.kinds}</h2>
      <Scrolling label={t.kinds}>
        <table class="kinds">
          <thead>
            <tr>
              <th scope="col">{t.kind}</th>
              <th scope="col">{t.type}</th>
              <th scope="col">{t.island.proves}</th>
              <th scope="col">{t.island.provesNot}</th>
            </tr>
          </thead>
          <tbody>
            {data.kinds.map(({ name, typ, proves, proves_not: provesNot }) => (
              <tr>
                <th scope="row">{name}</th>
                <td>
                  <Ltr class="mono">{typ}</Ltr>
                </td>
                <td>{proves}</td>
                <td>{provesNot}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolling>
    </>
  )
}

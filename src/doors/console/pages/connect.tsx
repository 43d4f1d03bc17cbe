// Consent: an assistant asks to act for the account, and a person says how far. It is asked anew each time, never remembered, and starts
// from what the same client was allowed before.
import type { VNode } from 'preact'
import { OPERATOR_SCOPE } from '../../../core/authenticate.ts'
import { GatewayError } from '../../../core/errors.ts'
import type { AskedConsent } from '../../../identity/ports.ts'
import { actAs } from '../../../lib/acting.ts'
import { Foreign, Ltr } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { State } from '../../site/components/state.tsx'
import {
  choiceOf,
  ConnectionFields,
  type Offered,
  offeredIn,
  type Terms,
  usualTerms,
} from '../components/connection-form.tsx'
import { Act, Form, Refusal } from '../components/form.tsx'
import { type ConsoleContext, defineConsolePage, type SignedInRequest } from '../ports.ts'
import { connectionTexts } from '../texts/connections.ts'

interface Data {
  /** Null where nothing waits any more. */
  readonly asked: Pick<AskedConsent, 'client' | 'userCode'> | null
  readonly asksOperator: boolean
  /** What the connection is for, as people call it, and whether its person has another account to connect it for. */
  readonly account: { readonly name: string; readonly isOnly: boolean }
  /** What the same client was allowed before, by the same person; null where that is nothing. */
  readonly before: string | null
  readonly mayConnect: boolean
  readonly offered: readonly Offered[]
  readonly terms: Terms
  /** It was answered here: where the browser goes on to. */
  readonly answered?: { readonly is: 'allowed' | 'refused'; readonly to: string }
}

export const page = defineConsolePage<Data>({
  async load(request) {
    const { signedIn, console: parts, exchange } = request
    const { interactions, connections, people } = parts.identity
    const asked = await interactions.read(exchange.req, exchange.res, signedIn)
    const mayConnect = signedIn.role === 'owner' || signedIn.role === 'operator'
    const usual = usualTerms(Date.now())
    if (!asked) return { ...NOTHING, mayConnect, terms: usual }
    const accounts = await people.accountsOf(signedIn.personId)
    const account = accounts.find(({ accountId }) => accountId === signedIn.accountId)
    const { client, scopes, userCode, before } = asked
    const [held] = before ? await connections.describe([before]) : []
    return {
      asked: { client, ...(userCode !== undefined && { userCode }) },
      asksOperator: scopes.includes(OPERATOR_SCOPE),
      account: { name: account?.accountName ?? signedIn.accountId, isOnly: accounts.length < 2 },
      before: held && before ? before.id : null,
      mayConnect,
      offered: mayConnect ? await offeredIn(request) : [],
      // A time that was allowed before may be over soon: the end is chosen anew.
      terms: held ? { ...held, expires_at: usual.expires_at } : usual,
    }
  },
  actions: {
    allow: async (form, request) =>
      answer(request, 'allowed', ({ interactions }, { req, res }) =>
        interactions.grant(req, res, {
          by: request.signedIn,
          choice: choiceOf(form),
          // Of another client, or another person, it ends nothing.
          replaces: form.get('replaces') ?? undefined,
        }),
      ),
    refuse: async (_form, request) =>
      answer(request, 'refused', ({ interactions }, { req, res }) => interactions.refuse(req, res)),
  },
  title: ({ asked, answered }, { language }) => {
    const t = connectionTexts[language]
    return answered ? t[answered.is] : asked ? t.connect : t.over
  },
  View({ data, page }) {
    const { asked, answered } = data
    const t = connectionTexts[page.language]
    if (answered) return <Answered page={page} answered={answered} />
    if (!asked)
      return (
        <div class="stack">
          <h1>{t.over}</h1>
          <Refusal page={page} />
          <p class="lead">{t.overHint}</p>
          <p>
            <Link to={page.href('/console/connections')}>{t.toConnections}</Link>
          </p>
        </div>
      )
    return <Consent page={page} data={data} asked={asked} />
  },
})

const NOTHING = {
  asked: null,
  asksOperator: false,
  account: { name: '', isOnly: true },
  before: null,
  offered: [],
} as const

type Identity = SignedInRequest['console']['identity']

/**
 * Answers the request, and sends the browser on by a page of this gateway: a redirect to a program on the person's own machine is held to
 * `form-action` by Chromium and dies without a word (site research, section 3).
 */
async function answer(
  { signedIn, visitor, exchange, console: parts }: SignedInRequest,
  is: 'allowed' | 'refused',
  act: (identity: Identity, exchange: SignedInRequest['exchange']) => Promise<string>,
) {
  const actor = {
    kind: 'person',
    id: signedIn.personId,
    address: visitor.address,
    door: 'console',
    request_id: visitor.requestId,
  } as const
  const to = await actAs(actor, () => act(parts.identity, exchange))
  if (!to.startsWith(`${parts.addresses.baseUrl}/`))
    throw new GatewayError('internal', 'the authorization server sends the browser elsewhere')
  exchange.res.setHeader('refresh', `0; url=${to}`)
  const data: Data = { ...NOTHING, mayConnect: true, terms: usualTerms(Date.now()), answered: { is, to } }
  return { show: data }
}

function Answered({
  page,
  answered: { is, to },
}: {
  readonly page: ConsoleContext
  readonly answered: NonNullable<Data['answered']>
}): VNode {
  const t = connectionTexts[page.language]
  return (
    <div class="stack">
      <h1>{t[is]}</h1>
      <p class="notice" role="status">
        {is === 'allowed' ? t.allowedHint : t.refusedHint}
      </p>
      <p>
        <Link to={to} class="button primary">
          {t.goOn}
        </Link>
      </p>
    </div>
  )
}

function Consent({
  page,
  data: { account, asksOperator, before, mayConnect, offered, terms },
  asked: { client, userCode },
}: {
  readonly page: ConsoleContext
  readonly data: Data
  readonly asked: NonNullable<Data['asked']>
}): VNode {
  const t = connectionTexts[page.language]
  return (
    <div class="stack">
      <h1>{t.connect}</h1>
      <section class="panel stack tight">
        <p class="console-client">
          <Foreign text={client.name} max={80} />
        </p>
        <p>{t.asks}</p>
        {client.host === null ? (
          <>
            <p>
              <State is="unknown" page={page} words={t.unverified} />
            </p>
            <p class="small">{t.unverifiedHint}</p>
          </>
        ) : (
          <p>
            <State is="done" page={page} words={t.proven} /> <Ltr class="mono">{client.host}</Ltr>
          </p>
        )}
        <dl class="console-facts">
          <dt>{t.returnsTo}</dt>
          <dd>
            {userCode === undefined ? <Ltr class="mono">{client.redirectHost}</Ltr> : t.returnsToDevice}
          </dd>
          <dt>{t.clientId}</dt>
          <dd>
            <Foreign text={client.id} max={120} class="mono small" />
          </dd>
          <dt>{t.account}</dt>
          <dd>
            <Foreign text={account.name} max={80} />
            {!account.isOnly && (
              <>
                {' '}
                <Link to={page.href('/console/me')}>{t.otherAccount}</Link>
              </>
            )}
          </dd>
        </dl>
      </section>
      {userCode !== undefined && (
        <div class="notice warns stack tight">
          <p>{t.compare}</p>
          <p class="console-code">
            <Ltr>{userCode}</Ltr>
          </p>
        </div>
      )}
      {client.isLoopback && <p class="notice warns">{t.loopback}</p>}
      {before !== null && <p class="notice">{t.beforeHint}</p>}
      {asksOperator && <p class="notice warns">{t.asksOperator}</p>}
      <Refusal page={page} />
      {mayConnect ? (
        <Form page={page} action="allow" id="consent" class="stack">
          {before !== null && (
            <label class="row">
              {/* A client that registered is one installation, which asks again; one with a document is all of them together. */}
              <input type="checkbox" name="replaces" value={before} checked={client.host === null} />{' '}
              {t.replaces}
            </label>
          )}
          <ConnectionFields page={page} offered={offered} terms={terms} />
          {/* Shown by the style sheet while nothing is ticked: allowing that is allowed, and seldom meant. */}
          {offered.length > 0 && <p class="notice warns console-ticks-nothing">{t.nothingTicked}</p>}
        </Form>
      ) : (
        <p class="notice warns">{t.mayNot}</p>
      )}
      <div class="console-actions">
        {mayConnect && (
          <button class="primary" form="consent">
            {t.allow}
          </button>
        )}
        <Act page={page} action="refuse" label={t.refuse} />
      </div>
    </div>
  )
}

// Signing in: with a passkey, a recovery code or the identity provider. Whoever was signed out while they wrote finds here what they wrote,
// and whoever is signed in shows here again that it is them.
import type { VNode } from 'preact'
import { Code } from '../../site/components/code.tsx'
import { Foreign } from '../../site/components/foreign.tsx'
import { Link } from '../../site/components/link.tsx'
import { GatewayError } from '../../../core/errors.ts'
import type { Opened } from '../../../identity/ports.ts'
import { Field, Form, Refusal } from '../components/form.tsx'
import { KeptForm } from '../components/kept-form.tsx'
import { PasskeyForm } from '../components/passkey.tsx'
import { SESSION_SECONDS, sessionCookie, waitingCookie } from '../cookie.ts'
import { type ActionResult, type ConsoleContext, type ConsoleRequest, defineOpenPage } from '../ports.ts'
import { signInTexts } from '../texts/sign-in.ts'

interface SignInData {
  /** Path of this console to go on to. */
  readonly next: string
  /** The form that waits, as it was sent but for its secrets, and the path that takes it. */
  readonly kept: { readonly to: string; readonly form: string } | null
  readonly hasPeople: boolean
  /** Words on the button of the identity provider. */
  readonly provider: string | null
  readonly name: string | null
  readonly wants: 'sign_in' | 'again' | 'done' | 'send'
}

type Request = ConsoleRequest & { readonly signedIn?: NonNullable<ConsoleContext['signedIn']> }

const HOME = '/console'
const OWN_PATH = /^(?:\/ar)?\/console(?:[/?][\w\-./?&=%~!$'()*+,;:@]*)?$/

/** A path of this console and nothing else: an address that somebody else wrote leads to the front. */
export const safeNext = (asked: string | null): string =>
  asked !== null && OWN_PATH.test(asked) && !asked.includes('//') && !/\.\.(?:\/|$)/.test(asked)
    ? asked
    : HOME

const fromOf = ({ visitor }: ConsoleRequest) => ({
  address: visitor.address,
  userAgent: visitor.userAgent,
})

/** What the browser held before is over. @returns the cookie of the new session */
export async function keepSession(request: Request, { signedIn, token }: Opened): Promise<string> {
  const { console: parts, exchange } = request
  const { sessionId } = request.signedIn ?? {}
  if (sessionId !== undefined && sessionId !== signedIn.sessionId)
    await parts.identity.sessions.end({ sessionId }).catch(() => undefined)
  return token.use((text) => sessionCookie(exchange.req, parts.addresses.baseUrl, text, SESSION_SECONDS))
}

async function enter(
  form: URLSearchParams,
  request: Request,
  opened: Opened,
): Promise<ActionResult<SignInData>> {
  request.exchange.res.setHeader('set-cookie', await keepSession(request, opened))
  const kept = keptOf(form)
  if (!kept) return { goTo: safeNext(form.get('next')) }
  const { name } = opened.signedIn
  const data: SignInData = { next: HOME, kept, hasPeople: true, provider: null, name, wants: 'send' }
  return { show: data, signedIn: opened.signedIn }
}

function keptOf(form: URLSearchParams): SignInData['kept'] {
  const kept = form.get('kept')
  return kept === null || kept === '' ? null : { to: safeNext(form.get('next')), form: kept }
}

/** @throws {GatewayError} sign_in_required */
function present({ signedIn }: Request) {
  if (!signedIn) throw new GatewayError('sign_in_required', 'You are signed out. Sign in.')
  return signedIn
}

export const page = defineOpenPage<SignInData>({
  async load(request) {
    const { query, refused, signedIn, exchange, console: parts } = request
    // The form of another page, whose session ended while it was written.
    const isForeign = refused?.error.code === 'sign_in_required' && !refused.form.has('next')
    const [path = ''] = (exchange.req.url ?? '').split('?')
    const next = safeNext(isForeign ? path : (refused?.form.get('next') ?? query.get('next')))
    const isAgain = signedIn !== undefined && (query.has('again') || refused?.form.has('again') === true)
    return {
      next,
      kept: isForeign ? { to: next, form: refused.form.toString() } : refused ? keptOf(refused.form) : null,
      hasPeople: await parts.identity.people.hasAny(),
      provider: (await parts.identity.provider.offer())?.name ?? null,
      name: signedIn?.name ?? null,
      wants: query.get('done') === 'again' ? 'done' : isAgain ? 'again' : 'sign_in',
    }
  },
  actions: {
    ask: async (_form, { console: parts }) => ({ answer: await parts.identity.signIn.askPasskey() }),
    async passkey(form, request) {
      const answer = form.get('secret_answer') ?? ''
      return enter(
        form,
        request,
        await request.console.identity.signIn.withPasskey({ answer, from: fromOf(request) }),
      )
    },
    async code(form, request) {
      const code = form.get('secret_code') ?? ''
      const opened = await request.console.identity.signIn.withRecoveryCode({ code, from: fromOf(request) })
      const entered = await enter(form, request, opened)
      // Whoever comes with a code has no passkey at hand: unless they want to be elsewhere, they see where to make one.
      return 'goTo' in entered && entered.goTo === HOME ? { goTo: '/console/me?done=recovered' } : entered
    },
    ask_again: async (_form, request) => ({
      answer: await request.console.identity.signIn.askAgain(present(request)),
    }),
    async again(form, request) {
      const answer = form.get('secret_answer') ?? ''
      await request.console.identity.signIn.showAgain({
        signedIn: present(request),
        answer,
        from: fromOf(request),
      })
      if (form.has('by_script')) return { answer: {} }
      return { goTo: form.has('next') ? safeNext(form.get('next')) : '/console/sign-in?again=1&done=again' }
    },
    async again_code(form, request) {
      const code = form.get('secret_code') ?? ''
      await request.console.identity.signIn.showAgainWithCode({
        signedIn: present(request),
        code,
        from: fromOf(request),
      })
      return { goTo: '/console/sign-in?again=1&done=again' }
    },
    async provider(form, request) {
      const { exchange, console: parts, signedIn } = request
      const isAgain = form.has('again') && signedIn !== undefined
      const { url, browser } = await parts.identity.provider.start({
        signedIn: isAgain ? signedIn : undefined,
      })
      const next = isAgain ? '/console/sign-in?again=1&done=again' : safeNext(form.get('next'))
      const waiting = [browser, isAgain ? '1' : '0', Buffer.from(next).toString('base64url')].join('.')
      exchange.res.setHeader('set-cookie', waitingCookie(exchange.req, parts.addresses.baseUrl, waiting))
      return { leaveFor: url }
    },
    async sign_out(_form, request) {
      const { signedIn, exchange, console: parts } = request
      if (signedIn) await parts.identity.sessions.end({ sessionId: signedIn.sessionId })
      exchange.res.setHeader('set-cookie', sessionCookie(exchange.req, parts.addresses.baseUrl, undefined))
      return { goTo: '/console/sign-in?done=out' }
    },
  },
  title: ({ wants }, { language }) =>
    wants === 'again' || wants === 'done' ? signInTexts[language].again : signInTexts[language].signIn,
  View: ({ data, page }) => (
    <div class="console-gate stack">
      {data.wants === 'send' && data.kept ? (
        <SendAgain data={data} page={page} kept={data.kept} />
      ) : data.wants === 'done' ? (
        <p class="notice" role="status">
          {signInTexts[page.language].againDone}
        </p>
      ) : data.wants === 'again' ? (
        <Again page={page} data={data} />
      ) : (
        <SignIn data={data} page={page} />
      )}
    </div>
  ),
})

interface PartProps {
  readonly data: SignInData
  readonly page: ConsoleContext
}

function SignIn({ data, page }: PartProps): VNode {
  const t = signInTexts[page.language]
  const { kept, next, name, hasPeople } = data
  const to = page.href('/console/sign-in')
  const values = { next, ...(kept && { kept: kept.form }) }
  const isSignedOut = new URLSearchParams(page.path.split('?')[1]).get('done') === 'out'
  return (
    <>
      <h1>{t.signIn}</h1>
      {isSignedOut && (
        <p class="notice" role="status">
          {t.signedOut}
        </p>
      )}
      {kept ? (
        <p class="notice warns" role="status">
          {t.kept}
        </p>
      ) : null}
      {page.refused?.error.code !== 'sign_in_required' && <Refusal page={page} />}
      {name !== null && (
        <p>
          <Foreign text={t.already(name)} /> <Link to={page.href(next)}>{t.goOn}</Link>
        </p>
      )}
      {!hasPeople && (
        <div class="notice warns stack">
          <p>{t.nobody}</p>
          <Code text="npx agent-gateway people invite --role owner" page={page} />
        </div>
      )}
      <p class="lead">{t.signInLead}</p>
      <PasskeyForm
        page={page}
        kind="use"
        ask="ask"
        action="passkey"
        to={to}
        label={t.withPasskey}
        values={values}
      />
      <noscript>
        <p class="notice warns">{t.needsScript}</p>
      </noscript>
      {data.provider !== null && (
        <Form page={page} action="provider" to={to} values={{ next }} class="stack">
          <button>
            <Foreign text={data.provider} max={60} />
          </button>
        </Form>
      )}
      <details open={page.refused?.form.get('_action') === 'code'}>
        <summary>{t.lostPasskey}</summary>
        <div class="stack">
          <Form page={page} action="code" to={to} class="stack" values={values}>
            <Field
              page={page}
              name="secret_code"
              label={t.recoveryCode}
              help={t.recoveryHelp}
              isRequired
              autoComplete="one-time-code"
            />
            <button>{t.withCode}</button>
          </Form>
          <p class="muted small">{t.askOwner}</p>
        </div>
      </details>
    </>
  )
}

function Again({ page, data: { provider } }: PartProps): VNode {
  const t = signInTexts[page.language]
  const to = page.href('/console/sign-in')
  return (
    <>
      <h1>{t.again}</h1>
      <Refusal page={page} />
      <PasskeyForm
        page={page}
        kind="use"
        ask="ask_again"
        action="again"
        to={to}
        label={t.withPasskey}
        values={{ again: '1' }}
      />
      <Form page={page} action="again_code" to={to} class="stack" values={{ again: '1' }}>
        <Field
          page={page}
          name="secret_code"
          label={t.recoveryCode}
          help={t.recoveryHelp}
          isRequired
          autoComplete="one-time-code"
        />
        <button>{t.againWithCode}</button>
      </Form>
      {provider !== null && (
        <Form page={page} action="provider" to={to} values={{ again: '1' }}>
          <button>
            <Foreign text={provider} max={60} />
          </button>
        </Form>
      )}
    </>
  )
}

function SendAgain({
  page,
  kept: { to, form },
}: PartProps & { readonly kept: NonNullable<SignInData['kept']> }): VNode {
  const t = signInTexts[page.language]
  return (
    <>
      <h1>{t.back}</h1>
      <p class="lead">{t.backLead}</p>
      <KeptForm page={page} to={to} form={new URLSearchParams(form)}>
        <button class="primary">{t.sendNow}</button>
      </KeptForm>
      <p class="muted small">{t.secretsGone}</p>
    </>
  )
}

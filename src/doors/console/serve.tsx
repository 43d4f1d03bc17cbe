// Answers for a page of the console: who asks, whether they may see it, what their form does, and the page in HTML or as plain data.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { API_VERSION } from '../../core/config.ts'
import { callerOfSession } from '../../core/authenticate.ts'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import type { SignedIn } from '../../store/ports.ts'
import { readBytes } from '../http/body.ts'
import { watchDisconnect } from '../http/disconnect.ts'
import { sendText } from '../http/reply.ts'
import { mediaTypeOf } from '../http/request.ts'
import type { Exchange } from '../http/resource.ts'
import { openAssets } from '../site/assets.ts'
import { pageHeaders } from '../site/headers.ts'
import { senderOf } from '../site/own-page.ts'
import { createPageLimit } from '../site/page-limit.ts'
import { type Language, LANGUAGES } from '../site/routes.ts'
import { SECRET_MEMBERS } from '../site/trying.ts'
import { readSessionCookie } from './cookie.ts'
import { renderAway, renderConsole } from './layout.tsx'
import { CONSOLE_PAGES } from './pages/index.ts'
import type {
  ActionResult,
  AnyConsolePage,
  ConsoleContext,
  ConsoleParts,
  ConsoleRequest,
  SignedInRequest,
} from './ports.ts'
import { CONSOLE_ROUTES, type ConsolePageName, type ConsoleRoute, maySee } from './routes.ts'

export interface ConsoleServer {
  /** Answers GET and POST of a page. */
  page(name: ConsolePageName, language: Language, exchange: Exchange): Promise<void>
}

/** One request for a page: who asks, and which refusals the audit log was told of already. */
interface Visit {
  readonly address: string
  readonly requestId: string
  signedIn: SignedIn | undefined
  readonly told: Set<GatewayError>
}

/** Credentials may be files of keys. */
const MAX_FORM_BYTES = 256 * 1024
const HTML = 'text/html; charset=utf-8'

/** @throws {Error} where the site was not built */
export async function openConsole(parts: ConsoleParts): Promise<ConsoleServer> {
  const { addresses, config, identity, registry, calls, refusals } = parts
  const assets = await openAssets()
  const root = new URL(addresses.baseUrl).pathname.replace(/\/$/, '')
  const limit = createPageLimit(config.rateLimit)
  const csrfKey = parts.deriveKey('console forms')
  const headers = {
    ...pageHeaders({ baseUrl: addresses.baseUrl, siteUrl: addresses.baseUrl }),
    // A page shows what one person may see.
    'cache-control': 'no-store',
    'permissions-policy': PERMISSIONS,
  }

  const csrfOf = (holder: string) => createHmac('sha256', csrfKey).update(holder).digest('base64url')

  function contextOf(
    route: ConsolePageName,
    language: Language,
    path: string,
    signedIn: SignedIn | undefined,
    refused: ConsoleRequest['refused'],
    browser: string,
  ): Omit<ConsoleContext, 'needScript'> {
    const addressIn = (language: Language, to: string) =>
      root + (language === LANGUAGES[0] ? to : `/${language}${to}`)
    return {
      name: 'console',
      route,
      language,
      direction: language === 'ar' ? 'rtl' : 'ltr',
      isSandbox: config.mode === 'sandbox',
      version: API_VERSION,
      path,
      ...addresses,
      api: root,
      href: (to) => (!to.startsWith('/') ? to : isTranslated(to) ? addressIn(language, to) : root + to),
      inLanguage: (language) => addressIn(language, path),
      asset: (file) => `${root}/site/${assets.fileOf(file)}`,
      signedIn,
      csrf: csrfOf(signedIn?.sessionId ?? browser),
      refused,
    }
  }

  /** What a page refuses by itself is told here: sign-ins, and pages that are not for this role. */
  async function tell(name: ConsolePageName, visit: Visit, error: unknown): Promise<void> {
    if (!(error instanceof GatewayError) || visit.told.has(error)) return
    visit.told.add(error)
    const { signedIn, address, requestId } = visit
    await refusals.refused({
      caller: signedIn && callerOfSession(signedIn, address),
      tokens: {},
      address,
      door: 'console',
      tool: `console.${name}`,
      requestId,
      input: {},
      error,
    })
  }

  return {
    async page(name, language, exchange) {
      const { address, requestId } = exchange.context
      const visit: Visit = { address, requestId, signedIn: undefined, told: new Set() }
      try {
        await answerPage(name, language, exchange, visit)
      } catch (thrown) {
        await tell(name, visit, thrown)
        throw thrown
      }
    },
  }

  async function answerPage(
    name: ConsolePageName,
    language: Language,
    { req, res, context, params }: Exchange,
    visit: Visit,
  ): Promise<void> {
    const route: ConsoleRoute = CONSOLE_ROUTES[name]
    await limit.count(context.address)
    const own = new URL(addresses.baseUrl)
    const isForm = req.method === 'POST'
    const path = pathOf(context.path, language) + (context.query === '' || isForm ? '' : `?${context.query}`)
    // A passkey belongs to one host, and a session to one origin: pages have one address.
    if (
      !isForm &&
      req.headers.host !== undefined &&
      req.headers.host.toLowerCase() !== own.host &&
      isLoopback(own)
    )
      return redirect(exchangeOf(), 302, addresses.baseUrl + pathIn(language, path))

    const token = readSessionCookie(req, addresses.baseUrl)
    // A strict cookie stays away where another site sent the browser here: asked from this page it comes along.
    if (!isForm && token === undefined && senderOf(req) === 'elsewhere')
      return answer(200, renderAway(pathIn(language, path), language))

    const signedIn = token === undefined ? undefined : await identity.sessions.find(token)
    visit.signedIn = signedIn
    if (!signedIn && !route.isOpen && !isForm) {
      if (wantsData(req)) throw new GatewayError('sign_in_required', 'You are signed out. Sign in again.')
      return redirect(
        exchangeOf(),
        303,
        root + pathIn(language, `/console/sign-in?next=${encodeURIComponent(pathIn(language, path))}`),
      )
    }
    // Who only sells has a first page of their own.
    if (name === 'overview' && signedIn?.role === 'seller' && !isForm)
      return redirect(exchangeOf(), 303, root + pathIn(language, '/console/selling'))
    if (signedIn && !maySee(name, signedIn))
      throw new GatewayError(
        'role_required',
        `This page is not for the role ${signedIn.role}. Ask an owner of the account.`,
      )
    const { page } = await CONSOLE_PAGES[name]()
    const disconnect = watchDisconnect(res)
    const browser = browserOf(req, context.address)

    const call: ConsoleRequest['try'] = async (tool, input) => {
      const entry = registry.find(tool)
      if (!entry) throw new GatewayError('tool_not_found', `There is no tool ${tool}.`)
      const result = await calls.call({
        tool: entry.tool,
        input,
        door: 'console',
        tokens: token === undefined ? {} : { session: token },
        address: context.address,
        requestId: context.requestId,
        traceparent: context.traceparent,
        signal: disconnect.signal,
      })
      if (!result.ok) visit.told.add(result.error)
      return result
    }
    const request: ConsoleRequest & { readonly signedIn?: SignedIn } = {
      console: parts,
      language,
      params,
      query: new URLSearchParams(context.query),
      ...(signedIn && { signedIn }),
      try: call,
      async call(tool, input) {
        const result = await call(tool, input)
        if (!result.ok) throw result.error
        return result.output
      },
      visitor: {
        address: context.address,
        userAgent: (req.headers['user-agent'] ?? '').slice(0, 256),
        requestId: context.requestId,
        signal: disconnect.signal,
      },
      exchange: { req, res },
      tell: (error) => tell(name, visit, error),
      told: (error) => void visit.told.add(error),
    }

    if (!isForm) {
      const data = await load(page, request)
      // Where an identity provider sends the browser back to, the answer leads on.
      return res.headersSent ? undefined : show(data, 200, request)
    }
    // The token of a session that has ended is nobody's: the form is kept, and does nothing until it is sent again.
    const isKept = !signedIn && !route.isOpen
    const form = await readForm(
      req,
      (given) => isKept || isSame(given, csrfOf(signedIn?.sessionId ?? browser)),
    )
    if (isKept) return keepForm(form, request)
    const act = page.actions?.[form.get('_action') ?? '']
    if (!act) throw new GatewayError('request_invalid', 'This page has no such form. Load it again.')
    let done: ActionResult<unknown>
    try {
      done = await act(form, request as SignedInRequest)
    } catch (thrown) {
      const error = toGatewayError(thrown)
      if (error.code === 'internal' || wantsData(req)) throw thrown
      await tell(name, visit, error)
      const again = { ...request, refused: { form: withoutSecrets(form), error } }
      return show(await load(page, again), error.status, again)
    }
    // What the form did may have sent the answer itself (sign-in does).
    if (res.headersSent) return
    if ('goTo' in done) return redirect(exchangeOf(), 303, root + pathIn(language, done.goTo || path))
    if ('leaveFor' in done) return answer(200, renderAway(done.leaveFor, language))
    if ('answer' in done) return answer(200, JSON.stringify(done.answer), 'application/json')
    return show(done.show, 200, { ...request, ...(done.signedIn && { signedIn: done.signedIn }) })

    function exchangeOf() {
      return { res, requestId: context.requestId }
    }
    function answer(status: number, text: string, type = HTML) {
      sendText(res, status, req.method === 'HEAD' ? '' : text, {
        ...headers,
        vary: 'accept, cookie',
        'content-type': type,
        'x-request-id': context.requestId,
      })
    }
    function show(data: unknown, status: number, request: ConsoleRequest & { signedIn?: SignedIn }) {
      if (data === undefined)
        throw new GatewayError(
          'not_found',
          `Your account has nothing here. See ${addresses.baseUrl}/console.`,
        )
      if (wantsData(req)) return answer(status, JSON.stringify(data), 'application/json')
      const drawn = contextOf(name, language, path, request.signedIn, request.refused, browser)
      answer(status, renderConsole({ page: drawn, view: page, data }))
    }
    /** The session ended while somebody wrote: what they wrote waits in the page in which they sign in again. */
    async function keepForm(form: URLSearchParams, request: ConsoleRequest) {
      const { page: signIn } = await CONSOLE_PAGES.signIn()
      const error = new GatewayError(
        'sign_in_required',
        'You were signed out. Sign in again: what you typed is kept in this page.',
      )
      const again = { ...request, refused: { form: withoutSecrets(form), error } }
      const data = await load(signIn, again)
      const drawn = contextOf('signIn', language, path, undefined, again.refused, browser)
      answer(401, renderConsole({ page: drawn, view: signIn, data }))
    }
  }

  function redirect(
    { res, requestId }: { readonly res: Exchange['res']; readonly requestId: string },
    status: 302 | 303,
    location: string,
  ): void {
    sendText(res, status, '', { ...headers, location, 'x-request-id': requestId })
  }
}

const PERMISSIONS =
  'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), microphone=(), midi=(), payment=(), usb=(), ' +
  'publickey-credentials-get=(self), publickey-credentials-create=(self)'

const load = (page: AnyConsolePage, request: ConsoleRequest) => page.load(request as SignedInRequest)

/** A script asks for the page's data, a browser for the page. */
const wantsData = ({ headers: { accept } }: Exchange['req']) => accept === 'application/json'

/** Whoever is not signed in is told apart by what a page cannot choose for another one. */
const browserOf = ({ headers }: Exchange['req'], address: string) =>
  `${address} ${headers['user-agent'] ?? ''}`

const isLoopback = ({ hostname }: URL) => hostname === 'localhost' || hostname.endsWith('.localhost')

/** Path without its language. */
const pathOf = (path: string, language: Language) =>
  language === LANGUAGES[0] ? path : path.slice(language.length + 1)
const pathIn = (language: Language, path: string) =>
  language === LANGUAGES[0] || path.startsWith(`/${language}/`) ? path : `/${language}${path}`

/** Pages of the console and of the site have an address in every language; programs' addresses have one. */
const isTranslated = (path: string) =>
  !/^\/(?:v1|oauth|site|mcp|a2a|\.well-known|console\/events)(?:[/?]|$)/.test(path)

const isSame = (given: string, right: string) =>
  given.length === right.length && timingSafeEqual(Buffer.from(given), Buffer.from(right))

/** Fields of secrets have names that say so, those of a tool's form the pointer of the member behind the way in which it is read. */
const SECRET_FIELD = new RegExp(`^(?:secret|_csrf$|(?:[a-z]+:)?/(?:${SECRET_MEMBERS.join('|')})(?:/|$))`)
/** They are never sent back. */
const withoutSecrets = (form: URLSearchParams) =>
  new URLSearchParams([...form].filter(([name]) => !SECRET_FIELD.test(name)))

/**
 * A form that a page of this console sent. Another port of localhost has the cookie too, and is told apart by what its browser says.
 * @throws {GatewayError} origin_denied, content_type_unsupported, body_too_large
 */
async function readForm(req: Exchange['req'], isToken: (given: string) => boolean): Promise<URLSearchParams> {
  const denied = new GatewayError(
    'origin_denied',
    'Forms of the console are sent from its own pages. Load the page again.',
  )
  if (senderOf(req) !== 'own page') throw denied
  if (mediaTypeOf(req) !== 'application/x-www-form-urlencoded')
    throw new GatewayError(
      'content_type_unsupported',
      'Send the form as `application/x-www-form-urlencoded`.',
    )
  const form = new URLSearchParams((await readBytes(req, MAX_FORM_BYTES)).toString('utf8'))
  if (!isToken(form.get('_csrf') ?? '')) throw denied
  return form
}

// The person's side of a request that waits: what it asks for, and what becomes of it. One answer counts, from the browser that was
// sent here, or of who typed the code of another screen.
import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type Provider from 'oidc-provider'
import { OPERATOR_SCOPE } from '../../core/authenticate.ts'
import { GatewayError } from '../../core/errors.ts'
import { createRateLimiter } from '../../core/rate-limit.ts'
import type { RateSharing } from '../../core/rate-sharing.ts'
import { isObject } from '../../lib/json.ts'
import type { Connection, SignedIn } from '../../store/ports.ts'
import type { AskedConsent, AskingClient, ConnectionChoice, Connections, Interactions } from '../ports.ts'
import type { Browsers } from './browser.ts'
import { askingClient } from './clients.ts'
import { GATEWAY_SCOPE } from './resource.ts'
import type { Payload, Rows } from './rows.ts'

const DEVICE = 'device-'
const BEFORE_LIMIT = 50
/** Codes that one person types; there are 20^8 of them, and each is good for ten minutes. */
const CODES_PER_MINUTE = 20

const OVER = () =>
  new GatewayError(
    'state_conflict',
    'This request was answered already, or waited too long. Begin again in the program that sent you here.',
  )

/** A request that waits, by either way it came. */
interface Waiting {
  readonly payload: Payload
  readonly params: Payload
  readonly userCode?: string
  /** @returns whether nobody had answered before */
  answer(payload: Payload, grantId: string | undefined): Promise<boolean>
}

export interface InteractionParts {
  readonly rows: Rows
  readonly browsers: Browsers
  readonly connections: Connections
  readonly provider: () => Promise<Provider>
  readonly rates?: Pick<RateSharing, 'of'> | undefined
  readonly baseUrl: string
  readonly resource: string
  readonly now: () => number
}

export function createInteractions(parts: InteractionParts): Interactions {
  const { rows, browsers, connections, provider, baseUrl, resource, now } = parts
  const guesses = createRateLimiter(undefined, parts.rates?.of('user codes'))

  async function findWaiting(subject: string): Promise<Waiting | undefined> {
    if (subject.startsWith(DEVICE)) {
      const userCode = subject.slice(DEVICE.length)
      const row = await rows.getByUserCode(userCode)
      if (!row || row.answeredAt !== null || row.consumedAt !== null) return undefined
      return {
        payload: row.payload,
        params: membersOf(row.payload['params']),
        userCode: `${userCode.slice(0, 4)}-${userCode.slice(4)}`,
        answer: (payload, grantId) => rows.answerByUserCode(userCode, payload, grantId),
      }
    }
    const row = await rows.get('Interaction', subject)
    if (!row || row.answeredAt !== null) return undefined
    return {
      payload: row.payload,
      params: membersOf(row.payload['params']),
      answer: (payload) => rows.answer('Interaction', subject, payload, undefined),
    }
  }

  async function waitingAt(req: IncomingMessage): Promise<{ uid: string; waiting: Waiting } | undefined> {
    const uid = /\/console\/connect\/([^/?#]+)/.exec(req.url ?? '')?.[1]
    const subject = uid === undefined ? undefined : browsers.check(req, decodeURIComponent(uid))
    if (uid === undefined || subject === undefined) return undefined
    const waiting = await findWaiting(subject)
    return waiting && { uid, waiting }
  }

  async function clientOf({ params, userCode }: Waiting): Promise<AskingClient | undefined> {
    const client = await (await provider()).Client.find(textOf(params['client_id']) ?? '')
    if (!client) return undefined
    const isFromDocument = 'clientIdMetadataDocument' in client
    const { clientId, clientName } = client
    return askingClient(
      { clientId, clientName, isFromDocument },
      userCode === undefined ? textOf(params['redirect_uri']) : undefined,
    )
  }

  /** Scopes as they were asked for; a request that names none asks for the least. */
  function scopesOf({ params }: Waiting): string[] {
    const asked = (textOf(params['scope']) ?? '').split(' ').filter(Boolean)
    return asked.includes(GATEWAY_SCOPE) ? asked : [GATEWAY_SCOPE, ...asked]
  }

  async function before(by: SignedIn | undefined, client: AskingClient): Promise<Connection | undefined> {
    if (!by) return undefined
    const { accountId, personId } = by
    const { items } = await connections.list({ accountId, personId }, { limit: BEFORE_LIMIT })
    return items.find(({ clientId, revokedAt }) => clientId === client.id && revokedAt === null)
  }

  /** Writes the grant down as oidc-provider will read it. */
  async function writeGrant(
    grantId: string,
    { by, choice, client }: { by: SignedIn; choice: ConnectionChoice; client: AskingClient },
    scopes: readonly string[],
  ): Promise<void> {
    const isOperator = choice.mayOperate
    const granted = scopes.filter((scope) => scope !== OPERATOR_SCOPE || isOperator)
    const refused = scopes.includes(OPERATOR_SCOPE) && !isOperator ? OPERATOR_SCOPE : undefined
    await rows.put(
      'Grant',
      grantId,
      {
        kind: 'Grant',
        iat: Math.floor(now() / 1000),
        exp: Math.floor(choice.expiresAt / 1000),
        accountId: by.personId,
        clientId: client.id,
        // Twice: scopes of the server and of the resource are granted apart, and either one missing asks the person for ever.
        openid: { scope: granted.join(' ') },
        resources: { [resource]: granted.join(' ') },
        ...(refused !== undefined && {
          rejected: { openid: { scope: refused }, resources: { [resource]: refused } },
        }),
      },
      { expiresAt: choice.expiresAt, grantId },
    )
  }

  return {
    async begin(req, res, { by, typed }) {
      const rate = await guesses.take('codes', by.personId, CODES_PER_MINUTE)
      if (rate?.exceeded)
        throw new GatewayError(
          'rate_limited',
          `At most ${CODES_PER_MINUTE} codes a minute. Try again in ${rate.resetSeconds} s.`,
          { extras: { retry_after_seconds: rate.resetSeconds } },
        )
      const userCode = typed.toUpperCase().replace(/[^BCDFGHJKLMNPQRSTVWXZ]/g, '')
      const waiting = userCode.length === 8 ? await findWaiting(DEVICE + userCode) : undefined
      if (!waiting)
        throw new GatewayError(
          'not_found',
          'No program waits with this code. Compare it with what the program shows; a code is good for ten minutes, and once.',
        )
      return browsers.bind(req, res, DEVICE + userCode)
    },

    async read(req, _res, by) {
      const found = await waitingAt(req)
      const client = found && (await clientOf(found.waiting))
      if (!found || !client) return undefined
      const { uid, waiting } = found
      const last = await before(by, client)
      const asked: AskedConsent = {
        uid,
        client,
        scopes: scopesOf(waiting),
        ...(waiting.userCode !== undefined && { userCode: waiting.userCode }),
        ...(last && { before: last }),
      }
      return asked
    },

    async grant(req, _res, { by, choice, replaces }) {
      const found = await waitingAt(req)
      const client = found && (await clientOf(found.waiting))
      if (!found || !client) throw OVER()
      const { waiting } = found
      const scopes = scopesOf(waiting)
      const grantId = `grt_${randomBytes(20).toString('hex')}`
      const connection = await connections.open({ by, client, grantId, choice })
      await writeGrant(grantId, { by, choice, client }, scopes)
      const { answer, payload, userCode } = waiting
      const isFirst = await answer(
        userCode === undefined
          ? { ...payload, result: answerOf(by, grantId) }
          : { ...payload, ...deviceAnswer(by, grantId, { scopes, resource, now }) },
        grantId,
      )
      if (!isFirst) {
        await connections.revoke(by.accountId, connection.id)
        await rows.dropGrant(grantId)
        throw OVER()
      }
      if (replaces !== undefined) {
        const last = await connections.get(by.accountId, replaces)
        if (last?.clientId === client.id && last.personId === by.personId)
          await connections.revoke(by.accountId, last.id)
      }
      return userCode === undefined ? returnTo(payload, baseUrl) : deviceDone(req, baseUrl, 'connected')
    },

    async refuse(req) {
      const found = await waitingAt(req)
      if (!found) throw OVER()
      const { answer, payload, userCode } = found.waiting
      const no = { error: 'access_denied', error_description: 'the person refused' }
      const isFirst = await answer(
        userCode === undefined
          ? { ...payload, result: no }
          : { ...payload, error: no.error, errorDescription: no.error_description },
        undefined,
      )
      if (!isFirst) throw OVER()
      return userCode === undefined ? returnTo(payload, baseUrl) : deviceDone(req, baseUrl, 'refused')
    },
  }
}

/** Signed in and consented in one page; nobody is remembered beyond this request. */
const answerOf = ({ personId }: SignedIn, grantId: string) => ({
  login: { accountId: personId, remember: false },
  consent: { grantId },
})

/** What oidc-provider would write into the row of a code that somebody approved. */
const deviceAnswer = (
  { personId }: SignedIn,
  grantId: string,
  { scopes, resource, now }: { scopes: readonly string[]; resource: string; now: () => number },
) => ({
  accountId: personId,
  grantId,
  scope: scopes.join(' '),
  resource,
  authTime: Math.floor(now() / 1000),
})

/** The page on which the code was typed, in the language in which it was. */
const deviceDone = ({ url }: Pick<IncomingMessage, 'url'>, baseUrl: string, word: string): string =>
  `${baseUrl}${url?.startsWith('/ar/') ? '/ar' : ''}/console/device?done=${word}`

/** It was written by this server, of an address of this server. */
function returnTo({ returnTo: address }: Payload, baseUrl: string): string {
  const text = textOf(address)
  if (text === undefined || !text.startsWith(`${baseUrl}/`)) throw OVER()
  return text
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
const membersOf = (value: unknown): Payload => (isObject(value) ? value : {})

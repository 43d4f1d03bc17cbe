// Which refusals are events, on whose chain they are, and who is named in them.
import { expect, it } from 'vitest'
import { describeRefusal } from '../../../src/audit/refusals.ts'
import type { Caller } from '../../../src/core/caller.ts'
import { type ErrorCode, GatewayError } from '../../../src/core/errors.ts'
import type { RefusedCall } from '../../../src/core/refusal-watch.ts'
import { newToken, type TokenKind } from '../../../src/lib/tokens.ts'

const NOW = 1_800_000_000_000
const caller: Caller = {
  kind: 'operator',
  id: 'key_1',
  accountId: 'acct_1',
  admin: false,
  role: 'auditor',
  address: '192.0.2.1',
}

interface Rows {
  readonly revokedAt?: number | null
  readonly expiresAt?: number
}
/** A store in which every token is known, in the state that the row says. */
const storeOf = ({ revokedAt = null, expiresAt = NOW + 1 }: Rows = {}) => {
  const row = { id: 'row_1', accountId: 'acct_1', revokedAt, expiresAt }
  return {
    findFormerKey: async () => row,
    findCapability: async () => row,
    findAccessToken: async () => ({ connection: { id: 'con_1' }, capability: row, expiresAt }),
    findSession: async () => ({ ...row, personId: 'per_1' }),
  } as unknown as Parameters<typeof describeRefusal>[0]
}

const refused = (error: GatewayError, over: Partial<RefusedCall> = {}): RefusedCall => ({
  caller: undefined,
  tokens: {},
  address: '192.0.2.1',
  door: 'rest',
  tool: 'gateway.keys.create',
  requestId: 'req_1',
  input: {},
  error,
  ...over,
})
const describeOf = (error: GatewayError, over?: Partial<RefusedCall>, rows?: Rows) =>
  describeRefusal(storeOf(rows), refused(error, over), NOW)

it.each<[ErrorCode, string | undefined]>([
  ['key_invalid', 'sign_in.failed'],
  ['sign_in_failed', 'sign_in.failed'],
  ['sign_in_refused', 'sign_in.failed'],
  ['invitation_invalid', 'sign_in.failed'],
  ['admin_required', 'access.denied'],
  ['role_required', 'access.denied'],
  ['fresh_sign_in_required', 'access.denied'],
  ['approval_refused', 'access.denied'],
  ['insufficient_scope', 'scope.denied'],
  ['host_mismatch', 'target.refused'],
  ['transaction_blocked', 'transaction.blocked'],
  ['input_invalid', undefined],
  ['rate_limited', undefined],
  ['key_required', undefined],
  ['sign_in_required', undefined],
])('%s is %s', async (code, event) => {
  const described = await describeOf(new GatewayError(code, 'no'), { caller })
  expect(described?.event).toBe(event)
  if (event === undefined) return
  expect(described).toMatchObject({
    chain: 'acct_1',
    actor: { kind: 'service_key', id: 'key_1' },
    detail: { code },
  })
})

it.each<[TokenKind, string, string]>([
  ['sk', 'key', 'row_1'],
  ['cap', 'capability', 'row_1'],
  ['at', 'connection', 'con_1'],
  ['ss', 'person', 'per_1'],
])(
  'a token of the kind %s that is over is named on the chain of its account, with its state',
  async (kind, type, id) => {
    const tokens = kind === 'ss' ? { session: newToken(kind) } : { bearer: newToken(kind) }
    const over = kind === 'ss' ? { expiresAt: NOW } : { revokedAt: NOW - 1 }
    expect(await describeOf(new GatewayError('admin_required', 'no'), { tokens }, over)).toMatchObject({
      chain: 'acct_1',
      actor: { kind: 'anonymous' },
      subject: { type, id },
      detail: { state: kind === 'ss' ? 'expired' : 'revoked' },
    })
  },
)

it.each<[TokenKind, string]>([
  ['sk', 'service_key'],
  ['cap', 'capability'],
  ['at', 'connection'],
])('whoever shows a token of the kind %s that is good is the acting party', async (token, kind) => {
  const error = new GatewayError('insufficient_scope', 'no')
  const described = await describeOf(error, { tokens: { bearer: newToken(token) } })
  expect(described).toMatchObject({ chain: 'acct_1', actor: { kind, address: '192.0.2.1' } })
  expect(described?.detail).toEqual({ code: 'insufficient_scope' })
})

it('what an error is about is its subject, and says nothing of who asked', async () => {
  const about = { type: 'person', id: 'per_7', accountId: 'acct_7' } as const
  expect(await describeOf(new GatewayError('sign_in_failed', 'no', { about }))).toMatchObject({
    chain: 'acct_7',
    actor: { kind: 'anonymous' },
    subject: { type: 'person', id: 'per_7' },
    detail: { code: 'sign_in_failed' },
  })
})

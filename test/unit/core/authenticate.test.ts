import { describe, expect, it } from 'vitest'
import {
  authenticate,
  type AuthenticationStore,
  type PresentedTokens,
} from '../../../src/core/authenticate.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import type { CallerKind } from '../../../src/core/caller.ts'
import type { Capability, EmailKey, ServiceKey } from '../../../src/store/ports.ts'
import { hashToken, newToken } from '../../../src/lib/tokens.ts'
import { mistyped } from '../../support/mistyped.ts'

const NOW = 1_800_000_000_000
const [ADMIN, OPERATOR, SELLER, UNKNOWN_KEY] = [
  newToken('sk'),
  newToken('sk'),
  newToken('sk'),
  newToken('sk'),
]
const [AGENT, EXPIRED, REVOKED, UNKNOWN_CAP] = [
  newToken('cap'),
  newToken('cap'),
  newToken('cap'),
  newToken('cap'),
]
const [EMAIL, UNKNOWN_EMAIL] = [newToken('ek'), newToken('ek')]

const key = (id: string, admin: boolean): ServiceKey => ({
  id,
  accountId: 'acct_1',
  label: id,
  admin,
  role: 'operator',
  createdAt: 0,
  revokedAt: null,
})
const capability = (id: string, expiresAt: number, revokedAt: number | null = null): Capability => ({
  id,
  accountId: 'acct_1',
  credentialId: 'cred_1',
  parentId: null,
  rootId: id,
  label: id,
  scope: { hosts: ['a.example'], path_prefixes: ['/'], methods: ['GET'] },
  maxUses: null,
  uses: 0,
  isBudgeted: false,
  showsBalance: false,
  createdAt: 0,
  expiresAt,
  revokedAt,
})

const keys = new Map<string, ServiceKey>([
  [ADMIN, key('key_admin', true)],
  [OPERATOR, key('key_operator', false)],
  [SELLER, { ...key('key_seller', false), role: 'seller' as const }],
])
const capabilities = new Map([
  [AGENT, capability('cap_live', NOW + 1)],
  [EXPIRED, capability('cap_expired', NOW)],
  [REVOKED, capability('cap_revoked', NOW + 1, NOW - 1)],
])
const emailKeys = new Map<string, EmailKey>([
  [EMAIL, { id: 'ek_1', createdAt: 0, revokedAt: null, lastSeenDay: '1970-01-01' }],
])
const find = <T>(rows: Map<string, T>, hash: Buffer) =>
  [...rows].find(([token]) => hashToken(token).equals(hash))?.[1]
const store: AuthenticationStore = {
  findKey: async (hash) => find(keys, hash),
  findCapability: async (hash) => find(capabilities, hash),
  findEmailKey: async (hash) => find(emailKeys, hash),
  findSession: async () => undefined,
  findAccessToken: async () => undefined,
}
const context = { store, now: NOW, address: '192.0.2.1' }

async function outcome(required: CallerKind, tokens: PresentedTokens): Promise<string> {
  try {
    const caller = await authenticate(required, tokens, context)
    expect(caller.address).toBe('192.0.2.1')
    return caller.id
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown.code
    throw thrown
  }
}

describe('authenticate', () => {
  it.each<[CallerKind, string, PresentedTokens, string]>([
    ['anyone', 'nothing', {}, 'anonymous'],
    ['anyone', 'a key', { bearer: OPERATOR }, 'key_operator'],
    ['anyone', 'a capability', { bearer: AGENT }, 'cap_live'],
    ['anyone', 'an email key', { bearer: EMAIL }, 'anonymous'],
    ['anyone', 'an unknown email key', { bearer: UNKNOWN_EMAIL }, 'key_invalid'],
    ['anyone', 'a mistyped email key', { bearer: mistyped(EMAIL) }, 'key_invalid'],
    ['anyone', 'a mistyped key', { bearer: mistyped(OPERATOR) }, 'key_invalid'],
    ['anyone', 'an expired capability', { bearer: EXPIRED }, 'capability_invalid'],
    ['capability', 'nothing', {}, 'capability_required'],
    ['capability', 'a key', { bearer: ADMIN }, 'capability_required'],
    ['capability', 'a bearer', { bearer: AGENT }, 'cap_live'],
    ['capability', 'a header', { capabilityHeader: AGENT }, 'cap_live'],
    ['capability', 'an argument', { capabilityArgument: AGENT }, 'cap_live'],
    ['capability', 'a header beside a key', { capabilityHeader: AGENT, bearer: ADMIN }, 'cap_live'],
    [
      'capability',
      'the argument first',
      { capabilityArgument: EXPIRED, capabilityHeader: AGENT },
      'capability_invalid',
    ],
    ['capability', 'one that has just expired', { bearer: EXPIRED }, 'capability_invalid'],
    ['capability', 'a revoked one', { bearer: REVOKED }, 'capability_invalid'],
    ['capability', 'an unknown one', { bearer: UNKNOWN_CAP }, 'capability_invalid'],
    ['capability', 'a mistyped one', { bearer: mistyped(AGENT) }, 'capability_invalid'],
    ['capability', 'a key in its place', { capabilityHeader: ADMIN }, 'capability_invalid'],
    ['operator', 'nothing', {}, 'key_required'],
    ['operator', 'a capability', { bearer: AGENT }, 'key_required'],
    ['operator', 'a key', { bearer: OPERATOR }, 'key_operator'],
    ['operator', 'a key as a capability', { capabilityHeader: OPERATOR }, 'key_required'],
    ['operator', 'an unknown key', { bearer: UNKNOWN_KEY }, 'key_invalid'],
    ['operator', 'a mistyped key', { bearer: mistyped(OPERATOR) }, 'key_invalid'],
    ['admin', 'a key', { bearer: OPERATOR }, 'admin_required'],
    ['admin', 'an administrator', { bearer: ADMIN }, 'key_admin'],
    ['admin', 'nothing', {}, 'key_required'],
    ['account', 'a key', { bearer: OPERATOR }, 'key_operator'],
    ['account', 'a capability', { capabilityArgument: AGENT }, 'cap_live'],
    ['account', 'nothing', {}, 'key_required'],
    ['account', 'garbage', { bearer: 'x' }, 'key_required'],
    ['account', 'an email key', { bearer: EMAIL }, 'key_required'],
    ['account', 'a capability beside an email key', { capabilityHeader: AGENT, bearer: EMAIL }, 'cap_live'],
    ['capability', 'an email key', { bearer: EMAIL }, 'capability_required'],
    ['email', 'an argument', { emailKeyArgument: EMAIL }, 'ek_1'],
    ['email', 'the argument first', { emailKeyArgument: UNKNOWN_EMAIL, bearer: EMAIL }, 'key_invalid'],
    ['email', 'the argument beside a service key', { emailKeyArgument: EMAIL, bearer: OPERATOR }, 'ek_1'],
    ['email', 'a service key as the argument', { emailKeyArgument: OPERATOR }, 'key_invalid'],
    ['anyone', 'the argument of another tool', { emailKeyArgument: UNKNOWN_EMAIL }, 'anonymous'],
    ['operator', 'an email key', { bearer: EMAIL }, 'key_required'],
    ['seller', "a seller's key", { bearer: SELLER }, 'key_seller'],
    ['seller', 'a key', { bearer: OPERATOR }, 'key_operator'],
    ['seller', 'a capability', { bearer: AGENT }, 'key_required'],
    ['seller', 'an email key', { bearer: EMAIL }, 'key_required'],
    ['seller', 'nothing', {}, 'key_required'],
    ['seller', 'an unknown key', { bearer: UNKNOWN_KEY }, 'key_invalid'],
    ['anyone', "a seller's key", { bearer: SELLER }, 'anonymous'],
    ['operator', "a seller's key", { bearer: SELLER }, 'operator_required'],
    ['admin', "a seller's key", { bearer: SELLER }, 'operator_required'],
    ['account', "a seller's key", { bearer: SELLER }, 'operator_required'],
    ['email', "a seller's key", { bearer: SELLER }, 'operator_required'],
    ['capability', "a seller's key", { bearer: SELLER }, 'capability_required'],
    [
      'account',
      "a capability beside a seller's key",
      { capabilityHeader: AGENT, bearer: SELLER },
      'operator_required',
    ],
    ['email', 'an email key', { bearer: EMAIL }, 'ek_1'],
    ['email', 'a key', { bearer: OPERATOR }, 'key_operator'],
    ['email', 'a capability', { bearer: AGENT }, 'key_required'],
    ['email', 'nothing', {}, 'key_required'],
    ['email', 'an unknown email key', { bearer: UNKNOWN_EMAIL }, 'key_invalid'],
    ['email', 'a mistyped email key', { bearer: mistyped(EMAIL) }, 'key_invalid'],
    ['email', 'an unknown key', { bearer: UNKNOWN_KEY }, 'key_invalid'],
  ])('for %s takes %s', async (required, _, tokens, expected) => {
    expect(await outcome(required, tokens)).toBe(expected)
  })

  it('does not ask the store about tokens whose checksum is wrong', async () => {
    const asked: string[] = []
    const watching: AuthenticationStore = {
      findKey: async () => void asked.push('key'),
      findCapability: async () => void asked.push('capability'),
      findEmailKey: async () => void asked.push('email key'),
      findSession: async () => void asked.push('session'),
      findAccessToken: async () => void asked.push('access token'),
    }
    for (const bearer of [mistyped(OPERATOR), mistyped(AGENT)])
      await expect(authenticate('account', { bearer }, { ...context, store: watching })).rejects.toThrow()
    for (const required of ['email', 'anyone'] as const)
      await expect(
        authenticate(required, { bearer: mistyped(EMAIL) }, { ...context, store: watching }),
      ).rejects.toThrow()
    expect(asked).toEqual([])
  })

  it('says which key is meant where an email key is no use', async () => {
    for (const required of ['operator', 'capability', 'account'] as const)
      await expect(authenticate(required, { bearer: EMAIL }, context)).rejects.toThrow(
        /^An email key \(agw_ek_…\) is for email verification only\. Send /,
      )
  })

  it.each<[string, PresentedTokens]>([
    ['a key', { bearer: OPERATOR }],
    ['a mistyped key', { bearer: mistyped(OPERATOR) }],
  ])('says that %s is a service key where a capability is meant, and what issues one', async (_, tokens) => {
    await expect(authenticate('capability', tokens, context)).rejects.toThrow(
      /^A service key \(agw_sk_…\) operates the account .* gateway\.egress\.capabilities\.issue\. Send the capability /,
    )
  })

  it('never quotes a token', async () => {
    for (const bearer of [mistyped(OPERATOR), UNKNOWN_KEY, EXPIRED, REVOKED, UNKNOWN_CAP])
      await expect(authenticate('anyone', { bearer }, context)).rejects.toThrow(
        expect.objectContaining({ message: expect.not.stringContaining(bearer.slice(0, 20)) }),
      )
  })
})
